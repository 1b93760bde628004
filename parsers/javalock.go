package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// annotation reads a line below a frame that begins with a dash; text is what
// follows the dash and blanks. It returns false if the line is none.
//
//	locked <0x00000000ff906ad0> (a java.lang.Object)
//	waiting to lock <0x00000000ff906ae0> (a java.lang.Class for com.acme.X)
//	waiting on the Class initialization monitor for com.acme.X
//	parking to wait for  <0x00000000ffbb8808> (a java.util.concurrent.FutureTask)
//	blocked on java.lang.Object@4a574795                                  ThreadInfo
func (d *javaDump) annotation(text []byte) bool {
	if bytes.IndexByte(text, '&') >= 0 {
		text = unescapeHTML(text)
	}
	if len(text) == 0 {
		return false
	}
	if d.inSyncs {
		return d.synchronizer(text)
	}
	t := &d.thread
	var rest []byte
	switch {
	case cut(text, "locked ", &rest):
		if bytes.Contains(rest, []byte("<---- but blocks ")) { // Arthas thread -b: the one that blocks most
			d.info.Partial = true
		}
		d.locked(d.lock(rest))
	case cut(text, "waiting on the Class initialization monitor for ", &rest):
		t.classInit = true
		d.waits(evidence.Lock{Class: d.class(rest)})
	case cut(text, "waiting to lock ", &rest), cut(text, "blocked on ", &rest):
		d.waits(d.lock(rest))
		t.released = true
	case cut(text, "waiting to re-lock in wait() ", &rest):
		d.waits(d.lock(rest))
		t.released = true
	case cut(text, "waiting on ", &rest):
		lock := d.lock(rest)
		t.released = !d.parked()
		t.nameless = lock.ID == ""
		d.waits(lock)
	case cut(text, "parking to wait for ", &rest):
		d.waits(d.lock(rest))
	case cut(text, "eliminated ", &rest):
	default:
		return d.bciFrame(text)
	}
	return true
}

// parked reports whether the innermost frame is a park, so that what is waited
// for is a synchronizer and not a monitor that Object.wait released.
func (d *javaDump) parked() bool {
	frames := d.stack.Frames
	return len(frames) > 0 && bytes.HasSuffix([]byte(frames[0].Func), []byte("Unsafe.park"))
}

// waits notes what the thread waits for; the line nearest to the top says it,
// a header may have named the owner before.
func (d *javaDump) waits(lock evidence.Lock) {
	w := &d.stack.WaitsOn
	if w.ID == "" {
		owner, ownerID := w.Owner, w.OwnerID
		*w = lock
		if w.Owner == "" {
			w.Owner, w.OwnerID = owner, ownerID
		}
	}
}

// locked notes a monitor. HotSpot repeats it for each frame that entered it.
func (d *javaDump) locked(lock evidence.Lock) {
	t := &d.thread
	if len(d.stack.Frames) == 1 && d.stack.WaitsOn == (evidence.Lock{}) && t.first == (evidence.Lock{}) {
		t.first = lock
	}
	if t.nameless && d.stack.WaitsOn.ID == "" { // compiled Object.wait: the monitor locked next below it
		d.stack.WaitsOn = lock
		t.nameless = false
	}
	d.holds(lock)
}

func (d *javaDump) holds(lock evidence.Lock) {
	if lock.ID == "" {
		return
	}
	for i := range d.stack.Holds {
		if d.stack.Holds[i].ID == lock.ID {
			return
		}
	}
	d.stack.Holds = append(d.stack.Holds, lock)
}

// synchronizer reads a line of the block "Locked ownable synchronizers".
func (d *javaDump) synchronizer(text []byte) bool {
	d.printsSyncs = true
	d.thread.syncs = true
	if string(text) == "None" {
		return true
	}
	var rest []byte
	if cut(text, "locked ", &rest) {
		text = rest
	}
	lock := d.lock(text)
	if lock.ID == "" {
		return false
	}
	if isWorkerLock(lock.Class) {
		d.thread.worker = true
	}
	d.holds(lock)
	return true
}

