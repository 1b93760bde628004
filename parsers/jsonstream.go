package parsers

import (
	"bytes"
	"errors"
	"io"
)

// jsonStream pulls JSON values of any size out of a stream that may hold one
// document, one a line, or such lines between others. It keeps one string in
// memory, never a whole value: what nobody asks for is passed by as it is read.
//
// It is forgiving. A value that is broken ends where its line ends, is reported
// once, and the next value is looked for from there:
//
//	for j.document() {
//		for key := range j.object() … // by hand: open, then key until nil
//	}
//
// After damage all methods say that there is nothing more, so that loops over
// members and elements end by themselves.
type jsonStream struct {
	r    io.Reader
	buf  []byte
	pos  int // first byte not yet taken
	end  int // end of what was read
	eof  bool
	err  error // of the reader, other than the end
	line int   // of the byte at pos, from 1

	why   string // what is wrong with the value at hand; empty if nothing
	lines bool   // each value stands on one line: a line end inside one is damage
	began int    // line on which the value at hand began
	plain []byte // scratch for strings with escapes
	skip  func(line int, why string)
	quiet bool // inside damage that was reported
}

const (
	jsonBuffer     = 256 << 10
	maxJSONString  = 16 << 20 // a longer string is damage
	maxStreamDepth = 200
)

const (
	jsonCut    = "JSON ends in the middle"
	jsonBroken = "JSON is broken"
	jsonNone   = "line without JSON between lines of JSON"
)

func newJSONStream(r io.Reader, skip func(line int, why string)) *jsonStream {
	return &jsonStream{r: r, buf: make([]byte, jsonBuffer), line: 1, skip: skip}
}

// reset begins another stream with the same buffers: a thousand small documents
// must not cost a thousand of them.
func (j *jsonStream) reset(r io.Reader) {
	buf, plain := j.buf, j.plain
	if len(buf) > 4*jsonBuffer {
		buf = make([]byte, jsonBuffer)
	}
	*j = jsonStream{r: r, buf: buf, plain: plain[:0], line: 1, skip: j.skip}
}

// fill reads more, keeping what follows keep. It reports whether there is any.
func (j *jsonStream) fill(keep int) bool {
	if j.eof {
		return false
	}
	if keep > 0 {
		j.end = copy(j.buf, j.buf[keep:j.end])
		j.pos -= keep
	}
	if j.end == len(j.buf) {
		grown := make([]byte, 2*len(j.buf))
		copy(grown, j.buf)
		j.buf = grown
	}
	for range 100 {
		n, err := j.r.Read(j.buf[j.end:])
		j.end += n
		if err != nil {
			j.eof = true
			if !errors.Is(err, io.EOF) {
				j.err = err
			}
		}
		if n > 0 || j.eof {
			return n > 0
		}
	}
	j.eof, j.err = true, io.ErrNoProgress
	return false
}

// peek passes by white space and returns the next byte, which it leaves; 0 at
// the end, and once the value is broken.
func (j *jsonStream) peek() byte {
	if j.why != "" {
		return 0
	}
	for {
		for i := j.pos; i < j.end; i++ {
			switch c := j.buf[i]; c {
			case ' ', '\t', '\r':
			case '\n':
				if j.lines && j.began > 0 {
					j.pos = i
					j.broken(jsonCut)
					return 0
				}
				j.line++
			case 0:
				j.pos = i
				j.broken(jsonBroken)
				return 0
			default:
				j.pos = i
				return c
			}
		}
		j.pos = j.end
		if !j.fill(j.pos) {
			j.broken(jsonCut)
			return 0
		}
	}
}

// broken notes that the value at hand cannot be read further.
func (j *jsonStream) broken(why string) {
	if j.why == "" {
		j.why = why
	}
}

// document advances to the next value, passing by lines that hold none and the
// rest of a broken one. It returns false at the end of the input.
func (j *jsonStream) document() bool {
	j.finish()
	for {
		j.why, j.began = "", 0
		c := j.peek()
		switch {
		case c == '{' || c == '[':
			j.began = j.line
			return true
		case c == 0 && j.why == jsonCut:
			j.why = ""
			return false
		}
		if j.foreign(c) {
			j.began = j.line
			return true
		}
	}
}

// finish ends the value at hand: what is broken is reported and passed by to
// the end of its line.
func (j *jsonStream) finish() {
	switch {
	case j.began == 0:
	case j.why == "":
		if j.line == j.began && j.rule() {
			j.lines = true
		}
		j.quiet = false
	default:
		if !j.quiet {
			j.skip(j.line, j.why)
		}
		j.quiet = !j.lines
		j.restOfLine()
	}
}

// rule reports whether the value just read ends its line.
func (j *jsonStream) rule() bool {
	for i := j.pos; ; i++ {
		if i >= j.end {
			keep := j.pos
			i -= keep
			if !j.fill(keep) {
				return false
			}
		}
		switch j.buf[i] {
		case ' ', '\t', '\r':
		case '\n':
			return true
		default:
			return false
		}
	}
}

// foreign looks at a line that begins with something else than a value: there
// may be one behind a prefix. Else the line is counted and passed by.
func (j *jsonStream) foreign(c byte) bool {
	if c == ',' || c == ']' || c == '}' || c == 0x1e { // between values of a list that was cut; RFC 7464
		j.pos++
		return false
	}
	const prefix = 512
	for j.end-j.pos < prefix && j.fill(j.pos) {
	}
	head := j.buf[j.pos:min(j.end, j.pos+prefix)]
	if i := bytes.IndexByte(head, '\n'); i >= 0 {
		head = head[:i]
	}
	if i := bytes.Index(head, []byte(`{"`)); i >= 0 && !j.quiet {
		j.pos += i
		return true
	}
	if !j.quiet {
		j.skip(j.line, jsonNone)
	}
	j.restOfLine()
	return false
}

