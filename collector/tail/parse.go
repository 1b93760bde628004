package tail

import (
	"bytes"
	"path/filepath"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/parsers"
)

// hint says what the name of a file and its configuration tell of it.
func (f *file) hint() parsers.Hint {
	parts := strings.Split(filepath.ToSlash(f.path), "/")
	h := collector.HintOf(strings.Join(parts[max(0, len(parts)-3):], "/"))
	if f.set.Service != "" {
		h.Service = f.set.Service
	}
	h.Format, h.AccessFormat = f.set.Format, f.set.AccessFormat
	h.Zone = f.t.cfg.Zone
	h.Modified = f.changed
	return h
}

// start makes a reader. If reading does not begin at the start of the file, it
// is shown what the file begins with and what stands before.
func (f *file) start() bool {
	in := parsers.NewInput(f.path, nil)
	in.Hint = f.hint()
	in.Tally = f.news.said
	in.Skip = func(line int, why string) {
		if line >= f.again || line == 0 && f.line >= f.again {
			f.news.skip(line, why)
		}
	}
	in.Continue(f.in)
	f.in, f.age = in, 0
	f.reader = parsers.Follow(in, f.handOn)
	at := f.settled
	if f.from != nil {
		at, f.from = *f.from, nil
	}
	if f.line == 1 && !at.Broken {
		return true
	}
	head := f.text(f.begin(), headSize)
	if len(head) == 0 {
		head = f.text(f.begin(), 4*headSize)
	}
	before, done := f.before(at.Done)
	if err := f.reader.Resume(bytes.Clone(head), f.line, done, before); err != nil {
		f.broke(err)
		return false
	}
	if at.Broken {
		f.reader.Break()
	}
	return true
}

// begin is where the text of the file begins.
func (f *file) begin() int64 { return f.print.At + int64(f.dec.Mark()) }

// text returns whole lines from an offset on, decoded.
func (f *file) text(at, most int64) []byte {
	raw := make([]byte, min(most, max(0, f.size-at)))
	n, _ := f.fd.ReadAt(raw, at)
	raw = raw[:n]
	return f.dec.Decode(raw[:f.dec.Whole(raw)])
}

// before returns the lines before the present one, but not those up to another,
// that may be the beginning of a record; and the number of the line before them.
func (f *file) before(after int) ([]byte, int) {
	from := max(f.begin(), f.offset-lookBack)
	from -= (from - f.begin()) & 1 // of UTF-16
	raw := make([]byte, f.offset-from)
	n, _ := f.fd.ReadAt(raw, from)
	if n < len(raw) {
		return nil, f.line - 1
	}
	ends := f.dec.Ends(nil, raw)
	skip := 0
	if from > f.begin() { // it begins inside a line
		skip = 1
	}
	if most := f.line - 1 - after; len(ends)-most > skip {
		skip = len(ends) - most
	}
	if skip > 0 {
		if skip > len(ends) {
			return nil, f.line - 1
		}
		raw = raw[ends[skip-1]:]
	}
	return bytes.Clone(f.dec.Decode(raw)), f.line - 1 - (len(ends) - skip)
}

// choose sees whether the file is of the kind that it was taken for, while not
// much of it was known then.
func (f *file) choose() {
	format, seen := f.reader.Chosen()
	size := f.offset - f.begin()
	if format == "" || seen >= parsers.Conclusive || size < int64(2*seen) || f.chosen > 4 || f.set.Format != "" {
		return
	}
	head := f.text(f.begin(), min(size, parsers.Conclusive))
	if len(head) < 2*seen || f.looked >= len(head) {
		return
	}
	if f.looked = len(head); parsers.Choose(f.path, f.hint(), head) == format {
		return
	}
	f.chosen++
	f.problem(f.reader.Close())
	f.settle()
	f.reader = nil
	if f.records == 0 { // nothing came of what was read by another format
		f.offset, f.line, f.settled = f.begin(), 1, position{Line: 1, Offset: f.begin()}
	} else {
		f.offset, f.line = f.settled.Offset, f.settled.Line
	}
	f.chunks = nil
}

// tick is called once a poll, after reading.
func (f *file) tick() {
	f.age++
	if f.turn == f.t.polls || f.counting || !f.leaving { // else it had no turn
		f.quiet++
	}
	if f.left() == 0 {
		f.behind = time.Time{}
	} else if f.behind.IsZero() {
		f.behind = f.t.now
	}
	if f.wait > 0 {
		f.wait--
	}
	if f.reader != nil {
		format, _ := f.reader.Chosen()
		switch {
		case f.quiet == holdFor && f.reader.Open():
			f.rest(f.reader.Quiet())
		case format == "" && f.age >= chooseBy:
			f.rest(f.reader.Decide())
		case f.quiet == halfFor && f.half(f.t.buf):
			f.quiet = halfFor
		case f.quiet >= idleFor && !f.leaving && f.offset >= f.size:
			f.close()
		}
	}
	f.mark()
}

// rest goes on after the reader was told that it need not wait for more.
func (f *file) rest(err error) {
	if err != nil {
		f.broke(err)
		return
	}
	f.fresh = true
	f.settle()
	f.choose()
}

// broke notes that the reader failed, and goes on behind what it failed at.
func (f *file) broke(err error) {
	f.problem(err)
	_ = f.reader.Close()
	f.news.count(f.line <= f.again)
	f.reader = nil
	f.chunks = nil
	f.settled = position{Line: f.line, Offset: f.offset, Done: f.line - 1}
}

// problem notes an error of the reader.
func (f *file) problem(err error) {
	if err == nil {
		return
	}
	f.t.cfg.Log.Error("reader failed", "path", f.path, "line", f.line, "err", err)
	f.news.note(lang.Sprintf("before line %d: %v", f.line, err))
	f.fresh = true
}
