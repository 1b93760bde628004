package parsers

import "bytes"

// Ids of traces and requests as headers, contexts and JSON keys name them:
//
//	[traceId=4bf92f3577b34da6a3ce929d0e0e4736, spanId=…]   [app,4bf9…,00f0…,true]
//	[4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7]    [TID:6d4f….51.17]   [TID: N/A]

// traceIn takes a trace id from the content of a bracket, and the name of the
// application that Sleuth prints before it. It reports whether there was one,
// or an empty place for one.
func (h *header) traceIn(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	if comma := bytes.IndexByte(b, ','); comma >= 0 && bytes.IndexByte(b, '=') < 0 && bytes.IndexByte(b, ' ') < 0 { // Sleuth
		app, rest := b[:comma], b[comma+1:]
		id := rest
		if c := bytes.IndexByte(rest, ','); c >= 0 {
			id = rest[:c]
		}
		if len(id) == 0 || hexID(id) {
			if hexID(app) {
				h.setTrace(app)
				return true
			}
			if len(h.app) == 0 {
				h.app = app
			}
			h.setTrace(id)
			return true
		}
		return false
	}
	if bytes.IndexByte(b, '=') > 0 || bytes.IndexByte(b, ':') > 0 {
		found := false
		for len(b) > 0 {
			field := b
			if i := bytes.IndexAny(b, ", ;|"); i >= 0 && !bytes.HasSuffix(b[:i], []byte(":")) {
				field, b = b[:i], b[i+1:]
			} else {
				b = nil
			}
			sep := bytes.IndexAny(field, "=:")
			if sep > 0 && isTraceKey(field[:sep]) {
				h.setTrace(bytes.TrimSpace(field[sep+1:]))
				found = true
			}
		}
		return found
	}
	if tracing(b) {
		h.setTrace(b)
		return true
	}
	return false
}

// tracing reports whether b is an id or two, or pairs that name one.
func tracing(b []byte) bool {
	b = bytes.TrimSpace(b)
	if hexID(b) || uuidLike(b) || len(b) == 0 {
		return true
	}
	if len(b) == 49 && b[32] == '-' || len(b) == 33 && b[16] == '-' {
		dash := bytes.IndexByte(b, '-')
		return hexID(b[:dash]) && hexID(b[dash+1:])
	}
	if i := bytes.IndexAny(b, "=:"); i > 0 && isTraceKey(b[:i]) {
		return true
	}
	if dot := bytes.IndexByte(b, '.'); dot == 32 && hexID(b[:32]) { // SkyWalking
		return true
	}
	return false
}

// hexID reports whether b is a trace or span id: 16 or 32 hexadecimal digits.
func hexID(b []byte) bool {
	if len(b) != 16 && len(b) != 32 {
		return false
	}
	for _, c := range b {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

func uuidLike(b []byte) bool {
	return len(b) == 36 && b[8] == '-' && b[13] == '-' && b[18] == '-' && b[23] == '-'
}

// setTrace keeps an id unless it says that there is none.
func (h *header) setTrace(b []byte) {
	b = bytes.Trim(b, "\"' ")
	if len(b) == 49 && b[32] == '-' || len(b) == 33 && b[16] == '-' { // trace-span
		b = b[:bytes.IndexByte(b, '-')]
	}
	if len(b) == 55 && b[2] == '-' && b[35] == '-' { // traceparent
		b = b[3:35]
	}
	if i := bytes.IndexByte(b, ':'); i == 16 || i == 32 { // uber-trace-id
		b = b[:i]
	}
	if len(h.trace) > 0 || len(b) < 4 || len(b) > 128 || len(bytes.Trim(b, "0-")) == 0 {
		return
	}
	switch string(bytes.ToLower(b)) {
	case "null", "none", "n/a", "undefined", "ignored_trace":
		return
	}
	h.trace = b
}

// pair takes key=value in a header.
func (h *header) pair(key, value []byte) bool {
	value = bytes.TrimRight(value, ",;")
	switch {
	case isTraceKey(key):
		h.setTrace(value)
	case isKey(key, "level"), isKey(key, "lvl"):
		if h.level == "" {
			h.level = levelOf(value)
		}
	case isKey(key, "thread"):
		h.thread = value
	case isKey(key, "spanid"), isKey(key, "span"), isKey(key, "traceflags"), isKey(key, "pid"), isKey(key, "sampled"), isKey(key, "parentid"):
	case isKey(key, "app"), isKey(key, "application"), isKey(key, "service"):
		h.app = value
	default:
		return false
	}
	return true
}

// traceKeys are compared without regard to case and separators. Earlier ones
// are better.
var traceKeys = []string{
	"traceid", "trace", "xb3traceid", "tid", "ddtraceid", "xamzntraceid", "ubertraceid", "eagleeyetraceid",
	"sofatraceid", "logginggoogleapiscomtrace", "traceparent", "xtraceid", "requestid", "reqid", "xrequestid", "xcorrelationid",
	"correlationid", "rid", "logid",
}

func isTraceKey(b []byte) bool {
	for _, k := range traceKeys {
		if isKey(b, k) {
			return true
		}
	}
	return false
}

// isKey compares a key with a name in small letters, without regard to case,
// separators and a leading underscore or bracket.
func isKey(b []byte, name string) bool {
	if len(b) > len(name)+8 || len(b) < len(name) {
		return false
	}
	n := 0
	for _, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			continue
		}
		if n >= len(name) || name[n] != c {
			return false
		}
		n++
	}
	return n == len(name)
}
