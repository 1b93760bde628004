package parsers

import (
	"bytes"
	"slices"
	"strings"
)

// Results as SQL clients print them, in the shapes of the mysql client (-t, -B,
// \G), of Markdown and of CSV exports:
//
//	| Id | User    | Time |        Id <TAB> User <TAB> Time       *************************** 1. row ***
//	+----+---------+------+        22 <TAB> shop_rw <TAB> 2            Id: 22
//	| 22 | shop_rw |    2 |                                          User: shop_rw
//
// Columns are found by name, in any order and case. A statement in a cell may
// have raw line ends and bars, so that cells are cut by the place of the
// header's bars only where these fit.

type tableShape uint8

const (
	barShape tableShape = iota
	tabShape
	commaShape
	verticalShape
)

const (
	maxColumns  = 200
	maxRowLines = 5000
)

// sqlTable reads one result. Cells are valid until the next row.
type sqlTable struct {
	in     *Input
	prefix linePrefix
	shape  tableShape

	columns []string // in lower case
	bars    []int    // offsets of the header's bars
	text    [2]int   // first and last column that may hold a statement; -1 if there is none
	cells   [][]byte
	line    int // where the row began
	rows    int // read so far
	header  []byte
	buf     []byte
	colon   int // vertical: where the key ends
}

// readTableHeader recognises a header line. It returns the names of its columns
// in lower case, nil if it is none.
func readTableHeader(line []byte, t *sqlTable) bool {
	at := 0
	if i := bytes.IndexByte(line, '|'); i >= 0 && bytes.IndexByte(line, '\t') < 0 {
		t.shape = barShape
		for at = i; at > 0 && line[at-1] != ' '; at-- { // a header without a bar in front
		}
		if line[at] == '|' {
			at++
		}
	} else if bytes.IndexByte(line, '\t') >= 0 {
		t.shape = tabShape
	} else if bytes.IndexByte(line, ',') >= 0 {
		t.shape = commaShape
	} else {
		return false
	}
	t.columns = t.columns[:0]
	t.bars = t.bars[:0]
	var sep byte
	switch t.shape {
	case barShape:
		sep = '|'
		if at > 0 {
			t.bars = append(t.bars, 0)
			t.prefix = newLinePrefix(bytes.TrimRight(line[:at-1], "|"))
		}
	case tabShape:
		sep = '\t'
	default:
		sep = ','
	}
	start := at
	for len(t.columns) < maxColumns {
		rest := line[at:]
		i := bytes.IndexByte(rest, sep)
		name := rest
		if i >= 0 {
			name = rest[:i]
		}
		name = bytes.Trim(name, " \"`'\ufeff")
		if len(name) == 0 && (i < 0 || t.shape == barShape && len(bytes.TrimSpace(rest[i+1:])) == 0) {
			break
		}
		if len(name) == 0 || len(name) > 64 {
			return false
		}
		for _, c := range name {
			if !wordByte(c) && c != ' ' && c != '(' && c != ')' && c != '.' && c != '/' && c != '%' {
				return false
			}
		}
		t.columns = append(t.columns, strings.ToLower(string(name)))
		if i < 0 {
			break
		}
		at += i + 1
		if t.shape == barShape {
			t.bars = append(t.bars, at-1-max(start-1, 0))
		}
	}
	return len(t.columns) >= 2
}

// column returns the index of the first of the names that is a column, or -1.
func (t *sqlTable) column(names ...string) int {
	for _, n := range names {
		if i := slices.Index(t.columns, n); i >= 0 {
			return i
		}
	}
	return -1
}

// cell returns a cell without padding; nil for SQL NULL and missing columns.
func (t *sqlTable) cell(i int) []byte {
	if i < 0 || i >= len(t.cells) {
		return nil
	}
	c := t.cells[i]
	if string(c) == "NULL" {
		return nil
	}
	return c
}

// setText names the columns that may hold statements.
func (t *sqlTable) setText(names ...string) {
	t.text = [2]int{-1, -1}
	for i, c := range t.columns {
		if slices.Contains(names, c) {
			if t.text[0] < 0 {
				t.text[0] = i
			}
			t.text[1] = i
		}
	}
}

// next advances to the next line and removes the prefix. It returns false at
// the end of the block, where the foreign line is unread.
func (t *sqlTable) next() ([]byte, bool) {
	if !t.in.Lines.Next() {
		return nil, false
	}
	line, ok := t.prefix.strip(t.in.Lines.Bytes())
	if !ok {
		t.in.Lines.Unread()
	}
	return line, ok
}

// row reads the next row of a horizontal table. again is true for a repeated
// header: another result with the same columns.
func (t *sqlTable) row() (ok, again bool) {
	for {
		line, ok := t.next()
		if !ok {
			return false, false
		}
		t.line = t.in.Lines.Number()
		switch {
		case bytes.Equal(line, t.header):
			return true, true
		case t.shape == barShape:
			if isBorder(line) {
				if t.rows > 0 { // the one below the last row
					return false, false
				}
				continue
			}
			t.rows++
			if len(line) == 0 || len(t.bars) > 0 && t.bars[0] == 0 && line[0] != '|' ||
				len(t.bars) > 0 && t.bars[0] != 0 && bytes.IndexByte(line, '|') < 0 {
				t.in.Lines.Unread()
				return false, false
			}
			return t.barRow(line), false
		default:
			if t.flatRow(line) {
				return true, false
			}
			t.in.Lines.Unread()
			return false, false
		}
	}
}

func isBorder(line []byte) bool {
	if len(line) < 3 || line[0] != '+' && line[0] != '|' && line[0] != '-' {
		return false
	}
	for _, c := range line {
		if c != '-' && c != '+' && c != '|' && c != ':' && c != ' ' && c != '=' {
			return false
		}
	}
	return true
}

