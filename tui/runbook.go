package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/runbooks"
)

// walk returns the way through the runbook that is open: the evidence's answers,
// the engineer's where they said otherwise, and the case it was walked for.
func (s *scene) walk() (*runbooks.Book, runbooks.Walk, *runbooks.Case) {
	if s.books == nil || s.now == nil {
		return nil, runbooks.Walk{}, nil
	}
	b := s.books.Book(s.book)
	if b == nil {
		return nil, runbooks.Walk{}, nil
	}
	c := runbooks.NewCase(s.report, s.nth)
	return b, b.Start().Follow(c, s.notes.overrides(s.now, s.book)), c
}

// runbookPage walks the runbook: the questions that were answered, the one that
// is asked now with its evidence, and those to come.
func runbookPage(s *scene, _ place) *page {
	p := &page{}
	w := s.width - 2
	b, walk, c := s.walk()
	if b == nil {
		p.none = lang.T("There is nothing to walk through yet.")
		return p
	}
	replies := walk.Replies()
	at := min(s.notes.walked(s.now, s.book), len(replies))
	label, _ := walk.Conclusion()
	p.head = []text{
		{{strong, lang.T(b.Title)}, {dim, "  " + b.Name}, {dim, "  " + lang.Sprintf("question %d of %d", min(at+1, len(replies)), len(replies))}},
		nil,
	}
	for i, r := range replies {
		step := b.Step(r.Step)
		if step == nil {
			continue
		}
		switch {
		case i < at:
			answered(s, p, r, step, w)
		case i == at:
			asked(s, p, c, r, step, w)
		default:
			p.rows = append(p.rows, row{line: text{{dim, s.notYet + "         " + cut(lang.T(step.Ask), max(1, w-10), s.ellipsis)}}})
		}
	}
	if at < len(replies) {
		return p
	}
	p.gap()
	conclusion(s, p, walk, label, w)
	actions(s, p, w, lang.T("WHAT TO DO, IN ORDER"), walk.Actions(c))
	p.first = "conclusion"
	return p
}

func stepKey(id string) string { return "step " + id }

// said writes an answer as a glyph and a word.
func (s *scene) said(a incident.Answer) text {
	glyph, tn := s.answer(a)
	return say(tn, pad(glyph+" "+lang.Word(string(a)), 9, s.ellipsis)+" ")
}

// answered is a question that was answered, in brief.
func answered(s *scene, p *page, r runbooks.Reply, step *runbooks.Step, w int) {
	cites := s.citesOf(r.Because)
	body := say(plain, lang.T(step.Ask)+" ").with(s.seen(firstEach(s, r.Because), 3))
	if r.ByHand {
		body = body.and(accent, " "+lang.Sprintf("(your answer: %s)", r.Note))
	}
	rw := row{key: stepKey(r.Step), cites: cites}
	if len(r.Because) > 0 {
		rw.find = r.Because[0]
	}
	for _, f := range s.findings(r.Because) {
		rw.links = append(rw.links, toFinding(f))
	}
	p.thing(rw, s.said(r.Answer), w, body)
}

