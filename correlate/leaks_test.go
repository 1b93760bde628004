package correlate

import (
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

func TestReturnedLeaksDoNotCount(t *testing.T) {
	mark := func(line int, kind, subject, text string) *evidence.Record {
		return &evidence.Record{Cite: evidence.Citation{Source: "order/app.log", Line: line}, Mark: &evidence.Mark{Kind: kind, Subject: subject, Text: text}}
	}
	leaked := mark(1, evidence.MarkLeak, "OrdersPool", "conn1 on thread exec-1 held by com.acme.Order.find(Order.java:7)")
	back := mark(9, evidence.MarkLeakReturned, "", "conn1 on thread exec-1")
	other := mark(2, evidence.MarkLeak, "OrdersPool", "conn2 on thread exec-2 held by com.acme.Order.find(Order.java:7)")
	again := mark(12, evidence.MarkLeak, "OrdersPool", "conn1 on thread exec-1 held by com.acme.Order.find(Order.java:7)")
	for _, c := range []struct {
		name    string
		records []*evidence.Record
		want    int
	}{
		{"kept", []*evidence.Record{leaked}, 1},
		{"returned", []*evidence.Record{leaked, back}, 0},
		{"returned, read backwards", []*evidence.Record{back, leaked}, 0},
		{"another is kept", []*evidence.Record{leaked, other, back}, 1},
		{"returned and taken again", []*evidence.Record{leaked, back, again}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := New(Config{})
			for _, r := range c.records {
				if err := e.Add(r); err != nil {
					t.Fatal(err)
				}
			}
			got := 0
			for _, f := range e.Report().Findings {
				if f.Kind == incident.ConnLeak {
					got++
				}
			}
			if got != c.want {
				t.Errorf("%d leaks, want %d", got, c.want)
			}
		})
	}
}