// restOfLine passes by everything up to the next line end.
func (j *jsonStream) restOfLine() {
	for {
		if i := bytes.IndexByte(j.buf[j.pos:j.end], '\n'); i >= 0 {
			j.pos += i + 1
			j.line++
			return
		}
		j.pos = j.end
		if !j.fill(j.pos) {
			return
		}
	}
}

// open enters an object or an array. A value of another type is passed by.
func (j *jsonStream) open(c byte) bool {
	if j.peek() != c {
		j.pass()
		return false
	}
	j.pos++
	return true
}

// key returns the name of the next member of the object at hand, nil at its
// end. It is valid until the next call of anything.
func (j *jsonStream) key() []byte {
	c := j.peek()
	if c == ',' {
		j.pos++
		c = j.peek()
	}
	switch c {
	case '"':
	case '}':
		j.pos++
		return nil
	default:
		j.broken(jsonBroken)
		return nil
	}
	key := j.text()
	if j.why != "" {
		return nil
	}
	// The colon nearly always follows at once; looking further might move the key.
	if j.pos < j.end && j.buf[j.pos] == ':' {
		j.pos++
		return key
	}
	j.plain = append(j.plain[:0], key...)
	if j.peek() != ':' {
		j.broken(jsonBroken)
		return nil
	}
	j.pos++
	return j.plain
}

// elem reports whether the array at hand has another element, and stands at it.
func (j *jsonStream) elem() bool {
	c := j.peek()
	if c == ',' {
		j.pos++
		c = j.peek()
	}
	switch c {
	case 0:
		return false
	case ']':
		j.pos++
		return false
	case '}', ':':
		j.broken(jsonBroken)
		return false
	}
	return true
}

// scalar returns the next string, number, true, false or null as text, and the
// byte with which it began. Objects and arrays are passed by, which gives nil.
// It is valid until the next call of anything.
func (j *jsonStream) scalar() (text []byte, kind byte) {
	c := j.peek()
	switch c {
	case '"':
		return j.text(), c
	case '{', '[', 0:
		j.pass()
		return nil, 0
	}
	from := j.pos
	for i := from; ; i++ {
		if i >= j.end {
			i -= from
			if !j.fill(from) {
				j.pos = j.end
				j.broken(jsonCut)
				return nil, 0
			}
			from = 0
		}
		switch c := j.buf[i]; {
		case i-from > 1<<10:
			j.pos = i
			j.broken(jsonBroken)
			return nil, 0
		case c == ',' || c == '}' || c == ']' || c <= ' ' || c == '"' || c == ':':
			if i == from {
				j.broken(jsonBroken)
				return nil, 0
			}
			j.pos = i
			text = j.buf[from:i]
			if c := text[0]; c == 'n' {
				return nil, 'n'
			}
			return text, text[0]
		}
	}
}

// inString has the bytes that a string's loop stops at.
var inString = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// text returns the string that begins at pos, without its escapes.
func (j *jsonStream) text() []byte {
	from, i, escaped := j.pos, j.pos+1, false
	for {
		for i < j.end && !inString[j.buf[i]] {
			i++
		}
		if i+1 >= j.end { // a backslash needs what follows it
			if i < j.end && j.buf[i] == '"' {
				break
			}
			i -= from
			if i > maxJSONString {
				j.pos += i
				j.broken("JSON string longer than 16 MiB")
				return nil
			}
			if !j.fill(from) {
				j.pos = j.end
				j.broken(jsonCut)
				return nil
			}
			from = 0
			continue
		}
		switch c := j.buf[i]; c {
		case '"':
		case '\\':
			escaped = true
			i += 2
			continue
		case '\n', '\r':
			j.pos = i
			j.broken(jsonCut)
			return nil
		default: // a bare control byte harms nobody
			i++
			continue
		}
		break
	}
	j.pos = i + 1
	if escaped {
		j.plain = unquote(j.plain[:0], j.buf[from+1:i])
		return j.plain
	}
	return j.buf[from+1 : i : i]
}

// pass goes by the next value, whatever it is.
func (j *jsonStream) pass() {
	depth := 0
	for {
		switch j.peek() {
		case 0:
			return
		case '"':
			j.passText()
		case '{', '[':
			j.pos++
			depth++
			if depth > maxStreamDepth {
				j.broken("JSON is nested too deeply")
				return
			}
		case '}', ']':
			if depth == 0 {
				j.broken(jsonBroken)
				return
			}
			j.pos++
			depth--
		case ',', ':':
			if depth == 0 {
				j.broken(jsonBroken)
				return
			}
			j.pos++
			continue
		default:
			j.scalar()
		}
		if depth == 0 || j.why != "" {
			return
		}
	}
}

// passText goes by a string of any length.
func (j *jsonStream) passText() {
	i := j.pos + 1
	for {
		for i < j.end && !inString[j.buf[i]] {
			i++
		}
		if i+1 >= j.end && (i >= j.end || j.buf[i] == '\\') {
			keep := i
			if !j.fill(keep) {
				j.pos = j.end
				j.broken(jsonCut)
				return
			}
			i -= keep
			continue
		}
		switch j.buf[i] {
		case '"':
			j.pos = i + 1
			return
		case '\\':
			i += 2
		case '\n', '\r':
			j.pos = i
			j.broken(jsonCut)
			return
		default:
			i++
		}
	}
}

// hexDigit returns the value of a hexadecimal digit, or -1.
func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
