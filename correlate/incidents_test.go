package correlate_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/correlate"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/parsers"
)

const incidentsRoot = "../testdata/incidents"

// truth is want.json: what a person who knows the truth concludes.
type truth struct {
	Why          string
	Label        incident.Label
	Or           []incident.Label
	Also         []incident.Label
	Incidents    int
	Chain        []string
	ActFirst     incident.Label `json:"act_first"`
	Not          []incident.Label
	Edges        []truthEdge
	Pools        []truthPool
	SQL          []truthSQL
	Paths        []truthPath
	Findings     []incident.Kind
	NoFindings   []incident.Kind `json:"no_findings"`
	Says         []string
	MinCertainty incident.Certainty `json:"min_certainty"`
	MaxCertainty incident.Certainty `json:"max_certainty"`
	// Caps are labels that are accepted only if they are said with doubt.
	Caps map[incident.Label]incident.Certainty
	// Truth is what the services of the lab counted.
	Truth *measured
}

// measured are numbers that were counted where the incident happened.
type measured struct {
	Tolerance float64
	Edges     []measuredEdge
	Pools     []measuredPool
	Kept      map[string]float64 // share of a file that was kept, where not all was
}

type measuredEdge struct {
	Service, Method string
	Calls, Attempts int64
	Amplification   float64 // over the whole window
	SinceFault      float64 `json:"since_fault"`
	Main            bool    // the edge that the incident is about
}

type measuredPool struct {
	Instance   string
	Max        int64
	ActivePeak int64 `json:"active_peak"`
	Rejected   int64
}

// truthEdge is an edge with what it must say; names that are not given may be any.
type truthEdge struct {
	Consumer, Service, Method, Basis string
	Calls, Attempts                  int64
	Amplification, Tolerance         float64
}

func (want truthEdge) names(e *incident.Edge) bool {
	return (want.Consumer == "" || e.Consumer == want.Consumer) && (want.Service == "" || e.Service == want.Service || e.Provider == want.Service) &&
		(want.Method == "" || e.Method == want.Method) && (want.Basis == "" || e.Basis == want.Basis)
}

type truthPath struct{ Amplification, Load float64 }

type truthPool struct {
	Name                          string
	Max, Active, Queued, Rejected *int64
}

type truthSQL struct {
	Contains     string
	RunningNow   int   `json:"running_now"`
	RowsExamined int64 `json:"rows_examined"`
	FullScan     *bool `json:"full_scan"`
}

// misses are the incidents whose verdict is known to be wrong, with what the
// engine says instead. An incident that comes right must leave the list.
var misses = map[string]string{
	"duplicate-writes-without-unique-key": "one business key in the logs of three providers is not joined",
}

// incidentNames lists the composed incidents.
func incidentNames(t *testing.T) []string {
	t.Helper()
	dirs, err := os.ReadDir(incidentsRoot)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range dirs {
		if d.IsDir() {
			names = append(names, d.Name())
		}
	}
	if len(names) < 40 {
		t.Fatalf("only %d incidents", len(names))
	}
	return names
}

func readTruth(t *testing.T, name string) truth {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(incidentsRoot, name, "want.json"))
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var w truth
	if err := dec.Decode(&w); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if !slices.Contains(incident.Labels(), w.Label) || w.Why == "" {
		t.Fatalf("%s: label %q, why %q", name, w.Label, w.Why)
	}
	return w
}

// answers are the files of an incident that tell the truth about it.
func answers(dir string) []string {
	return []string{filepath.Join(dir, "want.json"), filepath.Join(dir, "truth.json")}
}

// conclude reads an incident's evidence and gives the report.
func conclude(t *testing.T, name string) *incident.Report {
	t.Helper()
	dir := filepath.Join(incidentsRoot, name)
	e := correlate.New(correlate.Config{Version: "test", Fingerprint: parsers.Fingerprint})
	sources, err := collector.Collect(context.Background(), []string{dir}, collector.Options{
		Zone: time.UTC, Exclude: answers(dir),
	}, e.Add)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources {
		e.AddSource(incident.Source{
			Path: s.Path, Format: s.Format, Bytes: s.Bytes, Records: s.Records, Skipped: s.Skipped,
			From: s.From, To: s.To, Problems: s.Problems,
		})
	}
	return e.Report()
}

