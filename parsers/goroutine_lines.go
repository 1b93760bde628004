package parsers

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

var (
	goWord        = []byte("goroutine ")
	goCreatedBy   = []byte("created by ")
	goInGoroutine = []byte(" in goroutine ")
	goDots        = []byte("...")
	goElided      = []byte("frames elided...")
	goOriginating = []byte("[originating from goroutine ")
	goUnavailable = []byte("stack unavailable")
	goLabelsWord  = []byte(" labels:{")
)

// goHeader is a goroutine's first line.
//
//	goroutine 7 gp=0xc000102e00 m=nil [chan receive (scan), 3 minutes, locked to thread labels:{"route": "/a]b"}]:
type goHeader struct {
	id     []byte
	status []byte // between the brackets, without labels
	labels []byte // "{…}"; empty if there are none
}

// parseGoHeader reads a header that begins at the line's first byte.
func parseGoHeader(line []byte) (goHeader, bool) {
	var h goHeader
	rest, ok := bytes.CutPrefix(line, goWord)
	if !ok {
		return h, false
	}
	n := 0
	for n < len(rest) && isDigit(rest[n]) {
		n++
	}
	if n == 0 || n > 20 {
		return h, false
	}
	h.id, rest = rest[:n], rest[n:]
	for len(rest) > 1 && rest[0] == ' ' && rest[1] != '[' { // gp=0x… m=0 mp=0x…
		end := bytes.IndexByte(rest[1:], ' ')
		if end < 0 || bytes.IndexByte(rest[1:1+end], '=') < 0 {
			return h, false
		}
		rest = rest[1+end:]
	}
	if len(rest) < 3 || rest[0] != ' ' || rest[1] != '[' {
		return h, false
	}
	rest = rest[2:]
	end := closingBracket(rest)
	if end < 0 {
		return h, false
	}
	h.status = rest[:end]
	rest = bytes.TrimRight(rest[end+1:], " \t")
	if len(rest) == 0 || rest[len(rest)-1] != ':' {
		return h, false
	}
	if i := bytes.Index(h.status, goLabelsWord); i >= 0 {
		h.status, h.labels = h.status[:i], h.status[i+len(goLabelsWord)-1:]
	} else if len(rest) > 1 {
		h.labels = bytes.TrimSpace(rest[:len(rest)-1])
		if h.labels = bytes.TrimPrefix(h.labels, []byte("labels:")); len(h.labels) == 0 || h.labels[0] != '{' {
			return h, false
		}
	}
	return h, true
}

// closingBracket returns the offset of the first ']' outside quotes, or -1.
func closingBracket(s []byte) int {
	end := bytes.IndexByte(s, ']')
	if end < 0 || bytes.IndexByte(s[:end], '"') < 0 {
		return end
	}
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && c == ']':
			return i
		}
	}
	return -1
}

// goroutineAt returns where in a line a goroutine's header begins, or -1. What
// stands before it is a prefix that a log or a mail has put there.
func goroutineAt(line []byte) int {
	for from := 0; ; {
		i := bytes.Index(line[from:], goWord)
		if i < 0 || from+i > maxPrefix {
			return -1
		}
		at := from + i
		if at == 0 || !isWordByte(line[at-1]) {
			if _, ok := parseGoHeader(line[at:]); ok {
				return at
			}
		}
		from = at + len(goWord)
	}
}

// goState is what the words in a header's brackets mean.
type goState struct {
	state     evidence.State
	detail    string
	waited    time.Duration
	running   bool
	semaphore bool // a runtime semaphore: before Go 1.20 also that of a mutex
}

// goStates remembers statuses, of which a dump has few different ones.
type goStates map[string]goState

func (m *goStates) of(status []byte) goState {
	if s, ok := (*m)[string(status)]; ok {
		return s
	}
	if *m == nil || len(*m) > 4096 {
		*m = goStates{}
	}
	s := parseGoStatus(string(status))
	(*m)[string(status)] = s
	return s
}

// parseGoStatus reads "IO wait, 3 minutes, locked to thread".
func parseGoStatus(text string) goState {
	s := goState{waited: evidence.None}
	reason, rest, _ := strings.Cut(text, ",")
	for rest != "" {
		var part string
		part, rest, _ = strings.Cut(rest, ",")
		if n, ok := strings.CutSuffix(strings.TrimSpace(part), " minutes"); ok {
			if m, err := strconv.ParseInt(n, 10, 32); err == nil && m >= 0 {
				s.waited = time.Duration(m) * time.Minute
			}
		}
	}
	reason = strings.ReplaceAll(reason, " (scan)", "")
	reason = strings.TrimSpace(strings.ReplaceAll(reason, " (durable)", ""))
	s.detail = clip(reason, 100)
	base, _ := strings.CutSuffix(reason, " (leaked)")
	switch base {
	case "running":
		s.state, s.running = evidence.StateRunnable, true
	case "runnable", "syscall", "copystack", "preempted", "waiting for cgo callback",
		"GC assist marking", "GC worker (active)", "garbage collection", "garbage collection scan":
		s.state = evidence.StateRunnable
	case "sleep":
		s.state = evidence.StateTimedWaiting
	case "sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock":
		s.state = evidence.StateBlocked
	case "dead", "moribund":
		s.state = evidence.StateTerminated
	case "semacquire":
		s.state, s.semaphore = evidence.StateWaiting, true
	case "", "???":
		s.state = evidence.StateUnknown
	default: // the statuses are few and named above: every other word is a reason to wait
		s.state = evidence.StateWaiting
	}
	return s
}

