package correlate

import (
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// TestExecutionsAreNotAdded tells the engine of one second's executions twice, as
// the database logged the slow ones and as a client's spans measured all.
func TestExecutionsAreNotAdded(t *testing.T) {
	at := time.Date(2026, 3, 14, 10, 2, 0, 0, time.UTC)
	e := New(Config{})
	add := func(origin evidence.SQLOrigin, source string, n int, d time.Duration) {
		for i := range n {
			r := &evidence.Record{Time: at.Add(time.Duration(i) * time.Second), Cite: evidence.Citation{Source: source, Line: i + 1}, SQL: &evidence.Statement{
				Origin: origin, Fingerprint: "select stock from t_sku_stock where sku_code=?", Duration: d, RowsExamined: evidence.None, RowsSent: evidence.None, TrxAge: evidence.None, LockTime: evidence.None,
			}}
			if err := e.Add(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(evidence.SlowLog, "db/slow.log", 4, 3*time.Second)
	add(evidence.ClientSlow, "traces/otlp.jsonl", 5, 3*time.Second)
	add(evidence.ClientSlow, "traces/otlp.jsonl.2", 5, 10*time.Millisecond)
	r := e.Report()
	if len(r.SQL) != 1 || *r.SQL[0].Count != 10 || *r.SQL[0].TotalSeconds != 15.05 {
		t.Fatalf("%+v", r.SQL)
	}
	for _, f := range r.Findings {
		if f.Kind == "sql.slow" && f.Count != 5 {
			t.Errorf("%d slow executions: %s", f.Count, f.Text)
		}
	}
}
