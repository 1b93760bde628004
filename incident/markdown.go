package incident

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/lang"
)

// MarkdownOptions say how the Markdown form is written.
type MarkdownOptions struct {
	Zone *time.Location // for times; nil means UTC
}

// WriteMarkdown writes the report for pasting into an issue, a chat or a
// document. It keeps to what all of them draw alike: headings, bold, lists, code
// and fences; no tables, no HTML. Names cannot format, mention or link.
func WriteMarkdown(w io.Writer, r *Report, o MarkdownOptions) error {
	p := newPage(TextOptions{Zone: o.Zone})
	m := markdown{page: p, index: newIndex(sanitized(r))}
	m.report()
	_, err := io.WriteString(w, m.String())
	return err
}

type markdown struct {
	page
	*index
}

// line writes one line: what fmt makes of the arguments, and citations in code.
func (m *markdown) line(cites []evidence.Citation, format string, args ...any) {
	m.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " "))
	for i, c := range places(cites) {
		if i == 3 {
			m.WriteString(" …")
			break
		}
		m.WriteString(" " + code("["+c.String()+"]"))
	}
	m.WriteString("\n")
}

func (m *markdown) report() {
	r := m.index.report
	if len(r.Incidents) == 0 {
		m.line(nil, "## %s\n\n%s", lang.T("Nothing to judge"), lang.T("No incident could be made out of this evidence."))
		m.open()
		m.unread()
	}
	for i := range r.Incidents {
		if i > 0 {
			m.line(nil, "\n---\n")
		}
		m.incident(&r.Incidents[i])
	}
	m.tables(r)
	m.sources(r)
	if !r.GeneratedAt.IsZero() {
		m.line(nil, "\n%s", lang.Sprintf("firebreak %s, report of %s", escape(r.Tool.Version), r.GeneratedAt.In(m.zone).Format("2006-01-02 15:04:05 -07:00")))
	}
}

func (m *markdown) incident(in *Incident) {
	glyph, _ := m.verdict(in.Label)
	m.line(nil, "## %s %s — %s", glyph, lang.Word(string(in.Label)), lang.Sprintf("%s certainty (%s)", lang.Word(string(in.Certainty)), in.Certainty.Means()))
	if said := in.byHandWords(); said != "" {
		m.line(nil, "\n**! %s**", escape(said))
	}
	m.line(m.behind(in, "", in.Headline), "\n**%s**", escape(in.Headline))
	w := in.Window
	if w.IsZero() {
		w = m.index.report.Window
	}
	m.setDay(w)
	if when := m.when(w); when != "" {
		m.line(nil, "\n%s", escape(when))
	}
	if in == &m.index.report.Incidents[0] {
		m.open()
		m.unread()
	}
	m.chain(in)
	m.actions(in)
	m.missing(in)
	m.notes(in)
	m.evidence(in)
	m.remarks(in)
	m.alternatives(in)
	m.walk(in)
}

func (m *markdown) chain(in *Incident) {
	for i, l := range in.Chain {
		if i == 0 {
			m.line(nil, "\n**%s**\n", lang.T("Chain"))
		}
		since := ""
		if !l.Since.IsZero() {
			since = lang.Sprintf(", since %s", m.clock(l.Since))
		}
		if l.Assumed && i < len(in.Chain)-1 {
			since = lang.Sprintf("%s (%s)", since, l.doubt())
		}
		subject := l.Subject
		if f := m.findings(l.Findings); len(f) > 0 && bareName(subject) {
			subject += ": " + f[0].Text
		}
		m.line(m.seenIn(l.Findings), "%d. %s **%s**%s: %s", i+1, lang.Word(string(l.Role)), lang.Word(string(l.Label)), since, escape(subject))
	}
}

func (m *markdown) actions(in *Incident) {
	for i, a := range in.Actions {
		if i == 0 {
			title := "**" + lang.T("What to do, in order") + "**"
			if in.ActFirst != "" {
				title += " — " + lang.Sprintf("first: **%s**", lang.Word(string(in.ActFirst)))
			}
			m.line(nil, "\n%s\n", title)
		}
		m.line(m.behind(in, a.Label, a.What+" "+a.Why+" "+a.Risk), "%d. **%s** %s%s", a.Order, escape(a.What), escape(a.Why), prefixed(" ⚠ "+lang.T("Risk:")+" ", escape(a.Risk)))
		m.fence(a.Command)
	}
}

func (m *markdown) missing(in *Incident) {
	for i, miss := range in.Missing {
		if i == 0 {
			m.line(nil, "\n**%s**\n", lang.T("Missing, and worth collecting"))
		}
		m.line(m.behind(in, "", miss.What+" "+miss.WouldTell), "- **%s** %s", escape(miss.What), escape(miss.WouldTell))
		m.fence(miss.Command)
	}
}

func (m *markdown) notes(in *Incident) {
	for i, n := range in.Notes {
		if i == 0 {
			m.line(nil, "\n**%s**\n", lang.T("Notes"))
		}
		m.line(m.seenIn(n.Findings), "- %s", escape(n.Text))
	}
}

func (m *markdown) evidence(in *Incident) {
	for i, f := range m.findings(in.findingIDs()) {
		if i == 0 {
			m.line(nil, "\n**%s**\n", lang.T("Evidence"))
		}
		m.line(f.Citations, "- %s %s: %s%s%s", code(f.ID), f.Kind, escape(f.Text), prefixed(" ", f.times()), prefixed(", ", m.span(f.First, f.Last)))
	}
}

