package incident

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/firebreak-io/firebreak/lang"
)

// htmlCalls is the ledger of calls with its drawings.
type htmlCalls struct {
	Edges      htmlTable
	Attempts   []htmlBars
	Candidates []htmlBars
}

// htmlCharts is how many drawings of one kind a page has.
const htmlCharts = 6

// calls makes the ledger ready, nil if there is no edge.
func (h *htmlPage) calls() *htmlCalls {
	r := h.index.report
	if len(r.Edges) == 0 {
		return nil
	}
	c := &htmlCalls{Edges: h.edges()}
	for i := range r.Edges {
		if b, ok := h.attempts(&r.Edges[i]); ok && len(c.Attempts) < htmlCharts {
			c.Attempts = append(c.Attempts, b)
		}
		if b, ok := h.candidates(&r.Edges[i]); ok && len(c.Candidates) < htmlCharts {
			c.Candidates = append(c.Candidates, b)
		}
	}
	return c
}

func (h *htmlPage) edges() htmlTable {
	edges := h.index.report.Edges
	t := htmlTable{Name: lang.T("Call"), More: more(len(edges) - htmlItems)}
	columns := []htmlColumnOf[Edge]{
		{lang.Mark("Amplification"), true, func(e *Edge) string { return times(e.Amplification) }},
		{lang.Mark("Calls"), true, func(e *Edge) string { return known(e.Calls) }},
		{lang.Mark("Attempts"), true, func(e *Edge) string { return known(e.Attempts) }},
		{lang.Mark("How they ended"), false, func(e *Edge) string { return cutMiddle(e.ended(), htmlName) }},
		{lang.Mark("Retries and routing"), false, func(e *Edge) string { return cutMiddle(e.limits(), htmlName) }},
		{lang.Mark("Work for nobody"), false, func(e *Edge) string { return e.wasted() }},
	}
	fill(&t, edges, columns, func(e *Edge) htmlRow {
		var about facts
		about.add(e.Provider != "", "%s", e.Provider)
		about.add(e.Protocol != "", "%s", e.Protocol)
		about.add(e.Basis != "", "from %s", e.Basis)
		about.add(e.Scope == "failed-calls", "failed calls only")
		about.add(e.Scope == "since-start", "since the process started")
		return htmlRow{
			Name: cutMiddle(e.Name(), htmlName), About: cutMiddle(about.String(), htmlName),
			Cites: htmlCitedUpTo(htmlCitesOfRow, h.about(e.Citations, e.Name())), Fold: providers(e),
		}
	})
	for i := range t.Rows {
		if a := edges[i].Amplification; a != nil && *a >= burningAmplification {
			t.Rows[i].Cells[0].Burning = true
		}
	}
	return t
}

// burningAmplification is where the number of a table stands out.
const burningAmplification = 1.2

// times writes a factor, or nothing where it is not known.
func times(f *float64) string {
	if f == nil {
		return ""
	}
	return lang.Sprintf("%.1fx", *f)
}

// limits says what bounds an edge's attempts, and what routing left of them.
func (e *Edge) limits() string {
	var f facts
	if e.Peak != nil {
		f.add(true, "%.1fx while it was retried", *e.Peak)
	}
	if e.Cumulative != nil && e.Amplification != nil && *e.Cumulative >= 1.1**e.Amplification {
		f.add(true, "%.1fx with the layers above", *e.Cumulative)
	}
	if e.Ceiling != nil {
		f.add(true, "ceiling %d", *e.Ceiling)
	}
	if e.TimeoutMS != nil {
		f.add(true, "timeout %s ms", grouped(*e.TimeoutMS))
	}
	if n := len(e.Candidates); n > 0 && !e.narrows() {
		f.add(true, "%s at each stage of routing", plural(e.Candidates[0].Count, "candidate", "candidates"))
	}
	return f.String()
}

// ended says how an edge's calls ended, and its attempts.
func (e *Edge) ended() string {
	var f facts
	f.add(len(e.Fates) > 0, "calls: %s", counts(e.Fates))
	f.add(len(e.Outcomes) > 0, "attempts: %s", counts(e.Outcomes))
	f.add(len(e.OtherSends) > 0, "no retries: %s", counts(e.OtherSends))
	if e.Ambiguous != nil {
		f.add(true, "%s of requests that may be retries or a loop", plural(*e.Ambiguous, "group", "groups"))
	}
	return strings.Join(f, "; ")
}

