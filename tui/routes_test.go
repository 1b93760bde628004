package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

func TestFunnelMarksTheStageThatTookMost(t *testing.T) {
	s := newScene(&incident.Report{})
	s.glyphs = &asciiGlyphs
	p := &page{}
	funnel(s, p, []incident.Stage{{Stage: "directory", Count: 10}, {Stage: "mesh", Count: 10}, {Stage: "app", Count: 10}, {Stage: "tag-router", Count: 4}, {Stage: "after-route", Count: 4}, {Stage: "tried", Count: 2}}, 60, row{})
	var got []string
	for i := range p.rows {
		got = append(got, strings.Join(strings.Fields(strings.NewReplacer("#", "", ".", "").Replace(p.rows[i].text().plain())), " "))
	}
	want := []string{"directory 10", "2 routers changed nothing", "! tag-router 4 -6 the most", "after-route 4", "tried 2 -2"}
	if !slices.Equal(got, want) {
		t.Errorf("the funnel is\n%q, want\n%q", got, want)
	}
	if got := steps([]incident.Stage{{Count: 10}, {Count: 10}, {Count: 4}, {Count: 2}}); got != "10 > 4 > 2" {
		t.Errorf("steps are %q", got)
	}
}

func TestUneven(t *testing.T) {
	for _, test := range []struct {
		top, sum int64
		n        int
		want     bool
	}{{80, 100, 1, false}, {79, 100, 2, false}, {80, 100, 2, true}, {67, 100, 3, true}, {66, 100, 3, false}, {50, 100, 4, true}, {10, 10, 4, false}} {
		if got := uneven(test.top, test.sum, test.n); got != test.want {
			t.Errorf("%d of %d at %d providers: %v", test.top, test.sum, test.n, got)
		}
	}
}

// What findings say of a service goes to its calls; a service that nobody could
// call has a route of its own, with what routing left.
func TestRoutesGatherWhatBelongsTogether(t *testing.T) {
	r := &incident.Report{
		Edges: []incident.Edge{
			{Service: "x.Sku", Method: "get", Basis: "logs", Candidates: []incident.Stage{{Stage: "valid", Count: 4}, {Stage: "tag", Count: 2}}},
			{Consumer: "order", Service: "x.Sku", Method: "get", Basis: "spans", Providers: []incident.ProviderShare{{Name: "a", Attempts: 90}, {Name: "b", Attempts: 10}}},
			{Consumer: "order", Service: "x.One", Method: "get", Basis: "spans", Providers: []incident.ProviderShare{{Name: "a", Attempts: 90}}},
		},
		Findings: []incident.Finding{
			{ID: "f1", Kind: incident.RouteNarrow, Subject: "Sku", Text: "routing left 2 of 4", Names: map[string]string{"service": "x.Sku", "consumer": "order"}, Citations: []evidence.Citation{{Source: "a.log", Line: 1}}},
			{ID: "f2", Kind: incident.RouteNone, Subject: "Pay", Text: "no provider", Names: map[string]string{"service": "x.Pay", "consumer": "order", "router": "TagRouter"}, Values: map[string]float64{"candidates.first": 6, "candidates.last": 0}, Citations: []evidence.Citation{{Source: "a.log", Line: 2}}},
		},
	}
	var got []string
	for _, it := range newScene(r).routeItems() {
		got = append(got, fmt.Sprintf("%s: %s, %d findings, %.0f %% at %s", it.name, steps(it.stages), len(it.findings), 100*it.share, it.worst))
	}
	want := []string{"order -> Pay: 6 > 0, 1 findings, 0 % at ", "order -> Sku.get: 4 > 2, 1 findings, 90 % at a"}
	if !slices.Equal(got, want) {
		t.Errorf("routes are\n%q, want\n%q", got, want)
	}
	d := start(t, r, 100, 40)
	d.press("6").shows("nobody left by TagRouter", "tag took 2, 90 % went to a").do("enter").shows("before routing", "-6 the most", "f2")
}
