package parsers

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// The goroutine format: stacks as text, one goroutine after the other.
//
//	goroutine 10 [select, 3 minutes]:
//	database/sql.(*DB).conn(0xc0001e6000, {0x1a4f880, 0xc0003ba000}, 0x1)
//		/usr/local/go/src/database/sql/sql.go:1369 +0x414
//	created by net/http.(*Server).Serve in goroutine 81
//		/usr/local/go/src/net/http/server.go:3300 +0x4b4
//
// Printed by the runtime on panics, fatal errors and SIGQUIT, by runtime.Stack
// and by /debug/pprof/goroutine?debug=2, since Go 1.0; the words in the brackets
// and around the frames have changed with nearly every year. The aggregated form
// (debug=1) is in goroutine_profile.go, the protobuf in pprof.go.
func goroutineFormat() Format {
	return Format{
		Name:     "goroutine",
		Doc:      "Go stacks as text: panics, SIGQUIT, pprof debug=2 and debug=1",
		Versions: "Go 1.5 to 1.26",
		Signs:    []string{"goroutine 1 [running]:", "goroutine profile: total 107"},
		Marks:    []string{"goroutine ", "goroutineleak profile: total "},
		Starts: func(line []byte) bool {
			return goroutineAt(line) >= 0 || goProfileAt(line) >= 0
		},
		Block: func(in *Input, emit Emit) error {
			if !in.Lines.Next() {
				return in.Lines.Err()
			}
			line := in.Lines.Bytes()
			if at := goProfileAt(line); at >= 0 {
				return newGoProfileReader(in, emit, line, at).read()
			}
			return newGoroutineReader(in, emit, line, max(0, goroutineAt(line))).read()
		},
	}
}

const (
	maxGoFrames    = 512 // of one stack; more are left out
	keepFirst      = 16  // goroutine IDs by which a second dump is told from the first
	maxGoUnknown   = 64  // goroutines without a stack that wait for one (GOTRACEBACK=crash)
	maxGoDeadlock  = 16  // members named of a deadlock of all goroutines
	preambleBytes  = 4 << 10
	preambleLines  = 40
	preambleOthers = 6 // lines of a panic's own text
)

// goroutineReader reads one block of goroutines, perhaps several dumps.
type goroutineReader struct {
	in     *Input
	emit   Emit
	prefix linePrefix
	frames goFrames
	states goStates

	rec   evidence.Record // lent to the receiver, reused
	stack evidence.Stack  // the goroutine being read
	dump  evidence.Dump
	when  time.Time
	zoned evidence.Tri

	reading  bool      // a goroutine's header was read and not yet its end
	pending  goPending // what the line before began
	fn       []byte    // name on that line
	ancestor bool      // inside "[originating from …]": frames of another goroutine
	aside    bool      // inside a stack that is no goroutine's ("runtime stack:")
	noStack  bool      // "stack unavailable"
	status   goState   // of the goroutine being read
	line     int       // of its header
	app      bool      // it has a frame outside the runtime
	crash    bool      // past "-----": each thread prints its own stack once more
	open     bool      // the dump was opened
	deadlock bool      // the runtime said that all goroutines are asleep
	running  bool      // the dump's first goroutine was running: it wrote the dump
	wrote    bool      // and its frames say so
	first    [keepFirst]string
	firsts   int
	unknown  []goUnknown // stacks that a crash may still print
}

type goPending int8

const (
	goNothing goPending = iota
	goFrameLine
	goCreatedLine
)

// goUnknown is a goroutine whose stack was not available where it was listed.
type goUnknown struct {
	id    string
	state goState
	line  int
}

func newGoroutineReader(in *Input, emit Emit, line []byte, at int) *goroutineReader {
	r := &goroutineReader{in: in, emit: emit, prefix: newLinePrefix(line[:at])}
	r.when, r.zoned = blockTime(in, line[:at])
	r.dump = evidence.Dump{Runtime: evidence.Go, Format: "goroutine", Declared: evidence.None, MaxFrames: 100, HeapFull: evidence.None}
	return r
}

// read reads from the current line, a header, to the first foreign line.
func (r *goroutineReader) read() error {
	if err := r.preamble(); err != nil {
		return err
	}
	for {
		line, ok := r.prefix.strip(r.in.Lines.Bytes())
		more, err := ok, error(nil)
		if ok {
			more, err = r.take(line)
		}
		if err != nil {
			return err
		}
		if !more {
			r.in.Lines.Unread()
			break
		}
		if !r.in.Lines.Next() {
			break
		}
	}
	if err := r.finish(); err != nil {
		return err
	}
	return r.closeDump()
}

