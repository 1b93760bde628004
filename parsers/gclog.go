package parsers

import (
	"bytes"
	"fmt"
	"math"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Logs of garbage collectors, alone in a file or between the lines of a
// program that writes them to its own output:
//
//	[2026-03-14T09:12:33.123+0000][info][gc] GC(7) Pause Full (Ergonomics) 46M->40M(61M) 11.277ms    JDK 9 to 25
//	[0.127s][info][gc          ] Allocation Stall (exec-1) 5.228ms                                    ZGC
//	2026-03-14T09:12:33.123+0000: 1.234: [GC (Allocation Failure) [PSYoungGen: …] …, 0.0102 secs]     JDK 8
//	gc 12 @3.456s 5%: 0.024+1.2+0.003 ms clock, …                                                     Go, GODEBUG=gctrace=1
//
// Each pause is one mark, at its end. What covers the same time twice (the
// start of a pause, its phases, the safepoint around it) is counted once. A log
// that prints only the time since the start gives marks without a time.
func gcLogFormat() Format {
	return Format{
		Name:     "gc-log",
		Doc:      "Garbage collector logs: pauses, full collections, allocation stalls, safepoints",
		Versions: "JDK 5 to 8 (Serial, Parallel, CMS, G1), JDK 9 to 25 unified logs (with ZGC and Shenandoah), Go 1.5 to 1.26 gctrace; made with JDK 17.0.15, 25.0.3 and Go 1.26",
		Signs:    []string{"[info][gc] GC(7) Pause Full (…) 46M->40M(61M) 11.277ms", "[GC (Allocation Failure) …, 0.0102 secs]", "gc 12 @3.456s 5%: 0.024+1.2+0.003 ms clock"},
		Marks: []string{
			") Pause Young (", ") Pause Full ", ") Pause Remark ", ") Pause Cleanup ", ") Pause Init", ") Pause Final ", ") Pause Degenerated ",
			": Pause Mark ", ": Pause Relocate ", ") Pause Mark ", ") Pause Relocate ", "Allocation Stall (", "Relocation Stall (",
			"] Using Serial", "] Using Parallel", "] Using The Z ", "] Using Shenandoah", "] Using G1", "] Using Concurrent Mark",
			", Time since last: ", "application threads were stopped: ",
			"[GC pause (", "[Full GC ", "[Full GC(", "[GC (Allocation ", "[GC (System.gc", "[GC (GCLocker ", "[GC (Metadata ", "[GC (CMS ", "[GC (Heap ",
			"[GC (Ergonomics", "[GC (JvmtiEnv", "[GC (Last ditch", "[GC (Update All", "[GC remark", "[GC cleanup",
			"[PSYoungGen: ", "[ParNew: ", "[DefNew: ", "[1 CMS-initial-mark", "[YG occupancy: ", "[Times: user=",
			" ms clock, ",
		},
		Starts: startsGC,
		Block:  readGC,
	}
}

// startsGC reports whether a line is one of a collector's.
func startsGC(line []byte) bool {
	var u unifiedLine
	return u.parse(line) || oldCollection(line, 0) >= 0 || stoppedAt(line) >= 0 || bytes.Contains(line, timesSign) || isGCTrace(line)
}

func readGC(in *Input, emit Emit) error {
	if in.gc == nil {
		g := &gcLog{in: in, emit: emit, clock: newClockwork(in)}
		in.gc = g
		in.atEnd = append(in.atEnd, g.observed)
	}
	for n := 0; in.Lines.Next(); n++ {
		ours, err := in.gc.line(in.Lines.Bytes())
		if err != nil {
			return err
		}
		if !ours {
			in.Lines.Unread()
			if n == 0 {
				return ErrUnrecognized
			}
			return nil
		}
		if !in.gc.old.open {
			in.Lines.settle(in.Lines.Number() + 1)
		}
	}
	return in.Lines.Err()
}

// gcLog is what is known of the collectors of an input, kept between blocks.
type gcLog struct {
	in        *Input
	emit      Emit
	clock     *clockwork
	unified   unifiedLine
	old       oldEvent
	collector string
	rec       evidence.Record
	raw       []byte

	last    float64 // the latest moment seen, in seconds on the log's own clock
	any     bool
	covered float64 // seconds between the first and the last moment
	begin   int     // the line of the first one
	at      moment  // of the last one
	counted float64 // seconds of pauses since the last safepoint was reported
}

// moment is when something was logged: on the wall clock, if that is known, and
// in seconds on a clock of the log's own.
type moment struct {
	wall    time.Time
	zoned   evidence.Tri
	seconds float64
	known   bool // seconds is known
	uptime  bool // seconds are since the start of the process
}

// plus returns the moment a while later.
func (m moment) plus(seconds float64) moment {
	if !m.wall.IsZero() {
		m.wall = m.wall.Add(time.Duration(seconds * float64(time.Second)))
	}
	m.seconds += seconds
	return m
}

func (g *gcLog) line(line []byte) (bool, error) {
	switch {
	case g.old.open:
		return g.goOn(line)
	case g.unified.parse(line):
		return true, g.unifiedEvent(line)
	case stoppedAt(line) >= 0:
		return true, g.stoppedLine(line)
	case isGCTrace(line):
		return true, g.traceLine(line)
	case oldCollection(line, 0) >= 0:
		return true, g.oldLine(line, 0)
	}
	return bytes.Contains(line, timesSign), nil
}

// cover notes that the log has reached a moment, which began earlier.
func (g *gcLog) cover(at moment, lasted float64) {
	if !at.known {
		return
	}
	from := at.seconds - lasted
	if !g.any {
		g.any, g.last, g.begin = true, from, g.in.Lines.Number()
	} else if at.seconds < g.last-1 { // another process, or another file's beginning
		g.last = from
	}
	if at.seconds > g.last {
		g.covered += at.seconds - g.last
		g.last = at.seconds
	}
	g.at = at
}

// observed tells, at the end of the input, how much time its lines cover.
func (g *gcLog) observed() error {
	if !g.any || g.covered <= 0 {
		return nil
	}
	r := g.record(g.at, g.begin, nil)
	r.Mark = &evidence.Mark{Kind: evidence.MarkGCObserved, Text: g.collector, Value: math.Round(g.covered*1e6) / 1e6}
	g.covered = 0 // of a log that grows there may be more to tell
	return g.emit(r)
}

// pause emits a pause that has just ended.
func (g *gcLog) pause(kind string, at moment, seconds float64, text, line []byte) error {
	g.cover(at, seconds)
	if kind == evidence.MarkGCPause || kind == evidence.MarkGCFull {
		g.counted += seconds
	}
	return g.mark(kind, at, seconds, text, line)
}

// heap emits how full the heap is after a full collection.
func (g *gcLog) heap(at moment, share float64, text, line []byte) error {
	if share < 0 || share > 1 {
		return nil
	}
	return g.mark(evidence.MarkHeapFull, at, share, text, line)
}

// safepoint emits what a safepoint lasted beyond the collections in it.
func (g *gcLog) safepoint(at moment, seconds float64, text, line []byte) error {
	g.cover(at, seconds)
	least := shortestStop
	if g.counted > 0 {
		least = shortestWait
	}
	seconds -= g.counted
	g.counted = 0
	if seconds < least {
		return nil
	}
	return g.mark(evidence.MarkGCPause, at, seconds, text, line)
}

const (
	shortestStop = 0.001 // seconds of a safepoint worth a mark of its own
	shortestWait = 0.010 // the same around a collection, which has its own
)

func (g *gcLog) mark(kind string, at moment, value float64, text, line []byte) error {
	r := g.record(at, g.in.Lines.Number(), line)
	r.Mark = &evidence.Mark{Kind: kind, Text: snippet(text, maxText), Value: math.Round(value*1e6) / 1e6}
	if at.wall.IsZero() && at.uptime {
		r.Mark.Text = fmt.Sprintf("%.3fs %s", at.seconds, r.Mark.Text)
	}
	return g.emit(r)
}

func (g *gcLog) record(at moment, line int, text []byte) *evidence.Record {
	g.raw = append(g.raw[:0], text[:min(len(text), maxRaw)]...)
	g.rec = evidence.Record{Time: at.wall, Zoned: at.zoned, Place: g.in.place(), Cite: g.in.cite(line), Raw: g.raw}
	if _, source := g.in.Lines.Origin(); source != "" {
		if instance, service := g.in.ownerOf(source); instance != "" {
			g.rec.Place = evidence.Place{Service: service, Instance: instance}
		}
	}
	return &g.rec
}

// wallTime sets a moment's wall clock from a stamp that was printed.
func (g *gcLog) wallTime(m *moment, s *stamp) {
	m.wall, m.zoned = g.clock.resolve(s)
	if !m.wall.IsZero() && (!m.known || m.uptime) {
		m.seconds, m.known, m.uptime = float64(m.wall.UnixMicro())/1e6, true, false
	}
}

// origin sets the moment from the wrapper of the line, if the line has no time.
func (g *gcLog) origin(m *moment) {
	if !m.wall.IsZero() {
		return
	}
	if t, _ := g.in.Lines.Origin(); !t.IsZero() {
		m.wall, m.zoned = t.UTC(), evidence.Yes
		if !m.known {
			m.seconds, m.known = float64(t.UnixMicro())/1e6, true
		}
	}
}

// trailing returns the number at the end of text and where it begins; ok is
// false if there is none.
func trailing(text []byte) (value float64, at int, ok bool) {
	at = len(text)
	for at > 0 && (isDigit(text[at-1]) || text[at-1] == '.' || text[at-1] == ',') {
		at--
	}
	value, n := decimal(text[at:])
	return value, at, n > 0 && n == len(text)-at
}

// heapSizes finds "46M->40M(61M)" and returns the share that is used afterwards;
// -1 if there is none.
func heapSizes(text []byte) float64 {
	for {
		i := bytes.Index(text, arrow)
		if i < 0 {
			return -1
		}
		text = text[i+len(arrow):]
		used, n := heapSize(text)
		if n == 0 || byteAt(text, n) != '(' {
			continue
		}
		if size, m := heapSize(text[n+1:]); m > 0 && size > 0 {
			return used / size
		}
	}
}

var arrow = []byte("->")

// heapSize reads "40M", "61.5K" or "1,2G" in bytes.
func heapSize(text []byte) (float64, int) {
	v, n := decimal(text)
	if n == 0 {
		return 0, 0
	}
	switch byteAt(text, n) {
	case 'B':
		return v, n + 1
	case 'K':
		return v * (1 << 10), n + 1
	case 'M':
		return v * (1 << 20), n + 1
	case 'G':
		return v * (1 << 30), n + 1
	case 'T':
		return v * (1 << 40), n + 1
	}
	return 0, 0
}
