package ledger

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// reachOf finds what an entry asked of a callee.
func reachOf(b *Book, entry, callee string) (requests float64, r Reach) {
	for _, e := range b.Entries {
		if e.Callee != entry {
			continue
		}
		requests += e.Requests
		for _, x := range e.Reach {
			if x.Callee == callee {
				r.Attempts, r.Intended = r.Attempts+x.Attempts, r.Intended+x.Intended
			}
		}
	}
	return requests, r
}

// What entries reach is the truth for every shape that hands its context on.
func TestEntriesReachTheTruth(t *testing.T) {
	shapes := []shape{numberedSiblings, container, sharedClient, clientsAndServers}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 9))
		w := &world{r: r, fail: []float64{0, 0.1, 0.5, 0.9, 1}[seed%5]}
		for range 1 + r.IntN(4) {
			w.layers, w.most = append(w.layers, shapes[r.IntN(len(shapes))]), append(w.most, 1+r.IntN(4))
		}
		const traces = 40
		w.make(traces)
		b := book(t, Config{}, w.records, seed)
		reached := map[string]map[[16]byte]bool{}
		for _, x := range w.records {
			at := reached[x.Place.Service]
			if at == nil {
				at = map[[16]byte]bool{}
				reached[x.Place.Service] = at
			}
			at[x.Span.TraceID] = true
		}
		for l := range w.layers {
			requests, got := reachOf(b, "svc0", service(l+1))
			want := float64(len(reached[service(l+1)]))
			if requests != traces || got.Attempts != w.tries[l] || got.Intended != want {
				t.Errorf("seed %d, layers %v (most %v): %s: %v requests, %+v; true %d, %v attempts, %v intended", seed, w.layers, w.most, service(l+1), requests, got, traces, w.tries[l], want)
			}
		}
	}
}

// Whatever came, entries and edges tell of the same attempts, and calls are
// divided by how they were joined.
func TestEntriesAddUpToEdges(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 4))
		w := &world{r: r, fail: 0.5}
		for range 1 + r.IntN(4) {
			w.layers, w.most = append(w.layers, shape(r.IntN(int(shapes)))), append(w.most, 1+r.IntN(4))
		}
		w.make(40)
		w.hurt(float64(seed%3) * 0.1)
		b := book(t, Config{MaxPaths: int(5 + seed%7)}, w.records, seed)
		var edges, entries Reach
		stacked := int64(0)
		for _, e := range b.Edges {
			edges.Attempts, edges.Intended = edges.Attempts+max(0, e.SlotAttempts), edges.Intended+max(0, e.Slots)
			if sum := e.Joined.Exact + e.Joined.Inferred + e.Joined.Ambiguous; off(sum, e.Calls) > 1e-9 {
				t.Errorf("seed %d: %s > %s: %v calls, joined %+v", seed, e.Caller, e.Callee, e.Calls, e.Joined)
			}
		}
		for _, e := range b.Entries {
			stacked += e.Stacked
			for _, x := range e.Reach {
				entries.Attempts, entries.Intended = entries.Attempts+x.Attempts, entries.Intended+x.Intended
			}
		}
		if off(entries.Attempts, edges.Attempts) > 1e-9 || off(entries.Intended, edges.Intended) > 1e-9 || stacked != b.Stacked {
			t.Errorf("seed %d, layers %v: entries %+v, edges %+v; stacked %d of %d", seed, w.layers, entries, edges, stacked, b.Stacked)
		}
	}
}

// Three attempts at each of two layers are nine: 3.0 x 3.0 = 9.0.
func TestReachMultiplies(t *testing.T) {
	w := &world{r: rand.New(rand.NewPCG(1, 1)), fail: 1, layers: []shape{rpcSiblings, numberedSiblings}, most: []int{3, 3}}
	w.make(50)
	b := book(t, Config{}, w.records, 1)
	requests, leaf := reachOf(b, "svc0", "svc2")
	if requests != 50 || leaf.Attempts != 450 || leaf.Intended != 50 || b.Entries[0].Stacked != 50 || b.Entries[0].Method != "GET /" {
		t.Errorf("%v requests, %+v of %+v", requests, leaf, b.Entries)
	}
}

