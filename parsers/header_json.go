package parsers

import (
	"bytes"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON lines, by family:
//
//	{"@timestamp":"2026-03-14T09:12:33.123Z","level":"WARN","message":"…","logger_name":"…","stack_trace":"…"}   logstash
//	{"@timestamp":"…","log.level":"WARN","message":"…","process.thread.name":"…","error.stack_trace":"…"}        ECS
//	{"instant":{"epochSecond":1773479553,"nanoOfSecond":123000000},"thread":"…","level":"WARN","message":"…","thrown":{…}}  log4j2
//	{"version":"1.1","host":"…","short_message":"…","timestamp":1773479553.123,"level":4}                        GELF
//	{"time":"…","level":"WARN","msg":"…"}  {"level":"warn","ts":1773479553.123,"msg":"…","error":"…"}             slog, zap
//	{"level":40,"time":1773479553123,"pid":1,"hostname":"…","msg":"…"}                                           pino, bunyan
//
// Nested objects and dotted keys are alike.

// jsonLine is what a JSON line holds beside its header.
type jsonLine struct {
	message  []byte
	full     []byte // GELF's full_message
	errors   [][]byte
	extra    []byte // other keys, as key=value
	instance []byte
	buf      []byte // unescaped strings
	numLevel int
}

func (d *jsonLine) reset() {
	*d = jsonLine{errors: d.errors[:0], extra: d.extra[:0], buf: d.buf[:0], numLevel: -1}
}

// text appends the message, then the errors and other keys.
func (d *jsonLine) text(dst []byte) []byte {
	message := d.message
	if len(d.full) > 0 {
		message = d.full
	}
	dst = append(dst, message...)
	for _, e := range d.errors {
		if len(e) > 0 && !bytes.Contains(message, e) {
			dst = append(append(dst, '\n'), bytes.TrimRight(e, "\n")...)
		}
	}
	if len(d.extra) > 0 {
		dst = append(append(dst, '\n'), d.extra[1:]...)
	}
	return dst
}

// fromJSON reads a whole JSON line. Only an object that has a time or a level
// and a message is a log record.
func (h *header) fromJSON(line []byte) bool {
	d := &h.doc
	w := jsonWalker{h: h, b: line}
	if !w.object(1, 0) && len(d.message) == 0 {
		return false
	}
	if len(d.message)+len(d.full)+len(d.errors) == 0 {
		return false
	}
	if h.level == "" && d.numLevel >= 0 {
		h.level = numberedLevel(d.numLevel)
	}
	h.json = true
	return h.timed() || h.level != ""
}

// numberedLevel names syslog's severities (0 to 7) and pino's levels (10 to 60).
func numberedLevel(n int) string {
	switch {
	case n <= 2:
		return "FATAL"
	case n == 3:
		return "ERROR"
	case n == 4:
		return "WARN"
	case n <= 6:
		return "INFO"
	case n == 7:
		return "DEBUG"
	case n < 20:
		return "TRACE"
	case n < 30:
		return "DEBUG"
	case n < 40:
		return "INFO"
	case n < 50:
		return "WARN"
	case n < 60:
		return "ERROR"
	}
	return "FATAL"
}

const (
	jsonDepth     = 8
	jsonExtraSize = 2 << 10
)

// jsonWalker goes through one JSON object without building it.
type jsonWalker struct {
	h    *header
	b    []byte
	path [160]byte
}

// object reads members from i, just behind the brace. It reports whether the
// object was whole; what was read before damage counts all the same.
func (w *jsonWalker) object(i, path int) bool {
	_, ok := w.members(i, path, 1)
	return ok
}

func (w *jsonWalker) members(i, path, depth int) (end int, ok bool) {
	b := w.b
	for {
		i = skipJSONSpace(b, i)
		switch byteAt(b, i) {
		case '}':
			return i + 1, true
		case ',':
			i++
			continue
		case '"':
		default:
			return i, false
		}
		keyEnd := stringEnd(b, i)
		if keyEnd < 0 {
			return i, false
		}
		key := b[i+1 : keyEnd-1]
		i = skipJSONSpace(b, keyEnd)
		if byteAt(b, i) != ':' {
			return i, false
		}
		i = skipJSONSpace(b, i+1)
		n := path
		if n > 0 && n < len(w.path) {
			w.path[n] = '.'
			n++
		}
		n += copy(w.path[n:], key)
		name := w.path[:n]
		switch c := byteAt(b, i); {
		case c == '"':
			e := stringEnd(b, i)
			if e < 0 { // cut: the rest is its value
				w.h.member(name, w.unescape(b[i+1:]), true)
				return len(b), false
			}
			w.h.member(name, w.unescape(b[i+1:e-1]), true)
			i = e
		case c == '{' && depth < jsonDepth && !opaque(name):
			e, whole := w.members(i+1, rootless(name), depth+1)
			if !whole {
				return e, false
			}
			i = e
		case c == '{' || c == '[':
			e := skipJSONValue(b, i)
			if e < 0 {
				return i, false
			}
			w.h.member(name, b[i:e], false)
			i = e
		default:
			e := i
			for e < len(b) && b[e] != ',' && b[e] != '}' && b[e] != ' ' {
				e++
			}
			if e == i {
				return i, false
			}
			w.h.member(name, b[i:e], false)
			i = e
		}
	}
}

// rootless returns the length of the path that members of a wrapping object
// get: none for those that only wrap.
func rootless(name []byte) int {
	switch string(name) {
	case "_source", "jsonPayload", "_source.json", "json", "jsonPayload.fields", "contextMap", "mdc", "MDC", "fields", "data", "attributes", "labels", "tags", "context", "properties":
		return 0
	}
	return len(name)
}

// opaque names objects that are payload, not log fields.
func opaque(name []byte) bool {
	switch string(name) {
	case "request", "response", "payload", "args", "body":
		return true
	}
	return false
}

// member takes one scalar, or a whole array.
func (h *header) member(name, v []byte, quoted bool) {
	d := &h.doc
	if i := bytes.LastIndexByte(name, '.'); i > 0 && string(name[:i]) == "instant" && !quoted {
		h.instant(name[i+1:], v)
		return
	}
	switch string(name) {
	case "@timestamp", "timestamp", "time", "ts", "@t", "t", "datetime", "asctime", "timeMillis", "eventTime", "date", "Timestamp", "T", "logTime", "timestampMillis":
		h.jsonTime(v)
	case "level", "log.level", "severity", "@l", "lvl", "levelname", "loglevel", "L", "logLevel", "severity_text", "severityText", "Level":
		if level := levelOf(v); level != "" {
			h.level = level
		} else if n := digitRun(v, 0); !quoted && n == len(v) && n > 0 && n <= 3 {
			d.numLevel = digitsAt(v, 0, n)
		}
	case "message", "msg", "short_message", "textPayload", "@m", "@mt", "M", "log", "body", "Message", "event.original", "text":
		if len(d.message) == 0 || string(name) == "message" {
			d.message = v
		}
	case "full_message":
		d.full = v
	case "logger_name", "log.logger", "logger", "loggerName", "_logger", "name", "class", "N", "SourceContext", "LoggerName":
		h.logger = v
	case "caller", "C", "source", "func", "caller_class_name":
		if len(h.logger) == 0 && quoted {
			h.logger = v
		}
	case "thread_name", "process.thread.name", "thread", "_thread_name", "threadName", "_thread":
		if quoted {
			h.thread = v
		}
	case "stack_trace", "error.stack_trace", "thrown.extendedStackTrace", "errorVerbose", "stacktrace", "@x", "exception", "stack",
		"exc_info", "err.stack", "error.stack", "exception.stacktrace", "thrown.stackTrace", "S", "stackTrace", "error", "err", "E", "throwable", "ex",
		"exception.stack_trace", "error.message", "err.message", "error.verbose", "thrown.message", "exception.exception_message", "throwable.stackTrace":
		if quoted {
			d.errors = append(d.errors, v)
		}
	case "service", "app", "application", "service.name", "appName", "app_name", "application_name", "applicationName", "spring.application.name", "serviceName", "service_name", "_app", "_application", "appname", "kubernetes.labels.app":
		if quoted && len(v) > 0 {
			h.app = v
		}
	case "host", "hostname", "HOSTNAME", "host.name", "pod", "pod_name", "podName", "kubernetes.pod_name", "kubernetes.pod.name", "k8s.pod.name", "host_name":
		if quoted && len(v) > 0 {
			d.instance = v
		}
	case "@version", "level_value", "ecs.version", "version", "pid", "v", "endOfBatch", "loggerFqcn", "threadId", "threadPriority", "process.pid", "spanId", "span_id", "span.id", "event.dataset", "@i", "@tr", "@sp":
		if string(name) == "@tr" {
			h.setTrace(v)
		}
	default:
		last := name
		if i := bytes.LastIndexByte(name, '/'); i > 0 && bytes.HasPrefix(name, []byte("logging.googleapis.com")) {
			last = name[i+1:]
		}
		if isTraceKey(last) {
			if i := bytes.LastIndexByte(v, '/'); i >= 0 { // projects/p/traces/…
				v = v[i+1:]
			}
			h.setTrace(v)
			return
		}
		if room := jsonExtraSize - len(d.extra); room > len(name)+len(v)+2 {
			d.extra = append(append(append(append(d.extra, ' '), name...), '='), v...)
		}
	}
}

func (h *header) instant(key, v []byte) {
	n := digitRun(v, 0)
	if n != len(v) || n == 0 || n > 10 {
		return
	}
	s := &h.stamp
	switch string(key) {
	case "epochSecond":
		nan := s.nan
		if t, ok := epochTime(v); ok {
			*s = stamp{shape: shapeEpoch, zoned: true, unix: t.Add(time.Duration(nan))}
		}
	case "nanoOfSecond":
		nan := digitsAt(v, 0, n)
		if s.shape == shapeEpoch {
			s.unix = s.unix.Add(time.Duration(nan))
		} else {
			s.nan = nan
		}
	}
}

// jsonTime takes a time in text or as an epoch.
func (h *header) jsonTime(v []byte) {
	if h.timed() {
		return
	}
	if readStamp(v, &h.stamp) > 0 {
		return
	}
	h.stamp = stamp{}
	n := digitRun(v, 0)
	t, ok := epochTime(v[:n])
	if !ok {
		return
	}
	if byteAt(v, n) == '.' {
		f := fractionNanos(v[n+1 : n+1+digitRun(v, n+1)])
		switch n {
		case 10:
			t = t.Add(time.Duration(f))
		case 13:
			t = t.Add(time.Duration(f / 1000000))
		}
	} else if e := byteAt(v, n); e == 'e' || e == 'E' {
		return
	}
	h.stamp = stamp{shape: shapeEpoch, zoned: true, unix: t}
}

func skipJSONSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the offset behind the string that begins at i; -1 if it
// has no end.
func stringEnd(b []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		i++
		if slashes%2 == 0 {
			return i
		}
	}
}

