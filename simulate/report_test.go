package simulate

import (
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

func ptr[T any](v T) *T { return &v }

func cite(line int) []evidence.Citation {
	return []evidence.Citation{{Source: "app.log", Line: line}}
}

// burning is a report of a fleet of two providers, as the engine makes them.
func burning() *incident.Report {
	const edge = "order -> SkuService.getSkuStock"
	from := time.Date(2026, 3, 14, 10, 2, 0, 0, time.UTC)
	pool := func(owner string, line int) incident.Pool {
		return incident.Pool{
			Name: "DubboServerHandler-" + owner, Owner: owner, Kind: "thread", Max: ptr(100), Active: ptr(100), Queued: ptr(0), Rejected: ptr(int64(60)),
			CompletedPerSecond: ptr(32.0), HoldSeconds: ptr(3.1), Diagnosis: "slow", Citations: cite(line),
		}
	}
	about := func(id, owner string) incident.Finding {
		name := "DubboServerHandler-" + owner
		return incident.Finding{
			ID: id, Kind: incident.PoolExhausted, Subject: name, Names: map[string]string{"pool": name, "service": "product"}, First: from, Last: from.Add(time.Minute), Count: 60, Citations: cite(1),
		}
	}
	return &incident.Report{
		Window: incident.Window{From: from, To: from.Add(time.Minute)},
		Incidents: []incident.Incident{{
			Label: incident.SlowSQL, Window: incident.Window{From: from, To: from.Add(time.Minute)},
			Chain: []incident.Link{{Role: incident.Amplifier, Label: incident.RetryAmplification, Findings: []string{"f1"}}, {Role: incident.Victim, Label: incident.PoolStarvation, Findings: []string{"f2", "f3"}}},
		}},
		Findings: []incident.Finding{
			{ID: "f0", Kind: incident.RetryNone, Subject: "web -> Other.get", Citations: cite(1)},
			{ID: "f1", Kind: incident.RetryAmplified, Subject: edge, Citations: cite(2)},
			about("f2", "10.20.1.21:20880"), about("f3", "10.20.1.22:20880"),
		},
		Edges: []incident.Edge{
			{Consumer: "web", Service: "com.acme.Other", Method: "get", Calls: ptr(int64(9)), Attempts: ptr(int64(9)), Basis: "spans"},
			{Consumer: "order", Service: "com.acme.SkuService", Method: "getSkuStock", Calls: ptr(int64(30)), Attempts: ptr(int64(90)), Amplification: ptr(3.0), Ceiling: ptr(3), Scope: "failed-calls", Basis: "logs"},
			{
				Consumer: "order", Service: "com.acme.SkuService", Method: "getSkuStock", Calls: ptr(int64(18_000)), Attempts: ptr(int64(54_000)), Amplification: ptr(3.0),
				Ceiling: ptr(3), TimeoutMS: ptr(int64(1000)), Basis: "spans", Citations: cite(7),
			},
		},
		Pools: []incident.Pool{
			{Name: "DubboServerHandler-10.20.9.9:20880", Owner: "10.20.9.9:20880", Kind: "thread", Max: ptr(500)}, // another service's
			pool("10.20.1.21:20880", 11), pool("10.20.1.22:20880", 12),
		},
	}
}

func hows(origins []Origin) string {
	var b strings.Builder
	for _, o := range origins {
		if !o.Known {
			b.WriteString("? ")
		}
		b.WriteString(string(o.Input) + ": " + o.How.String() + "\n")
	}
	return b.String()
}

func TestFromReport(t *testing.T) {
	m, origins := FromReport(burning(), 0)
	if m.ArrivalsPerS != 300 || m.HoldS != 3.1 || m.TimeoutS != 1 || len(m.Layers) != 1 || m.Layers[0].Retries != 2 || m.Threads != 200 || m.Queue != 0 || m.Cure != "the index" {
		t.Errorf("%+v\n%s", m, hows(origins))
	}
	want := `arrivals: 18,000 calls of order -> SkuService.getSkuStock in 60 s
hold: DubboServerHandler-10.20.1.21:20880 completed 32/s with 100 busy: each is held 3.1 s
timeout: attempts of order -> SkuService.getSkuStock gave up after 1,000 ms
layers: order -> SkuService.getSkuStock: up to 3 attempts
threads: DubboServerHandler: 200 threads in 2 processes together
queue: 0 waited when requests were refused
`
	if got := hows(origins); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, o := range origins {
		if len(o.Citations) == 0 {
			t.Errorf("%s has no citation", o.Input)
		}
	}
}

// What logs tell of failed calls alone is less than what the pool went through.
func TestArrivalsThroughThePool(t *testing.T) {
	r := burning()
	r.Edges = r.Edges[:2]
	m, origins := FromReport(r, 0)
	if m.ArrivalsPerS != 22 || !strings.Contains(hows(origins), "the pool completed 64/s and refused 2/s: at 3.0x, 22 calls/s of all its methods") {
		t.Errorf("%+v\n%s", m, hows(origins))
	}
}

// Layers on a path multiply; its arrivals are those that entered.
func TestLayersOfAPath(t *testing.T) {
	r := burning()
	r.Edges = append(r.Edges, incident.Edge{Consumer: "web", Service: "com.acme.OrderService", Method: "buy", Calls: ptr(int64(1)), Ceiling: ptr(2), Basis: "spans"})
	r.Paths = []incident.Path{{
		Layers: []incident.Layer{{Edge: "web -> OrderService.buy", FanOut: 1}, {Edge: "order -> SkuService.getSkuStock", FanOut: 2}}, InPerS: ptr(50.0), Citations: cite(3),
	}}
	m, origins := FromReport(r, 0)
	if m.ArrivalsPerS != 100 || len(m.Layers) != 2 || m.Ceiling() != 6 || m.Layers[0].Name != "web -> OrderService.buy" {
		t.Errorf("%+v\n%s", m, hows(origins))
	}
}

func TestUnknownStaysUnknown(t *testing.T) {
	for _, r := range []*incident.Report{{}, {Incidents: []incident.Incident{{Label: incident.Healthy}}}} {
		for _, i := range []int{-1, 0, 5} {
			m, origins := FromReport(r, i)
			if m.ArrivalsPerS != 0 || m.HoldS != 0 || m.Threads != 0 || len(m.Problems()) != 3 || len(origins) != 6 {
				t.Errorf("%+v\n%s", m, hows(origins))
			}
			for _, o := range origins {
				if o.Known || o.How.String() == "" {
					t.Errorf("%+v", o)
				}
			}
		}
	}
}
