package live

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// refused is a line of a log: the pool of workers is full.
func refused(path string, line int, at time.Time) *evidence.Record {
	none := evidence.None
	return &evidence.Record{
		Time: at, Zoned: evidence.Yes, Place: evidence.Place{Service: "order"}, Cite: evidence.Citation{Source: path, Line: line},
		Pool: &evidence.PoolSnapshot{
			Name: "DubboServerHandler", Kind: evidence.ThreadPool, Impl: "dubbo", Max: 200, Active: 200, Idle: none, Waiting: none, Size: 200,
			Queued: none, Largest: 200, Tasks: int64(1000 + line), Completed: int64(800 + line), Rejected: true, Waited: evidence.None,
		},
	}
}

func sourceOf(t *testing.T, r *incident.Report, path string) incident.Source {
	t.Helper()
	for _, s := range r.Sources {
		if s.Path == path {
			return s
		}
	}
	t.Fatalf("%s is not among the sources %+v", path, r.Sources)
	return incident.Source{}
}

func TestReportsListEachSource(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now})
	const log = "/var/log/shop/order.log"
	problems := []string{"line 7: a number that is none"}
	e.Source(SourceNews{Path: log, Format: "app-log", Records: 1, Skipped: 2, Lines: 10, Bytes: 900, Problems: problems})
	e.Source(SourceNews{Path: "/var/log/shop/quiet.log", Format: "text"})
	problems[0] = "overwritten"
	for i := range 3 {
		e.Add(refused(log, i+1, c.now()))
	}
	send(e, call(1, 2, "order", "stock")...)
	e.Publish()
	r := e.Latest().Report
	if s := sourceOf(t, r, log); s.Format != "app-log" || s.Records != 3 || s.Skipped != 2 || s.Bytes != 900 || s.Problems[0] != "line 7: a number that is none" {
		t.Errorf("%+v", s)
	}
	if s := sourceOf(t, r, Source); s.Records != 5 || s.Format != "otlp-proto" {
		t.Errorf("%+v", s)
	}
	if s := sourceOf(t, r, "/var/log/shop/quiet.log"); s.Records != 0 {
		t.Errorf("%+v", s)
	}

	// A source that has gone is listed as long as its records are recent.
	e.Source(SourceNews{Path: log, Format: "app-log", Gone: true})
	e.Add(refused(log, 4, c.now()))
	e.Publish()
	sourceOf(t, e.Latest().Report, log)
	c.pass(6 * time.Minute)
	e.Advance()
	if n := len(e.Sources()); n != 1 {
		t.Errorf("%d sources are known, want 1", n)
	}
	if !e.Publish() || e.Latest().Records != 0 || e.Publish() {
		t.Error("when nothing is recent any more one report says so")
	}
}

func TestSourcesAreBounded(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now})
	for i := range maxSources {
		e.Source(SourceNews{Path: fmt.Sprint("pod-", i), Gone: i == 5})
	}
	e.Source(SourceNews{Path: "one"})
	e.Source(SourceNews{Path: "two"})
	if s := e.Snapshot(); len(e.Sources()) != maxSources || s.Intake.SourcesFolded != 1 {
		t.Errorf("%d sources, %d folded", len(e.Sources()), s.Intake.SourcesFolded)
	}
}

func TestDumpsAreForgottenAsAWhole(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now, Recent: time.Minute})
	dump := func(closing bool) *evidence.Record {
		return &evidence.Record{Cite: evidence.Citation{Source: "a.jstack"}, Dump: &evidence.Dump{ID: "1", Closing: closing}}
	}
	e.Add(dump(false))
	for range 5 {
		c.pass(5 * time.Second)
		e.Add(&evidence.Record{Cite: evidence.Citation{Source: "a.jstack"}, Stack: &evidence.Stack{Dump: "1", Count: 1}})
	}
	e.Add(dump(true))
	c.pass(30 * time.Second)
	e.Advance()
	if n := len(e.recent.list); n != 7 {
		t.Errorf("%d of 7 records are kept", n)
	}
	c.pass(10 * time.Second)
	e.Advance()
	if n := len(e.recent.list); n != 0 {
		t.Errorf("%d records of a dump that has begun to be forgotten are kept", n)
	}
}

