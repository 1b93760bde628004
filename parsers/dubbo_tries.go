package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// The end of a failover call, in 2.5.0 to 3.3:
//
//	Failed to invoke the method placeOrder in the service com.example.order.api.OrderService. Tried 3 times of the providers [10.20.0.12:20880, 10.20.0.11:20880] (2/2) from the registry 10.20.9.5:2181 on the consumer 10.20.1.31 using the dubbo version 2.7.23. Last error is: <message>
//	Although retry the method placeOrder in the service … was successful by the provider 10.20.0.12:20880, but there have been failed providers [10.20.0.11:20880] (1/2) from the registry … Last error is: <message>
//
// Tried counts physical attempts. (P/Q) is distinct addresses that failed, and
// invokers left after routing for the last attempt. In dubbo-go's sentence, which
// is the same but for spaces, Tried counts configured retries and P attempts.

// callText is the part of the sentence that both have from the brackets on.
type callText struct {
	providers  []string
	listed     int // entries of the list, with repeats
	failed     int
	candidates int
	registry   []byte
	consumer   []byte
	version    []byte
	last       []byte // the last error
	golang     bool
}

// parse reads "[a, b] (P/Q) from the registry … Last error is: …".
func (c *callText) parse(b []byte, o *logOut) {
	c.failed, c.candidates = evidence.None, evidence.None
	open := bytes.IndexByte(b[:min(len(b), 200)], '[')
	if open < 0 {
		return
	}
	b = b[open+1:]
	end := bytes.Index(b, []byte("] ("))
	if k := bytes.Index(b, []byte("](")); k >= 0 && (end < 0 || k < end) {
		end = k
	}
	if end < 0 { // cut, or a list without counts
		if end = bytes.IndexByte(b, ']'); end < 0 {
			return
		}
	}
	c.list(b[:end], o)
	b = b[end+1:]
	if paren := bytes.IndexByte(b[:min(len(b), 3)], '('); paren >= 0 {
		p, n := leadingNumber(b[paren+1:])
		if n > 0 && byteAt(b, paren+1+n) == '/' {
			c.failed = int(p)
			if q, m := leadingNumber(b[paren+n+2:]); m > 0 {
				c.candidates = int(q)
			}
		}
	}
	c.registry = between(b, "from the registry ", " on the consumer ")
	c.consumer = until(after(b, " on the consumer "), " \n")
	c.version = between(b, " using the dubbo version ", ". Last error is")
	const last = "Last error is"
	i := bytes.Index(b, []byte(last))
	if i < 0 {
		return
	}
	b = b[i+len(last):]
	c.golang = byteAt(b, 0) != ':'
	c.last = bytes.TrimLeft(b, ": ")
}

// list reads the addresses in the brackets.
func (c *callText) list(b []byte, o *logOut) {
	sep := []byte(", ")
	if !bytes.Contains(b, sep) && bytes.IndexByte(b, ' ') > 0 {
		sep = sep[1:]
	}
	for len(b) > 0 {
		var item []byte
		item, b, _ = bytes.Cut(b, sep)
		item = bytes.TrimSpace(item)
		if len(item) == 0 {
			continue
		}
		c.listed++
		addr := item
		if bytes.Contains(item, []byte("://")) {
			var p dubboProvider
			if p.parse(item); len(p.addr) > 0 {
				addr = p.addr
			}
		}
		s := o.str(addr)
		known := false
		for _, have := range c.providers {
			known = known || have == s
		}
		if !known && len(c.providers) < 256 {
			c.providers = append(c.providers, s)
		}
	}
}

// signature reads "<method> in the service <interface>" and returns what follows.
func signature(b []byte, stop string) (method, service, rest []byte) {
	const in = " in the service "
	i := bytes.Index(b[:min(len(b), 300)], []byte(in))
	if i < 0 || !dubboName(b[:i]) {
		return nil, nil, nil
	}
	method, b = b[:i], b[i+len(in):]
	if i = bytes.Index(b[:min(len(b), 400)], []byte(stop)); i < 0 || !dubboName(b[:i]) {
		return nil, nil, nil
	}
	return method, interfaceOf(b[:i]), b[i+len(stop):]
}

func readDubboFailed(d *dubboText, off int) (bool, error) {
	const head = "Failed to invoke the method "
	msg := d.message(off)[len(head):]
	method, service, rest := signature(msg, ". Tried ")
	if method == nil {
		return false, nil // no provider, or another software's words
	}
	tried, n := leadingNumber(rest)
	if n == 0 || tried > 1000 {
		return false, nil
	}
	rest = rest[n:]
	if !bytes.HasPrefix(rest, []byte(" times")) {
		return false, nil
	}
	var c callText
	c.parse(rest, d.o)
	t := &evidence.Tries{
		Service: d.o.str(service), Method: d.o.str(method), Attempts: int(tried),
		Providers: c.providers, Failed: c.failed, Candidates: c.candidates,
		Elapsed: evidence.None, Mode: "failover", Side: evidence.Consumer, RetriesSetting: evidence.None,
	}
	retries := int(tried) - 1
	if c.golang {
		t.RetriesSetting, retries = int(tried), int(tried)
		t.Attempts, t.Failed = c.failed, len(c.providers)
		if c.failed == evidence.None {
			t.AtLeast = max(1, c.listed)
		}
	}
	return true, d.call(off, t, &c, retries)
}

