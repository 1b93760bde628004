package incident

import (
	"slices"
	"strconv"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/lang"
)

func (t *text) notes(in *Incident) {
	if len(in.Notes) == 0 {
		return
	}
	t.heading("NOTES")
	for _, n := range in.Notes {
		cites := t.seenIn(n.Findings)
		if len(cites) == 0 {
			cites = t.behind(in, "", n.Text)
		}
		t.item("  "+t.bullet+" ", "    ", append(t.words(plain, n.Text), t.cites(cites, 3)...)...)
	}
}

// evidence lists the findings that the incident rests on.
func (t *text) evidence(in *Incident) {
	for i, f := range t.findings(in.findingIDs()) {
		if i == 0 {
			t.heading("EVIDENCE")
		}
		t.shown[f.ID] = true
		switch {
		case i < named:
			t.finding(f)
		case i == named:
			t.more()
		}
	}
}

// named is how many findings of an incident are listed, and others how many of
// those that belong to none.
const (
	named  = 24
	others = 8
)

// more says that a list goes on elsewhere.
func (t *text) more() {
	t.item("  ", "  ", t.words(dim, lang.Sprintf("%s and more: --format json has all", t.ellipsis))...)
}

func (t *text) finding(f *Finding) {
	words := append([]string{t.paint(dim, string(f.Kind)+":")}, t.words(plain, f.Text)...)
	if times := f.times(); times != "" {
		words = append(words, times)
	}
	words = append(words, strings.Fields(t.span(f.First, f.Last))...)
	words = append(words, t.cites(f.Citations, 3)...)
	t.item("  "+t.paint(bold, f.ID)+strings.Repeat(" ", max(1, 4-cells(f.ID))), "      ", words...)
}

// otherFindings lists those that no incident names.
func (t *text) otherFindings(r *Report) {
	n, title := 0, lang.Mark("ALSO SEEN")
	if len(t.shown) == 0 {
		title = "EVIDENCE"
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if t.shown[f.ID] {
			continue
		}
		if n == 0 {
			t.heading(title)
		}
		if n++; n > others {
			t.more()
			return
		}
		t.finding(f)
	}
}

func (t *text) walk(in *Incident) {
	book := ""
	for _, w := range in.Walk {
		if w.Runbook != book {
			book = w.Runbook
			t.heading(lang.Sprintf("RUNBOOK %s", book))
		}
		glyph, s := t.answer(w.Answer)
		ask := w.Ask
		if ask == "" {
			ask = w.Step
		}
		words := append(t.words(plain, ask), t.because(w.Because)...)
		if w.OverriddenBy != nil {
			words = append(words, t.words(bold, lang.Sprintf("(overridden: %s)", *w.OverriddenBy))...)
		}
		if w.Concludes != "" {
			words = append(append(words, "->"), t.words(bold, lang.Word(string(w.Concludes)))...)
		}
		answer := glyph + " " + padded(w.Answer, Yes, No, DontKnow)
		t.item("  "+t.paint(s, answer)+" ", strings.Repeat(" ", 3+cells(answer)), words...)
	}
}

// because names findings, each with its first citation.
func (t *text) because(ids []string) []string {
	var words []string
	for i, f := range t.findings(ids) {
		if i == 3 {
			return append(words, t.ellipsis)
		}
		words = append(words, f.ID)
		words = append(words, t.cites(f.Citations[:min(1, len(f.Citations))], 1)...)
	}
	return words
}

// gap is the space after a word that ends with a colon: a wide one brings its own.
func gap(word string) string {
	if strings.HasSuffix(word, "：") {
		return ""
	}
	return " "
}

// padded returns a word, in the language in use, with room for the widest of all
// that stand in its column.
func padded[T ~string](word T, column ...T) string {
	widest := 0
	for _, w := range column {
		widest = max(widest, cells(lang.Word(string(w))))
	}
	said := lang.Word(string(word))
	return said + strings.Repeat(" ", max(0, widest-cells(said)))
}

// remarks are what the engineer noted; they stand apart from what firebreak says.
func (t *text) remarks(in *Incident) {
	for i, r := range in.Remarks {
		if i == 0 {
			t.heading("NOTED BY THE ENGINEER")
		}
		words := append(t.words(bold, r.Says()+":"), t.words(plain, r.Text)...)
		words = append(words, t.words(dim, r.About)...)
		t.item("  "+t.bullet+" ", "    ", append(words, t.cites(r.Citations, 2)...)...)
	}
}

