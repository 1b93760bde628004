package parsers

import "bytes"

// logfmt reads the lines of slog's text handler, logrus and others:
//
//	time=2026-03-14T09:12:33.123Z level=WARN msg=retrying attempt=2 err="…"
//	ts=2026-03-14T09:12:33.123Z caller=main.go:12 level=warn msg="…"
//
// Keys come in any order; the message may be any of msg and message. The text
// of the record is the whole line, for other keys carry errors.
func (h *header) logfmt(line []byte) bool {
	head := line[:min(len(line), headerWidth)]
	eq := bytes.IndexByte(head[:min(len(head), 40)], '=')
	if eq <= 0 || bytes.IndexByte(head[:eq], ' ') >= 0 {
		return false
	}
	for i, n := 0, 0; i < len(head) && n < 12; n++ {
		i = skipBlank(head, i)
		eq := bytes.IndexByte(head[i:], '=')
		if eq <= 0 {
			break
		}
		key := head[i : i+eq]
		if bytes.IndexByte(key, ' ') >= 0 {
			break
		}
		i += eq + 1
		value, end := logfmtValue(head, i)
		i = end
		switch string(key) {
		case "time", "ts", "timestamp", "t", "@timestamp", "datetime":
			if !h.timed() && readStamp(value, &h.stamp) == 0 {
				h.stamp.shape = shapeNone
			}
		case "level", "lvl", "severity", "log.level":
			h.level = levelOf(value)
		case "logger", "caller", "component":
			h.logger = value
		case "thread":
			h.thread = value
		case "service", "app", "service.name":
			h.app = value
		default:
			if isTraceKey(key) {
				h.setTrace(value)
			}
		}
	}
	h.text = 0
	return h.timed() || h.level != "" && bytes.Contains(line, []byte("msg="))
}

// logfmtValue returns the value at i, without its quotes, and where it ends.
func logfmtValue(b []byte, i int) (value []byte, end int) {
	if byteAt(b, i) != '"' {
		end = i
		for end < len(b) && b[end] != ' ' && b[end] != '\t' {
			end++
		}
		return b[i:end], end
	}
	for end = i + 1; end < len(b); end++ {
		if b[end] == '\\' {
			end++
		} else if b[end] == '"' {
			return b[i+1 : end], end + 1
		}
	}
	return b[i+1:], len(b)
}
