package live

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/evidence"
)

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// traceID is the ID of the nth trace.
func traceID(n int) (id [16]byte) {
	binary.BigEndian.PutUint64(id[:], 0xf1ebea4)
	binary.BigEndian.PutUint64(id[8:], uint64(n+1))
	return id
}

// call returns the spans of the nth trace: a request at a caller that asks a
// callee so many times, failing each time but the last, each attempt numbered.
func call(n, attempts int, caller, callee string) []*evidence.Record {
	start := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Millisecond)
	id := func(k int) (b [8]byte) { binary.BigEndian.PutUint64(b[:], uint64(n)<<8|uint64(k+1)); return b }
	span := func(k int, service string, at, took time.Duration) *evidence.Record {
		return &evidence.Record{
			Time: start.Add(at), Zoned: evidence.Yes, Place: evidence.Place{Service: service, Instance: service + "-1"}, Cite: evidence.Citation{Source: Source},
			Span: &evidence.Span{TraceID: traceID(n), ID: id(k), Duration: took, Protocol: "http", Method: "GET /stock", Retries: evidence.None, Outcome: evidence.OK},
		}
	}
	root := span(0, caller, 0, time.Second)
	root.Span.Kind, root.Span.Method = evidence.KindServer, "POST /orders"
	list := []*evidence.Record{root}
	for k := range attempts {
		at := time.Duration(k) * 100 * time.Millisecond
		c := span(2*k+1, caller, at+time.Millisecond, 50*time.Millisecond)
		c.Span.Kind, c.Span.Parent, c.Span.Numbers, c.Span.Ordinal = evidence.KindClient, root.Span.ID, true, k+1
		s := span(2*k+2, callee, at+2*time.Millisecond, 40*time.Millisecond)
		s.Span.Kind, s.Span.Parent = evidence.KindServer, c.Span.ID
		if k < attempts-1 {
			c.Span.Outcome, c.Span.Status, s.Span.Outcome, s.Span.Status = evidence.Failed, "503", evidence.Failed, "503"
		}
		list = append(list, c, s)
	}
	return list
}

func send(e *Engine, list ...*evidence.Record) {
	for _, r := range list {
		e.Add(r)
	}
}

func edge(t *testing.T, s *Snapshot, caller, callee string) Edge {
	t.Helper()
	for _, e := range s.Edges {
		if e.Caller == caller && e.Callee == callee {
			return e
		}
	}
	t.Fatalf("no edge %s -> %s among %d", caller, callee, len(s.Edges))
	return Edge{}
}

func TestCountsAreExactWhateverTheBatches(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now})
	const n = 3000
	var calls, attempts float64
	var spans int
	for i := range n {
		k := 1 + i%4
		list := call(i, k, "order", "stock")
		calls++
		attempts += float64(k)
		spans += len(list)
		send(e, list...)
		if i%97 == 0 {
			c.pass(700 * time.Millisecond)
			e.Advance()
		}
	}
	if s := e.Snapshot(); s.Intake.TracesOpen == 0 || s.Finalized[Quiet] == 0 {
		t.Fatalf("nothing was counted on the way: %+v", s.Intake)
	}
	e.Flush()
	s := e.Snapshot()
	x := edge(t, s, "order", "stock")
	m := x.Methods[0]
	if m.Calls != calls || m.Initial+m.Retries != attempts || m.Initial != calls {
		t.Errorf("%v calls, %v + %v attempts; want %v and %v", m.Calls, m.Initial, m.Retries, calls, attempts)
	}
	for k := 1; k <= 4; k++ {
		if x.ByAttempts[k] != n/4 {
			t.Errorf("%v calls of %d attempts, want %d", x.ByAttempts[k], k, n/4)
		}
	}
	if got := x.Fates.AtOnce + x.Fates.AfterRetry; got != n || x.Fates.AtOnce != n/4 {
		t.Errorf("fates %+v", x.Fates)
	}
	if x.Outcomes[evidence.Failed] != int64(attempts-calls) || x.Durations.Count != uint64(attempts) {
		t.Errorf("%d failed, %d timed", x.Outcomes[evidence.Failed], x.Durations.Count)
	}
	if s.Finalized[Quiet]+s.Finalized[Shutdown] != n || s.Intake.SpansHeld != 0 || s.Intake.TracesOpen != 0 || s.Intake.Late != 0 {
		t.Errorf("finalized %v, intake %+v", s.Finalized, s.Intake)
	}
}

