package parsers

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"time"
)

// Wrappers are what stands around each line of a text because of the way it
// came here: a container runtime's envelope, a pod's name, a quoting mark.
// They are detected from the first lines of an input, where most must agree,
// and peeled from the outside in, up to three deep.

const (
	wrapHead  = 64 << 10 // bytes looked at to detect wrappers
	wrapDepth = 3
)

// peeled is what one wrapper's layer held.
type peeled struct {
	text   []byte
	more   bool // the text goes on in the next line
	drop   bool // the line holds no text
	time   time.Time
	source string
}

// A peeler removes one layer from a line; it says no to a line without it,
// which then passes as it is. The text may live in the peeler's own buffer
// until its next call.
type peeler func(line []byte) (peeled, bool)

// wrappers lists the detectors of all wrappers, in the order in which they are
// tried. Each gives a peeler if the lines are wrapped in its way.
func wrappers(modified time.Time) []func(lines [][]byte) peeler {
	return []func(lines [][]byte) peeler{
		markQuoted, fenced, backticked,
		dockerJSON, cri, podPrefix, stern, compose,
		journalJSON, journalExport,
		func(lines [][]byte) peeler { return syslog(lines, modified) },
		stamped, grepped, numbered,
	}
}

// unwrap detects the wrappers of an input from its first bytes and has its
// lines peeled. It returns those first bytes as they are without them, nil if
// there are none.
func (in *Input) unwrap(head []byte) []byte {
	width := hardWidth(headLines(head, 0))
	lines := headLines(head, width)
	var layers []peeler
	for len(layers) < wrapDepth {
		next, name := detect(lines, in.Hint.Modified)
		if next == nil {
			break
		}
		in.layers = append(in.layers, name)
		lines = peelAll(lines, next)
		layers = append(layers, next)
	}
	if len(layers) == 0 && width == 0 {
		return nil
	}
	l := in.Lines
	l.width = width
	l.SetUnwrap(func(line []byte) ([]byte, bool) {
		var at time.Time
		var source string
		more := false
		for _, peel := range layers {
			p, ok := peel(line)
			if !ok {
				continue
			}
			if p.drop {
				return nil, true
			}
			line, more = p.text, more || p.more
			if at.IsZero() {
				at = p.time
			}
			if p.source != "" {
				source = p.source
			}
		}
		l.SetOrigin(at, source)
		if line == nil {
			line = []byte{}
		}
		return line, more
	})
	return bytes.Join(lines, newline)
}

func detect(lines [][]byte, modified time.Time) (p peeler, name string) {
	for i, w := range wrappers(modified) {
		if p := w(lines); p != nil {
			return p, strconv.Itoa(i)
		}
	}
	return nil, ""
}

// headLines returns copies of the whole lines at the beginning of an input.
func headLines(head []byte, width int) [][]byte {
	if len(head) >= wrapHead {
		head = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	l := NewLines(bytes.NewReader(head))
	l.width = width
	var lines [][]byte
	for len(lines) < 500 && l.physical() {
		if width > 0 {
			l.rejoin()
		}
		lines = append(lines, bytes.Clone(l.line))
	}
	return lines
}

func peelAll(lines [][]byte, peel peeler) [][]byte {
	out := make([][]byte, 0, len(lines))
	for _, line := range lines {
		p, ok := peel(line)
		switch {
		case !ok:
			out = append(out, line)
		case !p.drop:
			out = append(out, bytes.Clone(p.text))
		}
	}
	return out
}

// agree reports whether a share of the lines that are not blank, in percent,
// and at least so many, is wrapped in a way.
func agree(lines [][]byte, percent, least int, peel peeler) bool {
	all, yes := 0, 0
	for _, line := range lines {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		all++
		if _, ok := peel(line); ok {
			yes++
		} else if (all-yes)*100 > len(lines)*(100-percent) {
			return false
		}
	}
	return yes >= least && yes*100 >= all*percent
}

// lineReader gives unwrapped lines as a stream, for whole formats.
type lineReader struct {
	l    *Lines
	left []byte
}

func (r *lineReader) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		if !r.l.Next() {
			if r.l.Err() != nil {
				return 0, r.l.Err()
			}
			return 0, io.EOF
		}
		r.left = append(append(r.left[:0], r.l.Bytes()...), '\n')
	}
	n := copy(p, r.left)
	r.left = slices.Delete(r.left, 0, n)
	return n, nil
}
