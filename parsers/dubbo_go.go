package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// dubbo-go from 3.3.2 on:
//
//	[Cluster][Failover] invoke failed after retries, method=PlaceOrder service=com.example.OrderService retries=2 providers=3/5 registry=consumer://… consumer=10.20.1.32 version=3.3.2 lastErr=deadline_exceeded: context deadline exceeded
//	[Cluster][Failover] no provider available, method=PlaceOrder service=com.example.OrderService
//
// Here retries is the setting and providers=P/Q is failed attempts and invokers.

func readDubboGoFailover(d *dubboText, off int) (bool, error) {
	line := d.line(off)
	method := until(after(line, "method="), " \n")
	service := interfaceOf(until(after(line, " service="), " \n"))
	if !dubboName(method) {
		return false, nil
	}
	if bytes.Contains(line, []byte("no provider available")) {
		return true, d.route(off, &evidence.Route{Service: d.o.str(service), Method: d.o.str(method), Empty: true}, nil)
	}
	if !bytes.Contains(line, []byte("invoke failed after retries")) {
		return false, nil
	}
	var c callText
	c.golang = true
	c.failed, c.candidates = evidence.None, evidence.None
	if b := after(line, " providers="); b != nil {
		p, n := leadingNumber(b)
		if n > 0 && byteAt(b, n) == '/' {
			c.failed = int(p)
			q, _ := leadingNumber(b[n+1:])
			c.candidates = int(q)
		}
	}
	c.registry = until(after(line, " registry="), " \n")
	c.consumer = until(after(line, " consumer="), " \n")
	c.last = after(d.message(off), " lastErr=")
	retries := int(numberAfter(line, " retries="))
	t := &evidence.Tries{
		Service: d.o.str(service), Method: d.o.str(method), Attempts: c.failed, Failed: evidence.None, Candidates: c.candidates,
		Elapsed: evidence.None, Mode: "failover", Side: evidence.Consumer, RetriesSetting: retries,
	}
	if c.failed == evidence.None {
		t.AtLeast = 1
	}
	return true, d.call(off, t, &c, retries)
}

// readDubboGoRouteEmpty reads 3.3.2's condition router.
func readDubboGoRouteEmpty(d *dubboText, off int) (bool, error) {
	line := d.line(off)
	chain := after(line, "chain=")
	return true, d.route(off, &evidence.Route{
		Empty: true, Culprit: "ConditionRouter", Message: string(chain[:min(len(chain), 300)]),
	}, nil)
}

// readDubboGoLimit reads a provider's refusal, by its execute limit or its rate:
//
//	The invocation was rejected due to over the execute limitation, url: dubbo://10.20.0.11:20000/com.example.StockService?application=product-1&…&side=provider
//
// Its handler, unless another was configured, prints "The invocation was
// rejected. url: …" beside it and answers with an empty result and no error: the
// consumer takes the refusal for an answer.
func readDubboGoLimit(d *dubboText, off int) (bool, error) {
	line := d.line(off)
	var what string
	switch kind := between(line[:min(len(line), 120)], "due to over the ", " limitation"); string(kind) {
	case "execute":
		what = "executes limit"
	case "limiter":
		what = "rate limit"
	default:
		return false, nil
	}
	var p dubboProvider
	p.parse(after(line, " limitation, url: "))
	if len(p.service) == 0 {
		return false, nil
	}
	ev := d.at(off)
	if o := d.o.str(p.addr); o != "" {
		ev.Place.Instance = o
	}
	if ev.Place.Service == "" && p.side == evidence.Provider {
		ev.Place.Service = d.o.str(p.remote)
	}
	ev.Attempt = &evidence.Attempt{
		Side: evidence.Provider, Service: d.o.str(p.service), Duration: evidence.None, Timeout: evidence.None,
		Outcome: evidence.Rejected, Error: what,
	}
	return true, d.o.send(ev)
}