func TestRawKeepsTheLatestWholeLines(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now, MaxRawBytes: 300 << 10})
	line := strings.Repeat("x", 99) + "\n"
	var flood []byte
	for i := range 10_000 {
		flood = append(flood, fmt.Sprintf("%06d%s", i, line[6:])...)
	}
	e.Raw("small.log", c.now(), []byte("one\ntwo\nthr"))
	e.Raw("small.log", c.now(), []byte("ee\n"))
	for chunk := range slices.Chunk(flood, 10_001) {
		e.Raw("flood.log", c.now(), chunk)
	}
	got := e.RawFiles(time.Time{})
	if len(got) != 2 || string(got[1].Data) != "one\ntwo\nthree\n" || got[1].Cut || got[1].Handed != 3 {
		t.Fatalf("small: %+v", got[1])
	}
	f := got[0]
	if !f.Cut || len(f.Data) < 200<<10 || len(f.Data) > 300<<10 || !bytes.HasSuffix(flood, f.Data) || f.Handed != 10_000 {
		t.Errorf("flood: %d bytes, %d lines", len(f.Data), f.Handed)
	}
	if want := fmt.Sprintf("%06d", f.Before); !bytes.HasPrefix(f.Data, []byte(want)) {
		t.Errorf("begins with %s, want line %s", f.Data[:6], want)
	}
	c.pass(time.Hour)
	e.Raw("small.log", c.now(), []byte("four\n"))
	if got := e.RawFiles(c.now()); len(got) != 1 || got[0].Path != "small.log" {
		t.Errorf("since now: %+v", got)
	}
	c.pass(3 * time.Hour)
	e.Advance()
	if len(e.RawFiles(time.Time{})) != 0 || e.raw.bytes != 0 || len(e.raw.files) != 0 {
		t.Errorf("%d bytes of %d files are kept for ever", e.raw.bytes, len(e.raw.files))
	}
	off := New(Config{MaxRawBytes: -1})
	off.Raw("a", time.Now(), []byte("b\n"))
	if len(off.RawFiles(time.Time{})) != 0 {
		t.Error("bytes are kept where none should be")
	}
}

// TestSpansTakeTheirRoomOnce asks for all the room there is, in requests of
// which one is still at hand when the next one comes.
func TestSpansTakeTheirRoomOnce(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now, MaxSpans: 300})
	batch := func(first int) (list []*evidence.Record) {
		for i := range 50 {
			list = append(list, call(first+i, 1, "order", "stock")[:2]...)
		}
		return list
	}
	if !e.Admit("grpc", 100) {
		t.Fatal("no room at first")
	}
	send(e, batch(0)...)
	if !e.Admit("grpc", 200) {
		t.Fatal("spans in flight count twice")
	}
	if e.Admit("grpc", 1) {
		t.Error("more than fits was let in")
	}
	send(e, batch(100)...)
	e.Done(100)
	e.Done(100)
	if n := e.Snapshot().Intake.SpansHeld; n != 300 {
		t.Errorf("%d held with 200 added and 100 expected", n)
	}
	e.Done(100) // of which none came
	if n := e.Snapshot().Intake.SpansHeld; n != 200 {
		t.Errorf("%d held, want 200", n)
	}
}

// TestRestartsDoNotDamageCounters has two instances of the callee, of which one
// restarts in the middle: another instance name, the same service. Its callers
// restart, too, so their IDs begin again with other random bits.
func TestRestartsDoNotDamageCounters(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now})
	const n = 600
	for i := range n {
		list := call(i, 1+i%2, "order", "stock")
		for _, r := range list {
			if r.Place.Service != "stock" {
				continue
			}
			r.Place.Instance = fmt.Sprint("stock-", i%2)
			if i >= n/2 && i%2 == 1 {
				r.Place.Instance = "stock-1-after"
			}
		}
		if i == n/2 { // killed: what it had under way never comes
			list = list[:2]
		}
		send(e, list...)
		if i%50 == 0 {
			c.pass(11 * time.Second)
			e.Advance()
		}
	}
	e.Flush()
	s := e.Snapshot()
	if len(s.Edges) != 2 {
		t.Errorf("%d edges, want those into order and into stock", len(s.Edges))
	}
	m := edge(t, s, "order", "stock").Methods[0]
	if m.Calls != n || m.Initial != n || m.Retries != n/2 {
		t.Errorf("%v calls, %v first attempts, %v retries; want %d, %d, %d", m.Calls, m.Initial, m.Retries, n, n, n/2)
	}
	if s.Intake.Late != 0 || len(s.Losses) > 0 {
		t.Errorf("late %d, losses %v", s.Intake.Late, s.Losses)
	}
}