func (m *markdown) alternatives(in *Incident) {
	for i, a := range in.Alternatives {
		if i == 0 {
			m.line(nil, "\n**%s**\n", lang.T("Also weighed"))
		}
		m.line(m.behind(in, a.Label, a.WhyNot), "- **%s** (%s): %s%s%s", lang.Word(string(a.Label)), lang.Word(string(a.Certainty)), escape(a.WhyNot),
			prefixed(" "+lang.T("For:")+" ", strings.Join(a.For, ", ")), prefixed(" "+lang.T("Against:")+" ", strings.Join(a.Against, ", ")))
	}
}

// remarks are what the engineer noted; they stand apart from what firebreak says.
func (m *markdown) remarks(in *Incident) {
	for i, r := range in.Remarks {
		if i == 0 {
			m.line(nil, "\n**%s**\n", lang.T("Noted by the engineer"))
		}
		m.line(r.Citations, "- **%s**%s: %s", r.Says(), prefixed(" ", escape(r.Text)), escape(r.About))
	}
}

func (m *markdown) walk(in *Incident) {
	book := ""
	for _, w := range in.Walk {
		if w.Runbook != book {
			book = w.Runbook
			m.line(nil, "\n**%s**\n", lang.Sprintf("Runbook %s", escape(book)))
		}
		glyph, _ := m.answer(w.Answer)
		ask := w.Ask
		if ask == "" {
			ask = w.Step
		}
		override := ""
		if w.OverriddenBy != nil {
			override = " " + lang.Sprintf("(overridden: %s)", escape(*w.OverriddenBy))
		}
		m.line(m.seenIn(w.Because), "- %s %s: %s%s%s", glyph, lang.Word(string(w.Answer)), escape(ask), override, prefixed(" -> ", lang.Word(string(w.Concludes))))
	}
}

func (m *markdown) tables(r *Report) {
	for i, p := range head(r.Pools) {
		m.row(i, "Pools", p.Name, p.facts(), m.about(p.Citations, p.Name))
	}
	for i, e := range head(r.Edges) {
		m.row(i, "Calls", e.Name(), e.facts(), m.about(e.Citations, e.Name()))
	}
	for i, p := range head(severalRetry(r.Paths)) {
		m.row(i, "Paths", p.Name(), p.facts(), p.Citations)
	}
	for i, s := range head(r.SQL) {
		m.row(i, "SQL", cutMiddle(collapse(s.Fingerprint), 400), s.facts(), m.about(s.Citations, s.Fingerprint))
	}
	for i, s := range head(r.Stacks) {
		m.row(i, "Threads", s.name(), s.facts(), m.about(s.Citations, s.Pool))
	}
}

func (m *markdown) row(i int, title, name string, f facts, cites []evidence.Citation) {
	if i == 0 {
		m.line(nil, "\n**%s**\n", lang.T(title))
	}
	m.line(cites, "- %s %s", code(name), escape(f.String()))
}

func (m *markdown) sources(r *Report) {
	shown, more := shownSources(r.Sources)
	for i, s := range shown {
		if i == 0 {
			m.line(nil, "\n**%s**\n", lang.T("Sources"))
		}
		problems := lang.Semicolons(s.Problems[:min(3, len(s.Problems))])
		m.line(nil, "- %s %s%s", code("["+s.Path+"]"), s.facts(), prefixed(": ", escape(problems)))
	}
	if more != "" {
		m.line(nil, "- %s", more)
	}
}

// fence writes a command as a block of code inside a list item, behind a fence
// that the command cannot close.
func (m *markdown) fence(command string) {
	if command == "" {
		return
	}
	fence := strings.Repeat("`", max(3, longestRun(command, '`')+1))
	m.WriteString("   " + fence + "\n")
	for line := range strings.SplitSeq(strings.TrimRight(command, "\n"), "\n") {
		m.WriteString("   " + line + "\n")
	}
	m.WriteString("   " + fence + "\n")
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// code makes s a span of code, behind backticks that s cannot close.
func code(s string) string {
	ticks := strings.Repeat("`", longestRun(s, '`')+1)
	if len(ticks) > 1 || strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		return ticks + " " + s + " " + ticks
	}
	return ticks + s + ticks
}

func longestRun(s string, b byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != b {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// escape makes a text mean nothing but itself. Words that a program would turn
// into links or mentions become code.
func escape(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		if strings.Contains(w, "://") || strings.HasPrefix(w, "www.") || mentions(w) {
			words[i] = code(w)
			continue
		}
		words[i] = escapeWord(w, i == 0)
	}
	return strings.Join(words, " ")
}

// mentions reports whether an @ stands before a letter: "@here", "a@b.c".
func mentions(w string) bool {
	at := strings.IndexByte(w, '@')
	return at >= 0 && at < len(w)-1
}

func escapeWord(w string, first bool) string {
	var b strings.Builder
	for i := range len(w) {
		switch c := w[i]; c {
		case '\\', '`', '*', '[', ']', '<', '|', '~', '&':
			b.WriteByte('\\')
		case '_': // emphasises only at the border of a word
			if i == 0 || i == len(w)-1 || !isWordByte(w[i-1]) || !isWordByte(w[i+1]) {
				b.WriteByte('\\')
			}
		case '#', '>', '+', '-', '=':
			if first && i == 0 {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(w[i])
	}
	return b.String()
}

func isWordByte(c byte) bool {
	return c >= 0x80 || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c)
}
