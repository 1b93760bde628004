package parsers

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// An access log's line is a row of columns, of which each begins behind a
// literal that is the same in every line (` rt=`, ` "`) and ends at a quote, a
// bracket or the separator. The columns are found once, in sample lines; from
// then on a line is cut by comparing the literals and searching the ends.

const maxAccessColumns = 64

// accessColumn is where one column stands.
type accessColumn struct {
	lead    string     // what stands before the value: blanks, a key, an opening quote
	end     byte       // what ends it: '"', ']', '}', the line ('\n'); 0 for the separator
	key     string     // canonical name in lead; empty if it has none
	role    accessRole // what the key says that it is, whatever the values are
	until   string     // a literal that ends it, from a format that was given
	atLeast int        // bytes that it has
}

// accessLayout is one kind of line.
type accessLayout struct {
	sep     byte // between columns: ' ', or '|', a tab, …
	columns []accessColumn
	plan    accessPlan
	steps   []accessStep // how to find the columns; made of them
	more    bool         // it has columns that few have
	json    *accessJSON  // where a line is an object
	tail    string       // what ends the line, from a format that was given
}

// extent is a piece of a line.
type extent struct{ from, to int32 }

func (s extent) of(line []byte) []byte { return line[s.from:s.to] }

// split cuts a line into the layout's columns. It reports whether the line is
// of the layout.
func (l *accessLayout) split(line []byte, out *[maxAccessColumns]extent) bool {
	if l.json != nil {
		return l.json.split(line, out)
	}
	if l.steps == nil {
		l.steps = stepsOf(l.columns)
	}
	_, ok := l.splitFrom(0, line, out)
	return ok
}

// ready prepares a layout that will not change any more.
func (l *accessLayout) ready() *accessLayout {
	l.steps = stepsOf(l.columns)
	l.more = l.plan.parts > 1
	for _, role := range [...]accessRole{roleQueued, roleTrace, roleBackend, roleFlags, roleAttempts, roleRetries, roleOrdinal, rolePeer, roleCreated, roleGRPC} {
		l.more = l.more || l.plan.has(role)
	}
	return l
}

// accessStep is how to find one column.
type accessStep struct {
	word, mask uint64 // the lead, if it is short
	lead       string
	end        byte
	until      bool
}

func stepsOf(columns []accessColumn) []accessStep {
	steps := make([]accessStep, len(columns))
	for i := range columns {
		c := &columns[i]
		s := accessStep{lead: c.lead, end: c.end, until: c.until != ""}
		if n := len(c.lead); n <= 8 {
			for k := range n {
				s.word |= uint64(c.lead[k]) << (8 * k)
				s.mask |= 0xff << (8 * k)
			}
		}
		steps[i] = s
	}
	return steps
}

// splitFrom cuts a line of which so many columns are cut already. It returns how
// many are now, and whether the line is of the layout.
func (l *accessLayout) splitFrom(cut int, line []byte, out *[maxAccessColumns]extent) (int, bool) {
	at := 0
	if cut > 0 {
		at = int(out[cut-1].to)
		if e := l.steps[cut-1].end; e != 0 && e != '\n' {
			at++
		}
	}
	for i := cut; i < len(l.steps); i++ {
		s := &l.steps[i]
		from := at + len(s.lead)
		if from > len(line) {
			return i, false
		}
		if len(s.lead) <= 8 && at+8 <= len(line) {
			if binary.LittleEndian.Uint64(line[at:])&s.mask != s.word {
				return i, false
			}
		} else if string(line[at:from]) != s.lead {
			return i, false
		}
		var to int
		switch {
		case s.end == 0 && s.until:
			to = l.columns[i].before(line, from)
			at = to
		case s.end == 0:
			to = bareEnd(line, from, l.sep)
			at = to
		case s.end == '\n':
			to = len(line)
			at = to
		case s.end == '"':
			to = quoteEnd(line, from)
			at = to + 1
		default:
			if to = byteFrom(line, from, s.end); to == len(line) {
				to = -1
			}
			at = to + 1
		}
		if to < 0 {
			return i, false
		}
		out[i] = extent{int32(from), int32(to)}
	}
	return len(l.steps), at >= len(line) || len(bytes.TrimRight(line[at:], " \t;,")) == 0 || string(line[at:]) == l.tail
}

