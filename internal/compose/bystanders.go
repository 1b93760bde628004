package main

import (
	"fmt"
	"time"
)

// bystanders are incidents beside which somebody else retries, and one in which a
// few retries are all that is seen of the callers.
var bystanders = []composed{
	{"bystander-few-exact-retries", besideReference(3), besideWant("Beside the reference three payments were sent twice, by spans that tell of it exactly, among two hundred other requests of a calm shop. They do not fill SkuService's pool.")},
	{"bystander-many-exact-retries", besideReference(160), besideWant("Beside the reference 160 payments were sent twice: more attempts, and known more exactly, than the calls of SkuService that failed. They call somebody else.")},
	{"bystander-few-retries-are-the-story", fewFeedThePool, want{
		Why:   "Of the callers a few sampled traces are all there is: five calls of SkuService, three attempts each. It is SkuService's pool that is full, so these are the chain's, and the payment that was sent twice is not.",
		Label: "slow-sql", Incidents: 1, ActFirst: "retry-amplification",
		Chain: []string{"trigger slow-sql", "amplifier retry-amplification", "victim pool-starvation"},
		Edges: []edge{{Method: "getSkuStock", Calls: 5, Attempts: 15}}, Says: []string{"retry-amplification (SkuService.getSkuStock 3.0x)"}, NoFindings: []string{"retry.write"},
	}},
	{"bystander-retries-alone-are-not", nobodysRetries, want{
		Why:   "SkuService burns, of its callers nothing was saved; three payments of another shop were sent twice. Nothing tells of an amplification of what burns.",
		Label: "slow-sql", Incidents: 1, ActFirst: "slow-sql",
		Chain: []string{"trigger slow-sql", "victim pool-starvation"}, NoFindings: []string{"retry.amplified", "retry.write"}, Findings: []string{"retry.budget"},
	}},
}

func besideWant(why string) want {
	w := referenceWant
	w.Why = why
	w.Says = append([]string{"retry-amplification (SkuService.getSkuStock 3.0x)"}, w.Says...)
	w.NoFindings = []string{"retry.write"}
	return w
}

// besideReference is the reference with the spans of a shop that has nothing to do
// with it.
func besideReference(payments int) func(files) {
	return func(f files) {
		reference(f)
		payingShop(f, payments)
		packDumps(f)
	}
}

// payingShop are the spans of payments each of which needed a second attempt, and
// of a calm catalogue before and after.
func payingShop(f files, payments int) {
	t := &traces{seed: 77}
	shop := golang("shop", 1, "10.20.7.1")
	for i := range payments {
		at := noon.Add(-time.Minute + time.Duration(i)*120*time.Second/time.Duration(payments))
		root := t.begin(nil, shop, serverKind, otelHTTP, "POST /buy", at, 140)
		t.grpcSend(root, "Pay", "charge", "10.20.7.9", root.at(4), 40, 14)
		t.grpcSend(root, "Pay", "charge", "10.20.7.9", root.at(60), 50, 0)
	}
	for i := range 200 {
		root := t.begin(nil, shop, serverKind, otelHTTP, "GET /home", noon.Add(-10*time.Minute+time.Duration(i)*6*time.Second), 20)
		t.grpcSend(root, "Catalogue", "list", "10.20.7.8", root.at(2), 11, 0)
	}
	t.otlp(f, "shop/spans.jsonl")
	gzipped(f, "shop/spans.jsonl")
}

// packDumps compresses the thread dumps of the reference, which are large.
func packDumps(f files) {
	for n := range 3 {
		gzipped(f, fmt.Sprintf("product-provider/jstack-%d.txt", n+1))
	}
}

func nobodysRetries(f files) {
	reference(f)
	delete(f, "order-service/app.log")
	payingShop(f, 3)
	packDumps(f)
}

func fewFeedThePool(f files) {
	reference(f)
	delete(f, "order-service/app.log")
	payingShop(f, 3)
	t := &traces{seed: 78}
	order := java("order-service", 1, "10.20.2.31")
	for i := range 5 {
		root := t.tomcat(nil, order, "POST", "/orders", fmt.Sprintf("/orders?n=%d", i), after(i*2100-2000), 3030, 500)
		for k := range 3 {
			t.dubboSend(root, "com.demo.product.api.SkuService", "getSkuStock", "10.20.1.21", root.at(5+k*1005), 1001, "org.apache.dubbo.remoting.TimeoutException")
		}
	}
	t.otlp(f, "order-service/spans.jsonl")
	packDumps(f)
}
