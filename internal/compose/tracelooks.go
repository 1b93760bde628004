package main

import "fmt"

// Traces of ordinary work that look like retries, skew or waiting, and are none.
var tracedLooks = []composed{
	{"traces-canary", tracedCanary, want{
		Why:   "A canary gets a tenth of the traffic, on purpose; all are quick and nothing fails.",
		Label: "healthy", NoFindings: []string{"route.skew", "call.slow-provider", "retry.amplified"},
	}},
	{"traces-n-plus-one", tracedNPlusOne, want{
		Why:   "One request runs 200 equal statements, one an item, all successful and quick: wasteful, no retries.",
		Label: "healthy", NoFindings: []string{"retry.amplified", "retry.budget", "time.downstream"}, Not: []string{"retry-amplification"},
	}},
	{"traces-fan-out", tracedFanOut, want{
		Why:   "A page asks one service eight times in parallel, a search asks its four shards the very same.",
		Label: "healthy", NoFindings: []string{"retry.amplified", "retry.budget"}, Not: []string{"retry-amplification"},
		Edges: []edge{{Consumer: "page", Method: "GET /widget/{id}", Basis: "spans", Calls: 240, Attempts: 240, Amplification: 1}},
	}},
	{"traces-hedging", tracedHedges, want{
		Why:   "Reads are hedged: where the first is not back after 30 ms a second one is sent, and the slower is cancelled. Nothing failed.",
		Label: "healthy", NoFindings: []string{"retry.amplified", "retry.budget", "call.timeout"}, Not: []string{"retry-amplification"},
	}},
	{"traces-redirects", tracedRedirects, want{
		Why:   "Every download is redirected, and every call of the warehouse is answered 401 first, then with its token 200: resent, but not retried.",
		Label: "healthy", NoFindings: []string{"retry.amplified", "retry.budget"}, Not: []string{"retry-amplification"},
		Edges: []edge{{Consumer: "labels", Method: "GET /stock/{id}", Basis: "spans", Calls: 40, Attempts: 40, Amplification: 1}},
	}},
	{"traces-polling", tracedPolling, want{
		Why:   "A job asks every two seconds whether its export is ready: 202, 202, …, 200; another reads a list page by page.",
		Label: "healthy", NoFindings: []string{"retry.amplified", "retry.budget"}, Not: []string{"retry-amplification"},
	}},
	{"traces-failing-batch", tracedBatch, want{
		Why:   "A nightly batch sends twelve items, one after the other; the provider does not know any of them. Each call fails, none is a retry, though nothing in the spans tells the items apart.",
		Label: "inconclusive", Or: []string{"healthy"}, MaxCertainty: "medium", NoFindings: []string{"retry.amplified", "retry.budget"}, Not: []string{"retry-amplification"},
		Edges: []edge{{Consumer: "batch", Method: "close", Basis: "spans", Calls: 72, Attempts: 72, Amplification: 1}},
	}},
	{"traces-clocks-apart-calm", tracedCalmSkew, want{
		Why:   "The provider's clock is 1.5 s behind; its spans seem to begin before the calls, and everything is fine.",
		Label: "healthy", NoFindings: []string{"call.late", "call.timeout", "retry.amplified"},
	}},
}

