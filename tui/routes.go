package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// routeItem is one thing that is routed: the calls of an edge, or what findings
// say of a service that nobody could call.
type routeItem struct {
	key, name string
	method    string // empty: all of the service's
	stages    []incident.Stage
	edges     []int // of the report, with what each account says of providers
	findings  []*incident.Finding
	cites     []evidence.Citation
	share     float64 // what a provider got that got far more than its share; 0: none did
	worst     string  // its name
	rank      int     // the lower, the more suspicious
}

func routeKey(name string) string { return "route " + name }

// How suspicious a route is.
const (
	emptied = iota
	skewed
	narrowed
	calmRoute
)

// skewAttempts is how many attempts it takes to speak of skew.
const skewAttempts = 20

// uneven reports whether a provider got far more than its share of a sum of
// attempts at n providers: twice as much, or, of two or three, four times what
// the others got.
func uneven(attempts, sum int64, n int) bool {
	if n < 2 || sum < skewAttempts {
		return false
	}
	return n > 2 && attempts*int64(n) >= 2*sum || n < 4 && attempts >= 4*(sum-attempts)
}

// isRoute reports whether a finding is about routing.
func isRoute(f *incident.Finding) bool { return strings.HasPrefix(string(f.Kind), "route.") }

// routeItems gathers what is known of routing, the most suspicious first.
func (s *scene) routeItems() []*routeItem {
	x := s.calls()
	if x.routes != nil {
		return x.routes
	}
	g := &routeGroups{items: []*routeItem{}, byKey: map[string]*routeItem{}, byMethod: map[string]*routeItem{}, byService: map[string][]*routeItem{}}
	told := map[string]bool{} // findings that an edge has
	for _, called := range []bool{true, false} {
		for i := range s.report.Edges {
			e := &s.report.Edges[i]
			if len(e.Candidates) == 0 && len(e.Providers) < 2 || (e.Consumer != "") != called {
				continue
			}
			it := g.of(e, x.name[i])
			if len(it.edges) == 0 {
				for _, f := range x.findings[x.name[i]] {
					if isRoute(f) {
						it.findings = append(it.findings, f)
						told[f.ID] = true
					}
				}
			}
			it.edges = append(it.edges, i)
			if len(it.stages) == 0 {
				it.stages = e.Candidates
			}
			it.cites = append(it.cites, e.Citations...)
			it.weigh(e)
		}
	}
	for i := range s.report.Findings {
		if f := &s.report.Findings[i]; isRoute(f) && !told[f.ID] {
			g.tell(f)
		}
	}
	for _, it := range g.items {
		it.rank = it.suspicion()
	}
	slices.SortStableFunc(g.items, func(a, b *routeItem) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.share, a.share))
	})
	x.routes = g.items
	return g.items
}

// routeGroups puts together what is about the same calls.
type routeGroups struct {
	items     []*routeItem
	byKey     map[string]*routeItem
	byMethod  map[string]*routeItem   // the first by service and method
	byService map[string][]*routeItem // by service, whoever calls it, and by consumer and service
}

func (g *routeGroups) add(name string) *routeItem {
	it := &routeItem{key: routeKey(name), name: name}
	g.byKey[it.key] = it
	g.items = append(g.items, it)
	return it
}

// of returns the route of an edge. An account that does not know who called
// belongs to the first that does.
func (g *routeGroups) of(e *incident.Edge, name string) *routeItem {
	method := e.Service + "\x00" + e.Method
	it := g.byKey[routeKey(name)]
	if it == nil && e.Consumer == "" {
		it = g.byMethod[method]
	}
	if it == nil {
		it = g.add(name)
		it.method = e.Method
		for _, by := range []string{"\x00" + e.Service, e.Consumer + "\x00" + e.Service} {
			g.byService[by] = append(g.byService[by], it)
		}
	}
	if g.byMethod[method] == nil {
		g.byMethod[method] = it
	}
	return it
}

// tell adds a finding to the routes that it is about, or to one of its own where
// no call of the service was counted.
func (g *routeGroups) tell(f *incident.Finding) {
	service, consumer := f.Names["service"], f.Names["consumer"]
	known := false
	for _, it := range g.byService[consumer+"\x00"+service] {
		if m := f.Names["method"]; service != "" && (m == "" || m == it.method) {
			it.findings = append(it.findings, f)
			known = true
		}
	}
	if known {
		return
	}
	name := cmp.Or(shortName(service), f.Subject)
	if consumer != "" {
		name = consumer + " -> " + name
	}
	it := g.byKey[routeKey(name)]
	if it == nil {
		it = g.add(name)
	}
	it.findings = append(it.findings, f)
	it.cites = append(it.cites, f.Citations...)
	if len(it.stages) == 0 {
		it.stages = stagesOf(f)
	}
}

