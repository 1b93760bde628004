package live

import (
	"fmt"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/evidence"
)

// chain returns the spans of the nth trace: a request at the first service that
// is asked of the next one so many times, each of which is asked of the next.
func chain(n int, service string, tries ...int) []*evidence.Record {
	list := call(n, 0, service+"0", "")
	id := uint64(1)
	at := list[0].Time
	var ask func(layer int, inside *evidence.Record)
	ask = func(layer int, inside *evidence.Record) {
		if layer == len(tries) {
			return
		}
		caller, callee := fmt.Sprint(service, layer), fmt.Sprint(service, layer+1)
		for k := range tries[layer] {
			pair := call(n, 1, caller, callee)[1:]
			for i, r := range pair {
				id++
				at = at.Add(time.Millisecond)
				r.Span.ID, r.Time = [8]byte{byte(n >> 8), byte(n), 5: byte(id >> 16), 6: byte(id >> 8), 7: byte(id)}, at
				if k < tries[layer]-1 {
					r.Span.Outcome, r.Span.Status = evidence.Failed, "503"
				}
				if i == 0 {
					r.Span.Parent, r.Span.Ordinal = inside.Span.ID, k+1
				} else {
					r.Span.Parent = pair[0].Span.ID
				}
			}
			list = append(list, pair...)
			ask(layer+1, pair[1])
			at = at.Add(60 * time.Millisecond)
		}
	}
	ask(0, list[0])
	return list
}

func entry(t *testing.T, s *Snapshot, name string) Entry {
	t.Helper()
	for _, e := range s.Entries {
		if e.Name == name {
			return e
		}
	}
	t.Fatalf("no entry %q among %+v", name, s.Entries)
	return Entry{}
}

// TestEntriesMultiply: 3.0 x 3.0 is 9.0, in batches as in one ledger.
func TestEntriesMultiply(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now})
	whole := ledger.New(ledger.Config{})
	const n = 500
	for i := range n {
		list := chain(i, "svc", 3, 3)
		for _, r := range list {
			whole.AddSpan(r)
		}
		send(e, list...)
		if i%37 == 0 {
			c.pass(11 * time.Second)
			e.Advance()
		}
	}
	e.Flush()
	s := e.Snapshot()
	x := entry(t, s, "svc0 POST /orders")
	if x.Requests != n || x.Stacked != n || len(x.Reach) != 3 {
		t.Fatalf("%+v", x)
	}
	for k, want := range []Reach{{Callee: "svc0", Attempts: n, Intended: n}, {Callee: "svc1", Attempts: 3 * n, Intended: n}, {Callee: "svc2", Attempts: 9 * n, Intended: n}} {
		if got := x.Reach[k]; got.Callee != want.Callee || got.Attempts != want.Attempts || got.Intended != want.Intended {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	// The ledger's own truth.
	book := whole.Close()
	p := book.Paths[0]
	if got := x.Reach[2].Attempts / x.Requests; got != 9 || got != p.Load || x.Requests != p.Roots || x.Reach[2].Attempts != p.Leaf {
		t.Errorf("%v for each request; path %+v", got, p)
	}
	for i := range book.Edges {
		b := &book.Edges[i]
		m := edge(t, s, b.Caller, b.Callee).Methods[0]
		if m.Intended != b.Slots || m.IntendedAttempts != b.SlotAttempts || m.IntendedAttempts/m.Intended != b.Cumulative || m.Joined != b.Joined {
			t.Errorf("%s > %s: %+v, want slots %v of attempts %v", b.Caller, b.Callee, m, b.Slots, b.SlotAttempts)
		}
	}
	var folded Edge
	if folded = edge(t, s, "svc1", "svc2"); folded.MostAttempts.Value != 3 || folded.FailedBy[evidence.Failed] == (Exemplar{}) || folded.Created.IsZero() {
		t.Errorf("exemplars %+v %+v", folded.MostAttempts, folded.FailedBy)
	}
}

// TestEntriesAreBounded sends requests of more entries than are known by name.
func TestEntriesAreBounded(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now})
	const n = maxEntries + 50
	for i := range n {
		send(e, chain(i, fmt.Sprintf("s%d-", i), 2)...)
	}
	e.Flush()
	s := e.Snapshot()
	var requests, attempts, intended float64
	for _, x := range s.Entries {
		requests += x.Requests
		for _, r := range x.Reach {
			attempts, intended = attempts+r.Attempts, intended+r.Intended
		}
	}
	if len(s.Entries) != maxEntries+1 || requests != n || attempts != 3*n || intended != 2*n || s.Folded["entries"] != 50 {
		t.Errorf("%d entries, %v requests, %v attempts, %v intended, folded %v", len(s.Entries), requests, attempts, intended, s.Folded)
	}
	other := entry(t, s, Other)
	if other.Requests != 50 || len(other.Reach) != 1 || other.Reach[0].Callee != Other {
		t.Errorf("%+v", other)
	}
	c.pass(2 * time.Hour)
	e.Advance()
	if s := e.Snapshot(); len(s.Entries) != 1 || s.Entries[0].Name != Other {
		t.Errorf("%d entries are left", len(s.Entries))
	}
}

