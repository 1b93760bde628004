package parsers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path"
	"strconv"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// javaJSON reads Java thread dumps in JSON (actuator.go, dumptofile.go), one
// thread in memory at a time. Threads are settled and emitted by a javaDump.
type javaJSON struct {
	d     *javaDump
	dec   *json.Decoder
	lines *lineCounter
	from  int64 // offset in front of the thread at hand
}

func newJavaJSON(in *Input, emit Emit, r io.Reader, firstLine int) *javaJSON {
	d := newJavaDump(in)
	d.emit = emit
	lines := &lineCounter{r: r, line: firstLine}
	return &javaJSON{d: d, dec: json.NewDecoder(lines), lines: lines}
}

// parseJavaJSON reads a whole input of one or several JSON documents.
func parseJavaJSON(in *Input, emit Emit) error {
	br := bufio.NewReaderSize(in.Reader, 64<<10)
	line, date, err := skipToJSON(br)
	if err != nil {
		if errors.Is(err, io.EOF) {
			return ErrUnrecognized
		}
		return err
	}
	j := newJavaJSON(in, emit, br, line)
	read := false
	for {
		err := j.document(date)
		switch {
		case errors.Is(err, io.EOF) && !read:
			return ErrUnrecognized
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return j.damaged(err)
		}
		read = true
	}
}

// skipToJSON passes by HTTP headers, a byte-order mark and a command's echo. It
// returns the line on which the document begins, and the Date header.
func skipToJSON(br *bufio.Reader) (line int, date time.Time, err error) {
	for line = 1; ; line++ {
		for {
			c, err := br.Peek(1)
			if err != nil {
				return line, date, err
			}
			if c[0] == '{' || c[0] == '[' {
				return line, date, nil
			}
			if c[0] != ' ' && c[0] != '\t' && c[0] < 0x80 {
				break
			}
			if _, err := br.Discard(1); err != nil {
				return line, date, err
			}
		}
		text, err := br.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = br.ReadSlice('\n')
		}
		if err != nil {
			return line, date, err
		}
		var rest []byte
		if cut(text, "Date: ", &rest) || cut(text, "date: ", &rest) {
			if t, err := time.Parse(time.RFC1123, string(bytes.TrimSpace(rest))); err == nil {
				date = t.UTC()
			}
		}
	}
}

// damaged ends a dump at a place where the JSON is broken or ends.
func (j *javaJSON) damaged(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		j.d.in.Skip(j.line(), "JSON ends in the middle")
	case errors.As(err, &syntax), errors.As(err, &kind), errors.Is(err, errNotJavaJSON):
		j.d.in.Skip(j.line(), "JSON is broken")
	default:
		return err
	}
	j.d.info.Truncated = true
	return j.d.close()
}

var errNotJavaJSON = errors.New("unexpected JSON value")

// document reads one dump: {"threads":[…]}, {"threadDump":{…}} or […].
func (j *javaJSON) document(date time.Time) error {
	tok, err := j.dec.Token()
	if err != nil {
		return err
	}
	d := j.d
	d.reset(familyJSON, j.line())
	d.stampJSON(date)
	switch tok {
	case json.Delim('['):
		d.format = "actuator"
		d.printsSyncs = true
		for j.dec.More() {
			if err := j.actuatorThread(); err != nil {
				return err
			}
		}
		if _, err := j.dec.Token(); err != nil {
			return err
		}
	case json.Delim('{'):
		if err := j.fields(func(key string) error {
			switch key {
			case "threads":
				d.format = "actuator"
				d.printsSyncs = true
				return j.list(j.actuatorThread)
			case "threadDump":
				d.format = "dump-to-file"
				return j.toFile()
			}
			return j.skip()
		}); err != nil {
			return err
		}
	default:
		return errNotJavaJSON
	}
	return d.close()
}

// stampJSON gives the dump the time of its surroundings: an HTTP Date header,
// or its file's name.
func (d *javaDump) stampJSON(date time.Time) {
	if !date.IsZero() {
		d.at, d.zoned = date, evidence.Yes
		return
	}
	if m := nameStamp.FindStringSubmatch(path.Base(d.in.Name)); m != nil {
		d.stamped(m)
	}
}