// A request that asks a callee for two things, each three times, asks for six.
func TestFanOutIsIntended(t *testing.T) {
	var m maker
	for k := range 1000 {
		m.root()
		at := time.Duration(k) * time.Millisecond
		h := m.server(0, "gateway", at, time.Second, http("POST /buy", 0))
		for what := range 2 {
			for n := range 3 {
				out := evidence.Failed
				if n == 2 {
					out = evidence.OK
				}
				op := http(fmt.Sprintf("GET /stock/%d", what), uint64(what+1))
				c := m.client(h, "gateway", at+time.Duration(3*what+n)*20*ms, 10*ms, op, ordinal(n+1), ends(out))
				m.server(c, "stock", at, 9*ms, op, ends(out))
			}
		}
	}
	requests, stock := reachOf(book(t, Config{}, m.records, 2), "gateway", "stock")
	if requests != 1000 || stock.Attempts != 6000 || stock.Intended != 2000 {
		t.Errorf("%v requests, %+v", requests, stock)
	}
}

// The worst of an edge are the same whatever order they came in.
func TestWorst(t *testing.T) {
	w := &world{r: rand.New(rand.NewPCG(7, 7)), fail: 0.6, layers: []shape{numberedSiblings}, most: []int{4}}
	w.make(200)
	e := edgeOf(t, book(t, Config{}, w.records, 1), "svc0", "svc1", "")
	again := edgeOf(t, book(t, Config{}, w.records, 2), "svc0", "svc1", "")
	if fmt.Sprint(e.Worst) != fmt.Sprint(again.Worst) {
		t.Errorf("%+v\n%+v", e.Worst, again.Worst)
	}
	longest, gap := time.Duration(0), time.Duration(e.Worst.Gap.Value)
	for _, r := range w.records {
		if r.Span.Kind == evidence.KindClient {
			longest = max(longest, r.Span.Duration)
		}
	}
	if time.Duration(e.Worst.Attempt.Value) != longest || e.Worst.Retried.Value != int64(e.Ceiling) || gap != e.Gap.Max || !e.Worst.Failed.Is() {
		t.Errorf("longest %v, gap %v, worst %+v", longest, e.Gap.Max, e.Worst)
	}
	for o, n := range e.Outcomes {
		if m := e.Worst.ByOutcome[o]; m.Is() != (n > 0 && o != evidence.OK) {
			t.Errorf("%v: %d, %+v", o, n, m)
		}
	}
}

// What is counted in parts, as spans that go on coming are, adds up to what is
// counted at once: of shapes that need no guess, and of calls whose attempts
// are in traces of their own.
func TestReachOfPartsAddsUp(t *testing.T) {
	shapes := []shape{numberedSiblings, container, sharedClient, clientsAndServers, serverNumbers, rootless}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 11))
		w := &world{r: r, fail: 0.5}
		for range 1 + r.IntN(3) {
			w.layers, w.most = append(w.layers, shapes[r.IntN(len(shapes))]), append(w.most, 1+r.IntN(4))
		}
		w.make(60)
		var parts [3][]*evidence.Record
		for _, x := range w.records {
			n := mix(uint64(x.Span.TraceID[15])<<8|uint64(x.Span.TraceID[14])) % 3
			parts[n] = append(parts[n], x)
		}
		whole, sum := tallies{}, tallies{}
		whole.add(book(t, Config{}, w.records, seed))
		experience := NewExperience()
		for _, p := range parts {
			sum.add(book(t, Config{Experience: experience}, p, seed))
		}
		for k, n := range whole {
			if off(sum[k], n) > 1e-9 {
				t.Errorf("seed %d, layers %v (most %v): %s: %v in parts, %v at once", seed, w.layers, w.most, k, sum[k], n)
			}
		}
		if len(sum) != len(whole) {
			t.Errorf("seed %d, layers %v: %d sums in parts, %d at once", seed, w.layers, len(sum), len(whole))
		}
	}
}

// tallies are sums by name.
type tallies map[string]float64

func (s tallies) add(b *Book) {
	for _, e := range b.Edges {
		name := e.Caller + " > " + e.Callee + " " + e.Method
		s[name+" calls"] += e.Calls
		s[name+" attempts"] += e.Attempts
		s[name+" intended"] += max(0, e.Slots)
		s[name+" intended attempts"] += max(0, e.SlotAttempts)
		s[name+" exact"] += e.Joined.Exact
		for n := range maxBy + 1 {
			if by := e.ByAttempts[n] - e.Earlier[n]; by != 0 {
				s[fmt.Sprint(name, " by ", n)] += by
			}
		}
	}
	for _, e := range b.Entries {
		s["requests of "+e.Callee+" "+e.Method] += e.Requests
		s["stacked of "+e.Callee] += float64(e.Stacked)
		for _, r := range e.Reach {
			s["attempts of "+e.Callee+" at "+r.Callee] += r.Attempts
			s["intended of "+e.Callee+" at "+r.Callee] += r.Intended
		}
	}
	for k, n := range s {
		if n == 0 {
			delete(s, k)
		}
	}
}
