package incident

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/lang"
)

// TextOptions say how the text form is drawn.
type TextOptions struct {
	Width int            // columns; 0 means 80, and fewer than 40 are taken as 40
	Color bool           // colours and weights; nothing is said by them alone
	ASCII bool           // draw with ASCII only; names stay as they were read
	Zone  *time.Location // for times; nil means UTC
}

// rows is how many rows of a table the text and Markdown forms show.
const rows = 6

// WriteText writes the report for a terminal and for a channel: the verdict and
// what to do first fit one small screen, everything that supports them follows.
// Every number that was observed has its citation beside it.
func WriteText(w io.Writer, r *Report, o TextOptions) error {
	t := text{page: newPage(o), index: newIndex(sanitized(r))}
	t.report()
	out := t.String()
	if o.ASCII {
		out = asciiPlaceholders.Replace(out)
	}
	_, err := io.WriteString(w, out)
	return err
}

func newPage(o TextOptions) page {
	p := page{width: max(40, o.Width), glyphs: unicodeGlyphs, color: o.Color, zone: o.Zone}
	if o.Width == 0 {
		p.width = 80
	}
	if o.ASCII {
		p.glyphs = asciiGlyphs
	}
	if o.Zone == nil {
		p.zone = time.UTC
	}
	return p
}

// asciiPlaceholders undoes the control pictures of Visible for terminals that
// cannot draw them.
var asciiPlaceholders = func() *strings.Replacer {
	pairs := []string{"␡", `\x7f`, " … ", " ... "}
	for r := range rune(0x20) {
		pairs = append(pairs, string(0x2400+r), fmt.Sprintf(`\x%02x`, r))
	}
	return strings.NewReplacer(pairs...)
}()

// The first words of reports without one verdict.
const (
	nothingToJudge   = "NOTHING TO JUDGE"
	severalIncidents = "Several incidents in this evidence:"
)

type text struct {
	page
	*index
	shown map[string]bool // findings printed so far
}

func (t *text) report() {
	t.shown = map[string]bool{}
	r := t.index.report
	t.setDay(r.Window)
	if len(r.Incidents) == 0 {
		t.item(t.paint(yellow, t.unsure+" "+lang.T(nothingToJudge))+" ", "  ", t.words(plain, lang.T("no incident could be made out of this evidence"))...)
		t.open()
		t.unread()
	}
	if len(r.Incidents) > 1 {
		t.overview(r)
	}
	for i := range r.Incidents {
		if len(r.Incidents) > 1 {
			t.WriteString("\n" + strings.Repeat(t.rule, t.width) + "\n")
		}
		t.incident(&r.Incidents[i])
	}
	t.setDay(r.Window)
	t.otherFindings(r)
	t.tables(r)
	t.sources(r)
	t.footer(r)
}

// setDay lets times of a window of one day stand without their date.
func (p *page) setDay(w Window) {
	p.day = ""
	from, to := w.From.In(p.zone), w.To.In(p.zone)
	if w.From.IsZero() {
		from = to
	}
	if w.To.IsZero() {
		to = from
	}
	if from.Format(time.DateOnly) == to.Format(time.DateOnly) {
		p.day = from.Format(time.DateOnly)
	}
}

// when says of a window its times, day and zone.
func (p *page) when(w Window) string {
	span := p.span(w.From, w.To)
	if span == "" {
		return ""
	}
	at := w.From
	if at.IsZero() {
		at = w.To
	}
	return strings.TrimSpace(p.day + " " + span + " " + zoneName(at.In(p.zone)))
}

// overview lists several incidents before the first of them.
func (t *text) overview(r *Report) {
	t.WriteString(t.paint(bold, lang.T(severalIncidents)) + "\n")
	for i := range r.Incidents {
		in := &r.Incidents[i]
		glyph, s := t.verdict(in.Label)
		words := t.words(plain, in.Headline)
		words = append(words, t.cites(t.behind(in, "", in.Headline), 2)...)
		t.item("  "+t.paint(s, glyph+" "+lang.Word(string(in.Label)))+"  ", "      ", words...)
	}
	t.open()
	t.unread()
}

func (t *text) incident(in *Incident) {
	window := in.Window
	if window.IsZero() {
		window = t.index.report.Window
	}
	t.setDay(window)
	t.verdictLines(in, window)
	t.chain(in)
	t.first(in)
	t.notes(in)
	t.evidence(in)
	t.walk(in)
	t.remarks(in)
	t.alternatives(in)
	t.missing(in)
	t.actions(in)
}

