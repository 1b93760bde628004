package collector

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/parsers"
)

// Text is some lines of a source, as they were cited.
type Text struct {
	First int      // number of the first of them, from 1
	Lines []string // of lines longer than the parsers' limit, the beginning
	More  bool     // the source goes on after them
	Path  string   // of the file on disk; empty if it was unpacked or came through a pipe
}

// ErrNotFound is returned for a citation whose source is not among the paths,
// or was read from a pipe and is gone.
var ErrNotFound = lang.NewError("the source is not there any more")

// excerpt is what a collection looks for instead of parsing.
type excerpt struct {
	source string
	line   int
	before int
	after  int
	text   Text
	found  bool
}

// Excerpt opens the source of a citation as Collect did, in files and archives,
// and returns the lines around the one that is cited; its first lines if the
// citation names none. Nothing is parsed, and other sources are not opened.
// Standard input is looked into only if the options give a reader of their own
// for it, which stands at its beginning.
func Excerpt(ctx context.Context, paths []string, o Options, at evidence.Citation, before, after int) (Text, error) {
	piped := o.Stdin == nil
	c := newCollection(ctx, o, nil)
	x := &excerpt{source: at.Source, line: max(1, at.Line), before: before, after: after}
	c.excerpt = x
	for _, f := range c.find(paths) {
		if x.found || f.path == "" && piped || f.path != "" && !f.info.Mode().IsRegular() {
			continue // a pipe was read and is empty now
		}
		if f.name == at.Source || strings.HasPrefix(at.Source, f.name+"!") {
			c.file(f)
			if x.found && f.name == at.Source && !c.packed[f.name] {
				x.text.Path = f.path
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return Text{}, err
	}
	if !x.found {
		return Text{}, fmt.Errorf("%s: %w", at.Source, ErrNotFound)
	}
	if len(x.text.Lines) == 0 {
		return x.text, lang.Errorf("%s has no line %d any more", at.Source, at.Line)
	}
	return x.text, nil
}

// show takes the lines that are looked for from a source.
func (x *excerpt) show(name string, r io.Reader) {
	if name != x.source || x.found {
		return
	}
	x.found = true
	lines := parsers.NewInput(name, r).Lines
	from := max(1, x.line-x.before)
	for lines.Next() {
		n := lines.Number()
		switch {
		case n < from:
		case n > x.line+x.after:
			x.text.More = true
			return
		default:
			if x.text.First == 0 {
				x.text.First = n
			}
			x.text.Lines = append(x.text.Lines, string(lines.Bytes()))
		}
	}
}

// wants reports whether an archive's member may be, or hold, what is looked for.
func (x *excerpt) wants(name string) bool {
	return x.source == name || strings.HasPrefix(x.source, name+"!")
}

// looks shows a source instead of parsing it; false if nothing is looked for.
func (c *collection) looks(name string, br *bufio.Reader, m meta) bool {
	x := c.excerpt
	if x == nil {
		return false
	}
	if x.wants(name) {
		leaf := &leaf{c: c, name: name, r: br, packed: m.packed, start: m.start, budget: m.budget}
		text, problem := decode(leaf, func(head []byte) bool { return known(name, head) })
		if problem == "" {
			x.show(name, text)
		}
		if m.layers > 0 || m.archives > 0 {
			c.packed[name] = true
		}
	}
	return true
}