// asked is the question that is asked now: what the answers mean, the evidence,
// and where the answer leads.
func asked(s *scene, p *page, c *runbooks.Case, r runbooks.Reply, step *runbooks.Step, w int) {
	p.gap()
	p.first = stepKey(r.Step)
	base := row{key: stepKey(r.Step), cites: s.citesOf(r.Because)}
	glyph, tn := s.answer(r.Answer)
	title := text{{accent, s.arrow + " "}, {strong, lang.T(step.Ask)}}
	p.box(s, tn, text{{tn, glyph + " " + lang.Word(string(r.Answer))}}, nil, w, func(b *page, room int) {
		b.thing(base, nil, room, title)
		if r.ByHand {
			b.thing(base, text{{accent, "  "}}, room, say(accent, lang.Sprintf("your answer, with the note: %s", r.Note)))
		}
		for _, line := range paragraphs(lang.T(step.Body)) {
			b.thing(base, text{{plain, "  "}}, room, say(dim, line))
		}
		shown := c.Shown(step)
		const most = 6
		for i, f := range shown {
			if i == most {
				b.thing(base, text{{plain, "  "}}, room, say(dim, lang.Sprintf("%s and %d more findings", s.ellipsis, len(shown)-most)))
				break
			}
			fr := row{key: "finding " + f.ID, find: f.ID, cites: f.Citations, links: []link{toFinding(f)}, copy: f.Text, alarm: contains(r.Because, f.ID)}
			sign := s.bullet
			if contains(r.Because, f.ID) {
				sign = glyph
			}
			b.thing(fr, text{{tn, "  " + sign + " "}}, room, text{{plain, f.Text + " "}}.with(s.seen(f.Citations, 2)))
		}
		if len(shown) == 0 {
			b.thing(base, text{{plain, "  "}}, room, say(dim, lang.T("The evidence says nothing of it.")))
		}
		next := step.Next[r.Answer]
		leads := lang.T("ends the walk")
		if next.Conclude != "" {
			leads = lang.Sprintf("concludes %s", string(next.Conclude))
		} else if n := step.Next[r.Answer].Then; n != "" {
			leads = lang.T("leads to the next question")
		}
		b.thing(base, text{{plain, "  "}}, room, text{{accent, "Enter"}, {dim, " " + leads + "   "}, {accent, "x"}, {dim, " " + lang.T("if you know better")}})
	})
	p.gap()
}

// paragraphs are the lines of a Markdown text, its marks taken out.
func paragraphs(s string) []string {
	var list []string
	for _, block := range strings.Split(strings.TrimSpace(s), "\n\n") {
		line := strings.Join(strings.Fields(block), " ")
		line = strings.NewReplacer("**", "", "`", "").Replace(line)
		if line != "" {
			list = append(list, line)
		}
	}
	return list
}

func contains(list []string, s string) bool {
	for _, have := range list {
		if have == s {
			return true
		}
	}
	return false
}

// conclusion says what the walk has come to, beside what firebreak says.
func conclusion(s *scene, p *page, walk runbooks.Walk, label incident.Label, w int) {
	tn := good
	own := s.now.Label
	agree := lang.T("which is what firebreak says too")
	if label != own {
		tn = warn
		agree = lang.Sprintf("firebreak itself says %s", string(own))
	}
	if label == "" {
		label = incident.Inconclusive
	}
	byHand := 0
	for _, r := range walk.Replies() {
		if r.ByHand {
			byHand++
		}
	}
	p.box(s, tn, text{{tn, lang.T("THE WALK ENDS AT")}, {strong, "  " + string(label)}}, nil, w, func(b *page, room int) {
		r := row{key: "conclusion", links: []link{{name: lang.T("the verdict"), to: place{screen: onVerdict}}}, copy: string(label)}
		glyph, gt := s.verdict(label)
		line := text{{gt, glyph + " " + string(label)}, {plain, ": " + agree}}
		if x := labelWord(label); x != "" {
			line = text{{gt, glyph + " " + string(label) + " " + x}, {plain, ": " + agree}}
		}
		b.thing(r, nil, room, line)
		if byHand > 0 {
			b.thing(r, nil, room, say(accent, lang.Sprintf("answered by you: %d; it goes into the exported report, with the notes", byHand)))
		}
	})
}

// firstEach returns the first citation of each finding.
func firstEach(s *scene, ids []string) (list []evidence.Citation) {
	for _, f := range s.findings(ids) {
		if len(f.Citations) > 0 {
			list = append(list, f.Citations[0])
		}
	}
	return list
}

// accept takes the answer of the question that is asked and goes to the next.
// On another thing of the page it follows that.
func (m *Model) accept() tea.Cmd {
	s := m.scene
	b, walk, _ := s.walk()
	if b == nil {
		return nil
	}
	replies := walk.Replies()
	at := min(s.notes.walked(s.now, s.book), len(replies))
	m.current()
	if key := m.here().key; at >= len(replies) || key != stepKey(replies[at].Step) {
		return m.enter()
	}
	s.notes.setWalked(s.now, s.book, at+1)
	m.here().key = ""
	m.changed()
	return nil
}

