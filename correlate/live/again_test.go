package live

import (
	"testing"
	"time"
)

// TestAgainIsForReportsOnly hands on what came before a restart.
func TestAgainIsForReportsOnly(t *testing.T) {
	c := newClock()
	e := New(Config{Now: c.now})
	began := c.now()
	e.Add(refused("now.log", 1, began))
	e.Again(refused("app.log", 1, began), began.Add(-4*time.Minute))
	e.Again(refused("app.log", 2, began), began.Add(-6*time.Minute)) // no report looks back at it
	e.Again(refused("app.log", 3, began), began.Add(time.Hour))      // a clock that was set back
	for _, r := range call(1, 2, "order", "stock") {
		e.Again(r, began.Add(-2*time.Minute))
	}
	e.Publish()
	of := func(path string) int { return sourceOf(t, e.Latest().Report, path).Records }
	if of("app.log") != 2 || of(Source) != 5 || of("now.log") != 1 {
		t.Errorf("%+v", e.Latest().Report.Sources)
	}
	e.Flush()
	s := e.Snapshot()
	if len(s.Rejections) != 1 || s.Rejections[0].Count != 1 || len(s.Edges) > 0 || len(s.Entries) > 0 || s.Intake.Weighted+s.Intake.Unweighted > 0 || !s.Intake.LastSpan.IsZero() || s.Intake.SpansHeld > 0 {
		t.Errorf("%+v", s)
	}
	c.pass(90 * time.Second)
	e.Source(SourceNews{Path: "app.log", Format: "app-log"})
	e.Add(refused("now.log", 2, c.now()))
	e.Publish()
	if of("app.log") != 1 || of("now.log") != 2 {
		t.Errorf("what came long ago is looked at for as long as it would have been: %+v", e.Latest().Report.Sources)
	}
}
