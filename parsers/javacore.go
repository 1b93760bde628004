package parsers

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Javacores, the thread dumps of OpenJ9 and IBM's JVM: a text of which each line
// begins with a tag. javacore.20261130.122039.1234.0001.txt:
//
//	0SECTION       TITLE subcomponent dump routine
//	1TIDATETIME    Date: 2026/11/30 at 12:20:39:414
//	3XMTHREADINFO      "Default Executor-thread-32" J9VMThread:0x0001, omrthread_t:0x0002, java/lang/Thread:0x0003, state:CW, prio=5
//	3XMTHREADBLOCK     Waiting on: com/acme/Queue@0x00000003004ED700 Owned by: <unowned>
//	4XESTACKTRACE                at java/lang/Object.wait(Object.java:221)
//	5XESTACKTRACE                   (entered lock: com/acme/Queue@0x00000003004ED700, entry count: 1)

func javacoreFormat() Format {
	return Format{
		Name:     "javacore",
		Doc:      "Java thread dump of OpenJ9 and IBM's JVM",
		Versions: "OpenJ9 0.11 to 0.46, IBM SDK 6 to 8; written from its description",
		Signs:    []string{"lines that begin with tags: 0SECTION, 3XMTHREADINFO, 4XESTACKTRACE"},
		Marks:    []string{"0SECTION ", "3XMTHREADINFO "},
		Starts: func(line []byte) bool {
			return bytes.HasPrefix(line, []byte("0SECTION ")) || bytes.HasPrefix(line, []byte("3XMTHREADINFO "))
		},
		Block: javacoreBlock,
	}
}

func javacoreBlock(in *Input, emit Emit) error {
	c := &javacore{javaDump: newJavaDump(in), seen: map[string]bool{}}
	c.emit = emit
	first := true
	for in.Lines.Next() {
		line := in.Lines.Bytes()
		tag, text, ok := javacoreLine(line)
		if !ok && len(bytes.TrimSpace(line)) > 0 {
			in.Lines.Unread()
			break
		}
		if first {
			first = false
			c.reset(familyJavacore, in.Lines.Number())
			c.format = "javacore"
		}
		if err := c.take(tag, text); err != nil {
			return err
		}
		if c.ended {
			break
		}
	}
	if c.family == familyNone {
		return ErrUnrecognized
	}
	c.endCycle()
	c.info.Truncated = !c.ended
	return c.close()
}

// javacoreLine splits a line behind its tag.
func javacoreLine(line []byte) (tag string, text []byte, ok bool) {
	end := bytes.IndexByte(line, ' ')
	if end < 0 {
		end = len(line)
	}
	word := line[:end]
	if len(word) < 4 || len(word) > 20 || !isDigit(word[0]) && string(word) != "NULL" {
		return "", nil, false
	}
	for _, b := range word[1:] {
		if !isDigit(b) && (b < 'A' || b > 'Z') {
			return "", nil, false
		}
	}
	return string(word), bytes.TrimSpace(line[end:]), true
}

// javacore settles and emits its threads as the other dumps do.
type javacore struct {
	*javaDump
	seen map[string]bool // the thread that asked for the dump is listed twice
}

func (c *javacore) take(tag string, text []byte) error {
	if c.thread.line > 0 && c.open {
		if done, err := c.ofThread(tag, text); done || err != nil {
			return err
		}
	}
	switch tag {
	case "NULL":
		c.ended = bytes.Contains(text, []byte("END OF DUMP"))
	case "1TIDATETIME", "1TIDATETIMEUTC":
		c.date(string(text), tag == "1TIDATETIMEUTC")
	case "1CIJAVAVERSION":
		c.info.Version = string(text)
	case "1CIPROCESSID":
		if _, rest, ok := bytes.Cut(text, []byte(":")); ok {
			id, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
			c.info.PID = string(id)
		}
	case "1LKDEADLOCK":
		c.endCycle()
	case "2LKDEADLOCKTHR":
		c.member(coreField(text, `"`, `"`))
	case "4LKDEADLOCKOBJ", "4LKDEADLOCKREG":
		if n := len(c.cycle); n > 0 && c.cycle[n-1].Lock == "" {
			l := c.identity(text)
			c.cycle[n-1].Lock = strings.TrimSpace(l.Class + " " + l.ID)
		}
	case "3XMTHREADINFO":
		return c.header(text)
	case "0SECTION", "1XMTHDINFO":
		return c.flush()
	}
	return nil
}

var javacoreDate = regexp.MustCompile(`(\d{4})/(\d\d)/(\d\d) at (\d\d):(\d\d):(\d\d)(?::(\d{3}))?`)

// date reads "Date: 2026/11/30 at 12:20:39:414".
func (c *javacore) date(text string, utc bool) {
	if c.zoned == evidence.Yes {
		return
	}
	m := javacoreDate.FindStringSubmatch(text)
	if m == nil {
		return
	}
	zone := ""
	if utc {
		zone = "Z"
	}
	c.stamped(append(m, zone))
}

// member adds a thread to the deadlock that is being listed; the one that
// closes the cycle is listed again at its end.
func (c *javacore) member(name string) {
	if n := len(c.cycle); n > 0 {
		c.cycle[n-1].Owner = name
		if c.cycle[0].Thread == name {
			c.endCycle()
			return
		}
	}
	c.cycle = append(c.cycle, evidence.Held{Thread: name})
}

