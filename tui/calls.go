package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// The orders of the calls, as s goes through them.
const (
	byAmplification = iota
	byAttempts
	byOrphaned
	byCalls
	byName
)

func callSorts() []string {
	return []string{lang.Mark("amplification"), lang.Mark("attempts"), lang.Mark("work for nobody"), lang.Mark("calls"), lang.Mark("name")}
}

// callColumn is a column of the list of calls besides amplification and name.
type callColumn struct {
	title string
	order int // that sorts by it; -1: none
	width int
	rank  int // the lower, the longer it stays as the window narrows
	cell  func(s *scene, e *incident.Edge) span
}

func callColumns() []callColumn {
	return []callColumn{
		{lang.Mark("calls"), byCalls, 10, 1, func(_ *scene, e *incident.Edge) span { return counted(e.Calls) }},
		{lang.Mark("attempts"), byAttempts, 11, 0, func(_ *scene, e *incident.Edge) span { return counted(e.Attempts) }},
		{lang.Mark("failed"), -1, 8, 3, func(_ *scene, e *incident.Edge) span {
			share, known := failures(e)
			switch {
			case !known:
				return span{}
			case share >= 0.1:
				return span{bad, percent(share)}
			}
			return span{dim, percent(share)}
		}},
		{lang.Mark("for nobody"), byOrphaned, 13, 2, func(_ *scene, e *incident.Edge) span {
			if e.OrphanedS == nil {
				return span{}
			}
			return span{plain, seconds(*e.OrphanedS)}
		}},
		{lang.Mark("1..max"), -1, 8, 4, func(s *scene, e *incident.Edge) span { return span{dim, s.histogram(e)} }},
		{lang.Mark("ceiling"), -1, 8, 6, func(_ *scene, e *incident.Edge) span {
			if e.Ceiling == nil {
				return span{}
			}
			return span{dim, fmt.Sprint(*e.Ceiling)}
		}},
		{lang.Mark("from"), -1, 13, 5, func(_ *scene, e *incident.Edge) span { return span{dim, e.Basis} }},
	}
}

func counted(n *int64) span {
	if n == nil {
		return span{}
	}
	return span{plain, grouped(*n)}
}

// histogram draws how many calls made one attempt, two and so on up to the
// ceiling; of many, the last column stands for the rest.
func (s *scene) histogram(e *incident.Edge) string {
	if len(e.ByAttempts) == 0 {
		return ""
	}
	const most = 6
	n := 1
	if e.Ceiling != nil {
		n = max(n, min(most, *e.Ceiling))
	}
	for tries := range e.ByAttempts {
		n = max(n, min(most, attemptsOf(tries)))
	}
	values, top := make([]float64, n), 0.0
	for tries, calls := range e.ByAttempts {
		i := max(1, min(n, attemptsOf(tries))) - 1
		values[i] += float64(calls)
		top = max(top, values[i])
	}
	return s.sparkline(values, top)
}

