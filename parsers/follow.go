package parsers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// Follower reads an input that grows, such as a log file that is still written
// to. It is fed the bytes as they come and emits what [Read] would emit for all
// of them: it runs the same readers, which wait in the middle of what they read
// until there is more. So it does not matter where what it is fed begins and
// ends, and nothing is cut in two, unless the input is said to be quiet: then
// what is open (a record that a stack trace may still follow, a dump) is taken
// for whole.
//
// Records are emitted during Feed, Quiet, Resume and Close. A Follower is used
// by one goroutine at a time, and must be closed.
type Follower struct {
	in   *Input
	emit Emit

	want chan struct{} // the reader asks for more
	give chan morsel
	done chan error
	buf  []byte // given and not read

	started, ended bool
	err            error
	chosen         string // the format, once it is chosen
	whole          bool   // it is read from the first byte to the last, without an end in between
	quiet          bool   // the reader is told that there is no more for now
	deciding       bool   // only so that it chooses a format
	closed         bool   // and for ever
	mute           bool   // nothing is emitted
	failed         error  // of what was emitted while it asked
	driver         *textDriver
	lines          int    // lines that were given
	head           int    // bytes that were given until the format was chosen
	part           []byte // the beginning of a line, not given yet
	document       int    // the line where a document of several lines begins, if the last line is of one
	shift          int    // what the reader's numbers of lines are behind, of a whole format
	broken         bool   // a line was given whose end was not there yet
	giant          bool   // a part of a line was given that is longer than a line may be
}

// morsel is what the feeder hands to the reader.
type morsel struct {
	data   []byte
	quiet  bool
	decide bool
	close  bool
	resume *resumption
}

// resumption is where in its input a Follower goes on.
type resumption struct {
	line, done int
	before     []byte
}

// Follow makes a follower of an input, whose Reader is not used.
func Follow(in *Input, emit Emit) *Follower {
	f := &Follower{in: in, want: make(chan struct{}), give: make(chan morsel), done: make(chan error, 1)}
	f.emit = func(r *evidence.Record) error {
		if f.mute {
			return nil
		}
		if f.whole && r.Cite.Line > 0 {
			r.Cite.Line += f.shift
		}
		return emit(r)
	}
	skip := in.Skip
	in.Skip = func(line int, why string) {
		if !f.mute {
			skip(line, why)
		}
	}
	in.Reader = f
	in.Lines = NewLines(f)
	in.Lines.follow = f
	return f
}

// Feed gives what comes next. It returns when all of it was read, but for what
// stands behind the last line end, which is kept for later. An error ends the
// follower.
func (f *Follower) Feed(data []byte) error {
	if f.broken { // the rest of a line that was given already
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			return f.err
		}
		data, f.broken = data[end+1:], false
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	if whole > 0 {
		f.documents(data[:whole])
		f.lines += bytes.Count(data[:whole], newline)
		if len(f.part) > 0 {
			f.part = append(f.part, data[:whole]...)
			if err := f.hand(morsel{data: f.part}); err != nil {
				return err
			}
			f.part = f.part[:0]
		} else if err := f.hand(morsel{data: data[:whole]}); err != nil {
			return err
		}
		f.giant = false
	}
	f.part = append(f.part, data[whole:]...)
	if len(f.part) <= maxLine+2 && !f.giant {
		return f.err
	}
	f.giant = true // the reader passes by what is too long: it need not be kept
	err := f.hand(morsel{data: f.part})
	f.part = f.part[:0]
	return err
}

// Quiet says that nothing may come for a while: what is open is emitted, and a
// line without its end is taken for whole; what comes of it later is passed by.
// If the format was not chosen yet, it is chosen by what there is.
func (f *Follower) Quiet() error {
	if f.whole {
		return nil
	}
	if len(f.part) > 0 || f.giant {
		f.lines++
		f.broken, f.giant = true, false
	}
	part := f.part
	f.part = f.part[:0]
	return f.hand(morsel{data: part, quiet: true})
}

// Decide has the format chosen by what there is, if it was not chosen yet. What is
// open stays open.
func (f *Follower) Decide() error {
	if f.chosen != "" {
		return f.err
	}
	return f.hand(morsel{quiet: true, decide: true})
}

// Break says that what is fed next is the rest of a line that was given already.
func (f *Follower) Break() { f.broken = true }

// Broken reports whether the last line that was given was not whole.
func (f *Follower) Broken() bool { return f.broken }

