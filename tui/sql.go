package tui

import (
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// sqlColumn is a number of a statement.
type sqlColumn struct {
	name  string // English
	width int
	value func(f *incident.Fingerprint) (float64, bool)
	write func(v float64) string
}

// sqlColumns lists the numbers by which statements are sorted, then the others.
func sqlColumns() []sqlColumn {
	whole := func(v float64) string { return grouped(int64(v)) }
	return []sqlColumn{
		{lang.Mark("total"), 9, func(f *incident.Fingerprint) (float64, bool) { return known(f.TotalSeconds) }, seconds},
		{lang.Mark("p95"), 9, func(f *incident.Fingerprint) (float64, bool) { return known(f.P95Seconds) }, seconds},
		{lang.Mark("running"), 8, func(f *incident.Fingerprint) (float64, bool) { return known(f.RunningNow) }, whole},
		{lang.Mark("rows"), 12, func(f *incident.Fingerprint) (float64, bool) { return known(f.RowsExamined) }, whole},
		{lang.Mark("count"), 9, func(f *incident.Fingerprint) (float64, bool) { return known(f.Count) }, whole},
		{lang.Mark("lock waits"), 11, func(f *incident.Fingerprint) (float64, bool) { return known(f.LockWaits) }, whole},
		{lang.Mark("max"), 9, func(f *incident.Fingerprint) (float64, bool) { return known(f.MaxSeconds) }, seconds},
	}
}

// known returns a number that may be absent.
func known[T int | int64 | float64](n *T) (float64, bool) {
	if n == nil {
		return 0, false
	}
	return float64(*n), true
}

// sqlSorts are the orders of the screen.
func sqlSorts() []string {
	var names []string
	for _, c := range sqlColumns()[:5] {
		names = append(names, c.name)
	}
	return names
}

func sqlKey(f *incident.Fingerprint) string { return "sql " + f.Fingerprint }

// sqlPage lists the statements, each with its numbers.
func sqlPage(s *scene, at place) *page {
	if at.arg != "" {
		if p := sqlDetail(s, at, at.arg); p != nil {
			return p
		}
		return &page{none: lang.T("This is not in the report any more.")}
	}
	p := &page{lists: true, none: lang.T("No statement is in the evidence. A slow log, a list of sessions (processlist, pg_stat_activity) or spans with SQL show them.")}
	if len(s.report.SQL) == 0 {
		return p
	}
	w := s.width - 2
	all := sqlColumns()
	list := make([]*incident.Fingerprint, len(s.report.SQL))
	for i := range list {
		list[i] = &s.report.SQL[i]
	}
	sorted := all[at.order%5]
	slices.SortStableFunc(list, func(a, b *incident.Fingerprint) int {
		x, okX := sorted.value(a)
		y, okY := sorted.value(b)
		switch {
		case okX != okY: // what is unknown comes last, whatever the direction
			if okX {
				return -1
			}
			return 1
		case x == y:
			return 0
		case x > y != at.reverse:
			return -1
		}
		return 1
	})
	columns := sqlShown(s, all, sorted.name, w)
	p.head = []text{sqlHead(s, list), nil, sqlHeader(s, columns, sorted.name, at.reverse), nil}
	used := 0
	for _, c := range columns {
		used += c.width
	}
	longest := 0
	for _, f := range list {
		longest = max(longest, cells(f.Fingerprint)+cells(troubles(f))+2)
	}
	beside := w - 4 - used // columns for the statement beside its numbers
	if beside < min(longest, 72) {
		beside = 0
	}
	for _, f := range list {
		sqlRows(s, p, f, columns, beside, w)
	}
	return p
}

// sqlShown are the columns that have a number anywhere and for which there is
// room: the one that is sorted by above all.
func sqlShown(s *scene, all []sqlColumn, sorted string, w int) []sqlColumn {
	room := w - 2
	var shown []sqlColumn
	take := func(ok func(c *sqlColumn) bool) {
		for i := range all {
			c := &all[i]
			has := slices.ContainsFunc(s.report.SQL, func(f incident.Fingerprint) bool { _, ok := c.value(&f); return ok })
			if ok(c) && has && c.width <= room {
				shown = append(shown, *c)
				room -= c.width
			}
		}
	}
	take(func(c *sqlColumn) bool { return c.name == sorted })
	take(func(c *sqlColumn) bool { return c.name != sorted })
	order := func(c sqlColumn) int {
		return slices.IndexFunc(all, func(o sqlColumn) bool { return o.name == c.name })
	}
	slices.SortFunc(shown, func(a, b sqlColumn) int { return order(a) - order(b) })
	return shown
}

func sqlHead(s *scene, list []*incident.Fingerprint) text {
	scans := 0
	for _, f := range list {
		if f.FullScan != nil && *f.FullScan {
			scans++
		}
	}
	t := say(strong, lang.Plural(int64(len(list)), grouped(int64(len(list))), "statement", "statements"))
	if scans > 0 {
		t = t.and(bad, "   "+s.burning+" "+lang.Sprintf("%d read a whole table", scans))
	}
	return t
}

func sqlHeader(s *scene, columns []sqlColumn, sorted string, reverse bool) text {
	t := say(plain, "  ")
	for _, c := range columns {
		name := lang.T(c.name)
		if c.name != sorted {
			t = t.and(heading, padLeft(name, c.width))
			continue
		}
		way := s.down
		if reverse {
			way = s.onset
		}
		t = t.and(accent, padLeft(name+way, c.width))
	}
	return t
}

// troubles are the words for what is wrong with a statement.
func troubles(f *incident.Fingerprint) string {
	var list []string
	if f.FullScan != nil && *f.FullScan {
		list = append(list, lang.T("full scan"))
	}
	if f.LockWaits != nil && *f.LockWaits > 0 {
		list = append(list, lang.T("waits for locks"))
	}
	return lang.Join(list)
}

// sqlRows shows a statement: its numbers, and the statement behind them or, where
// there is no room for it, below them.
func sqlRows(s *scene, p *page, f *incident.Fingerprint, columns []sqlColumn, beside, w int) {
	key := sqlKey(f)
	wrong := troubles(f)
	r := row{key: key, cites: s.seenRunning(f), copy: f.Fingerprint, alarm: wrong != "", links: []link{{name: f.Fingerprint, to: place{screen: onSQL, arg: key}}}}
	for _, o := range s.ofStatement(f) {
		if r.find == "" {
			r.find = o.ID
		}
		r.links = append(r.links, toFinding(o))
	}
	glyph, tn := " ", plain
	if wrong != "" {
		glyph, tn = s.burning, bad
	}
	line := say(tn, pad(glyph, 2, ""))
	for _, c := range columns {
		said := ""
		if v, ok := c.value(f); ok {
			said = c.write(v)
		}
		line = line.and(plain, padLeft(said, c.width))
	}
	statement := text{}
	if wrong != "" {
		statement = statement.and(bad, wrong+"  ")
	}
	if beside > 0 {
		r.line = line.and(plain, "  ").with(statement).and(plain, middle(f.Fingerprint, beside-statement.cells(), s.ellipsis))
		p.rows = append(p.rows, r)
		return
	}
	if slices.ContainsFunc(columns, func(c sqlColumn) bool { _, ok := c.value(f); return ok }) {
		r.line = line
		p.rows = append(p.rows, r)
		r.find, r.alarm = "", false
	}
	glyph = "  "
	if r.alarm { // it has no numbers above it
		glyph = s.burning + " "
	}
	p.thing(r, say(tn, glyph), w, statement.and(plain, clamp(f.Fingerprint, 2*(w-4)-statement.cells())))
	p.gap()
}

// ofStatement returns the findings about a statement.
func (s *scene) ofStatement(o *incident.Fingerprint) []*incident.Finding {
	return s.about(func(f *incident.Finding) bool {
		if f.Subject == o.Fingerprint || f.Names["fingerprint"] == o.Fingerprint || f.Names["query"] == o.Fingerprint {
			return true
		}
		return strings.HasPrefix(string(f.Kind), "sql.") && slices.ContainsFunc(f.Citations, func(c evidence.Citation) bool { return slices.Contains(o.Citations, c) })
	})
}

// seenRunning are a statement's citations, or those of spans that ran it.
func (s *scene) seenRunning(f *incident.Fingerprint) []evidence.Citation {
	if len(f.Citations) > 0 {
		return f.Citations
	}
	var list []evidence.Citation
	for i := range s.report.Traces {
		t := &s.report.Traces[i]
		for j := range t.Spans {
			c := t.Spans[j].Citation
			if t.Spans[j].SQL != "" && len(list) < 4 && c != (evidence.Citation{}) && !slices.Contains(list, c) && s.statement(t.Spans[j].SQL) == sqlKey(f) {
				list = append(list, c)
			}
		}
	}
	return list
}

// sqlDetail is one statement with all that is known of it.
func sqlDetail(s *scene, _ place, key string) *page {
	i := slices.IndexFunc(s.report.SQL, func(f incident.Fingerprint) bool { return sqlKey(&f) == key })
	if i < 0 {
		return nil
	}
	f := &s.report.SQL[i]
	p := &page{}
	w := s.width - 2
	about := s.ofStatement(f)
	cites := s.seenRunning(f)
	p.thing(row{key: key, cites: cites, copy: f.Fingerprint, links: toLines(cites, 1)}, nil, w, say(strong, clamp(f.Fingerprint, 20*max(1, w))))
	p.gap()
	if f.FullScan != nil {
		cites := cites[:min(1, len(cites))]
		for _, o := range about {
			if o.Kind == incident.SQLScan && len(o.Citations) > 0 {
				cites = o.Citations[:1]
			}
		}
		tn, glyph, said := good, s.healthy, lang.T("an index is used: no full scan")
		if *f.FullScan {
			tn, glyph, said = bad, s.burning, lang.T("full scan: it reads the whole table")
		}
		p.thing(row{key: "plan", cites: cites, links: toLines(cites, 1)}, say(tn, glyph+" "), w, say(tn, said+" ").with(s.seen(cites, 1)))
	}
	p.facts(s, w, sqlFacts(s, f, about, cites))
	sqlActions(s, p, f, w)
	sqlThreads(s, p, i, w)
	sqlSpans(s, p, f, w)
	p.tell(s, w, lang.T("FINDINGS"), about)
	p.citedLines(s, w, lang.T("SEEN IN"), cites)
	return p
}

// sqlFacts are the numbers of a statement, each with where it was seen.
func sqlFacts(s *scene, f *incident.Fingerprint, about []*incident.Finding, cites []evidence.Citation) []fact {
	var list []fact
	number := func(name, key string, v float64, ok bool, said func(float64) string, tn tone) {
		if ok {
			list = append(list, fact{name: name, value: said(v), tone: tn, cites: citeNumber(about, key, v, cites)})
		}
	}
	whole := func(v float64) string { return grouped(int64(v)) }
	v, ok := known(f.RunningNow)
	number(lang.T("running now"), "sql.running", v, ok, whole, plain)
	v, ok = known(f.RowsExamined)
	number(lang.T("rows examined"), "sql.rows_examined", v, ok, whole, plain)
	v, ok = known(f.Count)
	number(lang.T("executions"), "sql.count", v, ok, whole, plain)
	v, ok = known(f.TotalSeconds)
	number(lang.T("total"), "sql.total_s", v, ok, seconds, plain)
	v, ok = known(f.P95Seconds)
	number(lang.T("p95"), "sql.p95_s", v, ok, seconds, plain)
	v, ok = known(f.MaxSeconds)
	number(lang.T("longest"), "sql.max_s", v, ok, seconds, plain)
	v, ok = known(f.LockWaits)
	number(lang.T("lock waits"), "sql.waiting", v, ok, whole, bad)
	seen := cites[:min(1, len(cites))]
	if f.Table != "" {
		list = append(list, fact{name: lang.T("table"), value: f.Table, cites: seen})
	}
	// Who runs it is told by threads, not by the plan.
	for _, x := range s.report.Findings {
		if x.Kind == incident.StackDBRead && f.DAOFrame != "" && x.Names["app_frame"] == f.DAOFrame {
			seen = x.Citations[:min(1, len(x.Citations))]
			break
		}
	}
	if f.Method != "" {
		list = append(list, fact{name: lang.T("run by"), value: f.Method, cites: seen})
	}
	if f.DAOFrame != "" {
		list = append(list, fact{name: lang.T("at"), value: f.DAOFrame, cites: seen})
	}
	return list
}

// sqlActions are the actions of the incident that name the statement's table.
func sqlActions(s *scene, p *page, f *incident.Fingerprint, w int) {
	if s.now == nil || f.Table == "" {
		return
	}
	table := strings.ToLower(f.Table)
	titled := false
	for i := range s.now.Actions {
		a := &s.now.Actions[i]
		if !hasName(strings.ToLower(a.What+"\n"+a.Command), table) {
			continue
		}
		if !titled {
			titled = true
			p.title(lang.T("WHAT TO DO ABOUT IT"))
		}
		order := number(float64(a.Order))
		r := row{key: "do " + order, copy: a.Command, links: []link{{name: a.What, to: place{screen: onVerdict, key: "action " + order}}}}
		p.thing(r, say(accent, order+" "), w, say(strong, a.What))
		commandLines(p, r, a.Command, w, 3, s)
	}
}

// hasName reports whether a text has a name that is not part of a longer one.
func hasName(lower, name string) bool {
	part := func(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80 }
	for from := 0; ; {
		i := strings.Index(lower[from:], name)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(name)
		if (i == 0 || !part(lower[i-1])) && (end == len(lower) || !part(lower[end])) {
			return true
		}
		from = i + 1
	}
}

// sqlThreads are the groups of threads that wait for a statement.
func sqlThreads(s *scene, p *page, sql, w int) {
	g := s.groups()
	titled := false
	for i := range g.list {
		if !slices.Contains(g.runs.of(&g.list[i]), sql) {
			continue
		}
		if !titled {
			titled = true
			p.title(lang.T("THREADS THAT RUN IT"))
		}
		groupRows(s, p, g, i, w)
	}
}

// sqlSpans are the spans of the example traces that ran a statement.
func sqlSpans(s *scene, p *page, f *incident.Fingerprint, w int) {
	seen := map[[2]string]bool{}
	for i := range s.report.Traces {
		t := &s.report.Traces[i]
		for j := range t.Spans {
			sp := &t.Spans[j]
			k := [2]string{t.ID, sp.ID}
			if sp.SQL == "" || seen[k] || s.statement(sp.SQL) != sqlKey(f) {
				continue
			}
			if len(seen) == 0 {
				p.title(lang.T("SPANS THAT RAN IT"))
			}
			seen[k] = true
			r := row{key: "span " + t.ID + " " + sp.ID, copy: t.ID, links: []link{{name: lang.Sprintf("trace %s", t.ID), to: place{screen: onTrace, arg: traceArg(t)}}}}
			r.cites = t.Citations
			if sp.Citation != (evidence.Citation{}) {
				r.cites = []evidence.Citation{sp.Citation}
			}
			line := text{{plain, padLeft(seconds(sp.DurationMS/1000), 9) + "  "}, {info, middle(t.ID, 13, s.ellipsis) + "  "}}
			said := text{{plain, strings.TrimSpace(sp.Service+" "+sp.Name) + " "}}.with(s.seen(r.cites, 1))
			if line.cells()+said.cells() <= w {
				r.line = line.with(said)
			} else {
				r.line = line.and(plain, middle(said[0].text, max(8, w-line.cells()), s.ellipsis))
			}
			p.rows = append(p.rows, r)
		}
	}
}
