package main

import (
	"fmt"
	"strings"
	"time"
)

// Traces of clients that retry inside themselves, of brokers that deliver again,
// and what looks like either.
var tracedSDKs = []composed{
	{"traces-grpc-native-retries", tracedGRPCNative, want{
		Why:   "grpc-go's own tracing: stock refuses nearly every call at once, and the retry policy of the client sends each four times.",
		Label: "retry-amplification", Not: []string{"healthy", "slow-sql"}, Findings: []string{"retry.amplified"},
		Edges: []edge{{Consumer: "basket", Method: "Reserve", Basis: "spans", Calls: 60, Attempts: 240, Amplification: 4}},
	}},
	{"traces-grpc-streaming", tracedGRPCStream, want{
		Why:   "grpc-go's own tracing of streams: one attempt each, forty messages each way, a long time on purpose.",
		Label: "healthy", NoFindings: []string{"retry.amplified", "retry.budget"}, Not: []string{"retry-amplification"},
		Edges: []edge{{Consumer: "feed", Method: "Watch", Basis: "spans", Calls: 40, Attempts: 40, Amplification: 1}},
	}},
	{"traces-aws-sdk-retries", func(f files) { tracedAWS(f, true) }, want{
		Why:   "The AWS SDK for Go: the bucket answers 503 SlowDown, and the SDK sends each request three times before it gives up.",
		Label: "retry-amplification", Or: []string{"downstream-wait"}, Not: []string{"healthy", "slow-sql"}, Findings: []string{"retry.amplified"},
		Edges: []edge{{Consumer: "archive", Method: "PutObject", Basis: "spans", Calls: 50, Attempts: 150, Amplification: 3}},
	}},
	{"traces-aws-sdk-pages", func(f files) { tracedAWS(f, false) }, want{
		Why:   "The AWS SDK for Go lists a bucket page by page, eight requests that differ by a token, each answered at once.",
		Label: "healthy", NoFindings: []string{"retry.amplified", "retry.budget"}, Not: []string{"retry-amplification"},
		Edges: []edge{{Consumer: "archive", Method: "ListObjectsV2", Basis: "spans", Calls: 160, Attempts: 160, Amplification: 1}},
	}},
	{"traces-kafka-redelivery", func(f files) { tracedKafka(f, kafkaFails) }, want{
		Why:   "invoices takes in each message three times, because the statement that it needs takes 2.4 s and the handler gives up. The broker delivers again: no edge of RPC was retried.",
		Label: "slow-sql", Not: []string{"healthy", "duplicate-writes", "retry-amplification"}, Findings: []string{"sql.slow", "message.redelivered"}, NoFindings: []string{"retry.amplified", "retry.layers"},
		Edges: []edge{{Service: "orders", Method: "process", Basis: "spans", Calls: 40, Attempts: 120, Amplification: 3}},
	}},
	{"traces-kafka-rebalance", func(f files) { tracedKafka(f, kafkaMoves) }, want{
		Why:   "A rebalance in the middle of the day: partitions change their consumer, batches are short for a while, and every message is processed once.",
		Label: "healthy", NoFindings: []string{"retry.amplified", "retry.budget", "write.duplicate", "message.redelivered"}, Not: []string{"retry-amplification", "duplicate-writes"},
		Edges: []edge{{Service: "orders", Method: "process", Basis: "spans", Attempts: 120}},
	}},
	{"traces-kafka-charged-twice", func(f files) { tracedKafka(f, kafkaTwice) }, want{
		Why:   "invoices charges the account for each message, then loses its partition before it commits the offset: twelve seconds later the other consumer takes the same message in and charges again. Nothing failed and no caller retried; the account service's own access log shows each charge twice.",
		Label: "duplicate-writes", Not: []string{"healthy", "slow-sql", "retry-amplification", "traffic-skew"}, Findings: []string{"message.redelivered", "write.duplicate"}, NoFindings: []string{"retry.amplified", "retry.layers", "retry.budget"},
		Says:  []string{"charge", "40 business keys", "the broker delivered again"},
		Edges: []edge{{Service: "orders", Method: "process", Basis: "spans", Calls: 40, Attempts: 80, Amplification: 2}, {Consumer: "invoices", Method: "charge", Basis: "spans", Calls: 80, Attempts: 80, Amplification: 1}},
	}},
	{"traces-large-batch", tracedLargeBatch, want{
		Why:   "One trace of 21,000 spans: a nightly job asks for 10,000 pages, each under a name of its own. Nothing fails, nothing is sent twice.",
		Label: "healthy", NoFindings: []string{"retry.amplified", "retry.budget"}, Not: []string{"retry-amplification"},
	}},
}