// wasted says how much of the provider's work nobody used.
func (e *Edge) wasted() string {
	var f facts
	if e.OrphanedS != nil {
		f.add(true, "%s", seconds(*e.OrphanedS))
	}
	if e.WastedShare != nil {
		f.add(true, "%s %% of the provider's time", significant(100**e.WastedShare))
	}
	if e.Abandoned != nil {
		f.add(true, "%s went on after the caller had left", plural(*e.Abandoned, "call", "calls"))
	}
	return f.String()
}

// narrows reports whether a stage of routing took candidates out.
func (e *Edge) narrows() bool {
	return slices.ContainsFunc(e.Candidates, func(s Stage) bool { return s.Count != e.Candidates[0].Count })
}

// providers is what each provider got, nil where there is but one.
func providers(e *Edge) *htmlFold {
	if len(e.Providers) < 2 {
		return nil
	}
	fold := &htmlFold{Title: plural(len(e.Providers), "provider", "providers")}
	fold.Name, fold.More = lang.T("Provider"), more(len(e.Providers)-htmlItems)
	fill(&fold.htmlTable, e.Providers, []htmlColumnOf[ProviderShare]{
		{lang.Mark("Attempts"), true, func(p *ProviderShare) string { return grouped(p.Attempts) }},
		{lang.Mark("Failures"), true, func(p *ProviderShare) string { return grouped(p.Failures) }},
		{lang.Mark("Busy"), true, func(p *ProviderShare) string { return took(p.BusyS) }},
		{lang.Mark("p95"), true, func(p *ProviderShare) string {
			if p.P95MS == nil {
				return ""
			}
			return seconds(float64(*p.P95MS) / 1000)
		}},
	}, func(p *ProviderShare) htmlRow { return htmlRow{Name: cutMiddle(p.Name, htmlName)} })
	return fold
}

// htmlTable is a table of which the columns that say nothing are left out. On a
// narrow screen each row becomes a list, so cells know their columns' titles.
type htmlTable struct {
	Name  string // of the first column
	Heads []htmlHead
	Rows  []htmlRow
	More  string
}

type htmlHead struct {
	Title  string
	Number bool
}

// htmlRow is a thing: what it is called, as a name or as code, and what is known
// of it.
type htmlRow struct {
	Name, Code, About string
	Quiet             bool // nothing was found in it
	Troubles          []string
	MoreTroubles      string
	Cites             htmlCitations
	Cells             []htmlCell
	Fold              *htmlFold // in the last cell
}

type htmlCell struct {
	Title, Value    string
	Number, Burning bool
}

// htmlFold is a table behind a click.
type htmlFold struct {
	Title string
	htmlTable
}

// htmlColumnOf makes one column of a table.
type htmlColumnOf[T any] struct {
	title  string
	number bool
	say    func(*T) string
}

// fill writes the first rows of a table, without the columns that are empty in
// all of them.
func fill[T any](t *htmlTable, all []T, columns []htmlColumnOf[T], row func(*T) htmlRow) {
	fillAll(t, all[:min(htmlItems, len(all))], columns, row)
}

func fillAll[T any](t *htmlTable, all []T, columns []htmlColumnOf[T], row func(*T) htmlRow) {
	for i := range all {
		t.Rows = append(t.Rows, row(&all[i]))
	}
	for _, c := range columns {
		cells := make([]htmlCell, len(all))
		says := false
		for i := range all {
			cells[i] = htmlCell{Title: lang.T(c.title), Value: c.say(&all[i]), Number: c.number}
			says = says || cells[i].Value != ""
		}
		if !says {
			continue
		}
		t.Heads = append(t.Heads, htmlHead{lang.T(c.title), c.number})
		for i := range all {
			t.Rows[i].Cells = append(t.Rows[i].Cells, cells[i])
		}
	}
}

// known writes a number, or nothing where it is not known.
func known[T ~int | ~int64](n *T) string {
	if n == nil {
		return ""
	}
	return grouped(*n)
}

type htmlPath struct {
	Layers []htmlLayer
	Facts  string
	Cites  htmlCitations
}

type htmlLayer struct{ Edge, Factor string }

