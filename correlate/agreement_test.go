package correlate_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/internal/golden"
)

const (
	basesBegin = "<!-- bases -->\n"
	basesEnd   = "<!-- /bases -->\n"
)

// basisTally is how often the accounts of one basis agree with what was counted.
type basisTally struct{ compared, near, sampled, told int }

// TestBasesAgree holds the accounts from spans, from the services' logs and from
// nginx, each by itself, to what the lab counted: they agree within 5 %, or the
// report says what that basis leaves out.
func TestBasesAgree(t *testing.T) {
	sums := map[string]*basisTally{"spans": {}, "logs": {}, "access-logs": {}}
	for _, name := range incidentNames(t) {
		w := readTruth(t, name)
		if w.Truth == nil {
			continue
		}
		r := conclude(t, name)
		for i := range r.Edges {
			e := &r.Edges[i]
			for _, want := range w.Truth.Edges {
				if !isCounted(e, want) || e.Consumer == "" || e.Basis != "spans" && e.Basis != "logs" {
					continue
				}
				truth := want.Amplification
				if e.Scope == "failed-calls" {
					truth = want.SinceFault
				}
				sums[e.Basis].add(t, name, e, truth, w.Truth.Kept["traces/otlp.jsonl"], leavesOut(r, e))
			}
		}
		if w.Truth.Kept["nginx/access.log"] == 0 {
			nginxAgrees(t, name, r, w.Truth.Edges, sums["access-logs"])
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n| account from | edges compared | within 5 %% | within the error of the traces kept | beyond, and the report says what it leaves out |\n|---|---:|---:|---:|---:|\n")
	for _, basis := range []string{"spans", "logs", "access-logs"} {
		s := sums[basis]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", basis, s.compared, s.near, s.sampled, s.told)
		if s.compared < 20 {
			t.Errorf("%s: only %d edges compared", basis, s.compared)
		}
	}
	doc, err := os.ReadFile(accuracyDoc)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(doc), basesBegin)
	_, tail, ok2 := strings.Cut(rest, basesEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the bases", accuracyDoc)
	}
	golden.Check(t, accuracyDoc, []byte(head+basesBegin+b.String()+basesEnd+tail))
}

func (s *basisTally) add(t *testing.T, name string, e *incident.Edge, truth, kept float64, out string) {
	t.Helper()
	s.compared++
	said := *e.Amplification
	switch {
	case within(said, truth, 0.05):
		s.near++
	case e.Basis == "spans" && kept > 0 && kept < 1 && math.Abs(said-truth) < 2*spread(e):
		s.sampled++
	case out != "":
		s.told++
	default:
		t.Errorf("%s: %s > %s.%s by %s: %.3f, counted %.3f, and nothing says why", name, e.Consumer, e.Service, e.Method, e.Basis, said, truth)
	}
}

// spread is the standard error of an edge's amplification.
func spread(e *incident.Edge) float64 {
	n, sum := 0.0, 0.0
	for attempts, calls := range e.ByAttempts {
		k, err := strconv.Atoi(attempts)
		if err != nil {
			continue
		}
		n += float64(calls)
		sum += float64(calls) * math.Pow(float64(k)-*e.Amplification, 2)
	}
	return math.Sqrt(sum) / max(1, n)
}

// leavesOut is what a report says that an edge's basis does not know.
func leavesOut(r *incident.Report, e *incident.Edge) string {
	if e.Scope != "" {
		return e.Scope
	}
	for _, s := range r.Sources {
		if e.Basis == "spans" && s.Path == "(spans)" {
			return strings.Join(s.Problems, "; ")
		}
	}
	return ""
}

// nginxAgrees compares what nginx says of the requests that were sent, and of the
// tries that it made of them, with what the load and the gateway counted.
func nginxAgrees(t *testing.T, name string, r *incident.Report, edges []measuredEdge, s *basisTally) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(incidentsRoot, name, "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var counted struct {
		Load struct {
			Result struct {
				Paths []struct {
					Path string
					Sent int64
				}
			}
		}
	}
	if err := json.Unmarshal(data, &counted); err != nil {
		t.Fatal(err)
	}
	for _, p := range counted.Load.Result.Paths {
		verb, _, _ := strings.Cut(strings.TrimPrefix(p.Path, "/"), "/")
		at := slices.IndexFunc(r.Edges, func(e incident.Edge) bool {
			return e.Basis == "access-logs" && e.Consumer == "nginx" && strings.HasPrefix(e.Method, "GET /"+verb+"/")
		})
		inner := slices.IndexFunc(edges, func(e measuredEdge) bool { return e.Service == "OrderService" && strings.EqualFold(e.Method, verb) })
		if at < 0 || inner < 0 || p.Sent == 0 {
			continue
		}
		e := &r.Edges[at]
		if e.Calls == nil || e.Attempts == nil {
			t.Errorf("%s: nginx says no calls of %s", name, e.Method)
			continue
		}
		s.compared++
		if within(float64(*e.Calls), float64(p.Sent), 0.05) && within(float64(*e.Attempts), float64(edges[inner].Calls), 0.05) {
			s.near++
		} else {
			t.Errorf("%s: nginx %s: calls %d, sent %d; attempts %d, the gateway made %d calls of them", name, e.Method, *e.Calls, p.Sent, *e.Attempts, edges[inner].Calls)
		}
	}
}
