package parsers

import (
	"errors"
	"math/bits"
	"sync"

	"github.com/firebreak-io/firebreak/evidence"
)

// Text reads any text: blocks of the block formats wherever they start, and
// application-log records in between. What nobody knows is passed by.
func Text(in *Input, emit Emit) error { return text(in, emit, nil) }

// text does what Text does. If first is given, it is shown every line before
// anyone else and says whether it has read it.
func text(in *Input, emit Emit, first func(line []byte) (bool, error)) error {
	t := newTextDriver(in, emit)
	if f := in.Lines.follow; f != nil {
		f.driver = t
	}
	for {
		if err := t.read(first); err != nil || !in.Lines.goesOn(t) {
			return err
		}
	}
}

// read reads lines until there are no more.
func (t *textDriver) read(first func(line []byte) (bool, error)) error {
	in := t.in
	find := signs().find
	every := first != nil || in.Lines.Wrapped() // its streams alternate: see every line
	joining := false
	for t.between() && (every || in.Lines.SkipTo(find)) && in.Lines.Next() {
		if first != nil {
			mine, err := first(in.Lines.Bytes())
			if err != nil {
				return err
			}
			if mine {
				if joining && !in.Lines.Wrapped() { // the record before it ends here
					if err := t.log.close(); err != nil {
						return err
					}
					joining = false
				}
				continue
			}
		}
		// After a block or a record the next line is at hand, whatever it holds.
		hit := find(in.Lines.Bytes()) >= 0
		if hit {
			in.Lines.hold = in.Lines.Number()
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
		case every:
			joining = true
			err = t.log.line(hit)
		case hit:
			err = t.log.record()
		}
		if err != nil {
			return err
		}
	}
	in.skipCuts()
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

// skipCuts counts the lines that were too long.
func (in *Input) skipCuts() {
	for range in.Lines.cuts {
		in.Skip(in.Lines.cutAt, "longer than 1 MiB: the rest of it is not read")
	}
	in.Lines.cuts = 0
}

// between notes that nothing is open: what was read has been emitted.
func (t *textDriver) between() bool {
	t.in.Lines.hold = 0
	return true
}

// block hands the current line to the format whose block it starts.
func (t *textDriver) block() (bool, error) {
	for wanted := blockMarks().in(t.in.Lines.Bytes()); wanted != 0; wanted &= wanted - 1 {
		f := &blockFormats()[bits.TrailingZeros64(wanted)]
		if !f.Starts(t.in.Lines.Bytes()) {
			continue
		}
		number, line := t.in.Lines.Number(), t.in.Lines.Bytes()
		t.in.Lines.Unread()
		err := f.Block(t.in, t.in.counted(f.Name, t.emit))
		if now := t.in.Lines.Bytes(); err == nil && t.in.Lines.again && t.in.Lines.Number() == number && len(now) == len(line) && len(now) > 0 && &now[0] == &line[0] {
			err = ErrUnrecognized // it read nothing after all: without this it would be asked for ever
		}
		if errors.Is(err, ErrUnrecognized) {
			t.in.Lines.Next() // the line it gave back
			continue
		}
		return true, err
	}
	return false, nil
}

// startsBlock reports whether a block format would begin at this line.
func startsBlock(line []byte) bool {
	if len(line) < 6 || line[0] == '\t' {
		return false
	}
	for wanted := blockMarks().in(line); wanted != 0; wanted &= wanted - 1 {
		if blockFormats()[bits.TrailingZeros64(wanted)].Starts(line) {
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

// tally counts records of a format that were emitted; none are no sign of it.
func (in *Input) tally(format string, n int) {
	if n > 0 {
		in.Tally[format] += n
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

// signTable finds literals and tells who wants what holds them.
type signTable struct {
	*matcher
	signs  []string
	wanted []uint64 // by literal: bits of those who want it
}

// newSignTable makes a table of the literals of up to 64.
func newSignTable(literals [][]string) *signTable {
	if len(literals) > 64 {
		panic("signTable: more than 64")
	}
	t := &signTable{}
	index := map[string]int{}
	for who, list := range literals {
		for _, s := range list {
			at, ok := index[s]
			if !ok {
				at = len(t.signs)
				index[s] = at
				t.signs = append(t.signs, s)
				t.wanted = append(t.wanted, 0)
			}
			t.wanted[at] |= 1 << who
		}
	}
	t.matcher = newMatcher(t.signs)
	return t
}

// in returns the bits of those who want a text.
func (t *signTable) in(text []byte) uint64 {
	var wanted uint64
	t.each(text, func(literal, _ int) { wanted |= t.wanted[literal] })
	return wanted
}

// blockMarks finds the marks of the block formats.
var blockMarks = sync.OnceValue(func() *signTable {
	var marks [][]string
	for _, f := range blockFormats() {
		marks = append(marks, f.Marks)
	}
	return newSignTable(marks)
})

// detectorSigns finds the signs of the detectors.
var detectorSigns = sync.OnceValue(func() *signTable {
	var signs [][]string
	for _, d := range allDetectors() {
		signs = append(signs, d.signs)
	}
	return newSignTable(signs)
})

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
