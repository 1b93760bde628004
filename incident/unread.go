package incident

import (
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/lang"
)

// unreadNamed is how many unread sources stand by name under the verdict; the
// rest is counted, and listed among the sources.
const unreadNamed = 2

// unread returns the sources of which evidence was not read, and how many more
// than those there are.
func (r *Report) unread() (named []Source, more int) {
	for i := range r.Sources {
		switch {
		case r.Sources[i].Unread == "":
		case len(named) < unreadNamed:
			named = append(named, r.Sources[i])
		default:
			more++
		}
	}
	return named, more
}

// unread says under the verdict that it rests on less than was given.
func (t *text) unread() {
	named, more := t.index.report.unread()
	if len(named) == 0 {
		return
	}
	words := t.words(yellow, lang.T("not everything was read:"))
	for i := range named {
		end := ";"
		if i == len(named)-1 && more == 0 {
			end = ""
		}
		words = append(words, t.cite(evidence.Citation{Source: named[i].Path}))
		words = append(words, t.words(plain, named[i].Unread+end)...)
	}
	if more > 0 {
		words = append(words, t.words(plain, lang.Sprintf("and %s more", grouped(more)))...)
	}
	words = append(words, t.words(dim, lang.T("(see SOURCES)"))...)
	t.item(t.paint(yellow, "!")+" ", "  ", words...)
}

func (m *markdown) unread() {
	named, more := m.index.report.unread()
	if len(named) == 0 {
		return
	}
	line := ""
	for i := range named {
		line += prefixed("; ", code("["+named[i].Path+"]")+" "+escape(named[i].Unread))
	}
	if more > 0 {
		line += "; " + lang.Sprintf("and %s more", grouped(more))
	}
	m.line(nil, "\n**%s**%s %s", lang.T("Not everything was read:"), line[1:], lang.T("(see Sources)"))
}