// skipJSONValue returns the offset behind an object or array; -1 if it has no end.
func skipJSONValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = stringEnd(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// unescape returns the text of a JSON string; the line's own bytes if nothing
// was escaped.
func (w *jsonWalker) unescape(b []byte) []byte {
	i := bytes.IndexByte(b, '\\')
	if i < 0 {
		return b
	}
	d := &w.h.doc
	start := len(d.buf)
	d.buf = appendUnescaped(d.buf, b, i)
	return d.buf[start:]
}

// appendUnescaped appends b, whose first backslash is at i, to dst without escapes.
func appendUnescaped(dst, b []byte, i int) []byte {
	for {
		dst = append(dst, b[:i]...)
		b = b[i:]
		if len(b) < 2 {
			return append(dst, b...)
		}
		n := 2
		switch c := b[1]; c {
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
		case 'b', 'f':
			dst = append(dst, ' ')
		case 'u':
			r := hexRune(b, 2)
			if r < 0 {
				dst = append(dst, b[:2]...)
				break
			}
			n = 6
			if utf16.IsSurrogate(r) && byteAt(b, 6) == '\\' && byteAt(b, 7) == 'u' {
				if r2 := hexRune(b, 8); r2 >= 0 {
					r = utf16.DecodeRune(r, r2)
					n = 12
				}
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
		b = b[n:]
		if i = bytes.IndexByte(b, '\\'); i < 0 {
			return append(dst, b...)
		}
	}
}

func hexRune(b []byte, i int) rune {
	if i+4 > len(b) {
		return -1
	}
	var r rune
	for _, c := range b[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}
