package correlate

import (
	"fmt"
	"strings"
	"testing"

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
