package parsers

import (
	"bytes"
	"strings"
)

// verticalMark is in the line above each row of \G output:
// "*************************** 1. row ***************************".
const verticalMark = ". row ****"

// verticalRow reports whether a line is the one above a row, and where its
// stars begin.
func verticalRow(line []byte) (int, bool) {
	i := bytes.Index(line, []byte(verticalMark))
	if i < 0 {
		return 0, false
	}
	at := bytes.Index(line, []byte("***"))
	if at < 0 || at > i {
		return 0, false
	}
	return at, allDigits(bytes.Trim(line[at:i], "* "))
}

// verticalKey splits "   Time: 2". Keys are right-aligned, so that all of a
// result end at the same place; where indents were lost, known names serve.
func (t *sqlTable) verticalKey(line []byte) (key, value []byte, ok bool) {
	i := bytes.IndexByte(line, ':')
	if i <= 0 || i > 64 || i+1 < len(line) && line[i+1] != ' ' {
		return nil, nil, false
	}
	key = bytes.TrimLeft(line[:i], " ")
	if len(key) == 0 {
		return nil, nil, false
	}
	for _, c := range key {
		if !wordByte(c) && c != '(' && c != ')' && c != ' ' {
			return nil, nil, false
		}
	}
	if t.colon > 0 && i != t.colon && !resultColumns[strings.ToLower(string(key))] {
		return nil, nil, false
	}
	return key, line[min(len(line), i+2):], true
}

// vertical reads the next row of \G output; the line above it is unread. known
// is asked about the first key; if it says no, the row is left unread.
func (t *sqlTable) vertical(known func(key string) bool) bool {
	t.columns, t.cells, t.buf = t.columns[:0], t.cells[:0], t.buf[:0]
	line, ok := t.next()
	if !ok {
		return false
	}
	if _, is := verticalRow(line); !is {
		t.in.Lines.Unread()
		return false
	}
	t.line = t.in.Lines.Number()
	var ends []int
	for n := 0; n < maxRowLines; n++ {
		if line, ok = t.next(); !ok {
			break
		}
		if _, is := verticalRow(line); is {
			t.in.Lines.Unread()
			break
		}
		key, value, isKey := t.verticalKey(line)
		name := strings.ToLower(string(key))
		switch {
		case isKey && len(t.columns) == 0:
			if !known(name) {
				t.in.Lines.Unread()
				return false
			}
			t.colon = bytes.IndexByte(line, ':')
		case !isKey && len(t.columns) == 0:
			t.in.Lines.Unread()
			return false
		case isKey && len(t.columns) > 0 && name == t.columns[0]: // the line above was lost
			isKey = false
		}
		if isKey && len(t.columns) < maxColumns {
			t.columns = append(t.columns, name)
			t.buf = append(t.buf, value...)
			ends = append(ends, len(t.buf))
			continue
		}
		if last := t.columns[len(t.columns)-1]; !textColumns[last] || len(line) == 0 || foreignLine(t.in, line) {
			t.in.Lines.Unread()
			break
		}
		if len(t.buf) < 2*maxStatementText {
			t.buf = append(append(t.buf, '\n'), line...)
			ends[len(ends)-1] = len(t.buf)
		}
	}
	from := 0
	for _, e := range ends {
		t.cells = append(t.cells, bytes.TrimSpace(t.buf[from:e]))
		from = e
	}
	return len(t.columns) > 0
}