// byteFrom returns the offset of the first c in a line from an offset on; the
// line's length if there is none. It is made for values of a few bytes.
func byteFrom(line []byte, at int, c byte) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	for end := at + 32; at+8 <= len(line); at += 8 {
		x := binary.LittleEndian.Uint64(line[at:]) ^ uint64(c)*low
		if m := (x - low) &^ x & high; m != 0 {
			return at + bits.TrailingZeros64(m)/8
		}
		if at >= end {
			if n := bytes.IndexByte(line[at+8:], c); n >= 0 {
				return at + 8 + n
			}
			return len(line)
		}
	}
	for at < len(line) && line[at] != c {
		at++
	}
	return at
}

// before returns where a column ends that ends at a literal; -1 if it is not there.
func (c *accessColumn) before(line []byte, from int) int {
	n := bytes.Index(line[min(from+c.atLeast, len(line)):], []byte(c.until))
	if n < 0 {
		return -1
	}
	return from + c.atLeast + n
}

// cut reports whether a line is one of the layout whose end is missing.
func (l *accessLayout) cut(line []byte) bool {
	if l.json != nil {
		return line[0] == '{' && bracketEnd(line, 0) < 0
	}
	at := 0
	for i := range l.columns {
		c := &l.columns[i]
		n := min(len(c.lead), len(line)-at)
		if string(line[at:at+n]) != c.lead[:n] {
			return false
		}
		if at += n; at >= len(line) {
			return i > l.plan.clock()
		}
		switch c.end {
		case 0:
			if c.until != "" {
				at = c.before(line, at)
			} else {
				at = bareEnd(line, at, l.sep)
			}
		case '\n':
			return false
		case '"':
			at = quoteEnd(line, at) + 1
		default:
			at += bytes.IndexByte(line[at:], c.end) + 1
		}
		if at <= 0 || c.end != 0 && line[at-1] != c.end {
			return i > l.plan.clock()
		}
	}
	return false
}

// headless reports whether a line is one of the layout whose beginning is missing.
func (l *accessLayout) headless(line []byte) bool {
	if l.json != nil {
		return line[0] != '{' && line[len(line)-1] == '}'
	}
	columns := columnsOf(line, l.sep, new([maxAccessColumns]extent))
	n, telling := 0, false
	for n < min(len(columns), len(l.columns)) && columns[len(columns)-1-n] == l.columns[len(l.columns)-1-n] {
		if c := columns[len(columns)-1-n]; c.end != 0 || c.key != "" {
			telling = true
		}
		n++
	}
	return n >= 2 && telling
}

// quoteEnd returns the offset of the quote that ends a value, -1 if there is
// none. A backslash escapes; nginx writes \x22, Apache httpd \".
func quoteEnd(line []byte, from int) int {
	for at := from; ; {
		if at = byteFrom(line, at, '"'); at >= len(line) {
			return -1
		}
		if at == from || line[at-1] != '\\' {
			return at
		}
		escapes := 0
		for at-1-escapes >= from && line[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at
		}
		at++
	}
}

// bareEnd returns where a value without quotes ends. Elements of a list, which
// nginx separates by ", " and " : ", belong to one value.
func bareEnd(line []byte, at int, sep byte) int {
	for {
		at = byteFrom(line, at, sep)
		if sep != ' ' || at >= len(line) {
			return at
		}
		switch {
		case at > 0 && line[at-1] == ',' && listElement(line[at+1:]):
			at++
		case at+2 < len(line) && line[at+1] == ':' && line[at+2] == ' ':
			at += 3
		default:
			return at
		}
	}
}

// listElement reports whether a list goes on with text: an address, a number,
// a dash, the name of a group, but no key and nothing in quotes.
func listElement(text []byte) bool {
	if len(text) == 0 || text[0] == '"' || text[0] == '{' || text[0] == ' ' {
		return false
	}
	for _, c := range text {
		switch c {
		case ' ', ',':
			return true
		case '=', '"', '(':
			return false
		}
	}
	return true
}

