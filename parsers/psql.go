package parsers

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// psqlTable is a result as psql prints it: aligned (with any border), unaligned,
// CSV, or expanded.
//
//	 pid  |        state        |           query
//	------+---------------------+-----------------------------
//	 8105 | active              | update t set b=b+10        +
//	      |                     |  where id=1
//	(1 row)
//
//	-[ RECORD 1 ]----+--------------------
//	pid              | 8105
//
// A line end inside a cell is shown by a + at the cell's right edge, and the
// cell goes on in the next line.
type psqlTable struct {
	columns []string
	rows    [][]string
	lines   []int
	size    int // bytes kept
	full    bool

	// aligned only
	bounds []int // display columns at which the bars stand
	framed bool  // a bar also stands at both ends
}

const psqlMaxSize = 16 << 20 // bytes of a table that are kept

// psqlStyle is how a header line separates its columns.
type psqlStyle int8

const (
	psqlNone psqlStyle = iota
	psqlAligned
	psqlUnaligned
	psqlCSV
	psqlTabs
)

// psqlHeader reads the names in a header line.
func psqlHeader(line []byte) ([]string, psqlStyle) {
	if len(line) > 4<<10 || len(line) < 3 {
		return nil, psqlNone
	}
	text := strings.ReplaceAll(string(line), "│", "|")
	var style psqlStyle
	var sep string
	switch {
	case strings.Contains(text, " |") || strings.Contains(text, "| "):
		style, sep = psqlAligned, "|"
		text = strings.TrimSpace(text)
		if strings.HasPrefix(text, "|") && strings.HasSuffix(text, "|") {
			text = text[1:max(1, len(text)-1)]
		}
	case strings.Contains(text, "|"):
		style, sep = psqlUnaligned, "|"
	case strings.Contains(text, "\t"):
		style, sep = psqlTabs, "\t"
	case strings.Contains(text, ","):
		style, sep = psqlCSV, ","
	default:
		return nil, psqlNone
	}
	names := strings.Split(text, sep)
	for i, n := range names {
		n = strings.ToLower(strings.Trim(strings.TrimSpace(n), `"`))
		if !psqlName(n) {
			return nil, psqlNone
		}
		names[i] = n
	}
	if len(names) < 2 {
		return nil, psqlNone
	}
	return names, style
}

func psqlName(n string) bool {
	if n == "" || len(n) > 63 {
		return false
	}
	for i := range len(n) {
		c := n[i]
		if !isLetter(c) && c != '_' && c != '?' && c < 0x80 && (i == 0 || !isDigit(c) && c != ' ' && c != '.' && c != '%' && c != '(' && c != ')') {
			return false
		}
	}
	return true
}

// readPsql reads the table whose header is the next line.
func readPsql(in *Input) *psqlTable {
	t := &psqlTable{}
	if !in.Lines.Next() {
		return t
	}
	if line := in.Lines.Bytes(); psqlRecordLine(line) {
		in.Lines.Unread()
		t.expanded(in)
		return t
	}
	var style psqlStyle
	t.columns, style = psqlHeader(in.Lines.Bytes())
	switch style {
	case psqlAligned:
		t.aligned(in)
	case psqlUnaligned:
		t.unaligned(in, '|')
	case psqlTabs:
		t.unaligned(in, '\t')
	case psqlCSV:
		t.csv(in)
	}
	return t
}

// col returns the index of the first of some names that the table has; -1
// without.
func (t *psqlTable) col(names ...string) int {
	for _, n := range names {
		for i, c := range t.columns {
			if c == n {
				return i
			}
		}
	}
	return -1
}

// get returns a cell; empty if the table has no such column.
func (t *psqlTable) get(row []string, column int) string {
	if column < 0 || column >= len(row) {
		return ""
	}
	return row[column]
}

func (t *psqlTable) add(in *Input, line int, row []string) {
	n := 0
	for i, c := range row {
		row[i] = strings.TrimSpace(c)
		n += len(c) + 16
	}
	if t.size += n; t.size > psqlMaxSize {
		if !t.full {
			in.Skip(line, "table too long")
			t.full = true
		}
		return
	}
	t.rows = append(t.rows, row)
	t.lines = append(t.lines, line)
}

