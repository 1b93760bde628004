package tui

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// callsDetail is what stands beside the list of calls: the edge or the path that
// the cursor is on; beside an edge, the trace or finding that it is on.
func callsDetail(s *scene, at place, key string) *page {
	if at.arg == "" {
		return callPage(s, key)
	}
	if id, ok := strings.CutPrefix(key, "finding "); ok {
		return findingPage(s, place{screen: onFinding, arg: id})
	}
	if id, ok := strings.CutPrefix(key, "trace "); ok {
		return tracePage(s, place{screen: onTrace, arg: id})
	}
	if i, ok := s.calls().byKey[at.arg]; ok {
		if list := s.calls().traces[s.calls().name[i]]; len(list) > 0 {
			return tracePage(s, place{screen: onTrace, arg: traceArg(&s.report.Traces[list[0]])})
		}
	}
	return nil
}

// callPage is all that is known of an edge, or of a path.
func callPage(s *scene, key string) *page {
	if strings.HasPrefix(key, pathKeys) {
		for i := range s.report.Paths {
			if key == pathKey(i) {
				return pathPage(s, &s.report.Paths[i])
			}
		}
	}
	i, ok := s.calls().byKey[key]
	if !ok {
		return &page{none: lang.T("These calls are not in the report any more.")}
	}
	d := &callDetail{page: &page{}, s: s, e: &s.report.Edges[i], name: s.calls().name[i], i: i, w: s.width - 2}
	d.head()
	d.ends()
	d.time()
	d.budget()
	d.nobody()
	d.accounts()
	d.examples()
	d.leads()
	d.providers()
	d.routing()
	d.findings()
	d.seen()
	return d.page
}

// callDetail writes the page of an edge.
type callDetail struct {
	*page
	s    *scene
	e    *incident.Edge
	name string
	i, w int
}

// row is a row that the cursor can rest on and that cites the edge's evidence.
func (d *callDetail) row(key string) row { return row{key: key, cites: d.e.Citations} }

// fact appends a name and what is known.
func (d *callDetail) fact(key, name string, value text) {
	d.thing(d.row(key), text{{dim, pad(name, 16, d.s.ellipsis) + " "}}, d.w, value)
}

// head says what the edge is and what is the matter with it.
func (d *callDetail) head() {
	e, s := d.e, d.s
	r := d.row("edge")
	r.copy = d.name
	if about := s.calls().findings[d.name]; len(about) > 0 {
		r.find = about[0].ID
	}
	r.alarm = s.suspect(e)
	d.thing(r, nil, d.w, say(strong, d.name))
	var what []string
	if e.Provider != "" {
		what = append(what, lang.Sprintf("provider %s", e.Provider))
	}
	if e.Protocol != "" {
		what = append(what, e.Protocol)
	}
	if strings.Contains(e.Service, ".") && !strings.Contains(e.Method, " ") {
		what = append(what, e.Service)
	}
	if len(what) > 0 {
		d.thing(r, nil, d.w, say(dim, strings.Join(what, ", ")))
	}
	d.thing(r, nil, d.w, say(dim, account(e)))
	d.gap()
	if e.Amplification != nil {
		glyph, tn := s.amplified(e)
		t := text{{tn, glyph + " " + times(*e.Amplification)}}
		switch {
		case atCeiling(e):
			t = t.and(tn, " "+lang.T("at its ceiling: nearly every call uses up its attempts"))
		case tn == good:
			t = t.and(tn, " "+lang.T("hardly a retry"))
		}
		if e.Calls != nil && e.Attempts != nil {
			t = t.and(plain, "  "+lang.Sprintf("%s attempts for %s calls", grouped(*e.Attempts), grouped(*e.Calls)))
		}
		d.thing(r, nil, d.w, t.and(plain, " ").with(s.seen(e.Citations, 1)))
	} else if e.Attempts != nil {
		d.thing(r, nil, d.w, say(plain, lang.Sprintf("%s attempts; who called is not in the evidence", grouped(*e.Attempts))+" ").with(s.seen(e.Citations, 1)))
	}
	if e.Peak != nil {
		d.fact("edge", lang.T("at its peak"), say(warn, lang.Sprintf("%s while it was retried", times(*e.Peak))))
	}
	if e.Cumulative != nil && e.Amplification != nil && *e.Cumulative >= 1.1**e.Amplification {
		d.fact("edge", lang.T("layers above"), say(bad, lang.Sprintf("%s with theirs: they multiply", times(*e.Cumulative))))
	}
	if e.Ceiling != nil {
		d.fact("edge", lang.T("ceiling"), say(plain, lang.Sprintf("%d attempts a call", *e.Ceiling)))
	}
}

