package main

import (
	"fmt"
	"time"
)

var routing = []composed{
	{"no-provider-tag-router", tagRouter, want{
		Why:   "The tag router leaves nobody of six healthy providers.",
		Label: "no-provider", Incidents: 1, Not: []string{"pool-starvation", "healthy", "traffic-skew"},
		Says: []string{"TagStateRouter"},
	}},
	{"no-provider-empty-registry", emptyRegistry, want{
		Why:   "The registry has no provider any more; every call fails at once.",
		Label: "no-provider", Incidents: 1, Not: []string{"pool-starvation", "healthy", "retry-amplification"},
	}},
	{"no-provider-dubbo-go", goNobody, want{
		Why:   "A dubbo-go consumer finds no provider for its service.",
		Label: "no-provider", Incidents: 1, Not: []string{"healthy", "retry-amplification"},
	}},
	{"skew-one-provider-of-four", skewAccess, want{
		Why:   "Access logs of four providers: one gets five sixths of the calls, and only its pool is full.",
		Label: "traffic-skew", Not: []string{"slow-sql", "healthy", "no-provider"},
	}},
	{"skew-router-leaves-one-of-six", skewRouter, want{
		Why:   "The condition router leaves one of six providers, which is full of work.",
		Label: "traffic-skew", Or: []string{"pool-starvation"}, Not: []string{"slow-sql", "no-provider", "healthy"},
	}},
	{"duplicate-writes-orders", duplicateOrders, want{
		Why:   "createOrder is retried after timeouts though the first attempts went on: keys collide and late answers arrive.",
		Label: "duplicate-writes", Not: []string{"slow-sql", "healthy"},
	}},
	{"duplicate-writes-access-log", duplicatePay, want{
		Why:   "The access log of the provider has every payment two or three times, a second apart, from the same consumer, which retried.",
		Label: "duplicate-writes", Not: []string{"slow-sql", "healthy"},
	}},
	{"healthy-repeated-reads", repeatedReads, want{
		Why:   "The same product is read again and again, as reads are; nothing failed.",
		Label: "healthy", Not: []string{"duplicate-writes", "retry-amplification"},
	}},
	{"healthy-consumer-starts-first", startsFirst, want{
		Why:   "For two seconds of a start the provider was not registered yet, afterwards a day of work.",
		Label: "healthy", Not: []string{"no-provider"},
	}},
	{"two-hours-apart", hoursApart, want{
		Why:   "In the morning nobody was registered for a service, in the evening the pool of another was full behind a slow statement.",
		Label: "slow-sql", Also: []string{"no-provider"}, Incidents: 2,
	}},
	{"inconclusive-few-timeouts", fewTimeouts, want{
		Why:   "Nine calls without retries timed out; nothing was saved at the provider.",
		Label: "inconclusive", Or: []string{"downstream-wait"}, MaxCertainty: "medium", Not: []string{"retry-amplification", "slow-sql", "pool-starvation", "healthy"},
	}},
}

func tagRouter(f files) {
	c := call{node{"3.2.14", "10.20.70.30", 0}, "checkout", "com.acme.pay.PayService", "pay", 3000, "10.20.9.5:2181"}
	l := boot3(f, "checkout/checkout.log", "checkout", time.FixedZone("", 8*3600))
	for i := range 25 {
		at := after(i * 800)
		six := "10.20.70.1:20880,10.20.70.2:20880,10.20.70.3:20880,10.20.70.4:20880,10.20.70.5:20880"
		l(at, "WARN", fmt.Sprintf("http-nio-8080-exec-%d", i+1), "o.a.d.rpc.cluster.SingleRouterChain", "%s", c.from.said("2-2", "No provider available after route for the service", "No provider available after route for the service com.acme.pay.PayService from registry 10.20.70.30 on the consumer 10.20.70.30 using the dubbo version 3.2.14. Router snapshot is below: \n"+
			"[ Parent (Input: 6) (Current Node Output: 6) (Chain Node Output: 0) ] Input: "+six+" -> Chain Node Output: Empty...\n"+
			"  [ MockInvokersSelector (Input: 6) (Current Node Output: 6) (Chain Node Output: 0) Router message: invocation.need.mock not set. Return normal Invokers. ] Current Node Output: "+six+"...\n"+
			"    [ StandardMeshRuleRouter (Input: 6) (Current Node Output: 6) (Chain Node Output: 0) Router message: MeshRuleCache has not been built. Skip route. ] Current Node Output: "+six+"...\n"+
			"      [ TagStateRouter (Input: 6) (Current Node Output: 0) (Chain Node Output: 0) Router message: all addresses are in dynamic tag group, return empty list ] Current Node Output: Empty"))
		l(at.Add(2e6), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i+1), "c.acme.checkout.PayController", "pay failed\n%s", c.nobody())
	}
}

