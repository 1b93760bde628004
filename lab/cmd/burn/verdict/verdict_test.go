package verdict

import (
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/truth"
)

func answer() *incident.Report {
	return &incident.Report{
		Incidents: []incident.Incident{{
			Label: "slow-sql", Certainty: incident.High,
			Chain: []incident.Link{{Role: "trigger", Label: "slow-sql"}, {Role: "victim", Label: "pool-starvation"}},
		}},
		Edges: []incident.Edge{{Method: "getSkuStock", Amplification: new(2.9), Basis: "logs", Scope: "failed-calls"}},
	}
}

func counted() *truth.Truth {
	return &truth.Truth{
		Expect: truth.Expect{
			Label: "slow-sql", Chain: []string{"trigger slow-sql", "victim pool-starvation"}, Edge: "SkuService.getSkuStock", Not: []string{"healthy"},
		},
		Edges:      []truth.Total{{Edge: "SkuService.getSkuStock", Amplification: 2.2}},
		FaultEdges: []truth.Total{{Edge: "SkuService.getSkuStock", Amplification: 3}},
	}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*incident.Report, *truth.Truth)
		wrong  string // contained in the only complaint; empty: none
	}{
		{"right", func(*incident.Report, *truth.Truth) {}, ""},
		{"another label", func(r *incident.Report, _ *truth.Truth) { r.Incidents[0].Label = "gc-pause" }, "label gc-pause"},
		{"another label that is accepted", func(r *incident.Report, t *truth.Truth) {
			r.Incidents[0].Label = "inconclusive"
			t.Expect.Or = []string{"inconclusive"}
		}, ""},
		{"another chain", func(r *incident.Report, _ *truth.Truth) { r.Incidents[0].Chain = r.Incidents[0].Chain[:1] }, "chain"},
		{"amplification off", func(r *incident.Report, _ *truth.Truth) { *r.Edges[0].Amplification = 2.8 }, "counted 3.000 since the fault"},
		{"by spans, of the whole window", func(r *incident.Report, _ *truth.Truth) { r.Edges[0].Scope, *r.Edges[0].Amplification = "", 2.25 }, ""},
		{"by spans, off", func(r *incident.Report, _ *truth.Truth) { r.Edges[0].Scope = "" }, "counted 2.200"},
		{"unknown amplification", func(r *incident.Report, _ *truth.Truth) { r.Edges = nil }, "no amplification"},
		{"too sure of what does no harm", func(_ *incident.Report, t *truth.Truth) { t.Expect.Caps = map[string]string{"slow-sql": "medium"} }, "at most medium"},
		{"a second incident that is refused", func(r *incident.Report, _ *truth.Truth) {
			r.Incidents = append(r.Incidents, incident.Incident{Label: "healthy"})
		}, "an incident is healthy"},
		{"nothing", func(r *incident.Report, _ *truth.Truth) { r.Incidents = nil }, "no incident"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, tr := answer(), counted()
			c.change(r, tr)
			_, wrong := Judge(r, tr)
			switch {
			case c.wrong == "" && len(wrong) > 0:
				t.Errorf("wrong: %q", wrong)
			case c.wrong != "" && (len(wrong) != 1 || !strings.Contains(wrong[0], c.wrong)):
				t.Errorf("wrong: %q, want one with %q", wrong, c.wrong)
			}
		})
	}
}
