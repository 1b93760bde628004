// Package verdict asks firebreak about captured evidence, as a user would on the
// command line, and holds its answer against the truth.
package verdict

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/env"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/truth"
)

// Tolerance is how far a reported amplification may be from the counted one.
const Tolerance = 0.05

// Build builds firebreak into a folder.
func Build(ctx context.Context, dir string) (string, error) {
	tool := filepath.Join(dir, "firebreak")
	_, err := env.Run(ctx, "", "go", "build", "-o", tool, "github.com/firebreak-io/firebreak/cmd/firebreak")
	return tool, err
}

// Ask runs firebreak report on a folder of evidence and keeps its answer in a file.
func Ask(ctx context.Context, tool, evidence, keep string) (*incident.Report, error) {
	out, err := env.Run(ctx, "", tool, "report", evidence, "--format", "json", "--quiet")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(keep, out, 0o644); err != nil {
		return nil, err
	}
	r := &incident.Report{}
	if err := json.Unmarshal(out, r); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return r, nil
}

// Judge gives the answer in a line and what is wrong with it.
func Judge(r *incident.Report, t *truth.Truth) (said string, wrong []string) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if len(r.Incidents) == 0 {
		return "no incident", []string{"there is no incident"}
	}
	in := &r.Incidents[0]
	var chain []string
	for _, link := range in.Chain {
		chain = append(chain, string(link.Role)+" "+string(link.Label))
	}
	label, want := string(in.Label), t.Expect
	said = fmt.Sprintf("%s (%s) [%s]", label, in.Certainty, strings.Join(chain, ", "))
	if label != want.Label && !slices.Contains(want.Or, label) {
		bad("label %s, want %s %v: %s", label, want.Label, want.Or, in.Headline)
	}
	if limit, there := want.Caps[label]; there && rank(string(in.Certainty)) > rank(limit) {
		bad("%s is said with certainty %s, want at most %s", label, in.Certainty, limit)
	}
	for _, other := range r.Incidents {
		if slices.Contains(want.Not, string(other.Label)) {
			bad("an incident is %s", other.Label)
		}
	}
	if len(want.Chain) > 0 && label == want.Label && !slices.Equal(chain, want.Chain) {
		bad("chain %v, want %v", chain, want.Chain)
	}
	if want.Edge == "" {
		return said, wrong
	}
	_, method, _ := strings.Cut(want.Edge, ".")
	i := slices.IndexFunc(r.Edges, func(e incident.Edge) bool { return strings.EqualFold(e.Method, method) && e.Amplification != nil })
	if i < 0 {
		counted := truth.Amplification(t.Edges, want.Edge)
		said += fmt.Sprintf(", amplification of %s unknown, counted %.2f", method, counted)
		if counted > 1+Tolerance {
			bad("%s: no amplification, counted %.3f", want.Edge, counted)
		}
		return said, wrong
	}
	// Logs tell of calls that failed, which are those since the fault.
	counted, when := truth.Amplification(t.Edges, want.Edge), ""
	if r.Edges[i].Scope != "" {
		counted, when = truth.Amplification(t.FaultEdges, want.Edge), " since the fault"
	}
	got := *r.Edges[i].Amplification
	said += fmt.Sprintf(", %s %.2fx by %s, counted %.2fx%s", method, got, r.Edges[i].Basis, counted, when)
	if math.Abs(got-counted) > Tolerance*counted {
		bad("%s: amplification %.3f, counted %.3f%s", want.Edge, got, counted, when)
	}
	return said, wrong
}

func rank(certainty string) int {
	return slices.Index([]string{string(incident.Low), string(incident.Medium), string(incident.High)}, certainty)
}
