package incident

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// cells returns how many columns of a terminal s takes. Colours of our own
// (SGR sequences) take none; texts from outside contain none, see Visible.
func cells(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '\x1b' {
			if end := strings.IndexByte(s[i:], 'm'); end > 0 {
				i += end
				continue
			}
		}
		if s[i] < 0x80 {
			n++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		n += runeCells(r)
		i += size - 1
	}
	return n
}

func runeCells(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

func hasWide(s string) bool {
	for _, r := range s {
		if runeCells(r) == 2 {
			return true
		}
	}
	return false
}

// pieces splits a word where a line may break: beside wide characters, which
// are written without spaces, but not before what closes or after what opens.
func pieces(w string) []string {
	if !hasWide(w) {
		return []string{w}
	}
	var list []string
	start, before := 0, rune(0)
	for i, r := range w {
		if i > start && (runeCells(r) == 2 || runeCells(before) == 2) && runeCells(r) > 0 && !closes(r) && !opens(before) {
			list = append(list, w[start:i])
			start = i
		}
		before = r
	}
	return append(list, w[start:])
}

// closes reports characters that may not begin a line.
func closes(r rune) bool {
	return strings.ContainsRune("，。、；：？！）」』】》〉”’…—·％%,.;:?!)]}/", r)
}

// opens reports characters that may not end a line.
func opens(r rune) bool { return strings.ContainsRune("（「『【《〈“‘([{", r) }

// shorten cuts the middle out of s so that it takes at most n columns. The ends
// of names tell them apart, so both stay, the end a little longer.
func shorten(s string, n int, ellipsis string) string {
	if cells(s) <= n {
		return s
	}
	keep := n - cells(ellipsis)
	if keep < 2 {
		return headCells(s, max(n, 0))
	}
	tail := keep * 3 / 5
	return headCells(s, keep-tail) + ellipsis + tailCells(s, tail)
}

// headCells returns the longest beginning of s that takes at most n columns.
func headCells(s string, n int) string {
	for i, r := range s {
		if n -= runeCells(r); n < 0 {
			return s[:i]
		}
	}
	return s
}

// tailCells returns the longest end of s that takes at most n columns and does
// not begin with a mark that belongs to the character before it.
func tailCells(s string, n int) string {
	start, end := len(s), len(s)
	for end > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:end])
		if n -= runeCells(r); n < 0 {
			break
		}
		end -= size
		if runeCells(r) > 0 {
			start = end
		}
	}
	return s[start:]
}