func readDubboRetried(d *dubboText, off int) (bool, error) {
	const head = "Although retry the method "
	method, service, rest := signature(d.message(off)[len(head):], " was successful by the provider ")
	if method == nil {
		return false, nil
	}
	i := bytes.Index(rest[:min(len(rest), 400)], []byte("failed providers "))
	if i < 0 {
		return false, nil
	}
	var c callText
	c.parse(rest[i:], d.o)
	t := &evidence.Tries{
		Service: d.o.str(service), Method: d.o.str(method), Attempts: evidence.None, AtLeast: max(1, c.failed) + 1,
		Providers: c.providers, Failed: c.failed, Candidates: c.candidates, Succeeded: true,
		Elapsed: evidence.None, Mode: "failover", Side: evidence.Consumer, RetriesSetting: evidence.None,
	}
	return true, d.call(off, t, &c, evidence.None)
}

// call emits a call, its last error, and what the text says of configuration
// and of the directory.
func (d *dubboText) call(off int, t *evidence.Tries, c *callText, retries int) error {
	ctx := attemptContext{service: t.Service, method: t.Method, consumer: hostOnly(c.consumer), timeout: evidence.None, lastOf: true}
	if len(c.providers) == 1 {
		ctx.addr = c.providers[0]
	}
	var p, direct dubboProvider
	if c.golang {
		// Without a registry it names the consumer's own URL, settings and all.
		if direct.parse(c.registry); direct.side == evidence.Consumer {
			ctx.timeout = direct.timeout(t.Method)
		}
	}
	a, known := d.parseAttempt(c.last, &ctx, &p)
	if direct.side == evidence.Consumer && len(p.query) == 0 {
		p.own, p.query, p.side = direct.own, direct.query, direct.side
	}
	t.Outcome, t.Timeout = failedOutcome(a.Outcome), a.Timeout
	if t.Succeeded {
		t.Outcome = evidence.OK
	}
	ev := d.at(off)
	d.consumerPlace(ev, &ctx, &p)
	ev.Tries = t
	if err := d.o.send(ev); err != nil {
		return err
	}
	if known {
		if err := d.sendAttempt(off, c.last, a, &ctx, &p); err != nil {
			return err
		}
	}
	pol := p.policy(d.o, t.Method)
	if retries != evidence.None || pol != nil {
		if pol == nil {
			pol = &evidence.Policy{Timeout: evidence.None, Retries: evidence.None, Threads: evidence.None, Queues: evidence.None}
		}
		pol.Service, pol.Method, pol.Side = t.Service, t.Method, evidence.Consumer
		if retries != evidence.None {
			pol.Retries = retries
		}
		if a.Timeout != evidence.None {
			pol.Timeout = a.Timeout
		}
		if pol.Cluster == "" && t.Mode != "" {
			pol.Cluster = t.Mode
		}
		ev := d.at(off)
		d.consumerPlace(ev, &ctx, &p)
		ev.Policy = pol
		if err := d.o.send(ev); err != nil {
			return err
		}
	}
	stages := directoryStages(c.registry)
	if len(stages) == 0 {
		return nil
	}
	if c.candidates != evidence.None {
		stages = append(stages, evidence.Stage{Name: "after-route", Count: c.candidates})
	}
	ev = d.at(off)
	d.consumerPlace(ev, &ctx, &p)
	ev.Route = &evidence.Route{
		Service: t.Service, Method: t.Method, Stages: stages, Registry: registryAddress(c.registry, d.o),
		Addresses: c.providers,
	}
	return d.o.send(ev)
}

// hostOnly accepts an address without a port, as messages name the consumer.
func hostOnly(b []byte) []byte {
	if len(b) > 64 || bytes.IndexByte(b, '<') >= 0 {
		return nil
	}
	return bytes.TrimRight(b, ".,")
}

// single emits a call that its cluster mode does not retry in the foreground,
// whose error is msg.
func (d *dubboText) single(off int, mode string, attempts int, service, method string, msg []byte, p *dubboProvider, consumer []byte) error {
	ctx := attemptContext{service: service, method: method, consumer: hostOnly(consumer), timeout: evidence.None, lastOf: true}
	if p != nil {
		ctx.addr = d.o.str(p.addr)
		ctx.timeout = p.timeout(method)
	}
	var q dubboProvider
	a, known := d.parseAttempt(msg, &ctx, &q)
	if p == nil || len(p.query) == 0 {
		p = &q
	}
	q.own = p.own
	t := &evidence.Tries{
		Service: a.Service, Method: a.Method, Attempts: attempts, Failed: evidence.None, Candidates: evidence.None,
		Outcome: failedOutcome(a.Outcome), Timeout: a.Timeout, Elapsed: evidence.None, Mode: mode, Side: evidence.Consumer, RetriesSetting: evidence.None,
	}
	if attempts == evidence.None {
		t.AtLeast = 1
	}
	if a.PeerAddr != "" && attempts == 1 {
		t.Providers, t.Failed = []string{a.PeerAddr}, 1
	}
	ev := d.at(off)
	d.consumerPlace(ev, &ctx, p)
	ev.Tries = t
	if err := d.o.send(ev); err != nil {
		return err
	}
	if known {
		if err := d.sendAttempt(off, msg, a, &ctx, &q); err != nil {
			return err
		}
	}
	if pol := p.policy(d.o, a.Method); pol != nil {
		pol.Side = evidence.Consumer
		pol.Cluster = mode
		ev := d.at(off)
		d.consumerPlace(ev, &ctx, p)
		ev.Policy = pol
		return d.o.send(ev)
	}
	return nil
}

