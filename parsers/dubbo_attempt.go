package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// What a consumer says of one failed attempt, alone or as the last error of a call:
//
//	Invoke remote method timeout. method: placeOrder, provider: dubbo://…, cause: org.apache.dubbo.remoting.TimeoutException: Waiting server-side response timeout by scan timer. start time: 2024-05-14 10:03:20.402, end time: 2024-05-14 10:03:21.415, client elapsed: 1 ms, server elapsed: 1012 ms, timeout: 1000 ms, request: Request [id=48213, …], channel: /10.20.1.31:51022 -> /10.20.0.11:20880
//	Failed to invoke remote method: placeOrder, provider: …, cause: …RemotingException: Server side(10.20.0.12,20880) thread pool is exhausted, detail msg:…
//	Invoke remote method timeout. method: placeOrder, provider: …, cause: Timeout after 1000ms waiting for result.      (3.2.3 and later)
//	DEADLINE_EXCEEDED : Waiting server-side response timeout by scan timer. start time: …, timeout: 3000 ms, service: …, method: …   (triple)

// attemptContext is what surrounds an attempt's error.
type attemptContext struct {
	service, method string
	addr            string // of the provider, if the message names one
	timeout         time.Duration
	consumer        []byte // address of the consumer, as the message names it
	lastOf          bool   // it is the last error of a call that was emitted
}

// parseAttempt reads the error in msg. It reports false if there is nothing in
// it that an attempt could be told by.
func (d *dubboText) parseAttempt(msg []byte, c *attemptContext, p *dubboProvider) (*evidence.Attempt, bool) {
	a := &evidence.Attempt{
		Side: evidence.Consumer, Service: c.service, Method: c.method, PeerAddr: c.addr,
		Duration: evidence.None, Timeout: evidence.None, LastOf: c.lastOf,
	}
	*p = dubboProvider{}
	known := false
	for _, head := range []string{"Invoke remote method timeout. method: ", "Failed to invoke remote method: ", "Fail to invoke remote method: "} {
		i := bytes.Index(msg, []byte(head))
		if i < 0 {
			continue
		}
		rest := msg[i+len(head):]
		const provider = ", provider: "
		k := bytes.Index(rest[:min(len(rest), 400)], []byte(provider))
		if k < 0 || !dubboName(rest[:k]) {
			continue
		}
		known = true
		if a.Method == "" {
			a.Method = d.o.str(rest[:k])
		}
		p.parse(rest[k+len(provider):])
		break
	}
	a.Outcome, a.Error = outcomeOf(msg)
	if a.Outcome == evidence.OutcomeUnknown {
		if !known {
			return a, false
		}
		a.Outcome = evidence.Failed
	}
	d.timing(msg, a)
	if len(p.addr) > 0 {
		a.PeerAddr = d.o.str(p.addr)
	}
	if len(p.service) > 0 && a.Service == "" {
		a.Service = d.o.str(p.service)
	}
	a.Peer.Service = d.o.str(p.remote)
	if a.PeerAddr == "" {
		d.peerOf(msg, a)
	}
	if a.Timeout == evidence.None {
		if a.Timeout = p.timeout(a.Method); a.Timeout == evidence.None {
			a.Timeout = c.timeout
		}
	}
	if a.Outcome == evidence.Timeout && a.Duration == evidence.None && bytes.Contains(msg, []byte("ms waiting for result.")) {
		a.Timeout = millisAfter(msg, "Timeout after ")
		a.Duration = a.Timeout
	}
	return a, true
}

// outcomeOf tells how an attempt ended by the words of its error.
func outcomeOf(msg []byte) (evidence.Outcome, string) {
	for _, k := range outcomeWords {
		if bytes.Contains(msg, []byte(k.words)) {
			return k.outcome, k.short
		}
	}
	return evidence.OutcomeUnknown, ""
}

