package main

import "fmt"

// Traces of waits at the edge of what was instrumented.
var tracedWaits = []composed{
	{"traces-vendor-retried", tracedVendorRetried, want{
		Why:   "billing's calls of a vendor's API time out after 2 s and are sent three times; the vendor sends no spans.",
		Label: "downstream-wait", ActFirst: "retry-amplification", Chain: []string{"trigger downstream-wait", "amplifier retry-amplification"}, Not: []string{"healthy", "slow-sql"},
		Findings: []string{"retry.amplified", "retry.hopeless", "call.timeout", "time.downstream"},
		Edges:    []edge{{Consumer: "billing", Method: "POST /v1/invoices", Basis: "spans", Calls: 40, Attempts: 120, Amplification: 3}},
	}},
	{"traces-callee-slow-itself", tracedCalleeItself, want{
		Why:   "checkout waits for fraud, whose spans say that it takes 4 s in no call: its own code, a lock or a pause. Which, spans cannot tell.",
		Label: "inconclusive", Or: []string{"cpu-saturation", "lock-contention", "gc-pause"}, MaxCertainty: "medium", Not: []string{"healthy", "downstream-wait", "slow-sql", "retry-amplification"},
		Findings: []string{"time.own", "call.timeout"}, NoFindings: []string{"time.downstream", "time.db"},
	}},
	{"traces-redis-slow", tracedRedis, want{
		Why:   "Every session look-up waits 1.8 s for Redis, by its client's spans; calls time out after 1.5 s.",
		Label: "downstream-wait", Not: []string{"healthy", "slow-sql", "retry-amplification"}, Findings: []string{"time.downstream", "call.timeout"}, Says: []string{"redis"},
	}},
	{"traces-ordinary-failures", tracedOrdinary, want{
		Why:   "A day's traffic: one request in a hundred and fifty fails, a few are retried once, customers ask for what is not there.",
		Label: "healthy", NoFindings: []string{"retry.amplified", "retry.budget"}, Not: []string{"retry-amplification", "downstream-wait", "slow-sql"},
	}},
}

func tracedVendorRetried(f files) {
	t := &traces{seed: 51}
	shop, billing := java("shop", 1, "10.20.60.4"), java("billing", 1, "10.20.60.21")
	for i := range 40 {
		root := t.tomcat(nil, shop, "POST", "/orders", "/orders", after(i*700), 6150, 500)
		sent := t.send(root, apacheHTTP, "POST", "http://billing.shop:8080/bills", root.at(5), 6130, 500, "")
		work := t.tomcat(sent, billing, "POST", "/bills", "/bills", sent.at(2), 6120, 500)
		for a := range 3 {
			out := t.send(work, okhttp, "POST", "https://api.invoices.example/v1/invoices", work.at(10+a*2030), 2001, 0, socketLate)
			if a > 0 {
				out.with("http.request.resend_count", a)
			}
		}
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

func tracedCalleeItself(f files) {
	t := &traces{seed: 52}
	checkout, fraud := java("checkout", 1, "10.20.61.4"), java("fraud", 1, "10.20.61.21")
	for i := range 60 {
		root := t.tomcat(nil, checkout, "POST", "/pay", "/pay", after(i*300), 3050, 504)
		sent := t.send(root, apacheHTTP, "POST", "http://fraud.shop:8080/score", root.at(20), 3001, 0, socketLate)
		work := t.tomcat(sent, fraud, "POST", "/score", "/score", sent.at(2), 4010+spread(i, 500), 200)
		t.mysql(work, "t_rule", "SELECT * FROM t_rule WHERE active = ?", work.at(3), 6)
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

func tracedRedis(f files) {
	t := &traces{seed: 53}
	web, session := golang("web", 1, "10.20.62.4"), java("session", 1, "10.20.62.21")
	for i := range 60 {
		root := t.netHTTP(nil, web, "GET", "/account", "/account", after(i*300), 1512, 504)
		sent := t.grpcSend(root, "session.v1.Sessions", "Find", "session.shop", root.at(3), 1500, 4)
		work := t.grpcRecv(sent, session, "session.v1.Sessions", "Find", sent.at(1), 1840+spread(i, 200), 0)
		s := t.begin(work, session, clientKind, "io.opentelemetry.lettuce-5.1", "GET", work.at(2), 1830+spread(i, 200))
		s.with("db.system", "redis", "db.statement", "GET ?", "server.address", "redis.shop", "server.port", 6379, "network.peer.address", "10.20.62.90", "network.peer.port", 6379)
	}
	t.jaeger(f, "jaeger.json")
	gzipped(f, "jaeger.json")
}

func tracedOrdinary(f files) {
	t := &traces{seed: 54}
	web, catalog := java("web", 1, "10.20.63.4"), java("catalog", 1, "10.20.63.21")
	for i := range 300 {
		status := 200
		if i%23 == 5 {
			status = 404
		}
		root := t.tomcat(nil, web, "GET", "/p/{id}", fmt.Sprintf("/p/%d", 100+i), after(i*6000), 45, status)
		url := fmt.Sprintf("http://catalog.shop:8080/products/%d", 100+i)
		if i%150 == 70 {
			bad := t.send(root, okhttp, "GET", url, root.at(3), 8, 503, "")
			t.tomcat(bad, catalog, "GET", "/products/{id}", fmt.Sprintf("/products/%d", 100+i), bad.at(1), 5, 503)
			again := t.send(root, okhttp, "GET", url, root.at(23), 18, 200, "").with("http.request.resend_count", 1)
			t.tomcat(again, catalog, "GET", "/products/{id}", fmt.Sprintf("/products/%d", 100+i), again.at(1), 15, 200)
			continue
		}
		sent := t.send(root, okhttp, "GET", url, root.at(3), 35, status, "")
		t.tomcat(sent, catalog, "GET", "/products/{id}", fmt.Sprintf("/products/%d", 100+i), sent.at(1), 31, status)
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}
