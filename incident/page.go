package incident

import (
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/lang"
)

// page lays text out in columns of a terminal. Every line it writes is at most
// width columns wide, but for commands, which are never broken: they are copied.
type page struct {
	strings.Builder
	width int
	glyphs
	color bool
	zone  *time.Location
	day   string // the date that times without one belong to
}

func (p *page) paint(s style, text string) string {
	if !p.color || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// glue stands before a word that goes on without a space from the word before
// it: in a text without spaces a line may break between any two characters.
const glue = "\x00"

// words splits a text where a line may break, each word painted by itself so
// that no colour runs over the end of a line.
func (p *page) words(s style, text string) []string {
	var words []string
	for _, w := range strings.Fields(text) {
		for i, piece := range pieces(w) {
			piece = p.paint(s, piece)
			if i > 0 {
				piece = glue + piece
			}
			words = append(words, piece)
		}
	}
	return words
}

// item writes words as a paragraph: first before its first line, rest before
// the others.
func (p *page) item(first, rest string, words ...string) {
	line, room := first, p.width
	used, empty := cells(first), true
	flush := func() {
		p.WriteString(strings.TrimRight(line, " ") + "\n")
		line, used, empty = rest, cells(rest), true
	}
	for _, w := range words {
		w, glued := strings.CutPrefix(w, glue)
		n := cells(w)
		space := 1
		if glued || opensWide(w) {
			space = 0
		}
		if !empty && used+space+n > room {
			flush()
		}
		if used+n > room {
			w = p.fit(w, room-used)
			n = cells(w)
		}
		switch {
		case empty:
		case glued:
			line, w = joinPaint(line, w)
		case space == 0:
		default:
			line += " "
			used++
		}
		line += w
		used += n
		empty = false
	}
	flush()
}

// opensWide reports a word, painted or not, that begins with a wide bracket, which
// has its space within itself.
func opensWide(w string) bool {
	if end := strings.IndexByte(w, 'm'); end > 0 && strings.HasPrefix(w, "\x1b[") {
		w = w[end+1:]
	}
	return strings.HasPrefix(w, "（")
}

// joinPaint readies a line and the painted word that is glued to it, so that one
// colour is not ended and begun again between them.
func joinPaint(line, w string) (string, string) {
	const end = "\x1b[0m"
	begin := strings.LastIndex(strings.TrimSuffix(line, end), "\x1b[")
	if !strings.HasPrefix(w, "\x1b[") || !strings.HasSuffix(line, end) || begin < 0 {
		return line, w
	}
	color := w[:strings.IndexByte(w, 'm')+1]
	if !strings.HasPrefix(line[begin:], color) {
		return line, w
	}
	return strings.TrimSuffix(line, end), w[len(color):]
}

// fit shortens one word to n columns and keeps its colour whole.
func (p *page) fit(w string, n int) string {
	if !strings.HasPrefix(w, "\x1b[") {
		return shorten(w, n, p.ellipsis)
	}
	end := strings.IndexByte(w, 'm') + 1
	return w[:end] + shorten(strings.TrimSuffix(w[end:], "\x1b[0m"), n, p.ellipsis) + "\x1b[0m"
}

// command writes a command's lines as they are.
func (p *page) command(indent, command string) {
	for line := range strings.SplitSeq(strings.TrimRight(command, "\n"), "\n") {
		p.WriteString(strings.TrimRight(indent+p.paint(cyan, line), " ") + "\n")
	}
}

// heading writes a section's title, in the language in use, after an empty line.
func (p *page) heading(title string) {
	p.WriteString("\n" + p.paint(bold, lang.T(title)) + "\n")
}

// cites returns up to limit citations as words in brackets.
func (p *page) cites(list []evidence.Citation, limit int) []string {
	var words []string
	for i, c := range places(list) {
		if i == limit {
			words = append(words, p.paint(dim, p.ellipsis))
			break
		}
		words = append(words, p.cite(c))
	}
	return words
}

// cite returns one citation. Where it is too long for a line its path loses its
// middle, never its line number.
func (p *page) cite(c evidence.Citation) string {
	c = toFind(c)
	room := p.width - 10
	at := strings.TrimPrefix(c.String(), c.Source)
	at = shorten(at, room/2, p.ellipsis)
	return p.paint(dim, "["+shorten(c.Source, room-cells(at), p.ellipsis)+at+"]")
}

// places returns citations as they are shown, each of them once.
func places(list []evidence.Citation) []evidence.Citation {
	shown := make([]evidence.Citation, 0, len(list))
	for _, c := range list {
		shown = appendNew(shown, toFind(c))
	}
	return shown
}

// toFind leaves out the part of a citation that its line already leads to.
func toFind(c evidence.Citation) evidence.Citation {
	if c.Line > 0 {
		c.Part = ""
	}
	return c
}

// name shortens a name so that a line keeps room for what is said of it.
func (p *page) name(s string) string { return shorten(s, max(16, p.width*3/4), p.ellipsis) }

// clock returns a time of the page's day, or with its date if it is of another.
func (p *page) clock(t time.Time) string {
	t = t.In(p.zone)
	if day := t.Format(time.DateOnly); day != p.day {
		return day + " " + t.Format(time.TimeOnly)
	}
	return t.Format(time.TimeOnly)
}

// span returns the times of a window without its date.
func (p *page) span(from, to time.Time) string {
	switch {
	case from.IsZero() && to.IsZero():
		return ""
	case to.IsZero() || from.Equal(to):
		return p.clock(from)
	case from.IsZero():
		return lang.Sprintf("until %s", p.clock(to))
	}
	a, b := p.clock(from), p.clock(to)
	if a == b {
		return a
	}
	if from, to := from.In(p.zone), to.In(p.zone); from.Format(time.DateOnly) == to.Format(time.DateOnly) {
		b = to.Format(time.TimeOnly)
	}
	return a + p.dash + b
}
