package main

import (
	"fmt"
	"time"
)

// Incidents that left spans behind.
var traced = []composed{
	{"traces-layers-of-retries", tracedLayers, want{
		Why:   "Spans of all services: the gateway tries order three times, each order tries SkuService three times, nine executions of a statement that takes 1.4 s for each request.",
		Label: "slow-sql", Incidents: 1, ActFirst: "retry-amplification", Chain: []string{"trigger slow-sql", "amplifier retry-amplification"},
		Not:      []string{"downstream-wait", "healthy"},
		Findings: []string{"retry.layers", "retry.amplified", "retry.ceiling", "retry.hopeless", "call.late", "time.db", "sql.slow"},
		Edges: []edge{
			{Consumer: "gateway", Service: "order", Method: "POST /orders", Basis: "spans", Calls: 20, Attempts: 60, Amplification: 3},
			{Consumer: "order", Service: "com.acme.product.SkuService", Method: "getSkuStock", Basis: "spans", Calls: 60, Attempts: 180, Amplification: 3},
		},
		Paths: []path{{Amplification: 9, Load: 9}},
		SQL:   []sql{{Contains: "from t_sku_stock where sku_code=?"}},
	}},
	{"traces-orphaned-work", tracedOrphans, want{
		Why:   "Jaeger's traces alone: stock's statement takes 3.2 s, order gives up after 1 s and tries three times, and no retry ever helps; stock works on for nobody.",
		Label: "slow-sql", Incidents: 1, ActFirst: "retry-amplification", Chain: []string{"trigger slow-sql", "amplifier retry-amplification"},
		Not:      []string{"downstream-wait", "healthy"},
		Findings: []string{"retry.hopeless", "call.late", "time.db", "sql.slow", "call.timeout"},
		Edges:    []edge{{Consumer: "order", Method: "reserve", Basis: "spans", Calls: 40, Attempts: 120, Amplification: 3}},
		SQL:      []sql{{Contains: "from t_reservation where warehouse=?"}},
	}},
	{"traces-vendor-hangs", tracedVendor, want{
		Why:   "checkout waits 7 s for the API of a payment vendor, which sends no spans; web gives up after 5 s and does not retry.",
		Label: "downstream-wait", Incidents: 1, Not: []string{"slow-sql", "healthy", "retry-amplification"},
		Findings: []string{"time.downstream", "call.timeout"}, NoFindings: []string{"retry.amplified", "time.db"},
		Says: []string{"vendor"},
	}},
	{"traces-callee-slow-in-sql", tracedCallee, want{
		Why:   "checkout waits 7 s for payment, whose spans are there: payment waits for a statement. The wait is passed on, not begun, at checkout.",
		Label: "slow-sql", Incidents: 1, Not: []string{"downstream-wait", "healthy", "retry-amplification"},
		Findings: []string{"time.db", "sql.slow"}, NoFindings: []string{"time.downstream", "retry.amplified"},
	}},
	{"traces-retries-go-on", func(f files) { tracedSustained(f, true) }, want{
		Why:   "A statement was slow for a minute. The retries that it began go on for two and a half minutes more, by themselves: attempts find the pool full of attempts.",
		Label: "slow-sql", ActFirst: "retry-amplification", Findings: []string{"retry.sustained", "retry.amplified"}, Not: []string{"healthy", "downstream-wait"},
	}},
	{"traces-retries-end-with-cause", func(f files) { tracedSustained(f, false) }, want{
		Why:   "A statement was slow for a minute and was retried for a minute; both are over together.",
		Label: "slow-sql", ActFirst: "retry-amplification", Findings: []string{"retry.amplified"}, NoFindings: []string{"retry.sustained"}, Not: []string{"healthy", "downstream-wait"},
	}},
	{"traces-one-slow-provider", tracedSlowProvider, want{
		Why:   "One of three providers takes 2.4 s in its own code, the others 12 ms; calls of it time out. Traffic is even and nothing is retried. Why it is slow, spans cannot tell.",
		Label: "inconclusive", Or: []string{"cpu-saturation", "downstream-wait", "pool-starvation"}, MaxCertainty: "medium", Not: []string{"healthy", "traffic-skew", "retry-amplification", "slow-sql"},
		Findings: []string{"call.slow-provider"}, NoFindings: []string{"route.skew", "retry.amplified"},
	}},
	{"traces-skewed", tracedSkew, want{
		Why:   "Three providers, and one gets 85 % of the attempts and refuses many of them.",
		Label: "traffic-skew", Not: []string{"healthy", "slow-sql"}, Findings: []string{"route.skew"},
	}},
	{"traces-retries-sampled", tracedSampled, want{
		Why:   "Half of the traces were kept (th:8): counts stand for twice as many, the ratio is what was seen.",
		Label: "retry-amplification", Not: []string{"healthy"},
		Edges: []edge{{Consumer: "cart", Service: "price.v1.Prices", Method: "Quote", Basis: "spans", Calls: 120, Attempts: 300, Amplification: 2.5, Tolerance: 0.001}},
	}},
	{"traces-providers-only", tracedProvidersOnly, want{
		Why:   "Only the provider sends spans; the parents, which the consumer made, are missing. Three deliveries for each unseen parent are three attempts of one call behind a mesh that repeats them.",
		Label: "retry-amplification", Or: []string{"slow-sql"}, Not: []string{"healthy"},
		Edges: []edge{{Service: "ledger", Method: "GET /balance/{id}", Basis: "spans", Attempts: 90, Amplification: 3}},
	}},
	{"traces-update-waits", tracedUpdate, want{
		Why:   "An UPDATE of one row takes 2 s, by its spans; calls time out. It may be slow or wait for a lock on the row: the spans cannot tell.",
		Label: "slow-sql", Or: []string{"lock-contention", "inconclusive"}, MaxCertainty: "medium", Not: []string{"healthy", "downstream-wait"},
		Findings: []string{"time.db", "call.timeout"},
	}},
	{"traces-clocks-apart", tracedSkewed, want{
		Why:   "stock's clock is 1.5 s ahead of order's. Calls time out and are retried; late work may be told by durations only.",
		Label: "slow-sql", Incidents: 1, ActFirst: "retry-amplification", Chain: []string{"trigger slow-sql", "amplifier retry-amplification"}, Not: []string{"healthy", "downstream-wait"},
		Edges: []edge{{Consumer: "order", Method: "GET /stock/{id}", Basis: "spans", Calls: 30, Attempts: 60, Amplification: 2}},
	}},
}

