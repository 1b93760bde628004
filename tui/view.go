package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// View draws the frame.
func (m *Model) View() tea.View {
	v := tea.NewView(m.Frame())
	v.AltScreen = true
	v.WindowTitle = "firebreak " + incident.Visible(m.cfg.Name)
	if m.cfg.Mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

// pageKey is all that a page depends on besides what [Model.changed] brings up
// to date.
type pageKey struct {
	place  place
	detail string
	width  int
}

// geometry is where things stand on the screen.
type geometry struct {
	top, body  int // lines above the page, and of the page
	list, side int // columns of the list, and of the detail beside it; 0: none
	tabs       int // line of the tabs; -1: none
	chips      int // line of the filters; -1: none
	guide      int // lines above the foot that say what to try next
}

// wide is how many columns a list and its detail need beside each other.
const wide = 110

func (m *Model) geometry() geometry {
	g := geometry{list: m.width, tabs: -1, chips: -1}
	if m.height >= 4 {
		g.top = 1
	}
	if m.height >= 8 {
		g.tabs = g.top
		g.top += 2
	}
	if len(m.filters[m.base()]) > 0 && m.height >= 8 {
		g.chips = g.top - 1
		g.top++
		g.chips = g.top - 2
	}
	foot := 1
	if m.height < 2 {
		foot = 0
	}
	if m.height >= 10 {
		g.guide = len(m.guideLines())
		foot += g.guide
	}
	g.body = max(0, m.height-g.top-foot)
	if sc := m.screen(m.here().screen); m.width >= wide && sc.detail != nil && (m.here().arg == "" || sc.deeper) {
		g.list = m.width * 11 / 20
		g.side = m.width - g.list - 3
	}
	return g
}

// page makes, or finds, the page of a place.
func (m *Model) page(at place, width int) *page {
	at.key, at.top, at.query = "", 0, ""
	return m.made(pageKey{at, "", width}, func(s *scene) *page {
		switch at.screen {
		case onHelp:
			return m.helpPage(s, at)
		case onPalette:
			return m.palettePage(s, at)
		case onLinks:
			return m.linksPage(s)
		case onExcerpt:
			return m.excerptPage(s, at)
		}
		sc := m.screen(at.screen)
		p := sc.list(s, at)
		if p.lists {
			p = m.filtered(p)
		}
		return p
	})
}

// detail makes the page of the thing that the cursor is on, nil if there is none.
func (m *Model) detail(at place, key string, width int) *page {
	sc := m.screen(at.screen)
	if sc.detail == nil || key == "" {
		return nil
	}
	at.key, at.top, at.query = "", 0, ""
	return m.made(pageKey{at, key, width}, func(s *scene) *page { return sc.detail(s, at, key) })
}

// made returns a page from the cache, or makes it.
func (m *Model) made(k pageKey, make func(*scene) *page) *page {
	if p := m.pages[k]; p != nil {
		return p
	}
	s := *m.scene
	g := m.geometry()
	s.width, s.height = k.width, g.body
	p := make(&s)
	if p == nil {
		p = &page{}
	}
	m.pages[k] = p
	return p
}

// Frame draws the screen as lines of exactly the window's width.
func (m *Model) Frame() string {
	if m.width <= 0 || m.height <= 0 {
		return ""
	}
	g := m.geometry()
	lines := make([]string, 0, m.height)
	put := func(t text, on bool) {
		var b strings.Builder
		m.theme.paint(&b, t, m.width, on, m.glyphs.ellipsis)
		lines = append(lines, b.String())
	}
	if g.top > 0 {
		put(m.headLine(), false)
	}
	if g.tabs >= 0 {
		put(m.tabLine(), false)
		if g.chips >= 0 {
			put(m.chipLine(), false)
		}
		put(say(frame, strings.Repeat(m.glyphs.across, m.width)), false)
	}
	lines = append(lines, m.body(g)...)
	for _, line := range m.guideLines()[:g.guide] {
		put(line, true)
	}
	if m.height >= 2 {
		put(m.footLine(), false)
	}
	if len(lines) > m.height {
		lines = lines[:m.height]
	}
	return strings.Join(lines, "\n")
}

// body draws the page, with the detail beside it where there is room.
func (m *Model) body(g geometry) []string {
	at := m.here()
	p := m.page(*at, g.list)
	m.settle(p, g)
	left := m.window(p, at.key, &at.top, g.list, g.body, m.word())
	if g.side == 0 {
		return left
	}
	right := make([]string, 0, g.body)
	if d := m.detail(*at, at.key, g.side); d != nil {
		right = m.window(d, "", &m.side, g.side, g.body, "")
	}
	var b strings.Builder
	for i := range left {
		b.Reset()
		b.WriteString(left[i])
		m.theme.paint(&b, say(frame, " "+m.glyphs.bar+" "), 3, false, "")
		if i < len(right) {
			b.WriteString(right[i])
		} else {
			m.theme.paint(&b, nil, g.side, false, "")
		}
		left[i] = b.String()
	}
	return left
}

// settle brings the cursor onto a thing that the page has.
func (m *Model) settle(p *page, g geometry) {
	at := m.here()
	if at.key != "" && p.index(at.key) < 0 {
		at.key = ""
	}
	if at.key == "" {
		at.key = p.first
		if p.index(at.key) < 0 {
			at.key = ""
			for i := range p.rows {
				if p.rows[i].key != "" {
					at.key = p.rows[i].key
					break
				}
			}
		}
		m.reveal(p, g)
	}
}

// reveal scrolls so that the thing under the cursor can be seen.
func (m *Model) reveal(p *page, g geometry) {
	at := m.here()
	i := p.index(at.key)
	if i < 0 {
		return
	}
	room := max(1, g.body-len(p.head))
	end := p.end(i)
	first := i
	for first > 0 && p.rows[first-1].key == "" && i-first < 2 { // with its heading
		first--
	}
	if p.next(i, -1, nil) < 0 {
		first = 0 // what stands above the first thing is read with it
		if end > room {
			first = i
		}
	}
	if end-at.top > room {
		at.top = end - room
	}
	if p.next(i, 1, nil) < 0 && len(p.rows)-first <= room {
		at.top = max(0, len(p.rows)-room)
	}
	if first < at.top {
		at.top = first
	}
	if i < at.top {
		at.top = i
	}
}

// window draws the part of a page that fits.
func (m *Model) window(p *page, key string, top *int, width, height int, word string) []string {
	lines := make([]string, 0, height)
	put := func(t text, on bool) {
		if len(lines) < height {
			var b strings.Builder
			m.theme.paint(&b, t, width, on, m.glyphs.ellipsis)
			lines = append(lines, b.String())
		}
	}
	head := p.head[:min(len(p.head), max(0, height-1))]
	for _, t := range head {
		put(append(text{{plain, "  "}}, t...), false)
	}
	noted := m.noted()
	room := height - len(lines)
	*top = max(0, min(*top, len(p.rows)-room))
	if len(p.rows) == 0 && p.none != "" {
		for _, line := range say(dim, p.none).wrap(max(1, width-2), "") {
			put(append(text{{plain, "  "}}, line...), false)
		}
	}
	for i := *top; i < len(p.rows) && len(lines) < height; i++ {
		r := &p.rows[i]
		on := key != "" && r.key == key
		gutter := "  "
		if on {
			gutter = m.glyphs.cursor + " "
		}
		if r.key != "" && noted[r.key] && (i == 0 || p.rows[i-1].key != r.key) {
			gutter = gutter[:len(gutter)-1] + m.glyphs.bookmark
		}
		line := append(text{{accent, gutter}}, r.text()...)
		if word != "" {
			line = highlight(line, word)
		}
		put(line, on)
	}
	for len(lines) < height {
		put(nil, false)
	}
	return lines
}

// noted are the things of the place that the engineer noted something on.
func (m *Model) noted() map[string]bool {
	if m.scene.now == nil || len(m.scene.notes.Remarks) == 0 {
		return nil
	}
	at := m.here()
	keys := map[string]bool{}
	for _, r := range m.scene.notes.Remarks {
		if r.Incident == m.scene.now.ID && r.Screen == string(at.screen)+" "+at.arg {
			keys[r.Key] = true
		}
	}
	return keys
}

// word is what is searched for where the engineer is.
func (m *Model) word() string { return m.here().query }

// highlight marks a word in a line, whatever its case.
func highlight(t text, word string) text {
	word = strings.ToLower(word)
	if !strings.Contains(strings.ToLower(t.plain()), word) {
		return t
	}
	var out text
	for _, s := range t {
		rest := s.text
		for {
			low := strings.ToLower(rest)
			i := strings.Index(low, word)
			if i < 0 || len(low) != len(rest) {
				break
			}
			out = out.and(s.tone, rest[:i]).and(mark, rest[i:i+len(word)])
			rest = rest[i+len(word):]
		}
		out = out.and(s.tone, rest)
	}
	return out
}

// headLine says what burns, how sure that is, and whether reading goes on.
func (m *Model) headLine() text {
	s := m.scene
	t := text{{accent, " firebreak"}, {plain, "  "}}
	if in := s.now; in != nil {
		glyph, tn := m.glyphs.verdict(in.Label)
		t = t.and(tn, glyph+" "+strings.ToUpper(string(in.Label)))
		t = t.and(plain, "  "+m.glyphs.certainty(in.Certainty)+" "+lang.Word(string(in.Certainty)))
		if n := len(s.report.Incidents); n > 1 {
			t = t.and(info, "  "+lang.Sprintf("incident %d of %d", s.nth+1, n))
		}
	}
	switch {
	case m.loading:
		t = t.and(warn, "  "+m.reached())
	case m.paused:
		t = t.and(warn, "  "+lang.Sprintf("paused, %d new", m.behind))
	case s.partial:
		t = t.and(warn, "  "+lang.T("read in part"))
	}
	if !s.window.IsZero() {
		t = t.and(chip, " "+s.between(s.window)+" ")
	}
	where := incident.Visible(m.cfg.Name) + " "
	if room := m.width - t.cells() - 2; room >= 8 {
		where = middle(where, room, m.glyphs.ellipsis)
		t = t.and(plain, strings.Repeat(" ", m.width-t.cells()-cells(where))).and(dim, where)
	}
	return t
}

// reached says how far reading is.
func (m *Model) reached() string {
	p := m.progress
	if p.Total > 0 {
		return lang.Sprintf("reading %d %%", min(100, p.Bytes*100/p.Total))
	}
	return lang.T("reading")
}

// tabLine names the screens; as many as fit around the one that is open.
func (m *Model) tabLine() text {
	open := m.base()
	var all []text
	at := 0
	for i := range m.table[:numbered] {
		sc := &m.table[i]
		if sc.id == open {
			at = i
			all = append(all, say(chip, fmt.Sprintf(" %d %s ", i+1, sc.title())))
		} else {
			all = append(all, text{{accent, fmt.Sprintf(" %d", i+1)}, {dim, " " + sc.title() + " "}})
		}
	}
	total := func() (n int) {
		for _, t := range all {
			n += t.cells()
		}
		return n
	}
	if total() > m.width { // closer together
		for i := range all {
			sc := &m.table[i]
			all[i] = text{{accent, fmt.Sprintf("%d", i+1)}, {dim, sc.title() + " "}}
			if i == at {
				all[i] = say(chip, fmt.Sprintf("%d%s", i+1, sc.title())).and(plain, " ")
			}
		}
	}
	if total() > m.width {
		for i := range all {
			if i != at {
				all[i] = say(accent, fmt.Sprintf("%d ", i+1))
			}
		}
	}
	var line text
	for _, t := range all {
		line = append(line, t...)
	}
	if sc := m.screen(m.here().screen); sc.id != open {
		line = line.and(frame, " "+m.glyphs.right+" ").and(chip, " "+sc.title()+" ")
	}
	return line
}

// base is the numbered screen that the engineer came from.
func (m *Model) base() screenID {
	for i := len(m.stack) - 1; i >= 0; i-- {
		for j := range m.table[:numbered] {
			if m.table[j].id == m.stack[i].screen {
				return m.stack[i].screen
			}
		}
	}
	return onVerdict
}

func (m *Model) chipLine() text {
	t := say(dim, " ")
	for _, f := range m.filters[m.base()] {
		word := lang.T("only")
		if f.Out {
			word = lang.T("not")
		}
		t = t.and(chip, " "+word+": "+f.Text+" ").and(plain, " ")
	}
	return t.and(dim, lang.Sprintf("%s takes the last away", m.keyOf("unfilter")))
}

// footLine is the prompt, what was just done, or the keys that matter here.
func (m *Model) footLine() text {
	if m.prompt != nil {
		t := append(text{{plain, " "}}, m.prompt.line(m.width-2, m.glyphs)...)
		if q := m.here().query; q != "" && m.prompt.change != nil {
			t = t.and(dim, "   "+m.hits())
		}
		return t
	}
	if m.note != "" {
		return text{{plain, " "}, {info, m.note}}
	}
	hint := func(id string) text {
		b := m.binding(id)
		if b == nil {
			return nil
		}
		return text{{accent, m.inWords(b.shown())}, {dim, " " + b.short() + "  "}}
	}
	// Help and the way out are always there; of the others what fits before them.
	var last text
	hints := m.hints()
	for len(hints) > 0 && (hints[len(hints)-1] == "help" || hints[len(hints)-1] == "quit") {
		last = append(hint(hints[len(hints)-1]), last...)
		hints = hints[:len(hints)-1]
	}
	t := say(plain, " ")
	for _, id := range hints {
		next := hint(id)
		if t.cells()+next.cells()+last.cells() > m.width+2 {
			break
		}
		t = append(t, next...)
	}
	return append(t, last...)
}

// hits says how many things of the page have what is searched for.
func (m *Model) hits() string {
	at := m.here()
	p := m.page(*at, m.geometry().list)
	n, nth := 0, 0
	hit := m.hit(p)
	for i := p.next(-1, 1, hit); i >= 0; i = p.next(i, 1, hit) {
		n++
		if p.rows[i].key == at.key {
			nth = n
		}
	}
	return lang.Sprintf("%d of %d", nth, n)
}
