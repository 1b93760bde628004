// Package document reads YAML files that people write, so that each thing that is
// wrong with one is told with its place, the line itself and the word that was
// meant, and all of them at once.
package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// Place is where something stands in a file, from 1.
type Place struct{ Line, Column int }

// File is the text of a document, kept for its messages.
type File struct {
	Name  string
	Lines []string
}

// NewFile makes a file of a text.
func NewFile(name string, text []byte) *File {
	return &File{Name: name, Lines: strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")}
}

// Problem is one thing wrong with a document, with its place.
type Problem struct {
	File    string
	Line    int // from 1; 0 if it is about the whole file
	Column  int
	Text    string
	Excerpt string // the line itself
}

// String is "file:line:column: text" and the line with a mark under its column.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": " + p.Text)
	if p.Excerpt != "" {
		fmt.Fprintf(&b, "\n    %s\n    %s^", p.Excerpt, strings.Repeat(" ", max(0, p.Column-1)))
	}
	return b.String()
}

// Problems are all that is wrong. It is an error.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Sorted returns the problems in the order of the text.
func (ps Problems) Sorted() Problems {
	ps = slices.Clone(ps)
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return ps
}

// Problem makes a problem at a place of the file.
func (f *File) Problem(at Place, format string, args ...any) Problem {
	p := Problem{File: f.Name, Line: at.Line, Column: at.Column, Text: lang.Sprintf(format, args...)}
	if at.Line >= 1 && at.Line <= len(f.Lines) {
		line := f.Lines[at.Line-1]
		p.Excerpt = Clip(incident.Visible(line), 160)
		p.Column = min(p.Column, len(line)+1)
	}
	return p
}

// Find returns where a text stands at or after a place.
func (f *File) Find(at Place, text string) Place {
	text, _, _ = strings.Cut(text, "\n")
	for i := max(1, at.Line); i <= len(f.Lines); i++ {
		from := 0
		if i == at.Line {
			from = min(max(0, at.Column-1), len(f.Lines[i-1]))
		}
		if j := strings.Index(f.Lines[i-1][from:], text); j >= 0 {
			return Place{i, from + j + 1}
		}
	}
	return at
}

// Clip cuts a text after some runes.
func Clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// Nearest returns the known word most like a misspelt one, as a hint; empty if
// none is near.
func Nearest(word string, known []string) string {
	best := Closest(word, known)
	if best == "" {
		return ""
	}
	return lang.Sprintf(" (did you mean %q?)", best)
}

// Closest returns the known word most like a misspelt one; empty if none is near.
func Closest(word string, known []string) string {
	best, least := "", 4
	for _, k := range known {
		if d := distance(word, k); d < least && d*3 <= len(k) {
			best, least = k, d
		}
	}
	return best
}

// distance is the edit distance of two words.
func distance(a, b string) int {
	a = a[:min(len(a), 60)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			above := row[j]
			if a[i-1] != b[j-1] {
				diagonal++
			}
			row[j] = min(diagonal, above+1, row[j-1]+1)
			diagonal = above
		}
	}
	return row[len(b)]
}