// aligned reads rows whose bars stand below those of the rule under the header.
func (t *psqlTable) aligned(in *Input) {
	if !in.Lines.Next() {
		return
	}
	if !t.rule(in.Lines.Bytes()) {
		in.Lines.Unread()
		return
	}
	var row []string
	first := 0
	flush := func() {
		if row != nil {
			t.add(in, first, row)
			row = nil
		}
	}
	for in.Lines.Next() {
		line := in.Lines.Bytes()
		if psqlFooter(line) {
			break
		}
		if t.framed && psqlRule(line) {
			continue
		}
		cells := t.cells(line)
		if cells == nil {
			in.Lines.Unread()
			break
		}
		if row != nil && psqlContinues(row, cells) {
			for i, c := range cells {
				if strings.HasSuffix(row[i], "+") {
					row[i] = strings.TrimRight(strings.TrimSuffix(row[i], "+"), " ") + "\n" + strings.TrimRight(strings.TrimPrefix(c, " "), " ")
				}
			}
			continue
		}
		flush()
		row, first = cells, in.Lines.Number()
		for i := range row {
			row[i] = strings.TrimRight(row[i], " ")
		}
	}
	flush()
}

// psqlContinues reports whether cells go on with a row: something is there only
// where the row's cell ends in +.
func psqlContinues(row, cells []string) bool {
	more := false
	for i, c := range cells {
		plus := strings.HasSuffix(row[i], "+")
		if strings.TrimSpace(c) != "" && !plus {
			return false
		}
		more = more || plus
	}
	return more
}

// rule reads the line under an aligned table's header.
func (t *psqlTable) rule(line []byte) bool {
	if !psqlRule(line) {
		return false
	}
	column := 0
	t.bounds, t.framed = t.bounds[:0], false
	for i, r := range string(line) {
		if r == '+' || r == '┼' || r == '├' || r == '┤' || r == '|' {
			if i == 0 {
				t.framed = true
			}
			t.bounds = append(t.bounds, column)
		}
		column++
	}
	want := len(t.columns) - 1
	if t.framed {
		want += 2
	}
	return len(t.bounds) == want
}

func psqlRule(line []byte) bool {
	if len(line) < 2 {
		return false
	}
	for _, r := range string(line) {
		if !strings.ContainsRune("-+─┼├┤└┘┌┐┴┬|", r) {
			return false
		}
	}
	return true
}

func psqlFooter(line []byte) bool {
	return len(line) > 6 && line[0] == '(' && line[len(line)-1] == ')' && bytes.Contains(line, []byte(" row"))
}

// cells splits a row at the bars; nil if the line is not a row.
func (t *psqlTable) cells(line []byte) []string {
	if cells := t.atBounds(line); cells != nil {
		return cells
	}
	// A character of a width that this program and psql do not agree on.
	text := strings.ReplaceAll(string(line), "│", "|")
	if t.framed {
		text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "|"), "|")
	}
	cells := strings.Split(text, "|")
	if len(cells) < len(t.columns) {
		return nil
	}
	return t.merge(cells, "|")
}

func (t *psqlTable) atBounds(line []byte) []string {
	cells := make([]string, 0, len(t.columns))
	from, column, next := 0, 0, 0
	bounds := t.bounds
	if t.framed && len(bounds) > 0 {
		if len(line) == 0 || line[0] != '|' && !bytes.HasPrefix(line, []byte("│")) {
			return nil
		}
		_, n := utf8.DecodeRune(line)
		from, column, next = n, 1, n
		bounds = bounds[1:]
	}
	for _, b := range bounds {
		for column < b && next < len(line) {
			r, n := utf8.DecodeRune(line[next:])
			column += displayWidth(r)
			next += n
		}
		if column != b || next >= len(line) {
			return nil
		}
		r, n := utf8.DecodeRune(line[next:])
		if r != '|' && r != '│' {
			return nil
		}
		cells = append(cells, string(line[from:next]))
		next += n
		column++
		from = next
	}
	if !t.framed {
		cells = append(cells, string(line[from:]))
	}
	if len(cells) != len(t.columns) {
		return nil
	}
	return cells
}

// displayWidth returns how many columns a terminal gives to a character.
func displayWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case r < 0x370, r >= 0x200b && r <= 0x200f, r >= 0xfe00 && r <= 0xfe0f:
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf && r != 0x303f, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// merge brings cells down to the number of columns: the separator stood inside
// the statement.
func (t *psqlTable) merge(cells []string, sep string) []string {
	extra := len(cells) - len(t.columns)
	if extra <= 0 {
		return cells
	}
	q := len(t.columns) - 1
	for i, c := range t.columns {
		if strings.Contains(c, "query") && c != "query_start" && c != "query_id" && c != "query_age" || c == "q" || strings.Contains(c, "statement") {
			q = i
			break
		}
	}
	out := append([]string{}, cells[:q]...)
	out = append(out, strings.Join(cells[q:q+extra+1], sep))
	return append(out, cells[q+extra+1:]...)
}