// readDubboFailfast reads
//
//	Failfast invoke providers <url> <LoadBalance>[ select from all providers …] for service <i> method <m> on consumer <ip> use dubbo version <v>, but no luck to perform the invocation. Last error is: <msg>
func readDubboFailfast(d *dubboText, off int) (bool, error) {
	msg := d.message(off)
	i := bytes.LastIndex(msg, []byte(" for service "))
	if i < 0 || !bytes.Contains(msg, []byte("no luck to perform the invocation")) {
		return false, nil
	}
	var p dubboProvider
	p.parse(msg[len("Failfast invoke providers "):])
	service := interfaceOf(between(msg[i:], " for service ", " method "))
	method := between(msg[i:], " method ", " on consumer ")
	consumer := between(msg[i:], " on consumer ", " use dubbo version")
	if !dubboName(service) || !dubboName(method) {
		return false, nil
	}
	return true, d.single(off, "failfast", 1, d.o.str(service), d.o.str(method), after(msg, "Last error is: "), &p, consumer)
}

// readDubboForking reads attempts that ran side by side, all of which failed.
func readDubboForking(d *dubboText, off int) (bool, error) {
	msg := d.message(off)
	last := after(msg, "Last error is: ")
	if last == nil || !bytes.Contains(msg, []byte("no luck to perform the invocation")) {
		return false, nil
	}
	var p dubboProvider
	if i := bytes.Index(msg, []byte("dubbo://")); i >= 0 && i < len(msg)-len(last) {
		p.parse(msg[i:])
	}
	return true, d.single(off, "forking", evidence.None, d.o.str(p.service), "", last, &p, nil)
}

func readDubboFailsafe(d *dubboText, off int) (bool, error) {
	if !bytes.Contains(d.text[:off], []byte("[DUBBO]")) {
		return false, nil
	}
	return true, d.single(off, "failsafe", 1, "", "", d.message(off), nil, nil)
}

// readDubboFailback reads a call that is to be repeated in the background:
//
//	Failback to invoke method placeOrder, wait for retry in background. Ignored exception: <msg>,
func readDubboFailback(d *dubboText, off int) (bool, error) {
	msg := d.message(off)
	method := until(msg[len("Failback to invoke method "):], ", ")
	if !bytes.Contains(msg, []byte("wait for retry in background")) || !dubboName(method) {
		return false, nil
	}
	return true, d.single(off, "failback", 1, "", d.o.str(method), after(msg, "Ignored exception: "), nil, nil)
}

// readDubboFailbackRetry reads a repetition, from 2.7 on:
//
//	Attempt to retry to invoke method placeOrder. The total will retry 3 times, the current is the 0 retry
func readDubboFailbackRetry(d *dubboText, off int) (bool, error) {
	msg := d.line(off)
	method := between(msg, "invoke method ", ". The total will retry ")
	k := numberAfter(msg, "the current is the ")
	if !dubboName(method) || k == evidence.None || k > 1e6 {
		return false, nil
	}
	ev := d.at(off)
	ev.Attempt = &evidence.Attempt{
		Side: evidence.Consumer, Method: d.o.str(method), Duration: evidence.None, Timeout: evidence.None,
		Ordinal: int(k) + 2, Error: "failback retry",
	}
	return true, d.o.send(ev)
}

// readDubboFailbackFailed reads the failure of a repetition. From 2.7 on the
// attempt has been told of by the line above.
func readDubboFailbackFailed(d *dubboText, off int) (bool, error) {
	msg := d.line(off)
	method := between(msg, "invoke method ", ", waiting again")
	if !dubboName(method) {
		return false, nil
	}
	old := bytes.HasPrefix(d.version, []byte("2.5")) || bytes.HasPrefix(d.version, []byte("2.6"))
	return d.attempt(off, d.text[off:], attemptContext{method: d.o.str(method), timeout: evidence.None, lastOf: !old})
}

func readDubboFailbackGivenUp(d *dubboText, off int) (bool, error) {
	n := numberAfter(d.line(off), "exceed threshold (")
	if n == evidence.None {
		return false, nil
	}
	ev := d.at(off)
	ev.Policy = &evidence.Policy{
		Side: evidence.Consumer, Timeout: evidence.None, Retries: int(n), Threads: evidence.None, Queues: evidence.None, Cluster: "failback",
		Method: d.o.str(until(after(d.line(off), "methodName="), ", ]")),
	}
	return true, d.o.send(ev)
}
