package parsers

import "bytes"

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
	json    *accessJSON // where a line is an object
	tail    string      // what ends the line, from a format that was given
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
	at := 0
	for i := range l.columns {
		c := &l.columns[i]
		from := at + len(c.lead)
		if from > len(line) || string(line[at:from]) != c.lead {
			return false
		}
		var to int
		switch c.end {
		case 0:
			if c.until != "" {
				to = c.before(line, from)
			} else {
				to = bareEnd(line, from, l.sep)
			}
			at = to
		case '\n':
			to = len(line)
			at = to
		case '"':
			to = quoteEnd(line, from)
			at = to + 1
		default:
			to = bytes.IndexByte(line[from:], c.end)
			if to >= 0 {
				to += from
			}
			at = to + 1
		}
		if to < 0 {
			return false
		}
		out[i] = extent{int32(from), int32(to)}
	}
	return at >= len(line) || len(bytes.TrimRight(line[at:], " \t;,")) == 0 || string(line[at:]) == l.tail
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
		n := bytes.IndexByte(line[at:], '"')
		if n < 0 {
			return -1
		}
		at += n
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
		for at < len(line) && line[at] != sep {
			at++
		}
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
