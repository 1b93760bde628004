package tui

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// The screens of calls, routes and traces on reports that have all of them.
func TestCallScreensAtEverySize(t *testing.T) {
	for _, name := range []string{"edges", "layers"} {
		r := readReport(t, name)
		for _, size := range sizes {
			d := start(t, r, size.width, size.height)
			d.press("3").golden(fmt.Sprintf("%s-calls-%d", name, size.width))
			d.do("enter").golden(fmt.Sprintf("%s-call-%d", name, size.width))
			d.press("6").golden(fmt.Sprintf("%s-routes-%d", name, size.width))
			d.m.push(place{screen: onTrace, arg: traceArg(&r.Traces[0])})
			d.golden(fmt.Sprintf("%s-trace-%d", name, size.width))
		}
	}
}

func num[T any](v T) *T { return &v }

func TestCallsSort(t *testing.T) {
	r := &incident.Report{Edges: []incident.Edge{
		{Consumer: "a", Service: "x.S", Method: "slow", Calls: num(int64(5)), Attempts: num(int64(10)), Amplification: num(2.0), OrphanedS: num(9.0), Basis: "spans"},
		{Consumer: "b", Service: "x.S", Method: "hot", Calls: num(int64(7)), Attempts: num(int64(21)), Amplification: num(3.0), Basis: "spans"},
		{Consumer: "c", Service: "x.S", Method: "unknown", Basis: "logs"},
		{Consumer: "b", Service: "x.S", Method: "hot", Calls: num(int64(1)), Attempts: num(int64(8)), Amplification: num(8.0), Basis: "logs", Scope: failedCalls},
	}}
	for _, test := range []struct {
		order   int
		reverse bool
		want    []int
	}{
		{byAmplification, false, []int{1, 3, 0, 2}},
		{byAmplification, true, []int{0, 1, 3, 2}}, // what is not known stays last
		{byAttempts, false, []int{1, 3, 0, 2}},
		{byOrphaned, false, []int{0, 1, 3, 2}},
		{byCalls, true, []int{0, 1, 3, 2}},
		{byName, false, []int{0, 1, 3, 2}},
		{byName, true, []int{2, 1, 3, 0}},
	} {
		x := newScene(r).calls()
		if got := sortedEdges(r.Edges, x, place{order: test.order, reverse: test.reverse}); !slices.Equal(got, test.want) {
			t.Errorf("order %d, reversed %v: %v, want %v", test.order, test.reverse, got, test.want)
		}
	}
	d := start(t, r, 80, 24)
	d.press("3").shows("factor ▼ call", "b -> S.hot", "└ logs: b -> S.hot")
	d.do("sort").shows("attempts ▼", "sorted by attempts")
	d.do("reverse").shows("attempts ▲")
}

// An edge leads to its findings, its example traces, the layer above it, the
// statement that it runs and the pool that it runs in.
func TestCallLeadsOn(t *testing.T) {
	r := readReport(t, "layers")
	d := start(t, r, 100, 50)
	d.press("3").shows("9.0x = 3.0 x 3.0").do("enter").shows("order -> SkuService.getSkuStock", "3 attempts x 600 ms = 1.8 s", "gives up while this still tries")
	d.m.here().key = "deadline"
	d.do("enter").shows("gateway -> order POST /orders", "HOW ITS CALLS ENDED").do("back")
	page := callPage(d.m.scene, "call order -> SkuService.getSkuStock (spans)")
	leads := map[screenID]int{}
	for i := range page.rows {
		for _, l := range page.rows[i].links {
			if l.at == nil {
				leads[l.to.screen]++
			}
		}
		if row := &page.rows[i]; row.key != "" && row.key != "edge" && len(row.cites) == 0 {
			t.Errorf("%q cites nothing: %s", row.key, row.text().plain())
		}
	}
	for _, to := range []screenID{onFinding, onTrace, onCalls, onSQL} {
		if leads[to] == 0 {
			t.Errorf("the edge does not lead to %s: %v", to, leads)
		}
	}
	trace := r.Traces[0]
	d.m.here().key = "trace " + traceArg(&trace)
	d.do("enter").shows("a call that used up its attempts and failed", "2/3, timeout").do("back", "back")
	d.do("last", "up").shows("▌ ")
	d.press("3").do("enter")
	d.m.here().key = "finding f2"
	d.do("enter").shows("ABOUT THE CALLS")
	d.m.here().key = "calls"
	d.do("enter").shows("HOW ITS CALLS ENDED")
	d.press("3")
	d.m.here().key = pathKey(0)
	d.do("enter").shows("LAYER BY LAYER", "gateway -> order POST /orders", "9.0x")

	s := start(t, readReport(t, "reference"), 100, 50).m.scene
	s.width = 100
	page = callPage(s, "call order-service -> SkuService.getSkuStock (logs)")
	for _, want := range []string{"sql select stock from t_sku_stock where sku_code=?", "pool DubboServerHandler-10.20.1.21:20880"} {
		if page.index(want) < 0 {
			t.Errorf("nothing leads to %s", want)
		}
	}
}