func emptyRegistry(f files) {
	c := call{node{"2.6.3", "10.20.71.30", 0}, "portal", "com.acme.news.NewsService", "latest", 1000, "10.20.9.5:2181"}
	l := log4j(f, "portal/portal.log")
	l(after(-3000), "INFO", "DubboRegistryNotify-1", "com.alibaba.dubbo.registry.integration.RegistryDirectory", " [DUBBO] Notify urls for subscribe url consumer://10.20.71.30/com.acme.news.NewsService, urls: [empty://10.20.71.30/com.acme.news.NewsService?category=providers], dubbo version: 2.6.3, current host: 10.20.71.30")
	for i := range 60 {
		l(after(i*300), "ERROR", fmt.Sprintf("catalina-exec-%d", i%30), "com.acme.portal.NewsAction", "no news\ncom.alibaba.dubbo.rpc.RpcException: No provider available from registry 10.20.9.5:2181 for service com.acme.news.NewsService on consumer 10.20.71.30 use dubbo version 2.6.3, please check status of providers(disabled, not registered or in blacklist).\n\tat com.alibaba.dubbo.registry.integration.RegistryDirectory.doList(RegistryDirectory.java:572)\n\tat com.alibaba.dubbo.rpc.cluster.directory.AbstractDirectory.list(AbstractDirectory.java:73)")
		_ = c
	}
}

func goNobody(f files) {
	l := zap(f, "bff/bff.log")
	for i := range 50 {
		l(after(i*350), "ERROR", "", "bff/users.go:41", "get user: Failed to invoke the method GetUser. No provider available for the service com.acme.user.UserProvider from registry zookeeper://10.20.9.5:2181 on the consumer 10.20.72.9 using the dubbo version 3.1.0 .Please check if the providers have been started and registered.")
	}
}

// access is a line of Dubbo's access log with two times.
func access(f files, file string, at time.Time, ms int, from, to, service, method, args string) {
	stamp := func(t time.Time) string { return t.Format("2006-01-02 15:04:05.000") + "00" }
	f.printf(file, "[%s] -> [%s] %s -> %s - %s %s %s\n", stamp(at), stamp(at.Add(time.Duration(ms)*time.Millisecond)), from, to, service, method, args)
}

func skewAccess(f files) {
	for i := range 900 {
		n := 1
		if i%6 == 5 {
			n = 2 + i/6%3
		}
		to := fmt.Sprintf("10.20.73.%d:20880", n)
		access(f, fmt.Sprintf("search-%d/dubbo-access.log", n), after(i*40), 30+spread(i, 40)*n%90, fmt.Sprintf("10.20.73.%d:51022", 40+i%3), to, "com.acme.search.SearchService:1.0.0", "search(java.lang.String)", fmt.Sprintf(`["tea %d"]`, i))
	}
	p := node{"3.2.5", "10.20.73.1", 20880}
	l := boot2(f, "search-1/search.log", 4)
	for i := range 60 {
		p.logExhausted(l, after(12000+i*350), full(100, 6000+i*7))
	}
	for n := 2; n <= 4; n++ {
		l := boot2(f, fmt.Sprintf("search-%d/search.log", n), 4)
		for i := range 20 {
			l(after(i*1700), "INFO", fmt.Sprintf("DubboServerHandler-10.20.73.%d:20880-thread-%d", n, i), "c.a.search.SearchServiceImpl", "cache refreshed")
		}
	}
}

