package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

const maxPrefix = 512

// linePrefix is what a log or a person has put in front of every line of a
// block: "2026-03-14T10:20:31.123Z stderr F ", "[WARN] ", "> ", an indent.
// Numbers in it may differ from line to line, in value and in length.
type linePrefix struct {
	shape []byte
	lines int // stripped so far
}

func newLinePrefix(text []byte) linePrefix { return linePrefix{shape: bytes.Clone(text)} }

// strip removes the prefix. A line that lacks it is foreign, unless it is the
// second line of the block: then only the first one had it, as when a log
// record begins with a dump.
func (p *linePrefix) strip(line []byte) ([]byte, bool) {
	if len(p.shape) == 0 {
		return line, true
	}
	n, ok := matchShape(p.shape, line)
	if !ok {
		if p.lines != 1 {
			return line, false
		}
		p.shape = nil
		return line, true
	}
	p.lines++
	return line[n:], true
}

// matchShape returns how much of line the shape covers. A line that ends early
// is covered if only blanks are missing.
func matchShape(shape, line []byte) (int, bool) {
	j := 0
	for i := 0; i < len(shape); {
		switch {
		case j == len(line):
			return j, len(bytes.TrimRight(shape[i:], " \t")) == 0
		case isDigit(shape[i]):
			if !isDigit(line[j]) {
				return 0, false
			}
			for i < len(shape) && isDigit(shape[i]) {
				i++
			}
			for j < len(line) && isDigit(line[j]) {
				j++
			}
		case shape[i] != line[j]:
			return 0, false
		default:
			i++
			j++
		}
	}
	return j, true
}

// blockTime returns when a block was written, as far as its wrapper says.
func blockTime(in *Input, _ []byte) (time.Time, evidence.Tri) {
	if t, _ := in.Lines.Origin(); !t.IsZero() {
		return t.UTC(), evidence.Yes
	}
	return time.Time{}, evidence.Unknown
}