// A link to a thing far down a list shows it, and the chain leads to its edge.
func TestLinksShowTheirThing(t *testing.T) {
	d := start(t, manyEdges(300), 100, 24)
	x := d.m.scene.calls()
	d.m.push(place{screen: onCalls, key: x.key[200]})
	d.shows("▌ !", x.name[200])

	d = start(t, readReport(t, "reference"), 100, 40)
	in := d.m.scene.now
	i := slices.IndexFunc(in.Chain, func(l incident.Link) bool { return l.Label == incident.RetryAmplification })
	if i < 0 {
		t.Fatal("the reference has no amplifier")
	}
	d.m.here().key = fmt.Sprintf("link %d", i)
	d.do("enter")
	if at := d.m.here(); at.screen != onCalls || !strings.Contains(at.key, "getSkuStock") {
		t.Errorf("the amplifier leads to %s, %q", at.screen, at.key)
	}
}

// Accounts of the same calls stand side by side; that they differ is said, but
// not of one that saw only failed calls.
func TestAccountsSideBySide(t *testing.T) {
	edge := func(basis, scope string, amplification float64) incident.Edge {
		return incident.Edge{Consumer: "a", Service: "x.S", Method: "m", Calls: num(int64(10)), Attempts: num(int64(10 * amplification)), Amplification: num(amplification), Basis: basis, Scope: scope}
	}
	for _, test := range []struct {
		scope string
		says  string
	}{{"", "They disagree"}, {failedCalls, "never added"}} {
		r := &incident.Report{Edges: []incident.Edge{edge("spans", "", 1.5), edge("access-logs", test.scope, 3)}}
		d := start(t, r, 100, 40)
		d.press("3").do("enter").shows("THE SAME CALLS BY OTHER EVIDENCE", "1.5x 15 attempts for 10 calls", "3.0x 30 attempts for 10 calls", test.says)
	}
}

func TestHostileTracesAndRoutesDoNoHarm(t *testing.T) {
	for i, name := range hostile {
		for _, report := range []string{"edges", "layers"} {
			r := readReport(t, report)
			spoilCalls(r, name)
			for _, size := range []struct{ width, height int }{{1, 1}, {20, 8}, {120, 40}} {
				d := start(t, r, size.width, size.height)
				for _, to := range []place{{screen: onCalls}, {screen: onRoutes}, {screen: onTrace, arg: traceArg(&d.m.scene.report.Traces[0])}} {
					d.m.push(to)
					for range 3 {
						frame := d.m.Frame()
						d.screen()
						if strings.ContainsFunc(ansi.Strip(frame), func(c rune) bool { return c < 0x20 && c != '\n' || c >= 0x7f && c < 0xa0 || c == 0x202e }) {
							t.Errorf("name %d: %s sends control characters", i, to.screen)
						}
						d.do("down", "enter", "last")
					}
				}
			}
		}
	}
}