func (t *text) alternatives(in *Incident) {
	if len(in.Alternatives) == 0 {
		return
	}
	t.heading("ALSO WEIGHED")
	for _, a := range in.Alternatives {
		head := "  " + t.unknown + " " + t.paint(bold, lang.Word(string(a.Label))) + lang.Sprintf(", %s:", lang.Word(string(a.Certainty))) + " "
		words := t.words(plain, a.WhyNot)
		against := a.Against
		if same := t.saying(a.WhyNot, against); same != nil {
			words = append(append(words, "("+same.ID+")"), t.cites(same.Citations, 2)...)
			against = slices.DeleteFunc(slices.Clone(against), func(id string) bool { return id == same.ID })
		} else {
			words = append(words, t.cites(t.behind(in, a.Label, a.WhyNot), 2)...)
		}
		t.item(head, "    ", words...)
		t.points(padded("for", "for", "against"), a.For)
		t.points(padded("against", "for", "against"), against)
	}
}

// saying returns the finding of the given IDs whose sentence ends the other, so
// that it need not be printed beside it; nil if there is none.
func (t *text) saying(sentence string, ids []string) *Finding {
	for _, f := range t.findings(ids) {
		if strings.HasSuffix(sentence, f.Text) {
			return f
		}
	}
	return nil
}

func (t *text) points(what string, ids []string) {
	for i, f := range t.findings(ids) {
		if i == 3 {
			t.item("    ", "    ", t.words(dim, what+" "+t.ellipsis)...)
			break
		}
		words := append(t.words(plain, f.Text), t.cites(f.Citations, 1)...)
		t.item("    "+t.paint(dim, what)+" "+f.ID+" ", strings.Repeat(" ", 5+cells(what)), words...)
	}
}

func (t *text) missing(in *Incident) {
	missing := in.Missing
	if collects(in) {
		missing = missing[min(boxed, len(missing)):]
	}
	for i, m := range missing {
		if i == 0 {
			t.heading("MISSING, AND WORTH COLLECTING")
		}
		t.missingItem(in, m)
	}
}

func (t *text) missingItem(in *Incident, m Missing) {
	t.item("  "+t.unknown+" ", "    ", append(t.words(bold, m.What), t.cites(t.behind(in, "", m.What), 1)...)...)
	if m.Command != "" {
		t.command("      ", m.Command)
	}
	if m.WouldTell != "" {
		words := append(t.words(plain, m.WouldTell), t.cites(t.behind(in, "", m.WouldTell), 1)...)
		tells := lang.T("tells:")
		t.item("    "+t.paint(dim, tells)+gap(tells), strings.Repeat(" ", 4+cells(tells+gap(tells))), words...)
	}
}

func (t *text) actions(in *Incident) {
	if len(in.Actions) == 0 {
		return
	}
	t.heading("WHAT TO DO, IN ORDER")
	for _, a := range in.Actions {
		t.action(in, a, whole)
	}
}

// The two lengths of an action: in the box, and in the list.
const (
	brief = false
	whole = true
)

func (t *text) action(in *Incident, a Action, full bool) {
	number := strconv.Itoa(a.Order) + ". "
	if !full {
		number = lang.Sprintf("step %d of %d", a.Order, len(in.Actions)) + "  "
	}
	indent := strings.Repeat(" ", 4)
	if full {
		indent = strings.Repeat(" ", 2+len(number))
	}
	t.item("  "+t.paint(bold, number), indent, append(t.words(bold, a.What), t.cites(t.behind(in, a.Label, a.What), 1)...)...)
	switch {
	case !full && strings.Count(a.Command, "\n") > 2:
		t.item(indent, indent, t.words(dim, lang.T("what to paste stands below, under WHAT TO DO"))...)
	case a.Command != "":
		t.command("      ", a.Command)
	}
	if full && a.Why != "" {
		t.item(indent, indent, append(t.words(plain, a.Why), t.cites(t.behind(in, a.Label, a.Why), 2)...)...)
	}
	if a.Risk != "" {
		t.item(indent+t.paint(yellow, "! "+lang.T("risk:"))+gap(lang.T("risk:")), indent+"  ", append(t.words(plain, a.Risk), t.cites(t.behind(in, a.Label, a.Risk), 1)...)...)
	}
}

