package parsers

import (
	"errors"
	"github.com/firebreak-io/firebreak/evidence"
	"sync"
)

// Text reads any text: blocks of the block formats wherever they start, and
// application-log records in between. What nobody knows is passed by.
func Text(in *Input, emit Emit) error {
	t := newTextDriver(in, emit)
	for in.Lines.SkipTo(signs().find) && in.Lines.Next() {
		known, err := t.block()
		if err != nil {
			return err
		}
		if known {
			continue
		}
		if err := t.log.record(); err != nil {
			return err
		}
	}
	return in.Lines.Err()
}

type textDriver struct {
	in   *Input
	emit Emit
	log  *logReader
}

func newTextDriver(in *Input, emit Emit) *textDriver {
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

// signs finds any line that a block format or a detector may want.
var signs = sync.OnceValue(func() *matcher {
	var all []string
	for _, f := range blockFormats() {
		all = append(all, f.Marks...)
	}
	for _, d := range detectors() {
		all = append(all, d.signs...)
	}
	return newMatcher(all)
})