// Close says that nothing will come any more.
func (f *Follower) Close() error {
	if !f.started && len(f.part) == 0 {
		f.ended = true
	}
	if len(f.part) > 0 {
		f.lines++
	}
	for !f.ended {
		part := f.part
		f.part = nil
		_ = f.hand(morsel{data: part, close: true}) // its error is kept
	}
	return f.err
}

// Resume begins in the middle of an input: head is its beginning, whole lines,
// by which the format is chosen and columns are learned and of which nothing is
// emitted; line is the number of the line that is fed next. What stands between
// the lines done and line is given as before, as far as it is known: records
// may begin there.
func (f *Follower) Resume(head []byte, line, done int, before []byte) error {
	f.mute = true
	tally := maps.Clone(f.in.Tally)
	err := f.Feed(head)
	if err == nil {
		err = f.Quiet()
	}
	if err == nil && !f.whole {
		err = f.hand(morsel{resume: &resumption{line, done, before}})
	}
	f.shift = line - 1 - f.lines
	f.lines = line - 1
	f.mute = false
	for format := range f.in.Tally { // formats are known by the beginning, but nothing of it was emitted
		f.in.Tally[format] = tally[format]
	}
	return err
}

// hand gives a morsel to the reader and waits until it asks for the next.
func (f *Follower) hand(m morsel) error {
	if !f.started {
		f.started = true
		go f.read()
		f.wait()
	}
	if f.ended {
		return f.err
	}
	f.give <- m
	f.wait()
	return f.err
}

func (f *Follower) wait() {
	select {
	case <-f.want:
	case f.err = <-f.done:
		f.ended = true
	}
}

// read runs the reader. One that panics loses its input only.
func (f *Follower) read() {
	var err error
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v", p)
		}
		f.done <- err
	}()
	err = Read(f.in, f.emit)
}

// ask waits for the next morsel.
func (f *Follower) ask() morsel {
	f.overdue()
	f.want <- struct{}{}
	m := <-f.give
	f.buf = m.data
	f.quiet, f.deciding = m.quiet, m.decide
	f.closed = m.close
	return m
}

// Read implements io.Reader for the reader: the end that it tells is the end for
// now.
func (f *Follower) Read(p []byte) (int, error) {
	for len(f.buf) == 0 {
		if f.failed != nil {
			return 0, f.failed
		}
		if f.quiet || f.closed {
			return 0, io.EOF
		}
		f.ask()
	}
	n := copy(p, f.buf)
	f.buf = f.buf[n:]
	if f.chosen == "" {
		f.head += n
	}
	return n, nil
}

// Chosen is the format that was chosen, in a form fit to be compared with that
// of [Choose]; empty if none is yet. seen is how many bytes it was chosen by.
func (f *Follower) Chosen() (format string, seen int) { return f.chosen, f.head }

// Continue makes an input go on where another one of the same source, which was
// read, has ended: it numbers dumps from there, and its counters are compared with
// those of that one. There is none before the first, which is nil.
func (in *Input) Continue(before *Input) {
	if before == nil {
		return
	}
	in.dumps, in.snapshots = in.dumps+before.dumps, in.snapshots+before.snapshots
	if before.prom != nil {
		in.prom = before.prom
		in.prom.in = in
	}
}

// Conclusive is how many bytes at most a format is chosen by.
const Conclusive = wrapHead

// Choose tells by which format an input that begins with head would be read.
func Choose(name string, hint Hint, head []byte) string {
	in := NewInput(name, bytes.NewReader(head))
	in.Hint = hint
	best, _, err := in.choose()
	if err != nil {
		return ""
	}
	return in.choice(best)
}

// choice describes how an input is read.
func (in *Input) choice(best Format) string {
	name := best.Name
	if best.Parse == nil {
		name = "text"
	}
	if len(in.layers) > 0 {
		name += " in " + strings.Join(in.layers, ", ")
	}
	if in.Lines.width > 0 {
		name += " broken at " + strconv.Itoa(in.Lines.width)
	}
	return name
}

// Open reports whether something is not emitted yet: it waits for lines that
// may belong to it.
func (f *Follower) Open() bool {
	if !f.started || f.ended {
		return false
	}
	if f.chosen == "" {
		return true
	}
	if f.whole {
		return false
	}
	settled, _ := f.Settled()
	return settled <= f.lines
}