// tables shows the head of each list; the JSON form has the rest.
func (t *text) tables(r *Report) {
	for i, p := range head(r.Pools) {
		t.row(i, "POOLS", len(r.Pools), p.Name, p.facts(), t.about(p.Citations, p.Name))
	}
	for i, e := range head(r.Edges) {
		t.row(i, "CALLS", len(r.Edges), e.Name(), e.facts(), t.about(e.Citations, e.Name()))
	}
	several := severalRetry(r.Paths)
	for i, p := range head(several) {
		t.row(i, "PATHS", len(several), p.Name(), p.facts(), p.Citations)
	}
	for i, s := range head(r.SQL) {
		t.row(i, "SQL", len(r.SQL), collapse(s.Fingerprint), s.facts(), t.about(s.Citations, s.Fingerprint))
	}
	for i, s := range head(r.Stacks) {
		name := s.name()
		t.row(i, "THREADS", len(r.Stacks), name, s.facts(), t.about(s.Citations, s.Pool))
	}
	t.timeline(r)
}

func head[T any](list []T) []T { return list[:min(rows, len(list))] }

// row writes one thing of a table: its name, what is known of it, where.
func (t *text) row(i int, title string, total int, name string, f facts, cites []evidence.Citation) {
	if i == 0 {
		title = lang.T(title)
		if total > rows {
			title += "  " + t.paint(dim, lang.T("(the foremost; --format json has all)"))
		}
		t.heading(title)
	}
	words := append(t.words(bold, t.name(name)), "")
	words = append(words, t.words(plain, f.String())...)
	t.item("  ", "      ", append(words, t.cites(cites, 2)...)...)
}

// timeline draws each signal as a row of bars: its shape, not its numbers.
func (t *text) timeline(r *Report) {
	for i, s := range head(r.Timeline) {
		if i == 0 {
			t.heading("TIMELINE")
		}
		words := []string{t.sparkline(s.Points, 24)}
		if n := len(s.Points); n > 0 {
			words = append(words, t.span(s.Points[0].At, s.Points[n-1].At))
		}
		if !s.Onset.IsZero() {
			words = append(words, t.words(plain, lang.Sprintf("rises %s", t.clock(s.Onset)))...)
		}
		name := shorten(lang.T(s.Signal), 30, t.ellipsis)
		if len(r.Incidents) > 0 {
			words = append(words, t.cites(t.behind(&r.Incidents[0], "", name), 1)...)
		}
		t.item("  "+name+strings.Repeat(" ", 31-cells(name)), "      ", words...)
	}
}

func (t *text) sparkline(points []Point, width int) string {
	if len(points) == 0 {
		return ""
	}
	width = min(width, len(points))
	columns := make([]float64, width)
	top := 0.0
	for i, p := range points {
		c := &columns[i*width/len(points)]
		*c = max(*c, p.Value)
		top = max(top, p.Value)
	}
	if top <= 0 {
		return "" // nothing to see
	}
	var b strings.Builder
	for _, v := range columns {
		b.WriteString(t.spark[max(0, int(v/top*float64(len(t.spark)-1)))])
	}
	return b.String()
}

func (t *text) sources(r *Report) {
	if len(r.Sources) == 0 {
		return
	}
	t.heading("SOURCES")
	shown, more := shownSources(r.Sources)
	for _, s := range shown {
		words := append(t.cites([]evidence.Citation{{Source: s.Path}}, 1), t.words(plain, s.facts().String())...)
		words = append(words, strings.Fields(t.span(s.From, s.To))...)
		t.item("  ", "      ", words...)
		for i, problem := range s.Problems {
			if i == 3 {
				t.item("      ", "      ", t.ellipsis)
				break
			}
			t.item("      "+t.paint(yellow, "!")+" ", "        ", append(t.words(plain, problem), t.cites([]evidence.Citation{{Source: s.Path}}, 1)...)...)
		}
	}
	if more != "" {
		t.item("  ", "      ", t.words(plain, more)...)
	}
}
