package main

import (
	"fmt"
	"strings"
	"time"
)

// Incidents of which mostly access logs are left.
var accessLogs = []composed{
	{"access-nginx-retries", nginxRetries, want{
		Why:   "nginx's own log lists its tries: three of four requests for stock went to all three servers, each of which answered 502 or not in time.",
		Label: "retry-amplification", Or: []string{"downstream-wait"}, Not: []string{"healthy", "slow-sql", "traffic-skew"}, MaxCertainty: "medium",
		Findings: []string{"retry.amplified"},
		Edges:    []edge{{Service: "stock", Method: "GET /stock/{id}", Basis: "access-logs", Calls: 120, Attempts: 300, Amplification: 2.5}},
	}},
	{"access-nginx-internal-redirect", nginxRedirects, want{
		Why:   "Requests that a server answers 500 are redirected to another location, a fallback, which answers 404 in a few cases: two tries in the log, none a retry.",
		Label: "healthy", Or: []string{"inconclusive"}, Not: []string{"retry-amplification", "downstream-wait"}, NoFindings: []string{"retry.amplified", "retry.budget"},
		Edges: []edge{{Consumer: "nginx", Method: "GET /img/{id}", Basis: "access-logs", Amplification: 1}},
	}},
	{"access-envoy-attempts", envoyAttempts, want{
		Why:   "The sidecar of cart counts its attempts: payments that time out are tried three times, until the limit (URX).",
		Label: "retry-amplification", Or: []string{"downstream-wait"}, Not: []string{"healthy", "slow-sql"}, MaxCertainty: "medium",
		Findings: []string{"retry.amplified"},
		Edges:    []edge{{Consumer: "istio-proxy", Method: "POST /payments", Basis: "access-logs", Calls: 100, Attempts: 220, Amplification: 2.2}},
	}},
	{"access-haproxy-redispatch", haproxyRetries, want{
		Why:   "HAProxy cannot connect to a server that died: three retries for each request that falls to it, the last redispatched to the other.",
		Label: "retry-amplification", Or: []string{"inconclusive", "downstream-wait", "no-provider"}, Not: []string{"healthy", "slow-sql"}, MaxCertainty: "medium",
		Edges: []edge{{Consumer: "haproxy", Method: "GET /rates", Basis: "access-logs", Calls: 120, Attempts: 300, Amplification: 2.5}},
	}},
	{"access-both-ends", bothEnds, want{
		Why:   "nginx's log has each request once, Tomcat's log behind it has three arrivals with the same request ID.",
		Label: "retry-amplification", Or: []string{"downstream-wait"}, Not: []string{"healthy"},
		Findings: []string{"retry.amplified"}, Says: []string{"240", "80", "3.0x"},
	}},
	{"access-dubbo-duplicate-writes", dubboDuplicates, want{
		Why:   "Only the providers' Dubbo access logs: each deductStock three times with the same arguments, one second apart, at three providers in turn, while getStock is read as ever.",
		Label: "duplicate-writes", Not: []string{"healthy", "slow-sql", "traffic-skew"}, Findings: []string{"write.duplicate"}, Says: []string{"deductStock"},
	}},
	{"access-dubbo-popular-keys", dubboPopular, want{
		Why:   "Popular products are read again and again and the same account is charged more than once a day with the same amount, at any distance: no retries.",
		Label: "healthy", Not: []string{"duplicate-writes", "retry-amplification"},
	}},
	{"access-alb-504", albTimeouts, want{
		Why:   "The load balancer waits ten seconds for the targets of one group and answers 504. It retries nothing, and why the targets are slow it cannot know.",
		Label: "inconclusive", Or: []string{"downstream-wait"}, MaxCertainty: "medium", Not: []string{"healthy", "retry-amplification", "slow-sql"},
		Findings: []string{"call.timeout"}, NoFindings: []string{"retry.amplified"},
	}},
	{"access-nginx-canary", nginxCanary, want{
		Why:   "nginx sends a tenth to a canary; once an hour a restart costs one try of a request, which the other server then answers.",
		Label: "healthy", Not: []string{"traffic-skew", "retry-amplification"}, NoFindings: []string{"route.skew", "retry.amplified", "retry.budget"},
		Edges: []edge{{Consumer: "nginx", Method: "GET /shop", Basis: "access-logs", Calls: 400, Attempts: 402}},
	}},
	{"access-envoy-overflow", envoyOverflow, want{
		Why:   "The sidecar's circuit breaker refuses half of the calls at once (UO, never sent): nothing was retried, and why so many wait is not in its log.",
		Label: "inconclusive", Or: []string{"pool-starvation", "downstream-wait"}, MaxCertainty: "medium", Not: []string{"healthy", "retry-amplification", "slow-sql"},
		NoFindings: []string{"retry.amplified"},
		Says:       []string{"100 of 200", "never sent"},
		Edges:      []edge{{Consumer: "istio-proxy", Method: "GET /offers/{id}", Basis: "access-logs", Calls: 200, Attempts: 100}},
	}},
	{"layers-logs-and-access-logs", layersOfLogs, want{
		Why:   "No spans: nginx's log has three tries of order for each request, order's log says \"Tried 3 times\" of SkuService, and the slow log has the statement that all nine run.",
		Label: "slow-sql", ActFirst: "retry-amplification", Chain: []string{"trigger slow-sql", "amplifier retry-amplification"}, Not: []string{"healthy"},
		Findings: []string{"retry.layers", "retry.amplified"},
		Edges: []edge{
			{Service: "order", Method: "POST /orders", Basis: "access-logs", Calls: 40, Attempts: 120, Amplification: 3},
			{Consumer: "order", Method: "getSkuStock", Amplification: 3},
		},
		Says: []string{"= 9.0x"},
	}},
}