// backStep goes back one question; from the first, to the screen before.
func (m *Model) backStep() tea.Cmd {
	s := m.scene
	b, walk, _ := s.walk()
	if b == nil {
		return m.back()
	}
	at := min(s.notes.walked(s.now, s.book), len(walk.Replies()))
	if at == 0 {
		return m.back()
	}
	s.notes.setWalked(s.now, s.book, at-1)
	m.here().key = ""
	m.changed()
	return nil
}

// override asks for an answer to the chosen question, and for a note.
func (m *Model) override() tea.Cmd {
	s := m.scene
	b, walk, _ := s.walk()
	if b == nil {
		return nil
	}
	replies := walk.Replies()
	m.current()
	i := min(s.notes.walked(s.now, s.book), len(replies)-1)
	for j, r := range replies {
		if stepKey(r.Step) == m.here().key {
			i = j
		}
	}
	if i < 0 {
		return nil
	}
	step := replies[i].Step
	as := func(a incident.Answer) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			m.prompt = &prompt{
				ask: lang.Sprintf("%s, because: ", lang.Word(string(a))),
				enter: func(m *Model, note string) tea.Cmd {
					m.said(step, i, Said{Answer: a, Note: note})
					return nil
				},
			}
			return nil
		}
	}
	m.prompt = &prompt{
		ask: lang.T("your answer: y yes   n no   u unknown   e what the evidence says   Esc"),
		single: map[string]func(*Model) tea.Cmd{
			"y": as(incident.Yes), "n": as(incident.No), "u": as(incident.DontKnow),
			"e": func(m *Model) tea.Cmd { m.said(step, i, Said{}); return nil },
		},
	}
	return nil
}

// said notes an answer to the i-th question and goes back to it, since what
// follows may be another way.
func (m *Model) said(step string, i int, a Said) {
	s := m.scene
	s.notes.say(s.now, s.book, step, a)
	if s.notes.walked(s.now, s.book) > i {
		s.notes.setWalked(s.now, s.book, i)
	}
	m.here().key = stepKey(step)
	m.changed()
	m.note = lang.Sprintf("%s accepts it and goes on; the note goes into the exported report", keyName("enter"))
}

// booksPage lists the runbooks.
func booksPage(s *scene, _ place) *page {
	p := &page{head: []text{say(dim, lang.T("Which runbook shall be walked?")), nil}}
	if s.books == nil {
		return p
	}
	for _, b := range s.books.Books() {
		tn := plain
		if b.Name == s.book {
			tn = accent
			p.first = "book " + b.Name
		}
		r := row{key: "book " + b.Name}
		p.thing(r, nil, s.width-2, text{{tn, lang.T(b.Title)}, {dim, "  " + b.Name}})
		for _, line := range paragraphs(lang.T(b.About)) {
			p.thing(r, text{{plain, "  "}}, s.width-2, say(dim, line))
		}
	}
	return p
}

func (m *Model) chooseBook() tea.Cmd {
	m.push(place{screen: onBooks})
	return nil
}

// takeBook opens a runbook.
func (m *Model) takeBook(name string) {
	m.book = name
	m.stack = []place{{screen: onRunbook}}
	m.changed()
	m.note = lang.Sprintf("runbook: %s", name)
}

// remarksPage lists the engineer's notes.
func remarksPage(s *scene, _ place) *page {
	p := &page{none: lang.T("There are no notes yet: m on anything makes one.")}
	for i, r := range s.notes.Remarks {
		tn := info
		switch r.Stance {
		case incident.For:
			tn = good
		case incident.Against:
			tn = bad
		}
		screen, arg, _ := strings.Cut(r.Screen, " ")
		rw := row{
			key: fmt.Sprintf("remark %d", i), cites: r.Cites, copy: r.Note + " (" + r.About + ")",
			links: []link{{name: r.About, to: place{screen: screenID(screen), arg: arg, key: r.Key}}},
		}
		p.thing(rw, text{{tn, s.bookmark + " " + stanceWord(r.Stance) + "  "}}, s.width-2, text{{strong, incident.Visible(r.Note) + "  "}, {dim, r.About + " "}}.with(s.seen(r.Cites, 2)))
	}
	return p
}