// spoilCalls puts a name, and numbers that nobody expects, into all that the
// screens of calls show.
func spoilCalls(r *incident.Report, name string) {
	spoil(r, name)
	for i := range r.Edges {
		e := &r.Edges[i]
		e.Basis, e.Provider, e.Scope, e.Protocol = name, name, name, name
		e.ByAttempts = map[string]int64{name: 1, "9999999999": math.MaxInt64, "": 3}
		e.Fates, e.Outcomes, e.OtherSends = map[string]int64{name: math.MaxInt64}, map[string]int64{name: -1}, map[string]int64{name: 1}
		e.Amplification, e.WastedShare, e.OrphanedS, e.RetryShare = num(math.Inf(1)), num(-3.0), num(math.NaN()), num(1e300)
		for j := range e.Providers {
			e.Providers[j].Name, e.Providers[j].Attempts = name, math.MaxInt64
		}
		for j := range e.Candidates {
			e.Candidates[j].Stage, e.Candidates[j].Count = name, math.MinInt
		}
	}
	for i := range r.Paths {
		for j := range r.Paths[i].Layers {
			r.Paths[i].Layers[j].Edge = name
		}
		r.Paths[i].Amplification = math.NaN()
	}
	for i := range r.Traces {
		tr := &r.Traces[i]
		tr.ID, tr.Edge, tr.Why, tr.DurationMS = name, name, incident.Why(name), -1
		for j := range tr.Spans {
			sp := &tr.Spans[j]
			sp.Name, sp.Service, sp.SQL, sp.Outcome, sp.Sent = name, name, name, name, name
			sp.Depth, sp.StartMS, sp.DurationMS, sp.Orphaned = j*1000-1, []float64{math.NaN(), math.Inf(1), -1e300, 1e300}[j%4], math.NaN(), true
		}
	}
}

func TestCallScreensInASCII(t *testing.T) {
	for _, name := range []string{"edges", "layers"} {
		r := readReport(t, name)
		d := start(t, r, 120, 60, func(c *Config) { c.ASCII = true })
		for _, to := range []place{{screen: onCalls}, {screen: onRoutes}, {screen: onTrace, arg: traceArg(&r.Traces[0])}} {
			d.m.push(to)
			for range 2 {
				for _, c := range d.screen() {
					if c > 0x7e {
						t.Fatalf("%s shows %q with --ascii:\n%s", to.screen, c, d.screen())
					}
				}
				if to.screen != onTrace {
					d.do("enter")
				}
			}
		}
	}
}

// manyEdges is a report of a fleet in which everybody calls everybody.
func manyEdges(n int) *incident.Report {
	r := &incident.Report{}
	for i := range n {
		calls, amplification := int64(1000+i%97), 1+float64(i%200)/100
		attempts := int64(float64(calls) * amplification)
		e := incident.Edge{
			Consumer: fmt.Sprintf("service-%d", i%100), Service: fmt.Sprintf("com.acme.fleet.Service%d", i/100), Method: "call",
			Calls: &calls, Attempts: &attempts, Amplification: &amplification, Ceiling: num(3), OrphanedS: num(float64(i % 50)),
			ByAttempts: map[string]int64{"1": calls / 2, "3": calls / 2}, Fates: map[string]int64{"ok-at-once": calls / 2, "exhausted": calls / 2}, Basis: "spans",
			Providers: []incident.ProviderShare{{Name: "a", Attempts: 100}, {Name: "b", Attempts: 1}},
			Citations: []evidence.Citation{{Source: "traces.json", Line: i + 1}},
		}
		r.Edges = append(r.Edges, e)
	}
	for i := range 2000 {
		e := &r.Edges[i*len(r.Edges)/2000]
		r.Findings = append(r.Findings, incident.Finding{ID: fmt.Sprintf("f%d", i+1), Kind: incident.RetryAmplified, Subject: e.Name(), Text: e.Name() + " is retried", Names: map[string]string{"edge": e.Name()}, Citations: e.Citations})
	}
	return r
}

// A frame after a key press, which makes the detail of another edge.
func BenchmarkFrameCalls(b *testing.B) {
	for _, key := range []string{"3", "6"} {
		b.Run("screen-"+key, func(b *testing.B) {
			d := startAny(b, manyEdges(10_000), 200, 60)
			d.Update(tea.KeyPressMsg{Code: rune(key[0]), Text: key})
			d.Frame()
			b.ResetTimer()
			for b.Loop() {
				d.Update(tea.KeyPressMsg{Code: 'j', Text: "j"})
				d.Frame()
			}
		})
	}
}

// The first frame, which sorts all edges.
func BenchmarkFrameCallsFirst(b *testing.B) {
	d := startAny(b, manyEdges(10_000), 200, 60)
	d.Update(tea.KeyPressMsg{Code: '3', Text: "3"})
	for b.Loop() {
		d.scene.index = &callIndex{}
		d.changed()
		d.Frame()
	}
}

// startAny opens the screen on a report outside a test.
func startAny(b *testing.B, r *incident.Report, width, height int) *Model {
	b.Helper()
	m := New(Config{Source: &stillSource{report: r}, Theme: "dark"})
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	m.show(Reading{Report: r})
	return m
}
