package tui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// callIndex finds what belongs together among the edges, findings, traces,
// routes and statements of a report. It is made when it is first asked for: a
// key press must not go through ten thousand edges again.
type callIndex struct {
	made bool

	name     []string                       // of the report's edges
	key      []string                       // of their things on the page, each once
	byKey    map[string]int                 // edge of a key
	byName   map[string][]int               // edges that count the same calls, on several bases
	findings map[string][]*incident.Finding // by the name of their edge
	methods  map[string][]*incident.Finding // of a method whoever calls it, by service and method
	pools    map[string][]*incident.Finding // by the name of the pool that they are about
	traces   map[string][]int               // by the name of the edge that they exemplify
	above    map[string]string              // the edge before an edge on a path
	routes   []*routeItem                   // what is routed, once it was asked for
}

// calls returns the index of the scene's report.
func (s *scene) calls() *callIndex {
	x := s.index
	if x == nil {
		x = &callIndex{}
	}
	if !x.made {
		x.make(s.report)
	}
	return x
}

func (x *callIndex) make(r *incident.Report) {
	x.made = true
	n := len(r.Edges)
	x.name, x.key = make([]string, n), make([]string, n)
	x.byKey, x.byName = make(map[string]int, n), make(map[string][]int, n)
	for i := range r.Edges {
		e := &r.Edges[i]
		name := e.Name()
		if strings.HasSuffix(name, "-> ") { // of what, no line says
			name += "?"
		}
		key := "call " + name + " (" + e.Basis + ")"
		if _, have := x.byKey[key]; have {
			key += " #" + strconv.Itoa(i)
		}
		x.name[i], x.key[i] = name, key
		x.byKey[key] = i
		x.byName[name] = append(x.byName[name], i)
	}
	x.findings, x.methods, x.pools = map[string][]*incident.Finding{}, map[string][]*incident.Finding{}, map[string][]*incident.Finding{}
	for i := range r.Findings {
		f := &r.Findings[i]
		if pool := f.Names["pool"]; pool != "" {
			x.pools[pool] = append(x.pools[pool], f)
		}
		switch edge := f.Names["edge"]; {
		case edge != "":
			x.findings[edge] = append(x.findings[edge], f)
		case x.byName[f.Subject] != nil:
			x.findings[f.Subject] = append(x.findings[f.Subject], f)
		case f.Names["service"] != "" && f.Names["method"] != "" && f.Names["consumer"] == "":
			m := f.Names["service"] + "\x00" + f.Names["method"]
			x.methods[m] = append(x.methods[m], f)
		}
	}
	x.traces = map[string][]int{}
	for i := range r.Traces {
		x.traces[r.Traces[i].Edge] = append(x.traces[r.Traces[i].Edge], i)
	}
	x.above = map[string]string{}
	for i := range r.Paths {
		for j, l := range r.Paths[i].Layers {
			if j > 0 && x.above[l.Edge] == "" {
				x.above[l.Edge] = r.Paths[i].Layers[j-1].Edge
			}
		}
	}
}

// about returns the findings about the i-th edge: its own, then those of its
// method whoever calls it.
func (x *callIndex) about(r *incident.Report, i int) []*incident.Finding {
	e := &r.Edges[i]
	own, others := x.findings[x.name[i]], x.methods[e.Service+"\x00"+e.Method]
	if len(others) == 0 {
		return own
	}
	return append(append([]*incident.Finding{}, own...), others...)
}

// toCall is the place of an edge by its name, where the report has it.
func (s *scene) toCall(name string) (link, bool) {
	x := s.calls()
	list := x.byName[name]
	if len(list) == 0 {
		return link{}, false
	}
	return link{name: name, to: place{screen: onCalls, arg: x.key[list[0]]}}, true
}

// callsOf appends what a finding is about: the calls, and how they are routed.
func callsOf(s *scene, p *page, f *incident.Finding, w int) {
	to, ok := s.toCall(cmp.Or(f.Names["edge"], f.Subject))
	if !ok {
		return
	}
	p.title(lang.T("ABOUT THE CALLS"))
	e := &s.report.Edges[s.calls().byKey[to.to.arg]]
	r := row{key: "calls", links: []link{to}, cites: e.Citations, copy: to.name}
	if isRoute(f) {
		r.links = append([]link{{name: to.name, to: place{screen: onRoutes, arg: routeKey(to.name)}}}, r.links...)
	}
	p.thing(r, text{{accent, s.right + " "}}, w, say(info, to.name+" ").with(s.seen(e.Citations, 1)))
}

// spot is the thing on a screen of calls that a link of the chain is about, empty
// if its findings name none.
func (s *scene) spot(on screenID, l *incident.Link) string {
	x := s.calls()
	for _, f := range s.findings(l.Findings) {
		name := cmp.Or(f.Names["edge"], f.Subject)
		switch {
		case on == onCalls && len(x.byName[name]) > 0:
			return x.key[x.fullest(s.report.Edges, x.byName[name][0])]
		case on == onRoutes:
			for _, it := range s.routeItems() {
				if slices.Contains(it.findings, f) {
					return it.key
				}
			}
		}
	}
	return ""
}

