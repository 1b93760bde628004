package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// The access log of a Dubbo provider: one line for each executed attempt,
// without its result. Since 3.0.12 and 3.1.1 it says when the call came and when
// it was answered; before, and in Dubbo for Go, only when it came:
//
//	[2026-03-14 10:03:20] 10.20.1.31:51022 -> 10.20.0.11:20880 - shop/com.acme.shop.OrderService:1.0.0 placeOrder(com.acme.shop.Order) [{"orderId":"A-1009"}]
//	[2026-03-14 10:03:20.40200] -> [2026-03-14 10:03:24.11700] 10.20.1.31:51022 -> 10.20.0.11:20880 - com.acme.shop.OrderService placeOrder(com.acme.shop.Order) [{"orderId":"A-1009"}]
//
// It goes to a file of its own, or to the logger dubbo.accesslog.<interface>,
// whose records are late by up to five seconds: the times in brackets count.
func dubboAccessFormat() Format {
	return Format{
		Name:     "dubbo-access-log",
		Doc:      "Access log of a Dubbo provider in a file of its own: each executed attempt, with its arguments",
		Versions: "Dubbo 2.5 to 3.3, Dubbo for Go 1.0 to 3.3; written from its description",
		Signs:    []string{"[2026-03-14 10:03:20] 10.20.1.31:51022 -> 10.20.0.11:20880 - com.acme.shop.OrderService placeOrder(…) […]"},
		Sniff: func(_ string, head []byte) Match {
			if !bytes.Contains(head, dubboArrow) {
				return No
			}
			if bytes.Contains(head, dubboEnd) && !bytes.HasPrefix(bytes.TrimLeft(head, " "), dubboTag) {
				return No // an application's log
			}
			var c dubboCall
			lines, mine := sampleLines(head, len(head) < sniffSize), 0
			for _, line := range lines {
				if c.parse(line) {
					mine++
				}
			}
			if mine > 0 && mine*2 >= len(lines) {
				return Likely
			}
			return No
		},
		Parse: func(in *Input, emit Emit) error {
			r := &dubboAccess{in: in, emit: in.counted("dubbo-access-log", emit)}
			r.came.work, r.left.work = newClockwork(in), newClockwork(in)
			return in.text(in, emit, r.line)
		},
		lines: true,
	}
}

var dubboArrow = []byte(" -> ")

// dubboCall is a line of the access log, taken apart.
type dubboCall struct {
	came, left     []byte // left is empty in versions that do not print it
	client, server []byte
	service        []byte // interface without group and version
	method, args   []byte
}

// parse takes a line apart. It reports whether it is one of an access log.
func (c *dubboCall) parse(b []byte) bool {
	*c = dubboCall{}
	b = bytes.TrimPrefix(bytes.TrimLeft(b, " "), []byte("[DUBBO] "))
	if c.came, b = bracketed(b); len(c.came) < 10 || c.came[0] < '0' || c.came[0] > '9' {
		return false
	}
	if bytes.HasPrefix(b, []byte(" -> [")) {
		c.left, b = bracketed(b[len(dubboArrow):])
	}
	if len(b) == 0 || b[0] != ' ' {
		return false
	}
	var key, types []byte
	if c.client, b = cutAt(b[1:], " -> "); b == nil || len(c.client) > 80 {
		return false
	}
	if c.server, b = cutAt(b, " - "); b == nil || len(c.server) > 80 || bytes.IndexByte(c.server, ':') < 0 {
		return false
	}
	if key, b = cutAt(b, " "); b == nil || !dubboName(key) {
		return false
	}
	if c.method, b = cutAt(b, "("); b == nil || !dubboName(c.method) {
		return false
	}
	if types, b = cutAt(b, ")"); b == nil || bytes.IndexByte(types, ' ') >= 0 && bytes.IndexByte(types, ',') < 0 {
		return false
	}
	c.service = interfaceOf(key)
	if c.args = bytes.TrimSpace(b); len(c.args) > 0 && bytes.HasPrefix(c.method, []byte("$invoke")) {
		// A generic call: its first argument is the method that is meant.
		if name, _ := cutAt(c.args[1:], ","); len(name) > 2 && name[0] == '"' {
			c.method = bytes.Trim(name, `"`)
		}
	}
	return true
}