func TestEntryCalleesAreBounded(t *testing.T) {
	var s entrySums
	folded := map[string]int64{}
	for i := range maxReach + 100 {
		s.add(&ledger.Entry{Callee: "gateway", Method: "GET /", Requests: 1, Reach: []ledger.Reach{{Callee: fmt.Sprint("svc", i), Attempts: 2, Intended: 1}}}, time.Unix(int64(i), 0), folded)
	}
	list := s.list()
	if len(list) != 1 || len(list[0].Reach) != maxReach+1 || folded["entry-callees"] != 200 || s.pairs != maxReach+1 {
		t.Errorf("%d callees, %v, %d", len(list[0].Reach), folded, s.pairs)
	}
	s.forget(time.Unix(maxReach+100, 0))
	if len(s.byName) != 0 || s.pairs != 0 {
		t.Errorf("%d entries and %d pairs are left", len(s.byName), s.pairs)
	}
}

// TestNativeHoldsWhatTheLedgerCounted compares the limits of buckets.
func TestNativeBuckets(t *testing.T) {
	for _, x := range []struct {
		d  time.Duration
		at int
	}{{time.Second, 0}, {2 * time.Second, 8}, {500 * time.Millisecond, -8}, {time.Millisecond, -79}, {1001 * time.Millisecond, 1}} {
		var n Native
		n.add(x.d, 3)
		if n.Lowest != x.at || len(n.Counts) != 1 || n.Counts[0] != 3 {
			t.Errorf("%v: %+v, want bucket %d", x.d, n, x.at)
		}
	}
	var n Native
	for _, d := range []time.Duration{time.Second, time.Nanosecond, time.Minute, time.Millisecond, time.Second} {
		n.add(d, 1)
	}
	if n.Zero != 1 || n.Lowest != -79 || n.Counts[79] != 2 || len(n.Counts) != 79+48+1 {
		t.Errorf("%+v", n)
	}
}

// TestHistogramsOnlyGrow sends calls whose attempts are in traces of their own:
// a call that is known to have gone on is not taken back from what was shown.
func TestHistogramsOnlyGrow(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now})
	shown := map[int]float64{}
	const n = 50
	for i := range n {
		for k := range 3 {
			r := call(3*i+k, 1, "job", "vendor")[1]
			r.Span.Parent, r.Span.Ordinal = [8]byte{}, k+1
			if k < 2 {
				r.Span.Outcome, r.Span.Status = evidence.Failed, "503"
			}
			send(e, r)
			e.Flush()
			for _, x := range e.Snapshot().Edges {
				for attempts, was := range shown {
					if x.ByAttempts[attempts] < was {
						t.Fatalf("%v calls of %d attempts after %v", x.ByAttempts[attempts], attempts, was)
					}
				}
				shown = x.ByAttempts
			}
		}
	}
	if shown[3] != n || shown[1] > 1 || shown[2] > 1 {
		t.Errorf("%v, want %d of three attempts", shown, n)
	}
}