// barRow reads a row between bars, over as many lines as it has.
func (t *sqlTable) barRow(line []byte) bool {
	t.cells = t.cells[:0]
	last := t.bars[len(t.bars)-1]
	if fits := len(line) > last && len(bytes.TrimRight(line[last:], " |")) == 0; fits {
		for _, b := range t.bars {
			fits = fits && line[b] == '|'
		}
		if fits {
			for i := 1; i < len(t.bars); i++ {
				t.cells = append(t.cells, bytes.TrimSpace(line[t.bars[i-1]+1:t.bars[i]]))
			}
			return true
		}
	}
	t.buf = append(t.buf[:0], line...)
	bars := bytes.Count(line, []byte{'|'})
	for n := 0; n < maxRowLines; n++ {
		closed := bytes.HasSuffix(bytes.TrimRight(line, " "), []byte{'|'}) || t.bars[0] != 0
		if closed && bars >= len(t.columns)-1+2*b2i(t.bars[0] == 0) {
			break
		}
		var ok bool
		if line, ok = t.next(); !ok {
			break
		}
		if isBorder(line) && len(line) > 3 {
			t.in.Lines.Unread()
			break
		}
		bars += bytes.Count(line, []byte{'|'})
		if len(t.buf)+len(line) < maxStatementText*2 {
			t.buf = append(append(t.buf, '\n'), line...)
		}
	}
	t.splitBars(bytes.Trim(t.buf, " "))
	return true
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// splitBars cuts a row whose bars are not where the header's are: columns
// before the statement from the left, those behind it from the right.
func (t *sqlTable) splitBars(row []byte) {
	row = bytes.TrimPrefix(row, []byte{'|'})
	row = bytes.TrimSuffix(row, []byte{'|'})
	lo, hi := t.text[0], t.text[1]
	if lo < 0 {
		lo, hi = len(t.columns)-1, len(t.columns)-1
	}
	for i := 0; i < lo; i++ {
		cell, rest, ok := bytes.Cut(row, []byte{'|'})
		if !ok {
			break
		}
		t.cells = append(t.cells, bytes.TrimSpace(cell))
		row = rest
	}
	var tail [][]byte
	for i := len(t.columns) - 1; i > hi; i-- {
		j := bytes.LastIndexByte(row, '|')
		if j < 0 {
			break
		}
		tail = append(tail, bytes.TrimSpace(row[j+1:]))
		row = row[:j]
	}
	for _, c := range bytes.SplitN(row, []byte(" | "), hi-lo+1) {
		t.cells = append(t.cells, bytes.TrimSpace(c))
	}
	for len(t.cells) <= hi {
		t.cells = append(t.cells, nil)
	}
	for i := len(tail) - 1; i >= 0; i-- {
		t.cells = append(t.cells, tail[i])
	}
}

// flatRow reads a row of a TAB- or comma-separated table.
func (t *sqlTable) flatRow(line []byte) bool {
	t.cells = t.cells[:0]
	if t.shape == commaShape {
		return t.commaRow(line)
	}
	for {
		cell, rest, more := bytes.Cut(line, []byte{'\t'})
		t.cells = append(t.cells, bytes.TrimSpace(cell))
		if !more || len(t.cells) > maxColumns {
			break
		}
		line = rest
	}
	n, want := len(t.cells), len(t.columns)
	if n >= want || n > 0 && n == want-1 && t.text[1] != want-1 { // trailing empty cells may be lost
		return true
	}
	if t.text[0] < 0 || n <= t.text[0] {
		return false
	}
	// Unescaped output: the statement goes on in the next lines.
	t.buf = append(t.buf[:0], t.cells[n-1]...)
	keep := make([][]byte, 0, want)
	for _, c := range t.cells[:n-1] {
		keep = append(keep, bytes.Clone(c))
	}
	for range maxRowLines {
		line, ok := t.next()
		if !ok {
			return false
		}
		parts := bytes.Split(line, []byte{'\t'})
		t.buf = append(append(t.buf, '\n'), parts[0]...)
		if len(parts) > 1 {
			t.cells = append(append(t.cells[:0], keep...), t.buf)
			t.cells = append(t.cells, parts[1:]...)
			return true
		}
	}
	return false
}

// commaRow reads a row of a CSV export; quoted cells may span lines.
func (t *sqlTable) commaRow(line []byte) bool {
	t.buf = t.buf[:0]
	var ends []int
	quoted := false
	for n := 0; ; n++ {
		for i := 0; i < len(line); i++ {
			switch c := line[i]; {
			case c == '"' && quoted && i+1 < len(line) && line[i+1] == '"':
				t.buf = append(t.buf, c)
				i++
			case c == '"':
				quoted = !quoted
			case c == ',' && !quoted:
				ends = append(ends, len(t.buf))
			default:
				t.buf = append(t.buf, c)
			}
		}
		if !quoted || n > maxRowLines {
			break
		}
		var ok bool
		if line, ok = t.next(); !ok {
			break
		}
		t.buf = append(t.buf, '\n')
	}
	ends = append(ends, len(t.buf))
	from := 0
	for _, e := range ends {
		t.cells = append(t.cells, bytes.TrimSpace(t.buf[from:e]))
		from = e
	}
	return len(t.cells) == len(t.columns)
}

// unescape undoes the escapes of -B output in place of a copy.
func unescapeBatch(b []byte) []byte {
	if bytes.IndexByte(b, '\\') < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		i++
		switch b[i] {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case '0':
			out = append(out, 0)
		default:
			out = append(out, b[i])
		}
	}
	return out
}
