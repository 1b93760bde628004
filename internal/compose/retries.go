package main

import (
	"fmt"
)

var retries = []composed{
	{"retry-storm-fast-sql", retryFastSQL, want{
		Why:   "The statement costs as little as before, it only runs three times as often: the retries are the trouble, the database carries it.",
		Label: "retry-amplification", Not: []string{"slow-sql", "lock-contention"},
		Edges: []edge{{Method: "price", Amplification: 3}},
	}},
	{"retry-snippet-two-lines", retrySnippet, want{
		Why:   "Two lines from a chat: a full pool, and a call that tried three times. No cause is seen below the retries.",
		Label: "retry-amplification", Or: []string{"pool-starvation"}, MaxCertainty: "medium",
		Chain: []string{"amplifier retry-amplification", "victim pool-starvation"},
		Not:   []string{"slow-sql", "healthy", "downstream-wait"},
	}},
	{"retry-profiler-trees", retryProfiler, want{
		Why:   "Dubbo's profiler shows every call with three attempts that run into their timeout of 800 ms; nothing was saved at the providers.",
		Label: "retry-amplification", Not: []string{"slow-sql", "pool-starvation", "healthy"},
		Edges: []edge{{Method: "findPromotion", Amplification: 3}},
	}},
	{"retry-dubbo-go-consumer", retryDubboGo, want{
		Why:   "A dubbo-go consumer exhausts its retries against a Java provider that refuses for a full pool; nothing tells what the workers do.",
		Label: "retry-amplification", Or: []string{"pool-starvation"}, Not: []string{"slow-sql", "healthy", "no-provider"},
	}},
	{"healthy-few-retries-long-day", fewRetries, want{
		Why:   "Six calls of a long day succeeded after one retry. That is what retries are for.",
		Label: "healthy", Not: []string{"retry-amplification", "pool-starvation", "slow-sql"},
	}},
}

// retryFastSQL: Dubbo 2.7; the slow log, which has everything above 5 ms,
// shows an unchanged cost and a rate that grows threefold.
func retryFastSQL(f files) {
	providers := []node{{"2.7.15", "10.20.4.1", 20880}, {"2.7.15", "10.20.4.2", 20880}}
	c := call{node{"2.7.15", "10.20.4.30", 0}, "basket", "com.acme.price.PriceService", "price", 300, "10.20.9.5:2181"}
	l := log4j(f, "basket/basket.log")
	for i := range 90 {
		s := full(200, 90000+i*700)
		p := providers[i%2]
		l(after(60000+i*200), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i%50), "com.acme.basket.PriceClient", "no price\n%s", c.tried(3, providers, 2, c.refused(p, s)))
	}
	for i := range 120 {
		p := providers[i%2]
		pl := log4j(f, fmt.Sprintf("price-%d/provider.log", i%2+1))
		p.logExhausted(pl, after(60000+i*150), full(200, 90000+i*700))
	}
	slow := mysqlSlow(f, "mysql/slow-all.log")
	add := func(ms, i int) {
		slow.add(after(ms), 0.006+float64(spread(i, 20))/10000, 0.000001, 1, 1, fmt.Sprintf("SELECT amount FROM price WHERE sku=%d AND region=4", 100+i))
	}
	for i := range 120 {
		add(i*500, i)
	}
	for i := range 180 {
		add(60000+i*160, i)
	}
}

func retrySnippet(f files) {
	p := node{"2.6.5", "10.20.0.7", 20880}
	l := log4j(f, "chat.txt")
	p.logExhausted(l, noon, full(200, 71234))
	c := call{node{"2.6.5", "10.20.1.3", 0}, "web", "com.acme.user.UserService", "login", 1000, "10.20.9.5:2181"}
	f.printf("chat.txt", "%s\n", firstLine(c.tried(3, []node{p, {"2.6.5", "10.20.0.8", 20880}}, 2, c.timedOut(p, after(900), 5))))
}