// take reads one line without its prefix. It returns false at a foreign line.
func (r *goroutineReader) take(line []byte) (bool, error) {
	if r.pending != goNothing {
		pending := r.pending
		r.pending = goNothing
		if place, ok := goPlace(line); ok {
			r.place(pending, place)
			return true, nil
		}
		r.place(pending, nil)
		r.stack.Partial = r.stack.Partial || r.reading && !r.ancestor
	}
	if len(line) == 0 {
		r.aside = false
		return true, r.finish()
	}
	if h, ok := parseGoHeader(line); ok {
		if err := r.finish(); err != nil {
			return false, err
		}
		r.begin(h)
		return true, nil
	}
	if r.reading || r.aside {
		if name, ok := goCall(line); ok {
			r.fn = append(r.fn[:0], name...)
			r.pending = goFrameLine
			return true, nil
		}
		if r.inside(line) {
			return true, nil
		}
	}
	return r.between(line), nil
}

// inside reads the lines of a goroutine that are not frames.
func (r *goroutineReader) inside(line []byte) bool {
	switch {
	case bytes.HasPrefix(line, goCreatedBy):
		name := line[len(goCreatedBy):]
		if i := bytes.Index(name, goInGoroutine); i >= 0 {
			name = name[:i]
		}
		r.fn = append(r.fn[:0], name...)
		r.pending = goCreatedLine
	case bytes.HasPrefix(line, goDots) && bytes.HasSuffix(line, goElided):
		r.stack.Cut = r.stack.Cut || !r.ancestor
	case bytes.HasPrefix(line, goOriginating):
		r.ancestor = true
	case bytes.Contains(line, goUnavailable):
		r.noStack = true
	case isCSymbol(line): // "non-Go function", or a C function's name
		r.fn = append(r.fn[:0], line...)
		r.pending = goFrameLine
	case isGoDebris(line):
		r.dump.Ignored++
	default:
		return false
	}
	return true
}

// between reads the lines of a dump that are no goroutine's.
func (r *goroutineReader) between(line []byte) bool {
	switch {
	case string(line) == "-----":
		r.crash = true
	case string(line) == "runtime stack:":
		r.aside = true
	case isRegister(line), isGoDebris(line):
	case r.crash && (bytes.HasPrefix(line, []byte("SIG")) || bytes.HasPrefix(line, []byte("PC="))):
	default:
		return false
	}
	return true
}

// begin starts a goroutine.
func (r *goroutineReader) begin(h goHeader) {
	r.reading, r.ancestor, r.aside, r.noStack, r.app = true, false, false, false, false
	r.line = r.in.Lines.Number()
	r.status = r.states.of(h.status)
	frames := r.stack.Frames[:0]
	r.stack = evidence.Stack{
		Runtime: evidence.Go, ID: string(h.id), State: r.status.state, Detail: r.status.detail,
		Frames: frames, Count: 1, CPU: evidence.None, Elapsed: evidence.None, Waited: r.status.waited,
	}
	if len(h.labels) > 0 {
		r.stack.Labels = parseGoLabels(h.labels)
	}
}

// place completes a frame or a creator with its file and line.
func (r *goroutineReader) place(kind goPending, place []byte) {
	if !r.reading || r.ancestor || r.aside {
		return
	}
	f := r.frames.intern(r.fn, place)
	if kind == goCreatedLine {
		r.stack.CreatedBy = f.Func
		return
	}
	if len(r.stack.Frames) >= maxGoFrames {
		r.stack.Cut = true
		return
	}
	r.app = r.app || !isGoRuntime(f.Func)
	r.stack.Frames = append(r.stack.Frames, &f.Frame)
}

// finish hands the goroutine that was read to the receiver.
func (r *goroutineReader) finish() error {
	if r.pending != goNothing {
		r.place(r.pending, nil)
		r.pending = goNothing
		r.stack.Partial = r.stack.Partial || !r.ancestor
	}
	if !r.reading {
		return nil
	}
	r.reading = false
	s := &r.stack
	if r.open && r.isNextDump() {
		if err := r.closeDump(); err != nil {
			return err
		}
	}
	if !r.open {
		if err := r.openDump(); err != nil {
			return err
		}
	}
	if r.noStack && len(s.Frames) == 0 && len(r.unknown) < maxGoUnknown {
		r.unknown = append(r.unknown, goUnknown{s.ID, r.status, r.line})
		return nil
	}
	if r.crash {
		for i, u := range r.unknown {
			if u.id == s.ID {
				r.unknown = append(r.unknown[:i], r.unknown[i+1:]...)
				break
			}
		}
	}
	if r.firsts < keepFirst && s.ID != "0" {
		r.first[r.firsts] = s.ID
		r.firsts++
	}
	s.System = s.ID == "0" || !r.app && (len(s.Frames) > 0 || strings.HasPrefix(s.CreatedBy, "runtime."))
	if r.status.semaphore && locksSync(s.Frames) {
		s.State = evidence.StateBlocked
	}
	return r.send(r.line)
}

// isNextDump reports whether the goroutine just read belongs to another dump
// than those before it: it wrote the dump, as only the first one can, or one
// of the first goroutines is seen once more.
func (r *goroutineReader) isNextDump() bool {
	if r.crash || r.noStack {
		return false
	}
	// Go 1.26 does not stop the world for a profile: others may be running, too.
	if r.running && r.status.running && r.stack.ID != "0" && (!r.wrote || writesDump(r.stack.Frames)) {
		return true
	}
	for _, id := range r.first[:r.firsts] {
		if id == r.stack.ID {
			return true
		}
	}
	return false
}

