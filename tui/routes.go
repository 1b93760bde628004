package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// routeItem is one thing that is routed: the calls of an edge, or what findings
// say of a service that nobody could call.
type routeItem struct {
	key, name string
	stages    []incident.Stage
	edges     []int // of the report, with what each account says of providers
	findings  []*incident.Finding
	cites     []evidence.Citation
	skew      float64 // how many times its fair share the first provider got; 0: unknown
	share     float64 // what it got
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

// skewFactor is how many times its fair share a provider gets before that is
// shown as skew, if it got at least skewAttempts of two providers or more.
const (
	skewFactor   = 1.5
	skewAttempts = 20
)

// isRoute reports whether a finding is about routing.
func isRoute(f *incident.Finding) bool { return strings.HasPrefix(string(f.Kind), "route.") }

// routeItems gathers what is known of routing, the most suspicious first.
func (s *scene) routeItems() []*routeItem {
	x := s.calls()
	if x.routes != nil {
		return x.routes
	}
	items := []*routeItem{}
	byKey := map[string]*routeItem{}
	told := map[string]bool{} // findings that an edge has
	for i := range s.report.Edges {
		e := &s.report.Edges[i]
		if len(e.Candidates) == 0 && len(e.Providers) < 2 {
			continue
		}
		key := routeKey(x.name[i])
		it := byKey[key]
		if it == nil {
			it = &routeItem{key: key, name: x.name[i]}
			byKey[key] = it
			items = append(items, it)
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
	for i := range s.report.Findings {
		f := &s.report.Findings[i]
		if !isRoute(f) || told[f.ID] {
			continue
		}
		name := cmp.Or(shortName(f.Names["service"]), f.Subject)
		if c := f.Names["consumer"]; c != "" {
			name = c + " -> " + name
		}
		key := routeKey(name)
		it := byKey[key]
		if it == nil {
			it = &routeItem{key: key, name: name}
			byKey[key] = it
			items = append(items, it)
		}
		it.findings = append(it.findings, f)
		it.cites = append(it.cites, f.Citations...)
		if len(it.stages) == 0 {
			it.stages = stagesOf(f)
		}
	}
	for _, it := range items {
		it.rank = it.suspicion()
	}
	slices.SortStableFunc(items, func(a, b *routeItem) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.skew, a.skew))
	})
	x.routes = items
	return items
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
	if len(e.Providers) < 2 || sum < skewAttempts {
		return
	}
	for i := range e.Providers {
		share := float64(e.Providers[i].Attempts) / float64(sum)
		if f := share * float64(len(e.Providers)); f > it.skew {
			it.skew, it.share, it.worst = f, share, e.Providers[i].Name
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
	case has(incident.RouteSkew) || it.skew >= skewFactor:
		return skewed
	case has(incident.RouteNarrow, incident.RouteGrey) || 2*last <= first && len(it.stages) > 0:
		return narrowed
	}
	return calmRoute
}

// ends are the candidates at the first and the last stage, without what was
// tried.
func ends(stages []incident.Stage) (first, last int) {
	for i, st := range stages {
		if i == 0 {
			first = st.Count
		}
		if i == 0 || st.Stage != "tried" {
			last = st.Count
		}
	}
	return first, last
}

// took is the stage that took the most candidates away; -1 if none did.
func took(stages []incident.Stage) int {
	most, at := 0, -1
	for i := 1; i < len(stages); i++ {
		if n := stages[i-1].Count - stages[i].Count; n > most {
			most, at = n, i
		}
	}
	return at
}

// verdict is the glyph, tone and words of a route.
func (it *routeItem) verdict(s *scene) (string, tone, string) {
	switch it.rank {
	case emptied:
		if i := took(it.stages); i >= 0 && it.stages[i].Count == 0 {
			return s.burning, bad, lang.Sprintf("nobody left by %s", it.stages[i].Stage)
		}
		return s.burning, bad, lang.T("no provider")
	case skewed:
		if it.worst != "" && it.skew >= skewFactor {
			return "!", warn, lang.Sprintf("%s of the attempts went to %s", percent(it.share), it.worst)
		}
		return "!", warn, lang.T("one provider gets far more than its share")
	case narrowed:
		if i := took(it.stages); i >= 0 {
			return "!", warn, lang.Sprintf("%s took %d", it.stages[i].Stage, it.stages[i-1].Count-it.stages[i].Count)
		}
		return "!", warn, lang.T("few of many were left")
	}
	return s.yes, good, lang.T("enough were left")
}

// steps writes the candidates by stage in brief: "10 > 4 > 2", leaving out the
// stages that changed nothing.
func steps(stages []incident.Stage) string {
	var list []string
	for i, st := range stages {
		if n := strconv.Itoa(st.Count); i == 0 || n != list[len(list)-1] {
			list = append(list, n)
		}
	}
	if len(list) > 4 {
		list = append(list[:2], list[len(list)-2:]...)
	}
	return strings.Join(list, " > ")
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
	const funnelWidth = 14
	name := max(12, min(46, (w-2-funnelWidth)*3/5))
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
		t := text{{bad, s.burning + " " + lang.T(line.Signal) + " "}, {bad, s.sparkline(values, top)}, {plain, " " + lang.Sprintf("up to %s %s", number(top), line.Unit)}}
		if !line.Onset.IsZero() {
			t = t.and(dim, "  "+lang.Sprintf("since %s", s.clock(line.Onset)))
		}
		p.thing(r, nil, s.width-2, t)
	}
	p.gap()
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
	findingRows(s, p, it.findings, w)
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

// funnel draws candidates by stage, and marks the one that took the most away.
// Stages in a row that changed nothing are one line.
func funnel(s *scene, p *page, stages []incident.Stage, w int, r row) {
	most, name := 1, 0
	for _, st := range stages {
		most, name = max(most, st.Count), max(name, cells(st.Stage))
	}
	name = min(name, max(10, w/3))
	culprit := took(stages)
	room := max(4, min(40, w-2-name-1-6-13))
	for i := 0; i < len(stages); i++ {
		st := &stages[i]
		idle := 0
		for i > 0 && i+1+idle < len(stages) && stages[i+idle].Count == stages[i-1].Count && stages[i+idle].Stage != "after-route" && stages[i+idle].Stage != "tried" {
			idle++
		}
		if idle > 1 {
			r.line = text{{dim, "  " + lang.Sprintf("%s %d routers changed nothing", s.ellipsis, idle)}}
			p.rows = append(p.rows, r)
			i += idle - 1
			continue
		}
		tn := info
		glyph := " "
		switch {
		case st.Count == 0:
			tn, glyph = bad, s.burning
		case i == culprit:
			tn, glyph = warn, "!"
		}
		line := text{{tn, glyph + " "}, {plain, pad(middle(st.Stage, name, s.ellipsis), name, s.ellipsis) + " "}}
		line = append(line, s.gauge(float64(st.Count)/float64(most), room, tn)...)
		line = line.and(plain, padLeft(strconv.Itoa(st.Count), 6))
		if i > 0 && stages[i-1].Count > st.Count {
			said := fmt.Sprintf("  -%d", stages[i-1].Count-st.Count)
			if i == culprit {
				said += " " + lang.T("the most")
			}
			line = line.and(tn, said)
		}
		r.line = line
		p.rows = append(p.rows, r)
	}
}

// shares draws what each provider got of an edge's attempts, its failures and
// its time.
func shares(s *scene, p *page, e *incident.Edge, w int, r row) {
	var sum int64
	name, busy, p95 := 8, false, false
	for i := range e.Providers {
		pr := &e.Providers[i]
		sum += pr.Attempts
		name = max(name, cells(pr.Name))
		busy = busy || pr.BusyS != nil
		p95 = p95 || pr.P95MS != nil
	}
	fair := 1 / float64(max(1, len(e.Providers)))
	type column struct {
		title string
		width int
		cell  func(*incident.ProviderShare) string
	}
	columns := []column{
		{lang.T("attempts"), 10, func(p *incident.ProviderShare) string { return grouped(p.Attempts) }},
		{lang.T("failed"), 8, func(p *incident.ProviderShare) string { return grouped(p.Failures) }},
	}
	if p95 {
		columns = append(columns, column{"p95", 9, func(p *incident.ProviderShare) string {
			if p.P95MS == nil {
				return ""
			}
			return millis(float64(*p.P95MS))
		}})
	}
	if busy {
		columns = append(columns, column{lang.T("busy"), 10, func(p *incident.ProviderShare) string {
			if p.BusyS == nil {
				return ""
			}
			return seconds(*p.BusyS)
		}})
	}
	const shareWidth = 7
	used := 2 + shareWidth
	for i, c := range columns {
		if used+c.width+16 > w {
			columns = columns[:i]
			break
		}
		used += c.width
	}
	gauge := 0
	if w-used >= 30 {
		gauge = min(24, (w-used)/3)
		used += gauge + 1
	}
	name = max(6, min(name, w-used))
	head := text{{dim, "  " + pad("", name, "")}}
	if gauge > 0 {
		head = head.and(dim, pad("", gauge+1, ""))
	}
	head = head.and(dim, padLeft(lang.T("share"), shareWidth))
	for _, c := range columns {
		head = head.and(dim, padLeft(cut(c.title, c.width-1, ""), c.width))
	}
	p.add(head)
	for i := range e.Providers {
		pr := &e.Providers[i]
		share := float64(pr.Attempts) / float64(max(1, sum))
		glyph, tn := " ", info
		pr0 := r
		pr0.copy = pr.Name
		if len(e.Providers) > 1 && sum >= skewAttempts && share >= skewFactor*fair {
			glyph, tn = "!", warn
			pr0.alarm = true
		}
		t := text{{tn, glyph + " "}, {plain, pad(middle(pr.Name, name, s.ellipsis), name, s.ellipsis)}}
		if gauge > 0 {
			t = t.and(plain, " ").with(s.gauge(share, gauge, tn))
		}
		t = t.and(tn, padLeft(percent(share), shareWidth))
		for _, c := range columns {
			t = t.and(plain, padLeft(cut(c.cell(pr), c.width-1, s.ellipsis), c.width))
		}
		pr0.key = fmt.Sprintf("%s %d", r.key, i)
		pr0.line = t
		p.rows = append(p.rows, pr0)
	}
}
