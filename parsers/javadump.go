package parsers

import (
	"bytes"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// javaDump reads one dump after the other from the lines of an input. It stays
// with its input between blocks: when log lines stand between the threads of a
// dump, reading returns at the first of them and is resumed at the next thread.
// The record that closes a dump is made when it is certain that the dump is over.
//
// The machine looks at one line at a time. A line is a thread's header, its
// state, a frame ("at …"), a note on the frame above ("- …"), or one of the few
// lines between threads; anything else ends the block.
type javaDump struct {
	in      *Input
	emit    Emit
	frames  frameTable
	workers map[*evidence.Frame]bool // frames of ThreadPoolExecutor's workers
	strings stringTable

	// The dump at hand.
	family      family
	format      string // Dump.Format, settled by the first thread
	line        int    // where it begins
	prefix      []byte
	banner      bool
	begun       bool // its opening record was emitted
	ended       bool // its end marker was read
	interrupted int  // line of the foreign line that stopped reading, 0 while reading
	section     section
	info        evidence.Dump
	at          time.Time
	zoned       evidence.Tri
	seen        map[uint64]struct{} // thread ids, where nothing but a repeated id says that a new dump begins
	printsSyncs bool
	deepest     int
	hotspot     bool // threads carry a stack address: the real thing, with an end marker
	priorities  bool // headers have daemon or prio: not Dubbo's
	cycle       []evidence.Held
	edges       map[string]evidence.Held // who waits for whom, by thread id, where headers say it

	// The thread at hand.
	open    bool
	thread  threadLines
	stack   evidence.Stack
	part    string // "#" and its name
	rec     evidence.Record
	raw     []byte
	scratch []byte
	half    []byte // first line of a header whose name contains a line end
	halfAt  int    // its number
	inSyncs bool
	blank   bool // the line before was blank
}

// threadLines is what the lines of a thread said that is settled at its end.
type threadLines struct {
	line      int
	hasState  bool
	status    string
	classInit bool
	released  bool // what it waits for is a monitor that it does not hold now
	nameless  bool // Object.wait without the object's address
	first     evidence.Lock
	syncs     bool
	worker    bool
	vmNative  bool // has no Java thread id: perhaps a thread of the VM itself
	uncounted bool // not among the threads that the dump says it has
}

// section is the part of a dump that is being read.
type section int8

const (
	inThreads section = iota
	inDeadlock
	inDeadlockStacks
	inHeap
)

func newJavaDump(in *Input) *javaDump {
	return &javaDump{in: in, workers: map[*evidence.Frame]bool{}, edges: map[string]evidence.Held{}}
}

// javaBlock reads a block of a dump of the family.
func javaBlock(in *Input, emit Emit, fam family) error {
	if !in.Lines.Next() {
		return ErrUnrecognized
	}
	s := javaStart(in.Lines.Bytes())
	if s.family != fam {
		in.Lines.Unread()
		return ErrUnrecognized
	}
	d := in.java
	if d == nil {
		d = newJavaDump(in)
		in.java = d
		in.atEnd = append(in.atEnd, d.close)
	}
	if !d.resumes(s, in.Lines.Number()) {
		if err := d.close(); err != nil {
			return err
		}
		d.emit = emit
		d.start(s)
	}
	d.emit = emit
	d.interrupted = 0
	if !s.isBanner() {
		in.Lines.Unread()
	}
	return d.run()
}

func (s start) isBanner() bool { return s.banner != nil }

// resumable is within how many lines a dump goes on that was interrupted.
const resumable = 200

// resumes reports whether a block goes on with the dump that was interrupted.
func (d *javaDump) resumes(s start, line int) bool {
	return d.interrupted > 0 && !s.isBanner() && s.family == d.family && !d.ended && line-d.interrupted < resumable
}

// start begins a new dump at the current line.
func (d *javaDump) start(s start) {
	d.reset(s.family, d.in.Lines.Number())
	d.prefix, d.banner = s.prefix, s.banner != nil
	d.surroundings(s)
	if strings.Contains(path.Base(d.in.Name), "Dubbo_JStack") {
		d.info.Rejection = true
		d.printsSyncs = true
	}
	if d.banner {
		d.info.Version = bannerVersion(string(s.banner))
		if bytes.HasPrefix(s.banner, []byte("Attaching")) {
			d.format = "jhsdb"
		}
	}
}

// reset forgets the dump before and numbers a new one.
func (d *javaDump) reset(fam family, line int) {
	d.in.dumps++
	d.family, d.format, d.line = fam, "", line
	d.prefix, d.banner, d.begun, d.ended = nil, false, false, false
	d.section, d.interrupted = inThreads, 0
	d.printsSyncs, d.deepest, d.hotspot, d.priorities = false, 0, false, false
	d.cycle = nil
	d.at, d.zoned = time.Time{}, evidence.Unknown
	clear(d.seen)
	clear(d.edges)
	d.info = evidence.Dump{
		ID: strconv.Itoa(d.in.dumps), Runtime: evidence.JVM,
		Declared: evidence.None, MaxFrames: evidence.None, HeapFull: evidence.None,
	}
}

// run reads lines until one is not the dump's.
func (d *javaDump) run() error {
	lines := d.in.Lines
	for lines.Next() {
		line := lines.Bytes()
		if len(d.prefix) > 0 {
			line = unprefix(line, d.prefix)
		}
		ok, err := d.read(line)
		if err != nil {
			return err
		}
		if !ok {
			lines.Unread()
			d.interrupted = lines.Number()
			if d.open && !d.blank && d.hotspot {
				d.stack.Partial = true
			}
			return d.flush()
		}
	}
	if d.open && !d.blank && d.hotspot && !d.ended {
		d.stack.Partial = true
	}
	d.interrupted = max(1, lines.Number())
	return d.flush()
}

// read takes one line; it returns false if the line is foreign.
func (d *javaDump) read(line []byte) (bool, error) {
	indent := 0
	for indent < len(line) && (line[indent] == ' ' || line[indent] == '\t') {
		indent++
	}
	body := line[indent:]
	if len(body) == 0 {
		d.blank = true
		if d.half != nil {
			return false, nil
		}
		return true, nil
	}
	if d.half != nil {
		return d.secondHalf(body)
	}
	ok, err := d.body(body, indent)
	d.blank = d.blank && !ok
	return ok, err
}

// body takes a line without its indentation.
func (d *javaDump) body(body []byte, indent int) (bool, error) {
	switch body[0] {
	case 'a':
		if len(body) > 3 && body[1] == 't' && body[2] == ' ' {
			return d.frame(body[3:]), nil
		}
	case '-':
		if d.section == inDeadlockStacks {
			return true, nil
		}
		if d.open && d.annotation(bytes.TrimLeft(body, "- ")) {
			return true, nil
		}
	case 'j':
		if d.open && bytes.HasPrefix(body, threadState) {
			d.state(body[len(threadState):])
			return true, nil
		}
	case '"', '#', '&':
		return d.quoted(body, indent)
	}
	if d.family == familyToFile && d.open && indent > 0 {
		return d.frame(body), nil
	}
	return d.other(body, indent)
}

var threadState = []byte("java.lang.Thread.State: ")

// quoted takes a line that begins with a thread's name, or #N and its name.
func (d *javaDump) quoted(body []byte, indent int) (bool, error) {
	if d.section == inDeadlock || d.section == inDeadlockStacks {
		if name, ok := deadlockName(body); ok {
			if d.section == inDeadlock {
				d.cycle = append(d.cycle, evidence.Held{Thread: name})
			}
			return true, nil
		}
	}
	var h javaHeader
	if !h.parse(body) {
		if indent == 0 && unfinishedName(body) && bytes.Count(body, quoteMark) == 1 && (d.blank || !d.open) && len(body) < 200 {
			if err := d.flush(); err != nil {
				return false, err
			}
			d.half, d.halfAt = bytes.Clone(body), d.in.Lines.Number()
			return true, nil
		}
		return false, nil
	}
	fam := h.family()
	if fam == familyNone && d.family == familyHotSpot && (h.bare && d.blank || h.state == 0 && h.daemonPrio) {
		fam = familyHotSpot
	}
	if fam != d.family {
		return false, nil
	}
	return true, d.begin(&h)
}

// secondHalf takes the line after one that began with an unfinished name.
func (d *javaDump) secondHalf(body []byte) (bool, error) {
	joined := append(append(d.half, '\n'), body...)
	d.half = nil
	var h javaHeader
	if bytes.IndexByte(body, '"') < 0 || !h.parse(joined) || h.family() != d.family {
		return false, nil
	}
	err := d.begin(&h)
	d.thread.line = d.halfAt
	return true, err
}

// unfinishedName reports whether a line is the first of a header whose name
// goes on in the next line.
func unfinishedName(body []byte) bool {
	if body[0] == '#' {
		number, _, ok := bytes.Cut(body[1:], []byte(` "`))
		return ok && isNumber(number)
	}
	return body[0] == '"'
}

// begin ends the thread at hand and begins the one of a header.
func (d *javaDump) begin(h *javaHeader) error {
	if err := d.flush(); err != nil {
		return err
	}
	if d.repeats(h) {
		next := start{family: d.family, prefix: d.prefix}
		if err := d.close(); err != nil {
			return err
		}
		d.start(next)
		d.repeats(h)
	}
	d.section = inThreads
	if h.stack && h.nid && !h.debugger {
		d.hotspot = true
	}
	if d.format == "" {
		d.format = formatOf(h)
	}
	d.priorities = d.priorities || h.daemonPrio
	d.info.Partial = d.info.Partial || h.selection
	if err := d.opening(); err != nil {
		return err
	}
	d.open, d.inSyncs = true, false
	d.thread = threadLines{line: d.in.Lines.Number(), hasState: h.state != evidence.StateUnknown}
	d.raw = append(d.raw[:0], d.in.Lines.Bytes()...)
	frames, holds := d.stack.Frames[:0], d.stack.Holds[:0]
	name := h.name
	if h.debugger {
		name, h.id = debuggerName(name)
	}
	d.stack = evidence.Stack{
		Dump: d.info.ID, Runtime: evidence.JVM,
		ID: string(h.id), State: h.state, Frames: frames, Holds: holds,
		Count: 1, CPU: h.cpu, Elapsed: h.elapse, Waited: evidence.None, Virtual: h.virtual,
	}
	d.scratch = append(append(d.scratch[:0], '#'), name...)
	d.part = d.strings.intern(d.scratch)
	d.stack.Name = d.part[1:]
	if h.native > 0 {
		d.stack.NativeID = strconv.FormatUint(h.native, 10)
	}
	d.thread.status = d.strings.intern(h.status)
	d.thread.vmNative = len(h.id) == 0 && h.tid && h.nid && !h.stack && !h.debugger
	if h.internal {
		d.stack.System = true
	}
	if len(h.tail) > 0 {
		d.stateTail(h.tail)
	}
	return nil
}

// repeats reports whether a thread's id was in this dump before. It is asked
// only of dumps whose beginning nothing else marks.
func (d *javaDump) repeats(h *javaHeader) bool {
	if d.banner || len(h.id) == 0 {
		return false
	}
	id, err := strconv.ParseUint(string(h.id), 10, 64)
	if err != nil {
		return false
	}
	if _, ok := d.seen[id]; ok {
		return true
	}
	if d.seen == nil {
		d.seen = map[uint64]struct{}{}
	}
	d.seen[id] = struct{}{}
	return false
}

// state reads "TIMED_WAITING (on object monitor)".
func (d *javaDump) state(text []byte) {
	word, detail, _ := bytes.Cut(bytes.TrimSpace(text), []byte(" "))
	if s := javaState(word); s != evidence.StateUnknown {
		d.stack.State = s
		d.thread.hasState = true
	}
	if n := len(detail); n > 2 && detail[0] == '(' && detail[n-1] == ')' {
		d.stack.Detail = d.strings.intern(detail[1 : n-1])
	}
}

// frame takes what follows "at ".
func (d *javaDump) frame(text []byte) bool {
	if d.section == inDeadlockStacks {
		return true
	}
	if !d.open {
		return false
	}
	if !d.addFrame(text) {
		d.stack.Partial = true
	}
	return true
}

// addFrame appends the frame that a text describes; it returns false if the
// text is none.
func (d *javaDump) addFrame(text []byte) bool {
	f := d.frames.get(text)
	if f == nil {
		parsed, ok := parseJavaFrame(text)
		if !ok {
			d.info.Ignored++
			return false
		}
		f = d.frames.put(text, parsed)
		if strings.Contains(parsed.Func, "ThreadPoolExecutor") {
			d.workers[f] = true
		}
	}
	d.push(f)
	return true
}

func (d *javaDump) push(f *evidence.Frame) {
	if len(d.stack.Frames) >= maxFrames {
		d.stack.Cut = true
		return
	}
	d.stack.Frames = append(d.stack.Frames, f)
}

// opening emits the record that opens the dump, once.
func (d *javaDump) opening() error {
	if d.begun {
		return nil
	}
	d.begun = true
	return d.sendDump(d.line)
}

func (d *javaDump) sendDump(line int) error {
	info := d.info
	info.Format = d.format
	if d.format == "" {
		info.Format = "hotspot"
	}
	return d.emit(&evidence.Record{
		Time: d.at, Zoned: d.zoned, Place: d.in.place(), Cite: d.in.cite(line), Dump: &info,
	})
}

// flush settles the thread at hand and emits it.
func (d *javaDump) flush() error {
	d.half = nil
	if !d.open {
		return nil
	}
	d.open, d.inSyncs = false, false
	d.settle()
	d.edge()
	if !d.thread.uncounted {
		d.info.Threads++
	}
	if d.stack.Cut {
		d.deepest = max(d.deepest, len(d.stack.Frames))
	}
	d.rec = evidence.Record{
		Time: d.at, Zoned: d.zoned, Place: d.in.place(), Cite: d.in.cite(d.thread.line),
		Raw: d.raw, Stack: &d.stack,
	}
	if d.stack.Name != "" {
		d.rec.Cite.Part = d.part
	} else if d.stack.ID != "" {
		d.rec.Cite.Part = "#" + d.stack.ID
	}
	return d.emit(&d.rec)
}

// close ends the dump at hand, if there is one.
func (d *javaDump) close() error {
	if d.family == familyNone {
		return nil
	}
	defer func() { d.family = familyNone }()
	if err := d.flush(); err != nil {
		return err
	}
	if !d.begun {
		d.in.Skip(d.line, "thread dump without threads")
		return nil
	}
	d.info.Closing = true
	if d.deepest > 0 {
		d.info.MaxFrames = d.deepest
		if d.format == "threadinfo" && d.deepest >= maxFrames {
			d.info.MaxFrames = evidence.None
		}
	}
	if d.family == familyThreadInfo && d.info.MaxFrames == dubboFrames && !d.info.Partial {
		d.info.Rejection = d.info.Rejection || !d.priorities
	}
	d.endCycle()
	d.ownCycles()
	if d.hotspot && d.format == "hotspot" {
		d.info.Truncated = !d.ended || !d.banner || d.info.Threads < d.info.Declared
	}
	return d.sendDump(d.line)
}