const (
	skuService = "com.acme.product.SkuService"
	dubboLate  = "org.apache.dubbo.remoting.TimeoutException"
	socketLate = "java.net.SocketTimeoutException"
)

func tracedLayers(f files) {
	t := &traces{seed: 11}
	gateway, order := java("gateway", 1, "10.20.30.5"), java("order", 1, "10.20.30.11")
	products := []*process{java("product", 1, "10.20.30.21"), java("product", 2, "10.20.30.22"), java("product", 3, "10.20.30.23")}
	for i := range 20 {
		at := after(i * 700)
		root := t.tomcat(nil, gateway, "POST", "/api/orders", "/api/orders", at, 5140, 504)
		for a := range 3 {
			sent := t.send(root, apacheHTTP, "POST", "http://order.shop:8080/orders", root.at(10+a*1710), 1700, 0, socketLate)
			asked := t.tomcat(sent, order, "POST", "/orders", "/orders", sent.at(2), 1830, 500)
			for b := range 3 {
				p := products[(i+a+b)%3]
				call := t.dubboSend(asked, skuService, "getSkuStock", p.ip, asked.at(8+b*606), 600+b, dubboLate)
				work := t.dubboRecv(call, p, skuService, "getSkuStock", call.at(1), 1410+spread(i+b, 90), false)
				t.mysql(work, "t_sku_stock", "SELECT stock FROM t_sku_stock WHERE sku_code = ?", work.at(3), 1395+spread(i+b, 90))
			}
		}
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

func tracedOrphans(f files) {
	t := &traces{seed: 12}
	order := java("order", 1, "10.20.31.11")
	stocks := []*process{java("stock", 1, "10.20.31.21"), java("stock", 2, "10.20.31.22")}
	for i := range 40 {
		root := t.tomcat(nil, order, "PUT", "/orders/{id}/stock", fmt.Sprintf("/orders/%d/stock", 4000+i), after(i*450), 3050, 500)
		for a := range 3 {
			p := stocks[(i+a)%2]
			call := t.dubboSend(root, "com.acme.stock.StockService", "reserve", p.ip, root.at(9+a*1008), 1001+a, dubboLate)
			work := t.dubboRecv(call, p, "com.acme.stock.StockService", "reserve", call.at(2), 3210+spread(i*3+a, 200), false)
			t.mysql(work, "t_reservation", "SELECT sum(quantity) FROM t_reservation WHERE warehouse = ? AND sku_code = ?", work.at(4), 3190+spread(i*3+a, 200))
		}
	}
	t.jaeger(f, "jaeger-traces.json")
	gzipped(f, "jaeger-traces.json")
}

func tracedVendor(f files) {
	t := &traces{seed: 13}
	web, checkout := golang("web", 1, "10.20.32.4"), java("checkout", 1, "10.20.32.11")
	for i := range 50 {
		at := after(i * 400)
		root := t.netHTTP(nil, web, "POST", "/checkout", "/checkout", at, 5010, 504)
		sent := t.send(root, otelHTTP, "POST", "http://checkout.shop:8080/pay", root.at(3), 5001, 0, "context.deadlineExceededError")
		work := t.tomcat(sent, checkout, "POST", "/pay", "/pay", sent.at(2), 7100+spread(i, 600), 200)
		t.mysql(work, "t_order", "SELECT * FROM t_order WHERE id = ?", work.at(4), 3)
		t.send(work, apacheHTTP, "POST", "https://api.vendor.example/v2/charges", work.at(12), 7050+spread(i, 600), 201, "")
		t.mysql(work, "t_order", "UPDATE t_order SET state = ? WHERE id = ?", work.at(7070+spread(i, 600)), 5)
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

func tracedCallee(f files) {
	t := &traces{seed: 14}
	web, checkout, payment := golang("web", 1, "10.20.33.4"), java("checkout", 1, "10.20.33.11"), java("payment", 1, "10.20.33.21")
	for i := range 50 {
		at := after(i * 400)
		root := t.netHTTP(nil, web, "POST", "/checkout", "/checkout", at, 5010, 504)
		sent := t.send(root, otelHTTP, "POST", "http://checkout.shop:8080/pay", root.at(3), 5001, 0, "context.deadlineExceededError")
		work := t.tomcat(sent, checkout, "POST", "/pay", "/pay", sent.at(2), 7100+spread(i, 600), 200)
		t.mysql(work, "t_order", "SELECT * FROM t_order WHERE id = ?", work.at(4), 3)
		out := t.send(work, apacheHTTP, "POST", "http://payment.shop:8080/charges", work.at(12), 7050+spread(i, 600), 201, "")
		in := t.tomcat(out, payment, "POST", "/charges", "/charges", out.at(2), 7040+spread(i, 600), 201)
		t.mysql(in, "t_charge", "SELECT count(*) FROM t_charge WHERE merchant = ? AND day = ?", in.at(5), 7000+spread(i, 600))
		t.mysql(in, "t_charge", "INSERT INTO t_charge (merchant, day, amount) VALUES (?, ?, ?)", in.at(7010+spread(i, 600)), 6)
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

// tracedSustained has a slow minute, and attempts that go on timing out after it
// or do not.
func tracedSustained(f files, on bool) {
	t := &traces{seed: 15}
	cart, price := java("cart", 1, "10.20.34.11"), java("price", 1, "10.20.34.21")
	slow := mysqlSlow(f, "mysql/slow.log")
	for i := range 104 {
		ms := i * 2500 // until 10:06:31
		during, calm := ms < 60_000, ms >= 60_000 && !on || ms >= 215_000
		root := t.tomcat(nil, cart, "GET", "/cart", "/cart", after(ms), 40, 200)
		if calm {
			sent := t.send(root, okhttp, "GET", fmt.Sprintf("http://price.shop:8080/prices/%d", 100+i), root.at(4), 20, 200, "")
			t.tomcat(sent, price, "GET", "/prices/{id}", fmt.Sprintf("/prices/%d", 100+i), sent.at(1), 16, 200)
			continue
		}
		root.dur = 1550 * time.Millisecond
		root.fail("500")
		for a := range 3 {
			sent := t.send(root, okhttp, "GET", fmt.Sprintf("http://price.shop:8080/prices/%d", 100+i), root.at(4+a*510), 501, 0, socketLate)
			if a > 0 {
				sent.with("http.request.resend_count", a)
			}
			t.tomcat(sent, price, "GET", "/prices/{id}", fmt.Sprintf("/prices/%d", 100+i), sent.at(1), 1300+spread(i+a, 300), 200)
			if during {
				slow.add(sent.at(5), 1.2+float64(spread(i+a, 200))/1000, 0.00001, 1, 1840221, fmt.Sprintf("SELECT amount FROM t_price WHERE region = 'R%d' ORDER BY valid_from DESC LIMIT 1", i%40))
			}
		}
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

func tracedSlowProvider(f files) {
	t := &traces{seed: 16}
	web := golang("web", 1, "10.20.35.4")
	provs := []*process{golang("recommend", 1, "10.20.35.21"), golang("recommend", 2, "10.20.35.22"), golang("recommend", 3, "10.20.35.23")}
	for i := range 120 {
		p := provs[i%3]
		ms, code := 12+spread(i, 9), 0
		if i%3 == 1 {
			ms = 2400 + spread(i, 300)
			if i%2 == 0 {
				code = 4
			}
		}
		root := t.netHTTP(nil, web, "GET", "/home", "/home", after(i*150), min(ms, 2500)+6, 200)
		sent := t.grpcSend(root, "recommend.v1.Recommender", "List", "recommend.shop", root.at(2), min(ms+2, 2500), code)
		sent.with("network.peer.address", p.ip, "network.peer.port", 9090)
		t.grpcRecv(sent, p, "recommend.v1.Recommender", "List", sent.at(1), ms, code)
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

func tracedSkew(f files) {
	t := &traces{seed: 17}
	web := java("web", 1, "10.20.36.4")
	provs := []*process{java("search", 1, "10.20.36.21"), java("search", 2, "10.20.36.22"), java("search", 3, "10.20.36.23")}
	for i := range 200 {
		p, failure, ms := provs[0], "", 380+spread(i, 500)
		switch {
		case i%20 == 7:
			p, ms = provs[1], 20+spread(i, 9)
		case i%20 == 3 || i%20 == 14:
			p, ms = provs[2], 21+spread(i, 9)
		case i%4 == 0:
			failure, ms = "org.apache.dubbo.remoting.ExecutionException", 2
		}
		status := 200
		if failure != "" {
			status = 500
		}
		root := t.tomcat(nil, web, "GET", "/search", "/search", after(i*90), ms+9, status)
		call := t.dubboSend(root, "com.acme.search.SearchService", "search", p.ip, root.at(3), ms+2, failure)
		if failure == "" {
			t.dubboRecv(call, p, "com.acme.search.SearchService", "search", call.at(1), ms, false)
		} else {
			call.with("exception.message", fmt.Sprintf("Server side(%s,20880) thread pool is exhausted, detail msg:Thread pool is EXHAUSTED!", p.ip))
		}
	}
	t.jaeger(f, "jaeger/search.json")
	gzipped(f, "jaeger/search.json")
}

func tracedSampled(f files) {
	t := &traces{seed: 18, state: "ot=th:8"}
	cart, prices := golang("cart", 1, "10.20.37.4"), golang("prices", 1, "10.20.37.21")
	for i := range 60 {
		n := 2 + i%2
		root := t.netHTTP(nil, cart, "GET", "/cart", "/cart", after(i*500), n*120+30, 200)
		for a := range n {
			code := 14
			if a == n-1 {
				code = 0
			}
			sent := t.grpcSend(root, "price.v1.Prices", "Quote", "prices.shop", root.at(5+a*120), 40, code)
			t.grpcRecv(sent, prices, "price.v1.Prices", "Quote", sent.at(1), 37, code)
		}
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

func tracedProvidersOnly(f files) {
	t := &traces{seed: 19}
	mesh, ledger := java("till", 1, "10.20.38.4"), java("ledger", 1, "10.20.38.21")
	for i := range 30 {
		sent := t.begin(nil, mesh, clientKind, okhttp, "GET", after(i*900), 1900)
		for a := range 3 {
			s := t.tomcat(sent, ledger, "GET", "/balance/{id}", fmt.Sprintf("/balance/%d", 70+i), sent.at(5+a*620), 600, 503)
			t.mysql(s, "t_balance", "SELECT amount FROM t_balance WHERE account = ?", s.at(4), 3)
		}
	}
	t.drop(mesh)
	t.zipkin(f, "zipkin.json")
	gzipped(f, "zipkin.json")
}

// drop takes out the spans of a process that sends none.
func (t *traces) drop(from *process) {
	var rest []*span
	for _, s := range t.spans {
		if s.from != from {
			rest = append(rest, s)
		}
	}
	t.spans = rest
}

func tracedUpdate(f files) {
	t := &traces{seed: 21}
	shop, coupon := golang("shop", 1, "10.20.48.4"), golang("coupon", 1, "10.20.48.21")
	for i := range 60 {
		root := t.netHTTP(nil, shop, "POST", "/claim", "/claim", after(i*250), 1510, 504)
		sent := t.grpcSend(root, "coupon.v1.Coupons", "Claim", "coupon.shop", root.at(3), 1500, 4)
		work := t.grpcRecv(sent, coupon, "coupon.v1.Coupons", "Claim", sent.at(1), 2030+spread(i, 300), 0)
		t.postgres(work, "coupon", "UPDATE coupon SET remaining = remaining - 1 WHERE id = $1", work.at(4), 2020+spread(i, 300))
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

func tracedSkewed(f files) {
	t := &traces{seed: 20}
	order, stock := java("order", 1, "10.20.39.4"), java("stock", 1, "10.20.39.21")
	stock.skew = 1500 * time.Millisecond
	for i := range 30 {
		root := t.tomcat(nil, order, "POST", "/orders", "/orders", after(i*800), 2060, 500)
		for a := range 2 {
			sku := fmt.Sprintf("SKU-%d", 500+i)
			sent := t.send(root, apacheHTTP, "GET", "http://stock.shop:8080/stock/"+sku, root.at(8+a*1020), 1001, 0, socketLate)
			work := t.tomcat(sent, stock, "GET", "/stock/{sku}", "/stock/"+sku, sent.at(2), 2600+spread(i, 200), 200)
			t.mysql(work, "t_stock", "SELECT * FROM t_stock WHERE upper(sku) = ?", work.at(3), 2590+spread(i, 200))
		}
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}