// bracketed returns what stands in the brackets that b begins with, and what follows.
func bracketed(b []byte) (inside, rest []byte) {
	if len(b) == 0 || b[0] != '[' {
		return nil, b
	}
	i := bytes.IndexByte(b[:min(len(b), 48)], ']')
	if i < 0 {
		return nil, b
	}
	return b[1:i], b[i+1:]
}

// cutAt returns what stands before and after a text; rest is nil if it is missing.
func cutAt(b []byte, sep string) (before, rest []byte) {
	i := bytes.Index(b, []byte(sep))
	if i < 0 {
		return b, nil
	}
	return b[:i], b[i+len(sep):]
}

// fill sets the payload of a call.
func (c *dubboCall) fill(a *evidence.Access, names *interner) {
	*a = evidence.Access{
		Side: evidence.Provider, Software: "dubbo", Started: true,
		Client: c.client, Service: names.of(c.service), Method: names.of(c.method),
		Status: evidence.None, Duration: evidence.None, Queued: evidence.None, Attempts: evidence.None,
		Key: c.args,
	}
}

// dubboAccess reads a file of the access log.
type dubboAccess struct {
	in         *Input
	emit       Emit
	came, left accessClock
	call       dubboCall
	rec        evidence.Record
	access     evidence.Access
	names      interner
}

func (r *dubboAccess) line(line []byte) (bool, error) {
	call := line
	if !bytes.HasPrefix(line, []byte("[2")) { // as the logger writes it
		if i := bytes.LastIndex(line, dubboEnd); i >= 0 {
			call = line[:i]
		}
	}
	if !r.call.parse(call) {
		if bytes.Contains(line, dubboArrow) {
			r.in.Skip(r.in.Lines.Number(), "access-log line is cut")
		}
		return false, nil
	}
	at, zoned := r.came.read(r.call.came)
	if at.IsZero() {
		return false, nil
	}
	r.call.fill(&r.access, &r.names)
	r.access.Duration = dubboTook(at, &r.left, r.call.left)
	r.rec = evidence.Record{Time: at, Zoned: zoned, Place: r.in.place(), Cite: r.in.cite(r.in.Lines.Number()), Raw: line, Access: &r.access}
	if _, source := r.in.Lines.Origin(); source != "" {
		r.rec.Place.Instance, r.rec.Place.Service = r.in.ownerOf(source)
	}
	if r.rec.Place.Instance == "" {
		r.rec.Place.Instance = hostOf(r.names.of(r.call.server))
	}
	return true, r.emit(&r.rec)
}

// dubboTook returns how long a call took that came at a time; None if it is not
// printed when it was answered.
func dubboTook(came time.Time, clock *accessClock, left []byte) time.Duration {
	if len(left) == 0 {
		return evidence.None
	}
	end, _ := clock.read(left)
	if end.IsZero() || end.Before(came) {
		return evidence.None
	}
	return end.Sub(came)
}

// dubboAccessMessages finds the access log in an application's own log.
func dubboAccessMessages() detector {
	return messages("dubbo-access", "Access log of a Dubbo provider that goes to the application's log", []rule{
		{sign: "[DUBBO] [20", find: func(o *logOut, text []byte, at int) (bool, error) {
			line := rest(text, at)
			if i := bytes.LastIndex(line, dubboEnd); i >= 0 {
				line = line[:i]
			}
			var c dubboCall
			if !c.parse(line) {
				return false, nil
			}
			clock := accessClock{work: newClockwork(o.in)}
			came, zoned := clock.read(c.came)
			if came.IsZero() {
				return false, nil
			}
			ev := o.at(at)
			ev.Time, ev.Zoned = came, zoned
			if ev.Place.Instance == "" {
				ev.Place.Instance = hostOf(o.str(c.server))
			}
			ev.Access = &evidence.Access{}
			c.fill(ev.Access, o.names)
			ev.Access.Duration = dubboTook(came, &clock, c.left)
			return true, o.send(ev)
		}},
	})
}