var outcomeWords = []struct {
	words   string
	outcome evidence.Outcome
	short   string
}{
	// What could not be sent may hold any words, those of another failure too.
	{"[Serialization Security] Serialized class ", evidence.Failed, "class is not in the serialization allow list"},
	{"Failed to send response: Response [", evidence.Failed, "response could not be sent"},
	{"com.caucho.hessian.io.", evidence.Failed, "response could not be decoded"},
	{"pool is exhausted", evidence.Rejected, "thread pool is exhausted"},
	{exhausted, evidence.Rejected, "thread pool is exhausted"},
	{"Sending request timeout in client-side", evidence.Timeout, "sending request timeout in client-side"},
	{"Waiting server-side response timeout", evidence.Timeout, "waiting server-side response timeout"},
	{"ms waiting for result.", evidence.Timeout, "timeout waiting for result"},
	{"Invoke remote method timeout", evidence.Timeout, "invoke remote method timeout"},
	{"Waiting concurrent invoke timeout", evidence.Rejected, "actives limit"},
	{"The service using threads greater than", evidence.Rejected, "executes limit"},
	{"because channel is closed", evidence.Unreachable, "channel is closed"},
	{"is inactive. Directly return the unFinished request", evidence.Unreachable, "channel is inactive"},
	{"failed to connect to server", evidence.Unreachable, "failed to connect"},
	{"Failed connect to server", evidence.Unreachable, "failed to connect"},
	{"session Already Closed", evidence.Unreachable, "session is closed"},
	{"session not exist", evidence.Unreachable, "session is closed"},
	{"remoting client has closed", evidence.Unreachable, "client is closed"},
	{"client have been closed", evidence.Unreachable, "client is closed"},
	{"failed to create client connection to ", evidence.Unreachable, "failed to connect"},
	{"Connection refused", evidence.Unreachable, "connection refused"},
	{"connection refused", evidence.Unreachable, "connection refused"},
	{"onnection reset", evidence.Unreachable, "connection reset"},
	{"UNAVAILABLE : upstream", evidence.Unreachable, "upstream is unavailable"},
	{"No provider available", evidence.NoProvider, "no provider available"},
	{"maybe the client read timeout", evidence.Timeout, "client read timeout"},
	{"DEADLINE_EXCEEDED", evidence.Timeout, "deadline exceeded"},
	{"deadline_exceeded", evidence.Timeout, "deadline exceeded"},
	{"eadline exceeded", evidence.Timeout, "deadline exceeded"},
	{"imeoutException", evidence.Timeout, "timeout"},
	{"Fail to decode request due to", evidence.Failed, "decode failed"},
}

// timing reads the times, the request and the channel at the end of a timeout's text.
func (d *dubboText) timing(msg []byte, a *evidence.Attempt) {
	i := bytes.Index(msg, []byte("start time: "))
	if i < 0 {
		return
	}
	tail := msg[i:]
	// What stands behind the request's data is looked for from the end.
	head := tail
	if k := bytes.Index(tail, []byte(", request: ")); k >= 0 {
		head = tail[:k]
	}
	head = head[:min(len(head), 400)]
	a.Timeout = millisAfter(head, ", timeout: ")
	var start, end stamp
	if readStamp(head[len("start time: "):], &start) > 0 {
		if k := bytes.Index(head, []byte("end time: ")); k >= 0 && readStamp(head[k+len("end time: "):], &end) > 0 {
			c := clockwork{zone: time.UTC}
			from, _ := c.resolve(&start)
			to, _ := c.resolve(&end)
			if took := to.Sub(from); took >= 0 && took < 24*time.Hour {
				a.Duration = took
			}
		}
	}
	if a.Duration == evidence.None {
		client, server := millisAfter(head, "client elapsed: "), millisAfter(head, "server elapsed: ")
		switch {
		case client >= 0 && server >= 0:
			a.Duration = client + server
		default:
			a.Duration = millisAfter(head, ", elapsed: ")
		}
	}
	if k := bytes.Index(tail, []byte("Request [id=")); k >= 0 {
		if _, n := leadingNumber(skipMinus(tail[k+len("Request [id="):])); n > 0 {
			id := tail[k+len("Request [id="):]
			if id[0] == '-' {
				n++
			}
			a.RequestID = string(id[:n])
		}
	}
	if a.Service == "" {
		a.Service = d.o.str(interfaceOf(until(after(head, ", service: "), ", \n")))
	}
	if a.Method == "" {
		a.Method = d.o.str(until(after(head, ", method: "), ", \n"))
	}
	d.invocationOf(tail, a)
	d.channelOf(tail, a)
}

