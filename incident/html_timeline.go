package incident

import (
	"math"
	"time"

	"github.com/firebreak-io/firebreak/lang"
)

// htmlTimeline is all that has times on one axis: the links of the chains as
// spans, the signals as columns, each in a lane of its own. Its lengths are
// shares of the width, so that its words keep their size on any screen.
type htmlTimeline struct {
	Name, Title string
	Height      int
	Lanes       []htmlLane
	Ticks       []htmlTick
	AxisY       int
	TickY       int
	From, To    string
	Links       bool // it has lanes of the chain
	Signals     bool // and of signals
	More        string
}

// htmlLane is one lane. It has a span or columns.
type htmlLane struct {
	Class, Glyph string
	Name, Said   string
	NameY, SaidY int
	Top, Bottom  int
	Span         *htmlSpan
	Columns      []htmlColumn
	Onset        string // its place; empty if the signal has none
	OnsetY       int
}

type htmlSpan struct {
	X, Width string
	Y        int
	Hollow   bool // seen then, which does not say since when
}

type htmlColumn struct {
	X, Width  string
	Y, Height int
	Said      string
}

type htmlTick struct{ X, Anchor, Label string }

// Measures of the timeline.
const (
	laneHead    = 36
	laneSpan    = 12
	laneColumns = 40
	laneGap     = 18
	laneLinks   = 12
	laneSeries  = 16
	laneBuckets = 180
	laneTicks   = 4
	laneName    = 46 // columns
)

// timeline makes the timeline ready to be drawn, nil if nothing has a time.
func (h *htmlPage) timeline() *htmlTimeline {
	r := h.index.report
	axis := h.axis()
	if axis.from.IsZero() {
		return nil
	}
	t := &htmlTimeline{Name: h.drawing(), Title: lang.T("What happened when"), More: more(len(r.Timeline) - laneSeries)}
	y := 0
	add := func(l htmlLane, height int) {
		l.Top, l.NameY, l.SaidY = y, y+12, y+28
		shift := y + laneHead
		l.Bottom = shift + height
		if l.Span != nil {
			l.Span.Y = shift
		}
		l.OnsetY = shift - 2
		for i := range l.Columns {
			l.Columns[i].Y += shift
		}
		t.Lanes = append(t.Lanes, l)
		t.Links, t.Signals = t.Links || l.Span != nil, t.Signals || l.Span == nil
		y = l.Bottom + laneGap
	}
	links := 0
	for i := range r.Incidents[:min(htmlIncidents, len(r.Incidents))] {
		for k := range r.Incidents[i].Chain {
			if l, ok := h.linkLane(&r.Incidents[i].Chain[k], axis); ok && links < laneLinks {
				links++
				add(l, laneSpan)
			}
		}
	}
	for i := range r.Timeline[:min(laneSeries, len(r.Timeline))] {
		if l, ok := h.seriesLane(&r.Timeline[i], axis); ok {
			add(l, laneColumns)
		}
	}
	if len(t.Lanes) == 0 {
		return nil
	}
	t.AxisY, t.TickY, t.Height = y, y+16, y+22
	t.Ticks = h.ticks(axis)
	t.From, t.To = h.clock(axis.from), h.clock(axis.to)
	return t
}

// axis is a window of time that is drawn.
type axis struct{ from, to time.Time }

func (a *axis) include(t time.Time) {
	if t.IsZero() {
		return
	}
	if a.from.IsZero() || t.Before(a.from) {
		a.from = t
	}
	if a.to.IsZero() || t.After(a.to) {
		a.to = t
	}
}

func (a axis) share(t time.Time) float64 {
	return min(1, max(0, t.Sub(a.from).Seconds()/a.to.Sub(a.from).Seconds()))
}

// axis spans what the lanes show. A window of no length gets a second.
func (h *htmlPage) axis() axis {
	var a axis
	r := h.index.report
	for i := range r.Incidents[:min(htmlIncidents, len(r.Incidents))] {
		for _, l := range r.Incidents[i].Chain {
			from, to, _ := h.linkSpan(&l)
			a.include(from)
			a.include(to)
		}
	}
	for i := range r.Timeline[:min(laneSeries, len(r.Timeline))] {
		s := &r.Timeline[i]
		a.include(s.Onset)
		if n := len(s.Points); n > 0 {
			a.include(s.Points[0].At)
			a.include(s.Points[n-1].At.Add(bucketOf(s.Points)))
		}
	}
	if !a.from.IsZero() && a.to.Sub(a.from) < time.Second {
		a.to = a.from.Add(time.Second)
	}
	return a
}