// The ways in which calls end, as they are shown: best first.
var fateOrder = []string{
	lang.Mark("ok-at-once"), lang.Mark("ok-after-retry"), lang.Mark("exhausted"), lang.Mark("timed-out"), lang.Mark("rejected"), lang.Mark("failed"),
	lang.Mark("not-retryable"), lang.Mark("budget-exhausted"), lang.Mark("cancelled"), lang.Mark("unknown"),
}

// ends draws how calls and attempts ended, and how many attempts calls made.
func (d *callDetail) ends() {
	e := d.e
	if len(e.Fates) > 0 {
		d.title(lang.T("HOW ITS CALLS ENDED"))
		d.ways("fates", e.Fates, fateOrder)
	}
	if len(e.ByAttempts) > 0 {
		d.title(lang.T("ATTEMPTS A CALL MADE"))
		keys := sortedKeys(e.ByAttempts)
		slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(attemptsOf(a), attemptsOf(b)) })
		var list []bar
		var whole int64
		for _, k := range keys {
			whole += e.ByAttempts[k]
			b := bar{glyph: " ", tone: good, name: k, n: e.ByAttempts[k]}
			if n := attemptsOf(k); n > 1 {
				b.tone = warn
				if e.Ceiling != nil && n >= *e.Ceiling {
					b.tone, b.note = bad, lang.T("the ceiling")
				}
			}
			list = append(list, b)
		}
		d.bars(d.s, d.row("attempts"), list, whole, d.w)
	}
	if len(e.Outcomes) > 0 {
		if e.Basis == "logs" { // some of these tell of calls, some of their last attempts
			d.title(lang.T("WHAT THE LOGS SAY OF IT"))
		} else {
			d.title(lang.T("HOW ITS ATTEMPTS ENDED"))
		}
		d.ways("outcomes", e.Outcomes, []string{"ok"})
	}
	if len(e.OtherSends) > 0 {
		d.title(lang.T("SENT AGAIN, BUT NO RETRIES"))
		var list []bar
		var whole int64
		for _, k := range sortedKeys(e.OtherSends) {
			whole += e.OtherSends[k]
			list = append(list, bar{glyph: d.s.notYet, tone: info, name: lang.Word(k), n: e.OtherSends[k]})
		}
		if e.Calls != nil {
			whole = max(whole, *e.Calls)
		}
		d.bars(d.s, d.row("sends"), list, whole, d.w)
	}
	if e.Ambiguous != nil && *e.Ambiguous > 0 {
		d.fact("ambiguous", lang.T("undecided"), say(plain, lang.Sprintf("%s groups of requests may be retries or a loop; they count as single calls", grouped(*e.Ambiguous))))
	}
}

// ways draws counts of ways to end: those in order first, then the others by
// their number.
func (d *callDetail) ways(key string, counts map[string]int64, order []string) {
	keys := sortedKeys(counts)
	rank := func(k string) int {
		if i := slices.Index(order, k); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(counts[b], counts[a]))
	})
	var list []bar
	var whole int64
	for _, k := range keys {
		whole += counts[k]
		if counts[k] > 0 {
			list = append(list, bar{glyph: d.s.fateGlyph(k), tone: fateTone(k), name: lang.Word(k), n: counts[k]})
		}
	}
	if d.e.Basis == "logs" {
		whole = 0
		for _, n := range counts {
			whole = max(whole, n)
		}
		if d.e.Calls != nil {
			whole = max(whole, *d.e.Calls)
		}
	}
	d.bars(d.s, d.row(key), list, whole, d.w)
}

