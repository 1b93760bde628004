package tui

import (
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// page is what a screen shows: rows under each other, of which the window shows
// a part. Rows that share a key are one thing, on which the cursor rests.
type page struct {
	head  []text // stays while the rows scroll
	rows  []row
	none  string // said in place of rows
	lists bool   // rows are a list of things: filters apply to it
	first string // key that the cursor begins at; empty: the first
}

// row is one line of a page.
type row struct {
	line text
	draw func() text // makes the line when it is needed, where a list is long

	key   string // the thing that it belongs to; empty: the cursor passes it by
	links []link // where Enter leads; the first is the usual way
	cites []evidence.Citation
	copy  string // what y copies; empty: the row's text
	find  string // ID of the finding that it tells of: n and N stop here
	alarm bool   // suspicious: e stops here
}

// text returns the row's line.
func (r *row) text() text {
	if r.draw != nil {
		return r.draw()
	}
	return r.line
}

// add appends a line.
func (p *page) add(line text) { p.rows = append(p.rows, row{line: line}) }

// gap appends an empty line, unless the page has none or ends with one.
func (p *page) gap() {
	if n := len(p.rows); n > 0 && (len(p.rows[n-1].line) > 0 || p.rows[n-1].draw != nil) {
		p.rows = append(p.rows, row{})
	}
}

// title appends the heading of a section.
func (p *page) title(s string) {
	p.gap()
	p.add(say(heading, s))
}

// thing appends a paragraph that the cursor can rest on. Its first line begins
// with first, the others with as many spaces.
func (p *page) thing(r row, first text, width int, body text) {
	indent := strings.Repeat(" ", first.cells())
	for i := range body {
		if most := maxLines * max(1, width); len(body[i].text) > most {
			body[i].text = middle(body[i].text, most, " … ")
		}
	}
	lines := append(append(text{}, first...), body...).wrap(width, indent)
	for i, line := range lines {
		s := r
		s.line = line
		if i > 0 {
			s.find, s.alarm = "", false
		}
		p.rows = append(p.rows, s)
	}
}

// maxLines bounds the lines of one paragraph, so that a name that is a page long
// leaves room for others; the middle of what it says is left out.
const maxLines = 40

// para appends a paragraph that the cursor passes by.
func (p *page) para(first text, width int, body text) { p.thing(row{}, first, width, body) }

// link leads somewhere.
type link struct {
	name string
	to   place
	at   *evidence.Citation // to the text itself
}

// place is where the engineer is: a screen, the thing it is about, and where
// the cursor stands.
type place struct {
	screen  screenID
	arg     string // what it is about, where a screen needs to know
	key     string // thing that the cursor is on
	top     int    // first row shown
	order   int    // of the screen's sorts
	reverse bool
	query   string // what was searched for
}

// same reports whether two places show the same page.
func (p place) same(o place) bool {
	return p.screen == o.screen && p.arg == o.arg && p.order == o.order && p.reverse == o.reverse
}

// index returns the first row of a thing, -1 if the page has none.
func (p *page) index(key string) int {
	if key == "" {
		return -1
	}
	for i := range p.rows {
		if p.rows[i].key == key {
			return i
		}
	}
	return -1
}

// end returns the row after the last of the thing that begins at row i.
func (p *page) end(i int) int {
	key := p.rows[i].key
	for i++; i < len(p.rows) && p.rows[i].key == key; i++ {
	}
	return i
}

// next returns the first row of the next thing from row i in a direction for
// which ok holds; -1 if there is none.
func (p *page) next(i, by int, ok func(i int) bool) int {
	from := ""
	if i >= 0 && i < len(p.rows) {
		from = p.rows[i].key
	}
	for j := i + by; j >= 0 && j < len(p.rows); j += by {
		r := &p.rows[j]
		if r.key == "" || r.key == from {
			continue
		}
		first := j == 0 || p.rows[j-1].key != r.key
		if first && (ok == nil || ok(j)) {
			return j
		}
	}
	return -1
}

// selectable reports whether the cursor can rest anywhere.
func (p *page) selectable() bool {
	for i := range p.rows {
		if p.rows[i].key != "" {
			return true
		}
	}
	return false
}

// said returns all that a thing says, in plain text, its lines joined.
func (p *page) said(i int) string {
	if p.end(i) == i+1 {
		return p.rows[i].text().plain()
	}
	var b strings.Builder
	for j := i; j < p.end(i); j++ {
		if j > i {
			b.WriteByte(' ')
		}
		b.WriteString(strings.TrimSpace(p.rows[j].text().plain()))
	}
	return b.String()
}

// has reports whether a thing says a word, whatever its case.
func (p *page) has(i int, lower string) bool {
	return strings.Contains(strings.ToLower(p.said(i)), lower)
}