func (t *text) verdictLines(in *Incident, window Window) {
	glyph, s := t.verdict(in.Label)
	head := t.paint(s, glyph+" "+lang.Upper(string(in.Label)))
	sure := lang.Sprintf("%s %s certainty", t.certainty(in.Certainty), lang.Word(string(in.Certainty)))
	t.item(head+"  ", "  ", append(t.words(bold, sure), t.words(dim, lang.Sprintf("(%s)", in.Certainty.Means()))...)...)
	if said := in.byHandWords(); said != "" {
		t.item(t.paint(yellow, "! "), "  ", t.words(bold, said)...)
	}
	words := t.words(bold, in.Headline)
	words = append(words, t.cites(t.behind(in, "", in.Headline), 4)...)
	t.item("", "", words...)
	var when facts
	when.add(in.Subject != "", "%s", in.Subject)
	when.add(!window.IsZero(), "%s", t.when(window))
	if len(when) > 0 {
		t.item("", "", t.words(dim, when.String())...)
	}
	if len(t.index.report.Incidents) == 1 { // else it stands below their overview
		t.open()
		t.unread()
	}
}

// chain draws trigger -> amplifier -> victim, each with its numbers.
func (t *text) chain(in *Incident) {
	if len(in.Chain) == 0 {
		return
	}
	t.WriteString("\n")
	indent := "  "
	for i, link := range in.Chain {
		last := i == len(in.Chain)-1
		head := indent
		if i > 0 {
			head = indent + t.arrow + " "
			indent += strings.Repeat(" ", cells(t.arrow)+1)
		}
		words := append(t.words(roleStyle(link.Role), lang.Word(string(link.Role))), "")
		words = append(words, t.words(bold, lang.Word(string(link.Label)))...)
		if !link.Since.IsZero() {
			words = append(words, "")
			words = append(words, t.words(plain, lang.Sprintf("since %s", t.clock(link.Since)))...)
		}
		if link.Assumed && !last {
			words = append(words, t.words(dim, lang.Sprintf("(%s)", link.doubt()))...)
		}
		t.item(head, indent+"  ", words...)
		bar := indent + "  "
		if !last {
			bar = indent + t.bar + " "
		}
		said := t.words(plain, link.Subject)
		findings := t.findings(link.Findings)
		if len(findings) > 0 && bareName(link.Subject) {
			said = append(t.words(plain, link.Subject+":"), t.words(plain, findings[0].Text)...)
		}
		t.item(bar, bar, append(said, t.cites(t.seenIn(link.Findings), 3)...)...)
	}
}

// bareName reports whether a subject is a name, not yet a sentence of what was
// seen of it.
func bareName(subject string) bool {
	return len(strings.Fields(subject)) < 4 && !strings.ContainsAny(subject, "，：；")
}

// doubt says why the order of a link before the next is assumed.
func (l *Link) doubt() string {
	if l.Since.IsZero() {
		return lang.T("its start is not in the evidence")
	}
	return lang.T("order not shown by times")
}

// boxed is how much missing evidence the box asks for; the rest follows below.
const boxed = 2

// collects reports whether the box says what to collect, not what to do.
func collects(in *Incident) bool {
	return in.Label == Inconclusive && in.ActFirst == "" && len(in.Missing) > 0 ||
		in.Label != Healthy && in.ActFirst == "" && len(in.Actions) == 0 && len(in.Missing) > 0
}

// first is the box with what to do now; where the evidence does not tell, what
// to collect now.
func (t *text) first(in *Incident) {
	switch {
	case collects(in):
		t.box(lang.T("COLLECT FIRST"))
		for _, m := range in.Missing[:min(boxed, len(in.Missing))] {
			t.missingItem(in, m)
		}
	case in.Label != Healthy && len(in.Actions) > 0:
		title := lang.T("ACT FIRST")
		if in.ActFirst != "" {
			title = lang.Sprintf("ACT FIRST: %s", lang.Word(string(in.ActFirst)))
		}
		t.box(title)
		for _, a := range firstActions(in) {
			t.action(in, a, brief)
		}
	case in.ActFirst != "":
		e, _ := Explain(in.ActFirst)
		t.box(lang.Sprintf("ACT FIRST: %s", lang.Word(string(in.ActFirst))))
		for _, what := range e.First {
			t.item("  "+t.bullet+" ", "    ", t.words(plain, what)...)
		}
	default:
		return
	}
	t.WriteString(t.paint(bold, strings.Repeat(t.rule, t.width)) + "\n")
}

func (t *text) box(title string) {
	line := strings.Repeat(t.rule, 2) + " " + title + " "
	line += strings.Repeat(t.rule, max(2, t.width-cells(line)))
	t.WriteString("\n" + t.paint(bold, line) + "\n")
}

// firstActions returns the action that comes before all others, for it saves
// the scene, and the one that deals with the label to act on first.
func firstActions(in *Incident) []Action {
	for i, a := range in.Actions {
		if a.Label != "" && a.Label == in.ActFirst {
			return append([]Action{}, append(in.Actions[:min(1, i):min(1, i)], a)...)
		}
	}
	return in.Actions[:min(2, len(in.Actions))]
}

func (t *text) footer(r *Report) {
	var f facts
	f.add(r.Tool.Version != "", "firebreak %s", r.Tool.Version)
	f.add(!r.GeneratedAt.IsZero(), "report of %s", r.GeneratedAt.In(t.zone).Format("2006-01-02 15:04:05 -07:00"))
	if len(f) > 0 {
		t.WriteString("\n")
		t.item("", "", t.words(dim, f.String())...)
	}
}
