package parsers

import "bytes"

// hasPrefixFold is bytes.HasPrefix for a lower-case ASCII prefix in any case.
func hasPrefixFold(line []byte, prefix string) bool {
	if len(line) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lowerByte[line[i]] != prefix[i] {
			return false
		}
	}
	return true
}

// openLiteral reports whether text ends inside a quoted string or comment.
func openLiteral(text []byte) bool {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\'', '"', '`':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' && c != '`' {
					i++
				}
			}
			if i >= len(text) {
				return true
			}
		case '-', '#':
			if c == '#' || bytes.HasPrefix(text[i:], []byte("-- ")) {
				n := bytes.IndexByte(text[i:], '\n')
				if n < 0 {
					return false
				}
				i += n
			}
		case '/':
			if bytes.HasPrefix(text[i:], []byte("/*")) {
				n := bytes.Index(text[i:], []byte("*/"))
				if n < 0 {
					return true
				}
				i += n + 1
			}
		}
	}
	return false
}

// foreignLine reports whether a line that follows a whole statement or table
// shows by itself that it is something else: a prompt, a dated log line, the
// client's own words, the first line of another block.
func foreignLine(in *Input, line []byte) bool {
	if len(line) == 0 {
		return false
	}
	if clientWords(line) {
		return true
	}
	var st stamp
	head := bytes.TrimLeft(line, "[ ")
	if len(head) > 8 && (isDigit(head[0]) || line[0] == '[' || isASCIILetter(head[0])) && readStamp(head, &st) > 0 {
		return true
	}
	switch line[0] {
	case '=', '*', '+', '|', '$', '"', '{':
		return len(line) > 1
	}
	if line[0] == '-' && bytes.HasPrefix(line, []byte("---")) {
		return true
	}
	return in.starts != nil && in.starts(line)
}

// clientWords recognises what the mysql client prints around results.
func clientWords(line []byte) bool {
	switch line[0] {
	case 'm', 'M':
		if bytes.HasPrefix(line, []byte("mysql")) || bytes.HasPrefix(line, []byte("MariaDB [")) || bytes.HasPrefix(line, []byte("MySQL ")) {
			return bytes.IndexByte(line, '>') > 0
		}
	case 'E', 'Q', 'D', 'R', 'B':
		for _, w := range []string{"Empty set", "Query OK", "ERROR ", "Database changed", "Rows matched", "Bye"} {
			if bytes.HasPrefix(line, []byte(w)) {
				return true
			}
		}
	case '-':
		return false
	}
	if isDigit(line[0]) {
		n := digitRun(line, 0)
		return bytes.HasPrefix(line[n:], []byte(" row in set")) || bytes.HasPrefix(line[n:], []byte(" rows in set"))
	}
	return false
}

// sqlTrace returns the trace or request id in a statement's comments:
// traceparent='00-…-…-01' of sqlcommenter, trace_id=…
func sqlTrace(sql []byte) string {
	at := bytes.Index(sql, []byte("/*"))
	if at < 0 {
		return ""
	}
	comment := sql[at:]
	if end := bytes.Index(comment, []byte("*/")); end > 0 {
		comment = comment[:end]
	} else if len(comment) > 1024 {
		comment = comment[:1024]
	}
	for _, key := range []string{"traceparent", "trace_id", "traceId", "trace-id", "traceid", "request_id"} {
		i := bytes.Index(comment, []byte(key))
		if i < 0 {
			continue
		}
		v := bytes.TrimLeft(comment[i+len(key):], "=: '\"")
		if key == "traceparent" && len(v) > 35 && v[2] == '-' {
			v = v[3:35]
		}
		n := 0
		for n < len(v) && n < 64 && (wordByte(v[n]) || v[n] == '-') && v[n] < 0x80 {
			n++
		}
		if n > 0 {
			return string(v[:n])
		}
	}
	return ""
}