// Settled returns the number of the first line of which something may not have
// been emitted yet: all records of those before it have been. Reading can be
// resumed there. done is a line before it: what stands behind that one may be
// the beginning of a record that is not seen to be one yet.
func (f *Follower) Settled() (line, done int) {
	switch {
	case !f.started || f.chosen == "":
		return 1, 0
	case f.ended:
		return f.lines + 1, f.lines
	case f.whole && f.document > 0:
		return f.document, f.document - 1
	case f.whole:
		return f.lines + 1, f.lines
	}
	l := f.in.Lines
	line = l.next
	if l.again {
		line = l.num
	}
	older := func(n int) {
		if n > 0 && n < line && line-n < farBehind {
			line = n
		}
	}
	if l.hold > 0 && l.hold < line { // however far: a dump may be long
		line = l.hold
	}
	older(l.joins)
	if f.driver != nil {
		done = min(f.driver.log.done, line-1)
		for _, s := range f.driver.log.streams {
			if s.open && len(s.rec.lines) > 0 {
				older(s.rec.lines[0].line)
			}
		}
	}
	if d := f.in.java; d != nil && d.family != familyNone {
		older(d.line)
	}
	return line, min(done, line-1)
}

// documents notes whether lines of a whole format end inside a document. One
// that is written over several lines is indented.
func (f *Follower) documents(text []byte) {
	if f.chosen != "" && !f.whole {
		return
	}
	for n := 1; len(text) > 0; n++ {
		end := bytes.IndexByte(text, '\n')
		line := trimCR(text[:end])
		text = text[end+1:]
		if len(line) == 0 {
			continue
		}
		last := line[len(line)-1]
		switch closes := last == '}' || last == ']'; line[0] {
		case '{', '[':
			f.document = 0
			if !closes || len(line) == 1 {
				f.document = f.lines + n
			}
		case '}', ']':
			f.document = 0
		}
	}
}

// farBehind is for how many lines something that is open is waited for.
const farBehind = 1 << 20

// settle notes, inside a block that may go on for ever, that all before a line
// has been emitted.
func (l *Lines) settle(line int) { l.hold = line }

// decided tells the follower of an input how it is read.
func (in *Input) decided(best Format) {
	f := in.Lines.follow
	if f == nil {
		return
	}
	f.chosen = in.choice(best)
	f.whole = best.Parse != nil && !best.lines
	switch {
	case f.whole, f.deciding && !best.lines:
		f.quiet = false
	case best.lines: // columns are learned from what there is, not from what will come
		f.quiet = true
	}
}

// overdue emits what would otherwise wait for the end of the input.
func (f *Follower) overdue() {
	in := f.in
	in.skipCuts()
	if l := in.Lines; f.mute || l.hold > 0 && l.hold < l.next {
		return
	}
	var err error
	if d := in.java; d != nil && d.family != familyNone && d.interrupted > 0 && in.Lines.next-d.interrupted > resumable {
		err = d.close()
	}
	if g := in.gc; g != nil && g.covered >= observedEvery && !g.old.open {
		err = errors.Join(err, g.observed())
	}
	f.failed = errors.Join(f.failed, err)
}

// observedEvery is how many seconds of a collector's log are told of at a time.
const observedEvery = 10

// grows reports whether more may come behind what there is.
func (l *Lines) grows() bool { return l.follow != nil && !l.follow.closed }

// goesOn waits, at the end of a text that grows, until there is more of it. It
// returns false at the end of any other.
func (l *Lines) goesOn(t *textDriver) bool {
	f := l.follow
	if f == nil || f.closed || l.err != nil {
		return false
	}
	l.hold, l.joins = 0, 0
	f.quiet = false
	for len(f.buf) == 0 && !f.closed {
		if m := f.ask(); m.resume != nil {
			l.resume(m.resume)
			t.log.done = m.resume.done
		} else if len(m.data) == 0 {
			f.quiet = false // nothing is open
		}
	}
	l.eof = false
	return true // if it was closed, once more: something may be left to be said at the end
}

// resume goes on with another line, before which stands some text.
func (l *Lines) resume(at *resumption) {
	l.buf = append(l.buf[:0], at.before...)
	l.buf = l.buf[:cap(l.buf)]
	l.start, l.end, l.lineAt = len(at.before), len(at.before), len(at.before)
	l.num, l.next, l.torn, l.again = at.line-1, at.line, false, false
	l.history, l.rest = l.history[:0], nil
}
