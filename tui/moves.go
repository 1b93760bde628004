package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/firebreak-io/firebreak/lang"
)

// current returns the page that is shown, with the cursor on it.
func (m *Model) current() (*page, geometry) {
	g := m.geometry()
	p := m.page(*m.here(), g.list)
	m.settle(p, g)
	return p, g
}

// put sets the cursor on the thing that begins at row i.
func (m *Model) put(p *page, g geometry, i int) {
	if i < 0 {
		return
	}
	m.here().key = p.rows[i].key
	m.side = 0
	m.reveal(p, g)
}

// move moves the cursor by one thing, or the page by one line where it has none.
func move(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		p, g := m.current()
		at := m.here()
		i := p.index(at.key)
		if i < 0 {
			m.scroll(p, g, by)
			return nil
		}
		// A thing taller than the window is read line by line.
		room := max(1, g.body-len(p.head))
		if end := p.end(i); by > 0 && end-i > room && end > at.top+room {
			m.scroll(p, g, 1)
			return nil
		}
		if by < 0 && p.end(i)-i > room && i < at.top {
			m.scroll(p, g, -1)
			return nil
		}
		j := p.next(i, by, nil)
		if j < 0 {
			m.scroll(p, g, by)
			return nil
		}
		m.put(p, g, j)
		return nil
	}
}

func (m *Model) scroll(p *page, g geometry, by int) {
	at := m.here()
	room := max(1, g.body-len(p.head))
	at.top = max(0, min(at.top+by, len(p.rows)-room))
}

// leap moves by a window.
func leap(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		p, g := m.current()
		room := max(1, g.body-len(p.head)-1)
		m.scroll(p, g, by*room)
		i := p.index(m.here().key)
		if i < 0 {
			return nil
		}
		goal := max(0, min(len(p.rows)-1, i+by*room))
		best := -1
		for j := p.next(-1, 1, nil); j >= 0; j = p.next(j, 1, nil) {
			if best < 0 || j <= goal {
				best = j
			}
			if j > goal {
				break
			}
		}
		if by > 0 && best <= i { // the next thing is further than a window
			if j := p.next(i, 1, nil); j >= 0 {
				best = j
			}
		}
		m.put(p, g, best)
		return nil
	}
}

// edge goes to the first or the last thing.
func edge(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		p, g := m.current()
		if by < 0 {
			m.put(p, g, p.next(-1, 1, nil))
			m.here().top = 0
			return nil
		}
		m.put(p, g, p.next(len(p.rows), -1, nil))
		m.scroll(p, g, len(p.rows))
		return nil
	}
}

// step goes to the next or previous finding, or place of what is searched for,
// round the end.
func step(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		p, _ := m.current()
		ok, none := func(i int) bool { return p.finding(i) }, lang.T("no finding on this screen")
		if m.here().query != "" {
			ok, none = m.hit(p), lang.Sprintf("%s is nowhere on this screen", m.here().query)
		}
		m.round(by, ok, none)
		return nil
	}
}

// finding reports whether the thing at row i tells of a finding.
func (p *page) finding(i int) bool {
	for j := i; j < p.end(i); j++ {
		if p.rows[j].find != "" {
			return true
		}
	}
	return false
}

func (p *page) alarming(i int) bool {
	for j := i; j < p.end(i); j++ {
		if p.rows[j].alarm {
			return true
		}
	}
	return false
}

// suspicious goes to the next thing that does not look right.
func (m *Model) suspicious() tea.Cmd {
	p, _ := m.current()
	m.round(1, func(i int) bool { return p.alarming(i) }, lang.T("nothing suspicious on this screen"))
	return nil
}

// round goes to the next thing for which ok holds, beginning anew at the end.
func (m *Model) round(by int, ok func(int) bool, none string) {
	p, g := m.current()
	i := p.next(p.index(m.here().key), by, ok)
	if i < 0 {
		from := -1
		if by < 0 {
			from = len(p.rows)
		}
		if i = p.next(from, by, ok); i >= 0 && p.rows[i].key != m.here().key {
			m.note = lang.T("began anew at the other end")
		}
	}
	if i < 0 {
		m.note = none
		return
	}
	m.put(p, g, i)
}

// hit tells which things have what is searched for.
func (m *Model) hit(p *page) func(int) bool {
	word := strings.ToLower(m.here().query)
	return func(i int) bool { return word != "" && p.has(i, word) }
}

// search asks for a word and goes along while it is written.
func (m *Model) search() tea.Cmd {
	before := *m.here()
	m.prompt = &prompt{
		ask: "/",
		change: func(m *Model, word string) {
			at := m.here()
			at.key, at.top, at.query = before.key, before.top, word
			p, g := m.current()
			if word == "" {
				return
			}
			i := p.index(at.key)
			if hit := m.hit(p); i < 0 || !hit(i) {
				if i = p.next(i, 1, hit); i < 0 {
					i = p.next(-1, 1, hit)
				}
			}
			m.put(p, g, i)
		},
		enter: func(m *Model, word string) tea.Cmd {
			if word != "" {
				m.note = "/" + word + "  " + m.hits() + "  " + lang.Sprintf("%s next, %s previous, Esc ends", m.keyOf("next"), m.keyOf("previous"))
			}
			return nil
		},
		leave: func(m *Model) { *m.here() = before },
	}
	return nil
}

