package correlate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

func TestCollectorIsJudgedByPlace(t *testing.T) {
	log := func(pod string, file int, pause float64, pauses int, observed float64) []*evidence.Record {
		var list []*evidence.Record
		add := func(line int, m evidence.Mark) {
			list = append(list, &evidence.Record{
				Place: evidence.Place{Service: "order", Instance: pod}, Mark: &m,
				Cite: evidence.Citation{Source: fmt.Sprintf("order/%s/gc.log.%d", pod, file), Line: line},
			})
		}
		for i := range pauses {
			add(i+1, evidence.Mark{Kind: evidence.MarkGCPause, Value: pause})
		}
		add(1, evidence.Mark{Kind: evidence.MarkGCObserved, Text: "G1", Value: observed})
		return list
	}
	for _, c := range []struct {
		name string
		logs [][]*evidence.Record
		want incident.Kind
		text string
	}{
		{"one quiet log", [][]*evidence.Record{log("order-0", 0, 0.01, 20, 100)}, incident.GCQuiet, "paused 0 % of 100 s"},
		{"one log that stands still", [][]*evidence.Record{log("order-0", 0, 0.4, 100, 100)}, incident.GCPauses, "paused 40 % of 100 s"},
		{"rotated logs follow each other", [][]*evidence.Record{log("order-0", 0, 0.4, 20, 100), log("order-0", 1, 0.4, 20, 100)}, "", ""},
		{"the worst of several is told", [][]*evidence.Record{log("order-0", 0, 0.01, 20, 100), log("order-1", 0, 0.4, 100, 100), log("order-2", 0, 0.01, 20, 100)}, incident.GCPauses, "of order-1 paused 40 % of 100 s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := New(Config{})
			for _, l := range c.logs {
				for _, r := range l {
					if err := e.Add(r); err != nil {
						t.Fatal(err)
					}
				}
			}
			var got []string
			found := false
			for _, f := range e.Report().Findings {
				got = append(got, fmt.Sprintf("%s: %s", f.Kind, f.Text))
				found = found || f.Kind == c.want && strings.Contains(f.Text, c.text)
				if c.want == "" && (f.Kind == incident.GCPauses || f.Kind == incident.GCQuiet) {
					t.Errorf("unexpected %s: %s", f.Kind, f.Text)
				}
			}
			if c.want != "" && !found {
				t.Errorf("findings %q, want %s with %q", got, c.want, c.text)
			}
		})
	}
}

// TestQuietMorningDoesNotClearABadMinute spreads one log over an hour: the whole
// says little of the half minute in which the collector hardly let go.
func TestQuietMorningDoesNotClearABadMinute(t *testing.T) {
	from := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	e := New(Config{})
	line := 0
	add := func(at time.Duration, kind string, value float64, subject string) {
		line++
		if err := e.Add(&evidence.Record{Time: from.Add(at), Place: evidence.Place{Instance: "product-1"}, Cite: evidence.Citation{Source: "product-1/gc.log", Line: line}, Mark: &evidence.Mark{Kind: kind, Value: value, Subject: subject}}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 360 {
		add(time.Duration(i)*10*time.Second, evidence.MarkGCPause, 0.01, "")
	}
	for i := range 60 {
		add(30*time.Minute+time.Duration(i)*500*time.Millisecond, evidence.MarkGCPause, 0.2, "")
	}
	add(31*time.Minute, evidence.MarkGCPause, 0.2, evidence.LongestOnly)
	for _, f := range e.Report().Findings {
		switch f.Kind {
		case incident.GCPauses:
			if f.Values["gc.share"] != 0.004 || f.Values["gc.worst_share"] != 0.401 || !strings.Contains(f.Text, "40 % of its worst 20 s") {
				t.Errorf("%v: %s", f.Values, f.Text)
			}
			return
		case incident.GCQuiet:
			t.Errorf("called quiet: %s", f.Text)
		}
	}
	t.Error("nothing is said of the pauses")
}
