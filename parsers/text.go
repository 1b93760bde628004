package parsers

import (
	"errors"
	"sync"

	"github.com/firebreak-io/firebreak/evidence"
)

// Text reads any text: blocks of the block formats wherever they start, and
// application-log records in between. What nobody knows is passed by.
func Text(in *Input, emit Emit) error {
	t := newTextDriver(in, emit)
	find := signs().find
	skip := find
	if in.Lines.Wrapped() { // its streams alternate: see every line
		skip = func([]byte) int { return 0 }
	}
	for in.Lines.SkipTo(skip) && in.Lines.Next() {
		// After a block or a record the next line is at hand, whatever it holds.
		hit := find(in.Lines.Bytes()) >= 0
		if hit && blockMarks().find(in.Lines.Bytes()) >= 0 {
			known, err := t.block()
			if err != nil {
				return err
			}
			if known {
				t.log.done = in.Lines.Number() - 1
				continue
			}
		}
		var err error
		switch {
		case in.Lines.Wrapped():
			err = t.log.line(hit)
		case hit:
			err = t.log.record()
		}
		if err != nil {
			return err
		}
	}
	for _, end := range in.atEnd {
		if err := end(); err != nil {
			return err
		}
	}
	if err := in.Lines.Err(); err != nil {
		return err
	}
	return t.log.close()
}

type textDriver struct {
	in   *Input
	emit Emit
	log  *logReader
}

func newTextDriver(in *Input, emit Emit) *textDriver {
	in.starts = startsBlock
	return &textDriver{in: in, emit: emit, log: newLogReader(in, in.counted("app-log", emit))}
}

// block hands the current line to the format whose block it starts.
func (t *textDriver) block() (bool, error) {
	line := t.in.Lines.Bytes()
	for _, f := range blockFormats() {
		if !f.Starts(line) {
			continue
		}
		t.in.Lines.Unread()
		err := f.Block(t.in, t.in.counted(f.Name, t.emit))
		if errors.Is(err, ErrUnrecognized) {
			t.in.Lines.Next() // the line it gave back
			line = t.in.Lines.Bytes()
			continue
		}
		return true, err
	}
	return false, nil
}

// startsBlock reports whether a block format would begin at this line.
func startsBlock(line []byte) bool {
	if len(line) < 6 || line[0] == '\t' || blockMarks().find(line) < 0 {
		return false
	}
	for _, f := range blockFormats() {
		if f.Starts(line) {
			return true
		}
	}
	return false
}

// counted returns emit with its records tallied under a format's name.
func (in *Input) counted(format string, emit Emit) Emit {
	return func(r *evidence.Record) error {
		in.Tally[format]++
		return emit(r)
	}
}

var blockFormats = sync.OnceValue(func() []Format {
	var blocks []Format
	for _, f := range Formats() {
		if f.Block != nil {
			blocks = append(blocks, f)
		}
	}
	return blocks
})

var allDetectors = sync.OnceValue(detectors)

// blockMarks finds the marks of all block formats.
var blockMarks = sync.OnceValue(func() *matcher {
	var all []string
	for _, f := range blockFormats() {
		all = append(all, f.Marks...)
	}
	return newMatcher(all)
})

// detectorSigns finds the signs of all detectors; the literal's index leads to
// the detectors that want it.
var detectorSigns = sync.OnceValue(func() *signTable {
	t := &signTable{}
	index := map[string]int{}
	var all []string
	for i, d := range allDetectors() {
		for _, s := range d.signs {
			at, ok := index[s]
			if !ok {
				at = len(all)
				index[s] = at
				all = append(all, s)
				t.wanted = append(t.wanted, 0)
			}
			t.wanted[at] |= 1 << i
		}
	}
	t.matcher, t.signs = newMatcher(all), all
	return t
})

type signTable struct {
	*matcher
	signs  []string
	wanted []uint64 // by sign: bits of detectors
}

// signs finds any line that a block format or a detector may want.
var signs = sync.OnceValue(func() *matcher {
	var all []string
	for _, f := range blockFormats() {
		all = append(all, f.Marks...)
	}
	for _, d := range allDetectors() {
		all = append(all, d.signs...)
	}
	return newMatcher(all)
})
