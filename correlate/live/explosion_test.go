package live

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// TestAMillionServices sends calls each of whose callers and callees has a name of
// its own, as a sender does that puts an ID into service.name. Memory is bounded,
// and the sums with those under Other are all calls and all attempts.
func TestAMillionServices(t *testing.T) {
	n, batch := 20_000, 5_000 // traces, of two services each
	switch {
	case os.Getenv("FIREBREAK_SLOW_TESTS") != "":
		n = 500_000
	case !testing.Short():
		n, batch = 70_000, 60_000 // more names at once than are kept
	}
	const maxEdges = 100
	c := newClock()
	e := New(Config{Now: c.now, MaxSpans: 1_000_000, MaxEdges: maxEdges, MaxRecent: 1_000, MaxRecentBytes: 4 << 20})
	var attempts float64
	var before, after runtime.MemStats
	for i := range n {
		if i == n/10 { // tables have reached their size
			runtime.GC()
			runtime.ReadMemStats(&before)
		}
		k := 1 + i%3
		attempts += float64(k)
		send(e, call(i, k, fmt.Sprintf("order-%08x", i), fmt.Sprintf("stock-%08x", i))...)
		if i%batch == batch-1 {
			c.pass(11 * time.Second)
			e.Advance()
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<20 {
		t.Errorf("from %d to %d services the heap grew by %d MiB", n/5, 2*n, grown>>20)
	}
	e.Flush()
	s := e.Snapshot()
	if len(s.Edges) > maxEdges+2 {
		t.Errorf("%d edges", len(s.Edges))
	}
	var calls, other, made float64
	series := 0
	for _, x := range s.Edges {
		for _, m := range x.Methods {
			series++
			calls += m.Calls
			made += m.Initial + m.Retries + m.Proxied
			if x.Caller == Other && x.Callee == Other {
				other += m.Calls
			}
		}
	}
	// Each trace has a request that came in and one call, of k attempts.
	if want := float64(2 * n); calls != want || made != attempts+float64(n) {
		t.Errorf("%v calls of %v, %v attempts of %v", calls, want, made, attempts+float64(n))
	}
	if series > 4*maxEdges || s.Folded["edges"] == 0 {
		t.Errorf("%d series, folded %v", series, s.Folded)
	}
	if other < calls-float64(series) {
		t.Errorf("only %v of %v calls are under %s", other, calls, Other)
	}
}