// tracedGRPCNative has grpc-go's three kinds of spans: the call, its attempts, and
// what the server received of each.
func tracedGRPCNative(f files) {
	t := &traces{seed: 61}
	basket, stock := golang("basket", 1, "10.20.70.4"), golang("stock", 1, "10.20.70.21")
	for i := range 60 {
		root := t.netHTTP(nil, basket, "POST", "/basket", "/basket", after(i*500), 260, 503)
		call := t.begin(root, basket, clientKind, "grpc-go", "Sent.stock.v1.Stock.Reserve", root.at(3), 250)
		call.fail("")
		for a := range 4 {
			try := t.begin(call, basket, internal, "grpc-go", "Attempt.stock.v1.Stock.Reserve", call.at(a*60), 6)
			try.fail("").with("previous-rpc-attempts", a, "transparent-retry", false)
			t.begin(try, stock, serverKind, "grpc-go", "Recv.stock.v1.Stock.Reserve", try.at(1), 3).fail("")
		}
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

func tracedGRPCStream(f files) {
	t := &traces{seed: 62}
	feed, news := golang("feed", 1, "10.20.71.4"), golang("news", 1, "10.20.71.21")
	for i := range 40 {
		call := t.begin(t.netHTTP(nil, feed, "GET", "/live", "/live", after(i*700), 30_000, 200), feed, clientKind, "grpc-go", "Sent.news.v1.News.Watch", after(i*700+4), 29_990)
		try := t.begin(call, feed, internal, "grpc-go", "Attempt.news.v1.News.Watch", call.at(0), 29_989)
		try.with("previous-rpc-attempts", 0, "transparent-retry", false)
		t.begin(try, news, serverKind, "grpc-go", "Recv.news.v1.News.Watch", try.at(1), 29_987)
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

// tracedAWS is the SDK's native tracing: an operation, its loop, its attempts,
// and a request for each.
func tracedAWS(f files, busy bool) {
	t := &traces{seed: 63}
	archive := golang("archive", 1, "10.20.72.4")
	const scope = "github.com/aws/aws-sdk-go-v2/service/s3"
	request := func(parent *span, verb, url string, at time.Time, ms, status int) {
		s := t.begin(parent, archive, clientKind, scope, "DoHTTPRequest", at, ms)
		s.with("http.method", verb, "http.url", url, "net.peer.name", "archive.s3.example", "http.status_code", status)
		s.failed = status >= 400
	}
	operation := func(parent *span, method string, at time.Time, ms, attempts int, verb, url string, status int) {
		op := t.begin(parent, archive, clientKind, scope, "S3."+method, at, ms)
		op.with("rpc.system", "aws-api", "rpc.service", "S3", "rpc.method", method)
		op.failed = status >= 400
		loop := t.begin(op, archive, internal, scope, "RetryLoop", op.at(1), ms-2)
		for a := range attempts {
			try := t.begin(loop, archive, internal, scope, "Attempt", loop.at(a*ms/attempts), 24)
			try.with("operation.attempt", a+1)
			try.failed = status >= 400
			request(try, verb, url, try.at(1), 20, status)
		}
	}
	for i := range 50 {
		if busy {
			root := t.netHTTP(nil, archive, "PUT", "/documents/{id}", fmt.Sprintf("/documents/%d", 300+i), after(i*500), 640, 503)
			operation(root, "PutObject", root.at(4), 630, 3, "PUT", fmt.Sprintf("https://archive.s3.example/documents/%d", 300+i), 503)
			continue
		}
		if i >= 20 {
			break
		}
		root := t.netHTTP(nil, archive, "GET", "/documents", "/documents", after(i*500), 260, 200)
		for k := range 8 {
			operation(root, "ListObjectsV2", root.at(4+k*31), 29, 1, "GET", fmt.Sprintf("https://archive.s3.example/?list-type=2&continuation-token=%s", hexID(uint64(i*8+k))), 200)
		}
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

const (
	kafkaFails = iota
	kafkaMoves
	kafkaTwice
)

const consumerKind = 5

func tracedKafka(f files, how int) {
	t := &traces{seed: 64}
	consumers := []*process{java("invoices", 1, "10.20.73.4"), java("invoices", 2, "10.20.73.5")}
	process := func(p *process, partition, offset int, at time.Time, ms int) *span {
		return t.begin(nil, p, consumerKind, "io.opentelemetry.kafka-clients-0.11", "orders process", at, ms).with(
			"messaging.system", "kafka", "messaging.operation", "process", "messaging.destination.name", "orders", "messaging.kafka.consumer.group", "invoices",
			"messaging.destination.partition.id", fmt.Sprint(partition), "messaging.kafka.message.offset", offset, "messaging.client_id", "consumer-invoices-1")
	}
	const statement = "SELECT sum(amount) FROM t_invoice WHERE customer = ? AND state = ?"
	switch how {
	case kafkaFails:
		for i := range 40 {
			for d := range 3 {
				s := process(consumers[i%2], i%4, 88_100+i, after(i*700+d*3000), 2480)
				s.fail("java.sql.SQLTimeoutException")
				t.mysql(s, "t_invoice", statement, s.at(4), 2400+spread(i+d, 60)).fail("java.sql.SQLTimeoutException")
			}
		}
	case kafkaTwice:
		const service = "com.acme.account.AccountService"
		for i := range 40 {
			for d := range 2 {
				n := (i+d)%2 + 1
				account := fmt.Sprintf("10.20.73.%d", 40+n)
				s := process(consumers[(i+d)%2], i%4, 88_100+i, after(i*300+d*12_000), 64)
				sent := t.dubboSend(s, service, "charge", account, s.at(4), 48, "")
				access(f, fmt.Sprintf("account-%d/dubbo-access.log", n), sent.at(1), 41+spread(i+d, 5), fmt.Sprintf("10.20.73.%d:51022", 4+(i+d)%2), account+":20880", service, "charge(java.lang.String,int)", fmt.Sprintf(`["ORD-%d",%d]`, 61_400+i, 1200+i*7))
			}
		}
	case kafkaMoves:
		for i := range 120 {
			p := consumers[i%2]
			if i >= 60 {
				p = consumers[(i+1)%2] // after the rebalance
			}
			s := process(p, i%4, 88_100+i, after(i*200), 14)
			t.mysql(s, "t_invoice", "INSERT INTO t_invoice (order_no, customer, amount) VALUES (?, ?, ?)", s.at(3), 4)
		}
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}

func tracedLargeBatch(f files) {
	t := &traces{seed: 65}
	crawl, pages := golang("crawl", 1, "10.20.74.4"), golang("pages", 1, "10.20.74.21")
	root := t.begin(nil, crawl, internal, "github.com/acme/crawl", "nightly", after(0), 400_000)
	for i := range 10_000 {
		name := strings.ToLower(fmt.Sprintf("%c%c%c%c", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26, 'k'))
		sent := t.begin(root, crawl, clientKind, otelHTTP, "GET /"+name, root.at(30*i+2), 25)
		sent.with("http.request.method", "GET", "url.full", "http://pages.shop/"+name, "server.address", "pages.shop", "http.response.status_code", 200)
		t.begin(sent, pages, serverKind, otelHTTP, "GET /"+name, sent.at(1), 20).with("http.request.method", "GET", "http.route", "/"+name, "http.response.status_code", 200)
	}
	for i := range 1_000 {
		t.begin(root, crawl, internal, "github.com/acme/crawl", "write", root.at(300_000+i*10), 6)
	}
	t.otlp(f, "otel/traces.jsonl")
	gzipped(f, "otel/traces.jsonl")
}
