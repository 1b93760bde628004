package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// Message brokers that refuse or let wait:
//
//	[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 206ms, size of queue: 5
//	Send [3] times, still failed, cost [9012]ms, Topic: T_ORDER, BrokersSent: [broker-a, broker-a, broker-b]
//	wait response on the channel <10.20.0.9:10911> timeout, 3000(ms)
//	TimeoutException: Expiring 5 record(s) for t-order-0:120001 ms has passed since batch creation
func brokers() detector {
	return messages("broker", "RocketMQ and Kafka clients: flow control, retried sends and timeouts", []rule{
		{sign: " times, still failed, cost [", find: rocketTries},
		{sign: "]broker busy, ", find: rocketBusy},
		{sign: "]system busy, ", find: rocketBusy},
		{sign: "wait response on the channel <", find: rocketTimeout},
		{sign: "sendDefaultImpl call timeout", find: rocketTimeout},
		{sign: " record(s) for ", find: kafkaExpired},
		{sign: " not present in metadata after ", find: kafkaExpired},
	})
}

func rocketTries(o *logOut, text []byte, at int) (bool, error) {
	line := text[max(0, at-20):]
	n := countAfter(line, "Send [")
	if n <= 0 {
		return false, nil
	}
	line = rest(text, at)
	t := newTries("rocketmq", n)
	t.Service = snippet(upTo(past(line, "Topic: "), ", "), maxText)
	t.Elapsed = millis(plain(past(line, "cost [")))
	if addrs := enclosed(line, "BrokersSent: [", "]"); addrs != nil {
		seen := map[string]bool{}
		for _, a := range bytes.Split(addrs, []byte(", ")) {
			if name := snippet(a, maxText); name != "" && name != "null" && !seen[name] && len(seen) < 32 {
				seen[name] = true
				t.Providers = append(t.Providers, name)
			}
		}
	}
	return o.tries(at, t)
}

func rocketBusy(o *logOut, text []byte, at int) (bool, error) {
	from, to := lineOf(text, at)
	line := text[from:to]
	open := bytes.LastIndexByte(line[:at-from], '[')
	if open < 0 {
		return false, nil
	}
	return o.mark(at, evidence.Mark{Kind: evidence.MarkRateLimited, Subject: "rocketmq broker", Text: snippet(line[open:], maxText)})
}

func rocketTimeout(o *logOut, text []byte, at int) (bool, error) {
	peer := snippet(enclosed(text[at:], "channel <", ">"), maxText)
	if peer == "" {
		peer = "rocketmq broker"
	}
	return o.mark(at, slow(peer, rest(text, at)))
}

func kafkaExpired(o *logOut, text []byte, at int) (bool, error) {
	line := rest(text, at)
	if !has(line, "has passed since", " ms.") || !has(text, "TimeoutException", "Expiring ") {
		return false, nil
	}
	return o.mark(at, slow("kafka", line))
}
