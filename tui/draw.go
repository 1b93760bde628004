package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// tone says what a piece of text means; the theme decides how that looks.
type tone uint8

// The tones.
const (
	plain tone = iota
	dim
	strong
	heading // of a section
	bad     // burning; also the trigger's colour
	warn    // made it worse; the amplifier's
	hurt    // broke because of it; the victim's
	good
	info   // numbers, names
	cite   // where it was seen
	accent // what the eye should find: the current step, a key
	chip   // a filter, a tab that is open
	frame  // lines of boxes and axes
	mark   // what a search found
	chosen // the row that the cursor is on
	tones
)

// span is text in one tone.
type span struct {
	tone tone
	text string
}

// text is a line of spans.
type text []span

func say(t tone, s string) text { return text{{t, s}} }

// and appends spans.
func (t text) and(tn tone, s string) text { return append(t, span{tn, s}) }

func (t text) plain() string {
	if len(t) == 1 {
		return t[0].text
	}
	var b strings.Builder
	for _, s := range t {
		b.WriteString(s.text)
	}
	return b.String()
}

func (t text) cells() int {
	n := 0
	for _, s := range t {
		n += cells(s.text)
	}
	return n
}

// cells returns how many columns s takes.
func cells(s string) int {
	for i := range len(s) {
		if s[i] >= 0x80 || s[i] < 0x20 {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// cut returns the beginning of s that takes at most n columns, ending in an
// ellipsis if something is left out.
func cut(s string, n int, ellipsis string) string {
	if n <= 0 {
		return ""
	}
	if len(s) <= n || cells(s) <= n {
		return s
	}
	if n <= cells(ellipsis) {
		return ansi.Truncate(s, n, "")
	}
	return ansi.Truncate(s, n, ellipsis)
}

// middle shortens s to n columns by leaving out its middle: the ends of names
// tell them apart.
func middle(s string, n int, ellipsis string) string {
	if cells(s) <= n {
		return s
	}
	keep := n - cells(ellipsis)
	if keep < 4 {
		return cut(s, n, "")
	}
	tail := keep * 3 / 5
	return ansi.Truncate(s, keep-tail, "") + ellipsis + ansi.TruncateLeft(s, cells(s)-tail, "")
}

// notFirst are signs that do not stand at the beginning of a line.
const notFirst = "，。、；：！？）」』】》%％…,.;:!?)"

// wideHead returns the longest beginning of s that takes at most n columns and
// ends beside a wide character, where a line may break; empty if there is none.
func wideHead(s string, n int) string {
	best, used, before := 0, 0, 1
	for i, r := range s {
		w := 1
		if r >= 0x1100 {
			w = ansi.StringWidth(string(r))
		}
		if i > 0 && (w == 2 || before == 2) && !strings.ContainsRune(notFirst, r) {
			best = i
		}
		if used += w; used > n {
			return s[:best]
		}
		before = w
	}
	return s[:best]
}

// headOf returns the longest beginning of s that takes at most n columns, and at
// least one character. It looks no further than that.
func headOf(s string, n int) string {
	i, used := 0, 0
	for i < len(s) {
		if s[i] < 0x80 && (i+1 == len(s) || s[i+1] < 0x80) { // nothing joins two of these
			if used++; used > n {
				break
			}
			i++
			continue
		}
		cluster, w := ansi.FirstGraphemeCluster(s[i:], ansi.GraphemeWidth)
		if used += w; used > n && i > 0 || cluster == "" {
			break
		}
		i += len(cluster)
	}
	return s[:i]
}

// pad returns s in exactly n columns.
func pad(s string, n int, ellipsis string) string {
	s = cut(s, n, ellipsis)
	if w := cells(s); w < n {
		s += strings.Repeat(" ", n-w)
	}
	return s
}

// padLeft returns s in n columns, at their right end.
func padLeft(s string, n int) string {
	if w := cells(s); w < n {
		return strings.Repeat(" ", n-w) + s
	}
	return s
}

// clip returns the spans that fit into n columns.
func (t text) clip(n int, ellipsis string) text {
	if t.cells() <= n {
		return t
	}
	var out text
	room := n
	for _, s := range t {
		w := cells(s.text)
		if w > room || w == room && out.cells()+w < t.cells() && room > 0 {
			out = append(out, span{s.tone, cut(s.text+"  ", room, ellipsis)})
			return out
		}
		out = append(out, s)
		room -= w
	}
	return out
}

// wrap lays spans out in lines of at most n columns, breaking at spaces, and
// inside words that are longer than a line. The lines after the first begin
// with indent.
func (t text) wrap(n int, indent string) []text {
	if n < 1 {
		n = 1
	}
	if cells(indent) > n/2 {
		indent = ""
	}
	var lines []text
	var line text
	used, begun := 0, false
	flush := func() {
		lines = append(lines, line)
		line, used, begun = nil, 0, false
		if indent != "" {
			line, used = text{{plain, indent}}, cells(indent)
		}
	}
	put := func(tn tone, s string) {
		if k := len(line) - 1; k >= 0 && line[k].tone == tn {
			line[k].text += s
		} else {
			line = append(line, span{tn, s})
		}
		used += cells(s)
	}
	for _, s := range t {
		rest := s.text
		for rest != "" {
			word, after := rest, ""
			if i := strings.IndexByte(rest, ' '); i >= 0 {
				word, after = rest[:i], rest[i:]
				for after != "" && after[0] == ' ' && !begun && word == "" { // leading spaces are meant
					break
				}
			}
			if word != "" {
				w := cells(word)
				if used+w > n && begun {
					if head := wideHead(word, n-used); head != "" { // no spaces between the characters: any may end a line
						put(s.tone, head)
						word = word[len(head):]
						w -= cells(head)
					}
					flush()
				}
				for used+w > n {
					head := headOf(word, max(1, n-used))
					if wide := wideHead(word, n-used); wide != "" {
						head = wide
					}
					if head == "" {
						break
					}
					put(s.tone, head)
					word = word[len(head):]
					w -= cells(head)
					flush()
				}
				if word != "" {
					put(s.tone, word)
					begun = true
				}
			}
			rest = after
			spaces := len(rest) - len(strings.TrimLeft(rest, " "))
			if spaces > 0 {
				if used+spaces < n && (begun || len(lines) == 0) {
					put(s.tone, rest[:spaces])
				} else if begun {
					flush()
				}
				rest = rest[spaces:]
			}
		}
	}
	if len(line) > 0 && (begun || len(lines) == 0) {
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		lines = append(lines, text{})
	}
	return lines
}