// shortName is a service without its package.
func shortName(service string) string { return service[strings.LastIndexByte(service, '.')+1:] }

// stagesOf reads how many candidates a finding tells of before and after
// routing.
func stagesOf(f *incident.Finding) []incident.Stage {
	first, ok := f.Values["candidates.first"]
	last, and := f.Values["candidates.last"]
	var list []incident.Stage
	if ok {
		list = append(list, incident.Stage{Stage: lang.T("before routing"), Count: int(first)})
	}
	if and {
		name := lang.T("after routing")
		if router := f.Names["router"]; router != "" && ok {
			name = router
		}
		list = append(list, incident.Stage{Stage: name, Count: int(last)})
	}
	return list
}

// weigh keeps the strongest skew that an account shows.
func (it *routeItem) weigh(e *incident.Edge) {
	var sum int64
	for i := range e.Providers {
		sum += e.Providers[i].Attempts
	}
	for i := range e.Providers {
		p := &e.Providers[i]
		if share := float64(p.Attempts) / float64(max(1, sum)); share > it.share && uneven(p.Attempts, sum, len(e.Providers)) {
			it.share, it.worst = share, p.Name
		}
	}
}

// suspicion ranks a route by what routing left and how it was shared out.
func (it *routeItem) suspicion() int {
	has := func(kinds ...incident.Kind) bool {
		return slices.ContainsFunc(it.findings, func(f *incident.Finding) bool { return slices.Contains(kinds, f.Kind) })
	}
	first, last := ends(it.stages)
	switch {
	case has(incident.RouteNone, incident.RouteEmptied) || len(it.stages) > 0 && last == 0:
		return emptied
	case has(incident.RouteSkew) || it.worst != "":
		return skewed
	case has(incident.RouteNarrow, incident.RouteGrey) || 2*last <= first && len(it.stages) > 0:
		return narrowed
	}
	return calmRoute
}

// verdict is the glyph, tone and words of a route.
func (it *routeItem) verdict(s *scene) (string, tone, string) {
	switch it.rank {
	case emptied:
		if i := took(it.stages); i >= 0 && it.stages[i].Count == 0 {
			return s.burning, bad, lang.Sprintf("nobody left by %s", it.stages[i].Stage)
		}
		return s.burning, bad, lang.T("no provider")
	case skewed, narrowed:
		var list []string
		if i := took(it.stages); i >= 0 && it.stages[i].Stage != "tried" {
			list = append(list, lang.Sprintf("%s took %d", it.stages[i].Stage, it.stages[i-1].Count-it.stages[i].Count))
		}
		if it.worst != "" {
			list = append(list, lang.Sprintf("%s went to %s", percent(it.share), it.worst))
		}
		switch {
		case len(list) > 0:
		case it.rank == skewed:
			list = append(list, lang.T("one provider gets far more than its share"))
		default:
			list = append(list, lang.T("few of many were left"))
		}
		return "!", warn, lang.Join(list)
	}
	return s.yes, good, lang.T("enough were left")
}

// routesPage lists what routing left of the providers of each call.
func routesPage(s *scene, at place) *page {
	items := s.routeItems()
	if at.arg != "" {
		return routePage(s, items, at.arg)
	}
	p := &page{lists: true, none: lang.T("The evidence says nothing of routing: no candidates, and no call with two providers.")}
	unserved(s, p)
	if len(items) == 0 {
		return p
	}
	p.first = items[0].key
	w := s.width - 2
	funnelWidth, name := cells(lang.T("candidates"))+1, 12
	for _, it := range items[:min(len(items), 200)] {
		funnelWidth, name = max(funnelWidth, cells(steps(it.stages))+2), max(name, cells(it.name))
	}
	funnelWidth = min(funnelWidth, 16)
	name = min(name, max(12, (w-2-funnelWidth)*11/20))
	p.head = []text{{{dim, "  " + pad(lang.T("candidates"), funnelWidth, "")}, {dim, pad(lang.T("call"), name, "") + " "}, {dim, lang.T("routing")}}}
	for _, it := range items {
		glyph, tn, words := it.verdict(s)
		r := row{key: it.key, cites: it.cites, copy: it.name, alarm: it.rank != calmRoute}
		r.links = append(r.links, link{name: it.name, to: place{screen: onRoutes, arg: it.key}})
		if len(it.findings) > 0 {
			r.find = it.findings[0].ID
		}
		for _, f := range it.findings {
			r.links = append(r.links, toFinding(f))
		}
		r.draw = func() text {
			said := words
			if room := w - 2 - funnelWidth - name - 1; room < cells(said) {
				said = middle(said, max(0, room), s.ellipsis)
			}
			return text{
				{tn, glyph + " " + pad(steps(it.stages), funnelWidth, s.ellipsis)},
				{plain, pad(middle(it.name, name, s.ellipsis), name, s.ellipsis) + " "},
				{tn, said},
			}
		}
		p.rows = append(p.rows, r)
	}
	return p
}

