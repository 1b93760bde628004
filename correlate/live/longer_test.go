package live

import (
	"cmp"
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// arrival is a span and when it is sent: when it ends.
type arrival struct {
	at  time.Duration // since the test began
	rec *evidence.Record
}

// checkout is the nth request: order asks product up to three times, one second
// each, and each time product runs a statement that takes so long.
func checkout(n int, at, statement time.Duration) []arrival {
	base := newClock().now()
	id := func(k int) (b [8]byte) { binary.BigEndian.PutUint64(b[:], uint64(n)<<8|uint64(k)); return b }
	var list []arrival
	span := func(k, parent int, service string, kind evidence.SpanKind, begin, took time.Duration) *evidence.Span {
		s := &evidence.Span{
			TraceID: traceID(n), ID: id(k), Kind: kind, Duration: took, Protocol: "dubbo", Service: "com.acme.SkuService", Method: "getSkuStock",
			Retries: evidence.None, Outcome: evidence.OK,
		}
		if parent != 0 {
			s.Parent = id(parent)
		}
		list = append(list, arrival{begin + took, &evidence.Record{
			Time: base.Add(begin), Zoned: evidence.Yes, Place: evidence.Place{Service: service, Instance: service + "-1"}, Cite: evidence.Citation{Source: Source}, Span: s,
		}})
		return s
	}
	timeout, tries := time.Second, 1
	if statement > timeout {
		tries = 3
	}
	waited := min(statement, timeout)
	root := span(1, 0, "order", evidence.KindServer, at, time.Duration(tries)*waited)
	root.Protocol, root.Service, root.Method = "http", "", "POST /orders"
	for k := range tries {
		begin := at + time.Duration(k)*waited
		client := span(10*k+2, 1, "order", evidence.KindClient, begin, waited)
		if statement > timeout {
			client.Outcome, root.Outcome = evidence.Timeout, evidence.Failed
		}
		client.Peer = "10.20.1.21:20880"
		span(10*k+3, 10*k+2, "product", evidence.KindServer, begin, statement)
		quick := span(10*k+4, 10*k+3, "product", evidence.KindClient, begin, 2*time.Millisecond)
		slow := span(10*k+5, 10*k+3, "product", evidence.KindClient, begin+2*time.Millisecond, statement-2*time.Millisecond)
		for _, q := range []*evidence.Span{quick, slow} {
			q.Protocol, q.Service, q.Method, q.DBSystem, q.DBName, q.Table = "db", "", "SELECT", "mysql", "shop", "sku"
		}
	}
	return list
}

// play sends spans when they end, and counts each second.
func play(e *Engine, c *clock, until time.Duration, list []arrival) {
	slices.SortStableFunc(list, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	for at := time.Duration(0); at < until; at += time.Second {
		for len(list) > 0 && list[0].at <= at {
			e.Add(list[0].rec)
			list = list[1:]
		}
		e.Advance()
		c.pass(time.Second)
	}
}

// TestWorkForNobodyIsWaitedFor plays the incident that firebreak is for: the
// providers' spans come long after the trace went quiet.
func TestWorkForNobodyIsWaitedFor(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now})
	var list []arrival
	for n := range 100 { // as it was before
		list = append(list, checkout(n, time.Duration(n)*50*time.Millisecond, 20*time.Millisecond)...)
	}
	const slow, took = 50, 29 * time.Second
	for n := range slow {
		list = append(list, checkout(100+n, 20*time.Second+time.Duration(n)*100*time.Millisecond, took)...)
	}
	play(e, c, 2*time.Minute, list)
	s := e.Snapshot()
	if s.Intake.Late != 0 || s.Finalized[Aged] != 0 {
		t.Errorf("%d late, %d aged; want none", s.Intake.Late, s.Finalized[Aged])
	}
	x := edge(t, s, "order", "product")
	var calls, attempts float64
	for _, m := range x.Methods {
		calls += m.Calls
		attempts += m.Initial + m.Retries
	}
	if calls != 150 || attempts != 250 {
		t.Errorf("%v calls, %v attempts, want 150, 250", calls, attempts)
	}
	if x.Orphans != 3*slow || x.Orphaned != 3*slow*(took-time.Second) {
		t.Errorf("%d orphans worked for nobody for %v, want %d for %v", x.Orphans, x.Orphaned, 3*slow, 3*slow*(took-time.Second))
	}
	db := edge(t, s, "product", "mysql/shop")
	if want := 2 * (100 + 3*slow); int(db.Methods[0].Calls) != want {
		t.Errorf("%v statements, want %d", db.Methods[0].Calls, want)
	}
	for _, x := range s.Edges {
		if x.Callee == "com.acme.SkuService" {
			t.Errorf("the same calls stand as %s -> %s, too", x.Caller, x.Callee)
		}
	}
}

// TestNobodyIsWaitedForInVain sends calls that are given up on, to a callee that
// sends no spans, and requests of a caller that sends none: they are counted when
// they are quiet.
func TestNobodyIsWaitedForInVain(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now})
	var list []arrival
	for n := range 20 {
		for _, x := range checkout(n, time.Duration(n)*100*time.Millisecond, 29*time.Second) {
			if x.rec.Place.Service == "order" {
				if x.rec.Span.Kind == evidence.KindServer {
					x.rec.Span.Parent = [8]byte{9}
				}
				list = append(list, x)
			}
		}
	}
	play(e, c, 17*time.Second, list)
	if s := e.Snapshot(); s.Finalized[Quiet] != 20 {
		t.Errorf("%d of 20 were counted after 17 s", s.Finalized[Quiet])
	}
}

// TestRoomComesBeforePatience fills most of the room with traces of which more is
// expected: they are counted, or others would be refused.
func TestRoomComesBeforePatience(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now, MaxSpans: 100})
	var list []arrival
	for n := range 8 {
		list = append(list, checkout(n, 0, 40*time.Second)...)
	}
	play(e, c, 15*time.Second, list)
	before := e.Snapshot()
	for n := range 6 {
		send(e, call(1000+n, 1, "web", "cart")...)
	}
	c.pass(2 * time.Second)
	e.Advance()
	after := e.Snapshot()
	if before.Intake.TracesOpen != 8 || after.Intake.TracesOpen != 6 {
		t.Errorf("%d, then %d are open; want the first 8, then the last 6", before.Intake.TracesOpen, after.Intake.TracesOpen)
	}
}
