package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// Logs of JDK 8 and before. A collection stands in brackets with the collections
// of the spaces inside it, and ends with its seconds; it may go on over several
// lines, and the lines of a concurrent collector may come between. The decimal
// mark follows the locale. The time in front is that of its start:
//
//	2026-03-14T09:12:33.123+0000: 1.234: [GC (Allocation Failure) [PSYoungGen: 15M->2M(18M)] 15M->14M(61M), 0.0047 secs] [Times: user=0.01 …]
//	12,345: [Full GC (Ergonomics) [PSYoungGen: …] [ParOldGen: …] 46M->40M(61M), [Metaspace: …], 0,0112 secs]
//	1.234: [GC pause (G1 Evacuation Pause) (young), 0.0229931 secs]
//	1.234: [GC (Allocation Failure) 1.234: [ParNew
//	Desired survivor size 1114112 bytes, new threshold 15 (max 15)
//	: 17472K->2176K(19648K), 0.0034 secs] 17472K->3060K(63360K), 0.0035 secs]
type oldEvent struct {
	open  bool
	depth int
	lines int
	full  bool
	share float64 // of the heap that is used afterwards; -1 if not printed
	start moment
	text  []byte
}

var (
	timesSign  = []byte("[Times: user=")
	gcSign     = []byte("[GC")
	fullSign   = []byte("[Full GC")
	secondsEnd = []byte(" secs")
)

const maxOldLines = 200 // of one collection

// oldCollection returns where a stop-the-world collection begins in the line,
// from an offset; -1 if none does.
func oldCollection(line []byte, from int) int {
	for from < len(line) {
		gc, full := bytes.Index(line[from:], gcSign), bytes.Index(line[from:], fullSign)
		at, n := gc, len(gcSign)
		if gc < 0 || full >= 0 && full < gc {
			at, n = full, len(fullSign)
		}
		if at < 0 {
			return -1
		}
		at += from
		from = at + n
		next := line[from:]
		switch byteAt(next, 0) {
		case ' ', '[', '(', '-':
		default:
			continue
		}
		// Concurrent phases stop nothing; workers are details.
		if bytes.HasPrefix(next, []byte(" concurrent-")) || bytes.HasPrefix(next, []byte(" Worker ")) {
			continue
		}
		if at > 0 && line[at-1] != ' ' && line[at-1] != ']' && line[at-1] != ':' {
			continue
		}
		return at
	}
	return -1
}

// oldLine reads the collections of a line from an offset.
func (g *gcLog) oldLine(line []byte, from int) error {
	for {
		at := oldCollection(line, from)
		if at < 0 {
			return nil
		}
		g.old = oldEvent{open: true, share: -1, start: g.oldMoment(line[from:at]), text: append(g.old.text[:0], oldName(line[at+1:])...)}
		g.old.full = bytes.HasPrefix(line[at:], fullSign)
		end, err := g.feed(line, at)
		if err != nil || g.old.open {
			return err
		}
		from = end
	}
}

// oldName returns what a collection is called, with its cause.
func oldName(text []byte) []byte {
	text = upTo(text, "[,")
	if i := bytes.LastIndexByte(text, ')'); i >= 0 && !bytes.Contains(text, arrow) {
		return text[:i+1]
	}
	if i := bytes.IndexByte(text, ':'); i >= 0 {
		text = bytes.TrimRight(text[:i], "0123456789-+.T: ")
	}
	return text
}

// goOn reads a line inside a collection of several lines.
func (g *gcLog) goOn(line []byte) (bool, error) {
	if g.old.lines++; g.old.lines > maxOldLines || !oldDetail(line) {
		g.old.open = false
		g.in.Skip(g.in.Lines.Number(), "collection without an end")
		return g.line(line)
	}
	end, err := g.feed(line, 0)
	if err != nil || g.old.open {
		return true, err
	}
	return true, g.oldLine(line, end)
}

// oldDetail reports whether a line may stand inside a collection.
func oldDetail(line []byte) bool {
	switch c := byteAt(line, 0); {
	case c == 0, c == ' ', c == '\t', c == ':', c == ',', c == '-', c == '(', c == '[', c == '{', c == '}', isDigit(c):
		return true
	}
	for _, p := range [...]string{"Desired survivor", "Heap ", "AdaptiveSize", "avg_", "promo", "CMS: ", "PSAdaptive", "Before GC", "After GC", "Statistics", "Total Free", "Max ", "Number of", "Av. ", "Tree"} {
		if bytes.HasPrefix(line, []byte(p)) {
			return true
		}
	}
	return false
}

// feed reads part of a collection and returns where it ended in the line, if
// it did.
func (g *gcLog) feed(line []byte, from int) (int, error) {
	e := &g.old
	text := line[from:]
	e.full = e.full || has(text, "[CMS: ", "[CMS2", "[Tenured", "OldGen: ", "concurrent mode ")
	for _, c := range [...]struct{ sign, name string }{{"[PSYoungGen", "Parallel"}, {"[ParNew", "CMS"}, {"[DefNew", "Serial"}, {"[GC pause", "G1"}, {"CMS-initial", "CMS"}} {
		if g.collector == "" && has(text, c.sign) {
			g.collector = c.name
		}
	}
	for i := from; i < len(line); i++ {
		switch line[i] {
		case '[':
			e.depth++
		case ']':
			e.depth--
			if e.depth > 0 {
				continue
			}
			e.open = false
			number, ok := bytes.CutSuffix(line[:i], secondsEnd)
			if !ok {
				return i + 1, nil
			}
			seconds, _, ok := trailing(number)
			if !ok {
				return i + 1, nil
			}
			return i + 1, g.oldPause(seconds, line)
		case '>':
			if e.depth == 1 && i > from && line[i-1] == '-' {
				if share := heapSizes(upTo(line[i-1:], "[],")); share >= 0 {
					e.share = share
				}
			}
		}
	}
	return len(line), nil
}

func (g *gcLog) oldPause(seconds float64, line []byte) error {
	e := &g.old
	at := e.start.plus(seconds)
	text := bytes.TrimRight(e.text, " ")
	if !e.full {
		return g.pause(evidence.MarkGCPause, at, seconds, text, line)
	}
	if err := g.pause(evidence.MarkGCFull, at, seconds, text, line); err != nil {
		return err
	}
	return g.heap(at, e.share, text, line)
}

// oldMoment reads what stands before a collection: "2026-03-14T09:12:33.123+0000: 1.234: ".
func (g *gcLog) oldMoment(head []byte) moment {
	var m moment
	trimmed := bytes.TrimRight(head, " ")
	if before, ok := bytes.CutSuffix(trimmed, []byte(":")); ok {
		if v, at, ok := trailing(before); ok && (at == 0 || before[at-1] == ' ') {
			m.seconds, m.known, m.uptime = v, true, true
		}
	}
	var s stamp
	for i := max(0, len(head)-80); i+19 < len(head); i++ {
		if isDigit(head[i]) && head[i+4] == '-' && head[i+10] == 'T' && readStamp(head[i:], &s) > 0 {
			g.wallTime(&m, &s)
			break
		}
	}
	g.origin(&m)
	return m
}

// stoppedLine reads a stop that is reported in the old way; its time is the end.
func (g *gcLog) stoppedLine(line []byte) error {
	i := stoppedAt(line)
	head := line[:i-len(stoppedSign)]
	if n := bytes.Index(head, []byte("Total time for which")); n >= 0 {
		head = head[:n]
	}
	return g.stopped(g.oldMoment(head), line[i:], line)
}
