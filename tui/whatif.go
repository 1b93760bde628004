package tui

import (
	"math"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/simulate"
)

// columns is how the what-if screen lies in its room: a name, and beside it what
// is and what might be; below each other where that is too narrow.
type columns struct {
	width, name, each int
	narrow            bool
}

// narrowWhatIf is the room below which before stands above after.
const narrowWhatIf = 64

func (s *scene) columns() columns {
	c := columns{width: max(1, s.width-2)}
	c.narrow = c.width < narrowWhatIf
	c.name = max(1, min(16+c.width/40, c.width/3))
	c.each = max(1, (c.width-c.name-2)/2)
	return c
}

// beside lays out a name, what is, and what might be, in one line.
func (s *scene) beside(c columns, name, before, after text) text {
	fit := func(t text, n int) text {
		t = t.clip(n, s.ellipsis)
		return append(t[:len(t):len(t)], span{plain, strings.Repeat(" ", max(0, n-t.cells()))})
	}
	line := append(fit(name, c.name-1), span{plain, " "})
	line = append(line, fit(before, c.each-1)...).and(plain, " ")
	return append(line, after.clip(c.width-line.cells(), s.ellipsis)...)
}

// whatIfPage shows the numbers of the incident and what would become of them.
func whatIfPage(s *scene, _ place) *page {
	p := &page{}
	q := s.asks()
	c := s.columns()
	o := s.scenario.came
	if len(q.missing()) > 0 || o != nil && o.err != nil {
		o = nil
	}
	lead := s.lead(&q, o)
	if !c.narrow {
		p.head = append(lead, s.beside(c, nil, say(heading, lang.T("AS IT IS")), s.changesOf(&q)))
	}
	if c.narrow && o != nil {
		p.head = s.brief(o)
	}
	list := inputs()
	for i := range list {
		if list[i].id == "layers" && s.height < 24 && len(q.before.Layers) < 2 && len(q.after.Layers) < 2 {
			continue // retries says it, where rows are dear
		}
		s.inputRow(p, c, &q, &list[i])
	}
	if c.narrow {
		p.gap()
		p.rows = append(p.rows, plainRows(lead)...)
	}
	if s.height >= 24 || c.narrow {
		p.gap()
	}
	if o == nil {
		s.partly(p, c, &q)
	} else {
		s.outcomeRows(p, c, o)
		s.meaning(p, c, &q, o)
	}
	s.origins(p, c, &q)
	return p
}

// brief is what stays in sight where there is room for little.
func (s *scene) brief(o *outcome) []text {
	b, a := &o.Before.Stuck, &o.After.Stuck
	tn, glyph := good, s.yes
	if a.MembersNeeded > float64(o.After.Model.Threads) {
		tn, glyph = bad, s.no
	}
	needed := func(x *simulate.State) string { return simulate.Whole(math.Ceil(x.MembersNeeded - 1e-9)) }
	return []text{
		{{dim, lang.T("load") + " "}, {plain, simulate.Number(b.LoadPerS) + " " + s.arrow + " "}, {accent, lang.Sprintf("%s attempts/s", simulate.Number(a.LoadPerS))}},
		{{dim, lang.T("threads needed") + " "}, {plain, needed(b) + " " + s.arrow + " "}, {tn, lang.Sprintf("%s of %s", needed(a), simulate.Whole(float64(o.After.Model.Threads))) + " " + glyph}},
	}
}

func plainRows(lines []text) []row {
	var rows []row
	for _, t := range lines {
		rows = append(rows, row{line: t})
	}
	return rows
}