func TestIncidents(t *testing.T) {
	for _, name := range incidentNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := judge(conclude(t, name), readTruth(t, name))
			reason, known := misses[name]
			switch {
			case len(wrong) > 0 && known:
				t.Logf("known miss (%s):\n  %s", reason, strings.Join(wrong, "\n  "))
			case len(wrong) > 0:
				t.Errorf("%s", strings.Join(wrong, "\n"))
			case known:
				t.Errorf("is right now: take it out of misses")
			}
		})
	}
	for name := range misses {
		if _, err := os.Stat(filepath.Join(incidentsRoot, name)); err != nil {
			t.Errorf("misses: %v", err)
		}
	}
}

// accepts reports whether a label is an accepted answer.
func (w truth) accepts(l incident.Label) bool { return l == w.Label || slices.Contains(w.Or, l) }

// ours is the incident of a report that the truth's label is about: the first
// that it accepts, else the first.
func (w truth) ours(r *incident.Report) *incident.Incident {
	for i := range r.Incidents {
		if w.accepts(r.Incidents[i].Label) {
			return &r.Incidents[i]
		}
	}
	return &r.Incidents[0]
}

// judge lists what is wrong with a report.
func judge(r *incident.Report, w truth) []string {
	var wrong []string
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if len(r.Incidents) == 0 {
		return []string{"there is no incident"}
	}
	in := w.ours(r)
	if !w.accepts(in.Label) {
		bad("label %s (%s), want %s: %s", in.Label, in.Certainty, w.Label, in.Headline)
	}
	labels := []incident.Label{}
	for _, each := range r.Incidents {
		labels = append(labels, each.Label)
	}
	for _, l := range w.Also {
		if !slices.Contains(labels, l) {
			bad("no incident is %s: %v", l, labels)
		}
	}
	if w.Incidents > 0 && len(r.Incidents) != w.Incidents {
		bad("%d incidents %v, want %d", len(r.Incidents), labels, w.Incidents)
	}
	for _, l := range w.Not {
		if slices.Contains(labels, l) {
			bad("an incident is %s", l)
		}
	}
	if len(w.Chain) > 0 {
		var chain []string
		for _, link := range in.Chain {
			chain = append(chain, string(link.Role)+" "+string(link.Label))
		}
		if !slices.Equal(chain, w.Chain) {
			bad("chain %v, want %v", chain, w.Chain)
		}
	}
	if w.ActFirst != "" && in.ActFirst != w.ActFirst {
		bad("act first on %q, want %q", in.ActFirst, w.ActFirst)
	}
	if w.accepts(in.Label) {
		if w.MinCertainty != "" && rank(in.Certainty) < rank(w.MinCertainty) {
			bad("certainty %s, want at least %s", in.Certainty, w.MinCertainty)
		}
		if w.MaxCertainty != "" && rank(in.Certainty) > rank(w.MaxCertainty) {
			bad("certainty %s, want at most %s", in.Certainty, w.MaxCertainty)
		}
	}
	if most, there := w.Caps[in.Label]; there && rank(in.Certainty) > rank(most) {
		bad("%s is said with certainty %s, want at most %s", in.Label, in.Certainty, most)
	}
	said := sentences(r)
	for _, s := range w.Says {
		if !strings.Contains(said, s) {
			bad("nothing says %q", s)
		}
	}
	wrong = append(wrong, judgeMeasured(r, w.Truth)...)
	return append(wrong, judgeFacts(r, w)...)
}

// judgeMeasured compares amplifications with those that were counted. A report
// that knows only calls that failed is compared with the time since the fault.
func judgeMeasured(r *incident.Report, m *measured) []string {
	if m == nil {
		return nil
	}
	var wrong []string
	for _, want := range m.Edges {
		if !want.Main {
			continue
		}
		i := slices.IndexFunc(r.Edges, func(e incident.Edge) bool {
			return strings.EqualFold(e.Method, want.Method) && e.Amplification != nil
		})
		switch {
		case i < 0 && want.Amplification > 1+m.Tolerance:
			wrong = append(wrong, fmt.Sprintf("%s: amplification unknown, counted %v", want.Method, want.Amplification))
		case i >= 0:
			counted := want.Amplification
			if r.Edges[i].Scope != "" {
				counted = want.SinceFault
			}
			if got := *r.Edges[i].Amplification; got < counted*(1-m.Tolerance) || got > counted*(1+m.Tolerance) {
				wrong = append(wrong, fmt.Sprintf("%s: amplification %.3f, counted %v", want.Method, got, counted))
			}
		}
	}
	return wrong
}

func rank(c incident.Certainty) int {
	return slices.Index([]incident.Certainty{incident.Low, incident.Medium, incident.High}, c)
}

