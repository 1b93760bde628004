package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// The profiler's report of a call that used up its timeout, WARN, 3.0.6 and later:
//
//	[Dubbo-Consumer] execute service com.example.order.api.OrderService:1.0.0:dubbo#placeOrder cost 3012.004511 ms, this invocation almost (maybe already) timeout. Timeout: 1000ms
//	invocation context:
//	path=com.example.order.api.OrderService;
//	thread info:
//	Start time: 218070703971458
//	+-[ Offset: 0.000000ms; Usage: 3012.004511ms, 100% ] Receive request. Client invoke begin. ServiceKey: com.example.order.api.OrderService:1.0.0 MethodName:placeOrder
//	  +-[ Offset: 0.412345ms; Usage: 1003.881220ms, 33% ] Invoker invoke. Target Address: 10.20.0.11:20880
//
// Each "Invoker invoke." is one attempt, in order, however deep it stands.

func readDubboProfiler(d *dubboText, off int) (bool, error) {
	start := bytes.LastIndexByte(d.text[:off], '\n') + 1
	head := d.line(start)
	b := after(head, "execute service ")
	i := bytes.Index(b, []byte(" cost "))
	hash := bytes.IndexByte(b, '#')
	if i < 0 || hash < 0 || hash > i || !dubboName(b[:i]) {
		return false, nil
	}
	service, method := d.o.str(interfaceOf(b[:hash])), d.o.str(b[hash+1:i])
	elapsed := profilerTime(b[i+len(" cost "):])
	timeout := millisAfter(head, "Timeout: ")
	tree := d.text[start+len(head):]
	if d.r.Trace == "" {
		d.r.Trace = d.o.str(traceparentOf(tree))
	}
	if bytes.Contains(head, []byte("[Dubbo-Provider]")) {
		return true, d.served(start, service, method, elapsed, timeout, tree)
	}
	t := profiledCall(service, method)
	t.Elapsed, t.Timeout = elapsed, timeout
	d.walkProfile(tree, func(line []byte, at evidence.Try, _ time.Duration) {
		if addr := after(line, "Invoker invoke. Target Address: "); addr != nil {
			at.Addr = d.o.str(profilerAddress(addr))
			t.Each = append(t.Each, at)
		}
	})
	t.Attempts = len(t.Each)
	if t.Attempts == 0 { // cut, or an entry was dropped
		t.Attempts, t.AtLeast = evidence.None, 1
	}
	ev := d.at(start)
	ev.Tries = t
	return true, d.o.send(ev)
}

// traceparentOf reads the trace that the invocation's context carries if an agent put
// one there:
//
//	traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01;
func traceparentOf(tree []byte) []byte {
	b := after(tree[:min(len(tree), 4096)], "\ntraceparent=00-")
	id := until(b, "-;\n")
	if len(id) != 32 || b[32] != '-' {
		return nil
	}
	for _, c := range id {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return nil
		}
	}
	return id
}

func profiledCall(service, method string) *evidence.Tries {
	return &evidence.Tries{
		Service: service, Method: method, Failed: evidence.None, Candidates: evidence.None, RetriesSetting: evidence.None,
		Elapsed: evidence.None, Timeout: evidence.None, Mode: "profiler", Side: evidence.Consumer,
	}
}

// served emits what a provider's report says: the request itself, and the calls
// that it made while it was served.
func (d *dubboText) served(off int, service, method string, elapsed, timeout time.Duration, tree []byte) error {
	a := &evidence.Attempt{
		Side: evidence.Provider, Service: service, Method: method, Duration: elapsed, Timeout: timeout,
	}
	if timeout > 0 && elapsed > timeout {
		a.Outcome = evidence.Late
	}
	if client := after(tree[:min(len(tree), 200)], "\nclient: "); client != nil {
		a.PeerAddr = d.o.str(hostPort(client))
	}
	ev := d.at(off)
	ev.Attempt = a
	if err := d.o.send(ev); err != nil {
		return err
	}
	var calls []*evidence.Tries
	var until time.Duration // end of the call that the next attempts belong to
	d.walkProfile(tree, func(line []byte, at evidence.Try, end time.Duration) {
		if b := after(line, "Client invoke begin. ServiceKey: "); b != nil {
			key, name, _ := bytes.Cut(b, []byte(" MethodName:"))
			t := profiledCall(d.o.str(interfaceOf(key)), d.o.str(cutSuffixes(name)))
			t.Elapsed = at.Duration
			calls, until = append(calls, t), end
			return
		}
		if addr := after(line, "Invoker invoke. Target Address: "); addr != nil {
			if len(calls) == 0 || at.Offset > until {
				calls, until = append(calls, profiledCall("", "")), end
			}
			t := calls[len(calls)-1]
			at.Addr = d.o.str(profilerAddress(addr))
			t.Each = append(t.Each, at)
		}
	})
	for _, t := range calls {
		if t.Attempts = len(t.Each); t.Attempts == 0 {
			continue
		}
		ev := d.at(off)
		ev.Tries = t
		if err := d.o.send(ev); err != nil {
			return err
		}
	}
	return nil
}

// walkProfile calls f with each entry of a profile, its offset and duration,
// and when it ended.
func (d *dubboText) walkProfile(b []byte, f func(line []byte, at evidence.Try, end time.Duration)) {
	for len(b) > 0 {
		var line []byte
		line, b, _ = bytes.Cut(b, []byte{'\n'})
		i := bytes.Index(line, []byte("+-[ Offset: "))
		if i < 0 || i > 200 {
			continue
		}
		line = line[i+len("+-[ Offset: "):]
		offset, usage := profilerTime(line), time.Duration(evidence.None)
		if u := after(line, "Usage: "); u != nil {
			usage = profilerTime(u)
		}
		if offset < 0 {
			continue
		}
		f(line, evidence.Try{Offset: offset, Duration: usage}, offset+max(0, usage))
	}
}

// profilerTime reads 1003.881220: milliseconds, and nanoseconds in six digits.
func profilerTime(b []byte) time.Duration {
	ms, n := leadingNumber(b)
	if n == 0 || ms > 1e12 {
		return evidence.None
	}
	d := time.Duration(ms) * time.Millisecond
	if byteAt(b, n) == '.' {
		nanos, m := leadingNumber(b[n+1:])
		for ; m > 0 && m < 6; m++ {
			nanos *= 10
		}
		if m == 6 {
			d += time.Duration(nanos)
		}
	}
	return d
}

// profilerAddress takes an address; the envelope may be glued to the last one.
func profilerAddress(b []byte) []byte {
	if a := hostPort(b); a != nil {
		return a
	}
	return until(b, ", \r")
}

func cutSuffixes(b []byte) []byte { return until(b, ", \r") }
