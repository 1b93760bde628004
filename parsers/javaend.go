package parsers

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// other takes the lines of a dump that are neither header, state, frame nor note.
func (d *javaDump) other(body []byte, indent int) (bool, error) {
	switch d.section {
	case inDeadlock:
		if d.deadlock(body) {
			return true, nil
		}
	case inHeap:
		if indent > 0 || bytes.HasPrefix(body, []byte("Shenandoah Heap")) {
			d.heap(string(body))
			return true, nil
		}
	}
	var rest []byte
	switch {
	case cut(body, "...", &rest):
		d.stack.Cut = d.stack.Cut || d.open
		return d.open, nil
	case cut(body, "Locked ownable synchronizers", &rest), cut(body, "Locked synchronizers", &rest):
		d.inSyncs = d.open
		return d.open, nil
	case cut(body, "Number of locked synchronizers = ", &rest):
		d.inSyncs = d.open
		return d.open, nil
	case cut(body, "Carrying virtual thread #", &rest):
		d.stack.Carrier = d.open
		d.info.Virtual = true
		return d.open, nil
	case cut(body, "Mounted virtual thread #", &rest):
		return d.open, d.mounted(rest)
	case cut(body, "Threads class SMR info", &rest), cut(body, "_to_delete_list", &rest), cut(body, "}", &rest),
		cut(body, "No deadlocks found", &rest), cut(body, "Deadlock Detection", &rest), cut(body, "=====", &rest):
		return d.family == familyHotSpot, nil
	case cut(body, "_java_thread_list=", &rest):
		d.declared(rest)
		return true, nil
	case cut(body, "0x", &rest):
		return bytes.IndexByte(body, ',') > 0 || len(body) < 20, nil
	case cut(body, "JNI global ref", &rest):
		d.ended = true
		return true, d.flush()
	case cut(body, "Found one Java-level deadlock", &rest), cut(body, "Found a total of", &rest), cut(body, "Found ", &rest) && bytes.Contains(rest, []byte("deadlock")):
		err := d.flush()
		d.endCycle()
		d.section = inThreads
		if bytes.HasPrefix(body, []byte("Found one")) {
			d.section = inDeadlock
		}
		return true, err
	case string(body) == "Heap":
		err := d.flush()
		d.section = inHeap
		return true, err
	case d.open && (cut(body, "No compile task", &rest) || cut(body, "Compiling:", &rest)):
		d.stack.System = true
		return true, nil
	}
	return d.rarer(body, indent)
}

// rarer takes the lines of imitators and of debuggers of the VM.
func (d *javaDump) rarer(body []byte, indent int) (bool, error) {
	var rest []byte
	switch {
	case !d.begun && (cut(body, "Debugger attached", &rest) || cut(body, "Server compiler", &rest) || cut(body, "Client compiler", &rest) || cut(body, "Core build", &rest)):
		return true, nil
	case !d.begun && cut(body, "JVM version is ", &rest):
		d.info.Version = string(rest)
		return true, nil
	case cut(body, "Thread ", &rest):
		if id, ok := oldHeader(body); ok {
			d.format = "jhsdb"
			err := d.begin(&javaHeader{native: number(id), cpu: evidence.None, elapse: evidence.None})
			return true, err
		}
	case d.open && cut(body, "stackTrace:", &rest):
		return true, nil
	case d.open && cut(body, "waiting for ", &rest): // waiting for main@1 to release lock on <0x272d> (a java.lang.Object)
		owner, lock, ok := bytes.Cut(rest, []byte(" to release lock on "))
		if ok {
			l := d.lock(lock)
			name, id := debuggerName(owner)
			l.Owner, l.OwnerID = d.strings.intern(name), d.strings.intern(id)
			d.waits(l)
			d.thread.released = true
			return true, nil
		}
	case d.open && cut(body, "on ", &rest) && bytes.IndexByte(rest, '@') > 0: // on java.io.PrintStream@3f owned by "x" Id=12
		d.stateTail(body)
		return true, nil
	case d.open && (cut(body, "blocks ", &rest) || cut(body, "JavaThread state: ", &rest) || cut(body, "Thread: 0x", &rest)):
		return true, nil
	}
	if h, ok := analyserHeader(body); ok && d.family == familyHotSpot {
		return true, d.begin(&h)
	}
	if d.open && indent > 0 && !d.blank {
		d.info.Ignored++
		return true, nil
	}
	return false, nil
}

