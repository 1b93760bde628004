package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/simulate"
)

// text writes what was found out for a person: the sentence to take away first.
func (w *whatIf) text(to io.Writer, ascii bool) error {
	out := bufio.NewWriter(to)
	p := func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
	if len(w.said) > 0 {
		p("%s", incident.Visible(w.said[0].Say(lang.Sprintf)))
	}
	if w.Incident != "" {
		p("")
		p("%s", lang.Sprintf("FROM THE EVIDENCE: %s", incident.Visible(w.Incident)))
		for _, in := range w.Inputs {
			mark := " "
			if !in.Known {
				mark = "?"
			}
			p("  %s %-9s %s%s", mark, in.Input, incident.Visible(in.How), inBrackets(in.Citations))
		}
	}
	p("")
	p("%s", lang.T("TAKEN"))
	for _, line := range taken(&w.Before.Model) {
		p("  %s", line)
	}
	p("")
	p("%s", lang.T("IN THE LONG RUN"))
	if len(w.Changes) > 0 {
		p("  %s", lang.Sprintf("first as it is, then with %s", w.changed()))
	} else {
		p("  %s", lang.T("twice the same: nothing would change"))
	}
	for _, row := range w.rows() {
		p("  %11s %11s  %s", row.before, row.after, row.what)
	}
	p("")
	p("%s", lang.Sprintf("OVER TIME, %s (the numbers are those of the last quarter)", simulate.Seconds(w.ForS)))
	if w.Trouble.ForS > 0 {
		p("  %s", lang.Sprintf("trouble from %s for %s: one takes %s meanwhile, else %s", simulate.Seconds(w.Trouble.AtS), simulate.Seconds(w.Trouble.ForS), simulate.Seconds(w.Trouble.HoldS), simulate.Seconds(w.calmS)))
	}
	w.lines(p, ascii)
	if len(w.said) > 1 {
		p("")
		for _, s := range w.said[1:] {
			p("- %s", incident.Visible(s.Say(lang.Sprintf)))
		}
	}
	return out.Flush()
}

func inBrackets(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return " [" + incident.Visible(strings.Join(list[:min(2, len(list))], "] [")) + "]"
}

// taken says what the model was told, in sentences.
func taken(m *simulate.Model) []string {
	list := []string{
		lang.Sprintf("%s calls/s; one keeps a worker %s", simulate.Number(m.ArrivalsPerS), simulate.Seconds(m.HoldS)),
		lang.Sprintf("%s workers, %s may wait", simulate.Whole(float64(m.Threads)), queueOf(m)),
	}
	switch {
	case m.TimeoutS == 0:
		list = append(list, lang.T("callers wait for ever"))
	case m.Cancels:
		list = append(list, lang.Sprintf("callers give up after %s, and the work ends", simulate.Seconds(m.TimeoutS)))
	default:
		list = append(list, lang.Sprintf("callers give up after %s, and the provider goes on", simulate.Seconds(m.TimeoutS)))
	}
	for _, l := range m.Layers {
		what := l.Name
		if what == "" {
			what = lang.T("callers")
		}
		s := lang.Sprintf("%s: up to %s attempts", incident.Visible(what), simulate.Whole(float64(l.Retries+1)))
		if l.BackoffS > 0 {
			s = lang.Sprintf("%s, %s apart", s, simulate.Seconds(l.BackoffS))
		}
		list = append(list, s)
	}
	return list
}

func queueOf(m *simulate.Model) string {
	if m.Queue == simulate.Endless {
		return lang.T("any number")
	}
	return simulate.Whole(float64(m.Queue))
}

type whatIfRow struct{ before, after, what string }

