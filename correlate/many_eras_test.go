package correlate

import (
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// TestManyEras holds that a fault which comes back for years is not cut into
// thousands of incidents, each of which would cost a conclusion.
func TestManyEras(t *testing.T) {
	e := New(Config{})
	start := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for era := range 2000 {
		for i := range enoughSelf + 1 {
			err := e.Add(&evidence.Record{
				Time: start.Add(time.Duration(era)*2*quietGap + time.Duration(i)*time.Second),
				Cite: evidence.Citation{Source: "a.log", Line: era*10 + i + 1},
				Pool: &evidence.PoolSnapshot{Name: "DubboServerHandler-10.20.3.14:20880", Max: 200, Active: 200, Rejected: true},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if starts := e.eras(); starts != nil {
		t.Errorf("%d eras", len(starts)+1)
	}
	if r := e.Report(); len(r.Incidents) != 1 {
		t.Errorf("%d incidents", len(r.Incidents))
	}
}
