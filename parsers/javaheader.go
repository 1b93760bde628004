package parsers

import (
	"bytes"
	"strconv"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// javaHeader is the first line of one thread, in any of these shapes:
//
//	"Worker-3" daemon prio=1 tid=0x0000002ac6 nid=0x57f8 in Object.wait() [0x51d6d000..0x51d6dd30]   JDK 5
//	"exec-4" #31 [20000] daemon prio=5 os_prio=0 cpu=12,34ms elapsed=81,02s tid=0x7f nid=20000 runnable  [0x7f]   21+
//	"GC Thread#0" os_prio=0 cpu=0.13ms elapsed=6.86s tid=0x7f nid=0x4d4c runnable
//	"ajp-bio-8009-exec-7" - Thread t@2282                                         VisualVM, JConsole
//	"main@1" prio=5 tid=0x1 nid=NA waiting                                        JetBrains
//	"worker" daemon prio=5 Id=13 BLOCKED on java.lang.Object@4a57 owned by "x" Id=12   ThreadInfo
//	"worker" Id=27 cpuUsage=23% deltaTime=45ms time=1200ms RUNNABLE               Arthas
//	#28 "order-vt-3" virtual WAITING 2026-11-30T05:17:05.137350878Z               dump_to_file
//
// Its byte slices are parts of the line.
type javaHeader struct {
	name   []byte
	id     []byte
	native uint64
	cpu    time.Duration
	elapse time.Duration
	state  evidence.State
	status []byte // the VM's word for it: "waiting on condition"
	tail   []byte // after the state: " on X@1f owned by …"

	bare       bool // nothing follows the name
	daemonPrio bool
	tid, nid   bool
	stack      bool // the address of a stack is printed: the VM itself wrote this
	at         bool // t@N
	idEq       bool // Id=N
	internal   bool
	selection  bool // Arthas: it shows some threads only
	virtual    bool
	toFile     bool
	debugger   bool // written by a debugger, which knows no native thread
}

var (
	htmlQuote = []byte("&quot;")
	quoteMark = []byte(`"`)
)

// family says in which kind of dump the header may stand.
func (h *javaHeader) family() family {
	switch {
	case h.toFile:
		return familyToFile
	case h.tid, h.nid, h.at:
		return familyHotSpot
	case h.idEq && h.state != evidence.StateUnknown, h.internal:
		return familyThreadInfo
	}
	return familyNone
}

// parse reads a line that begins with a quote or #N and a quote. It returns
// false if no header field follows the name.
func (h *javaHeader) parse(text []byte) bool {
	*h = javaHeader{cpu: evidence.None, elapse: evidence.None}
	if text[0] == '&' {
		text = unescapeHTML(text)
	}
	if text[0] == '#' {
		end := bytes.IndexByte(text, '"')
		if end < 3 {
			return false
		}
		h.id, text, h.toFile = text[1:end-1], text[end:], true
		return h.toFileRest(text)
	}
	if text[0] != '"' {
		return false
	}
	name, rest, ok := headerName(text)
	if !ok {
		return false
	}
	h.name = name
	h.bare = len(rest) == 0
	h.fields(rest)
	return true
}

// headerName splits a header behind its name: at the first quote that a header
// field follows, for names may contain quotes.
func headerName(text []byte) (name, rest []byte, ok bool) {
	for i := 1; ; {
		j := bytes.IndexByte(text[i:], '"')
		if j < 0 {
			return nil, nil, false
		}
		i += j
		if i+1 == len(text) {
			return text[1:i], nil, true
		}
		if text[i+1] == ' ' && isHeaderField(text[i+2:]) {
			return text[1:i], text[i+2:], true
		}
		i++
	}
}

func isHeaderField(t []byte) bool {
	t = bytes.TrimLeft(t, " ")
	if len(t) == 0 {
		return false
	}
	switch t[0] {
	case '#':
		return len(t) > 1 && isDigit(t[1])
	case 'd':
		return bytes.HasPrefix(t, []byte("daemon"))
	case 'p':
		return bytes.HasPrefix(t, []byte("prio="))
	case 'o':
		return bytes.HasPrefix(t, []byte("os_prio="))
	case 'I':
		return bytes.HasPrefix(t, []byte("Id="))
	case 'i':
		return bytes.HasPrefix(t, []byte("id="))
	case 't':
		return bytes.HasPrefix(t, []byte("tid="))
	case 'n':
		return bytes.HasPrefix(t, []byte("nid="))
	case 'c':
		return bytes.HasPrefix(t, []byte("cpu"))
	case '-':
		return bytes.HasPrefix(t, []byte("- Thread t@"))
	case '[':
		return bytes.HasPrefix(t, []byte("[Internal]"))
	}
	return false
}

// toFileRest reads the part after the number of dump_to_file's header.
func (h *javaHeader) toFileRest(text []byte) bool {
	if !isNumber(h.id) {
		return false
	}
	end := bytes.LastIndexByte(text, '"')
	if end < 1 {
		return false
	}
	h.name = text[1:end]
	for field := range bytes.FieldsSeq(text[end+1:]) {
		switch {
		case string(field) == "virtual":
			h.virtual = true
		case h.state == evidence.StateUnknown && javaState(field) != evidence.StateUnknown:
			h.state = javaState(field)
		case isDigit(field[0]): // when the thread was looked at
		default:
			return false
		}
	}
	return true
}

// fields reads what follows the name.
func (h *javaHeader) fields(rest []byte) {
	for {
		rest = bytes.TrimLeft(rest, " \t")
		if len(rest) == 0 {
			return
		}
		field := rest
		if i := bytes.IndexByte(rest, ' '); i >= 0 {
			field = rest[:i]
		}
		next := rest[len(field):]
		switch key, value, _ := bytes.Cut(field, []byte("=")); string(key) {
		case "daemon", "-", "os_prio", "allocated", "defined_classes", "cpuUsage", "deltaTime", "Thread", "lwp_id":
			h.daemonPrio = h.daemonPrio || string(key) == "daemon"
			h.selection = h.selection || string(key) == "cpuUsage"
		case "prio":
			h.daemonPrio = true
		case "Id", "id":
			h.id, h.idEq = value, true
		case "cpu", "time":
			h.cpu = printedDuration(value)
		case "elapsed":
			h.elapse = printedDuration(value)
		case "tid":
			h.tid = true
		case "nid":
			h.nid = true
			h.debugger = string(value) == "NA" || string(value) == "0x0"
			if n, err := strconv.ParseUint(string(value), 0, 64); err == nil {
				h.native = n
			}
		case "in": // "in Object.wait()" of the VM, "in RUNNABLE" of profilers
			if h.tid || h.nid {
				h.vmStatus(rest)
				return
			}
		default:
			switch {
			case field[0] == '#' && isNumber(field[1:]):
				h.id = field[1:]
			case field[0] == '[':
				h.bracket(field)
			case bytes.HasPrefix(field, []byte("t@")):
				h.id, h.at = field[2:], true
			case h.tid || h.nid:
				h.vmStatus(rest)
				return
			default:
				if s := javaState(field); s != evidence.StateUnknown {
					h.state, h.tail = s, next
					return
				}
			}
		}
		rest = next
	}
}

// bracket reads "[20000]", the thread's number in the operating system, and
// leaves "[0x00007f1c]", its stack.
func (h *javaHeader) bracket(field []byte) {
	switch {
	case string(field) == "[Internal]":
		h.internal = true
	case bytes.HasPrefix(field, []byte("[0x")):
		h.stack = true
	default:
		inner := bytes.Trim(field, "[]")
		if n, err := strconv.ParseUint(string(inner), 10, 64); err == nil {
			h.native = n
		}
	}
}

// vmStatus reads "waiting on condition  [0x…]" at a header's end.
func (h *javaHeader) vmStatus(rest []byte) {
	if i := bytes.IndexByte(rest, '['); i >= 0 {
		h.stack = h.stack || bytes.HasPrefix(rest[i:], []byte("[0x"))
		rest = rest[:i]
	}
	h.status = bytes.TrimSpace(rest)
}

// oldHeader reads "Thread 12345: (state = BLOCKED)" of jstack -F before 9. The
// state is the VM's, not the thread's.
func oldHeader(text []byte) (id []byte, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte("Thread "))
	if !ok {
		return nil, false
	}
	id, rest, ok = bytes.Cut(rest, []byte(": (state = "))
	return id, ok && isNumber(id) && bytes.HasSuffix(rest, []byte(")"))
}

