package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// helpPage lists the keys, those of the screen that was open first, and the
// words that firebreak uses.
func (m *Model) helpPage(s *scene, _ place) *page {
	p := &page{}
	p.head = []text{say(dim, lang.Sprintf("%s searches by a word or by a key; %s goes back", m.keyOf("search"), m.keyOf("back")))}
	open := onVerdict
	if len(m.stack) > 1 {
		open = m.stack[len(m.stack)-2].screen
	}
	list := func(title string, ok func(*binding) bool) {
		begun := false
		for i := range m.keys {
			b := &m.keys[i]
			if !ok(b) {
				continue
			}
			if !begun {
				p.title(title)
				begun = true
			}
			first := text{{accent, pad(m.inWords(b.all()), 16, m.glyphs.ellipsis) + " "}}
			p.thing(row{key: "key " + b.id}, first, s.width-2, say(plain, lang.T(b.does)))
		}
	}
	list(lang.Sprintf("ON THIS SCREEN: %s", strings.ToUpper(m.screen(open).title())), func(b *binding) bool { return len(b.on) > 0 && b.worksOn(open) })
	list(lang.T("EVERYWHERE"), func(b *binding) bool { return len(b.on) == 0 })
	for i := range m.table[:numbered] {
		id := m.table[i].id
		if id != open {
			list(strings.ToUpper(m.table[i].title()), func(b *binding) bool { return len(b.on) > 0 && b.worksOn(id) })
		}
	}
	for _, group := range incident.Terms() {
		p.title(strings.ToUpper(lang.T(group.Title)))
		for _, t := range group.Terms {
			p.thing(row{key: "word " + group.Title + t.Name}, text{{info, t.Name + "  "}}, s.width-2, text{{plain, lang.T(t.Means)}, {dim, " " + lang.T(t.Says)}})
		}
	}
	return p
}

// palettePage lists the commands that have what is written, with their keys.
func (m *Model) palettePage(s *scene, at place) *page {
	p := &page{none: lang.T("No command has these words.")}
	p.head = []text{{{accent, ": "}, {plain, at.arg}, {mark, " "}}, nil}
	words := strings.Fields(strings.ToLower(at.arg))
	for i := range m.table[:numbered] {
		sc := &m.table[i]
		if matches(sc.title()+" "+sc.name, words) {
			p.rows = append(p.rows, row{
				key: "screen " + string(sc.id), links: []link{{to: place{screen: sc.id}}},
				line: text{{accent, pad(string(rune('1'+i)), 12, "")}, {plain, lang.Sprintf("screen: %s", sc.title())}},
			})
		}
	}
	came := onVerdict
	if len(m.stack) > 1 {
		came = m.stack[len(m.stack)-2].screen
	}
	for i := range m.keys {
		b := &m.keys[i]
		if b.id == "palette" || b.id == "screen" || !b.worksOn(came) || !matches(lang.T(b.does)+" "+b.does+" "+b.id, words) {
			continue
		}
		p.rows = append(p.rows, row{key: "do " + b.id, line: text{{accent, pad(m.inWords(b.shown()), 12, "")}, {plain, lang.T(b.does)}}})
	}
	if s.books != nil {
		for _, b := range s.books.Books() {
			if matches("runbook "+b.Name+" "+b.Title, words) {
				p.rows = append(p.rows, row{
					key: "book " + b.Name, line: text{{accent, pad("", 12, "")}, {plain, lang.Sprintf("runbook: %s", b.Title)}, {dim, "  " + b.Name}},
				})
			}
		}
	}
	return p
}

func matches(s string, words []string) bool {
	s = strings.ToLower(s)
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}

// palette opens the list of commands.
func (m *Model) palette() tea.Cmd {
	m.push(place{screen: onPalette})
	return nil
}

// paletteKey writes into the palette or takes what is chosen; false if the key
// is one that moves.
func (m *Model) paletteKey(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	at := m.here()
	switch name := msg.String(); {
	case name == "enter":
		return m.take(), true
	case name == "backspace":
		if at.arg == "" {
			return m.back(), true
		}
		r := []rune(at.arg)
		at.arg, at.key, at.top = string(r[:len(r)-1]), "", 0
		return nil, true
	case name == "ctrl+u":
		at.arg, at.key, at.top = "", "", 0
		return nil, true
	case msg.Text != "" && len(at.arg) < 200:
		at.arg, at.key, at.top = at.arg+incident.Visible(msg.Text), "", 0
		return nil, true
	}
	return nil, false
}

// take does what is chosen in the palette.
func (m *Model) take() tea.Cmd {
	rows := m.chosen()
	m.back()
	if len(rows) == 0 {
		return nil
	}
	kind, what, _ := strings.Cut(rows[0].key, " ")
	switch kind {
	case "screen":
		for i := range m.table[:numbered] {
			if string(m.table[i].id) == what {
				return m.number(i)
			}
		}
	case "book":
		m.takeBook(what)
	case "do":
		return m.binding(what).do(m)
	}
	return nil
}