func skewRouter(f files) {
	c := node{"3.2.16", "10.20.74.30", 0}
	l := boot2(f, "web/web.log", 12)
	six := "10.20.74.1:20880,10.20.74.2:20880,10.20.74.3:20880,10.20.74.4:20880,10.20.74.5:20880"
	for i := range 20 {
		l(after(i*500), "INFO", fmt.Sprintf("http-nio-8080-exec-%d", i+1), "o.a.d.rpc.cluster.SingleRouterChain", "%s", c.said("", "", "Router snapshot service com.acme.img.ImageService from registry 10.20.74.30 on the consumer 10.20.74.30 using the dubbo version 3.2.16 is below: \n"+
			"[ Parent (Input: 6) (Current Node Output: 6) (Chain Node Output: 1) ] Input: "+six+" -> Chain Node Output: 10.20.74.4:20880...\n"+
			"  [ TagStateRouter (Input: 6) (Current Node Output: 6) (Chain Node Output: 1) Router message: Disable Tag Router. Reason: tagRouterRule is invalid or disabled ] Current Node Output: "+six+"...\n"+
			"    [ ServiceStateRouter (Input: 6) (Current Node Output: 1) (Chain Node Output: 1) Router message: Match return. ] Current Node Output: 10.20.74.4:20880"))
	}
	p := node{"3.2.16", "10.20.74.4", 20880}
	pl := boot2(f, "image-4/image.log", 12)
	for i := range 70 {
		p.logExhausted(pl, after(2000+i*200), full(200, 44000+i*9))
	}
	for n := 1; n <= 3; n++ {
		d := jstack(f, fmt.Sprintf("image-%d/jstack.txt", n), 17, after(9000))
		for i := 1; i <= 30; i++ {
			d.thread(fmt.Sprintf("DubboServerHandler-10.20.74.%d:20880-thread-%d", n, i), parked, idle(17))
		}
		d.end()
	}
}

func duplicateOrders(f files) {
	providers := []node{{"2.7.9", "10.20.75.1", 20880}, {"2.7.9", "10.20.75.2", 20880}}
	c := call{node{"2.7.9", "10.20.75.30", 0}, "web", "com.acme.order.OrderService", "createOrder", 1000, "10.20.9.5:2181"}
	l := boot2(f, "web/web.log", 7)
	for i := range 30 {
		at := after(i * 900)
		l(at, "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i+1), "c.a.web.OrderController", "order A-%d failed\n%s", 1000+i, c.tried(3, providers, 2, c.timedOut(providers[i%2], at, 60+3*i)))
		l(at.Add(400e6), "WARN", "NettyClientWorker-4-1", "o.a.d.r.exchange.support.DefaultFuture", " [DUBBO] The timeout response finally returned at %s, response status is 20, channel: /10.20.75.30:51022 -> /%s, please check provider side for detailed result., dubbo version: 2.7.9, current host: 10.20.75.30", at.Add(400e6).Format(dotMillis), providers[i%2].addr())
	}
	for n := range 2 {
		pl := boot2(f, fmt.Sprintf("order-%d/order.log", n+1), 9)
		for i := range 30 {
			at := after(i*900 - 1800)
			pl(at, "INFO", fmt.Sprintf("DubboServerHandler-%s-thread-%d", providers[n].addr(), i+1), "c.a.order.OrderServiceImpl", "createOrder orderNo=A-%d member=%d amount=59.00", 1000+i, 70+i)
			pl(at.Add(1300e6), "ERROR", fmt.Sprintf("DubboServerHandler-%s-thread-%d", providers[n].addr(), i+1), "c.a.order.OrderServiceImpl", "createOrder failed\norg.springframework.dao.DuplicateKeyException: \n### Error updating database.  Cause: java.sql.SQLIntegrityConstraintViolationException: Duplicate entry 'A-%d' for key 't_order.uk_order_no'\n\tat com.acme.order.OrderServiceImpl.createOrder(OrderServiceImpl.java:49)", 1000+i)
		}
	}
}

func duplicatePay(f files) {
	p := node{"3.2.8", "10.20.76.1", 20880}
	c := call{node{"3.2.8", "10.20.76.30", 0}, "till", "com.acme.pay.PayService", "pay", 1000, "10.20.9.5:2181"}
	l := boot2(f, "till/till.log", 9)
	for i := range 25 {
		for k := range 3 {
			access(f, "pay-1/dubbo-access.log", after(i*1500+k*1003), 2100+spread(i, 300), "10.20.76.30:51022", p.addr(), "com.acme.pay.PayService", "pay(com.acme.pay.PayRequest)", fmt.Sprintf(`[{"payNo":"P-%d","amount":%d}]`, 88000+i, 10+i))
		}
		l(after(i*1500+3009), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i+1), "c.a.till.TillController", "pay failed\n%s", c.tried(3, []node{p}, 1, c.timedOut(p, after(i*1500+3009), 1+4*i)))
	}
}

