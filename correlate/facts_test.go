package correlate_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/internal/golden"
)

const (
	factsBegin = "<!-- facts -->\n"
	factsEnd   = "<!-- /facts -->\n"
)

// fact is one number or chain that a report says beside what was counted, or
// what a person concluded.
type fact struct {
	what    string
	right   bool
	guessed bool // the constant guess would have been right
	unsaid  bool
}

// TestFacts measures chains and numbers over all incidents, and compares the
// tables with docs/accuracy.md.
func TestFacts(t *testing.T) {
	var facts []fact
	var rows []string
	chains := map[string]int{}
	names := incidentNames(t)
	for _, name := range names {
		if w := readTruth(t, name); len(w.Chain) > 0 {
			chains[strings.Join(w.Chain, " -> ")]++
		}
	}
	likely := commonest(chains)
	for _, name := range names {
		w := readTruth(t, name)
		if len(w.Chain) == 0 && w.Truth == nil && len(w.Edges)+len(w.Pools) == 0 {
			continue
		}
		r := conclude(t, name)
		in := w.ours(r)
		if len(w.Chain) > 0 {
			var said []string
			for _, l := range in.Chain {
				said = append(said, string(l.Role)+" "+string(l.Label))
			}
			facts = append(facts, fact{what: "chain", right: slices.Equal(said, w.Chain), unsaid: len(said) == 0, guessed: strings.Join(w.Chain, " -> ") == likely})
		}
		facts = append(facts, edgeFacts(r, w)...)
		facts = append(facts, poolFacts(r, w)...)
		if w.Truth != nil {
			rows = append(rows, captureRow(name, in, r, w))
		}
	}
	table := factsTable(facts) + captureTable(rows)
	t.Log("\n" + table)
	doc, err := os.ReadFile(accuracyDoc)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(doc), factsBegin)
	_, tail, ok2 := strings.Cut(rest, factsEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the facts", accuracyDoc)
	}
	golden.Check(t, accuracyDoc, []byte(head+factsBegin+table+factsEnd+tail))
}

func commonest(counts map[string]int) string {
	best := ""
	for k, n := range counts {
		if best == "" || n > counts[best] || n == counts[best] && k < best {
			best = k
		}
	}
	return best
}

// edgeFacts compares amplifications with those counted in the lab, or known to
// whoever composed the evidence.
func edgeFacts(r *incident.Report, w truth) []fact {
	var facts []fact
	add := func(e *incident.Edge, counted, tolerance float64) {
		f := fact{what: "amplification", guessed: within(1, counted, tolerance)}
		if e == nil || e.Amplification == nil {
			f.unsaid = true
		} else {
			f.right = within(*e.Amplification, counted, tolerance)
		}
		facts = append(facts, f)
	}
	for _, want := range w.Edges {
		if want.Amplification == 0 {
			continue
		}
		i := slices.IndexFunc(r.Edges, func(e incident.Edge) bool { return want.names(&e) })
		if i < 0 {
			add(nil, want.Amplification, 0.05)
			continue
		}
		add(&r.Edges[i], want.Amplification, 0.05)
	}
	if w.Truth != nil {
		for _, want := range w.Truth.Edges {
			e := countedEdge(r, want)
			counted := want.Amplification
			if e != nil && e.Scope != "" {
				counted = want.SinceFault
			}
			add(e, counted, 0.05)
		}
	}
	return facts
}

// countedEdge is the report's first edge, the one on the best basis, that is
// about what was counted.
func countedEdge(r *incident.Report, want measuredEdge) *incident.Edge {
	for i := range r.Edges {
		if e := &r.Edges[i]; isCounted(e, want) {
			return e
		}
	}
	return nil
}

func isCounted(e *incident.Edge, want measuredEdge) bool {
	return strings.EqualFold(e.Method, want.Method) && strings.HasSuffix(strings.ToLower(e.Service), strings.ToLower(want.Service)) && e.Amplification != nil
}

func poolFacts(r *incident.Report, w truth) []fact {
	var facts []fact
	for _, want := range w.Pools {
		if want.Max == nil {
			continue
		}
		i := slices.IndexFunc(r.Pools, func(p incident.Pool) bool { return strings.Contains(p.Name, want.Name) })
		f := fact{what: "size of a pool", guessed: *want.Max == 200, unsaid: i < 0 || r.Pools[i].Max == nil}
		f.right = !f.unsaid && int64(*r.Pools[i].Max) == *want.Max
		facts = append(facts, f)
	}
	return facts
}

func factsTable(facts []fact) string {
	guesses := map[string]string{"chain": "the commonest chain", "amplification": "1.0x", "size of a pool": "200"}
	var b strings.Builder
	fmt.Fprintf(&b, "\n| fact | known | right | not said | constant guess | right by it |\n|---|---:|---:|---:|---|---:|\n")
	for _, what := range []string{"chain", "amplification", "size of a pool"} {
		n, right, unsaid, guessed := 0, 0, 0, 0
		for _, f := range facts {
			if f.what != what {
				continue
			}
			n++
			right += one(f.right)
			unsaid += one(f.unsaid)
			guessed += one(f.guessed)
		}
		fmt.Fprintf(&b, "| %s | %d | %d (%s) | %d | %s | %d (%s) |\n", what, n, right, percent(right, n), unsaid, guesses[what], guessed, percent(guessed, n))
	}
	return b.String()
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// captureRow is what a report says of a capture of the lab beside what was
// counted there.
func captureRow(name string, in *incident.Incident, r *incident.Report, w truth) string {
	edge, counted, said := "–", "–", "–"
	for _, want := range w.Truth.Edges {
		if !want.Main {
			continue
		}
		edge, counted = want.Method, fmt.Sprintf("%.2fx (%d / %d)", want.Amplification, want.Attempts, want.Calls)
		var each []string
		for i := range r.Edges {
			e := &r.Edges[i]
			if !isCounted(e, want) || e.Consumer == "" {
				continue
			}
			truth := want.Amplification
			basis := e.Basis
			if e.Scope == "failed-calls" {
				truth, basis = want.SinceFault, "logs since the fault"
			}
			each = append(each, fmt.Sprintf("%.2fx %s (%+.1f %%)", *e.Amplification, basis, 100*(*e.Amplification/truth-1)))
		}
		if len(each) > 0 {
			said = strings.Join(each, ", ")
		}
	}
	mark := "✓"
	switch {
	case in.Label == abstaining && !w.accepts(in.Label):
		mark = "?"
	case !w.accepts(in.Label):
		mark = "✗"
	}
	want := string(w.Label)
	for _, l := range w.Or {
		want += ", " + string(l)
	}
	return fmt.Sprintf("| %s | %s | %s %s (%s) | %s | %s | %s |\n", name, want, mark, in.Label, in.Certainty, edge, counted, said)
}

func captureTable(rows []string) string {
	if len(rows) == 0 {
		return ""
	}
	return "\n| capture | accepted | said | edge | counted | said of it |\n|---|---|---|---|---|---|\n" + strings.Join(rows, "")
}
