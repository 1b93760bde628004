package parsers

import "bytes"

// Text layouts, by their usual names:
//
//	2026-03-14 09:12:33.123  WARN 4711 --- [io-8080-exec-12] c.a.shop.Client   : msg    (Spring Boot 1, 2)
//	2026-03-14T09:12:33.123+01:00  WARN 4711 --- [app] [thread] [trace-span] c.a.C : msg   (3.2 and later)
//	09:12:33.123 [http-nio-8080-exec-12] WARN c.a.Client - msg                          (logback)
//	2026-03-14 09:12:33,123 INFO  [thread] logger (File.java:12) - msg                  (log4j 1)
//	2026-03-14 09:12:33,123 WARN  [logger] (default task-3) msg                         (WildFly)
//	14-Mar-2026 09:12:33.123 WARNING [thread] class.method msg                          (Tomcat)
//	2026-03-14 09:12:33<TAB>ERROR<TAB>failover/cluster_invoker.go:106<TAB>msg           (dubbo-go)

const (
	headerWidth  = 640 // bytes of a line that may be its header
	headerFields = 14
	bracketWidth = 240
)

// plain reads a text header that begins at i.
func (h *header) plain(line []byte, i int) bool {
	end := min(len(line), headerWidth)
	head := line[:end]
	// The time stands first, or after a level, a bracket or a name.
	for tokens := 0; tokens < 5 && i < end; tokens++ {
		open := 0
		for c := byteAt(head, i+open); (c == '[' || c == '(' || c == '"') && open < 2; c = byteAt(head, i+open) {
			open++
		}
		if n := readStamp(head[i+open:], &h.stamp); n > 0 {
			if next := byteAt(head, i+open+n); isASCIILetter(next) || next >= '0' && next <= '9' {
				h.stamp.shape = shapeNone
				return false
			}
			h.col = i
			i += open + n
			for open > 0 && (byteAt(head, i) == ']' || byteAt(head, i) == ')' || byteAt(head, i) == '"') {
				i++
				open--
			}
			h.fields(line, head, i)
			return true
		}
		switch {
		case head[i] == '<' && tokens == 0: // syslog's priority, and the version after it
			n := bytes.IndexByte(head[:min(end, i+8)], '>')
			if n < 0 || digitRun(head, i+1) != n-i-1 {
				return false
			}
			i = n + 1
			if digitRun(head, i) == 1 && byteAt(head, i+1) == ' ' {
				i += 2
			}
		case head[i] == '[':
			n := bytes.IndexByte(head[i:min(end, i+bracketWidth)], ']')
			if n < 0 {
				return false
			}
			content := head[i+1 : i+n]
			if dubboBracket(content) {
				return false
			}
			if level := levelOf(bytes.TrimSpace(content)); level != "" && h.level == "" {
				h.level = level
			} else if !h.bracket(content, false) {
				return false
			}
			i += n + 1
		default:
			level, n := levelWord(head[i:])
			if level == "" || h.level != "" {
				if tokens == 0 && h.level == "" { // a host or a service name
					n = bytes.IndexByte(head[:min(end, i+64)], ' ')
					if n > i && hasStampSoon(head[n:]) && hostLike(head[i:n]) {
						i = n
						break
					}
				}
				return h.timeless(line, i)
			}
			h.level = level
			i += n
		}
		for c := byteAt(head, i); c == ' ' || c == '\t' || c == ':' || c == '|' || c == '-'; c = byteAt(head, i) {
			i++
		}
	}
	return h.timeless(line, i)
}

// timeless accepts a header that has only a level.
func (h *header) timeless(line []byte, i int) bool {
	if h.level == "" {
		return false
	}
	h.stamp.shape = shapeNone
	h.fields(line, line[:min(len(line), headerWidth)], i)
	return true
}

func hasStampSoon(b []byte) bool {
	i := 0
	for byteAt(b, i) == ' ' || byteAt(b, i) == '[' || byteAt(b, i) == '|' || byteAt(b, i) == '-' {
		i++
	}
	if c := byteAt(b, i); c < '0' || c > '9' {
		return false
	}
	var s stamp
	return readStamp(b[i:], &s) > 0 && s.shape != shapeClock && s.shape != shapeEpoch
}