// invocationOf reads what the request itself says was called, which is all that
// a timeout says that stands alone:
//
//	data=RpcInvocation [methodName=move, parameterTypes=[long], arguments=[12], attachments={path=com.acme.game.BattleService, interface=com.acme.game.BattleService, version=0.0.0}]]
func (d *dubboText) invocationOf(tail []byte, a *evidence.Attempt) {
	call := after(tail, "RpcInvocation [methodName=")
	if call == nil {
		return
	}
	if method := until(call, ", ]\n"); a.Method == "" && dubboName(method) {
		a.Method = d.o.str(method)
	}
	if a.Service != "" {
		return
	}
	// Arguments may say anything, so the attachments are looked for from the end.
	i := bytes.LastIndex(call, []byte(", attachments={"))
	if i < 0 {
		return
	}
	attachments := call[i+len(", attachments"):]
	for _, key := range []string{"interface=", "path="} {
		for _, before := range []string{"{", ", "} {
			if name := until(after(attachments, before+key), ",}\n"); dubboName(name) {
				a.Service = d.o.str(interfaceOf(name))
				return
			}
		}
	}
}

func skipMinus(b []byte) []byte { return bytes.TrimPrefix(b, []byte("-")) }

// after returns what follows a text; nil if it is missing.
func after(b []byte, key string) []byte {
	if i := bytes.Index(b, []byte(key)); i >= 0 {
		return b[i+len(key):]
	}
	return nil
}

// until returns what stands before any of some bytes.
func until(b []byte, stops string) []byte {
	if i := bytes.IndexAny(b, stops); i >= 0 {
		return b[:i]
	}
	return b
}

// channelOf reads "channel: /10.20.1.31:51022 -> /10.20.0.11:20880".
func (d *dubboText) channelOf(b []byte, a *evidence.Attempt) {
	i := bytes.LastIndex(b, []byte("channel: "))
	if i < 0 {
		return
	}
	ch := until(b[i+len("channel: "):], ",\n")
	arrow := bytes.Index(ch, []byte(" -> "))
	if arrow <= 0 {
		return
	}
	remote := ch[arrow+4:]
	if k := bytes.IndexByte(remote, ' '); k >= 0 {
		remote = remote[:k]
		ch = ch[:arrow+4+k]
	}
	a.Channel = string(bytes.TrimRight(ch, ". ]"))
	if addr := hostPort(remote); addr != nil && a.PeerAddr == "" {
		a.PeerAddr = d.o.str(addr)
	}
}

// peerOf finds the provider's address in the words of some errors.
func (d *dubboText) peerOf(msg []byte, a *evidence.Attempt) {
	if b := between(msg, "Server side(", ")"); b != nil { // (ip,port)
		if host, port, ok := bytes.Cut(b, []byte{','}); ok && len(port) > 0 && digitRun(port, 0) == len(port) {
			a.PeerAddr = string(host) + ":" + string(port)
		}
		return
	}
	for _, key := range []string{"UNAVAILABLE : upstream ", "failed to connect to server ", "Failed connect to server ", "connect to the server ", "connection refused: ", "Connection refused: ", `Post "http://`, `Post "https://`} {
		if b := after(msg, key); b != nil {
			if addr := hostPort(b); addr != nil {
				a.PeerAddr = d.o.str(addr)
				return
			}
		}
	}
	d.channelOf(msg, a)
}

