package tui

import "strings"

// box frames the rows that fill adds to the page given to it, which is laid out
// for the room inside. The title stands in the upper edge, right at its end.
func (p *page) box(s *scene, tn tone, title, right text, width int, fill func(in *page, width int)) {
	in := &page{}
	room := max(1, width-4)
	fill(in, room)
	if width < 12 { // no room for edges
		p.rows = append(p.rows, in.rows...)
		return
	}
	edge := func(from, to string, title, right text) text {
		t := text{{tn, from + s.across}}
		if len(title) > 0 {
			t = append(append(t.and(plain, " "), title.clip(width-6, s.ellipsis)...), span{plain, " "})
		}
		if n := width - t.cells() - right.cells() - 4; len(right) > 0 && n >= 1 {
			t = append(append(t.and(tn, strings.Repeat(s.across, n)).and(plain, " "), right...), span{plain, " "})
			return t.and(tn, s.across+to)
		}
		return t.and(tn, strings.Repeat(s.across, max(0, width-t.cells()-1))+to)
	}
	key := ""
	if len(in.rows) > 0 {
		key = in.rows[0].key
	}
	p.rows = append(p.rows, row{line: edge(s.topLeft, s.topRight, title, right), key: key})
	for i := range in.rows {
		r := in.rows[i]
		line := r.text().clip(room, s.ellipsis)
		r.draw = nil
		r.line = append(append(text{{tn, s.bar + " "}}, line...), span{plain, strings.Repeat(" ", room-line.cells())}, span{tn, " " + s.bar})
		p.rows = append(p.rows, r)
	}
	last := key
	if len(in.rows) > 0 {
		last = in.rows[len(in.rows)-1].key
	}
	p.rows = append(p.rows, row{line: edge(s.bottomLeft, s.bottomRight, nil, nil), key: last})
}