// lead is the sentence to take away.
func (s *scene) lead(q *question, o *outcome) []text {
	c := s.columns()
	var t text
	switch missing := q.missing(); {
	case len(missing) > 0:
		var names []string
		for _, in := range inputs() {
			for _, x := range missing {
				if in.of == x && in.must {
					names = append(names, lang.T(in.name))
				}
			}
		}
		t = text{{warn, s.unknown + " "}, {strong, lang.Sprintf("Not known from the evidence: %s. Choose the row, %s, and type it in.", strings.Join(names, ", "), s.keyName("change"))}}
	case o == nil:
		t = say(dim, lang.T("reckoning")+" "+s.ellipsis)
	default:
		glyph, tn := s.no, bad
		if o.After.Recovers {
			glyph, tn = s.yes, good
		}
		t = text{{tn, glyph + " "}, {strong, o.Explanation[0].Say(lang.Sprintf)}}
	}
	lines := t.wrap(c.width, "  ")
	if most := max(3, s.height/5); !c.narrow && len(lines) > most {
		lines = lines[:most]
	}
	return lines
}

// changesOf names what is changed, above the column of what might be.
func (s *scene) changesOf(q *question) text {
	var changed []string
	list := inputs()
	for i := range list {
		in := &list[i]
		if b, a := in.show(&q.before), in.show(&q.after); b != a {
			changed = append(changed, lang.T(in.name)+" "+a)
		}
	}
	t := say(heading, lang.T("WHAT IF")+" ")
	if len(changed) == 0 {
		return t.and(dim, lang.Sprintf("(%s tries a change)", s.keyName("preset")))
	}
	return t.and(accent, strings.Join(changed, ", "))
}

// inputRow is a number, where it comes from, and what it is changed to.
func (s *scene) inputRow(p *page, c columns, q *question, in *input) {
	from := q.origin(in)
	before, after := in.show(&q.before), in.show(&q.after)
	r := row{key: in.id}
	value, source := text{{info, before}}, text(nil)
	switch {
	case q.said.AsIs[in.id] != "":
		source = say(accent, lang.T("typed in"))
	case (in.must || in.both) && in.get(&q.before) == 0:
		value, source = say(warn, s.unknown), say(warn, lang.T("not in the evidence: type it in"))
		if !in.must {
			value, source = say(dim, s.unknown), say(dim, lang.T("not in the evidence"))
		}
		before, after = s.unknown, s.unknown
	case from != nil && from.Known:
		r.cites = from.Citations
		if len(r.cites) > 0 {
			source = say(cite, "["+middle(s.shortCite(r.cites[0]), max(8, c.each-cells(before)-5), s.ellipsis)+"]")
		}
	default:
		source = say(dim, lang.T("assumed"))
	}
	if from != nil {
		r.copy = from.How.Say(lang.Sprintf)
	}
	what := say(dim, after)
	if after != before {
		what = say(accent, after)
	}
	if c.narrow {
		short := max(6, (c.width-c.name)/3)
		r.line = text{{plain, pad(lang.T(in.name), c.name-1, s.ellipsis) + " "}, {info, pad(before, short, s.ellipsis)}}
		if after != before {
			r.line = r.line.and(dim, s.arrow+" ").and(accent, after)
		} else {
			r.line = r.line.and(plain, " ")
			r.line = append(r.line, source...)
		}
		r.line = r.line.clip(c.width, s.ellipsis)
	} else {
		r.line = s.beside(c, say(plain, lang.T(in.name)), append(value.and(plain, "  "), source...), what)
	}
	p.rows = append(p.rows, r)
}