// time sets what a call may take against what whoever calls waits for.
func (d *callDetail) time() {
	e, s := d.e, d.s
	if e.TimeoutMS == nil && e.AttemptP95MS == nil && e.CallP95MS == nil {
		return
	}
	d.title(lang.T("TIME"))
	if e.AttemptP95MS != nil {
		d.fact("time", lang.T("an attempt, p95"), say(plain, millis(float64(*e.AttemptP95MS))))
	}
	if e.CallP95MS != nil {
		d.fact("time", lang.T("a call, p95"), say(plain, millis(float64(*e.CallP95MS))))
	}
	if e.TimeoutMS == nil {
		return
	}
	timeout := float64(*e.TimeoutMS)
	d.fact("time", lang.T("timeout"), say(plain, millis(timeout)))
	longest := timeout
	if e.Ceiling != nil && *e.Ceiling > 1 {
		longest *= float64(*e.Ceiling)
		d.fact("time", lang.T("in all"), say(plain, lang.Sprintf("%d attempts x %s = %s before it fails, pauses between them not counted", *e.Ceiling, millis(timeout), millis(longest))))
	}
	above, ok := s.calls().above[d.name]
	if !ok {
		return
	}
	for _, i := range s.calls().byName[above] {
		up := &s.report.Edges[i]
		if up.TimeoutMS == nil {
			continue
		}
		r := row{key: "deadline", cites: up.Citations}
		if l, ok := s.toCall(above); ok {
			r.links = []link{l}
		}
		tn, said := good, lang.Sprintf("%s waits %s for it: long enough", above, millis(float64(*up.TimeoutMS)))
		if float64(*up.TimeoutMS) < longest {
			tn, said = bad, lang.Sprintf("%s waits only %s for it: it gives up while this still tries", above, millis(float64(*up.TimeoutMS)))
			r.alarm = true
		}
		d.thing(r, text{{dim, pad(lang.T("the layer above"), 16, s.ellipsis) + " "}}, d.w, say(tn, said+" ").with(s.seen(up.Citations, 1)))
		return
	}
}

// commonBudget is the share of calls that retries may add in most designs.
const commonBudget = 0.1

// budget sets the retries against what is commonly allowed.
func (d *callDetail) budget() {
	share := d.e.RetryShare
	if share == nil {
		return
	}
	d.title(lang.T("RETRIES AGAINST A BUDGET"))
	tn := good
	if *share > commonBudget {
		tn = bad
	}
	r := d.row("budget")
	r.alarm = tn == bad
	top := max(*share, 2*commonBudget)
	room := max(4, min(40, d.w-34))
	line := func(name string, share float64, tn tone) {
		r.line = text{{dim, pad(name, 16, d.s.ellipsis) + " "}}.with(d.s.gauge(share/top, room, tn)).and(tn, padLeft(percent(share), 8)).and(dim, " "+lang.T("of calls"))
		d.rows = append(d.rows, r)
	}
	line(lang.T("retries"), *share, tn)
	line(lang.T("common budget"), commonBudget, dim)
}

// nobody is work whose answer nobody used.
func (d *callDetail) nobody() {
	e := d.e
	if e.OrphanedS == nil && e.WastedShare == nil && e.Abandoned == nil {
		return
	}
	d.title(lang.T("WORK FOR NOBODY"))
	if e.OrphanedS != nil {
		d.fact("nobody", lang.T("orphaned"), say(hurt, lang.Sprintf("the provider worked %s after the caller had given up", seconds(*e.OrphanedS))))
	}
	if e.Abandoned != nil {
		d.fact("nobody", lang.T("abandoned"), say(plain, lang.Sprintf("%s calls went on after their caller had left", grouped(*e.Abandoned))))
	}
	if e.WastedShare != nil {
		tn := plain
		if *e.WastedShare >= 0.1 {
			tn = hurt
		}
		d.fact("nobody", lang.T("wasted"), d.s.gauge(*e.WastedShare, max(4, min(20, d.w-40)), tn).and(tn, " "+percent(*e.WastedShare)).and(dim, " "+lang.T("of the provider's time: nobody used its answer")))
	}
}