func hostLike(b []byte) bool {
	for _, c := range b {
		if !isASCIILetter(c) && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return len(b) > 1
}

// fields reads what stands between the time and the message.
func (h *header) fields(line, head []byte, i int) {
	dashes := false // Spring Boot's ---
	named := false  // the token before was a logger
	brackets := 0   // after the dashes
	for range headerFields {
		sep := false
		for i < len(head) {
			c := head[i]
			if c == ' ' || c == '\t' || c == '|' || c == ',' && sep {
				sep = true
				i++
				continue
			}
			if (c == '-' || c == ':' || c == '>' || c == '=') && (byteAt(head, i+1) == ' ' || byteAt(head, i+1) == '\t' || byteAt(head, i+1) == c || c != '=' && i+1 == len(head)) {
				run := i
				for byteAt(head, run) == c {
					run++
				}
				if c == '-' && run-i == 3 {
					dashes = true
				} else if named && !h.levelAhead(head, run) {
					i = run
					h.text = skipBlank(line, i)
					return
				}
				i = run
				sep = true
				continue
			}
			break
		}
		h.text = i
		if i >= len(head) {
			return
		}
		switch c := head[i]; {
		case c == '[':
			n := bytes.IndexByte(head[i:min(len(head), i+bracketWidth)], ']')
			if n < 0 {
				return
			}
			content := head[i+1 : i+n]
			if dubboBracket(content) || named && len(h.thread) > 0 && h.level != "" && !tracing(content) {
				return
			}
			if nested := bytes.IndexByte(content, '['); nested >= 0 { // [http-nio-[8080]-1]
				if m := bytes.IndexByte(head[i+n+1:min(len(head), i+bracketWidth)], ']'); m >= 0 {
					n += m + 1
					content = head[i+1 : i+n]
				}
			}
			trimmed := bytes.TrimSpace(content)
			if level := levelOf(trimmed); level != "" && h.level == "" {
				h.level = level
			} else {
				if dashes {
					brackets++
				}
				next := skipBlank(head, i+n+1)
				switch {
				case dashes && brackets == 1 && byteAt(head, next) == '[' && !h.isTraceBlock(head[next:]):
					h.app = trimmed
				case len(h.thread) == 0 && byteAt(head, next) == '(' && classLike(trimmed):
					h.logger = trimmed // WildFly: the thread follows in ( )
				default:
					h.bracket(content, dashes)
				}
			}
			named = false
			i += n + 1
			continue
		case c == '(':
			n := bytes.IndexByte(head[i:min(len(head), i+bracketWidth)], ')')
			if n < 0 {
				return
			}
			content := head[i+1 : i+n]
			if sourceFile(content) || named { // (File.java:12)
				i += n + 1
				continue
			}
			if len(h.thread) > 0 || len(h.logger) == 0 {
				return
			}
			h.thread = content
			i += n + 1
			h.text = skipBlank(line, i)
			return
		}
		if h.level == "" {
			if level, n := levelWord(head[i:]); level != "" {
				h.level = level
				i += n
				named = false
				continue
			}
		}
		n := tokenEnd(head, i)
		token := head[i:n]
		if len(token) == 0 {
			return
		}
		if k := digitRun(token, 0); k == len(token) && k <= 10 && len(h.logger) == 0 { // process or thread number
			i = n
			continue
		}
		if key := bytes.IndexByte(token, '='); key > 0 && len(h.logger) == 0 {
			if !h.pair(token[:key], token[key+1:]) {
				return
			}
			i = n
			continue
		}
		name := token
		colon := false
		if k := bytes.IndexByte(name, ':'); k > 0 && (k == len(name)-1 || digitRun(name, k+1) == len(name)-k-1 || name[len(name)-1] == ':' && digitRun(name, k+1) > 0) {
			colon = k == len(name)-1 || name[len(name)-1] == ':'
			name = name[:k]
		}
		if len(h.logger) > 0 || !loggerLike(name) || exceptionClass(name) {
			if level, _ := lowLevel(token); h.level == "" && level != "" && h.timed() {
				h.level = level
				i = n
				continue
			}
			return
		}
		next := skipBlank(head, n)
		sepNext := byteAt(head, next)
		follows := colon || byteAt(head, n) == '\t' || sepNext == ':' && next+1 < len(head) || sepNext == '-' && (byteAt(head, next+1) == ' ' || byteAt(head, next+1) == '\t' || byteAt(head, next+1) == '-') ||
			sepNext == '|' || sepNext == '(' || sepNext == '[' || sepNext == '>' || next >= len(head)
		if !follows && (!classLike(name) || h.level == "") {
			if len(h.thread) == 0 && h.level == "" && h.timed() { // 09:12:33 host prog[1]: …
				if level, _ := levelWord(head[next:]); level != "" {
					h.thread = token
					i = n
					continue
				}
			}
			return
		}
		h.logger = name
		named = true
		i = n
		if colon || bytes.HasSuffix(name, []byte(".go")) && len(name) < len(token) { // zap's caller stands last
			h.text = skipBlank(line, i)
			return
		}
		if !follows {
			h.text = skipBlank(line, i)
			return
		}
	}
	h.text = i
}

// dubboBracket reports whether a bracket is the beginning of a Dubbo message.
func dubboBracket(b []byte) bool {
	switch string(b) {
	case "DUBBO", "Dubbo-Consumer", "Dubbo-Provider", "Cluster", "Router":
		return true
	}
	return false
}

// levelAhead reports whether the level is still to come at i, as Python's
// usual layout has it: logger - LEVEL - message.
func (h *header) levelAhead(head []byte, i int) bool {
	if h.level != "" {
		return false
	}
	level, _ := levelWord(head[min(skipBlank(head, i), len(head)):])
	return level != ""
}

// bracket takes the content of [ ], which may be a thread, trace ids or context.
func (h *header) bracket(content []byte, boot bool) bool {
	content = bytes.TrimSpace(content)
	if len(content) == 0 {
		return true
	}
	if h.traceIn(content) {
		return true
	}
	if len(h.thread) == 0 {
		h.thread = content
		return true
	}
	if len(h.logger) == 0 && classLike(content) && !boot {
		h.logger = content
	}
	return true
}

// isTraceBlock reports whether b begins with a bracket that holds ids or
// blanks, as Spring Boot prints after the thread.
func (h *header) isTraceBlock(b []byte) bool {
	n := bytes.IndexByte(b, ']')
	if n < 0 {
		return false
	}
	content := bytes.TrimSpace(b[1:n])
	return len(content) == 0 || tracing(content)
}

func skipBlank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	return i
}