func (h *htmlPage) path(p *Path) htmlPath {
	v := htmlPath{Facts: p.facts().String(), Cites: htmlCitedUpTo(htmlCitesOfRow, p.Citations)}
	for _, l := range p.Layers[:min(htmlItems, len(p.Layers))] {
		v.Layers = append(v.Layers, htmlLayer{cutMiddle(l.Edge, htmlName), lang.Sprintf("%.1fx", l.Amplification)})
	}
	return v
}

type htmlPool struct {
	Name, About string
	Facts       string
	Gauge       *htmlGauge
	Waits       *htmlStacked
	Cites       htmlCitations
}

func (h *htmlPage) pool(p *Pool) htmlPool {
	short := *p
	short.ByWaitKind = nil // drawn
	v := htmlPool{Name: cutMiddle(p.Name, htmlName), Gauge: h.gauge(p), Waits: h.waits(p), Cites: htmlCitedUpTo(htmlCitesOfRow, h.about(p.Citations, p.Name))}
	if v.Gauge != nil {
		short.Active, short.Max = nil, nil
	}
	v.Facts = cutMiddle(short.facts().String(), htmlName)
	var about facts
	about.add(p.Kind != "", "%s pool", lang.Word(p.Kind))
	about.add(p.Owner != "" && !strings.Contains(p.Name, p.Owner), "%s", p.Owner)
	v.About = cutMiddle(about.String(), htmlName)
	return v
}

func (h *htmlPage) statements() htmlTable {
	t := htmlTable{Name: lang.T("Statement"), More: more(len(h.index.report.SQL) - htmlItems)}
	columns := []htmlColumnOf[Fingerprint]{
		{lang.Mark("Executions"), true, func(s *Fingerprint) string { return known(s.Count) }},
		{lang.Mark("In all"), true, func(s *Fingerprint) string { return took(s.TotalSeconds) }},
		{lang.Mark("p95"), true, func(s *Fingerprint) string { return took(s.P95Seconds) }},
		{lang.Mark("Longest"), true, func(s *Fingerprint) string { return took(s.MaxSeconds) }},
		{lang.Mark("Rows read"), true, func(s *Fingerprint) string { return known(s.RowsExamined) }},
		{lang.Mark("Full scan"), false, func(s *Fingerprint) string { return yesOrNo(s.FullScan) }},
		{lang.Mark("Running now"), true, func(s *Fingerprint) string { return known(s.RunningNow) }},
		{lang.Mark("Lock waits"), true, func(s *Fingerprint) string { return known(s.LockWaits) }},
	}
	fill(&t, h.index.report.SQL, columns, func(s *Fingerprint) htmlRow {
		by := s.Method
		if by == "" {
			by = s.DAOFrame
		}
		if by != "" {
			by = lang.Sprintf("run by %s", cutMiddle(by, htmlName))
		}
		return htmlRow{Code: cutMiddle(collapse(s.Fingerprint), htmlSentence), About: by, Cites: htmlCitedUpTo(htmlCitesOfRow, h.about(s.Citations, s.Fingerprint))}
	})
	return t
}

func yesOrNo(b *bool) string {
	switch {
	case b == nil:
		return ""
	case *b:
		return lang.T("yes")
	}
	return lang.T("no")
}

// took writes a time that something took, or nothing where it is not known.
func took(s *float64) string {
	if s == nil {
		return ""
	}
	return seconds(*s)
}

type htmlStack struct {
	Threads, Pool, Wait, Class string
	At                         string
	Facts                      string
	Top                        []string
	Cites                      htmlCitations
}

func (h *htmlPage) stack(s *StackGroup) htmlStack {
	v := htmlStack{
		Threads: grouped(s.Threads), Pool: cutMiddle(s.Pool, htmlName), Wait: lang.Word(string(s.WaitKind)), Class: waitClass(string(s.WaitKind)),
		Cites: htmlCitedUpTo(htmlCitesOfRow, h.about(s.Citations, s.Pool)),
	}
	short := *s
	v.At, short.AppFrame = s.AppFrame, ""
	if v.At == "" && len(s.Top) > 0 {
		v.At = s.Top[0]
	}
	v.At = cutMiddle(v.At, htmlName)
	short.Top = nil
	v.Facts = cutMiddle(short.facts().String(), htmlName)
	for _, frame := range s.Top[:min(htmlItems, len(s.Top))] {
		v.Top = append(v.Top, cutMiddle(frame, htmlName))
	}
	return v
}

