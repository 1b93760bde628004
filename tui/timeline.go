package tui

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// axis is where the engineer points on the time axis.
type axis struct {
	at     time.Time // zero: at the first onset
	anchor time.Time // where a selection began; zero: there is none
}

// selection is the window between anchor and cursor.
func (a axis) selection() incident.Window {
	from, to := a.anchor, a.at
	if to.Before(from) {
		from, to = to, from
	}
	return incident.Window{From: from, To: to}
}

// scale maps time to columns.
type scale struct {
	from, to time.Time
	columns  int
}

// column returns the column of a time; false if it lies outside.
func (sc scale) column(t time.Time) (int, bool) {
	if t.IsZero() || t.Before(sc.from) || t.After(sc.to) || sc.columns < 1 {
		return 0, false
	}
	whole := sc.to.Sub(sc.from)
	if whole <= 0 {
		return 0, true
	}
	return min(sc.columns-1, int(float64(t.Sub(sc.from))/float64(whole)*float64(sc.columns))), true
}

// time returns the time at which a column begins.
func (sc scale) time(column int) time.Time {
	return sc.from.Add(time.Duration(float64(column) / float64(max(1, sc.columns)) * float64(sc.to.Sub(sc.from))))
}

// laneName is how many columns the name of a lane takes.
func laneName(width int) int { return max(8, min(30, width/4)) }

const laneTop = 9 // columns for the highest value of a lane

// scale is that of the timeline in the room that a page has.
func (s *scene) scale() scale {
	sc := scale{columns: max(1, s.width-2-laneName(s.width)-laneTop-3)}
	see := func(t time.Time) {
		if t.IsZero() {
			return
		}
		if sc.from.IsZero() || t.Before(sc.from) {
			sc.from = t
		}
		if t.After(sc.to) {
			sc.to = t
		}
	}
	for i := range s.report.Timeline {
		line := &s.report.Timeline[i]
		for _, p := range line.Points {
			see(p.At)
		}
		if n := len(line.Points); n > 0 {
			see(line.Points[n-1].At.Add(bucket(line.Points)))
		}
	}
	if sc.from.IsZero() {
		see(s.report.Window.From)
		see(s.report.Window.To)
	}
	return sc
}

// bucket is the time that each point of a series stands for: the least between
// two of them.
func bucket(points []incident.Point) time.Duration {
	least := time.Duration(0)
	for i := 1; i < len(points); i++ {
		if d := points[i].At.Sub(points[i-1].At); d > 0 && (least == 0 || d < least) {
			least = d
		}
	}
	return least
}

// resample returns the highest value of each column; NaN where there is none.
func resample(points []incident.Point, sc scale) (values []float64, top float64) {
	values = make([]float64, sc.columns)
	for i := range values {
		values[i] = math.NaN()
	}
	wide := bucket(points)
	for _, p := range points {
		from, ok := sc.column(p.At)
		if !ok {
			continue
		}
		to := from
		if end := p.At.Add(wide - 1); wide > 0 {
			if c, ok := sc.column(end); ok {
				to = c
			}
		}
		for c := from; c <= to; c++ {
			if math.IsNaN(values[c]) || p.Value > values[c] {
				values[c] = p.Value
			}
		}
		top = max(top, p.Value)
	}
	return values, top
}

// timelinePage draws the series under each other on one axis, and lists what
// began when.
func timelinePage(s *scene, _ place) *page {
	p := &page{lists: true, none: lang.T("Nothing in the evidence tells how much of it happened when.")}
	sc := s.scale()
	if sc.from.IsZero() {
		return p
	}
	name := laneName(s.width)
	at, _ := sc.column(s.axis.at)
	p.head = axisHead(s, sc, name, at)
	chainMarks(s, p, sc, name)
	for i := range s.report.Timeline {
		lane(s, p, &s.report.Timeline[i], i, sc, name, at)
	}
	began(s, p)
	return p
}

// axisHead writes the time axis, the cursor on it, and what is selected.
func axisHead(s *scene, sc scale, name, at int) []text {
	left := strings.Repeat(" ", name+1)
	ticks := []rune(strings.Repeat(" ", sc.columns))
	labels := []rune(strings.Repeat(" ", sc.columns))
	form := "15:04:05"
	if sc.to.Sub(sc.from) > 36*time.Hour {
		form = "01-02 15:04"
	}
	step := max(len(form)+3, sc.columns/6)
	for c := 0; c+len(form) <= sc.columns; c += step {
		ticks[c] = []rune(s.tee)[0]
		copy(labels[c:], []rune(sc.time(c).In(s.zone).Format(form)))
	}
	said := lang.Sprintf("%s  (%s selects a window)", s.clock(sc.time(at)), s.keyName("select"))
	if !s.axis.anchor.IsZero() {
		said = lang.Sprintf("%s: Enter reads this window anew, everything follows", s.between(s.axis.selection()))
	}
	line := []rune(strings.Repeat(s.across, sc.columns))
	for c, r := range ticks {
		if r != ' ' {
			line[c] = r
		}
	}
	head := []text{
		say(accent, said),
		{{dim, left}, {dim, string(labels)}},
		axisLine(s, left, line, sc, at),
	}
	return head
}

