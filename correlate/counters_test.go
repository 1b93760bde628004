package correlate

import (
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

func scraped(t *testing.T, readings ...evidence.Counter) *incident.Report {
	t.Helper()
	e := New(Config{})
	for i, c := range readings {
		c.Impl, c.Side, c.Service = "envoy", evidence.Consumer, "product"
		if err := e.Add(&evidence.Record{Place: evidence.Place{Service: "order"}, Cite: evidence.Citation{Source: "metrics-" + string(rune('1'+i)) + ".txt", Line: 1}, Counter: &c}); err != nil {
			t.Fatal(err)
		}
	}
	return e.Report()
}

func kindsOf(r *incident.Report) map[incident.Kind]bool {
	m := map[incident.Kind]bool{}
	for _, f := range r.Findings {
		m[f.Kind] = true
	}
	return m
}

// TestCountersTellBetweenScrapes reads a proxy's counters of calls and attempts:
// what grew between two scrapes happened in between, one alone is a habit.
func TestCountersTellBetweenScrapes(t *testing.T) {
	early := evidence.Counter{Calls: 100_000, Attempts: 101_000, Retries: 1000, Failed: 900, Timeouts: evidence.None, RetriesRefused: 0, Overflow: 0}
	later := evidence.Counter{Calls: 101_000, Attempts: 104_000, Retries: 3000, Failed: 2900, Timeouts: evidence.None, RetriesRefused: 40, Overflow: 0}
	for _, order := range [][]evidence.Counter{{early, later}, {later, early}} {
		r := scraped(t, order...)
		if k := kindsOf(r); !k[incident.RetryAmplified] || !k[incident.Limited] {
			t.Errorf("%v", k)
		}
		e := r.Edges[0]
		if e.Basis != "metrics" || *e.Calls != 1000 || *e.Attempts != 3000 || *e.Amplification != 3 || e.Scope != "" || e.Outcomes["failed"] != 2000 {
			t.Errorf("%+v", e)
		}
	}
	once := scraped(t, later)
	if k := kindsOf(once); k[incident.RetryAmplified] || k[incident.Limited] || once.Edges[0].Scope != "since-start" {
		t.Errorf("one scrape: %v, %+v", k, once.Edges[0])
	}
	grown := later
	grown.Delta, grown.Calls, grown.Attempts = true, 500, 500
	if k := kindsOf(scraped(t, grown)); k[incident.RetryAmplified] || !k[incident.RetryNone] {
		t.Errorf("no retries: %v", k)
	}
}

// TestReplicasCountForThemselves reads one scrape of each of two replicas: their
// difference is nothing that happened.
func TestReplicasCountForThemselves(t *testing.T) {
	e := New(Config{})
	for i, n := range []int64{1000, 20_000} {
		c := evidence.Counter{Impl: "envoy", Side: evidence.Consumer, Service: "product", Calls: 1000 + int64(i), Attempts: n, Retries: n - 1000, Failed: evidence.None, Timeouts: evidence.None, RetriesRefused: evidence.None, Overflow: evidence.None}
		at := evidence.Citation{Source: "order-" + string(rune('1'+i)) + "/metrics.txt", Line: 1}
		if err := e.Add(&evidence.Record{Place: evidence.Place{Service: "order"}, Cite: at, Counter: &c}); err != nil {
			t.Fatal(err)
		}
	}
	r := e.Report()
	if k := kindsOf(r); k[incident.RetryAmplified] || len(r.Edges) != 2 || r.Edges[0].Scope != "since-start" {
		t.Errorf("%v, %+v", k, r.Edges)
	}
}