// retryProfiler: consumers of Dubbo 3.1 print a tree for each call.
func retryProfiler(f files) {
	c := node{"3.1.11", "10.20.6.6", 0}
	l := boot2(f, "mall-web/mall.log", 812)
	for i := range 40 {
		at := after(i * 450)
		l(at, "INFO", fmt.Sprintf("http-nio-8080-exec-%d", i%30), "c.m.web.HomeController", "home of member %d", 100+i)
		msg := "[Dubbo-Consumer] execute service com.mall.promo.PromotionService:1.0.0:dubbo#findPromotion cost 2409.118211 ms, this invocation almost (maybe already) timeout. Timeout: 800ms\ninvocation context:\npath=com.mall.promo.PromotionService;\nremote.application=mall-web;\ninterface=com.mall.promo.PromotionService;\nversion=1.0.0;\ntimeout=800;\nthread info: \nStart time: 21807070397145\n+-[ Offset: 0.000000ms; Usage: 2409.118211ms, 100% ] Receive request. Client invoke begin. ServiceKey: com.mall.promo.PromotionService:1.0.0 MethodName:findPromotion"
		for k := range 3 {
			msg += fmt.Sprintf("\n  +-[ Offset: %d.412345ms; Usage: 802.881220ms, 33%% ] Invoker invoke. Target Address: 10.20.6.%d:20880", k*803, 20+(i+k)%3)
		}
		l(at, "WARN", fmt.Sprintf("http-nio-8080-exec-%d", i%30), "o.a.d.rpc.proxy.InvokerInvocationHandler", "%s", c.said("3-4", "", msg))
	}
}

// retryDubboGo: dubbo-go 3.0 logs of a consumer, a provider of Dubbo 2.7.
func retryDubboGo(f files) {
	p := node{"2.7.8", "10.20.7.1", 20000}
	l := zap(f, "gateway/dubbo.log")
	for i := range 40 {
		last := fmt.Sprintf("Failed to invoke remote method: getUser, provider: dubbo://%s, cause: %s", p.addr(), p.refusal(full(100, 4000+i)))
		l(after(i*400), "ERROR", "", "gateway/handler.go:88", "call failed: Failed to invoke the method getUser in the service com.acme.user.UserProvider. Tried 2 times of the providers [dubbo://%s/com.acme.user.UserProvider dubbo://%s/com.acme.user.UserProvider dubbo://%s/com.acme.user.UserProvider] (3/1)from the registry zookeeper://10.20.9.5:2181 on the consumer 10.20.7.50 using the dubbo version 3.0.5. Last error is %s.: %s", p.addr(), p.addr(), p.addr(), last, last)
	}
	pl := hadoop(f, "user-provider/server.log")
	for i := range 130 {
		p.logExhausted(pl, after(i*130), full(100, 4000+i/3))
	}
}

func fewRetries(f files) {
	providers := []node{{"3.2.9", "10.20.2.1", 20880}, {"3.2.9", "10.20.2.2", 20880}, {"3.2.9", "10.20.2.3", 20880}}
	c := call{node{"3.2.9", "10.20.2.90", 0}, "shop-web", "com.acme.stock.StockService", "stock", 1000, "nacos-1:8848"}
	l := boot2(f, "shop-web/shop-web.log", 66)
	for i := range 480 {
		at := noon.Add(minutes(i*3 - 600))
		l(at, "INFO", fmt.Sprintf("http-nio-8080-exec-%d", i%20), "c.a.shop.ShopController", "200 GET /stock/%d in %d ms", 1000+i, 8+spread(i, 20))
		if i%80 == 40 {
			l(at, "WARN", fmt.Sprintf("http-nio-8080-exec-%d", i%20), "o.a.d.r.c.s.FailoverClusterInvoker", "%s", c.retried(providers[1], providers[:1], 3, c.timedOut(providers[0], at, i+1)))
		}
	}
}
