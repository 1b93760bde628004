package runbooks

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/correlate"
	"github.com/firebreak-io/firebreak/incident"
)

const incidentsFolder = "../testdata/incidents"

// incidentNames lists the whole incidents of the repository.
func incidentNames(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(incidentsFolder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// reportOf reads a folder and concludes, without walk and actions.
func reportOf(t *testing.T, path string) *incident.Report {
	t.Helper()
	engine := correlate.New(correlate.Config{Version: "test"})
	sources, err := collector.Collect(context.Background(), []string{path}, collector.Options{}, engine.Add)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, s := range sources {
		engine.AddSource(incident.Source{Path: s.Path, Format: s.Format, Bytes: s.Bytes, Records: s.Records, Skipped: s.Skipped})
	}
	return engine.Report()
}

func builtIn(t *testing.T) *Library {
	t.Helper()
	l, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestTwoRoadsMeet holds that the default runbook, which asks what kinds of
// findings there are, comes to the label that the engine weighed.
func TestTwoRoadsMeet(t *testing.T) {
	l := builtIn(t)
	for _, name := range incidentNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := reportOf(t, filepath.Join(incidentsFolder, name))
			if err := l.Apply(r); err != nil {
				t.Fatal(err)
			}
			for _, in := range r.Incidents {
				got := in.Walk[len(in.Walk)-1].Concludes
				if got != in.Label {
					t.Errorf("the engine says %s, the walk %s", in.Label, got)
					for _, w := range in.Walk {
						t.Logf("%-18s %-8s %v", w.Step, w.Answer, w.Because)
					}
					for _, link := range in.Chain {
						t.Logf("%s %s %v", link.Role, link.Label, link.Findings)
					}
				}
				if in.Label != incident.Healthy && in.Label != incident.Inconclusive && len(in.Actions) == 0 {
					t.Error("no actions")
				}
			}
		})
	}
}

// TestFieldsOfFindings holds the table of fields to what the engine gives.
func TestFieldsOfFindings(t *testing.T) {
	said := map[string]bool{}
	for _, name := range incidentNames(t) {
		r := reportOf(t, filepath.Join(incidentsFolder, name))
		for _, f := range r.Findings {
			for _, field := range slices.Concat(keysOf(f.Names), keysOf(f.Values)) {
				if at := string(f.Kind) + "/" + field; !provides(f.Kind, field) && !said[at] {
					said[at] = true
					t.Errorf("%s: %s is not in the table of fields", name, at)
				}
			}
		}
	}
}