// accounts sets what other evidence says of the same calls beside it.
func (d *callDetail) accounts() {
	s, x := d.s, d.s.calls()
	same := x.byName[d.name]
	if len(same) < 2 {
		return
	}
	d.title(lang.T("THE SAME CALLS BY OTHER EVIDENCE"))
	for _, i := range same {
		o := &s.report.Edges[i]
		r := row{key: "account " + x.key[i], cites: o.Citations}
		sign := s.notYet
		if i == d.i {
			sign = s.right
		} else {
			r.links = []link{{name: account(o), to: place{screen: onCalls, arg: x.key[i]}}}
		}
		t := text{{strong, pad(lang.Word(o.Basis), 12, s.ellipsis) + " "}}
		if o.Amplification != nil {
			t = t.and(plain, times(*o.Amplification)+"  ")
		}
		if o.Calls != nil && o.Attempts != nil {
			t = t.and(plain, lang.Sprintf("%s attempts for %s calls", grouped(*o.Attempts), grouped(*o.Calls))+"  ")
		}
		switch o.Scope {
		case failedCalls:
			t = t.and(dim, lang.T("failed calls only")+" ")
		case sinceStart:
			t = t.and(dim, lang.T("since the process started")+" ")
		}
		d.thing(r, text{{dim, sign + " "}}, d.w, t.with(s.seen(o.Citations, 1)))
	}
	if disagree(s, same) {
		d.para(say(warn, "! "), d.w, say(warn, lang.T("They disagree. One may have seen more of the calls than the other; none of them is added to another.")))
		return
	}
	d.para(text{{plain, "  "}}, d.w, say(dim, lang.T("They are several views of the same calls, and never added.")))
}

// disagree reports whether accounts that see the same calls tell of different
// amplification. One that sees only failed calls cannot agree.
func disagree(s *scene, same []int) bool {
	low, high := 0.0, 0.0
	for _, i := range same {
		e := &s.report.Edges[i]
		if e.Amplification == nil || e.Scope == failedCalls {
			continue
		}
		if low == 0 || *e.Amplification < low {
			low = *e.Amplification
		}
		high = max(high, *e.Amplification)
	}
	return low > 0 && high > 1.1*low
}

// providers draws what each provider got.
func (d *callDetail) providers() {
	if len(d.e.Providers) == 0 {
		return
	}
	d.title(lang.T("PROVIDERS"))
	shares(d.s, d.page, d.e, d.w, d.row("provider"))
}

// routing draws the candidates by stage.
func (d *callDetail) routing() {
	if len(d.e.Candidates) == 0 {
		return
	}
	d.title(lang.T("CANDIDATES BY STAGE OF ROUTING"))
	r := d.row("routing")
	r.links = []link{{name: lang.T("its routing"), to: place{screen: onRoutes, arg: routeKey(d.name)}}}
	funnel(d.s, d.page, d.e.Candidates, d.w, r)
}

func (d *callDetail) findings() {
	findingRows(d.s, d.page, d.s.calls().about(d.s.report, d.i), d.name, d.w)
}

// findingRows lists findings about a thing, whose name they need not repeat, each
// leading to its page.
func findingRows(s *scene, p *page, list []*incident.Finding, name string, w int) {
	if len(list) == 0 {
		return
	}
	p.title(lang.T("FINDINGS"))
	for _, f := range list {
		r := row{key: "finding " + f.ID, find: f.ID, cites: f.Citations, links: []link{toFinding(f)}, copy: f.Text}
		p.thing(r, text{{info, pad(f.ID, 4, "") + " "}}, w, say(plain, strings.TrimPrefix(f.Text, name+": ")+" ").with(s.seen(f.Citations, 1)))
	}
}