// lock reads one of
//
//	<0x00000000ff906ad0> (a java.lang.Object)      HotSpot
//	<5f51813b> (a java.lang.Object) owned by "ajp-bio-8009-exec-3" t@2270
//	<java.util.concurrent.FutureTask@1531bcc6>     dump_to_file
//	java.lang.Object@4a574795 <---- but blocks 4 other threads!
//	<no object reference available>
func (d *javaDump) lock(text []byte) evidence.Lock {
	text = bytes.TrimLeft(text, " ")
	if len(text) == 0 {
		return evidence.Lock{}
	}
	if text[0] != '<' {
		object, _, _ := bytes.Cut(text, []byte(" "))
		l := d.identity(bytes.TrimRight(object, ","))
		l.Waiters = max(0, countAfter(text, "<---- but blocks "))
		return l
	}
	end := bytes.IndexByte(text, '>')
	if end < 0 {
		return evidence.Lock{}
	}
	inner, rest := text[1:end], text[end+1:]
	if bytes.IndexByte(inner, ' ') >= 0 {
		inner = nil
	}
	if bytes.IndexByte(inner, '@') > 0 {
		l := d.identity(inner)
		d.owner(&l, rest)
		return l
	}
	l := evidence.Lock{ID: d.strings.intern(inner)}
	if i := bytes.Index(rest, []byte("(a ")); i >= 0 {
		class := rest[i+3:]
		if j := bytes.IndexByte(class, ')'); j >= 0 {
			class, rest = class[:j], class[j+1:]
		}
		l.Class = d.class(class)
	}
	d.owner(&l, rest)
	return l
}

// owner reads ` owned by "name" Id=12` or ` owned by "name" t@2270`.
func (d *javaDump) owner(l *evidence.Lock, text []byte) {
	i := bytes.Index(text, []byte(`owned by "`))
	if i < 0 {
		return
	}
	text = text[i+len(`owned by "`):]
	end := bytes.LastIndexByte(text, '"')
	if end < 0 {
		return
	}
	l.Owner = d.strings.intern(text[:end])
	for field := range bytes.FieldsSeq(text[end+1:]) {
		var id []byte
		if cut(field, "Id=", &id) || cut(field, "t@", &id) || cut(field, "tid=", &id) {
			l.OwnerID = d.strings.intern(id)
		}
	}
}

// identity splits "java.lang.Object@4a574795".
func (d *javaDump) identity(text []byte) evidence.Lock {
	at := bytes.LastIndexByte(text, '@')
	if at <= 0 || at+1 == len(text) {
		return evidence.Lock{}
	}
	return evidence.Lock{ID: d.strings.intern(text[at+1:]), Class: d.class(text[:at])}
}

// class returns a class name; debuggers of the VM print it with slashes.
func (d *javaDump) class(text []byte) string {
	text = bytes.TrimSpace(text)
	if bytes.IndexByte(text, '/') < 0 {
		return d.strings.intern(text)
	}
	if bytes.IndexByte(text, '.') < 0 {
		return d.strings.intern(bytes.ReplaceAll(text, []byte("/"), []byte(".")))
	}
	return javaFunc(string(text))
}

func isWorkerLock(class string) bool {
	return len(class) >= len(workerLock) && class[len(class)-len(workerLock):] == workerLock
}

const workerLock = "ThreadPoolExecutor$Worker"

// cut stores in rest what follows prefix in text, and reports whether it did.
func cut(text []byte, prefix string, rest *[]byte) bool {
	if len(text) < len(prefix) || string(text[:len(prefix)]) != prefix {
		return false
	}
	*rest = text[len(prefix):]
	return true
}

// bciFrame reads a frame of jstack -F and jhsdb:
//
//	java.lang.Thread.sleep(long) @bci=0 (Interpreted frame)
//	com.acme.X.m(int) @bci=12, pc=0x7f, line=41, Method*=… (Compiled frame; information may be imprecise)
func (d *javaDump) bciFrame(text []byte) bool {
	at := bytes.Index(text, []byte(" @bci="))
	if at < 0 {
		return false
	}
	f := d.frames.get(text)
	if f == nil {
		frame, ok := parseJavaFrame(text[:at])
		if !ok {
			return false
		}
		frame.File, frame.Line, frame.Native = "", 0, false
		if _, rest, ok := bytes.Cut(text[at:], []byte("line=")); ok {
			for _, c := range rest {
				if !isDigit(c) || frame.Line > 1<<24 {
					break
				}
				frame.Line = 10*frame.Line + int(c-'0')
			}
		}
		f = d.frames.put(text, frame)
	}
	d.format = "jhsdb"
	d.push(f)
	return true
}
