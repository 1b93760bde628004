package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// unifiedLine is a line of the JVM's unified log (JDK 9 and later):
//
//	[2026-03-14T09:12:33.123+0000][0.031s][4711][4722][info][gc,phases   ] GC(7) Y: Pause Mark End 0.017ms
//
// Which decorations stand in front, and in which order, is the user's choice;
// there may be none at all. They are known by their shape.
type unifiedLine struct {
	at      moment
	stamp   stamp
	stamped bool
	text    []byte // after the decorations and the number of the collection
}

// parse reports whether the line is one of a collector or a safepoint.
func (u *unifiedLine) parse(line []byte) bool {
	*u = unifiedLine{}
	tagged := false
	i := 0
	if byteAt(line, 0) != '[' {
		if n := bytes.IndexByte(line, '['); n > 0 && n <= maxPrefix {
			i = n
		}
	}
	for byteAt(line, i) == '[' {
		n := bytes.IndexByte(line[i:], ']')
		if n < 0 {
			return false
		}
		tagged = u.decoration(bytes.TrimRight(line[i+1:i+n], " ")) || tagged
		i += n + 1
		if byteAt(line, i) == ' ' && byteAt(line, i+1) == '[' { // what a wrapper put in front
			i++
		}
	}
	text := bytes.TrimLeft(line[i:], " ")
	numbered := false
	if i == 0 {
		text = line
	}
	if bytes.HasPrefix(text, []byte("GC(")) {
		n := 3 + digitRun(text, 3)
		if n == 3 || byteAt(text, n) != ')' || byteAt(text, n+1) != ' ' {
			return false
		}
		text, numbered = text[n+2:], true
		if byteAt(text, 1) == ':' && byteAt(text, 2) == ' ' { // "Y: ", of a generation
			text = text[3:]
		}
	}
	u.text = text
	if tagged || numbered {
		return true
	}
	return i > 0 && isUnifiedText(text)
}

// isUnifiedText tells messages of a collector that have neither tags nor number.
func isUnifiedText(text []byte) bool {
	switch byteAt(text, 0) {
	case 'A', 'R':
		return bytes.HasPrefix(text, []byte("Allocation Stall (")) || bytes.HasPrefix(text, []byte("Relocation Stall ("))
	case 'S':
		return bytes.HasPrefix(text, []byte("Safepoint \""))
	case 'U':
		return collectorOf(text) != ""
	}
	return false
}

// decoration reads one pair of brackets and reports whether it holds tags of a
// collector or a safepoint.
func (u *unifiedLine) decoration(d []byte) bool {
	switch c := byteAt(d, 0); {
	case c == 'g':
		return string(d) == "gc" || bytes.HasPrefix(d, []byte("gc,"))
	case c == 's':
		return string(d) == "safepoint" || bytes.HasPrefix(d, []byte("safepoint,"))
	case isDigit(c):
		u.time(d)
	}
	return false
}

func (u *unifiedLine) time(d []byte) {
	if len(d) > 18 && d[4] == '-' {
		if !u.stamped {
			u.stamped = readStamp(d, &u.stamp) > 0
		}
		return
	}
	v, n := decimal(d)
	scale := 0.0
	switch string(d[n:]) {
	case "s":
		scale = 1
	case "ms":
		scale = 1e-3
	case "ns":
		scale = 1e-9
	}
	// Milliseconds and nanoseconds may also be those of the wall clock.
	if scale > 0 && v*scale < 1e9 && !u.at.known {
		u.at.seconds, u.at.known, u.at.uptime = v*scale, true, true
	}
}

func (g *gcLog) unifiedEvent(line []byte) error {
	u := &g.unified
	text := u.text
	switch byteAt(text, 0) {
	case 'P':
		if bytes.HasPrefix(text, []byte("Pause ")) {
			return g.unifiedPause(text, line)
		}
	case 'A', 'R':
		if bytes.HasPrefix(text[1:], []byte("llocation Stall (")) || bytes.HasPrefix(text[1:], []byte("elocation Stall (")) {
			if ms, end, ok := millisAtEnd(text); ok {
				g.named("ZGC")
				return g.pause(evidence.MarkAllocStall, g.unifiedMoment(), ms/1000, text[:end], line)
			}
		}
	case 'G', 'M':
		return g.cycle(text, line)
	case 'S':
		if total := past(text, "Total: "); total != nil && bytes.HasPrefix(text, []byte("Safepoint \"")) {
			ns, n := decimal(total)
			if n > 0 && bytes.HasPrefix(total[n:], []byte(" ns")) {
				return g.safepoint(g.unifiedMoment(), ns/1e9, upTo(text, ","), line)
			}
		}
	case 'T':
		if i := stoppedAt(text); i >= 0 {
			return g.stopped(g.unifiedMoment(), text[i:], line)
		}
	case 'U':
		if c := collectorOf(text); c != "" {
			g.collector = c
			g.cover(g.unifiedMoment(), 0)
		}
	}
	return nil
}

