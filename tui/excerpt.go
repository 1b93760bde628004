package tui

import (
	"strconv"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// excerptPage shows the text around a citation, the cited line marked.
func (m *Model) excerptPage(s *scene, at place) *page {
	x := m.excerpt[at.arg]
	p := &page{head: []text{{{cite, "[" + at.arg + "]"}}}}
	switch {
	case x == nil || !x.came:
		p.none = lang.T("Opening …")
		return p
	case x.err != nil:
		p.none = lang.Sprintf("It cannot be shown: %s", incident.Visible(x.err.Error()))
		return p
	}
	digits := len(strconv.Itoa(x.First + len(x.Lines)))
	for i, line := range x.Lines {
		n := x.First + i
		number := padLeft(strconv.Itoa(n), digits) + " "
		numbers, words := dim, plain
		if n == x.At {
			numbers, words = accent, strong
		}
		c := x.cite
		c.Line, c.Part = n, ""
		r := row{key: "line " + strconv.Itoa(n), copy: line}
		r.cites = append(r.cites, c)
		if n == x.At {
			r.find = "cited" // n finds the way back to it
		}
		p.thing(r, text{{numbers, number}}, s.width-2, say(words, clamp(line, 40*max(1, s.width))))
	}
	if x.At > 0 {
		p.first = "line " + strconv.Itoa(x.At)
	}
	if x.More {
		p.para(say(dim, ""), s.width-2, say(dim, lang.T("The file goes on.")))
	}
	return p
}

// clamp bounds a line that would fill the screen many times over, in columns.
func clamp(s string, n int) string {
	if cells(s) <= n {
		return s
	}
	return middle(s, n, " … ")
}