// outcomeRows are the numbers of both models when things have settled.
func (s *scene) outcomeRows(p *page, c columns, o *outcome) {
	b, a := &o.Before, &o.After
	same := len(o.Changes) == 0
	pair := func(name string, of func(r *simulate.Result, width int) text) {
		if !c.narrow {
			after := of(a, c.each)
			if same {
				after = faint(after)
			}
			p.add(s.beside(c, say(strong, name), of(b, c.each-1), after))
			return
		}
		p.add(say(strong, cut(name, c.width, s.ellipsis)))
		for _, x := range []struct {
			said string
			of   *simulate.Result
		}{{lang.T("as it is"), b}, {lang.T("what if"), a}} {
			said := "  " + pad(x.said, 9, s.ellipsis)
			p.add(append(text{{dim, said}}, of(x.of, c.width-cells(said))...))
		}
	}
	pair(lang.T("load"), func(r *simulate.Result, width int) text {
		tn := info
		if r.Stuck.Amplification >= 1.5 {
			tn = warn
		}
		calls, load, times := simulate.Number(r.Model.ArrivalsPerS), simulate.Number(r.Stuck.LoadPerS), simulate.Ratio(r.Stuck.Amplification)
		if width >= 38 {
			calls = lang.Sprintf("%s calls/s", calls)
		}
		t := text{{dim, calls + " " + s.arrow + " "}}
		if width < 28 {
			t = nil
		}
		t = t.and(tn, lang.Sprintf("%s attempts/s", load))
		if width < 56 {
			return t.and(tn, "  "+times+"x")
		}
		return t.and(dim, ", "+lang.Sprintf("%sx of at most %sx", times, simulate.Ratio(r.Ceiling)))
	})
	pair(lang.T("threads needed"), func(r *simulate.Result, width int) text {
		need, have := r.Stuck.MembersNeeded, float64(r.Model.Threads)
		said := lang.Sprintf("%s of %s", simulate.Whole(math.Ceil(need-1e-9)), simulate.Whole(have))
		tn := good
		switch {
		case need > have:
			tn = bad
		case need > 0.8*have:
			tn = warn
		}
		bar := s.gauge(need/have, max(4, min(30, width-cells(said)-3)), tn)
		return bar.and(plain, " ").and(tn, said)
	})
	pair(lang.T("of all attempts"), func(r *simulate.Result, width int) text {
		x := &r.Stuck
		t := say(toneOfLoss(x.Rejected), lang.Sprintf("%s refused", simulate.Percent(x.Rejected))).and(dim, ", ").
			and(toneOfLoss(x.Late), lang.Sprintf("%s too late", simulate.Percent(x.Late)))
		if width >= 44 {
			t = t.and(dim, ", ").and(plain, lang.Sprintf("%s in time", simulate.Percent(max(0, 1-x.Rejected-x.Late))))
		}
		return t
	})
	pair(lang.T("calls answered"), func(r *simulate.Result, width int) text {
		x := &r.Stuck
		said := lang.Sprintf("%s, %s/s", simulate.Percent(x.GoodShare), simulate.Number(x.GoodPerS))
		return s.gauge(x.GoodShare, max(4, min(30, width-cells(said)-3)), good).and(plain, " ").and(toneOfLoss(1-x.GoodShare), said)
	})
	pair(lang.T("comes back"), func(r *simulate.Result, width int) text {
		said, why, ok := comesBack(r)
		if o.before.calmS > 0 {
			played := &o.played[0]
			if r == a {
				played = &o.played[1]
			}
			why = ""
			if ok = played.Recovered; ok {
				said = lang.Sprintf("by itself: well from %s on", simulate.Seconds(played.RecoveredS))
			} else {
				said = lang.Sprintf("no: not within %s", simulate.Seconds(playForS))
			}
		}
		switch {
		case ok:
			return say(good, s.yes+" "+said)
		case width < 46:
			why = ""
		}
		return text{{bad, s.no + " " + said}, {dim, why}}
	})
	s.playedRows(p, c, o)
}

// faint is a line that says nothing new.
func faint(t text) text { return say(dim, t.plain()) }

func toneOfLoss(share float64) tone {
	switch {
	case share >= 0.1:
		return bad
	case share >= 0.01:
		return warn
	}
	return good
}

// comesBack says whether things go well by themselves once the trouble is over,
// and why not.
func comesBack(r *simulate.Result) (said, why string, ok bool) {
	m := &r.Model
	switch {
	case r.Recovers:
		return lang.T("by itself: stable"), "", true
	case r.Metastable:
		return lang.T("no: metastable"), ", " + lang.T("retries alone keep it full"), false
	case r.NeededAlone > float64(m.Threads):
		return lang.T("no: too few threads"), ", " + lang.T("even for calls made once"), false
	case m.TimeoutS > 0 && m.HoldS > m.TimeoutS:
		return lang.T("no: beyond the timeout"), ", " + lang.T("until one is faster"), false
	}
	return lang.T("no: too tight"), "", false
}

