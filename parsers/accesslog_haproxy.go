package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// haproxy recognises HAProxy's httplog and tcplog, perhaps behind syslog:
//
//	10.20.0.9:43970 [14/Mar/2026:09:12:42.705] fe pay/c 0/404/0/1/405 200 147 - - ---- 1/1/0/0/+2 0/0 {req-77a1} "GET /pay?o=1 HTTP/1.1"
//	10.20.0.9:38864 [14/Mar/2026:09:12:07.834] fe pay/c 1/-1/604 0 SC 1/1/0/0/2 0/0
//
// The date has no zone and is when the request began.
func (s *accessShape) haproxy() bool {
	columns := s.layout.columns
	clock := s.nextColumn(0, isClock)
	if clock < 0 || len(columns) < clock+7 {
		return false
	}
	timers := s.nextColumn(clock+1, func(v []byte) bool { n := slashed(v); return n == 5 || n == 3 || n == 4 })
	if timers < clock+2 {
		return false
	}
	counters := s.nextColumn(timers+1, func(v []byte) bool { return slashed(v) == 5 })
	if counters < 0 || counters+1 >= len(columns) || !s.every(counters+1, func(v []byte) bool { return slashed(v) == 2 }) {
		return false
	}
	p := &s.layout.plan
	p.software, p.started, p.proxy = "haproxy", true, true
	p.set(roleTime, clock, 0)
	p.set(roleServer, timers-1, 0)
	p.set(roleTimers, timers, 0)
	p.set(roleFlags, counters-1, 0)
	p.set(roleCounters, counters, 0)
	p.set(roleQueues, counters+1, 0)
	if clock > 0 {
		p.set(roleClient, clock-1, 0)
	}
	if s.every(timers, func(v []byte) bool { return slashed(v) == 5 }) {
		p.set(roleStatus, timers+1, 0)
	}
	for c := counters + 2; c < len(columns); c++ {
		switch {
		case columns[c].end == '}':
			p.set(roleCapture, c, 0)
		case columns[c].end == '"':
			p.set(roleRequest, c, 0)
		}
	}
	return true
}

// slashed returns how many numbers v has between slashes; 0 if it holds
// anything else.
func slashed(v []byte) int {
	n, digits := 1, 0
	for i, c := range v {
		switch {
		case c-'0' <= 9:
			digits++
		case c == '/' && digits > 0:
			n++
			digits = 0
		case (c == '-' || c == '+') && (i == 0 || v[i-1] == '/'):
		default:
			return 0
		}
	}
	if digits == 0 {
		return 0
	}
	return n
}

// slashNumbers reads numbers between slashes. plus reports a sign before the last.
func slashNumbers(v []byte, out *[5]int) (n int, plus bool) {
	for n < len(out) && len(v) > 0 {
		var part []byte
		i := bytes.IndexByte(v, '/')
		if i < 0 {
			part, v = v, nil
		} else {
			part, v = v[:i], v[i+1:]
		}
		plus = len(part) > 0 && part[0] == '+'
		part = bytes.TrimPrefix(part, []byte("+"))
		out[n] = evidence.None
		if d := accessNumber(part, 1); d >= 0 {
			out[n] = int(d)
		}
		n++
	}
	return n, plus
}

// haproxyRequest fills in what HAProxy's numbers say. The retries of a request
// share its line, and the time they took is part of its time in the queue: that
// is a wait only if there were no retries or others stood before it.
func (r *accessParser) haproxyRequest(a *evidence.Access, server, timers, counters, queues, capture []byte) {
	a.Side = evidence.Consumer
	if a.Flags == "" {
		a.Flags = "-"
	}
	a.Backend, server = r.nameBefore(server)
	var t, c, q [5]int
	n, _ := slashNumbers(timers, &t)
	switch {
	case n < 3:
		t = [5]int{evidence.None, evidence.None, evidence.None, evidence.None, evidence.None}
	case n < 5: // Tw/Tc/Tt or, in sessions with TLS, Th/Tw/Tc/Tt
		t[4], t[2], t[1] = t[n-1], t[n-2], t[n-3]
		t[0], t[3] = 0, evidence.None
	}
	_, plus := slashNumbers(counters, &c)
	slashNumbers(queues, &q)
	ms := func(n int) time.Duration {
		if n < 0 {
			return evidence.None
		}
		return time.Duration(n) * time.Millisecond
	}
	a.Duration = ms(t[4])
	retries := max(c[4], 0)
	if retries == 0 || q[0] > 0 || q[1] > 0 {
		a.Queued = ms(t[1])
	}
	a.Hidden = plus
	a.Attempts = retries + 1
	r.tries = r.tries[:0]
	if len(server) == 0 || server[0] == '<' {
		a.Attempts = 0
	} else {
		u := evidence.Upstream{Addr: r.names.of(server), Status: a.Status, Connect: ms(t[2]), Header: ms(t[3]), Duration: evidence.None}
		if t[1] >= 0 && t[4] >= 0 && (retries == 0 || t[2] >= 0) {
			u.Duration = max(0, ms(t[4]-max(t[0], 0)-t[1]))
		}
		if a.Flags[0] != '-' {
			u.Status = evidence.None
		}
		r.tries = append(r.tries, u)
		a.Upstreams = r.tries
	}
	a.Outcome = haproxyOutcome(a.Flags, a.Outcome, a.Attempts)
	if a.Flags[0] == '-' { // nothing was wrong
		a.Flags = ""
	}
	if a.RequestID == nil {
		a.RequestID = capturedID(capture)
	}
}

// nameBefore splits "backend/server".
func (r *accessParser) nameBefore(v []byte) (backend string, server []byte) {
	i := bytes.IndexByte(v, '/')
	if i < 0 {
		return r.names.of(v), nil
	}
	return r.names.of(v[:i]), v[i+1:]
}

// haproxyOutcome reads a termination state: who ended the session, and in which
// phase it was.
func haproxyOutcome(state string, byStatus evidence.Outcome, attempts int) evidence.Outcome {
	if len(state) < 2 || state[0] == '-' { // by itself
		if byStatus == evidence.OutcomeUnknown {
			return evidence.OK // a TCP session that ended well
		}
		return byStatus
	}
	switch state[0] {
	case 'C', 'c':
		return evidence.Cancelled
	case 'P', 'R':
		return evidence.Rejected
	case 'S', 's':
		switch {
		case state[1] == 'Q':
			return evidence.Rejected
		case state[1] == 'C' && attempts == 0:
			return evidence.NoProvider
		case state[1] == 'C':
			return evidence.Unreachable
		case state[0] == 's':
			return evidence.Timeout
		}
		return evidence.Failed
	}
	return byStatus
}

// capturedID returns the trace or request ID among captured headers.
func capturedID(v []byte) []byte {
	var id []byte
	for len(v) > 0 {
		part, rest, _ := bytes.Cut(v, []byte{'|'})
		v = rest
		switch {
		case len(part) == 55 && part[2] == '-' && part[35] == '-':
			if id == nil {
				id = part[3:35]
			}
		case allHex(part, 32), len(part) == 36 && part[8] == '-' && part[23] == '-':
			return part
		}
	}
	return id
}
