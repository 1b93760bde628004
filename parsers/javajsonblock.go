package parsers

import (
	"bytes"
	"errors"
	"io"
	"time"
)

// startsJSON makes a Starts that accepts a line on which a dump in JSON begins:
// one that opens the document and names a key, or that names the first key of
// a document whose brace stood on the line before.
func startsJSON(first string, inside ...string) func(line []byte) bool {
	return func(line []byte) bool {
		text := bytes.TrimLeft(line, " \t")
		if rest, ok := bytes.CutPrefix(text, []byte(first)); ok {
			rest = bytes.TrimLeft(rest, " \t:")
			return len(rest) > 0 && (rest[0] == '[' || rest[0] == '{')
		}
		if len(text) == 0 || text[0] != '{' && text[0] != '[' {
			return false
		}
		if !bytes.Contains(text[:min(len(text), 64)], []byte(first)) && text[0] == '{' {
			return false
		}
		for _, s := range inside {
			if !bytes.Contains(text, []byte(s)) {
				return false
			}
		}
		return true
	}
}

// javaJSONBlock reads a dump in JSON that stands in a text.
func javaJSONBlock(in *Input, emit Emit) error {
	feed := &jsonLines{in: in}
	if !in.Lines.Next() {
		return ErrUnrecognized
	}
	line := in.Lines.Number()
	in.Lines.Unread()
	j := newJavaJSON(in, emit, feed, line)
	err := j.document(time.Time{})
	if err != nil {
		if dropped := feed.drain(); dropped != nil {
			return dropped
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return j.damaged(err)
	}
	return feed.drain()
}

// jsonLines hands out lines up to the one on which the JSON value that they
// hold is complete.
type jsonLines struct {
	in      *Input
	rest    []byte // of the current line, a copy
	depth   int
	started bool
	inText  bool
	escaped bool
	done    bool
	closing bool // the braces around the first key stood on lines that were not seen
}

func (f *jsonLines) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		if f.done {
			return 0, io.EOF
		}
		if !f.in.Lines.Next() {
			f.done = true
			if err := f.in.Lines.Err(); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
		f.take(f.in.Lines.Bytes())
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// take prepares a line and follows the nesting of its braces.
func (f *jsonLines) take(line []byte) {
	f.rest = f.rest[:0]
	if !f.started {
		f.started = true
		if text := bytes.TrimLeft(line, " \t"); len(text) > 0 && text[0] == '"' {
			f.rest = append(f.rest, '{')
			f.depth, f.closing = 1, true
		}
	}
	from := len(f.rest)
	for i, c := range line {
		switch {
		case f.escaped:
			f.escaped = false
		case f.inText:
			f.escaped = c == '\\'
			f.inText = c != '"'
		case c == '"':
			f.inText = true
		case c == '{', c == '[':
			f.depth++
		case c == '}', c == ']':
			f.depth--
			if f.depth == 0 || f.closing && f.depth == 1 {
				f.done = true
				f.rest = append(f.rest, line[:i+1]...)
				if f.closing && f.depth == 1 {
					f.rest = append(f.rest, '}')
				}
				return
			}
		}
	}
	f.rest = append(append(f.rest[:from], line...), '\n')
}

// drain reads what is left of the value, after damage.
func (f *jsonLines) drain() error {
	var p [4096]byte
	for {
		if _, err := f.Read(p[:]); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}