// attemptsOf reads a key of by_attempts: "3", or "10+".
func attemptsOf(key string) int {
	n := 0
	for _, c := range key {
		if c < '0' || c > '9' || n > 1000 {
			break
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// The narrowest columns of amplification and name.
const (
	timesWidth = 8
	nameWidth  = 30
)

// callLayout is which columns the list has, and how wide the name is.
type callLayout struct {
	columns []callColumn
	name    int
}

// layoutCalls chooses the columns for a width: the telling ones first.
func layoutCalls(width int) callLayout {
	all := callColumns()
	room := width - 2 - timesWidth - 1
	used := 0
	taken := make([]bool, len(all))
	for rank := range all {
		i := slices.IndexFunc(all, func(c callColumn) bool { return c.rank == rank })
		if used+all[i].width > room-nameWidth {
			break
		}
		used += all[i].width
		taken[i] = true
	}
	var l callLayout
	for i := range all {
		if taken[i] {
			l.columns = append(l.columns, all[i])
		}
	}
	l.name = max(1, room-used)
	return l
}

// has reports whether a column is shown.
func (l *callLayout) has(title string) bool {
	return slices.ContainsFunc(l.columns, func(c callColumn) bool { return c.title == title })
}

// callsPage is the ledger: every edge with its calls and attempts, and above it
// the ways on which retries of several layers multiply.
func callsPage(s *scene, at place) *page {
	if at.arg != "" {
		return callPage(s, at.arg)
	}
	p := &page{lists: true, none: lang.T("No calls were counted: the evidence has no logs of retries, access logs or traces.")}
	edges := s.report.Edges
	if len(edges) == 0 {
		return p
	}
	l := layoutCalls(s.width - 2)
	p.head = []text{l.heads(s, at)}
	multiplied(s, p, &l)
	x := s.calls()
	order := sortedEdges(edges, x, at)
	p.first = x.key[order[0]]
	p.rows = slices.Grow(p.rows, len(order)+4)
	for n, i := range order {
		e := &edges[i]
		again := n > 0 && x.name[i] == x.name[order[n-1]]
		r := row{key: x.key[i], cites: e.Citations, copy: x.name[i], alarm: s.suspect(e)}
		if about := x.findings[x.name[i]]; len(about) > 0 && !again {
			r.find = about[0].ID
			r.links = append(r.links, link{name: x.name[i], to: place{screen: onCalls, arg: x.key[i]}})
			for _, f := range about {
				r.links = append(r.links, toFinding(f))
			}
		}
		r.draw = func() text { return l.line(s, e, x.name[i], again) }
		p.rows = append(p.rows, r)
	}
	p.gap()
	p.para(nil, s.width-2, say(dim, lang.T("~ put together by inference, or hidden by a library. 1..max: how many calls made one attempt, two and so on. For nobody: what providers worked after the caller had given up.")))
	return p
}

// suspect reports whether an edge does not look right.
func (s *scene) suspect(e *incident.Edge) bool {
	if _, tn := s.amplified(e); tn == bad || tn == warn || e.OrphanedS != nil && *e.OrphanedS >= 1 {
		return true
	}
	share, _ := failures(e)
	return share >= 0.1
}

// heads are the titles of the columns; the one that is sorted by is marked.
func (l *callLayout) heads(s *scene, at place) text {
	sign := s.arrowDown()
	if at.reverse {
		sign = s.onset
	}
	title := func(name string, order, width int, left bool) span {
		said, tn := lang.T(name), dim
		if order == at.order {
			tn = accent
			said = strings.TrimSpace(said + " " + sign)
		}
		if left {
			return span{tn, pad(said, width, "")}
		}
		return span{tn, padLeft(cut(said, width-1, ""), width)}
	}
	short := lang.Mark("factor")
	t := text{title(short, byAmplification, timesWidth+2, false), {plain, " "}, title(lang.Mark("call"), byName, l.name, true)}
	for _, c := range l.columns {
		t = append(t, title(c.title, c.order, c.width, false))
	}
	return t
}

// line is an edge on the list. One that counts the same calls as the one above
// it, on another basis, hangs below it.
func (l *callLayout) line(s *scene, e *incident.Edge, name string, again bool) text {
	glyph, tn := s.amplified(e)
	if share, _ := failures(e); share >= 0.1 && tn != bad { // no check mark where calls fail
		glyph, tn = "!", warn
	}
	factor := ""
	if e.Amplification != nil {
		factor = times(*e.Amplification)
		if !e.Exact {
			factor = "~" + factor
		}
	}
	t := text{{tn, glyph + " " + padLeft(factor, timesWidth)}, {plain, " "}}
	nameTone := plain
	if again {
		nameTone = dim
		if !l.has("from") {
			name = e.Basis + ": " + name
		}
		name = s.corner + " " + name
	}
	t = t.and(nameTone, pad(middle(name, l.name, s.ellipsis), l.name, s.ellipsis))
	for _, c := range l.columns {
		cell := c.cell(s, e)
		t = t.and(cell.tone, padLeft(cut(cell.text, c.width-1, s.ellipsis), c.width))
	}
	return t
}

// sortedEdges returns the edges in the order of a place; what is not known comes
// last either way. Accounts of the same calls on several bases stay together
// below the fullest, so that nobody takes them for different calls.
func sortedEdges(edges []incident.Edge, x *callIndex, at place) []int {
	order := make([]int, 0, len(edges))
	value := make([]float64, len(edges))
	for i := range edges {
		value[i] = orderValue(&edges[i], at.order)
		if i == x.fullest(edges, i) {
			order = append(order, i)
		}
	}
	sign := -1 // the largest first
	if at.reverse != (at.order == byName) {
		sign = 1
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if at.order == byName {
			return sign * cmp.Compare(x.name[a], x.name[b])
		}
		va, vb := value[a], value[b]
		if va < 0 || vb < 0 {
			return cmp.Compare(vb, va)
		}
		return sign * cmp.Compare(va, vb)
	})
	if len(order) == len(edges) {
		return order
	}
	together := make([]int, 0, len(edges))
	for _, i := range order {
		together = append(together, i)
		for _, j := range x.byName[x.name[i]] {
			if j != i {
				together = append(together, j)
			}
		}
	}
	return together
}

// fullest returns, of the accounts of the same calls as the i-th edge's, the one
// that saw the most of them.
func (x *callIndex) fullest(edges []incident.Edge, i int) int {
	same := x.byName[x.name[i]]
	best := same[0]
	for _, j := range same[1:] {
		a, b := &edges[best], &edges[j]
		if (a.Scope == failedCalls) != (b.Scope == failedCalls) {
			if a.Scope == failedCalls {
				best = j
			}
			continue
		}
		if orderValue(b, byAttempts) > orderValue(a, byAttempts) {
			best = j
		}
	}
	return best
}

// orderValue is what an edge is sorted by, -1 if it is not known.
func orderValue(e *incident.Edge, order int) float64 {
	switch {
	case order == byAmplification && e.Amplification != nil:
		return *e.Amplification
	case order == byAttempts && e.Attempts != nil:
		return float64(*e.Attempts)
	case order == byOrphaned && e.OrphanedS != nil:
		return *e.OrphanedS
	case order == byCalls && e.Calls != nil:
		return float64(*e.Calls)
	}
	return -1
}
