package parsers

import (
	"strings"
	"testing"
)

// Full pools, refusals and missing callees in the words of frameworks other
// than Dubbo.
func TestDetectRPCFrameworks(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"motan server", "NettyChannelHandler process thread pool is full, reject, active=800 poolSize=800 corePoolSize=20 maxPoolSize=800 taskCount=912331 requestId=1812", "pool motan  motan workers max=800 active=800 size=800 rejected"},
		{"motan's kin", "Process thread pool is full, reject, active=64, poolSize=64, corePoolSize=8, maxPoolSize=64, taskCount=99", "pool motan  motan workers max=64 active=64 size=64 rejected"},
		{"motan caller", "request fail error_message: process thread pool is full, reject by server: /10.20.3.9:8002, status: 503, error_code: 10001", "pool motan  motan workers rejected relayed"},
		{"words about it", "tip: when the process thread pool is full, reject new work", ""},
		{"sofarpc", "RPC-0106022:Task:a.B$ProcessTask@1 has been reject for ThreadPool exhausted! pool:200, active:200, queue:7, taskcnt: 77120", "pool sofarpc   max=200 active=200 size=200 queued=7 rejected"},
		{"jsf", "[JSF-23002]Task:a.B@1 has been reject because of threadPool exhausted! pool:9, active:8, queue:0, taskcnt: 5", "pool sofarpc   active=8 size=9 queued=0 rejected"},
		{"sofarpc busy", "[JSF-23003]Biz thread pool of provider has bean exhausted, the server port is 22000", "pool sofarpc  port 22000 rejected"},
		{"thrift", "Task has been rejected by ExecutorService 3 times till timedout, reason: null", "pool thrift   rejected"},
		{"uwsgi", `*** uWSGI listen queue of socket "127.0.0.1:9001" (fd: 3) full !!! (101/100) ***`, "pool uwsgi  uwsgi queued=101 rejected"},
		{"uwsgi option", "log-route = mylogger1 uWSGI listen queue of socket .* full", ""},
		{"wildfly", "jakarta.ejb.EJBException: WFLYEJB0378: Failed to acquire a permit within 5 MINUTES", "pool ejb   rejected"},
		{"kitex", "get stock failed: rpc timeout: timeout=800ms, to=acme.stock, method=BatchGet, location=kitex.rpcTimeoutMW, remote=10.20.0.5:8888: context deadline exceeded", "downstream.slow [acme.stock] rpc timeout: timeout=800ms, to=acme.stock, method=BatchGet, location=kitex.rpcTimeoutMW, remote=10.20.0.5:8888: context deadline exceeded"},
		{"kitex refused", "get connection error: dial tcp 10.20.0.5:8888: connect: connection refused", "downstream.slow [10.20.0.5:8888] get connection error: dial tcp 10.20.0.5:8888: connect: connection refused"},
		{"kitex limit", "request over limit: too many requests", "limiter.rejected [kitex] request over limit: too many requests"},
		{"nginx", `2026/03/14 05:13:53 [error] 31#31: *8824 no live upstreams while connecting to upstream, client: 10.20.9.1, server: shop.example, upstream: "http://stock/v1", host: "shop.example"`, "no provider stock: no live upstreams"},
		{"httpd", "[proxy_balancer:error] [pid 12] AH01170: balancer://stock: All workers are in error state", "no provider stock: all workers are in error state"},
		{"haproxy", "backend bk_stock has no server available!", "no provider bk_stock: no server available"},
		{"envoy", `call failed: 503 from http://price.shop:8080/v1: "no healthy upstream"`, "no provider price.shop:8080: no healthy upstream"},
		{"kubernetes", `no endpoints available for service "price"`, "no provider price: no endpoints available"},
	} {
		var got []string
		for _, r := range detectText(t, test.text) {
			got = append(got, brief(r))
		}
		if s := strings.Join(got, "\n"); s != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, s, test.want)
		}
	}
}
