package main

import (
	"fmt"
	"time"
)

// Incidents whose logs hold errors that no library prints.
var unknownErrors = []composed{
	{"inconclusive-unknown-errors", errorsFlood, want{
		Why:   "From one minute to the next every third cart fails with an exception of the shop's own that no rule knows. Something is badly wrong, and what it is the log does not say.",
		Label: "inconclusive", MaxCertainty: "low", Not: []string{"healthy"}, Findings: []string{"app.errors"}, Says: []string{"com.acme.cart.PriceTableException"},
	}},
	{"healthy-errors-as-ever", errorsTrickle, want{
		Why:   "Two hours of a log in which the same feed cannot be parsed twice a minute, as on every day; all else works.",
		Label: "healthy", Not: []string{"downstream-wait", "retry-amplification"}, MaxCertainty: "medium",
	}},
	{"healthy-errors-while-calls-succeed", errorsServed, want{
		Why:   "A library logs an ERROR for each request since the last release; the access log beside it shows that all of them are answered, and quickly.",
		Label: "healthy", MaxCertainty: "low", Not: []string{"downstream-wait"}, Findings: []string{"app.errors"},
	}},
	{"inconclusive-thousand-methods", thousandMethods, want{
		Why:   "Each of 600 methods of one service failed once with an error of the callee's: the service is in trouble, no method stands out, and why is not in the consumer's log.",
		Label: "inconclusive", Or: []string{"downstream-wait"}, MaxCertainty: "medium", Not: []string{"healthy", "retry-amplification"}, Says: []string{"600 calls"},
	}},
}

func errorsFlood(f files) {
	defer gzipped(f, "cart/cart.log")
	l := boot3(f, "cart/cart.log", "cart", time.UTC)
	for i := range 3000 {
		thread := fmt.Sprintf("http-nio-8080-exec-%d", i%40)
		if i >= 1200 && i%3 == 0 {
			l(after(i*150), "ERROR", thread, "c.a.cart.CartController", "cart of member %d not priced\ncom.acme.cart.PriceTableException: no table for region %d\n\tat com.acme.cart.Prices.of(Prices.java:51)\n\tat com.acme.cart.Cart.sum(Cart.java:31)", 7000+i, i%14)
		} else {
			l(after(i*150), "INFO", thread, "c.a.cart.CartController", "cart of member %d priced", 7000+i)
		}
	}
}

func errorsTrickle(f files) {
	defer gzipped(f, "feed/feed.log")
	l := boot2(f, "feed/feed.log", 9)
	for i := range 14400 {
		if i%60 == 17 {
			l(after(i*500+spread(i, 400)), "ERROR", "feed-3", "c.a.feed.Parser", "partner feed %d not parsed\ncom.acme.feed.FeedFormatException: column %d is empty\n\tat com.acme.feed.Parser.row(Parser.java:88)", i, i%9)
		} else {
			l(after(i*500), "INFO", fmt.Sprintf("feed-%d", i%4), "c.a.feed.Reader", "feed %d of partner P-%d read, %d rows, checksum and layout as agreed", i, i%31, 120+spread(i, 700))
		}
	}
}

func errorsServed(f files) {
	defer gzipped(f, "web/web.log")
	defer gzipped(f, "web/access.log")
	l := log4j(f, "web/web.log")
	for i := range 1500 {
		l(after(i*100), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i%40), "com.acme.i18n.Messages", "no text for key shop.banner.%d, the default is shown", i%7)
		f.printf("web/access.log", "10.20.70.%d - - [%s] \"GET /shop/%d HTTP/1.1\" 200 %d %d\n", 3+i%9, after(i*100).Format("02/Jan/2006:15:04:05 +0000"), i%50, 4000+spread(i, 900), 9+spread(i, 20))
	}
}

func thousandMethods(f files) {
	defer gzipped(f, "order/order.log")
	l := boot2(f, "order/order.log", 3)
	p := node{"2.7.15", "10.20.71.1", 20880}
	for i := range 600 {
		l(after(i*3500), "ERROR", fmt.Sprintf("http-nio-8080-exec-%d", i%40), "c.a.order.OrderController", "order failed\norg.apache.dubbo.rpc.RpcException: Failed to invoke the method step%d in the service com.acme.flow.FlowService. Tried 1 times of the providers [%s:20880] (1/3) from the registry 10.20.9.5:2181 on the consumer 10.20.71.9 using the dubbo version 2.7.15. Last error is: Failed to invoke remote method: step%d, provider: dubbo://%s:20880/com.acme.flow.FlowService?application=order, cause: java.lang.IllegalStateException: flow table is missing\n\tat com.acme.flow.Flow.step(Flow.java:20)", i, p.ip, i, p.ip)
	}
}