func tracedCanary(f files) {
	t := &traces{seed: 31}
	web := golang("web", 1, "10.20.40.4")
	stable := []*process{golang("catalog", 1, "10.20.40.21"), golang("catalog", 2, "10.20.40.22")}
	canary := golang("catalog", 9, "10.20.40.29")
	for i := range 200 {
		p := stable[0]
		if i%10 == 4 {
			p = canary
		}
		root := t.netHTTP(nil, web, "GET", "/p/{id}", fmt.Sprintf("/p/%d", 900+i), after(i*120), 24, 200)
		sent := t.grpcSend(root, "catalog.v1.Catalog", "Get", "catalog.shop", root.at(2), 14+spread(i, 6), 0)
		sent.with("network.peer.address", p.ip, "network.peer.port", 9090)
		t.grpcRecv(sent, p, "catalog.v1.Catalog", "Get", sent.at(1), 11+spread(i, 6), 0)
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

func tracedNPlusOne(f files) {
	t := &traces{seed: 32}
	cart := java("cart", 1, "10.20.41.4")
	for i := range 4 {
		root := t.tomcat(nil, cart, "GET", "/cart/{id}/items", fmt.Sprintf("/cart/%d/items", 30+i), after(i*2500), 460, 200)
		t.mysql(root, "t_cart_item", "SELECT * FROM t_cart_item WHERE cart_id = ?", root.at(3), 4)
		for k := range 200 {
			t.mysql(root, "t_product", "SELECT * FROM t_product WHERE id = ?", root.at(8+2*k), 1)
		}
	}
	for i := range 30 {
		root := t.tomcat(nil, cart, "GET", "/cart/{id}", fmt.Sprintf("/cart/%d", 30+i), after(i*400), 18, 200)
		t.mysql(root, "t_cart_item", "SELECT count(*) FROM t_cart_item WHERE cart_id = ?", root.at(3), 4)
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

func tracedFanOut(f files) {
	t := &traces{seed: 33}
	page, widgets, search := java("page", 1, "10.20.42.4"), java("widgets", 1, "10.20.42.21"), java("search", 1, "10.20.42.31")
	for i := range 30 {
		root := t.tomcat(nil, page, "GET", "/home", "/home", after(i*700), 90, 200)
		for k := range 8 {
			sent := t.send(root, okhttp, "GET", fmt.Sprintf("http://widgets.shop:8080/widget/%d", 100+k), root.at(4+k%3), 30+5*k, 200, "")
			t.tomcat(sent, widgets, "GET", "/widget/{id}", fmt.Sprintf("/widget/%d", 100+k), sent.at(1), 27+5*k, 200)
		}
		look := t.tomcat(nil, page, "GET", "/find", "/find?q=tea", after(i*700+350), 60, 200)
		for range 4 {
			call := t.dubboSend(look, "com.acme.search.ShardService", "find", "10.20.42.31", look.at(3), 40, "")
			t.dubboRecv(call, search, "com.acme.search.ShardService", "find", call.at(1), 36, false)
		}
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

func tracedHedges(f files) {
	t := &traces{seed: 34}
	feed := golang("feed", 1, "10.20.43.4")
	stores := []*process{golang("store", 1, "10.20.43.21"), golang("store", 2, "10.20.43.22")}
	for i := range 80 {
		root := t.netHTTP(nil, feed, "GET", "/feed", "/feed", after(i*200), 70, 200)
		url := fmt.Sprintf("http://store.shop:8080/posts/%d", 200+i)
		ms := 12
		if i%3 == 0 {
			ms = 60
		}
		one := t.send(root, otelHTTP, "GET", url, root.at(2), ms, 200, "")
		t.netHTTP(one, stores[0], "GET", "/posts/{id}", fmt.Sprintf("/posts/%d", 200+i), one.at(1), 9, 200)
		if i%3 != 0 {
			continue
		}
		// The conventions leave a cancelled request without a status.
		one.attrs = one.attrs[:4]
		two := t.send(root, otelHTTP, "GET", url, root.at(32), 14, 200, "")
		one.dur = two.at(14).Sub(one.start)
		t.netHTTP(two, stores[1], "GET", "/posts/{id}", fmt.Sprintf("/posts/%d", 200+i), two.at(1), 11, 200)
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

func tracedRedirects(f files) {
	t := &traces{seed: 35}
	labels, warehouse := java("labels", 1, "10.20.44.4"), java("warehouse", 1, "10.20.44.21")
	for i := range 40 {
		root := t.tomcat(nil, labels, "GET", "/label/{id}", fmt.Sprintf("/label/%d", 10+i), after(i*600), 160, 200)
		t.send(root, okhttp, "GET", fmt.Sprintf("http://files.shop/label/%d", 300+i), root.at(2), 9, 302, "")
		t.send(root, okhttp, "GET", fmt.Sprintf("https://cdn.shop/labels/%d.pdf", 300+i), root.at(14), 30, 200, "").with("http.request.resend_count", 1)
		url := fmt.Sprintf("http://warehouse.shop:8080/stock/%d", 300+i)
		no := t.send(root, okhttp, "GET", url, root.at(60), 8, 401, "")
		t.tomcat(no, warehouse, "GET", "/stock/{id}", fmt.Sprintf("/stock/%d", 300+i), no.at(1), 5, 401)
		yes := t.send(root, okhttp, "GET", url, root.at(80), 20, 200, "").with("http.request.resend_count", 1)
		t.tomcat(yes, warehouse, "GET", "/stock/{id}", fmt.Sprintf("/stock/%d", 300+i), yes.at(1), 17, 200)
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

func tracedPolling(f files) {
	t := &traces{seed: 36}
	job, export := java("job", 1, "10.20.45.4"), java("export", 1, "10.20.45.21")
	for i := range 6 {
		root := t.begin(nil, job, internal, "io.opentelemetry.spring-scheduling-3.1", "ExportJob.run", after(i*40_000), 39_000)
		for k := range 15 {
			status := 202
			if k == 14 {
				status = 200
			}
			sent := t.send(root, apacheHTTP, "GET", fmt.Sprintf("http://export.shop:8080/exports/%d", 50+i), root.at(100+k*2000), 6, status, "")
			t.tomcat(sent, export, "GET", "/exports/{id}", fmt.Sprintf("/exports/%d", 50+i), sent.at(1), 3, status)
		}
		for k := range 12 {
			sent := t.send(root, apacheHTTP, "GET", fmt.Sprintf("http://export.shop:8080/rows?export=%d&page=%d", 50+i, k+1), root.at(30_000+k*220), 200, 200, "")
			t.tomcat(sent, export, "GET", "/rows", fmt.Sprintf("/rows?export=%d&page=%d", 50+i, k+1), sent.at(1), 190, 200)
		}
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

func tracedBatch(f files) {
	t := &traces{seed: 37}
	batch, account := java("batch", 1, "10.20.46.4"), java("account", 1, "10.20.46.21")
	for i := range 6 {
		root := t.begin(nil, batch, internal, "io.opentelemetry.spring-batch-3.0", "BatchJob closeAccounts.Step close", after(i*60_000), 200)
		for k := range 12 {
			call := t.dubboSend(root, "com.acme.account.AccountService", "close", account.ip, root.at(3+k*14), 12, "java.lang.IllegalStateException")
			t.dubboRecv(call, account, "com.acme.account.AccountService", "close", call.at(1), 9, true)
		}
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

func tracedCalmSkew(f files) {
	t := &traces{seed: 38}
	order, stock := java("order", 1, "10.20.47.4"), java("stock", 1, "10.20.47.21")
	stock.skew = -1500e6
	for i := range 60 {
		root := t.tomcat(nil, order, "GET", "/orders/{id}", fmt.Sprintf("/orders/%d", 60+i), after(i*300), 60, 200)
		sent := t.send(root, apacheHTTP, "GET", fmt.Sprintf("http://stock.shop:8080/stock/%d", 500+i), root.at(8), 40, 200, "")
		work := t.tomcat(sent, stock, "GET", "/stock/{sku}", fmt.Sprintf("/stock/%d", 500+i), sent.at(2), 36, 200)
		t.mysql(work, "t_stock", "SELECT * FROM t_stock WHERE sku = ?", work.at(3), 30)
	}
	t.zipkin(f, "zipkin.json")
	gzipped(f, "zipkin.json")
}