// unifiedMoment returns when the current line was written.
func (g *gcLog) unifiedMoment() moment {
	m := g.unified.at
	if g.unified.stamped {
		g.wallTime(&m, &g.unified.stamp)
	}
	g.origin(&m)
	return m
}

// unifiedPause reads the end of a pause. Its start has the same words without
// the milliseconds.
func (g *gcLog) unifiedPause(text, line []byte) error {
	ms, end, ok := millisAtEnd(text)
	if !ok {
		return nil
	}
	name := text[len("Pause "):]
	switch {
	case bytes.Contains(name, []byte("(G1 ")):
		g.named("G1")
	case bytes.HasPrefix(name, []byte("Mark ")) || bytes.HasPrefix(name, []byte("Relocate ")):
		g.named("ZGC")
	case bytes.HasPrefix(name, []byte("Init Mark")) || bytes.HasPrefix(name, []byte("Final Update")) || bytes.HasPrefix(name, []byte("Degenerated")):
		g.named("Shenandoah")
	}
	at := g.unifiedMoment()
	if !bytes.HasPrefix(name, []byte("Full")) {
		return g.pause(evidence.MarkGCPause, at, ms/1000, text[:end], line)
	}
	if err := g.pause(evidence.MarkGCFull, at, ms/1000, text[:end], line); err != nil {
		return err
	}
	return g.heap(at, heapSizes(text), text[:end], line)
}

// cycle reads the end of a cycle of ZGC, which tells how full the heap remained.
// Only cycles that threads had to wait for say that it is too small:
//
//	Garbage Collection (Allocation Stall) 128M(100%)->76M(59%)
//	Major Collection (Allocation Stall) 48M(100%)->40M(83%) 0.028s
func (g *gcLog) cycle(text, line []byte) error {
	if !bytes.Contains(text, []byte("Collection (Allocation Stall) ")) || bytes.HasPrefix(text, []byte("Minor")) {
		return nil
	}
	after := text[bytes.LastIndex(text, arrow)+1:]
	i := bytes.IndexByte(after, '(')
	j := bytes.IndexByte(after, '%')
	if i < 0 || j < i {
		return nil
	}
	percent, n := decimal(after[i+1:])
	if n == 0 {
		return nil
	}
	at := g.unifiedMoment()
	g.cover(at, 0)
	return g.heap(at, percent/100, text, line)
}

// named notes a collector that its own first line would have told.
func (g *gcLog) named(collector string) {
	if g.collector == "" {
		g.collector = collector
	}
}

// collectorOf reads "Using G1".
func collectorOf(text []byte) string {
	name, ok := bytes.CutPrefix(text, []byte("Using "))
	if !ok {
		return ""
	}
	for _, c := range [...]struct{ start, name string }{
		{"G1", "G1"}, {"Parallel", "Parallel"}, {"Serial", "Serial"}, {"The Z ", "ZGC"}, {"Shenandoah", "Shenandoah"}, {"Concurrent Mark", "CMS"}, {"Epsilon", "Epsilon"},
	} {
		if bytes.HasPrefix(name, []byte(c.start)) {
			return c.name
		}
	}
	return ""
}

// millisAtEnd reads "… 11.277ms", where the text before the number ends.
func millisAtEnd(text []byte) (ms float64, end int, ok bool) {
	text = bytes.TrimRight(text, " ")
	number, found := bytes.CutSuffix(text, []byte("ms"))
	if !found {
		return 0, 0, false
	}
	ms, at, ok := trailing(number)
	if !ok || at < 2 || text[at-1] != ' ' {
		return 0, 0, false
	}
	return ms, at - 1, true
}

// stoppedAt returns where the seconds stand in the report of a stop, -1 if the
// line is none:
//
//	Total time for which application threads were stopped: 0.0046670 seconds, Stopping threads took: 0.0000180 seconds
func stoppedAt(line []byte) int {
	i := bytes.Index(line, stoppedSign)
	if i < 0 {
		return -1
	}
	return i + len(stoppedSign)
}

var stoppedSign = []byte("application threads were stopped: ")

// stopped reads the seconds of a stop.
func (g *gcLog) stopped(at moment, seconds, line []byte) error {
	v, n := decimal(seconds)
	if n == 0 {
		return nil
	}
	return g.safepoint(at, v, []byte("application threads were stopped"), line)
}