// linkSpan is when a link of the chain was seen; since says that it began then.
func (h *htmlPage) linkSpan(l *Link) (from, to time.Time, since bool) {
	var seen axis
	for _, f := range h.findings(l.Findings) {
		seen.include(f.First)
		seen.include(f.Last)
	}
	if l.Since.IsZero() {
		return seen.from, seen.to, false
	}
	seen.include(l.Since)
	return l.Since, seen.to, true
}

func (h *htmlPage) linkLane(l *Link, a axis) (htmlLane, bool) {
	from, to, since := h.linkSpan(l)
	if from.IsZero() {
		return htmlLane{}, false
	}
	x := a.share(from)
	lane := htmlLane{
		Class: roleClass(l.Role), Glyph: roleGlyph(l.Role), Name: shorten(lang.Word(string(l.Role))+" "+lang.Word(string(l.Label)), laneName, "…"),
		Span: &htmlSpan{X: percent(x), Width: percent(max(0.006, a.share(to)-x)), Hollow: !since},
		Said: lang.Sprintf("seen %s", h.span(from, to)),
	}
	if since {
		said := facts{lang.Sprintf("since %s", h.clock(from))}
		said.add(h.clock(to) != h.clock(from), "last seen %s", h.clock(to))
		lane.Said = said.String()
	}
	return lane, true
}

func (h *htmlPage) seriesLane(s *Series, a axis) (htmlLane, bool) {
	if len(s.Points) == 0 {
		return htmlLane{}, false
	}
	bucket := bucketOf(s.Points)
	points := s.Points
	if n := (len(points) + laneBuckets - 1) / laneBuckets; n > 1 {
		points = coarser(points, n)
		bucket *= time.Duration(n)
	}
	top := 0.0
	for _, p := range points {
		top = max(top, p.Value)
	}
	unit := s.Unit
	if unit == "1/s" {
		unit = "/s"
	} else if unit != "" {
		unit = " " + unit
	}
	lane := htmlLane{Class: "series", Name: shorten(lang.T(s.Signal), laneName, "…")}
	said := facts{lang.Sprintf("peak %s", significant(top)+unit)}
	width := max(0.004, a.share(a.from.Add(bucket)))
	for _, p := range points {
		if p.Value <= 0 || top <= 0 {
			continue
		}
		x := a.share(p.At)
		height := max(2, int(math.Round(p.Value/top*laneColumns)))
		lane.Columns = append(lane.Columns, htmlColumn{
			X: percent(x), Width: percent(min(width, 1-x) * 0.96), Y: laneColumns - height, Height: height,
			Said: h.clock(p.At) + ": " + significant(p.Value) + unit,
		})
	}
	if !s.Onset.IsZero() {
		lane.Onset = percent(a.share(s.Onset))
		said.add(true, "rises %s", h.clock(s.Onset))
	}
	lane.Said = said.String()
	return lane, true
}

// bucketOf is the time that one point stands for: the shortest between two.
func bucketOf(points []Point) time.Duration {
	width := time.Duration(0)
	for i := 1; i < len(points); i++ {
		if d := points[i].At.Sub(points[i-1].At); d > 0 && (width == 0 || d < width) {
			width = d
		}
	}
	if width == 0 {
		width = 10 * time.Second
	}
	return width
}

// coarser keeps of each n points the highest, at the time of the first.
func coarser(points []Point, n int) []Point {
	var list []Point
	for i := 0; i < len(points); i += n {
		p := points[i]
		for _, q := range points[i:min(i+n, len(points))] {
			p.Value = max(p.Value, q.Value)
		}
		list = append(list, p)
	}
	return list
}

// steps are the distances between two ticks that a clock would have.
var steps = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// ticks are the times named below the axis.
func (h *htmlPage) ticks(a axis) []htmlTick {
	span := a.to.Sub(a.from)
	step := steps[0]
	for _, s := range steps {
		if step = s; span/step <= laneTicks {
			break
		}
	}
	for span/step > laneTicks {
		step *= 2
	}
	// Full hours of the zone in which the times are shown.
	_, offset := a.from.In(h.zone).Zone()
	shift := time.Duration(offset) * time.Second
	var list []htmlTick
	first := a.from.Add(shift).Truncate(step).Add(-shift)
	for at := first; !at.After(a.to) && len(list) < 2*laneTicks; at = at.Add(step) {
		if at.Before(a.from) {
			continue
		}
		x := a.share(at)
		anchor := "middle"
		switch {
		case x < 0.08:
			anchor = "start"
		case x > 0.92:
			anchor = "end"
		}
		label := at.In(h.zone).Format(time.TimeOnly)
		switch {
		case step >= 24*time.Hour:
			label = at.In(h.zone).Format(time.DateOnly)
		case span >= 24*time.Hour:
			label = at.In(h.zone).Format("01-02 15:04")
		case step >= time.Minute:
			label = at.In(h.zone).Format("15:04")
		}
		list = append(list, htmlTick{percent(x), anchor, label})
	}
	return list
}