func number(text []byte) uint64 {
	n, _ := strconv.ParseUint(string(text), 10, 64)
	return n
}

// stateTail reads what follows the state in ThreadInfo's header:
//
//	on java.lang.Object@4a574795 owned by "owner-1" Id=12 (suspended) (in native)
func (d *javaDump) stateTail(tail []byte) {
	tail = bytes.TrimSpace(tail)
	if bytes.HasSuffix(tail, []byte("(in native)")) || bytes.HasSuffix(tail, []byte("(running in native)")) {
		d.stack.Detail = "in native"
	}
	var rest []byte
	if cut(tail, "on ", &rest) {
		l := d.lock(rest)
		d.owner(&l, rest)
		d.stack.WaitsOn = l
		d.thread.released = d.stack.State == evidence.StateBlocked
	}
}

// mounted begins the virtual thread that a carrier runs.
func (d *javaDump) mounted(id []byte) error {
	d.stack.Carrier = true
	d.info.Virtual = true
	id = bytes.Clone(id)
	if err := d.flush(); err != nil {
		return err
	}
	d.open, d.inSyncs = true, false
	d.thread = threadLines{line: d.in.Lines.Number(), uncounted: true}
	d.raw = append(d.raw[:0], d.in.Lines.Bytes()...)
	d.stack = evidence.Stack{
		Dump: d.info.ID, Runtime: evidence.JVM, ID: string(id), Virtual: true,
		Frames: d.stack.Frames[:0], Holds: d.stack.Holds[:0],
		Count: 1, CPU: evidence.None, Elapsed: evidence.None, Waited: evidence.None,
	}
	return nil
}

// declared reads "0x00007f29c8003340, length=40, elements={".
func (d *javaDump) declared(text []byte) {
	_, rest, ok := bytes.Cut(text, []byte("length="))
	if !ok {
		return
	}
	n, _, _ := bytes.Cut(rest, []byte(","))
	if v, err := strconv.Atoi(string(n)); err == nil && v >= 0 {
		d.info.Declared = v
	}
}

// deadlockName reads the line that names a member of a deadlock: `"dl-1":`.
func deadlockName(body []byte) (string, bool) {
	if bytes.HasPrefix(body, htmlQuote) {
		body = unescapeHTML(body)
	}
	n := len(body)
	if n < 3 || body[n-1] != ':' || body[n-2] != '"' || body[0] != '"' {
		return "", false
	}
	return string(body[1 : n-2]), true
}

// deadlock reads what a member waits for and who holds it:
//
//	waiting to lock monitor 0x0000564947b77300 (object 0x00000000ff906ae0, a java.lang.Object),
//	waiting for ownable synchronizer 0x00000000ff91eb50, (a java.util.concurrent.locks.ReentrantLock$NonfairSync),
//	which is held by "dl-2"
func (d *javaDump) deadlock(body []byte) bool {
	if bytes.HasPrefix(body, []byte("====")) {
		return true
	}
	if bytes.HasPrefix(body, []byte("Java stack information for the threads")) {
		d.section = inDeadlockStacks
		return true
	}
	if len(d.cycle) == 0 {
		return false
	}
	last := &d.cycle[len(d.cycle)-1]
	switch {
	case bytes.HasPrefix(body, []byte("waiting ")):
		last.Lock = deadlockLock(string(body))
	case bytes.Contains(body, []byte("which is held by")):
		_, owner, _ := bytes.Cut(body, []byte("which is held by "))
		last.Owner = strings.Trim(string(owner), `",`)
	default:
		return false
	}
	return true
}