// axisLine paints the axis: the cursor, and the selection.
func axisLine(s *scene, left string, line []rune, sc scale, at int) text {
	t := say(plain, left)
	from, to := at, at
	if !s.axis.anchor.IsZero() {
		if c, ok := sc.column(s.axis.anchor); ok {
			from, to = min(c, at), max(c, at)
		}
	}
	t = t.and(frame, string(line[:from])).and(mark, string(line[from:to+1]))
	return t.and(frame, string(line[to+1:]))
}

// chainMarks is a lane on which the links of the chain begin.
func chainMarks(s *scene, p *page, sc scale, name int) {
	if s.now == nil {
		return
	}
	cells := make([]span, sc.columns)
	any := false
	for i := len(s.now.Chain) - 1; i >= 0; i-- { // the trigger is drawn last, over the others
		l := &s.now.Chain[i]
		if c, ok := sc.column(l.Since); ok {
			cells[c] = span{roleTone(l.Role), strings.ToUpper(string(l.Role))[:1]}
			any = true
		}
	}
	if !any {
		return
	}
	t := text{{strong, pad(lang.T("chain"), name, s.ellipsis) + " "}}
	for _, c := range cells {
		if c.text == "" {
			c = span{frame, s.empty}
		}
		t = t.and(c.tone, c.text)
	}
	p.add(t)
	p.add(text{{dim, pad("", name+1, "")}, {bad, "T"}, {dim, " " + lang.T("trigger") + "  "}, {warn, "A"}, {dim, " " + lang.T("amplifier") + "  "}, {hurt, "V"}, {dim, " " + lang.T("victim") + "  " + s.onset + " " + lang.T("it rises")}})
}

// lane draws one series, its onset under it.
func lane(s *scene, p *page, line *incident.Series, nth int, sc scale, name, at int) {
	values, top := resample(line.Points, sc)
	key := fmt.Sprintf("series %d", nth)
	r := row{key: key, alarm: !line.Onset.IsZero(), copy: line.Signal}
	if f := s.findingOf(line); f != nil {
		r.find, r.cites, r.links = f.ID, f.Citations, []link{toFinding(f)}
	}
	tn := info
	if !line.Onset.IsZero() {
		tn = warn
	}
	high := number(math.Round(top*100) / 100)
	if line.Unit != "" && line.Unit != "1" {
		high += " " + line.Unit
	}
	tall := s.height >= 4+4*len(s.report.Timeline)
	body := func(spark []string) text {
		t := text{}
		for c, v := range spark {
			switch {
			case c == at && v == " ":
				t = t.and(frame, s.bar)
			case c == at:
				t = t.and(accent, v)
			default:
				t = t.and(tn, v)
			}
		}
		return t
	}
	upper, lower := s.columnsOf(values, top, tall)
	if tall {
		r.line = append(text{{strong, pad(middle(line.Signal, name, s.ellipsis), name, s.ellipsis) + " "}}, body(upper)...)
		r.line = r.line.and(dim, " "+cut(high, laneTop, s.ellipsis))
		p.rows = append(p.rows, r)
		r.find, r.alarm = "", false
		r.line = append(text{{plain, pad("", name+1, "")}}, body(lower)...)
	} else {
		r.line = append(text{{strong, pad(middle(line.Signal, name, s.ellipsis), name, s.ellipsis) + " "}}, body(lower)...)
		r.line = r.line.and(dim, " "+cut(high, laneTop, s.ellipsis))
	}
	p.rows = append(p.rows, r)
	if c, ok := sc.column(line.Onset); ok {
		r.find, r.alarm = "", false
		said := s.onset + " " + lang.Sprintf("rises %s", s.clock(line.Onset))
		before := strings.Repeat(" ", name+1+c)
		if c+cells(said) > sc.columns { // on the left of its mark
			said = lang.Sprintf("rises %s", s.clock(line.Onset)) + " " + s.onset
			before = strings.Repeat(" ", max(0, name+1+c+1-cells(said)))
		}
		r.line = text{{plain, before}, {warn, said}}
		p.rows = append(p.rows, r)
	}
	if tall {
		p.add(nil)
	}
}

// columnsOf draws values as columns of one line, or of two, the upper first.
func (g *glyphs) columnsOf(values []float64, top float64, tall bool) (upper, lower []string) {
	n := len(g.spark)
	for _, v := range values {
		u, l := " ", " "
		if !math.IsNaN(v) {
			levels := n
			if tall {
				levels = 2 * n
			}
			h := 1
			if top > 0 && v > 0 {
				h = max(1, int(math.Ceil(v/top*float64(levels))))
			}
			l = g.spark[min(h, n)-1]
			if tall && h > n {
				u = g.spark[min(h-n, n)-1]
			}
			if v <= 0 {
				l = g.empty
			}
		}
		upper, lower = append(upper, u), append(lower, l)
	}
	return upper, lower
}