// unaligned reads rows whose cells are separated and not padded. A line end
// inside a cell is as it is, so a row goes on until it has all its cells, and a
// line with too few cells belongs to the row before it.
func (t *psqlTable) unaligned(in *Input, sep byte) {
	text, first, more := "", 0, 0
	n := len(t.columns)
	flush := func() {
		if first > 0 {
			cells := strings.Split(text, string(sep))
			if len(cells) >= n {
				t.add(in, first, t.merge(cells, string(sep)))
			}
		}
		first = 0
	}
	for in.Lines.Next() {
		line := in.Lines.Bytes()
		if psqlFooter(line) {
			break
		}
		here := bytes.Count(line, []byte{sep}) + 1
		whole := first > 0 && strings.Count(text, string(sep))+1 >= n
		switch {
		case here >= n && (first == 0 || whole):
			flush()
			text, first, more = string(line), in.Lines.Number(), 0
		case first == 0 && (here < 2 || !isDigit(line[0])), more > 500, len(line) == 0 && whole:
			in.Lines.Unread()
			flush()
			return
		case first == 0:
			text, first, more = string(line), in.Lines.Number(), 0
		default:
			text += "\n" + string(line)
			more++
		}
	}
	flush()
}

// csv reads rows as psql --csv and COPY … CSV write them.
func (t *psqlTable) csv(in *Input) {
	for in.Lines.Next() {
		first := in.Lines.Number()
		row, open := csvCells(nil, in.Lines.Bytes(), false)
		if !open && len(row) != len(t.columns) {
			in.Lines.Unread()
			return
		}
		for n := 0; open && n < 1000 && in.Lines.Next(); n++ {
			row[len(row)-1] += "\n"
			row, open = csvCells(row, in.Lines.Bytes(), true)
		}
		if len(row) != len(t.columns) {
			in.Skip(first, "row cut")
			return
		}
		t.add(in, first, row)
	}
}

// csvCells appends the cells of one line, the first of which may go on with the
// last cell so far. It reports whether the last one ended inside quotes.
func csvCells(row []string, line []byte, open bool) ([]string, bool) {
	if !open {
		row = append(row, "")
	}
	var cell []byte
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '"' && open && i+1 < len(line) && line[i+1] == '"':
			cell = append(cell, c)
			i++
		case c == '"':
			open = !open
		case c == ',' && !open:
			row[len(row)-1] += string(cell)
			cell = cell[:0]
			row = append(row, "")
		default:
			cell = append(cell, c)
		}
	}
	row[len(row)-1] += string(cell)
	return row, open
}

// psqlRecordLine reports whether a line is "-[ RECORD 1 ]----+-----" with any
// border.
func psqlRecordLine(line []byte) bool {
	i := bytes.Index(line, []byte("[ RECORD "))
	return i >= 0 && i <= 8 && bytes.IndexByte(line[i:], ']') > 0
}

// expanded reads records of one line a column.
func (t *psqlTable) expanded(in *Input) {
	var row []string
	first, last := 0, -1
	flush := func() {
		if row != nil {
			for len(row) < len(t.columns) {
				row = append(row, "")
			}
			t.add(in, first, row)
			row = nil
		}
	}
	for in.Lines.Next() {
		line := in.Lines.Bytes()
		if psqlRecordLine(line) {
			if bytes.Contains(line, []byte("[ RECORD 1 ]")) && first > 0 { // another result
				in.Lines.Unread()
				break
			}
			flush()
			row, first, last = []string{}, in.Lines.Number()+1, -1
			continue
		}
		text := strings.ReplaceAll(string(line), "│", "|")
		text = strings.TrimPrefix(text, "| ")
		key, value, ok := strings.Cut(text, "|")
		if !ok {
			if psqlFooter(line) || psqlRule(line) {
				continue
			}
			in.Lines.Unread()
			break
		}
		key = strings.ToLower(strings.TrimSpace(key))
		value = strings.TrimPrefix(strings.TrimRight(value, " "), " ")
		if key == "" {
			if last >= 0 && last < len(row) {
				v := strings.TrimRight(strings.TrimSuffix(row[last], "+"), " ")
				row[last] = v + "\n" + value
			}
			continue
		}
		if last = t.col(key); last < 0 {
			if !psqlName(key) || len(t.columns) >= 200 {
				in.Lines.Unread()
				break
			}
			t.columns = append(t.columns, key)
			last = len(t.columns) - 1
		}
		for len(row) <= last {
			row = append(row, "")
		}
		row[last] = value
	}
	flush()
}