// writesDump reports whether a goroutine was writing down what all of them do.
func writesDump(frames []*evidence.Frame) bool {
	for i := range frames[:min(len(frames), 4)] {
		switch frames[i].Func {
		case "runtime.Stack", "runtime/debug.Stack", "runtime/debug.PrintStack", "runtime/pprof.writeGoroutineStacks", "runtime/pprof.writeGoroutine":
			return true
		}
	}
	return false
}

func (r *goroutineReader) send(line int) error {
	r.stack.Dump = r.dump.ID
	r.dump.Threads++
	if r.deadlock && !r.stack.System && len(r.dump.Deadlocks[0]) < maxGoDeadlock {
		r.dump.Deadlocks[0] = append(r.dump.Deadlocks[0], evidence.Held{Thread: "goroutine " + r.stack.ID, Lock: r.stack.Detail})
	}
	r.rec = r.record(line)
	r.rec.Stack = &r.stack
	return r.emit(&r.rec)
}

func (r *goroutineReader) record(line int) evidence.Record {
	return evidence.Record{Time: r.when, Zoned: r.zoned, Place: r.in.place(), Cite: r.in.cite(line)}
}

func (r *goroutineReader) openDump() error {
	r.in.dumps++
	r.open, r.crash, r.firsts = true, false, 0
	r.running = r.status.running && !r.noStack && r.stack.ID != "0"
	r.wrote = writesDump(r.stack.Frames)
	r.dump.ID = strconv.Itoa(r.in.dumps)
	r.dump.Threads, r.dump.Ignored, r.dump.Closing, r.dump.Partial, r.dump.Deadlocks = 0, 0, false, false, nil
	d := r.dump
	r.rec = r.record(r.line)
	r.rec.Dump = &d
	if r.deadlock {
		r.dump.Deadlocks = [][]evidence.Held{nil}
	}
	return r.emit(&r.rec)
}

func (r *goroutineReader) closeDump() error {
	if !r.open {
		return nil
	}
	frames := r.stack.Frames
	cut := r.stack.Partial
	last := r.stack
	for _, u := range r.unknown {
		r.stack = evidence.Stack{
			Runtime: evidence.Go, ID: u.id, State: u.state.state, Detail: u.state.detail, Frames: frames[:0],
			Count: 1, CPU: evidence.None, Elapsed: evidence.None, Waited: u.state.waited, System: u.id == "0",
		}
		if err := r.send(u.line); err != nil {
			return err
		}
	}
	r.unknown = r.unknown[:0]
	r.stack = last
	d := r.dump
	d.Closing, d.Truncated = true, cut
	d.Partial = r.running && d.Threads == 1
	if len(d.Deadlocks) > 0 && len(d.Deadlocks[0]) == 0 {
		d.Deadlocks = nil
	}
	r.rec = r.record(r.in.Lines.Number())
	r.rec.Dump = &d
	r.open, r.deadlock = false, false
	return r.emit(&r.rec)
}

// preamble looks back for what brought the dump about: a panic or a fatal error
// of the runtime becomes a mark, a deadlock of all goroutines is remembered.
func (r *goroutineReader) preamble() error {
	before := r.in.Lines.Before()
	before = before[max(0, len(before)-preambleBytes):]
	n := r.in.Lines.Number()
	for others, i := 0, 0; i < preambleLines && len(before) > 0 && n > 1; i++ {
		n--
		before = bytes.TrimSuffix(before, newline)
		at := bytes.LastIndexByte(before, '\n') + 1
		raw := bytes.TrimRight(before[at:], "\r ")
		before = before[:at]
		line := raw
		if n, ok := matchShape(r.prefix.shape, raw); ok {
			line = raw[n:]
		}
		kind, text, is := goFatal(line)
		switch {
		case is:
			r.deadlock = strings.HasPrefix(text, "all goroutines are asleep")
			r.rec = r.record(n)
			r.rec.Mark = &evidence.Mark{Kind: evidence.MarkAppError, Subject: kind, Text: text}
			return r.emit(&r.rec)
		case len(line) == 0 || line[0] == '\t' || bytes.HasPrefix(line, []byte("[signal ")) || bytes.HasPrefix(line, []byte("runtime stack:")):
		case bytes.HasPrefix(line, goCreatedBy) || goroutineAt(line) >= 0 || bytes.HasPrefix(line, []byte("SIG")):
			return nil
		default:
			if _, call := goCall(line); call {
				continue
			}
			if others++; others > preambleOthers {
				return nil
			}
		}
	}
	return nil
}

// goFatal reads "panic: …" and "fatal error: …".
func goFatal(line []byte) (kind, text string, ok bool) {
	for _, kind := range []string{"panic", "fatal error"} {
		if rest, ok := bytes.CutPrefix(line, []byte(kind+": ")); ok {
			return kind, clip(string(bytes.ToValidUTF8(rest[:min(len(rest), 300)], []byte("\uFFFD"))), 200), true
		}
	}
	return "", "", false
}

// clip cuts a text to at most n bytes at a rune's start.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}
