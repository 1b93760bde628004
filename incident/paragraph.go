package incident

import "strings"

// Paragraph breaks a text into lines of at most width columns of a terminal,
// first before its first line and rest before the others. Texts without spaces
// break between characters.
func Paragraph(first, rest, text string, width int) string {
	p := page{width: width, glyphs: unicodeGlyphs}
	p.item(first, rest, p.words(plain, text)...)
	return strings.TrimSuffix(p.String(), "\n")
}

// Cells returns how many columns of a terminal s takes.
func Cells(s string) int { return cells(s) }

// Shorten cuts the end off s so that it takes at most n columns.
func Shorten(s string, n int) string { return headCells(s, max(n, 0)) }
