package exporter

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/incident"
)

// ofReport puts a value of the last report; nothing before the first.
func ofReport(f func(p *live.Published) float64) func(view, put) {
	return func(v view, p put) {
		if v.published != nil {
			p.value(f(v.published))
		}
	}
}

// burning tells the links of the incidents that the last report found.
func burning(v view, p put) {
	if v.published == nil {
		return
	}
	type link struct{ label, role string }
	seen := map[link]bool{}
	for _, in := range v.published.Report.Incidents {
		if in.Label == incident.Healthy || in.Label == incident.Inconclusive {
			continue
		}
		for _, l := range in.Chain {
			seen[link{string(l.Label), string(l.Role)}] = true
		}
	}
	for _, l := range slices.SortedFunc(maps.Keys(seen), func(a, b link) int {
		return cmp.Or(cmp.Compare(a.label, b.label), cmp.Compare(a.role, b.role))
	}) {
		p.value(1, l.label, l.role)
	}
}

const maxPools = 200

func poolMembers(v view, p put) {
	if v.published == nil {
		return
	}
	type name struct{ pool, owner string }
	seen := map[name]bool{}
	for _, pool := range v.published.Report.Pools {
		n := name{clean(pool.Name), clean(pool.Owner)}
		if seen[n] || len(seen) == maxPools {
			continue
		}
		seen[n] = true
		for _, s := range []struct {
			state string
			n     *int
		}{{"active", pool.Active}, {"idle", pool.Idle}, {"max", pool.Max}, {"queued", pool.Queued}, {"waiting", pool.Waiting}} {
			if s.n != nil {
				p.value(float64(*s.n), n.owner, n.pool, s.state)
			}
		}
	}
}

func clean(s string) string { return strings.ToValidUTF8(s, "�") }

// candidates tells how few providers were left at each stage of choosing one, on
// the edge that had the fewest.
func candidates(v view, p put) {
	if v.published == nil {
		return
	}
	least := map[string]int{}
	for i := range v.published.Report.Edges {
		for _, s := range v.published.Report.Edges[i].Candidates {
			stage := clean(s.Stage)
			if n, known := least[stage]; known && n <= s.Count || !known && len(least) == maxStages {
				continue
			}
			least[stage] = s.Count
		}
	}
	for _, stage := range slices.Sorted(maps.Keys(least)) {
		p.value(float64(least[stage]), stage)
	}
}

const maxStages = 50

// reportMetrics are those of the last report, and of pools.
var reportMetrics = []metric{
	{"firebreak_incident_active", gauge, []string{"label", "role"}, "1 for each link of the causal chains of the last report; absent if there is none.", "39", burning},
	{"firebreak_pool_members", gauge, []string{"owner", "pool", "state"}, "Members of pools as the last report has them, from logs.", "200 pools x 5", poolMembers},
	{"firebreak_report_timestamp_seconds", gauge, nil, "When the last report was made.", "1", ofReport(func(p *live.Published) float64 { return float64(p.At.UnixMilli()) / 1000 })},
	{"firebreak_report_build_seconds", gauge, nil, "How long making the last report took.", "1", ofReport(func(p *live.Published) float64 { return p.Took.Seconds() })},
	{"firebreak_report_records", gauge, nil, "Records that the last report was made of.", "1", ofReport(func(p *live.Published) float64 { return float64(p.Records) })},
	{"firebreak_report_share_ratio", gauge, nil, "Share of the recent traces that reports are made of; below 1 where memory bounds them. Counters count all.", "1", one(func(v view) float64 { return v.Intake.RecentShare })},
	{"firebreak_pool_rejections_total", counter, []string{"owner", "pool"}, "Tasks that pools refused and borrowers that gave up, as logs tell; what the other end of a call says of it is not counted again.", "200 pools", func(v view, p put) {
		for _, r := range v.Rejections {
			p.value(float64(r.Count), r.Owner, r.Pool)
		}
	}},
	{"firebreak_candidates", gauge, []string{"stage"}, "Providers that were left at a stage of choosing one, on the edge with the fewest, as the last report has them from logs.", "50 stages", candidates},
}
