package parsers

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// The server log of PostgreSQL as log_destination = jsonlog writes it (since
// 15), and as CloudNativePG prints csvlog to a container's output:
//
//	{"timestamp":"2026-03-14 09:12:33.918 UTC","user":"shop_rw","dbname":"shop","pid":8097,"remote_host":"10.20.1.7",…,"error_severity":"ERROR","state_code":"57014","message":"canceling statement due to statement timeout","statement":"select …"}
//	{"level":"info","logger":"postgres","msg":"record","record":{"log_time":"2026-03-14 09:12:33.918 UTC","user_name":"shop_rw",…,"error_severity":"ERROR","message":"…"}}
func postgresqlJSONLog() Format {
	return Format{
		Name:     "postgresql-jsonlog",
		Doc:      "PostgreSQL server log in JSON, also as CloudNativePG wraps it: the same evidence as the plain one",
		Versions: "PostgreSQL 15 to 18, CloudNativePG",
		Signs:    []string{`{"timestamp":"…","pid":8097,…,"error_severity":"LOG","message":"duration: …`},
		Marks:    []string{`"error_severity":"`, `"error_severity": "`},
		Starts:   pgJSONStarts,
		Block: func(in *Input, emit Emit) error {
			j := &pgJSONLog{in: in, server: newPGServer(in, emit)}
			for in.Lines.Next() {
				if !pgJSONStarts(in.Lines.Bytes()) {
					in.Lines.Unread()
					break
				}
				if err := j.line(in.Lines.Bytes()); err != nil {
					return err
				}
			}
			return j.server.close()
		},
	}
}

func pgJSONStarts(line []byte) bool {
	i := bytes.IndexByte(line, '{')
	return i >= 0 && i < 100 && bytes.IndexByte(line[:i], '"') < 0 &&
		bytes.Contains(line, []byte(`"error_severity":`)) && bytes.Contains(line, []byte(`"message":`))
}

type pgJSONLog struct {
	in     *Input
	server *pgServer
	buf    []byte // unescaped values
	rec    pgRecord
	stamp  []byte
}

func (j *pgJSONLog) line(line []byte) error {
	j.buf, j.stamp = j.buf[:0], nil
	j.rec = pgRecord{line: j.in.Lines.Number(), cut: j.in.Lines.Cut()}
	if !j.object(line[bytes.IndexByte(line, '{')+1:], 0) {
		j.in.Skip(j.rec.line, "postgresql jsonlog: line cut or damaged")
		if len(j.rec.message) == 0 {
			return nil
		}
		j.rec.cut = true
	}
	j.rec.time, j.rec.zoned = pgTime(j.stamp, j.in.Hint)
	return j.server.record(&j.rec)
}

// object reads the keys and values of an object whose opening brace was read.
// It returns false if the text ended within it.
func (j *pgJSONLog) object(b []byte, depth int) bool {
	for {
		b = bytes.TrimLeft(b, " \t,")
		if len(b) == 0 {
			return false
		}
		if b[0] == '}' {
			return true
		}
		if b[0] != '"' {
			return false
		}
		key, rest, ok := jsonString(b)
		if !ok {
			return false
		}
		b = bytes.TrimLeft(rest, " \t:")
		if len(b) == 0 {
			return false
		}
		switch b[0] {
		case '"':
			raw, rest, ok := jsonString(b)
			j.set(key, j.unescape(raw))
			if !ok {
				return false
			}
			b = rest
		case '{':
			if string(key) == "record" && depth == 0 {
				if !j.object(b[1:], 1) {
					return false
				}
			}
			n := jsonValueLen(b)
			if n < 0 {
				return false
			}
			b = b[n:]
		default:
			n := jsonValueLen(b)
			if n < 0 {
				return false
			}
			j.set(key, b[:n])
			b = b[n:]
		}
	}
}

// set takes one field, under either family of names.
func (j *pgJSONLog) set(key, v []byte) {
	r := &j.rec
	switch string(key) {
	case "timestamp", "log_time":
		j.stamp = v
	case "user", "user_name":
		r.user = v
	case "dbname", "database_name":
		r.db = v
	case "pid", "process_id":
		r.pid = v
	case "remote_host":
		r.host = pgKnown(v)
	case "connection_from":
		r.host = pgHostOnly(v)
	case "error_severity":
		r.severity = pgWord(v)
	case "state_code", "sql_state_code":
		r.code = v
	case "message":
		r.message = v
	case "detail":
		r.detail = v
	case "context":
		r.context = v
	case "statement", "query":
		if len(v) > 0 {
			r.statement = v
		}
	case "internal_query":
		r.query = v
	case "application_name":
		r.app = v
	}
}

// jsonString splits a string off b, which begins with its quote. The string is
// returned as it stands, still escaped. Without a closing quote ok is false and
// all of b is the string.
func jsonString(b []byte) (s, rest []byte, ok bool) {
	for at := 1; ; {
		i := bytes.IndexByte(b[at:], '"')
		if i < 0 {
			return b[1:], nil, false
		}
		at += i
		back := at
		for back > 1 && b[back-1] == '\\' {
			back--
		}
		if (at-back)%2 == 0 {
			return b[1:at], b[at+1:], true
		}
		at++
	}
}

// jsonValueLen returns the length of the value at the start of b; -1 if it does
// not end.
func jsonValueLen(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			_, rest, ok := jsonString(b[i:])
			if !ok {
				return -1
			}
			i = len(b) - len(rest) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ':
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// unescape returns the text of a string. What it returns holds until the next
// line is read.
func (j *pgJSONLog) unescape(raw []byte) []byte {
	i := bytes.IndexByte(raw, '\\')
	if i < 0 {
		return raw
	}
	start := len(j.buf)
	for ; i >= 0; i = bytes.IndexByte(raw, '\\') {
		j.buf = append(j.buf, raw[:i]...)
		if i+1 >= len(raw) {
			raw = nil
			break
		}
		c := raw[i+1]
		raw = raw[i+2:]
		switch c {
		case 'n':
			j.buf = append(j.buf, '\n')
		case 't':
			j.buf = append(j.buf, '\t')
		case 'r':
			j.buf = append(j.buf, '\r')
		case 'b', 'f':
			j.buf = append(j.buf, ' ')
		case 'u':
			var r rune
			r, raw = jsonRune(raw)
			j.buf = utf8.AppendRune(j.buf, r)
		default:
			j.buf = append(j.buf, c)
		}
	}
	j.buf = append(j.buf, raw...)
	return j.buf[start:]
}

// jsonRune reads the four digits after \u, and a second half if it needs one.
func jsonRune(b []byte) (rune, []byte) {
	hex := func(b []byte) rune {
		if len(b) < 4 {
			return -1
		}
		n, err := strconv.ParseUint(string(b[:4]), 16, 16)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	r := hex(b)
	if r < 0 {
		return utf8.RuneError, b
	}
	b = b[4:]
	if utf16.IsSurrogate(r) && len(b) >= 6 && b[0] == '\\' && b[1] == 'u' {
		if low := hex(b[2:]); low >= 0 {
			if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
				return full, b[6:]
			}
		}
	}
	return r, b
}