// TestBatchesLearnFromEachOther sends retries that only likeness tells: at once,
// to the same callee, without a number. No trace tells by itself.
func TestBatchesLearnFromEachOther(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now})
	const n = 400
	for i := range n {
		k := 1 + i%3
		list := call(i, k, "order", "stock")
		for a := range k {
			client, server := list[1+2*a], list[2+2*a]
			client.Span.Numbers, client.Span.Ordinal = false, 0
			client.Time = list[0].Time.Add(time.Millisecond + time.Duration(a)*51*time.Millisecond)
			server.Time = client.Time.Add(time.Millisecond)
		}
		send(e, list...)
		e.Flush()
	}
	x := edge(t, e.Snapshot(), "order", "stock")
	const retries = n // one of three has one, one of three has two
	if got := x.Methods[0].Retries; got < retries*95/100 || got > retries {
		t.Errorf("%v retries of %d are counted; %d groups are ambiguous", got, retries, x.Ambiguous)
	}
}

func TestTracesWaitForTheirSpans(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now})
	list := call(1, 3, "order", "stock")
	for _, r := range list {
		send(e, r)
		c.pass(9 * time.Second) // less than the lateness, but for the last ones more than the age
		e.Advance()
	}
	c.pass(10 * time.Second)
	e.Advance()
	s := e.Snapshot()
	if n := s.Finalized[Aged]; n != 1 {
		t.Errorf("finalized %v, want one aged", s.Finalized)
	}

	late := call(2, 2, "order", "stock")
	send(e, late[:3]...)
	c.pass(10 * time.Second)
	e.Advance()
	send(e, late[3:]...)
	e.Flush()
	if s = e.Snapshot(); s.Intake.Late != 2 {
		t.Errorf("%d spans were late, want 2", s.Intake.Late)
	}
}

func TestFullRefusesAndMakesRoom(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now, MaxSpans: 300})
	accepted, refused := int64(0), int64(0)
	for i := range 200 {
		list := call(i, 1, "order", "stock")
		if !e.Admit("grpc", len(list)) {
			refused += int64(len(list))
			continue
		}
		send(e, list...)
		e.Done(len(list))
		accepted += int64(len(list))
	}
	s := e.Snapshot()
	if accepted != 300 || s.Intake.Received["grpc"] != accepted || s.Intake.Refused["grpc"] != refused || s.Intake.SpansHeld != 300 {
		t.Errorf("accepted %d, refused %d, intake %+v", accepted, refused, s.Intake)
	}
	c.pass(time.Second) // long enough where there is no room
	e.Advance()
	if s = e.Snapshot(); s.Finalized[Evicted] != 100 || s.Intake.SpansHeld != 0 {
		t.Errorf("finalized %v, %d held", s.Finalized, s.Intake.SpansHeld)
	}
	if !e.Admit("grpc", 300) {
		t.Error("there is room again and it refuses")
	}
}

func TestNamesWithoutEndAreFolded(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now, MaxEdges: 50, MaxMethods: 3})
	const n = 20_000
	for i := range n {
		list := call(i, 2, fmt.Sprintf("service-%d", i), "stock")
		list[1].Span.Method = fmt.Sprintf("GET /item-%d", i%10)
		list[3].Span.Method = list[1].Span.Method
		send(e, list...)
		if i%1000 == 999 {
			c.pass(20 * time.Second)
			e.Advance()
		}
	}
	e.Flush()
	s := e.Snapshot()
	var calls, attempts float64
	for _, x := range s.Edges {
		if x.Callee != "stock" && x.Callee != Other {
			continue
		}
		for _, m := range x.Methods {
			if x.Callee == "stock" && x.Caller == "" {
				t.Errorf("a call without its caller: %+v", m)
			}
			calls += m.Calls
			attempts += m.Initial + m.Retries
		}
	}
	if len(s.Edges) > 51 {
		t.Errorf("%d edges", len(s.Edges))
	}
	// The requests at the callers are in the other series, too: one a trace.
	folded := edge(t, s, Other, Other)
	if folded.Protocol != Other || len(folded.Methods) != 1 {
		t.Errorf("%s, %d methods", folded.Protocol, len(folded.Methods))
	}
	var roots float64
	for _, x := range s.Edges {
		if x.Callee == Other || x.Callee == "stock" {
			continue
		}
		for _, m := range x.Methods {
			roots += m.Calls
		}
	}
	if calls+roots != 2*n || attempts+roots != 3*n || s.Folded["edges"] == 0 {
		t.Errorf("%v calls and %v attempts besides %v roots, want %d and %d in all; folded %v", calls, attempts, roots, 2*n, 3*n, s.Folded)
	}
}

func TestMethodsAreFolded(t *testing.T) {
	s := newSums(10, 2)
	b := &ledger.Book{}
	for i := range 5 {
		b.Edges = append(b.Edges, ledger.Edge{Caller: "order", Callee: "stock", Protocol: "http", Method: fmt.Sprintf("GET /%d", i), Basis: ledger.FromSpans, Calls: 1, Attempts: 2, Retries: 1})
	}
	s.add(b, time.Now())
	x := s.snapshot().Edges[0]
	if len(x.Methods) != 3 || x.Methods[2].Name != Other || x.Methods[2].Calls != 3 || s.Folded["methods"] != 3 {
		t.Errorf("%+v, folded %v", x.Methods, s.Folded)
	}
}

