package ledger

import (
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

var epoch = time.Date(2026, 3, 14, 10, 0, 0, 0, time.UTC)

// maker builds traces span by span.
type maker struct {
	records []*evidence.Record
	trace   uint64
	id      uint64
}

// root begins a new trace.
func (m *maker) root() { m.trace++ }

type opt func(*evidence.Record, *evidence.Span)

func (m *maker) add(parent uint64, kind evidence.SpanKind, service string, at, dur time.Duration, opts ...opt) uint64 {
	m.id++
	s := &evidence.Span{Kind: kind, Duration: dur, Outcome: evidence.OK, Retries: evidence.None, Rows: evidence.None}
	binary.BigEndian.PutUint64(s.TraceID[8:], mix(m.trace))
	binary.BigEndian.PutUint64(s.ID[:], m.id)
	binary.BigEndian.PutUint64(s.Parent[:], parent)
	r := &evidence.Record{
		Time: epoch.Add(at), Place: evidence.Place{Service: service, Instance: service + "-1"}, Span: s,
		Cite: evidence.Citation{Source: "traces/otlp.jsonl", Line: len(m.records) + 1},
	}
	for _, o := range opts {
		o(r, s)
	}
	m.records = append(m.records, r)
	return m.id
}

func (m *maker) client(parent uint64, service string, at, dur time.Duration, opts ...opt) uint64 {
	return m.add(parent, evidence.KindClient, service, at, dur, opts...)
}

func (m *maker) server(parent uint64, service string, at, dur time.Duration, opts ...opt) uint64 {
	return m.add(parent, evidence.KindServer, service, at, dur, append([]opt{func(_ *evidence.Record, s *evidence.Span) { s.Remote = evidence.Yes }}, opts...)...)
}

func http(method string, ident uint64) opt {
	return func(_ *evidence.Record, s *evidence.Span) { s.Protocol, s.Method, s.Ident = "http", method, ident }
}

func dubbo(service, method string) opt {
	return func(_ *evidence.Record, s *evidence.Span) { s.Protocol, s.Service, s.Method = "dubbo", service, method }
}

func status(code int) opt {
	return func(_ *evidence.Record, s *evidence.Span) {
		s.Status = strconv.Itoa(code)
		switch {
		case code < 300:
			s.Outcome = evidence.OK
		case code < 400:
			s.Outcome = evidence.Redirected
		case code == 401 || code == 407:
			s.Outcome = evidence.Challenged
		default:
			s.Outcome = evidence.Failed
		}
	}
}

func ends(o evidence.Outcome) opt {
	return func(_ *evidence.Record, s *evidence.Span) { s.Outcome = o }
}

func ordinal(n int) opt {
	return func(_ *evidence.Record, s *evidence.Span) { s.Ordinal, s.Numbers = n, true }
}

func on(p string) opt { return func(_ *evidence.Record, s *evidence.Span) { s.Peer = p } }

func at(instance string) opt {
	return func(r *evidence.Record, _ *evidence.Span) { r.Place.Instance = instance }
}

func as(role evidence.SpanRole) opt {
	return func(_ *evidence.Record, s *evidence.Span) { s.Attempt = role }
}

func with(f func(*evidence.Span)) opt { return func(_ *evidence.Record, s *evidence.Span) { f(s) } }

// book joins records in an order of its own.
func book(tb testing.TB, c Config, records []*evidence.Record, seed uint64) *Book {
	tb.Helper()
	l := New(c)
	order := rand.New(rand.NewPCG(seed, 1)).Perm(len(records))
	for _, i := range order {
		r := records[i]
		if r.Access != nil {
			l.AddAccess(r)
		} else {
			l.AddSpan(r)
		}
	}
	return l.Close()
}

// edgeOf finds the one edge between two services; method may be empty.
func edgeOf(tb testing.TB, b *Book, caller, callee, method string) *Edge {
	tb.Helper()
	var found *Edge
	for i := range b.Edges {
		e := &b.Edges[i]
		if e.Caller == caller && e.Callee == callee && (method == "" || e.Method == method) {
			if found != nil {
				tb.Fatalf("two edges %s -> %s: %q and %q", caller, callee, found.Method, e.Method)
			}
			found = e
		}
	}
	if found == nil {
		for _, e := range b.Edges {
			tb.Logf("have %s -> %s %s %s calls %v attempts %v", e.Caller, e.Callee, e.Protocol, e.Method, e.Calls, e.Attempts)
		}
		tb.Fatalf("no edge %s -> %s %s", caller, callee, method)
	}
	return found
}

func wantEdge(tb testing.TB, e *Edge, calls, attempts float64) {
	tb.Helper()
	if e.Calls != calls || e.Attempts != attempts {
		tb.Errorf("%s -> %s %s: calls %v, attempts %v; want %v, %v", e.Caller, e.Callee, e.Method, e.Calls, e.Attempts, calls, attempts)
	}
}

const ms = time.Millisecond