// deadlockLock makes "java.lang.Object 0x00000000ff906ae0" of such a line.
func deadlockLock(s string) string {
	id := ""
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" ,()@", r) }) {
		if strings.HasPrefix(word, "0x") {
			id = word // the last one is the object's
		}
	}
	class := ""
	if i := strings.LastIndex(s, "a "); i >= 0 {
		class = strings.TrimRight(s[i+2:], "),")
		if !strings.Contains(class, ".") {
			class = strings.ReplaceAll(class, "/", ".")
		}
	}
	return strings.TrimSpace(class + " " + id)
}

// endCycle keeps of the listed threads those that form the cycle; the list may
// begin with others that only lead into it.
func (d *javaDump) endCycle() {
	list := d.cycle
	d.cycle = nil
	if len(list) == 0 || len(d.info.Deadlocks) >= 100 {
		return
	}
	by := make(map[string]int, len(list))
	for i, h := range list {
		by[h.Thread] = i
	}
	at := make(map[int]int, len(list)) // position in path
	var path []int
	for i, ok := 0, true; ok; i, ok = by[list[i].Owner] {
		if from, again := at[i]; again {
			path = path[from:]
			break
		}
		at[i] = len(path)
		path = append(path, i)
	}
	cycle := make([]evidence.Held, 0, len(path))
	for _, i := range path {
		cycle = append(cycle, list[i])
	}
	d.info.Deadlocks = append(d.info.Deadlocks, cycle)
}

// heap reads a line of the heap summary that kill -3 prints, and keeps how full
// the old generation (or a heap without generations) is of what it may grow to:
//
//	ParOldGen       total 175104K, used 8K [0x00000000e0000000, 0x00000000eab00000, 0x0000000100000000)
//	garbage-first heap   total 65536K, used 3610K [0x00000000fc000000, 0x0000000100000000)
//	ZHeap           used 10M, capacity 254M, max capacity 254M
func (d *javaDump) heap(s string) {
	old := false
	for _, mark := range []string{"ParOldGen", "PSOldGen", "tenured generation", "concurrent mark-sweep generation", "garbage-first heap", "ZHeap", "ZGC Old", "old generation"} {
		old = old || strings.HasPrefix(s, mark)
	}
	if !old {
		return
	}
	used := sizeAfter(s, "used ")
	full := max(sizeAfter(s, "total "), sizeAfter(s, "max capacity "), sizeAfter(s, "reserved "))
	if span := addressSpan(s); span > 0 {
		full = span
	}
	if used >= 0 && full > 0 {
		d.info.HeapFull = min(1, used/full)
	}
}

// sizeAfter reads the size behind a word, in bytes; None if it is not there.
func sizeAfter(s, word string) float64 {
	_, rest, ok := strings.Cut(s, word)
	if !ok {
		return evidence.None
	}
	i := 0
	for i < len(rest) && isDigit(rest[i]) {
		i++
	}
	n, err := strconv.ParseFloat(rest[:i], 64)
	if err != nil || i == len(rest) {
		return evidence.None
	}
	switch rest[i] {
	case 'K':
		n *= 1 << 10
	case 'M':
		n *= 1 << 20
	case 'G':
		n *= 1 << 30
	}
	return n
}

// addressSpan returns the size of the range "[0x…, …, 0x…)" in s, or 0.
func addressSpan(s string) float64 {
	_, rest, ok := strings.Cut(s, "[0x")
	if !ok {
		return 0
	}
	rest, _, _ = strings.Cut(rest, ")")
	parts := strings.Split("0x"+rest, ", ")
	from, err1 := strconv.ParseUint(strings.TrimSpace(parts[0]), 0, 64)
	to, err2 := strconv.ParseUint(strings.TrimSpace(parts[len(parts)-1]), 0, 64)
	if err1 != nil || err2 != nil || to <= from {
		return 0
	}
	return float64(to - from)
}