// locksSync reports whether the innermost frames wait for a mutex.
func locksSync(frames []*evidence.Frame) bool {
	for _, f := range frames {
		switch {
		case strings.HasPrefix(f.Func, "runtime.") || strings.HasPrefix(f.Func, "sync.runtime_") || strings.HasPrefix(f.Func, "internal/sync.runtime_"):
		case strings.HasPrefix(f.Func, "sync.(*Mutex)") || strings.HasPrefix(f.Func, "sync.(*RWMutex)") || strings.HasPrefix(f.Func, "internal/sync.(*Mutex)"):
			return true
		default:
			return false
		}
	}
	return false
}

// parseGoLabels reads {"route": "/list", "user": "7"}, with or without blanks.
func parseGoLabels(text []byte) map[string]string {
	labels := map[string]string{}
	s := strings.TrimPrefix(string(text), "{")
	for len(labels) < 64 {
		s = strings.TrimLeft(s, " ,\t")
		key, rest, ok := quoted(s)
		if !ok {
			break
		}
		rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " "), ":")
		if !ok {
			break
		}
		value, rest, ok := quoted(strings.TrimLeft(rest, " "))
		if !ok {
			break
		}
		labels[key], s = value, rest
	}
	if len(labels) == 0 {
		return nil
	}
	return labels
}

// quoted reads a Go string literal at the start of s.
func quoted(s string) (value, rest string, ok bool) {
	q, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", s, false
	}
	value, err = strconv.Unquote(q)
	return value, s[len(q):], err == nil
}

// goCall reads a frame's first line, "main.(*T).Do(0xc000012345, {0x1, ...})",
// and returns the function's name.
func goCall(line []byte) ([]byte, bool) {
	if line[len(line)-1] != ')' {
		return nil, false
	}
	open := bytes.LastIndexByte(line, '(')
	if open <= 0 || line[0] == ' ' || line[0] == '\t' {
		return nil, false
	}
	name := line[:open]
	if bytes.IndexByte(name, ' ') >= 0 {
		return nil, false
	}
	return name, bytes.IndexByte(name, '.') > 0 || string(name) == "panic" || string(name) == "gogo" || string(name) == "goexit"
}

// goPlace reads a frame's second line, "\t/src/shop/order.go:14 +0x2a fp=… sp=… pc=…",
// and returns "/src/shop/order.go:14". The indent may have been lost.
func goPlace(line []byte) ([]byte, bool) {
	for len(line) > 0 && (line[0] == '\t' || line[0] == ' ') {
		line = line[1:]
	}
	for range 4 { // + fp= sp= pc=
		i := bytes.LastIndexByte(line, ' ')
		if i < 0 || i+3 >= len(line) {
			break
		}
		tail := line[i+1:]
		if tail[0] != '+' && tail[2] != '=' {
			break
		}
		line = bytes.TrimRight(line[:i], " ")
	}
	if bytes.HasPrefix(line, []byte("pc=0x")) { // a C frame without symbols
		return nil, true
	}
	colon := bytes.LastIndexByte(line, ':')
	if colon <= 0 || colon+1 == len(line) || len(line)-colon > 12 {
		return nil, false
	}
	for _, c := range line[colon+1:] {
		if !isDigit(c) {
			return nil, false
		}
	}
	return line, true
}

// isRegister reports a line of a register dump: "rax    0x0", "lr      0x45".
func isRegister(line []byte) bool {
	n := 0
	for n < len(line) && isWordByte(line[n]) {
		n++
	}
	rest := bytes.TrimLeft(line[n:], " \t")
	return n >= 2 && n <= 8 && len(rest) < len(line)-n && bytes.HasPrefix(rest, []byte("0x")) && bytes.IndexByte(rest, ' ') < 0
}

// isGoDebris reports what the runtime prints inside a dump that is of no use here.
func isGoDebris(line []byte) bool {
	for _, p := range []string{"runtime: ", "stack: frame=", "traceback: ", "\truntime: "} {
		if bytes.HasPrefix(line, []byte(p)) {
			return true
		}
	}
	return len(line) > 4 && line[0] == '0' && line[1] == 'x' && bytes.Contains(line[:min(len(line), 24)], []byte(":  "))
}

// isCSymbol reports a frame that is not Go's.
func isCSymbol(line []byte) bool {
	if string(line) == "non-Go function" {
		return true
	}
	for i, c := range line {
		if !isWordByte(c) || i == 0 && isDigit(c) {
			return false
		}
	}
	return len(line) > 2 && bytes.IndexByte(line, '_') >= 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || isDigit(c)
}
