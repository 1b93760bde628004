package parsers

import (
	"bytes"
)

// header is what stands before the message of an application-log line.
type header struct {
	stamp  stamp
	level  string // canonical: TRACE, DEBUG, INFO, WARN, ERROR, FATAL; empty if none
	logger []byte
	thread []byte
	trace  []byte
	app    []byte
	text   int  // where the message begins in the line
	col    int  // where the time begins
	json   bool // the message is in doc
	doc    jsonLine
}

// parse reads the header of a line and reports whether there is one: a time
// near the start of the line, or a level. Layouts are told by their shape, not
// by a pattern: what stands between time and message is taken field by field,
// in whatever order.
func (h *header) parse(line []byte) bool {
	i := 0
	for byteAt(line, i) == ' ' || byteAt(line, i) == '\t' || byteAt(line, i) == 0xef && bytes.HasPrefix(line[i:], utf8BOM) {
		if line[i] == 0xef {
			i += 2
		}
		i++
		if i > 16 {
			return false
		}
	}
	if i > 0 && i == len(line) || len(line)-i < 4 {
		return false
	}
	if bytes.HasPrefix(line[i:], frameStart) {
		return false
	}
	h.reset()
	c := line[i]
	switch {
	case c == '{':
		return h.fromJSON(line[i:])
	case c >= '0' && c <= '9', c == '[', c == '<', c >= 0x80:
	case c >= 'A' && c <= 'Z':
		if h.klog(line[i:]) {
			h.text += i
			return true
		}
	case c >= 'a' && c <= 'z', c == '@', c == '"':
		if h.logfmt(line[i:]) {
			h.text += i
			return true
		}
	default:
		return false
	}
	return h.plain(line, i)
}

// frameStart begins the lines of a Java stack trace, of which there are many.
var frameStart = []byte("at ")

func (h *header) reset() {
	doc := h.doc
	doc.reset()
	*h = header{doc: doc}
}

// timed and strong tell how sure a header is.
func (h *header) timed() bool  { return h.stamp.shape != shapeNone }
func (h *header) strong() bool { return h.timed() && h.level != "" }

var utf8BOM = []byte("\ufeff")

// levelOf returns the canonical name of a level word, or "".
func levelOf(b []byte) string {
	if len(b) < 3 || len(b) > 11 {
		return ""
	}
	var up [12]byte
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		up[i] = c
	}
	switch string(up[:len(b)]) {
	case "TRACE", "TRC", "FINER", "FINEST", "VERBOSE":
		return "TRACE"
	case "DEBUG", "DBG", "FINE", "CONFIG":
		return "DEBUG"
	case "INFO", "INF", "INFORMATION", "NOTICE":
		return "INFO"
	case "WARN", "WARNING", "WRN":
		return "WARN"
	case "ERROR", "ERR", "SEVERE", "DPANIC":
		return "ERROR"
	case "FATAL", "FTL", "CRITICAL", "CRIT", "ALERT", "EMERG", "EMERGENCY", "PANIC", "PNC":
		return "FATAL"
	case "警告":
		return "WARN"
	case "严重", "错误":
		return "ERROR"
	case "信息":
		return "INFO"
	}
	return ""
}

// levelWord reads a level in capitals at the start of b, as text layouts print
// it, and returns its width.
func levelWord(b []byte) (level string, n int) {
	if len(b) > 0 && b[0] >= 0x80 {
		for n < len(b) && b[n] >= 0x80 && n < 6 {
			n++
		}
		return levelOf(b[:n]), n
	}
	for n < len(b) && b[n] >= 'A' && b[n] <= 'Z' {
		n++
		if n > 11 {
			return "", 0
		}
	}
	if level = levelOf(b[:n]); level == "" {
		return "", 0
	}
	switch byteAt(b, n) {
	case 0, ' ', '\t', ':', ']', '|', ',', '-', '[', '(', ')', '>', ';', '/':
		return level, n
	}
	return "", 0
}

// klog reads W0314 09:12:33.123456       1 file.go:12] msg, and I20260314 … of glog.
func (h *header) klog(line []byte) bool {
	level := ""
	switch line[0] {
	case 'I':
		level = "INFO"
	case 'W':
		level = "WARN"
	case 'E':
		level = "ERROR"
	case 'F':
		level = "FATAL"
	default:
		return false
	}
	n := digitRun(line, 1)
	if n != 4 && n != 8 || byteAt(line, 1+n) != ' ' {
		return false
	}
	s := &h.stamp
	s.year = 0
	if n == 8 {
		s.year = digitsAt(line, 1, 4)
	}
	s.month, s.day = digitsAt(line, n-3, 2), digitsAt(line, n-1, 2)
	end := s.clock(line, n+2)
	if end == 0 {
		return false
	}
	s.shape = shapeMonthDay
	if s.valid(end) == 0 {
		s.shape = shapeNone
		return false
	}
	h.level = level
	h.text = end
	if i := bytes.IndexByte(line[end:min(len(line), end+120)], ']'); i >= 0 {
		h.logger = bytes.TrimSpace(lastField(line[end : end+i]))
		h.text = end + i + 1
	}
	for byteAt(line, h.text) == ' ' {
		h.text++
	}
	return true
}

// lastField returns what follows the last space of b.
func lastField(b []byte) []byte {
	return b[bytes.LastIndexByte(b, ' ')+1:]
}

// looksLikeLog reports whether a text is an application log, by its first lines:
// several of them have a time and a level. A log that says nothing of interest
// is evidence too, unlike a text that nobody can read.
func looksLikeLog(text []byte) bool {
	var h header
	records := 0
	for n := 0; n < 200 && len(text) > 0 && records < 2; n++ {
		line := text
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = nil
		}
		if h.parse(line) && h.strong() {
			records++
		}
	}
	return records >= 2
}
