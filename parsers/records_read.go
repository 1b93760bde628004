package parsers

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/firebreak-io/firebreak/evidence"
)

// recordReader reads the JSON of one record at a time, by its form. Once it is
// broken, all that is left reads as nothing.
type recordReader struct {
	b      []byte // what is left of the line
	broken bool
	depth  int

	plain  []byte // scratch for texts with escapes
	names  *interner
	frames map[string]*evidence.Frame
}

// maxSharedFrames bounds the frames that are shared between stacks.
const maxSharedFrames = 1 << 18

// record reads a line; nil if that is no record of one thing.
func (d *recordReader) record(line []byte) *evidence.Record {
	d.b, d.broken, d.depth = line, false, 0
	r := &evidence.Record{}
	recordForm().read(d, reflect.ValueOf(r).Elem())
	if d.broken || len(bytes.TrimSpace(d.b)) > 0 {
		return nil
	}
	payloads := 0
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Pointer && !f.IsNil() {
			payloads++
		}
	}
	if payloads != 1 {
		return nil
	}
	if s := r.Stack; s != nil && s.Count < 1 {
		s.Count = 1
	}
	return r
}

func (d *recordReader) check(fine bool) {
	if !fine {
		d.broken, d.b = true, nil
	}
}

// peek passes by white space and returns the next byte; 0 if there is none.
func (d *recordReader) peek() byte {
	for len(d.b) > 0 && (d.b[0] == ' ' || d.b[0] == '\t') {
		d.b = d.b[1:]
	}
	if len(d.b) == 0 {
		return 0
	}
	return d.b[0]
}

// take passes by one byte, which must be there.
func (d *recordReader) take(c byte) bool {
	if d.peek() != c {
		d.check(false)
		return false
	}
	d.b = d.b[1:]
	return true
}

// object calls member at the value of each key.
func (d *recordReader) object(member func(key []byte)) {
	d.nested('{', '}', func() {
		var room [64]byte
		key := append(room[:0], d.text()...)
		if d.take(':') {
			member(key)
		}
	})
}

// array calls element at each value.
func (d *recordReader) array(element func()) { d.nested('[', ']', element) }

func (d *recordReader) nested(from, to byte, each func()) {
	if d.depth++; d.depth > maxStreamDepth {
		d.check(false)
	}
	defer func() { d.depth-- }()
	if !d.take(from) {
		return
	}
	for first := true; !d.broken; first = false {
		if d.peek() == to {
			d.b = d.b[1:]
			return
		}
		if !first && !d.take(',') {
			return
		}
		each()
	}
}

// word returns a number or a name without quotes; it is lent.
func (d *recordReader) word() []byte {
	d.peek()
	n := 0
	for n < len(d.b) && d.b[n] != ',' && d.b[n] != '}' && d.b[n] != ']' && d.b[n] != ' ' {
		n++
	}
	w := d.b[:n]
	d.check(n > 0)
	d.b = d.b[min(n, len(d.b)):]
	return w
}

// text returns a text; it is lent.
func (d *recordReader) text() []byte {
	if !d.take('"') {
		return nil
	}
	for i, c := range d.b {
		switch c {
		case '"':
			s := d.b[:i]
			d.b = d.b[i+1:]
			return s
		case '\\':
			return d.escaped(i)
		}
	}
	d.check(false)
	return nil
}

// escaped returns a text of which the first n bytes are plain.
func (d *recordReader) escaped(n int) []byte {
	d.plain = append(d.plain[:0], d.b[:n]...)
	for i := n; i < len(d.b); i++ {
		switch c := d.b[i]; c {
		case '"':
			d.b = d.b[i+1:]
			return d.plain
		case '\\':
			if i+1 >= len(d.b) {
				d.check(false)
				return nil
			}
			i++
			switch c := d.b[i]; c {
			case 'n':
				d.plain = append(d.plain, '\n')
			case 't':
				d.plain = append(d.plain, '\t')
			case 'r':
				d.plain = append(d.plain, '\r')
			case 'b':
				d.plain = append(d.plain, '\b')
			case 'f':
				d.plain = append(d.plain, '\f')
			case 'u':
				r, used := unicodeEscape(d.b[i+1:])
				d.plain = utf8.AppendRune(d.plain, r)
				i += used
			default:
				d.plain = append(d.plain, c)
			}
		default:
			d.plain = append(d.plain, c)
		}
	}
	d.check(false)
	return nil
}

// unicodeEscape reads what follows \u, with the second half of a pair.
func unicodeEscape(b []byte) (r rune, used int) {
	hex4 := func(b []byte) (rune, bool) {
		if len(b) < 4 {
			return 0, false
		}
		n, err := strconv.ParseUint(string(b[:4]), 16, 32)
		return rune(n), err == nil
	}
	r, ok := hex4(b)
	if !ok {
		return utf8.RuneError, 0
	}
	if utf16.IsSurrogate(r) && len(b) >= 10 && b[4] == '\\' && b[5] == 'u' {
		if low, ok := hex4(b[6:]); ok {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				return both, 10
			}
		}
	}
	return r, 4
}

// pass passes by a value that nobody knows.
func (d *recordReader) pass() {
	switch d.peek() {
	case '{':
		d.object(func([]byte) { d.pass() })
	case '[':
		d.array(d.pass)
	case '"':
		d.text()
	default:
		d.word()
	}
}

func (d *recordReader) time(v reflect.Value) {
	t, err := time.Parse(time.RFC3339Nano, string(d.text()))
	d.check(err == nil)
	v.Set(reflect.ValueOf(t.UTC()))
}

func (d *recordReader) float(v reflect.Value) {
	f, err := strconv.ParseFloat(string(d.word()), 64)
	d.check(err == nil)
	v.SetFloat(f)
}

func (d *recordReader) hex(v reflect.Value) {
	text := d.text()
	if len(text) != 2*v.Len() {
		d.check(false)
		return
	}
	var id [16]byte
	_, err := hex.Decode(id[:v.Len()], text)
	d.check(err == nil)
	for i := range v.Len() {
		v.Index(i).SetUint(uint64(id[i]))
	}
}

func (d *recordReader) texts(v reflect.Value) {
	m := map[string]string{}
	d.object(func(key []byte) {
		k := d.names.of(key)
		m[k] = d.names.of(d.text())
	})
	v.Set(reflect.ValueOf(m))
}

func (d *recordReader) frame(v reflect.Value) {
	text := d.text()
	f := d.frames[string(text)]
	if f == nil {
		parts := bytes.Split(text, []byte{'\t'})
		f = &evidence.Frame{Func: d.names.of(parts[0])}
		if len(parts) > 1 {
			f.File = d.names.of(parts[1])
		}
		if len(parts) > 2 {
			f.Line, _ = strconv.Atoi(string(parts[2]))
		}
		f.Native = len(parts) > 3
		if len(d.frames) < maxSharedFrames {
			d.frames[string(text)] = f
		}
	}
	v.Set(reflect.ValueOf(f))
}