// turn opens the next of the numbered screens.
func turn(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		open := m.base()
		i := slices.IndexFunc(m.table[:numbered], func(s screen) bool { return s.id == open })
		return m.number((i + by + numbered) % numbered)
	}
}

func incidentBy(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		n := len(m.scene.report.Incidents)
		if n < 2 {
			m.note = lang.T("there is one incident only")
			return nil
		}
		m.scene.nth = (m.scene.nth + by + n) % n
		for i := range m.stack {
			m.stack[i].key, m.stack[i].top = "", 0
		}
		m.changed()
		return nil
	}
}

// goTo opens a screen on top of the one that is shown.
func goTo(id screenID) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.push(place{screen: id})
		return nil
	}
}

// maxStack bounds how far back one can go.
const maxStack = 64

func (m *Model) push(to place) {
	if m.here().same(to) {
		if to.key != "" {
			m.here().key = to.key
			p, g := m.current()
			m.reveal(p, g)
		}
		return
	}
	if len(m.stack) == maxStack {
		m.stack = slices.Delete(m.stack, 1, 2)
	}
	m.stack = append(m.stack, to)
	m.side = 0
	if to.key != "" {
		p, g := m.current()
		m.reveal(p, g)
	}
}

// back goes to where the engineer came from. What is searched for ends first.
func (m *Model) back() tea.Cmd {
	switch {
	case m.here().query != "":
		m.here().query = ""
	case len(m.stack) > 1:
		m.stack = m.stack[:len(m.stack)-1]
		m.side = 0
	case m.here().screen != onVerdict:
		m.stack[0] = place{screen: onVerdict}
	}
	return nil
}

// chosen returns the thing that the cursor is on: its rows.
func (m *Model) chosen() []row {
	p, _ := m.current()
	i := p.index(m.here().key)
	if i < 0 {
		return nil
	}
	return p.rows[i:p.end(i)]
}

// enter follows the first link of the chosen thing; without one, it opens the
// thing by itself, or the line that is cited.
func (m *Model) enter() tea.Cmd {
	rows := m.chosen()
	if len(rows) == 0 {
		return nil
	}
	if book, ok := strings.CutPrefix(rows[0].key, "book "); ok && m.here().screen == onBooks {
		m.takeBook(book)
		return nil
	}
	for i := range rows {
		if len(rows[i].links) > 0 {
			return m.followLink(rows[i].links[0])
		}
	}
	if m.screen(m.here().screen).detail != nil {
		to := *m.here()
		to.arg, to.key, to.top, to.query = rows[0].key, "", 0, ""
		if m.here().arg == "" {
			m.push(to)
			return nil
		}
	}
	if len(rows[0].cites) > 0 {
		return m.open()
	}
	m.note = lang.T("this leads nowhere further")
	return nil
}

func (m *Model) followLink(l link) tea.Cmd {
	if l.at != nil {
		return m.openAt(*l.at)
	}
	m.push(l.to)
	return nil
}

// links lists where the chosen thing leads.
func (m *Model) links() tea.Cmd {
	rows := m.chosen()
	if len(rows) == 0 {
		return nil
	}
	m.push(place{screen: onLinks})
	return nil
}

// linksOf are all links of the chosen thing of the place before.
func (m *Model) linksOf() []link {
	if len(m.stack) < 2 {
		return nil
	}
	was := m.stack[len(m.stack)-2]
	p := m.page(was, m.geometry().list)
	i := p.index(was.key)
	if i < 0 {
		return nil
	}
	var list []link
	add := func(l link) {
		if !slices.ContainsFunc(list, func(o link) bool { return o.name == l.name && o.to == l.to }) {
			list = append(list, l)
		}
	}
	for j := i; j < p.end(i); j++ {
		for _, l := range p.rows[j].links {
			add(l)
		}
		for _, c := range p.rows[j].cites {
			add(toLine(c))
		}
	}
	return list
}

func (m *Model) linksPage(*scene) *page {
	p := &page{none: lang.T("This leads nowhere further.")}
	for i, l := range m.linksOf() {
		kind := lang.T(m.screen(l.to.screen).name)
		p.rows = append(p.rows, row{
			key: string(rune('a'+i%26)) + l.name, links: []link{l},
			line: text{{info, pad(kind, 10, m.glyphs.ellipsis)}, {plain, l.name}},
		})
	}
	return p
}

// filterIn and filterOut ask for a word.
func (m *Model) filterIn() tea.Cmd  { return m.askFilter(false) }
func (m *Model) filterOut() tea.Cmd { return m.askFilter(true) }