// sentences is all that the report says of the incidents and findings.
func sentences(r *incident.Report) string {
	var b strings.Builder
	for _, in := range r.Incidents {
		fmt.Fprintln(&b, in.Headline)
		for _, n := range in.Notes {
			fmt.Fprintln(&b, n.Text)
		}
		for _, l := range in.Chain {
			fmt.Fprintln(&b, l.Subject)
		}
	}
	for _, f := range r.Findings {
		fmt.Fprintln(&b, f.Subject, f.Text)
	}
	return b.String()
}

// judgeFacts lists the numbers of a report that are not as in the truth.
func judgeFacts(r *incident.Report, w truth) []string {
	var wrong []string
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, want := range w.Edges {
		i := slices.IndexFunc(r.Edges, func(e incident.Edge) bool { return want.names(&e) })
		if i < 0 {
			var there []string
			for _, e := range r.Edges {
				there = append(there, strings.Join([]string{e.Consumer, e.Provider, e.Service, e.Method, e.Basis}, "|"))
			}
			bad("no edge is %+v: %q", want, there)
			continue
		}
		e := r.Edges[i]
		near := cmp.Or(want.Tolerance, 0.03)
		if want.Amplification > 0 && (e.Amplification == nil || !within(*e.Amplification, want.Amplification, near)) {
			bad("edge %s: amplification %s, want %v", e.Method, show(e.Amplification), want.Amplification)
		}
		if want.Calls > 0 && (e.Calls == nil || !within(float64(*e.Calls), float64(want.Calls), want.Tolerance)) ||
			want.Attempts > 0 && (e.Attempts == nil || !within(float64(*e.Attempts), float64(want.Attempts), want.Tolerance)) {
			bad("edge %s: %s calls, %s attempts, want %d, %d", e.Method, show(e.Calls), show(e.Attempts), want.Calls, want.Attempts)
		}
	}
	for _, want := range w.Paths {
		if !slices.ContainsFunc(r.Paths, func(p incident.Path) bool {
			return within(p.Amplification, want.Amplification, 0.005) && (want.Load == 0 || within(p.Load, want.Load, 0.005))
		}) {
			bad("no path is amplified %v: %+v", want, r.Paths)
		}
	}
	for _, k := range w.Findings {
		if !slices.ContainsFunc(r.Findings, func(f incident.Finding) bool { return f.Kind == k }) {
			bad("no finding is %s", k)
		}
	}
	for _, f := range r.Findings {
		if slices.Contains(w.NoFindings, f.Kind) {
			bad("a finding is %s: %s", f.Kind, f.Text)
		}
	}
	for _, want := range w.Pools {
		i := slices.IndexFunc(r.Pools, func(p incident.Pool) bool { return strings.Contains(p.Name, want.Name) })
		if i < 0 {
			bad("no pool is named %s", want.Name)
			continue
		}
		p := r.Pools[i]
		for _, n := range []struct {
			what string
			want *int64
			got  *int64
		}{{"max", want.Max, wide(p.Max)}, {"active", want.Active, wide(p.Active)}, {"queued", want.Queued, wide(p.Queued)}, {"rejected", want.Rejected, p.Rejected}} {
			if n.want != nil && (n.got == nil || *n.got != *n.want) {
				bad("pool %s: %s is %s, want %d", p.Name, n.what, show(n.got), *n.want)
			}
		}
	}
	for _, want := range w.SQL {
		i := slices.IndexFunc(r.SQL, func(s incident.Fingerprint) bool { return strings.Contains(s.Fingerprint, want.Contains) })
		if i < 0 {
			bad("no fingerprint contains %q", want.Contains)
			continue
		}
		s := r.SQL[i]
		if want.RunningNow > 0 && (s.RunningNow == nil || *s.RunningNow != want.RunningNow) {
			bad("%q: running now %s, want %d", want.Contains, show(s.RunningNow), want.RunningNow)
		}
		if want.RowsExamined > 0 && (s.RowsExamined == nil || *s.RowsExamined != want.RowsExamined) {
			bad("%q: rows examined %s, want %d", want.Contains, show(s.RowsExamined), want.RowsExamined)
		}
		if want.FullScan != nil && (s.FullScan == nil || *s.FullScan != *want.FullScan) {
			bad("%q: full scan %s, want %v", want.Contains, show(s.FullScan), *want.FullScan)
		}
	}
	return wrong
}

// within reports whether a number is the one wanted, up to a share of it.
func within(got, want, share float64) bool { return math.Abs(got-want) <= share*want }

func wide(n *int) *int64 {
	if n == nil {
		return nil
	}
	return new(int64(*n))
}

func show[T any](v *T) string {
	if v == nil {
		return "unknown"
	}
	return fmt.Sprint(*v)
}
