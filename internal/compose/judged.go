package main

import "fmt"

// Evidence as a judge put it together who had not seen the engine; what was
// missed at first is kept.
var judged = []composed{
	{"judge3-app-log-then-access-log", appThenAccess, want{
		Why:   "Two logs were put behind each other: the application's, calm, and the access log, in which three of five requests end in 502. Why is in neither.",
		Label: "inconclusive", Or: []string{"downstream-wait"}, MaxCertainty: "medium", Not: []string{"healthy", "retry-amplification"}, Findings: []string{"call.failed"},
	}},
	{"judge3-klog-errors", klogErrors, want{
		Why:   "A controller in Go logs an error of its own for every second object, from the middle of its log on. What breaks is not said.",
		Label: "inconclusive", MaxCertainty: "low", Not: []string{"healthy"}, Findings: []string{"app.errors"},
	}},
	{"judge3-waits-for-connections-in-spans", connectionSpans, want{
		Why:   "Spans of order: three times in a row each request waits three seconds for a connection and gets none. These are waits for the pool, not calls that are retried; who holds the connections is not seen.",
		Label: "pool-starvation", Or: []string{"inconclusive"}, MaxCertainty: "medium", Not: []string{"healthy", "retry-amplification"}, Findings: []string{"conn.exhausted"}, NoFindings: []string{"retry.amplified"},
	}},
	{"judge3-sharded-orders", shardedOrders, want{
		Why:   "The pool of order is empty and MySQL's slow log has one statement on each of 64 tables orders_0000 … orders_0063, a few times each: it is one statement, and it scans.",
		Label: "slow-sql", Not: []string{"healthy"}, Says: []string{"orders_*"},
		SQL: []sql{{Contains: "orders_*"}},
	}},
}

func appThenAccess(f files) {
	defer gzipped(f, "all.log")
	l := boot2(f, "all.log", 7)
	for i := range 4000 {
		l(after(i*50-200_000), "INFO", fmt.Sprintf("http-nio-8080-exec-%d", i%20), "c.a.web.Home", "page %d of tenant %d rendered in %d ms", i, i%31, 3+spread(i, 40))
	}
	for i := range 1000 {
		status := 200
		if i%5 < 3 {
			status = 502
		}
		f.printf("all.log", "10.20.80.%d - - [%s] \"GET /app/%d HTTP/1.1\" %d %d \"-\" \"Mozilla/5.0\" 0.%03d\n", 3+i%9, after(i*100).Format("02/Jan/2006:15:04:05 +0000"), i%80, status, 200+i%77, 10+i%60)
	}
}

func klogErrors(f files) {
	defer gzipped(f, "controller.log")
	for i := range 3000 {
		level, text := "I", fmt.Sprintf("synced basket-%d", i)
		if i > 1200 && i%2 == 1 {
			level, text = "E", fmt.Sprintf("cannot reconcile basket-%d: no table for its region", i)
		}
		f.printf("controller.log", "%s%s       1 reconciler.go:88] %s\n", level, after(i*100).Format("0102 15:04:05.000000"), text)
	}
}

func connectionSpans(f files) {
	defer gzipped(f, "spans.jsonl")
	for i := range 120 {
		at := after(i * 250).UnixNano()
		span := func(n int, parent, name string, kind int, from, to int64, more string) {
			f.printf("spans.jsonl", `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"order"}}]},"scopeSpans":[{"scope":{"name":"io.opentelemetry.jdbc"},"spans":[{"traceId":"%032x","spanId":"%016x",%s"name":%q,"kind":%d,"startTimeUnixNano":"%d","endTimeUnixNano":"%d",%s"status":{"code":2}}]}]}]}`+"\n",
				i+1, i*8+n, parent, name, kind, at+from*1e6, at+to*1e6, more)
		}
		span(1, "", "GET /orders/{id}", 2, 0, 9100, `"attributes":[{"key":"http.route","value":{"stringValue":"/orders/{id}"}},{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"http.response.status_code","value":{"intValue":"500"}}],`)
		for k := range 3 {
			span(2+k, fmt.Sprintf(`"parentSpanId":"%016x",`, i*8+1), "HikariDataSource.getConnection", 1, int64(k)*3010+1, int64(k)*3010+3001, `"attributes":[{"key":"code.function","value":{"stringValue":"getConnection"}}],"events":[{"name":"exception","attributes":[{"key":"exception.type","value":{"stringValue":"java.sql.SQLTransientConnectionException"}}]}],`)
		}
	}
}

func shardedOrders(f files) {
	defer gzipped(f, "mysql/slow.log")
	l := boot2(f, "order/order.log", 5)
	for i := range 40 {
		l(after(i*600), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i), "c.a.order.ErrorAdvice", "order not loaded\njava.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available, request timed out after 30000ms (total=20, active=20, idle=0, waiting=%d)", 30+i%9)
	}
	slow := mysqlSlow(f, "mysql/slow.log")
	for i := range 256 {
		slow.add(after(i*100-3000), 4.1+float64(spread(i, 9))/10, 0.00001, 1, 900_000+i, fmt.Sprintf("SELECT * FROM orders_%04d WHERE buyer_phone = '%d'", i%64, 13000+i))
	}
}