func (m *Model) askFilter(out bool) tea.Cmd {
	ask := lang.T("keep only what has: ")
	if out {
		ask = lang.T("leave out what has: ")
	}
	m.prompt = &prompt{ask: ask, enter: func(m *Model, word string) tea.Cmd {
		f := filter{Text: word, Out: out}
		if on := m.base(); word != "" && !slices.Contains(m.filters[on], f) {
			m.filters[on] = append(m.filters[on], f)
			m.here().top = 0
			m.changed()
		}
		return nil
	}}
	return nil
}

func (m *Model) unfilter() tea.Cmd {
	on := m.base()
	n := len(m.filters[on])
	if n == 0 {
		m.note = lang.T("there is no filter")
		return nil
	}
	m.filters[on] = m.filters[on][:n-1]
	m.changed()
	return nil
}

// filtered returns the page with the things that the filters let through.
func (m *Model) filtered(p *page) *page {
	filters := m.filters[m.base()]
	if len(filters) == 0 {
		return p
	}
	out := *p
	out.rows = nil
	for i := 0; i < len(p.rows); {
		end := i + 1
		if p.rows[i].key == "" {
			out.rows = append(out.rows, p.rows[i])
			i = end
			continue
		}
		end = p.end(i)
		keep := true
		said := strings.ToLower(p.said(i))
		for _, f := range filters {
			if strings.Contains(said, strings.ToLower(f.Text)) == f.Out {
				keep = false
			}
		}
		if keep {
			out.rows = append(out.rows, p.rows[i:end]...)
		}
		i = end
	}
	if !out.selectable() {
		out.rows = nil
		out.none = lang.T("The filters leave nothing.")
	}
	return &out
}

// sort goes to the next order of the screen.
func (m *Model) sort() tea.Cmd {
	at := m.here()
	sorts := m.screen(at.screen).sorts
	if len(sorts) == 0 {
		m.note = lang.T("this screen has one order only")
		return nil
	}
	at.order = (at.order + 1) % len(sorts)
	at.reverse, at.top = false, 0
	m.note = lang.Sprintf("sorted by %s", lang.T(sorts[at.order]))
	return nil
}

func (m *Model) reverseOrder() tea.Cmd {
	at := m.here()
	if len(m.screen(at.screen).sorts) > 0 {
		at.reverse, at.top = !at.reverse, 0
	}
	return nil
}

func scrollSide(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.side = max(0, m.side+by)
		return nil
	}
}

// wheel scrolls; click chooses.
func (m *Model) wheel(msg tea.MouseWheelMsg) {
	by := 3
	if msg.Button == tea.MouseWheelUp {
		by = -3
	}
	p, g := m.current()
	if g.side > 0 && msg.X > g.list {
		m.side = max(0, m.side+by)
		return
	}
	m.scroll(p, g, by)
}

func (m *Model) click(msg tea.MouseClickMsg) tea.Cmd {
	if m.prompt != nil || msg.Button != tea.MouseLeft {
		return nil
	}
	p, g := m.current()
	if msg.Y == g.tabs {
		x := 0
		for i := range m.table[:numbered] {
			x += cells(m.table[i].title()) + 4
			if msg.X < x {
				return m.number(i)
			}
		}
		return nil
	}
	at := m.here()
	i := at.top + msg.Y - g.top - len(p.head)
	if msg.Y < g.top || i < 0 || i >= len(p.rows) || msg.X > g.list || p.rows[i].key == "" {
		return nil
	}
	if p.rows[i].key == at.key {
		return m.enter()
	}
	at.key = p.rows[i].key
	return nil
}

// nextTheme goes through the themes.
func (m *Model) nextTheme() tea.Cmd {
	i := slices.IndexFunc(palettes, func(p palette) bool { return p.name == m.theme.name })
	m.theme = newTheme(palettes[(i+1)%len(palettes)])
	m.cfg.Theme = m.theme.name
	m.note = lang.Sprintf("theme: %s", lang.T(m.theme.name))
	return nil
}

// Leave is a message that ends the screen as its key does, from outside: the
// process was asked to end, and there is nobody to answer.
type Leave struct{}

// leave keeps the case and quits.
func (m *Model) leave() tea.Cmd {
	m.quit = true
	if m.cancel != nil {
		m.cancel()
	}
	if m.cfg.Host.Save == nil {
		return tea.Quit
	}
	save, c := m.cfg.Host.Save, m.kept()
	return func() tea.Msg { return doneMsg{err: save(c)} }
}

// interrupt ends reading, or the program.
func (m *Model) interrupt() tea.Cmd {
	if m.loading && !m.stopping {
		m.stopping = true
		m.cancel()
		m.note = lang.Sprintf("stopping; %s once more quits", keyName("ctrl+c"))
		return nil
	}
	return m.leave()
}

// headline is what is pasted into the channel.
func (m *Model) headline() string {
	in := m.scene.now
	if in == nil {
		return ""
	}
	return string(in.Label) + " (" + string(in.Certainty) + "): " + in.Headline
}
