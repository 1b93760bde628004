package correlate

import (
	"slices"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// scrapes is one scrape after another, each in a file of its own.
type scrapes []struct {
	source string
	at     time.Time
	n      evidence.Counter
}

func (list scrapes) report(t *testing.T, backwards bool) *incident.Report {
	t.Helper()
	list = slices.Clone(list)
	if backwards {
		slices.Reverse(list)
	}
	e := New(Config{})
	for _, s := range list {
		s.n.Impl, s.n.Side, s.n.Service = "envoy", evidence.Consumer, "product"
		if err := e.Add(&evidence.Record{Time: s.at, Place: evidence.Place{Service: "order"}, Cite: evidence.Citation{Source: s.source, Line: 1}, Counter: &s.n}); err != nil {
			t.Fatal(err)
		}
	}
	return e.Report()
}

func scraped(t *testing.T, readings ...evidence.Counter) *incident.Report {
	t.Helper()
	var list scrapes
	for i, c := range readings {
		list = append(list, scrapes{{source: "metrics-" + string(rune('1'+i)) + ".txt", n: c}}...)
	}
	return list.report(t, false)
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
	for _, names := range [][2]string{{"metrics-9.txt", "metrics-10.txt"}, {"before.txt", "after.txt"}} {
		r := scrapes{{source: names[0], n: early}, {source: names[1], n: later}}.report(t, names[0] == "before.txt")
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

// TestCountersBeginAnew reads scrapes between which the process restarted: what
// it counted before is not subtracted from what it counted since.
func TestCountersBeginAnew(t *testing.T) {
	at := time.Date(2026, 3, 14, 10, 0, 0, 0, time.UTC)
	count := func(calls, attempts, failed int64) evidence.Counter {
		return evidence.Counter{Calls: calls, Attempts: attempts, Retries: attempts - calls, Failed: failed, Timeouts: evidence.None, RetriesRefused: evidence.None, Overflow: evidence.None}
	}
	started := func(c evidence.Counter, at time.Time) evidence.Counter { c.Began = at; return c }
	for _, c := range []struct {
		name            string
		list            scrapes
		scope           string
		calls, attempts int64
	}{
		{"by their times", scrapes{{"b.txt", at, count(100_000, 300_000, 0)}, {"a.txt", at.Add(time.Minute), count(500, 600, 0)}}, "since-start", 500, 600},
		{"by their numbers", scrapes{{"metrics-1.txt", time.Time{}, count(100_000, 300_000, 0)}, {"metrics-2.txt", time.Time{}, count(500, 600, 0)}}, "since-start", 500, 600},
		{"one number alone fell", scrapes{{"a.txt", time.Time{}, count(100, 300, 50)}, {"b.txt", time.Time{}, count(500, 600, 0)}}, "since-start", 500, 600},
		{"counted on after it", scrapes{{"m1", at, count(100_000, 300_000, 0)}, {"m2", at.Add(time.Minute), count(500, 600, 0)}, {"m3", at.Add(2 * time.Minute), count(900, 1400, 0)}}, "", 400, 800},
		{"twice", scrapes{{"m1", at, count(100, 100, 0)}, {"m2", at.Add(time.Minute), count(300, 500, 0)}, {"m3", at.Add(2 * time.Minute), count(50, 50, 0)}, {"m4", at.Add(3 * time.Minute), count(350, 650, 0)}}, "", 500, 1000},
		{"said by the process", scrapes{{"m1", at, started(count(100, 300, 0), at.Add(-time.Hour))}, {"m2", at.Add(time.Minute), started(count(500, 600, 0), at.Add(time.Second))}}, "since-start", 500, 600},
	} {
		for _, backwards := range []bool{false, true} {
			e := c.list.report(t, backwards).Edges[0]
			if e.Scope != c.scope || *e.Calls != c.calls || *e.Attempts != c.attempts {
				t.Errorf("%s: scope %q, %d calls, %d attempts; want %q, %d, %d", c.name, e.Scope, *e.Calls, *e.Attempts, c.scope, c.calls, c.attempts)
			}
		}
	}
}