// columnsOf finds the columns of a sample line. It returns nil if there are too
// many, or if a quote is not closed.
func columnsOf(line []byte, sep byte, out *[maxAccessColumns]extent) []accessColumn {
	var columns []accessColumn
	for at := 0; at < len(line); {
		from := at
		if at > 0 && sep != ' ' && line[at] == sep {
			from++
		}
		for from < len(line) && (line[from] == ' ' || line[from] == '\t' && sep == ' ') {
			from++
		}
		if from >= len(line) {
			break
		}
		c, value, next := accessColumnAt(line, from, sep)
		if next < 0 || len(columns) == maxAccessColumns {
			return nil
		}
		c.lead = string(line[at:value.from])
		out[len(columns)] = value
		columns = append(columns, c)
		at = next
		if sep != ' ' && c.end != 0 { // blanks before the separator
			for at < len(line) && line[at] != sep {
				at++
			}
			if len(bytes.TrimSpace(line[next:at])) > 0 { // not the whole field after all
				c, value = accessColumn{lead: c.lead[:len(c.lead)-1]}, extent{value.from - 1, int32(at)}
				out[len(columns)-1], columns[len(columns)-1] = value, c
			} else {
				at = next
			}
		}
	}
	return columns
}

// accessColumnAt finds the column that begins at an offset, its value, and where the
// line goes on.
func accessColumnAt(line []byte, at int, sep byte) (c accessColumn, value extent, next int) {
	if n := keyAt(line[at:], sep); n > 0 {
		c.key = accessKey(line[at : at+n])
		at += n + 1
		for at < len(line) && line[at] == ' ' && at+1 < len(line) && line[at-1] == ':' { // "key: value"
			at++
		}
	}
	switch opening := byteAt(line, at); {
	case opening == '"':
		at++
		c.end = '"'
		if n := keyAt(line[at:], sep); n > 0 && c.key == "" && knownKey(line[at:at+n]) {
			c.key = accessKey(line[at : at+n])
			at += n + 1
		}
		next = quoteEnd(line, at)
	case opening == '[' && !isIPv6(line[at:]), opening == '{':
		c.end = opening + 2
		at++
		next = bytes.IndexByte(line[at:], c.end)
		if next >= 0 {
			next += at
		}
	default:
		next = bareEnd(line, at, sep)
		return c, extent{int32(at), int32(next)}, next
	}
	if next < 0 {
		return c, extent{}, -1
	}
	return c, extent{int32(at), int32(next)}, next + 1
}

// isIPv6 reports whether text begins with an address as "[::1]:8080".
func isIPv6(text []byte) bool {
	i := bytes.IndexByte(text, ']')
	return i > 2 && i < 48 && byteAt(text, i+1) == ':' && bytes.IndexByte(text[:i], ':') > 0
}

// keyAt returns the length of a key before '=', or before ':' if it is one that
// is known or if a quote follows; 0 if there is none.
func keyAt(text []byte, sep byte) int {
	n := 0
	for n < len(text) && n < 48 && isKeyByte(text[n]) {
		n++
	}
	if n == 0 || n >= len(text) || !isASCIILetter(text[0]) && text[0] != '$' && text[0] != '_' {
		return 0
	}
	switch text[n] {
	case '=':
		return n
	case ':':
		url := byteAt(text, n+1) == '/' && byteAt(text, n+2) == '/'
		if byteAt(text, n+1) == '"' || !url && (sep == '\t' || knownKey(text[:n])) {
			return n
		}
	}
	return 0
}

func isKeyByte(c byte) bool {
	return isASCIILetter(c) || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c == '$'
}

// accessKey returns a key's canonical form: letters and digits in lower case, so
// that $upstream_addr, upstreamAddr and upstream-addr are one.
func accessKey(key []byte) string {
	out := make([]byte, 0, len(key))
	for _, c := range key {
		switch {
		case c >= 'A' && c <= 'Z':
			out = append(out, c|0x20)
		case isASCIILetter(c) || c >= '0' && c <= '9':
			out = append(out, c)
		}
	}
	return string(out)
}