// What an amplification means: up to calm it is nothing to speak of; from near
// times the ceiling on, nearly every call uses up its attempts.
const (
	calm   = 1.1
	near   = 0.85
	double = 2.0
)

// amplified returns the glyph and tone of an edge's amplification.
func (s *scene) amplified(e *incident.Edge) (string, tone) {
	switch a := e.Amplification; {
	case a == nil:
		return " ", dim
	case *a <= calm && !(e.Peak != nil && *e.Peak >= double):
		return s.yes, good
	case atCeiling(e) || e.Ceiling == nil && *a >= double:
		return s.burning, bad
	}
	return "!", warn
}

// atCeiling reports whether nearly every call of an edge, at least while it was
// retried, uses up its attempts.
func atCeiling(e *incident.Edge) bool {
	most := 0.0
	if e.Amplification != nil {
		most = *e.Amplification
	}
	return e.Ceiling != nil && *e.Ceiling > 1 && most > calm && most >= near*float64(*e.Ceiling)
}

// times writes a factor.
func times(f float64) string {
	if f >= 100 {
		return grouped(int64(f+0.5)) + "x"
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + "x"
}

// percent writes a share; what is not nothing is never 0 %.
func percent(share float64) string {
	switch p := 100 * share; {
	case p > 0 && p < 0.1:
		return "<0.1 %"
	case p < 10 && p != float64(int64(p)):
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	default:
		return grouped(int64(p+0.5)) + " %"
	}
}

// millis writes a duration given in milliseconds.
func millis(ms float64) string {
	if ms > 0 && ms < 1 {
		return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
	}
	return seconds(ms / 1000)
}

// failures returns the share of an edge's calls that failed, where that is
// counted: not where only failed calls leave a trace.
func failures(e *incident.Edge) (float64, bool) {
	if e.Scope == failedCalls {
		return 0, false
	}
	of, sum, failed := e.Fates, int64(0), int64(0)
	if len(of) == 0 && e.Basis != "logs" {
		of = e.Outcomes
	}
	for fate, n := range of {
		sum += n
		if fateTone(fate) == bad {
			failed += n
		}
	}
	return float64(failed) / max(1, float64(sum)), sum > 0
}

// The scopes of an account.
const (
	failedCalls = "failed-calls"
	sinceStart  = "since-start"
)

// fateTone tells how a way to end is to be taken.
func fateTone(fate string) tone {
	switch fate {
	case "ok", "ok-at-once":
		return good
	case "ok-after-retry", "retried-ok":
		return warn
	case "unknown", "cancelled", "redirected", "challenged":
		return dim
	}
	return bad
}

// fateGlyph is the sign of a way to end.
func (s *scene) fateGlyph(fate string) string {
	switch fateTone(fate) {
	case good:
		return s.yes
	case warn:
		return "!"
	case dim:
		return s.notYet
	}
	return s.no
}

// account says where an edge's numbers come from, and what they leave out.
func account(e *incident.Edge) string {
	list := []string{lang.Sprintf("from %s", lang.Word(e.Basis))}
	switch {
	case e.Scope == failedCalls:
		list = append(list, lang.T("which tell of failed calls only"))
	case e.Scope == sinceStart:
		list = append(list, lang.T("counted since the process started"))
	case !e.Exact && e.Amplification != nil:
		list = append(list, lang.T("attempts inferred, or hidden by a library (~)"))
	}
	return strings.Join(list, ", ")
}

// bar is one line of a chart of bars.
type bar struct {
	glyph string
	tone  tone
	name  string
	n     int64
	note  string // after the number
}

// bars appends a chart: names, bars, numbers and shares of the whole.
func (p *page) bars(s *scene, r row, list []bar, whole int64, w int) {
	name, digits, note := 0, 0, 0
	for _, b := range list {
		name, digits, note = max(name, cells(b.name)), max(digits, len(grouped(b.n))), max(note, cells(b.note))
	}
	name = min(name, max(8, w/3))
	if note > 0 {
		note += 2
	}
	room := min(40, w-2-name-1-1-digits-8-note)
	for _, b := range list {
		t := text{{b.tone, pad(b.glyph, 1, "") + " "}, {plain, pad(middle(b.name, name, s.ellipsis), name, s.ellipsis) + " "}}
		if room >= 4 {
			t = append(t, s.gauge(float64(b.n)/max(1, float64(whole)), room, b.tone)...)
		}
		t = t.and(plain, " "+padLeft(grouped(b.n), digits)).and(dim, padLeft(percent(float64(b.n)/max(1, float64(whole))), 8))
		if b.note != "" {
			t = t.and(dim, "  "+b.note)
		}
		r.line = t
		p.rows = append(p.rows, r)
	}
}