func tokenEnd(b []byte, i int) int {
	for i < len(b) && b[i] != ' ' && b[i] != '\t' && b[i] != '[' && b[i] != '|' && b[i] != '(' {
		i++
	}
	return i
}

// lowLevel reads a level in small letters, as Go loggers print it.
func lowLevel(b []byte) (string, int) {
	b = bytes.TrimSuffix(b, []byte(":"))
	return levelOf(b), len(b)
}

// loggerLike reports whether b may be a logger's name.
func loggerLike(b []byte) bool {
	if len(b) < 2 || !isASCIILetter(b[0]) && b[0] != '_' && b[0] != '~' && b[0] != '.' {
		return false
	}
	for _, c := range b {
		if !isASCIILetter(c) && (c < '0' || c > '9') && !bytes.ContainsRune(loggerChars, rune(c)) {
			return false
		}
	}
	return true
}

var loggerChars = []byte("._$-/~#@")

// classLike reports whether b is a dotted name.
func classLike(b []byte) bool {
	dot := bytes.IndexByte(b, '.')
	return dot > 0 && dot < len(b)-1 && loggerLike(b)
}

func exceptionClass(b []byte) bool {
	return bytes.HasSuffix(b, []byte("Exception")) || bytes.HasSuffix(b, []byte("Error")) || bytes.HasSuffix(b, []byte("Throwable"))
}

// sourceFile reports whether b is File.java:12 or the like.
func sourceFile(b []byte) bool {
	colon := bytes.LastIndexByte(b, ':')
	return colon > 0 && digitRun(b, colon+1) == len(b)-colon-1 || bytes.HasSuffix(b, []byte(".java")) || bytes.HasSuffix(b, []byte("Unknown Source"))
}