func TestExemplarsAge(t *testing.T) {
	at := newClock().now()
	var e Exemplar
	e.take(Exemplar{})
	if e.Is() {
		t.Error("nothing is an exemplar")
	}
	one := Exemplar{Trace: traceID(1), Value: 5, At: at}
	e.take(one)
	e.take(Exemplar{Trace: traceID(2), Value: 4, At: at.Add(exemplarAge / 2)})
	if e != one {
		t.Errorf("%+v", e)
	}
	e.take(Exemplar{Trace: traceID(3), Value: 4, At: at.Add(exemplarAge)})
	if e.Trace != traceID(3) {
		t.Errorf("%+v", e)
	}
}

func TestPoolRejections(t *testing.T) {
	e := New(Config{Now: newClock().now})
	for i := range maxRejecting + 10 {
		for _, p := range []evidence.PoolSnapshot{{Rejected: true}, {Rejected: true, Relayed: true}, {Rejected: true, Shutdown: true}, {}} {
			p.Name = fmt.Sprint("pool-", i)
			e.Add(&evidence.Record{Place: evidence.Place{Service: "order"}, Pool: &p})
		}
	}
	s := e.Snapshot()
	if len(s.Rejections) != maxRejecting+1 || s.Rejections[0] != (Rejection{Other, Other, 10}) || s.Rejections[1].Owner != "order" || s.Rejections[1].Count != 1 {
		t.Errorf("%d pools, %+v", len(s.Rejections), s.Rejections[:2])
	}
}

func TestStores(t *testing.T) {
	e := New(Config{Now: newClock().now})
	send(e, call(0, 2, "order", "stock")...)
	e.Raw("order.log", e.cfg.Now(), []byte("a line\n"))
	got := map[string]Store{}
	for _, s := range e.Snapshot().Stores {
		got[s.Name] = s
		if s.Limit <= 0 || s.Bytes > s.Limit {
			t.Errorf("%+v", s)
		}
	}
	if len(got) != 4 || got["raw"].Bytes != 7 || got["spans"].Bytes < 5*ledger.SpanBytes || got["recent"].Bytes == 0 || got["closed-traces"].Bytes != 0 {
		t.Errorf("%+v", got)
	}
	e.Flush()
	for _, s := range e.Snapshot().Stores {
		if s.Name == "closed-traces" && s.Bytes == 0 || s.Name == "spans" && s.Bytes != 0 {
			t.Errorf("%+v", s)
		}
	}
}

func TestSpansTellOfSampling(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now})
	list := call(0, 1, "order", "stock")
	list[0].Span.Weight = 4
	list[1].Time = c.now().Add(-staleAfter - list[1].Span.Duration - time.Second)
	list[2].Time = c.now().Add(-staleAfter)
	send(e, list...)
	if in := e.Snapshot().Intake; in.Weighted != 1 || in.Unweighted != 2 || in.Stale != 1 {
		t.Errorf("%+v", in)
	}
}

// TestMethodsAreBoundedTogether counts as many edges as there may be, each of
// as many methods.
func TestMethodsAreBoundedTogether(t *testing.T) {
	s := newSums(2_000, 20)
	at := newClock().now()
	b := &ledger.Book{}
	for i := range 2_000 {
		for k := range 20 {
			b.Edges = append(b.Edges, ledger.Edge{Callee: fmt.Sprint("svc", i), Protocol: "http", Method: fmt.Sprint("GET /", k), Basis: ledger.FromSpans, Calls: 1, Joined: ledger.Joined{Exact: 1}})
		}
	}
	s.add(b, at)
	methods, calls := 0, 0.0
	for _, e := range s.snapshot().Edges {
		methods += len(e.Methods)
		for _, m := range e.Methods {
			calls += m.Calls
		}
	}
	if methods > maxAllMethods+2_000 || calls != 40_000 || s.Folded["methods"] != int64(40_000-maxAllMethods) {
		t.Errorf("%d methods, %v calls, folded %v", methods, calls, s.Folded)
	}
	s.forget(at.Add(time.Second))
	if s.allMethods != 0 {
		t.Errorf("%d methods are left", s.allMethods)
	}
}
