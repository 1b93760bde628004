package main

import (
	"fmt"
)

// Incidents of which saved scrapes of metrics are left.
var counters = []composed{
	{"counters-errors-rise", countersRise, want{
		Why:   "Two scrapes five minutes apart of a shop's services: order answers 500 to half of the orders, because its calls of pay end by their timeout, and pay itself answers most of its calls after their deadline. What pay does all the time, counters cannot tell.",
		Label: "inconclusive", Or: []string{"downstream-wait"}, MaxCertainty: "medium", Not: []string{"healthy", "retry-amplification", "slow-sql", "pool-starvation"},
		Findings: []string{"call.failed", "call.timeout", "call.slow"},
		Edges: []edge{
			{Service: "order", Method: "POST /orders", Basis: "metrics", Attempts: 400},
			{Consumer: "order", Service: "pay", Basis: "metrics", Attempts: 400},
		},
	}},
	{"counters-thousand-methods", countersSpread, want{
		Why:   "Each of a thousand methods of one service fails once or twice between two scrapes, a third of all its calls: the service fails, no method stands out.",
		Label: "inconclusive", Not: []string{"healthy"}, Findings: []string{"call.failed"}, Says: []string{"1000 methods"},
	}},
	{"healthy-counters-habit", countersHabit, want{
		Why:   "The same services on a good day: one call in fifteen of a partner's interface fails, as it has for weeks, a process restarted between the scrapes, and the health check says no to whom it does not know.",
		Label: "healthy", Or: []string{"inconclusive"}, Not: []string{"downstream-wait", "retry-amplification"}, NoFindings: []string{"call.failed", "call.timeout", "call.slow"},
	}},
}

// micrometer prints the series of one method by status.
func micrometer(f files, file, family, labels string, ok, failed int, status, exception string, seconds float64) {
	series := func(status, outcome, exception string, n int, sum float64) {
		f.printf(file, "%s_count{%s,error=%q,exception=%q,outcome=%q,status=%q,} %d.0\n%s_sum{%s,error=%q,exception=%q,outcome=%q,status=%q,} %.3f\n",
			family, labels, exception, exception, outcome, status, n, family, labels, exception, exception, outcome, status, sum)
	}
	series("200", "SUCCESS", "none", ok, float64(ok)*0.031)
	if failed > 0 {
		series(status, "SERVER_ERROR", exception, failed, seconds)
	}
}

const orderServer, orderClient = `application="order",method="POST",uri="/orders"`, `application="order",client_name="pay",method="POST",uri="/charges"`

func countersRise(f files) {
	for i, file := range []string{"order/metrics-1002.prom", "order/metrics-1007.prom"} {
		f.printf(file, "# HELP jvm_threads_live_threads The current number of live threads\n# TYPE jvm_threads_live_threads gauge\njvm_threads_live_threads{application=\"order\",} 61.0\nprocess_start_time_seconds{application=\"order\",} 1.773313301E9\n")
		micrometer(f, file, "http_server_requests_seconds", orderServer, 81200+200*i, 9+200*i, "500", "ResourceAccessException", 0.4+1000*float64(i))
		micrometer(f, file, "http_client_requests_seconds", orderClient, 81200+200*i, 9+200*i, "CLIENT_ERROR", "SocketTimeoutException", 0.4+1000*float64(i))
	}
	for i, file := range []string{"pay/metrics-1002.txt", "pay/metrics-1007.txt"} {
		f.printf(file, "# TYPE go_goroutines gauge\ngo_goroutines %d\n# TYPE grpc_server_handled_total counter\n", 40+300*i)
		f.printf(file, "grpc_server_handled_total{grpc_code=\"OK\",grpc_method=\"Charge\",grpc_service=\"acme.pay.Charges\",grpc_type=\"unary\"} %d\n", 81188+201*i)
		f.printf(file, "grpc_server_handled_total{grpc_code=\"DeadlineExceeded\",grpc_method=\"Charge\",grpc_service=\"acme.pay.Charges\",grpc_type=\"unary\"} %d\n", 9+199*i)
		f.printf(file, "grpc_server_handled_total{grpc_code=\"InvalidArgument\",grpc_method=\"Charge\",grpc_service=\"acme.pay.Charges\",grpc_type=\"unary\"} 312\n")
	}
}

func countersSpread(f files) {
	for i, file := range []string{"catalog/before.prom", "catalog/after.prom"} {
		for m := range 1000 {
			labels := fmt.Sprintf(`application_name="catalog",interface="com.acme.catalog.CatalogService",method="find%d",`, m)
			f.printf(file, "dubbo_provider_requests_total{%s} %d.0\n", labels, 700+m+i*4)
			f.printf(file, "dubbo_provider_requests_unknown_failed_total{%s} %d.0\n", labels, i*(1+m%2))
		}
	}
}

func countersHabit(f files) {
	for i, file := range []string{"order/metrics-1002.prom", "order/metrics-1007.prom"} {
		micrometer(f, file, "http_server_requests_seconds", orderServer, 81200+2000*i, 9+i, "500", "IllegalStateException", 0.2)
		micrometer(f, file, "http_client_requests_seconds", `application="order",client_name="partner",method="GET",uri="/rates"`, 14000+420*i, 1000+30*i, "503", "none", 2)
		f.printf(file, "http_server_requests_seconds_count{application=\"order\",method=\"GET\",uri=\"/actuator/health\",status=\"503\",outcome=\"SERVER_ERROR\",} %d.0\n", 12+300*i)
	}
	f.printf("pay/metrics-1002.txt", "http_requests_total{code=\"200\",handler=\"/pay\"} 90110\nhttp_requests_total{code=\"500\",handler=\"/pay\"} 31\n")
	f.printf("pay/metrics-1007.txt", "http_requests_total{code=\"200\",handler=\"/pay\"} 211\nhttp_requests_total{code=\"500\",handler=\"/pay\"} 1\n")
}
