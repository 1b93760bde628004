package correlate

import (
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

func TestOneCallLoggedTwiceCountsOnce(t *testing.T) {
	at := time.Date(2026, 3, 14, 10, 0, 0, 0, time.UTC)
	rec := func(line int, thread string, ms int, tries *evidence.Tries) *evidence.Record {
		return &evidence.Record{Time: at.Add(time.Duration(ms) * time.Millisecond), Thread: thread, Cite: evidence.Citation{Source: "order/app.log", Line: line}, Tries: tries}
	}
	call := func(o evidence.Outcome) *evidence.Tries {
		return &evidence.Tries{Service: "com.acme.SkuService", Method: "get", Attempts: 3, Failed: 2, Candidates: 2, Outcome: o}
	}
	by := func(logger string, r *evidence.Record) *evidence.Record {
		r.Logger = logger
		return r
	}
	slow := &evidence.Tries{Service: "com.acme.SkuService", Method: "get", Attempts: 1, Failed: evidence.None, Candidates: evidence.None, Mode: "profiler", Timeout: time.Second, Each: []evidence.Try{{Duration: 1004 * time.Millisecond}}}
	once := &evidence.Tries{Service: "com.acme.SkuService", Method: "get", Attempts: 1, Failed: 1, Candidates: 1, Outcome: evidence.Rejected}
	profiler := &evidence.Tries{Service: "com.acme.SkuService", Method: "get", Attempts: 3, Failed: evidence.None, Candidates: evidence.None, Mode: "profiler"}
	for _, c := range []struct {
		name    string
		records []*evidence.Record
		calls   int64
	}{
		{"two layers of one thread", []*evidence.Record{rec(1, "exec-1", 0, call(evidence.Timeout)), rec(9, "exec-1", 4, call(evidence.Timeout))}, 1},
		{"and Dubbo's profiler before them", []*evidence.Record{rec(1, "exec-1", 0, profiler), rec(5, "exec-1", 1, call(evidence.Timeout)), rec(9, "exec-1", 4, call(evidence.Timeout))}, 1},
		{"two threads", []*evidence.Record{rec(1, "exec-1", 0, call(evidence.Timeout)), rec(9, "exec-2", 4, call(evidence.Timeout))}, 2},
		{"one thread, later", []*evidence.Record{rec(1, "exec-1", 0, call(evidence.Timeout)), rec(9, "exec-1", 3010, call(evidence.Timeout))}, 2},
		{"refused calls may follow at once", []*evidence.Record{rec(1, "exec-1", 0, call(evidence.Rejected)), rec(9, "exec-1", 12, call(evidence.Rejected))}, 2},
		{"one layer, two calls", []*evidence.Record{by("a.Order", rec(1, "exec-1", 0, call(evidence.Failed))), by("a.Order", rec(9, "exec-1", 40, call(evidence.Failed)))}, 2},
		{"two layers, two calls", []*evidence.Record{by("a.Order", rec(1, "exec-1", 0, call(evidence.Failed))), by("a.Web", rec(5, "exec-1", 1, call(evidence.Failed))), by("a.Order", rec(9, "exec-1", 20, call(evidence.Failed))), by("a.Web", rec(13, "exec-1", 21, call(evidence.Failed)))}, 2},
		{"two layers of a refused call", []*evidence.Record{by("a.Order", rec(1, "exec-1", 0, call(evidence.Rejected))), by("a.Web", rec(9, "exec-1", 12, call(evidence.Rejected)))}, 1},
		{"one layer writes into two appenders", []*evidence.Record{by("a.Order", rec(1, "exec-1", 0, call(evidence.Timeout))), by("a.Order", rec(9, "exec-1", 0, call(evidence.Timeout)))}, 1},
		{"one timed out, the next was refused", []*evidence.Record{by("a.Order", rec(1, "exec-1", 0, call(evidence.Timeout))), by("a.Web", rec(9, "exec-1", 12, call(evidence.Rejected)))}, 2},
		{"a slow call, and one that was refused at once", []*evidence.Record{by("a.Profiler", rec(1, "exec-1", 0, slow)), by("a.Order", rec(9, "exec-1", 9, once))}, 2},
		{"no thread, no guess", []*evidence.Record{rec(1, "", 0, call(evidence.Timeout)), rec(9, "", 4, call(evidence.Timeout))}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, backwards := range []bool{false, true} {
				e := New(Config{})
				for i := range c.records {
					if backwards {
						i = len(c.records) - 1 - i
					}
					if err := e.Add(c.records[i]); err != nil {
						t.Fatal(err)
					}
				}
				r := e.Report()
				if len(r.Edges) != 1 || r.Edges[0].Calls == nil || *r.Edges[0].Calls != c.calls {
					t.Errorf("backwards %v: edges %+v, want %d calls", backwards, r.Edges, c.calls)
				}
			}
		})
	}
}