// unserved draws over time how many calls found nobody.
func unserved(s *scene, p *page) {
	for i := range s.report.Timeline {
		line := &s.report.Timeline[i]
		if !strings.Contains(line.Signal, "provider") && !strings.Contains(line.Signal, "candidate") || len(line.Points) == 0 {
			continue
		}
		room := max(4, min(len(line.Points), s.width-50))
		values, top := squeeze(line.Points, room)
		r := row{key: "series " + line.Signal, alarm: true, links: []link{{name: lang.T("on the timeline"), to: place{screen: onTimeline}}}}
		for j := range s.report.Findings {
			if f := &s.report.Findings[j]; f.Kind == incident.RouteNone {
				r.cites = append(r.cites, f.Citations...)
			}
		}
		t := text{{bad, s.burning + " " + lang.T(line.Signal) + " "}, {bad, s.sparkline(values, top)}, {plain, " " + lang.Sprintf("up to %s", amount(top, line.Unit))}}
		if !line.Onset.IsZero() {
			t = t.and(dim, "  "+lang.Sprintf("since %s", s.clock(line.Onset)))
		}
		p.thing(r, nil, s.width-2, t)
	}
	p.gap()
}

// amount writes a number with its unit.
func amount(f float64, unit string) string {
	if rest, ok := strings.CutPrefix(unit, "1/"); ok {
		return number(f) + "/" + rest
	}
	return strings.TrimSpace(number(f) + " " + unit)
}

// squeeze returns the highest values of as many sections, and the highest of all.
func squeeze(points []incident.Point, sections int) (values []float64, top float64) {
	values = make([]float64, sections)
	for i, pt := range points {
		at := i * sections / len(points)
		values[at] = max(values[at], pt.Value)
		top = max(top, pt.Value)
	}
	return values, top
}

// routesDetail is what stands beside the list of routes.
func routesDetail(s *scene, at place, key string) *page {
	if at.arg == "" {
		return routePage(s, s.routeItems(), key)
	}
	if id, ok := strings.CutPrefix(key, "finding "); ok {
		return findingPage(s, place{screen: onFinding, arg: id})
	}
	return nil
}

// routePage is all that is known of one route.
func routePage(s *scene, items []*routeItem, key string) *page {
	p := &page{}
	i := slices.IndexFunc(items, func(it *routeItem) bool { return it.key == key })
	if i < 0 {
		p.none = lang.T("This route is not in the report any more.")
		return p
	}
	it, w := items[i], s.width-2
	glyph, tn, words := it.verdict(s)
	r := row{key: "route", cites: it.cites, copy: it.name, alarm: it.rank != calmRoute}
	if to, ok := s.toCall(it.name); ok {
		to.name = lang.Sprintf("calls of %s", it.name)
		r.links = []link{to}
	}
	p.thing(r, nil, w, say(strong, it.name))
	p.thing(r, nil, w, text{{tn, glyph + " " + words}, {plain, " "}}.with(s.seen(it.cites, 1)))
	if len(it.stages) > 0 {
		p.title(lang.T("CANDIDATES BY STAGE OF ROUTING"))
		funnel(s, p, it.stages, w, row{key: "funnel", cites: it.cites})
	}
	for _, n := range it.edges {
		e := &s.report.Edges[n]
		if len(e.Providers) < 2 {
			continue
		}
		p.title(lang.T("WHAT EACH PROVIDER GOT"))
		p.para(nil, w, say(dim, account(e)+" ").with(s.seen(e.Citations, 1)))
		shares(s, p, e, w, row{key: fmt.Sprintf("providers %d", n), cites: e.Citations})
	}
	findingRows(s, p, it.findings, it.name, w)
	seenIn(p, unique(slices.Clone(it.cites)))
	return p
}

// unique leaves out what was there before.
func unique(list []evidence.Citation) []evidence.Citation {
	seen := make(map[evidence.Citation]bool, len(list))
	return slices.DeleteFunc(list, func(c evidence.Citation) bool {
		was := seen[c]
		seen[c] = true
		return was
	})
}