// htmlProblems is how much of what could not be read stands beside a source.
const htmlProblems = 8

func (h *htmlPage) sources() htmlTable {
	shown, rest := shownSources(h.index.report.Sources)
	t := htmlTable{Name: lang.T("File"), More: rest}
	fillAll(&t, shown, []htmlColumnOf[Source]{
		{lang.Mark("Format"), false, func(s *Source) string {
			if s.Records == 0 {
				return lang.T("nothing recognised")
			}
			return s.Format
		}},
		{lang.Mark("Size"), true, func(s *Source) string { return byteSize(s.Bytes) }},
		{lang.Mark("Records"), true, func(s *Source) string { return grouped(s.Records) }},
		{lang.Mark("Skipped"), true, func(s *Source) string {
			if s.Skipped == 0 {
				return ""
			}
			return grouped(s.Skipped)
		}},
		{lang.Mark("Times"), false, func(s *Source) string { return h.span(s.From, s.To) }},
	}, func(s *Source) htmlRow {
		row := htmlRow{Name: cutMiddle(s.Path, htmlName), Quiet: s.Records == 0}
		if s.Unread != "" {
			row.Troubles = append(row.Troubles, lang.Sprintf("not all was read: %s", s.Unread))
		}
		problems := slices.DeleteFunc(slices.Clone(s.Problems), func(p string) bool { return p == s.Unread })
		for _, p := range problems[:min(htmlProblems, len(problems))] {
			row.Troubles = append(row.Troubles, cutMiddle(p, htmlName))
		}
		row.MoreTroubles = more(len(problems) - htmlProblems)
		return row
	})
	return t
}

// htmlTrace is a trace as a waterfall.
type htmlTrace struct {
	ID, Edge  string
	Why, Took string
	Spans     []htmlTraceSpan
	More      string
	Cites     htmlCitations
}

type htmlTraceSpan struct {
	Depth, Class string
	Label, Said  string
	X, Width     string
	Focus        bool
}

// How many spans of a trace are drawn, and how far the deepest is moved in.
const (
	htmlSpans   = 40
	htmlDeepest = 8
)

func (h *htmlPage) trace(t *Trace) htmlTrace {
	v := htmlTrace{
		ID: cutMiddle(t.ID, 64), Edge: cutMiddle(t.Edge, htmlName), Why: lang.Word(string(t.Why)),
		Took: seconds(max(0, t.DurationMS) / 1000), Cites: htmlCitedUpTo(htmlCitesOfRow, t.Citations),
		More: more(t.More + max(0, len(t.Spans)-htmlSpans)),
	}
	length := max(t.DurationMS, 0.001)
	for i := range t.Spans {
		length = max(length, t.Spans[i].StartMS+t.Spans[i].DurationMS)
	}
	for i := range t.Spans[:min(htmlSpans, len(t.Spans))] {
		v.Spans = append(v.Spans, traceSpan(&t.Spans[i], length))
	}
	return v
}

func traceSpan(s *TraceSpan, length float64) htmlTraceSpan {
	x := min(1, max(0, s.StartMS/length))
	if math.IsNaN(x) {
		x = 0
	}
	v := htmlTraceSpan{
		Depth: "d" + strconv.Itoa(min(htmlDeepest, max(0, s.Depth))), Class: "quiet", Focus: s.Focus,
		X: percent(x), Width: percent(max(0.003, min(1-x, s.DurationMS/length))),
	}
	v.Label = strings.TrimSpace(cutMiddle(s.Service, htmlName) + " " + cutMiddle(s.Name, htmlName))
	var said facts
	said.add(true, "at %s", seconds(max(0, s.StartMS)/1000))
	said.add(true, "took %s", seconds(max(0, s.DurationMS)/1000))
	said.add(s.Attempt > 0 && s.Of > 1, "attempt %d of %d", s.Attempt, s.Of)
	said.add(s.Outcome != "" && s.Outcome != "ok", "%s", lang.Word(s.Outcome))
	said.add(s.Orphaned, "nobody waits any more")
	said.add(s.SQL != "", "%s", cutMiddle(collapse(s.SQL), htmlName))
	v.Said = said.String()
	switch {
	case s.Orphaned:
		v.Class = "victim"
	case s.Attempt > 1 || s.Sent != "":
		v.Class = "amplifier"
	case s.SQL != "":
		v.Class = "w-db"
	}
	return v
}