// nginx prints one line of a log_format with what its upstreams said.
func nginx(f files, file string, end time.Time, request string, status int, rt float64, group, addrs, statuses, times, id string) {
	f.printf(file, "10.20.9.%d - - [%s] \"%s HTTP/1.1\" %d %d \"-\" \"okhttp/4.12.0\" rt=%.3f ups=%s ua=\"%s\" us=\"%s\" urt=\"%s\" rid=%s\n",
		3+len(id)%5+int(rt*1000)%3, end.Format("02/Jan/2006:15:04:05 +0000"), request, status, 180+int(rt*100)%40, rt, group, addrs, statuses, times, id)
}

func requestID(n int) string { return hexID(uint64(n)+77<<20) + hexID(uint64(n)+99<<20) }

func nginxRetries(f files) {
	defer gzipped(f, "edge-1/nginx-access.log")
	servers := []string{"10.20.50.21:8080", "10.20.50.22:8080", "10.20.50.23:8080"}
	for i := range 360 {
		at := after(i * 200)
		if i%3 != 0 {
			nginx(f, "edge-1/nginx-access.log", at, fmt.Sprintf("GET /search?q=%d", i), 200, 0.021, "search", "10.20.50.31:8080", "200", "0.020", requestID(i))
			continue
		}
		path := fmt.Sprintf("GET /stock/%d", 5000+i)
		if i%12 == 9 {
			nginx(f, "edge-1/nginx-access.log", at, path, 200, 0.412, "stock", servers[i%3], "200", "0.411", requestID(i))
			continue
		}
		statuses, times, rt := "504, 502, 504", "1.000, 0.003, 1.001", 2.004
		if i%2 == 0 {
			statuses, times, rt = "502, 504, 200", "0.002, 1.000, 0.811", 1.813
		}
		status := 504
		if strings.HasSuffix(statuses, "200") {
			status = 200
		}
		nginx(f, "edge-1/nginx-access.log", at, path, status, rt, "stock", strings.Join([]string{servers[i%3], servers[(i+1)%3], servers[(i+2)%3]}, ", "), statuses, times, requestID(i))
	}
}

func nginxRedirects(f files) {
	defer gzipped(f, "edge-1/nginx-access.log")
	for i := range 400 {
		at := after(i * 150)
		if i%8 != 3 {
			nginx(f, "edge-1/nginx-access.log", at, fmt.Sprintf("GET /img/%d", 700+i), 200, 0.004, "images", "10.20.51.21:8080", "200", "0.004", requestID(i))
			continue
		}
		nginx(f, "edge-1/nginx-access.log", at, fmt.Sprintf("GET /img/%d", 700+i), 404, 0.009, "images", "10.20.51.21:8080 : 10.20.51.22:8080", "500 : 404", "0.004 : 0.005", requestID(i))
	}
}

func nginxCanary(f files) {
	defer gzipped(f, "edge-1/nginx-access.log")
	for i := range 400 {
		at := after(i * 20_000)
		addr, status, times, rt := "10.20.50.41:8080", "200", "0.018", 0.018
		switch {
		case i%10 == 4:
			addr = "10.20.50.49:8080"
		case i%200 == 150:
			addr, status, times, rt = "10.20.50.41:8080, 10.20.50.49:8080", "502, 200", "0.001, 0.019", 0.020
		}
		nginx(f, "edge-1/nginx-access.log", at, "GET /shop", 200, rt, "shop", addr, status, times, requestID(i))
	}
}