// rows are the numbers of both models, in trouble.
func (w *whatIf) rows() []whatIfRow {
	b, a := &w.Before.Stuck, &w.After.Stuck
	rate := func(x float64) string { return simulate.Number(x) + "/s" }
	rows := []whatIfRow{
		{rate(b.LoadPerS), rate(a.LoadPerS), lang.T("attempts that reach the provider")},
		{simulate.Ratio(b.Amplification) + "x", simulate.Ratio(a.Amplification) + "x", lang.T("attempts for one call")},
		{simulate.Number(b.MembersNeeded), simulate.Number(a.MembersNeeded), lang.T("workers that they would keep busy")},
		{simulate.Whole(float64(w.Before.Model.Threads)), simulate.Whole(float64(w.After.Model.Threads)), lang.T("workers there are")},
		{simulate.Percent(b.Rejected), simulate.Percent(a.Rejected), lang.T("of the attempts refused")},
		{simulate.Percent(b.Late), simulate.Percent(a.Late), lang.T("of the attempts answered too late")},
		{rate(b.GoodPerS), rate(a.GoodPerS), lang.T("calls that succeed")},
	}
	if b.Queued >= 0.5 || a.Queued >= 0.5 {
		rows = append(rows, whatIfRow{simulate.Seconds(b.WaitS), simulate.Seconds(a.WaitS), lang.T("wait for a worker")})
	}
	if w.Before.Metastable || w.After.Metastable {
		rows = append(rows, whatIfRow{rate(w.Before.Calm.GoodPerS), rate(w.After.Calm.GoodPerS), lang.T("calls that succeed as long as nothing happens")})
	}
	return rows
}

// lines draws what was played.
func (w *whatIf) lines(p func(string, ...any), ascii bool) {
	load := func(x *simulate.Point) float64 { return x.LoadPerS }
	good := func(x *simulate.Point) float64 { return x.GoodPerS }
	busy := func(x *simulate.Point) float64 { return x.Busy }
	change := w.changed()
	for _, row := range []struct {
		of   func(*simulate.Point) float64
		unit string
		what string
	}{
		{load, "/s", lang.T("attempts")},
		{good, "/s", lang.T("calls that succeed")},
		{busy, "", lang.T("workers busy")},
	} {
		top := max(peak(w.PlayedAsIs.Points, row.of), peak(w.PlayedAfter.Points, row.of))
		for i, s := range w.played() {
			what := row.what
			if i == 1 {
				what = lang.Sprintf("%s, with %s", what, change)
			}
			p("  %s %9s  %s", sparks(s.Points, row.of, top, ascii), simulate.Number(atLast(s.Points, row.of))+row.unit, what)
		}
	}
	for i, s := range w.played() {
		said := lang.T("as it is")
		if i == 1 {
			said = lang.Sprintf("with %s", change)
		}
		switch {
		case s.Recovered && w.Trouble.ForS > 0:
			p("  %s", lang.Sprintf("%s: calls go well again from %s on", said, simulate.Seconds(s.RecoveredS)))
		case w.Trouble.ForS > 0:
			p("  %s", lang.Sprintf("%s: it has not come back after %s", said, simulate.Seconds(w.ForS)))
		}
	}
}

func (w *whatIf) changed() string { return strings.Join(w.Changes, " ") }

// played are the runs that differ.
func (w *whatIf) played() []*simulate.Series {
	if len(w.Changes) == 0 {
		return []*simulate.Series{&w.PlayedAsIs}
	}
	return []*simulate.Series{&w.PlayedAsIs, &w.PlayedAfter}
}

func peak(points []simulate.Point, of func(*simulate.Point) float64) float64 {
	top := 0.0
	for i := range points {
		top = max(top, of(&points[i]))
	}
	return top
}

// atLast is the mean of the last quarter.
func atLast(points []simulate.Point, of func(*simulate.Point) float64) float64 {
	last := points[len(points)*3/4:]
	if len(last) == 0 {
		return 0
	}
	sum := 0.0
	for i := range last {
		sum += of(&last[i])
	}
	return sum / float64(len(last))
}

// sparkWidth is how many columns a line of bars takes.
const sparkWidth = 30

func sparks(points []simulate.Point, of func(*simulate.Point) float64, top float64, ascii bool) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	if ascii {
		bars = []rune(".:-=+*#@")
	}
	if len(points) == 0 || top <= 0 {
		return strings.Repeat(" ", sparkWidth)
	}
	sum, n := make([]float64, sparkWidth), make([]float64, sparkWidth)
	for i := range points {
		c := i * sparkWidth / len(points)
		sum[c] += of(&points[i])
		n[c]++
	}
	var b strings.Builder
	last := 0.0
	for c := range sum {
		if n[c] > 0 {
			last = sum[c] / n[c]
		}
		b.WriteRune(bars[min(len(bars)-1, max(0, int(last/top*float64(len(bars)))))])
	}
	return b.String()
}