// playedLane is one thing that is played, before and after on one scale.
type playedLane struct {
	name string
	of   func(*simulate.Point) float64
	unit string
}

// playedRows draw what happens over time.
func (s *scene) playedRows(p *page, c columns, o *outcome) {
	lanes := []playedLane{{lang.Sprintf("load over %s", simulate.Seconds(playForS)), func(x *simulate.Point) float64 { return x.LoadPerS }, "/s"}}
	if s.height >= 30 || c.narrow {
		lanes = append(lanes, playedLane{lang.T("calls answered"), func(x *simulate.Point) float64 { return x.GoodPerS }, "/s"},
			playedLane{lang.T("threads busy"), func(x *simulate.Point) float64 { return x.Busy }, ""})
		p.gap()
	}
	tall := s.height >= 34 && !c.narrow
	room := c.each - 12
	if c.narrow {
		room = c.width - 11 - 10
	}
	room = max(4, min(room, 60))
	mark := s.troubleMark(o, room)
	for i, l := range lanes {
		top := max(highest(o.played[0].Points, l.of), highest(o.played[1].Points, l.of))
		var upper, lower [2]text
		for k := range o.played {
			points := o.played[k].Points
			u, low := s.columnsOf(binned(points, l.of, room), top, tall)
			tn := info
			switch {
			case k == 1 && len(o.Changes) == 0:
				tn = dim
			case k == 1:
				tn = accent
			}
			last := " " + simulate.Number(lastQuarter(points, l.of)) + l.unit
			upper[k] = text{{tn, strings.Join(u, "")}}
			lower[k] = text{{tn, strings.Join(low, "")}, {plain, last}}
		}
		if c.narrow {
			p.add(say(strong, l.name))
			p.add(append(text{{dim, "  " + pad(lang.T("as it is"), 9, s.ellipsis)}}, lower[0]...))
			p.add(append(text{{dim, "  " + pad(lang.T("what if"), 9, s.ellipsis)}}, lower[1]...))
			if i == 0 && len(mark) > 0 {
				p.add(append(text{{plain, strings.Repeat(" ", 11)}}, mark...).clip(c.width, s.ellipsis))
			}
			continue
		}
		if tall {
			p.add(s.beside(c, nil, upper[0], upper[1]))
		}
		p.add(s.beside(c, say(strong, l.name), lower[0], lower[1]))
		if i == 0 && len(mark) > 0 {
			p.add(s.beside(c, nil, mark, mark))
		}
	}
}

// troubleMark stands under a lane where the trouble begins and ends.
func (s *scene) troubleMark(o *outcome, room int) text {
	t := o.trouble
	if t.ForS <= 0 {
		return nil
	}
	from := int(t.AtS / playForS * float64(room))
	long := max(1, int(t.ForS/playForS*float64(room)))
	line := text{{plain, strings.Repeat(" ", from)}, {warn, s.onset + strings.Repeat(s.across, long-1)}}
	return line.and(warn, " "+lang.Sprintf("trouble, %s", simulate.Seconds(t.ForS)))
}

func highest(points []simulate.Point, of func(*simulate.Point) float64) float64 {
	top := 0.0
	for i := range points {
		top = max(top, of(&points[i]))
	}
	return top
}

// lastQuarter is the mean of the last quarter.
func lastQuarter(points []simulate.Point, of func(*simulate.Point) float64) float64 {
	last := points[len(points)*3/4:]
	sum := 0.0
	for i := range last {
		sum += of(&last[i])
	}
	return sum / float64(max(1, len(last)))
}

// binned are the means of the points that fall into each column.
func binned(points []simulate.Point, of func(*simulate.Point) float64, columns int) []float64 {
	values := make([]float64, columns)
	for c := range values {
		from := c * len(points) / columns
		to := max(from+1, (c+1)*len(points)/columns)
		if to > len(points) {
			values[c] = math.NaN()
			continue
		}
		for i := from; i < to; i++ {
			values[c] += of(&points[i]) / float64(to-from)
		}
	}
	return values
}