// header reads the first line of a thread. Native threads have no name in it.
func (c *javacore) header(text []byte) error {
	if err := c.flush(); err != nil {
		return err
	}
	if len(text) < 2 || text[0] != '"' {
		return nil
	}
	vm := bytes.Index(text, []byte(`" J9VMThread:`))
	if vm < 0 {
		vm = bytes.LastIndex(text, quoteMark)
	}
	if vm < 1 {
		return nil
	}
	name, rest := text[1:vm], string(text[vm+1:])
	if key := coreField([]byte(rest), "J9VMThread:", ","); key != "" {
		if c.seen[key] {
			return nil
		}
		c.seen[key] = true
	}
	if err := c.opening(); err != nil {
		return err
	}
	c.open = true
	c.thread = threadLines{line: c.in.Lines.Number(), hasState: true}
	c.raw = append(c.raw[:0], c.in.Lines.Bytes()...)
	c.stack = evidence.Stack{
		Dump: c.info.ID, Runtime: evidence.JVM,
		Frames: c.stack.Frames[:0], Holds: c.stack.Holds[:0],
		Count: 1, CPU: evidence.None, Elapsed: evidence.None, Waited: evidence.None,
	}
	c.part = "#" + string(name)
	c.stack.Name = c.part[1:]
	switch coreField([]byte(rest), "state:", ",") {
	case "R":
		c.stack.State = evidence.StateRunnable
	case "B":
		c.stack.State = evidence.StateBlocked
	case "CW", "P":
		c.stack.State = evidence.StateWaiting
	case "Z":
		c.stack.State = evidence.StateTerminated
	}
	return nil
}

// ofThread takes a line below a thread's first; done is false if it is none.
func (c *javacore) ofThread(tag string, text []byte) (done bool, err error) {
	switch tag {
	case "3XMJAVALTHREAD":
		if n, err := strconv.ParseUint(coreField(text, "getId:", ","), 0, 64); err == nil {
			c.stack.ID = strconv.FormatUint(n, 10)
		}
	case "3XMTHREADINFO1":
		if n, err := strconv.ParseUint(coreField(text, "native thread ID:", ","), 0, 64); err == nil {
			c.stack.NativeID = strconv.FormatUint(n, 10)
		}
	case "3XMCPUTIME":
		if secs, err := strconv.ParseFloat(coreField(text, "total: ", " "), 64); err == nil && secs >= 0 && secs < 1e9 {
			c.stack.CPU = time.Duration(secs * float64(time.Second))
		}
	case "3XMTHREADBLOCK":
		c.block(text)
	case "4XESTACKTRACE":
		var rest []byte
		if cut(text, "at ", &rest) {
			c.addFrame(javacoreFrame(rest))
		}
	case "5XESTACKTRACE":
		if _, rest, ok := bytes.Cut(text, []byte("(entered lock: ")); ok {
			object, _, _ := bytes.Cut(rest, []byte(","))
			c.holds(c.identity(object))
		}
	case "4XESTACKERR":
		c.stack.Cut = c.stack.Cut || bytes.Contains(text, []byte("truncated"))
	case "NULL":
		return bytes.IndexByte(text, '-') < 0, nil
	default:
		return false, nil
	}
	return true, nil
}

// block reads `Blocked on: java/lang/Object@0x01 Owned by: "exec-2" (J9VMThread:0x…)`.
func (c *javacore) block(text []byte) {
	verb, rest, ok := bytes.Cut(text, []byte(" on: "))
	if !ok {
		return
	}
	object, owner, _ := bytes.Cut(rest, []byte(" Owned by: "))
	c.stack.WaitsOn = c.identity(bytes.TrimSpace(object))
	c.stack.WaitsOn.Owner = coreField(owner, `"`, `"`)
	if string(verb) == "Parked" {
		c.stack.Detail = "parking"
	} else {
		c.stack.Detail = "on object monitor"
	}
}

// javacoreFrame writes a frame as HotSpot does:
// "java/lang/Object.wait(Object.java:221(Compiled Code))".
func javacoreFrame(text []byte) []byte {
	text = bytes.Replace(text, []byte("(Compiled Code)"), nil, 1)
	open := bytes.IndexByte(text, '(')
	if open < 0 {
		return text
	}
	fn := bytes.Clone(text[:open])
	from := 0
	if at := bytes.IndexByte(fn, '@'); at >= 0 { // a module in front
		from = at + 1 + max(0, bytes.IndexByte(fn[at+1:], '/')) + 1
	}
	for i := min(from, len(fn)); i < len(fn); i++ {
		if fn[i] == '/' && !bytes.HasPrefix(fn[i:], []byte("/0x")) {
			fn[i] = '.'
		}
	}
	return append(fn, text[open:]...)
}

// coreField returns what stands between two marks, the second of which may be
// missing at the end.
func coreField(text []byte, from, to string) string {
	_, rest, ok := bytes.Cut(text, []byte(from))
	if !ok {
		return ""
	}
	inner, _, _ := bytes.Cut(rest, []byte(to))
	return string(bytes.Trim(inner, " )"))
}