// attempt emits the attempt whose error msg is, and what its text tells beside
// it: the pool that refused it, the configuration in the provider's URL.
func (d *dubboText) attempt(off int, msg []byte, c attemptContext) (bool, error) {
	var p dubboProvider
	a, ok := d.parseAttempt(msg, &c, &p)
	if !ok {
		return false, nil
	}
	if err := d.sendAttempt(off, msg, a, &c, &p); err != nil || c.lastOf {
		return true, err // the call says more of it
	}
	if pol := p.policy(d.o, a.Method); pol != nil {
		ev := d.at(off)
		d.consumerPlace(ev, &c, &p)
		ev.Policy = pol
		return true, d.o.send(ev)
	}
	return true, nil
}

// sendAttempt emits an attempt, and the pool that refused it.
func (d *dubboText) sendAttempt(off int, msg []byte, a *evidence.Attempt, c *attemptContext, p *dubboProvider) error {
	ev := d.at(off)
	d.consumerPlace(ev, c, p)
	ev.Attempt = a
	if err := d.o.send(ev); err != nil {
		return err
	}
	if a.Outcome != evidence.Rejected {
		return nil
	}
	pool := d.relayedPool(msg)
	if pool == nil {
		return nil
	}
	pool.Service, pool.Method = a.Service, a.Method
	ev = d.at(off)
	d.consumerPlace(ev, c, p)
	ev.Pool = pool
	return d.o.send(ev)
}

// consumerPlace completes the place of a consumer's observation.
func (d *dubboText) consumerPlace(ev *evidence.Record, c *attemptContext, p *dubboProvider) {
	p.place(ev, d.o)
	if len(c.consumer) > 0 && d.r.Instance == "" {
		ev.Place.Instance = d.o.str(c.consumer)
	}
}

// readDubboAttempt reads an attempt's error that stands alone.
func readDubboAttempt(d *dubboText, off int) (bool, error) {
	start := bytes.LastIndexByte(d.text[:off], '\n') + 1
	msg := d.message(off)
	if bytes.Contains(msg, []byte("Timeout after ")) || bytes.Contains(msg, []byte("start time: ")) || bytes.Contains(msg, []byte(", provider: ")) ||
		bytes.Contains(msg, []byte("UNAVAILABLE : upstream ")) || bytes.Contains(msg, []byte("channel is closed")) || bytes.Contains(msg, []byte("in Writer.Write")) {
		return d.attempt(off, d.message(start), attemptContext{})
	}
	return false, nil
}

// readDubboConnect reads a connection that could not be made:
//
//	client(url: dubbo://10.20.0.11:20880/…) failed to connect to server /10.20.0.11:20880, error message is:Connection refused: …
func readDubboConnect(d *dubboText, off int) (bool, error) {
	start := bytes.LastIndexByte(d.text[:off], '\n') + 1
	i := bytes.LastIndex(d.text[start:off], []byte("client(url: "))
	if i < 0 {
		return false, nil
	}
	var p dubboProvider
	p.parse(d.text[start+i+len("client(url: "):])
	ev := d.at(off)
	p.place(ev, d.o)
	peer := d.o.str(hostPort(d.text[off+len(") failed to connect to server "):]))
	if peer == "" {
		peer = d.o.str(p.addr)
	}
	// A connection is not a request: nobody's attempt was lost yet.
	ev.Mark = &evidence.Mark{Kind: evidence.MarkDownstream, Subject: peer, Text: "failed to connect"}
	return true, d.o.send(ev)
}