// examples lists traces that show what the numbers mean.
func (d *callDetail) examples() {
	s := d.s
	list := s.calls().traces[d.name]
	if len(list) == 0 {
		return
	}
	d.title(lang.T("EXAMPLE TRACES"))
	for _, i := range list {
		t := &s.report.Traces[i]
		r := row{key: "trace " + traceArg(t), cites: t.Citations, links: []link{{name: whyWords(t.Why), to: place{screen: onTrace, arg: traceArg(t)}}}, copy: t.ID, alarm: t.Why == incident.TraceExhausted || t.Why == incident.TraceOrphaned}
		d.thing(r, text{{accent, s.right + " "}}, d.w, text{{plain, whyWords(t.Why) + "  "}, {info, millis(t.DurationMS) + "  "}, {dim, lang.Sprintf("%d spans", len(t.Spans)+t.More) + " "}}.with(s.seen(t.Citations, 1)))
	}
}

// leads are the statements that the method runs and the pools it runs in.
func (d *callDetail) leads() {
	s, begun := d.s, false
	lead := func(what, name string, to place, cites []evidence.Citation) {
		if !begun {
			d.title(lang.T("AT THE PROVIDER"))
			begun = true
		}
		r := row{key: to.key, cites: cites, links: []link{{name: name, to: to}}, copy: name}
		d.thing(r, text{{dim, pad(what, 16, s.ellipsis) + " "}}, d.w, say(info, name+" ").with(s.seen(cites, 1)))
	}
	traced := s.traced(d.name)
	for i := range s.report.SQL {
		q := &s.report.SQL[i]
		to := place{screen: onSQL, key: sqlKey(q)}
		switch {
		case runsIn(q.Method, d.e):
			lead(lang.T("it runs"), q.Fingerprint, to, q.Citations)
		case traced[sqlKey(q)]: // perhaps by a service further down
			lead(lang.T("run below it"), q.Fingerprint, to, q.Citations)
		}
	}
	for i := range s.report.Pools {
		if q := &s.report.Pools[i]; s.poolOf(q, d.e) {
			lead(lang.T("in the pool"), q.Name, place{screen: onPools, key: "pool " + q.Name}, q.Citations)
		}
	}
}

// traced are the statements that example traces show below an edge's calls, by
// their things on the SQL screen.
func (s *scene) traced(edge string) map[string]bool {
	keys := map[string]bool{}
	for _, i := range s.calls().traces[edge] {
		under := -1 // depth of the call's span that these are below
		for _, sp := range s.report.Traces[i].Spans {
			if under >= 0 && sp.Depth <= under {
				under = -1
			}
			if sp.Focus && under < 0 {
				under = sp.Depth
			}
			if sp.SQL != "" && under >= 0 {
				keys[s.statement(sp.SQL)] = true
			}
		}
	}
	return keys
}

// runsIn reports whether a method of a class, as "SkuServiceImpl.getSkuStock",
// is the one that an edge calls.
func runsIn(method string, e *incident.Edge) bool {
	class, name, ok := strings.Cut(method, ".")
	if !ok || name != e.Method || name == "" {
		return false
	}
	service := e.Service[strings.LastIndexByte(e.Service, '.')+1:]
	return strings.TrimSuffix(class, "Impl") == strings.TrimSuffix(service, "Impl")
}

// poolOf reports whether findings say that a pool is the provider's, or that the
// edge's method holds it.
func (s *scene) poolOf(p *incident.Pool, e *incident.Edge) bool {
	for _, f := range s.calls().pools[p.Name] {
		if e.Provider != "" && f.Names["service"] == e.Provider || runsIn(f.Names["class"]+"."+f.Names["method"], e) {
			return true
		}
	}
	return false
}

// seen lists the citations.
func (d *callDetail) seen() {
	seenIn(d.page, d.e.Citations)
}

// seenIn lists citations, each of which can be opened.
func seenIn(p *page, list []evidence.Citation) {
	if len(list) == 0 {
		return
	}
	p.title(lang.T("SEEN IN"))
	for _, c := range list {
		p.rows = append(p.rows, row{key: "cite " + c.String(), cites: []evidence.Citation{c}, links: []link{toLine(c)}, line: say(cite, "["+c.String()+"]")})
	}
}