// meaning are the sentences below the numbers, and how the same is had without
// the screen.
func (s *scene) meaning(p *page, c columns, q *question, o *outcome) {
	p.title(lang.T("WHAT THAT MEANS"))
	said := o.Explanation[1:]
	if doubt, ok := simulate.Doubt(s.report, s.nth, &o.Before); ok {
		said = append(said[:len(said):len(said)], doubt)
	}
	for i, x := range said {
		p.thing(row{key: "meaning " + string(rune('a'+i))}, say(dim, s.bullet+" "), c.width, say(plain, x.Say(lang.Sprintf)))
	}
	if q.before.calmS == 0 && o.trouble.ForS == 0 {
		p.para(say(dim, s.bullet+" "), c.width, say(dim, lang.Sprintf("played as if the trouble went on; with %s typed in, it begins after %s and ends after %s", lang.T("hold when calm"), simulate.Seconds(playTrouble.AtS), simulate.Seconds(playTrouble.AtS+playTrouble.ForS))))
	}
	command := q.command()
	p.thing(row{key: "command", copy: command}, say(dim, "$ "), c.width, say(info, command))
}

// partly says what can be said while something is not known.
func (s *scene) partly(p *page, c columns, q *question) {
	m := &q.before
	p.title(lang.T("WHAT CAN BE SAID WITHOUT"))
	tell := func(said string) { p.para(say(dim, s.bullet+" "), c.width, say(plain, said)) }
	if m.Ceiling() > 1 {
		tell(lang.Sprintf("one call can become up to %s attempts", simulate.Number(m.Ceiling())))
	}
	if m.ArrivalsPerS > 0 && m.HoldS > 0 {
		tell(lang.Sprintf("%s calls/s x %s need %s threads, if none is made twice", simulate.Number(m.ArrivalsPerS), simulate.Seconds(m.HoldS), simulate.Whole(math.Ceil(m.ArrivalsPerS*m.HoldS-1e-9))))
	}
	if m.Threads > 0 && m.HoldS > 0 {
		tell(lang.Sprintf("%s threads carry at most %s attempts/s of %s each", simulate.Whole(float64(m.Threads)), simulate.Number(float64(m.Threads)/m.HoldS), simulate.Seconds(m.HoldS)))
	}
	if m.Threads > 0 && m.ArrivalsPerS > 0 {
		tell(lang.Sprintf("%s threads carry %s calls/s up to a hold time of %s", simulate.Whole(float64(m.Threads)), simulate.Number(m.ArrivalsPerS), simulate.Seconds(float64(m.Threads)/m.ArrivalsPerS)))
	}
	if m.TimeoutS > 0 && m.HoldS > m.TimeoutS {
		tell(lang.Sprintf("one takes %s, longer than its timeout of %s: attempts fail even with room in the pool", simulate.Seconds(m.HoldS), simulate.Seconds(m.TimeoutS)))
	}
	if last := len(p.rows) - 1; len(p.rows[last].line) > 0 && p.rows[last].line[0].tone == heading {
		tell(lang.T("nothing yet"))
	}
}

// origins say where the numbers are from, with citations to open.
func (s *scene) origins(p *page, c columns, q *question) {
	if len(s.report.Incidents) == 0 {
		return
	}
	p.title(lang.T("WHERE THE NUMBERS ARE FROM"))
	for i := range q.base.origins {
		x := &q.base.origins[i]
		glyph, tn := s.yes, good
		if !x.Known {
			glyph, tn = s.unknown, warn
		}
		name := string(x.Input)
		if x.Input == simulate.Layers {
			name = "retries"
		}
		if in := inputOf(name); in != nil {
			name = lang.T(in.name)
		}
		var cites []evidence.Citation
		cites = append(cites, x.Citations...)
		body := append(text{{strong, name + ": "}, {plain, x.How.Say(lang.Sprintf) + " "}}, s.seen(cites, 3)...)
		p.thing(row{key: "from " + string(x.Input), cites: cites, links: toLines(cites, 3)}, text{{tn, glyph + " "}}, c.width, body)
	}
}