// readDubboProviderTimeout reads a provider's note that a call outlived its timeout:
//
//	invoke timed out. method: placeOrder url is dubbo://…, invoke elapsed 3012 ms.
func readDubboProviderTimeout(d *dubboText, off int) (bool, error) {
	msg := d.message(off)
	elapsed := millisAfter(msg, "invoke elapsed ")
	method := until(after(msg, "method: "), " ,\n")
	if elapsed == evidence.None || !dubboName(method) {
		return false, nil
	}
	var p dubboProvider
	if i := bytes.LastIndex(msg, []byte("url is ")); i >= 0 {
		p.parse(msg[i+len("url is "):])
	}
	m := d.o.str(method)
	ev := d.at(off)
	d.providerPlace(ev, &p)
	ev.Attempt = &evidence.Attempt{
		Side: evidence.Provider, Service: d.o.str(p.service), Method: m,
		Duration: elapsed, Timeout: p.timeout(m), Outcome: evidence.Late, Error: "invoke timed out",
	}
	if err := d.o.send(ev); err != nil {
		return true, err
	}
	if pol := p.policy(d.o, m); pol != nil {
		ev := d.at(off)
		d.providerPlace(ev, &p)
		ev.Policy = pol
		return true, d.o.send(ev)
	}
	return true, nil
}

// providerPlace completes the place of a provider's observation.
func (d *dubboText) providerPlace(ev *evidence.Record, p *dubboProvider) {
	if d.r.App == "" && p.side == evidence.Provider && len(p.remote) > 0 {
		ev.Place.Service = d.o.str(p.remote)
	}
	if ev.Place.Instance == "" && len(p.addr) > 0 {
		ev.Place.Instance = hostOf(d.o.str(p.addr))
	}
}

// readDubboUnsent reads a provider's answer that could not be sent.
func readDubboUnsent(d *dubboText, off int) (bool, error) {
	a := &evidence.Attempt{Side: evidence.Provider, Duration: evidence.None, Timeout: evidence.None, Outcome: evidence.Cancelled, Error: "result could not be sent"}
	ch := after(d.message(off), "channel is ")
	if k := bytes.Index(ch, []byte("-> /")); k >= 0 {
		a.PeerAddr = d.o.str(hostPort(ch[k+3:]))
	} else if k := bytes.Index(ch, []byte(" -> ")); k >= 0 {
		a.PeerAddr = d.o.str(hostPort(ch[k+4:]))
	}
	ev := d.at(off)
	ev.Attempt = a
	return true, d.o.send(ev)
}

// readDubboLimit reads refusals of the executes and actives limits.
func readDubboLimit(d *dubboText, off int) (bool, error) {
	start := bytes.LastIndexByte(d.text[:off], '\n') + 1
	msg := d.message(start)
	a := &evidence.Attempt{Duration: evidence.None, Timeout: evidence.None, Outcome: evidence.Rejected}
	var p dubboProvider
	if method := between(msg, "Failed to invoke method ", " in provider "); dubboName(method) {
		a.Method, a.Error = d.o.str(method), "executes limit"
		p.parse(after(msg, " in provider "))
		a.Service = d.o.str(p.service)
		a.PeerAddr = d.o.str(p.addr)
		a.Side = evidence.Consumer
		if len(d.host) > 0 && bytes.HasPrefix(p.addr, d.host) {
			a.Side, a.PeerAddr = evidence.Provider, ""
		}
	} else if bytes.Contains(msg, []byte("max concurrent invoke limit: ")) {
		a.Side, a.Error = evidence.Consumer, "actives limit"
		a.Service = d.o.str(interfaceOf(until(bytes.TrimLeft(after(msg, "for service:"), " "), ", ")))
		a.Method = d.o.str(until(after(msg, "method: "), ", "))
		a.Duration, a.Timeout = millisAfter(msg, "elapsed: "), millisAfter(msg, "timeout: ")
	} else {
		return false, nil
	}
	ev := d.at(off)
	ev.Attempt = a
	return true, d.o.send(ev)
}
