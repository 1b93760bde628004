package parsers

import (
	"bytes"
	"strconv"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// The aggregated form, /debug/pprof/goroutine?debug=1 and
// pprof.Lookup("goroutine").WriteTo(w, 1): one record for all goroutines with
// the same stack and labels, without states, IDs or creators.
//
//	goroutine profile: total 107
//	35 @ 0x48e86e 0x46b145 0x536c95 0x539657
//	# labels: {"route":"/list"}
//	#	0x536c94	database/sql.(*DB).conn+0x414	/usr/local/go/src/database/sql/sql.go:1369
//
// Since Go 1.0; labels since 1.9. Tabs may have become blanks on the way.

var goProfileWords = [][]byte{[]byte("goroutine profile: total "), []byte("goroutineleak profile: total ")}

// goProfileAt returns where in a line the first line of a profile begins, or -1.
func goProfileAt(line []byte) int {
	for _, w := range goProfileWords {
		i := bytes.Index(line, w)
		if i < 0 || i > maxPrefix || i > 0 && isWordByte(line[i-1]) {
			continue
		}
		if n := bytes.TrimRight(line[i+len(w):], " \t"); len(n) > 0 && len(n) <= 9 && allDigits(n) {
			return i
		}
	}
	return -1
}

func allDigits(s []byte) bool {
	for _, c := range s {
		if !isDigit(c) {
			return false
		}
	}
	return len(s) > 0
}

// goProfileReader reads one aggregated profile.
type goProfileReader struct {
	in     *Input
	emit   Emit
	prefix linePrefix
	frames goFrames
	leak   bool

	rec     evidence.Record
	stack   evidence.Stack
	dump    evidence.Dump
	when    time.Time
	zoned   evidence.Tri
	reading bool
	line    int // of the record being read
	app     bool
}

func newGoProfileReader(in *Input, emit Emit, line []byte, at int) *goProfileReader {
	r := &goProfileReader{in: in, emit: emit, prefix: newLinePrefix(line[:at])}
	r.leak = bytes.HasPrefix(line[at:], goProfileWords[1])
	r.when, r.zoned = blockTime(in, line[:at])
	in.dumps++
	total, _ := strconv.Atoi(string(bytes.TrimSpace(line[bytes.LastIndexByte(bytes.TrimRight(line, " \t"), ' ')+1:])))
	r.dump = evidence.Dump{
		ID: strconv.Itoa(in.dumps), Runtime: evidence.Go, Format: "goroutine-profile", Declared: total,
		NoState: true, MaxFrames: 128, HeapFull: evidence.None, Partial: r.leak,
	}
	return r
}

// read reads from the current line, the profile's first, to the first foreign one.
func (r *goProfileReader) read() error {
	d := r.dump
	r.rec = r.record(r.in.Lines.Number())
	r.rec.Dump = &d
	if err := r.emit(&r.rec); err != nil {
		return err
	}
	r.prefix.strip(r.in.Lines.Bytes())
	for r.in.Lines.Next() {
		line, ok := r.prefix.strip(r.in.Lines.Bytes())
		if ok {
			var err error
			if ok, err = r.take(line); err != nil {
				return err
			}
		}
		if !ok {
			r.in.Lines.Unread()
			break
		}
	}
	if err := r.flush(); err != nil {
		return err
	}
	d = r.dump
	d.Closing, d.Truncated = true, r.dump.Threads < r.dump.Declared
	r.rec = r.record(r.in.Lines.Number())
	r.rec.Dump = &d
	return r.emit(&r.rec)
}

func (r *goProfileReader) record(line int) evidence.Record {
	return evidence.Record{Time: r.when, Zoned: r.zoned, Place: r.in.place(), Cite: r.in.cite(line)}
}

// take reads one line. It returns false at a foreign line.
func (r *goProfileReader) take(line []byte) (bool, error) {
	switch {
	case len(line) == 0:
		return true, r.flush()
	case line[0] == '#' && r.reading:
		r.detail(line[1:])
		return true, nil
	}
	count, pcs, ok := goProfileRecord(line)
	if !ok {
		return false, nil
	}
	if err := r.flush(); err != nil {
		return false, err
	}
	r.reading, r.app, r.line = true, false, r.in.Lines.Number()
	r.stack = evidence.Stack{
		Dump: r.dump.ID, Runtime: evidence.Go, Frames: r.stack.Frames[:0], Count: count, Cut: pcs == 32 || pcs >= 128,
		CPU: evidence.None, Elapsed: evidence.None, Waited: evidence.None,
	}
	if r.leak {
		r.stack.State, r.stack.Detail = evidence.StateWaiting, "leaked"
	}
	return true, nil
}

// goProfileRecord reads "35 @ 0x48e86e 0x46b145".
func goProfileRecord(line []byte) (count, pcs int, ok bool) {
	n, rest, found := bytes.Cut(line, []byte(" @"))
	if !found || len(n) > 9 || !allDigits(n) || len(rest) > 0 && rest[0] != ' ' {
		return 0, 0, false
	}
	count, _ = strconv.Atoi(string(n))
	return count, bytes.Count(rest, []byte(" 0x")), count > 0
}

// detail reads what follows a '#': a frame or labels.
func (r *goProfileReader) detail(line []byte) {
	line = bytes.TrimLeft(line, " \t")
	if rest, ok := bytes.CutPrefix(line, []byte("labels:")); ok {
		r.stack.Labels = parseGoLabels(bytes.TrimSpace(rest))
		return
	}
	pc, rest := cutBlank(line)
	if !bytes.HasPrefix(pc, []byte("0x")) {
		r.dump.Ignored++
		return
	}
	fn, place := cutBlank(rest)
	if i := bytes.LastIndex(fn, []byte("+0x")); i > 0 {
		fn = fn[:i]
	}
	if len(fn) == 0 {
		return
	}
	if p, ok := goPlace(place); ok {
		place = p
	} else {
		place, r.stack.Partial = nil, true
	}
	if len(r.stack.Frames) >= maxGoFrames {
		r.stack.Cut = true
		return
	}
	f := r.frames.intern(fn, place)
	r.app = r.app || !isGoRuntime(f.Func)
	r.stack.Frames = append(r.stack.Frames, &f.Frame)
}

// cutBlank cuts a line after its first word and the blanks behind it.
func cutBlank(line []byte) (word, rest []byte) {
	i := bytes.IndexAny(line, " \t")
	if i < 0 {
		return line, nil
	}
	return line[:i], bytes.TrimLeft(line[i:], " \t")
}

func (r *goProfileReader) flush() error {
	if !r.reading {
		return nil
	}
	r.reading = false
	r.dump.Threads += r.stack.Count
	r.stack.System = !r.app && len(r.stack.Frames) > 0
	r.rec = r.record(r.line)
	r.rec.Stack = &r.stack
	return r.emit(&r.rec)
}
