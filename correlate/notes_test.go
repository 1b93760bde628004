package correlate_test

import (
	"strings"
	"testing"
)

// TestNothingIsSaidTwice holds the notes of incidents to what their chains do not
// say, and what is told of times to when that was.
func TestNothingIsSaidTwice(t *testing.T) {
	timed := 0
	for _, name := range []string{"traces-layers-of-retries", "lab-two-layers", "traces-callee-slow-in-sql", "traces-callee-slow-itself", "traces-vendor-hangs"} {
		r := conclude(t, name)
		for _, in := range r.Incidents {
			for _, l := range in.Chain {
				for _, n := range in.Notes {
					if n.Text == l.Subject {
						t.Errorf("%s: chain and note: %s", name, n.Text)
					}
				}
			}
		}
		for _, f := range r.Findings {
			if strings.HasPrefix(string(f.Kind), "time.") {
				timed++
				if f.First.IsZero() || f.Last.Before(f.First) {
					t.Errorf("%s: %s from %s to %s: %s", name, f.Kind, f.First, f.Last, f.Text)
				}
			}
			if strings.HasSuffix(f.Subject, "-> calls") {
				t.Errorf("%s: %s of nothing named: %s", name, f.Kind, f.Text)
			}
		}
	}
	if timed == 0 {
		t.Error("no finding tells of times")
	}
}