// analyserHeader reads the line with which web analysers show a thread:
//
//	exec-4 - priority:5 - threadId:0x00007fb748117800 - nativeId:0x202 - nativeId (decimal):514 - state:WAITING
func analyserHeader(text []byte) (h javaHeader, ok bool) {
	name, rest, ok := bytes.Cut(text, []byte(" - priority:"))
	if !ok || !bytes.Contains(rest, []byte(" - threadId:0x")) {
		return h, false
	}
	h = javaHeader{name: bytes.TrimSpace(name), cpu: evidence.None, elapse: evidence.None, tid: true}
	for _, field := range bytes.Split(rest, []byte(" - ")) {
		key, value, _ := bytes.Cut(field, []byte(":"))
		switch string(key) {
		case "nativeId":
			h.native, _ = strconv.ParseUint(string(value), 0, 64)
		case "state":
			h.state = javaState(bytes.TrimSpace(value))
		}
	}
	return h, true
}

// javaState reads a state's name.
func javaState(word []byte) evidence.State {
	switch string(word) {
	case "NEW":
		return evidence.StateNew
	case "RUNNABLE":
		return evidence.StateRunnable
	case "BLOCKED":
		return evidence.StateBlocked
	case "WAITING":
		return evidence.StateWaiting
	case "TIMED_WAITING":
		return evidence.StateTimedWaiting
	case "TERMINATED":
		return evidence.StateTerminated
	}
	return evidence.StateUnknown
}

// printedDuration reads "12.34ms", "637,81ms" or "81.02s".
func printedDuration(text []byte) time.Duration {
	whole, scale, fraction := int64(0), int64(1), false
	i := 0
	for ; i < len(text) && whole < 1<<50; i++ {
		c := text[i]
		if isDigit(c) {
			whole = 10*whole + int64(c-'0')
			if fraction {
				scale *= 10
			}
			continue
		}
		if (c == '.' || c == ',') && !fraction {
			fraction = true
			continue
		}
		break
	}
	unit := time.Duration(0)
	switch string(text[i:]) {
	case "ms":
		unit = time.Millisecond
	case "s":
		unit = time.Second
	}
	if i == 0 || unit == 0 {
		return evidence.None
	}
	return time.Duration(float64(whole) / float64(scale) * float64(unit))
}
