package tui

import (
	"fmt"
	"math"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// traceArg names a trace as the example of an edge.
func traceArg(t *incident.Trace) string { return t.ID + " " + t.Edge }

// whyWords says why a trace is shown.
func whyWords(w incident.Why) string {
	switch w {
	case incident.TraceExhausted:
		return lang.T("a call that used up its attempts and failed")
	case incident.TraceMost:
		return lang.T("the call that made the most attempts")
	case incident.TraceAfterRetry:
		return lang.T("a call that a retry saved")
	case incident.TraceOrphaned:
		return lang.T("the provider worked on longest after its caller had left")
	case incident.TraceSlowest:
		return lang.T("the slowest call")
	}
	return lang.Word(string(w))
}

// tracePage draws one trace as a waterfall: a line for each span, on one axis of
// time.
func tracePage(s *scene, at place) *page {
	for i := range s.report.Traces {
		if t := &s.report.Traces[i]; traceArg(t) == at.arg {
			return newWaterfall(s, t).page()
		}
	}
	return &page{none: lang.T("This trace is not in the report any more.")}
}

// waterfall lays a trace out.
type waterfall struct {
	s      *scene
	t      *incident.Trace
	length float64 // of the axis, in milliseconds
	ends   []float64
	left   []float64 // when the last of those who waited for a span had left

	label, bar, took, words int  // columns
	below                   bool // bars have lines of their own
}

// The columns of a waterfall.
const (
	maxIndent    = 12 // levels that are indented
	tookWidth    = 9
	narrowTrace  = 64
	wideTrace    = 100
	narrowWords  = 14
	wordsWidth   = 16
	wideWords    = 30
	axisSections = 4
)

func newWaterfall(s *scene, t *incident.Trace) *waterfall {
	v := &waterfall{s: s, t: t, length: max(t.DurationMS, 0.001)}
	ids := make(map[string]int, len(t.Spans))
	last := make([]int, 0, maxIndent) // the latest span of each depth
	widest := 0
	for i := range t.Spans {
		sp := &t.Spans[i]
		v.ends = append(v.ends, sp.StartMS+max(0, sp.DurationMS))
		if !math.IsNaN(v.ends[i]) && !math.IsInf(v.ends[i], 0) {
			v.length = max(v.length, v.ends[i])
		}
		depth := max(0, min(sp.Depth, len(last)))
		up := -1
		if depth > 0 {
			up = last[depth-1]
		} else if j, ok := ids[sp.Parent]; ok && sp.Parent != "" {
			up = j
		}
		left := math.Inf(1)
		if up >= 0 {
			left = min(v.ends[up], v.left[up])
		}
		v.left = append(v.left, left)
		last = append(last[:depth], i)
		ids[sp.ID] = i
		widest = max(widest, v.indent(i)+cells(spanName(sp)))
	}
	w := s.width - 2
	switch {
	case w < narrowTrace:
		v.below, v.words = true, narrowWords
		v.label, v.bar = max(8, w-tookWidth-1), max(4, w-2-1-narrowWords)
	case w < wideTrace:
		v.words = wordsWidth
		v.label = max(12, min(widest+2, w*2/5))
	default:
		v.words = wideWords
		v.label = max(20, min(widest+2, w*2/5))
	}
	v.took = tookWidth
	if !v.below {
		v.bar = max(4, w-v.label-1-v.took-1-v.words)
	}
	return v
}

func (v *waterfall) indent(i int) int { return 2 * max(0, min(maxIndent, v.t.Spans[i].Depth)) }

func spanName(sp *incident.TraceSpan) string {
	return strings.TrimSpace(sp.Service + " " + sp.Name)
}

func (v *waterfall) page() *page {
	s, t, w := v.s, v.t, v.s.width-2
	p := &page{}
	head := row{key: "trace", cites: t.Citations, copy: t.ID, alarm: t.Why == incident.TraceExhausted || t.Why == incident.TraceOrphaned}
	if to, ok := s.toCall(t.Edge); ok {
		head.links = []link{to}
	}
	p.thing(head, nil, w, text{{strong, whyWords(t.Why)}, {plain, "  " + t.Edge}})
	about := lang.Sprintf("trace %s, %s", middle(t.ID, max(12, w/3), s.ellipsis), millis(t.DurationMS))
	if !t.Start.IsZero() {
		about += ", " + lang.Sprintf("from %s", s.clock(t.Start))
	}
	p.thing(head, nil, w, say(dim, about+" ").with(s.seen(t.Citations, 1)))
	p.gap()
	p.add(v.axis())
	for i := range t.Spans {
		if t.Spans[i].Focus && p.first == "" {
			p.first = spanKey(i)
		}
		v.span(p, i)
	}
	if t.More > 0 {
		p.para(say(dim, s.ellipsis+" "), w, say(dim, lang.Sprintf("%d more spans are left out, those farthest from the call", t.More)))
	}
	p.gap()
	v.legend(p, w)
	return p
}

func spanKey(i int) string { return fmt.Sprintf("span %d", i) }

// axis writes the times over the bars.
func (v *waterfall) axis() text {
	sections := axisSections
	for sections > 1 && v.bar/sections < 10 {
		sections--
	}
	t := text{}
	if v.below {
		t = t.and(plain, "  ")
	} else {
		t = t.and(plain, strings.Repeat(" ", v.label+1))
	}
	for i := range sections {
		at := v.bar * i / sections
		next := v.bar * (i + 1) / sections
		mark := v.s.bar + axisTime(v.length*float64(i)/float64(sections))
		t = t.and(frame, pad(mark, next-at, ""))
	}
	end := axisTime(v.length)
	if last := &t[len(t)-1]; sections > 1 && cells(strings.TrimRight(last.text, " "))+cells(end)+1 < cells(last.text) {
		last.text = last.text[:len(last.text)-cells(end)-1] + end + v.s.bar
	}
	return t
}

// axisTime is a round time on the axis.
func axisTime(ms float64) string {
	switch {
	case ms == 0:
		return "0"
	case ms >= 100:
		return seconds(math.Round(ms/10) / 100)
	case ms >= 1:
		return number(math.Round(ms*10)/10) + " ms"
	}
	return number(ms) + " ms"
}

// span appends a span: its name, its bar, and what became of it.
func (v *waterfall) span(p *page, i int) {
	s, sp := v.s, &v.t.Spans[i]
	r := row{key: spanKey(i), copy: spanName(sp), alarm: sp.Orphaned || sp.Of > 1 && spanTone(sp) == bad}
	if sp.SQL != "" {
		r.copy = sp.SQL
		r.links = append(r.links, link{name: sp.SQL, to: place{screen: onSQL, key: s.statement(sp.SQL)}})
	}
	if sp.Citation != (evidence.Citation{}) {
		r.cites = []evidence.Citation{sp.Citation}
		r.links = append(r.links, toLine(sp.Citation))
	}
	name := dim
	if sp.Focus {
		name = plain
	}
	indent := min(v.indent(i), v.label/2)
	label := text{{name, pad(strings.Repeat(" ", indent)+middle(spanName(sp), max(4, v.label-indent), s.ellipsis), v.label, s.ellipsis)}}
	tn := spanTone(sp)
	took := padLeft(millis(max(0, sp.DurationMS)), v.took)
	said := v.said(sp, false)
	if v.below {
		r.line = label.and(plain, " "+took)
		p.rows = append(p.rows, r)
		r.alarm = false
		r.line = text{{plain, "  "}}.with(v.drawn(i)).and(tn, " "+cut(said, v.words, s.ellipsis))
		p.rows = append(p.rows, r)
		v.sql(p, r, sp, indent)
		return
	}
	if v.words >= wideWords {
		said = v.said(sp, true)
	}
	r.line = label.and(plain, " ").with(v.drawn(i)).and(plain, took+" ").and(tn, cut(said, v.words, s.ellipsis))
	p.rows = append(p.rows, r)
	r.alarm = false
	v.sql(p, r, sp, indent)
}

// sql appends the statement of a span below it.
func (v *waterfall) sql(p *page, r row, sp *incident.TraceSpan, indent int) {
	if sp.SQL == "" {
		return
	}
	w := v.s.width - 2 - indent - 2
	r.line = text{{plain, strings.Repeat(" ", indent)}, {frame, v.s.corner + " "}, {info, cut(sp.SQL, max(8, w), v.s.ellipsis)}}
	p.rows = append(p.rows, r)
}

// said is what became of a span, in words.
func (v *waterfall) said(sp *incident.TraceSpan, long bool) string {
	var list []string
	if sp.Of > 1 && sp.Attempt > 0 {
		if long {
			list = append(list, lang.Sprintf("attempt %d of %d", sp.Attempt, sp.Of))
		} else {
			list = append(list, fmt.Sprintf("%d/%d", sp.Attempt, sp.Of))
		}
	}
	if sp.Sent != "" && sp.Sent != "retry" {
		list = append(list, lang.Word(sp.Sent))
	}
	if sp.Outcome != "" && (sp.Outcome != "ok" || sp.Of > 1) {
		list = append(list, lang.Word(sp.Outcome))
	}
	if sp.Orphaned && (long || len(list) == 0) {
		list = append(list, lang.T("for nobody"))
	}
	if len(list) == 0 {
		return ""
	}
	glyph := v.s.fateGlyph(sp.Outcome)
	if sp.Outcome == "" || sp.Orphaned && fateTone(sp.Outcome) == good {
		glyph = v.s.kinds[2]
	}
	return glyph + " " + lang.Join(list)
}

// spanTone says how a span ended.
func spanTone(sp *incident.TraceSpan) tone {
	switch {
	case sp.Orphaned:
		return hurt
	case sp.Outcome == "" || sp.Outcome == "unknown":
		return info
	}
	return fateTone(sp.Outcome)
}

// drawn is a span's bar on the axis. What it did after its caller's end is drawn
// in another fill.
func (v *waterfall) drawn(i int) text {
	sp := &v.t.Spans[i]
	from, to := v.column(sp.StartMS), v.column(v.ends[i])
	from = min(from, v.bar-1)
	to = max(to, from+1)
	tn := spanTone(sp)
	if tn == good && !sp.Focus {
		tn = info
	}
	t := text{{plain, strings.Repeat(" ", from)}}
	left := to
	if sp.Orphaned {
		left = from
		if !math.IsInf(v.left[i], 1) {
			left = max(from, min(to-1, v.column(v.left[i])))
		}
		t = t.and(info, strings.Repeat(v.s.full, left-from)).and(hurt, strings.Repeat(v.s.kinds[2], to-left))
	} else {
		t = t.and(tn, strings.Repeat(v.s.full, left-from))
	}
	return t.and(plain, strings.Repeat(" ", v.bar-to))
}

// column is where a time stands on the axis.
func (v *waterfall) column(ms float64) int {
	x := ms / v.length * float64(v.bar)
	if math.IsNaN(x) {
		return 0
	}
	return int(math.Round(max(0, min(float64(v.bar), x))))
}

// legend says what the fills mean.
func (v *waterfall) legend(p *page, w int) {
	s := v.s
	t := text{{info, s.full}, {dim, " " + lang.T("works") + "   "}, {bad, s.full}, {dim, " " + lang.T("failed") + "   "}}
	orphaned, sql := false, false
	for i := range v.t.Spans {
		orphaned = orphaned || v.t.Spans[i].Orphaned
		sql = sql || v.t.Spans[i].SQL != ""
	}
	if orphaned {
		t = t.and(hurt, s.kinds[2]).and(dim, " "+lang.T("works on after its caller has left"))
	}
	p.para(nil, w, t)
	note := lang.T("bright names belong to the call that this trace is an example of")
	if sql {
		note += "; " + lang.T("Enter on a statement leads to it")
	}
	p.para(nil, w, say(dim, note))
}

// statement is the thing on the SQL screen for a span's statement: the one with
// the same fingerprint, or that the span's, which may be shortened, begins.
func (s *scene) statement(sql string) string {
	short := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(sql, "…"), "..."), " ")
	for i := range s.report.SQL {
		if f := s.report.SQL[i].Fingerprint; f == sql || len(short) > 16 && strings.HasPrefix(strings.ToLower(f), strings.ToLower(short)) {
			return "sql " + f // as sqlKey
		}
	}
	return ""
}