func TestForgottenEdgesVanish(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now})
	send(e, call(1, 1, "order", "stock")...)
	e.Flush()
	if n := len(e.Snapshot().Edges); n != 2 {
		t.Fatalf("%d edges", n)
	}
	c.pass(time.Hour + time.Second)
	e.Advance()
	if n := len(e.Snapshot().Edges); n != 0 {
		t.Errorf("%d edges are left", n)
	}
}

func TestReportsFollowEachOther(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now, Version: "test"})
	if e.Latest() != nil {
		t.Fatal("a report before there is one")
	}
	for i := range 20 {
		send(e, call(i, 3, "order", "stock")...)
	}
	if !e.Publish() {
		t.Fatal("no report")
	}
	first := e.Latest()
	if len(first.Report.Edges) == 0 || first.Records != 140 {
		t.Errorf("%d edges of %d records", len(first.Report.Edges), first.Records)
	}
	if e.Publish() {
		t.Error("a second report of nothing new")
	}
	got := make(chan *Published)
	go func() {
		p, err := e.Wait(context.Background(), first.Revision)
		if err != nil {
			t.Error(err)
		}
		got <- p
	}()
	send(e, call(100, 3, "order", "stock")...)
	if !e.Publish() {
		t.Fatal("no second report")
	}
	if p := <-got; p.Revision != first.Revision+1 || p != e.Latest() {
		t.Errorf("waited for %d, last is %d", p.Revision, first.Revision)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.Wait(ctx, e.Latest().Revision); err == nil {
		t.Error("a wait that was called off has a result")
	}
	c.pass(6 * time.Minute)
	e.Advance()
	if s := e.Snapshot(); s.Intake.RecentKept != 0 {
		t.Errorf("%d records are kept after their time", s.Intake.RecentKept)
	}
}

func TestRecentKeepsWholeTraces(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now, MaxRecent: 500})
	for i := range 1000 {
		send(e, call(i, 2, "order", "stock")...)
	}
	spans := map[[16]byte]int{}
	for _, x := range e.recent.list {
		spans[x.rec.Span.TraceID]++
	}
	for id, n := range spans {
		if n != 5 {
			t.Errorf("trace %x has %d of 5 spans", id, n)
		}
	}
	if n := len(e.recent.list); n > 500 || n < 100 {
		t.Errorf("%d records are kept", n)
	}
	if share := e.recent.kept(); share != 1.0/16 {
		t.Errorf("share %v", share)
	}
	e.Publish()
	problems := e.Latest().Report.Sources
	found := false
	for _, s := range problems {
		found = found || s.Path == Source && len(s.Problems) == 1
	}
	if !found {
		t.Errorf("sources do not say that a share was kept: %+v", problems)
	}
	for range 5 {
		c.pass(6 * time.Minute)
		e.Advance()
	}
	if share := e.recent.kept(); share != 1 {
		t.Errorf("share %v after all is gone", share)
	}
}

func TestManyAtOnce(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now})
	var senders, ticker sync.WaitGroup
	ticker.Go(func() {
		for range 20 {
			c.pass(time.Second)
			e.Advance()
			e.Publish()
			e.Snapshot()
		}
	})
	for g := range 4 {
		senders.Go(func() {
			for i := range 200 {
				list := call(g*1000+i, 2, "order", "stock")
				e.Admit("http", len(list))
				send(e, list...)
				e.Done(len(list))
			}
		})
	}
	senders.Wait()
	ticker.Wait()
	e.Flush()
	s := e.Snapshot()
	// The clock runs wild, so that traces are cut; nothing is lost for all that.
	var attempts float64
	for _, m := range edge(t, s, "order", "stock").Methods {
		attempts += m.Initial + m.Retries
	}
	if s.Intake.Received["http"] != 4000 || s.Intake.SpansHeld != 0 || attempts == 0 {
		t.Errorf("%+v, %v attempts", s.Intake, attempts)
	}
}

// BenchmarkCounted measures what a span costs from record to counters.
func BenchmarkCounted(b *testing.B) {
	c := newClock()
	e := New(Config{Now: c.now, MaxRecent: 10_000})
	var list []*evidence.Record
	for i := range 10_000 {
		list = append(list, call(i, 2, "order", "stock")...)
	}
	b.ReportAllocs()
	for b.Loop() {
		send(e, list...)
		e.Flush()
		e.closed = tombstones{}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(list)), "ns/span")
}