func repeatedReads(f files) {
	for i := range 400 {
		access(f, "product/dubbo-access.log", after(i*700), 2+spread(i, 9), fmt.Sprintf("10.20.77.%d:51022", 30+i%2), "10.20.77.1:20880", "com.acme.product.ProductService", "getProduct(java.lang.Long)", fmt.Sprintf("[%d]", 1000+i%5))
	}
}

func startsFirst(f files) {
	c := call{node{"2.7.6", "10.20.78.30", 0}, "web", "com.acme.geo.GeoService", "place", 1000, "10.20.9.5:2181"}
	l := boot2(f, "web/web.log", 3)
	for i := range 3 {
		l(after(i*700), "WARN", "main", "c.a.web.Warmup", "warm-up call failed, trying later\n%s", c.nobody())
	}
	l(after(9000), "INFO", "main", "c.a.web.WebApplication", "Started WebApplication in 12.1 seconds (JVM running for 13.0)")
	for i := range 300 {
		l(after(12000+i*90000), "INFO", fmt.Sprintf("http-nio-8080-exec-%d", i%20), "c.a.web.PlaceController", "200 GET /place/%d %d ms", i, 5+spread(i, 12))
	}
}

func hoursApart(f files) {
	c := call{node{"2.7.20", "10.20.79.30", 0}, "web", "com.acme.ad.AdService", "banner", 500, "10.20.9.5:2181"}
	l := boot2(f, "web/web.log", 3)
	for i := range 40 {
		l(after(i*500), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i%20), "c.a.web.AdController", "no banner\n%s", c.nobody())
	}
	const later = 8 * 3600 * 1000
	p := node{"2.7.20", "10.20.79.1", 20880}
	pl := boot2(f, "basket-provider/basket.log", 5)
	for i := range 40 {
		p.logExhausted(pl, after(later+i*500), full(50, 4000+i))
	}
	d := jstack(f, "basket-provider/jstack.txt", 11, after(later+11000))
	for i := 1; i <= 50; i++ {
		d.thread(fmt.Sprintf("DubboServerHandler-10.20.79.1:20880-thread-%d", i), runnable, mysqlRead(11), mybatis("items"), frames("com.acme.basket.BasketServiceImpl.items(BasketServiceImpl.java:39)"), dubboServer(11, p))
	}
	d.end()
	slow := mysqlSlow(f, "basket-db/slow.log")
	for i := range 40 {
		slow.add(after(later+i*450), 5.2, 0.000002, 4, 2200198, fmt.Sprintf("SELECT * FROM basket_item WHERE member_no='M%d'", i))
	}
}

func fewTimeouts(f files) {
	p := node{"3.0.9", "10.20.80.1", 20880}
	c := call{node{"3.0.9", "10.20.80.30", 0}, "web", "com.acme.tax.TaxService", "rate", 1000, "10.20.9.5:2181"}
	l := boot2(f, "web/web.log", 3)
	for i := range 9 {
		l(after(i*4100), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i+1), "c.a.web.TaxController", "tax unknown\n%s", c.tried(1, []node{p}, 4, c.timedOut(p, after(i*4100), 1+4*i)))
	}
}