func envoyOverflow(f files) {
	line := istio(f, "cart-6f7d/istio-proxy.log")
	for i := range 200 {
		if i%2 == 0 {
			line(after(i*60), "GET", fmt.Sprintf("/offers/%d", i), "offers", 503, 0, 0, "UO", "upstream_overflow", i)
		} else {
			line(after(i*60), "GET", fmt.Sprintf("/offers/%d", i), "offers", 200, 1, 900+spread(i, 400), "-", "via_upstream", i)
		}
	}
	gzipped(f, "cart-6f7d/istio-proxy.log")
}

// istio prints what an Istio sidecar logs of the calls that its application makes.
func istio(f files, file string) func(at time.Time, verb, path, cluster string, status, attempts, ms int, flags, details string, n int) {
	return func(at time.Time, verb, path, cluster string, status, attempts, ms int, flags, details string, n int) {
		var host any = fmt.Sprintf("10.20.52.%d:8080", 21+n%3)
		var service any = ms
		if status >= 500 {
			service = nil
		}
		if attempts == 0 {
			host = nil
		}
		f.printf(file, "%s\n", jsonLine(map[string]any{
			"authority": cluster + ".shop:8080", "bytes_received": 0, "bytes_sent": 154, "connection_termination_details": nil, "downstream_local_address": "10.96.0.11:8080",
			"downstream_remote_address": "10.20.52.4:50544", "duration": ms, "method": verb, "path": path, "protocol": "HTTP/1.1", "request_id": requestID(n)[:8] + "-cf5c-432b-8c7e-" + requestID(n)[20:],
			"requested_server_name": nil, "response_code": status, "response_code_details": details, "response_flags": flags, "route_name": "default", "start_time": at.Format("2006-01-02T15:04:05.000Z"),
			"upstream_cluster": "outbound|8080||" + cluster + ".shop.svc.cluster.local", "upstream_host": host, "upstream_local_address": "10.20.52.4:41002",
			"upstream_request_attempt_count": attempts, "upstream_service_time": service, "upstream_transport_failure_reason": nil, "user_agent": "Java/21.0.2", "x_forwarded_for": nil,
		}))
	}
}

func envoyAttempts(f files) {
	defer gzipped(f, "cart-6f7d/istio-proxy.log")
	line := istio(f, "cart-6f7d/istio-proxy.log")
	for i := range 200 {
		switch {
		case i%2 == 1:
			line(after(i*100), "GET", fmt.Sprintf("/prices/%d", i), "prices", 200, 1, 8+spread(i, 5), "-", "via_upstream", i)
		case i%10 < 6:
			line(after(i*100), "POST", "/payments", "payments", 504, 3, 3050+spread(i, 60), "UT,URX", "response_timeout", i)
		default:
			line(after(i*100), "POST", "/payments", "payments", 201, 1, 640+spread(i, 200), "-", "via_upstream", i)
		}
	}
}

func haproxyRetries(f files) {
	for i := range 240 {
		at := after(i * 120)
		backend, request, server, retries, connect := "web", fmt.Sprintf("GET /p/%d", i), "a", "0", 1
		if i%2 == 0 {
			backend, request, server = "rates", "GET /rates", "r1"
			if i%4 == 0 {
				server, retries, connect = "r1", "+3", 3003
			}
		}
		f.printf("lb-1/haproxy.log", "%s lb-1 haproxy[812]: 10.20.53.9:%d [%s] front %s/%s 0/%d/%d/12/%d 200 512 - - ---- 41/40/12/6/%s 0/0 \"%s HTTP/1.1\"\n",
			at.Add(time.Duration(connect+15)*time.Millisecond).Format("Jan _2 15:04:05"), 40000+i, at.Format("02/Jan/2006:15:04:05.000"), backend, server, connect/3, connect, connect/3+connect+12, retries, request)
	}
}

func bothEnds(f files) {
	for i := range 80 {
		at := after(i * 600)
		id := requestID(3000 + i)
		f.printf("edge/nginx-access.log", "{\"time\":\"%s\",\"remote_addr\":\"10.20.54.9\",\"request_method\":\"POST\",\"request_uri\":\"/api/quote\",\"status\":504,\"request_time\":6.004,\"request_id\":\"%s\"}\n", at.Add(6004*time.Millisecond).Format("2006-01-02T15:04:05+00:00"), id)
		for k := range 3 {
			f.printf("quote-1/tomcat-access.log", "10.20.54.5 - - [%s] \"POST /api/quote HTTP/1.1\" 200 311 4%03d %s\n", at.Add(time.Duration(k*2000+4100)*time.Millisecond).Format("02/Jan/2006:15:04:05 +0000"), spread(i+k, 900), id)
		}
	}
}