// findingOf returns the finding that a series counts: the one that begins at its
// onset and is the most frequent.
func (s *scene) findingOf(line *incident.Series) *incident.Finding {
	var best *incident.Finding
	for i := range s.report.Findings {
		f := &s.report.Findings[i]
		if line.Onset.IsZero() || f.First.IsZero() || len(f.Citations) == 0 {
			continue
		}
		if d := f.First.Sub(line.Onset).Abs(); d <= bucket(line.Points) && (best == nil || f.Count > best.Count) {
			best = f
		}
	}
	return best
}

// began lists the links of the chain and the findings in the order in which
// they began.
func began(s *scene, p *page) {
	type event struct {
		at   time.Time
		what text
		row  row
	}
	var events []event
	if s.now != nil {
		for i := range s.now.Chain {
			l := &s.now.Chain[i]
			events = append(events, event{l.Since, text{{roleTone(l.Role), string(l.Label) + " "}, {dim, lang.T(string(l.Role)) + " "}, {plain, l.Subject + " "}}, row{
				key: fmt.Sprintf("began link %d", i), cites: s.citesOf(l.Findings), links: linksOfLink(s, l), alarm: true,
			}})
		}
	}
	for i := range s.report.Findings {
		f := &s.report.Findings[i]
		if f.First.IsZero() {
			continue
		}
		events = append(events, event{f.First, text{{info, f.ID + " "}, {plain, f.Text + " "}}, row{
			key: "began " + f.ID, find: f.ID, cites: f.Citations, links: []link{toFinding(f)}, copy: f.Text,
		}})
	}
	events = slices.DeleteFunc(events, func(e event) bool { return e.at.IsZero() })
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	const most = 200
	if len(events) == 0 {
		return
	}
	p.title(lang.T("WHAT BEGAN WHEN"))
	for i, e := range events {
		if i == most {
			p.add(say(dim, lang.Sprintf("%s and %d more", s.ellipsis, len(events)-most)))
			return
		}
		p.thing(e.row, text{{dim, s.clock(e.at) + " "}}, s.width-2, append(e.what, s.seen(e.row.cites[:min(1, len(e.row.cites))], 1)...))
	}
}

// timelineBindings are the keys of the timeline.
func timelineBindings() []binding {
	here := []screenID{onTimeline}
	return []binding{
		{id: "earlier", keys: []string{"left", "h"}, does: lang.Mark("point earlier on the time axis"), tip: lang.Mark("earlier"), on: here, do: point(-1)},
		{id: "later", keys: []string{"right", "l"}, does: lang.Mark("point later on the time axis"), tip: lang.Mark("later"), on: here, do: point(1)},
		{id: "much-earlier", keys: []string{"shift+left", "H"}, does: lang.Mark("point ten columns earlier"), on: here, do: point(-10)},
		{id: "much-later", keys: []string{"shift+right"}, does: lang.Mark("point ten columns later"), on: here, do: point(10)},
		{id: "select", keys: []string{"v"}, does: lang.Mark("begin to select a window of time, or give it up"), tip: lang.Mark("select a window"), on: here, do: (*Model).selectTime},
		{id: "zoom", keys: []string{"enter"}, does: lang.Mark("read the selected window anew: every screen is then about it; without a selection, follow the chosen thing"), tip: lang.Mark("read it anew"), on: here, do: (*Model).zoom},
	}
}

// timeScale is the scale that the timeline is drawn in now.
func (m *Model) timeScale() scale {
	s := *m.scene
	s.width = m.geometry().list
	return s.scale()
}

// point moves the cursor on the time axis by columns.
func point(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		sc := m.timeScale()
		if sc.from.IsZero() {
			return nil
		}
		at, _ := sc.column(m.scene.axis.at)
		at = max(0, min(sc.columns-1, at+by))
		m.scene.axis.at = sc.time(at).Add(sc.to.Sub(sc.from) / time.Duration(max(1, 2*sc.columns))) // the middle of the column
		m.changed()
		return nil
	}
}

func (m *Model) selectTime() tea.Cmd {
	a := &m.scene.axis
	if a.at.IsZero() {
		point(0)(m)
	}
	if a.anchor.IsZero() {
		a.anchor = a.at
	} else {
		a.anchor = time.Time{}
	}
	m.changed()
	return nil
}

// zoom reads the selected window anew.
func (m *Model) zoom() tea.Cmd {
	if m.scene.axis.anchor.IsZero() {
		return m.enter()
	}
	w := m.scene.axis.selection()
	if !w.To.After(w.From) {
		m.note = lang.T("the selection is empty: move along the axis first")
		return nil
	}
	return m.look(incident.Window{From: w.From.Truncate(time.Millisecond), To: w.To.Truncate(time.Millisecond)})
}

func (m *Model) zoomOut() tea.Cmd {
	if m.scene.window == m.cfg.Window {
		m.note = lang.T("this is the whole time")
		return nil
	}
	return m.look(m.cfg.Window)
}

// look chooses a window of time; every screen is about it once it is read.
func (m *Model) look(w incident.Window) tea.Cmd {
	m.scene.axis = axis{}
	m.scene.window = w
	m.note = lang.T("reading the window anew")
	return m.read()
}