// fields calls f with each key of an object whose { was read; f reads the value.
func (j *javaJSON) fields(f func(key string) error) error {
	for j.dec.More() {
		tok, err := j.dec.Token()
		if err != nil {
			return err
		}
		key, ok := tok.(string)
		if !ok {
			return errNotJavaJSON
		}
		if err := f(key); err != nil {
			return err
		}
	}
	_, err := j.dec.Token()
	return err
}

// object reads a { and its fields; null has none.
func (j *javaJSON) object(f func(key string) error) error {
	tok, err := j.dec.Token()
	if err != nil || tok == nil {
		return err
	}
	if tok != json.Delim('{') {
		return errNotJavaJSON
	}
	return j.fields(f)
}

// list calls f before each value of an array; null has none.
func (j *javaJSON) list(f func() error) error {
	tok, err := j.dec.Token()
	if err != nil || tok == nil {
		return err
	}
	if tok != json.Delim('[') {
		return errNotJavaJSON
	}
	for j.dec.More() {
		if err := f(); err != nil {
			return err
		}
	}
	_, err = j.dec.Token()
	return err
}

func (j *javaJSON) skip() error {
	var v json.RawMessage
	return j.dec.Decode(&v)
}

// text reads a string or a number as a string.
func (j *javaJSON) text() (string, error) {
	var v loose
	err := j.dec.Decode(&v)
	return string(v), err
}

// line returns the line that the decoder has come to.
func (j *javaJSON) line() int { return j.lines.at(j.dec.InputOffset()) }

// begin opens a thread at the place of the value that comes next.
func (j *javaJSON) begin() *evidence.Stack {
	d := j.d
	d.open = true
	d.thread = threadLines{}
	j.from = j.dec.InputOffset()
	d.raw = d.raw[:0]
	d.stack = evidence.Stack{
		Dump: d.info.ID, Runtime: evidence.JVM,
		Frames: d.stack.Frames[:0], Holds: d.stack.Holds[:0],
		Count: 1, CPU: evidence.None, Elapsed: evidence.None, Waited: evidence.None,
	}
	return &d.stack
}

// finish emits the thread at hand.
func (j *javaJSON) finish() error {
	d := j.d
	if err := d.opening(); err != nil {
		return err
	}
	d.thread.line = j.lines.brace(j.from)
	j.line() // forget the lines before
	d.part = "#" + d.stack.Name
	d.thread.hasState = d.stack.State != evidence.StateUnknown
	return d.flush()
}

// loose is a string, number or null that is read as text: format versions
// differ in which they use.
type loose string

func (l *loose) UnmarshalJSON(data []byte) error {
	switch {
	case len(data) > 0 && data[0] == '"':
		var s string
		err := json.Unmarshal(data, &s)
		*l = loose(s)
		return err
	case string(data) == "null":
		*l = ""
	default:
		*l = loose(data)
	}
	return nil
}

// identityOf makes "4a574795" of an identityHashCode, as dumps in text print it.
func identityOf(hash loose) string {
	n, err := strconv.ParseInt(string(hash), 10, 64)
	if err != nil {
		return string(hash)
	}
	return strconv.FormatUint(uint64(uint32(n)), 16)
}

// lineCounter passes through what it reads and remembers where lines end and
// where the last brace opens in each.
type lineCounter struct {
	r    io.Reader
	read int64
	line int       // number of the first of ends
	ends []lineEnd // lines read and not yet forgotten
	open int64     // offset behind the last { of the line that is being read
}

type lineEnd struct{ end, open int64 }

func (l *lineCounter) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i := 0; i < n; {
		k := bytes.IndexByte(p[i:n], '\n')
		part := p[i:n]
		if k >= 0 {
			part = p[i : i+k]
		}
		if b := bytes.LastIndexByte(part, '{'); b >= 0 {
			l.open = l.read + int64(i+b) + 1
		}
		if k < 0 {
			break
		}
		i += k + 1
		l.ends = append(l.ends, lineEnd{l.read + int64(i), l.open})
	}
	l.read += int64(n)
	return n, err
}

// at returns the line of an offset and forgets those before; offsets must not
// go back.
func (l *lineCounter) at(off int64) int {
	n := 0
	for n < len(l.ends) && l.ends[n].end <= off {
		n++
	}
	l.line += n
	l.ends = l.ends[:copy(l.ends, l.ends[n:])]
	return l.line
}

// brace returns the line of the first { behind an offset.
func (l *lineCounter) brace(off int64) int {
	for n, e := range l.ends {
		if e.open > off {
			return l.line + n
		}
	}
	return l.line + len(l.ends)
}