func dubboDuplicates(f files) {
	for i := range 40 {
		for k := range 3 {
			n := (i+k)%3 + 1
			access(f, fmt.Sprintf("stock-%d/dubbo-access.log", n), after(i*1700+k*1004), 2600+spread(i+k, 300), "10.20.55.30:51022", fmt.Sprintf("10.20.55.%d:20880", n), "com.acme.stock.StockService", "deductStock(java.lang.String,int)", fmt.Sprintf(`["SKU-%d",%d]`, 700+i, 1+i%3))
		}
		for k := range 4 {
			n := (i+k)%3 + 1
			access(f, fmt.Sprintf("stock-%d/dubbo-access.log", n), after(i*1700+k*390), 3, "10.20.55.31:51029", fmt.Sprintf("10.20.55.%d:20880", n), "com.acme.stock.StockService", "getStock(java.lang.String)", fmt.Sprintf(`["SKU-%d"]`, 700+i%4))
		}
	}
}

func dubboPopular(f files) {
	for i := range 270 {
		n := i%3 + 1
		access(f, fmt.Sprintf("account-%d/dubbo-access.log", n), after(i*900), 3+spread(i, 6), "10.20.56.31:51029", fmt.Sprintf("10.20.56.%d:20880", n), "com.acme.account.AccountService", "getBalance(java.lang.Long)", fmt.Sprintf("[%d]", 70+i%6))
		if i%7 == 2 {
			access(f, fmt.Sprintf("account-%d/dubbo-access.log", n), after(i*900+spread(i, 800)), 9+spread(i, 6), "10.20.56.31:51029", fmt.Sprintf("10.20.56.%d:20880", n), "com.acme.account.AccountService", "charge(java.lang.Long,int)", fmt.Sprintf("[%d,%d]", 400+spread(i, 60), 5))
		}
	}
}

func albTimeouts(f files) {
	for i := range 120 {
		end := after(i * 300)
		target, wait, status, targetStatus, sent := fmt.Sprintf("10.20.57.%d:8080", 21+i%3), "0.041", "200", "200", 412
		if i%3 == 1 {
			wait, status, targetStatus, sent = "-1", "504", "-", 0
			end = end.Add(10 * time.Second)
		}
		processing, last := "0.001", "0.000"
		if wait == "-1" {
			last = "-1"
		}
		f.printf("alb.log", "https %s app/shop/50dc6c495c0c9188 10.20.57.9:%d %s %s %s %s %s %s 84 %d \"POST https://shop.example:443/checkout HTTP/2.0\" \"ShopApp/8.2\" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/checkout/73e2d6bc24d8a067 \"Root=1-69b5%04x-%s\" \"shop.example\" \"session-reused\" 1 %s \"forward\" \"-\" \"-\" \"%s\" \"%s\" \"-\" \"-\" TID_%s\n",
			end.Format("2006-01-02T15:04:05.000000Z"), 20000+i, target, processing, wait, last, status, targetStatus, sent, i, requestID(i)[:24], after(i*300).Format("2006-01-02T15:04:05.000000Z"), target, targetStatus, requestID(i)[:16])
	}
}

func layersOfLogs(f files) {
	defer gzipped(f, "mysql/slow.log")
	order := node{"3.2.14", "10.20.58.30", 0}
	products := []node{{"3.2.14", "10.20.58.1", 20880}, {"3.2.14", "10.20.58.2", 20880}, {"3.2.14", "10.20.58.3", 20880}}
	c := call{order, "order", "com.acme.product.SkuService", "getSkuStock", 500, "10.20.9.5:2181"}
	slow := mysqlSlow(f, "mysql/slow.log")
	logs := []log{}
	for n := range 3 {
		logs = append(logs, boot2(f, fmt.Sprintf("order-%d/order.log", n+1), 9))
	}
	for i := range 40 {
		at := i * 5200
		var addrs []string
		for a := range 3 {
			n := (i + a) % 3
			addrs = append(addrs, fmt.Sprintf("10.20.58.%d:8080", 30+n))
			end := after(at + a*1700 + 1512)
			logs[n](end, "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i+1), "c.a.order.OrderController", "order failed\n%s", c.tried(3, products, 3, c.timedOut(products[n], end, 1+4*(i*3+a))))
			for b := range 3 {
				slow.add(after(at+a*1700+b*503), 1.6+float64(spread(i+a+b, 300))/1000, 0.00001, 1, 1730021, fmt.Sprintf("SELECT stock FROM t_sku_stock WHERE sku_code = 'SKU-%d'", 500+i))
			}
		}
		nginx(f, "edge/nginx-access.log", after(at+5100), "POST /orders", 504, 5.1, "order", strings.Join(addrs, ", "), "504, 504, 504", "1.700, 1.700, 1.700", requestID(8000+i))
	}
	for n := range 3 {
		gzipped(f, fmt.Sprintf("order-%d/order.log", n+1))
	}
}
