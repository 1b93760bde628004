package parsers

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// What the tools of a host say about its processors:
//
//	procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----     vmstat (procps 2 to 4)
//	 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
//	%Cpu(s):  5.9 us,  2.9 sy,  0.0 ni, 91.2 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st      top -b
//	09:12:34 AM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle   mpstat, sar -u
//	nr_periods 1000                                                                      cpu.stat of a control group
//	nr_throttled 300
//
// Each sample is one mark: the share of all processors that was neither idle
// nor waiting for a disk. The first sample of most tools is the average since
// the host started. It is left out, unless even that average is near the limit.
func hostStatFormat() Format {
	return Format{
		Name:     "host-stat",
		Doc:      "Processors of a host or container: vmstat, top, mpstat, sar, iostat, pidstat, cpu.stat of control groups",
		Versions: "procps 2 to 4, BusyBox top, sysstat 9 to 12, control groups v1 and v2; made with procps 4.0.2 and sysstat 12.6.1",
		Signs:    []string{"r b swpd free … us sy id wa st", "%Cpu(s): 5.9 us, …, 91.2 id", "CPU %usr … %iowait … %idle", "nr_throttled 300"},
		Marks: []string{
			"procs ------", " us sy id wa", "  us  sy  id  wa", "Cpu(s): ", "% idle  ", " %iowait ", "%wait    %CPU", "%guest    %CPU", "nr_periods ", "nr_throttled ",
		},
		Starts: startsHostStat,
		Block:  readHostStat,
	}
}

func startsHostStat(line []byte) bool {
	switch {
	case vmstatColumns(line) != nil, isVmstatTitle(line):
		return true
	case topIdle(line) >= 0:
		return true
	case bytes.Contains(line, []byte("%idle")), bytes.Contains(line, []byte("%CPU")):
		return sysstatColumns(line) != nil
	}
	_, ok := statCounter(line, "nr_periods")
	if !ok {
		_, ok = statCounter(line, "nr_throttled")
	}
	return ok
}

// hostStat is what the samples of an input have in common.
type hostStat struct {
	in    *Input
	emit  Emit
	clock *clockwork
	tops  int // screens of top
	ios   int // reports of iostat
	rec   evidence.Record
	raw   []byte

	// Of the counters of a control group, so far and in the sample before.
	periods, throttled         int64
	lastPeriods, lastThrottled int64
	samples                    int
	first                      int // line of the first sample
}

func readHostStat(in *Input, emit Emit) error {
	h := in.host
	if h == nil {
		h = &hostStat{in: in, emit: emit, clock: newClockwork(in), periods: evidence.None, throttled: evidence.None}
		in.host = h
		in.atEnd = append(in.atEnd, h.onlyThrottled)
	}
	if !in.Lines.Next() {
		return in.Lines.Err()
	}
	line := in.Lines.Bytes()
	switch {
	case isVmstatTitle(line), vmstatColumns(line) != nil:
		in.Lines.Unread()
		return h.vmstat()
	case topIdle(line) >= 0:
		return h.top(line)
	}
	if cols := sysstatColumns(line); cols != nil {
		return h.sysstat(cols)
	}
	in.Lines.Unread()
	return h.cpuStat()
}

// cpu emits one sample.
func (h *hostStat) cpu(busy float64, at time.Time, zoned evidence.Tri, line int, text []byte) error {
	if busy < 0 || busy > 1.001 {
		return nil
	}
	return h.mark(evidence.Mark{Kind: evidence.MarkCPU, Value: share(busy)}, at, zoned, line, text)
}

func share(v float64) float64 { return math.Round(min(v, 1)*1e4) / 1e4 }

// average emits a sample that may be the average since the host started, if it
// would say the same of the present.
func (h *hostStat) average(busy float64, at time.Time, zoned evidence.Tri, line int, text []byte) error {
	if busy < sinceBootBusy {
		return nil
	}
	return h.cpu(busy, at, zoned, line, text)
}

const sinceBootBusy = 0.9

func (h *hostStat) mark(m evidence.Mark, at time.Time, zoned evidence.Tri, line int, text []byte) error {
	if at.IsZero() {
		if at, _ = h.in.Lines.Origin(); !at.IsZero() {
			at, zoned = at.UTC(), evidence.Yes
		}
	}
	h.raw = append(h.raw[:0], text[:min(len(text), maxRaw)]...)
	h.rec = evidence.Record{Time: at, Zoned: zoned, Place: h.in.place(), Cite: h.in.cite(line), Raw: h.raw}
	h.rec.Mark = &m
	return h.emit(&h.rec)
}

// vmstatColumns returns the names of vmstat's columns from the queues to the
// last one of the processors; nil if the line is not that header.
func vmstatColumns(line []byte) []string {
	if !bytes.Contains(line, []byte(" id ")) && !bytes.HasSuffix(bytes.TrimRight(line, " "), []byte(" id")) {
		return nil
	}
	var cols []string
	for _, f := range bytes.Fields(line) {
		if len(cols) > 0 || string(f) == "r" {
			cols = append(cols, string(f))
		}
	}
	for len(cols) > 0 { // a zone's name, or the word for the time
		if last := cols[len(cols)-1]; last == "st" || last == "gu" || last == "wa" || last == "id" {
			break
		}
		cols = cols[:len(cols)-1]
	}
	if len(cols) < 14 || cols[1] != "b" {
		return nil
	}
	return cols
}

func isVmstatTitle(line []byte) bool {
	return bytes.Contains(line, []byte("procs ---")) && bytes.Contains(line, []byte("-cpu-"))
}

// vmstat reads samples; each run of the tool begins with the average since the
// host started.
func (h *hostStat) vmstat() error {
	var cols []string
	skipped := false
	for h.in.Lines.Next() {
		line := h.in.Lines.Bytes()
		if isVmstatTitle(line) {
			continue
		}
		if c := vmstatColumns(line); c != nil {
			cols = c
			continue
		}
		values, at, zoned, ok := h.row(line, len(cols))
		if !ok {
			h.in.Lines.Unread()
			return nil
		}
		id, wa := -1.0, 0.0
		for i, c := range cols {
			switch c {
			case "id":
				id = values[i]
			case "wa":
				wa = values[i]
			}
		}
		if id < 0 {
			continue
		}
		emit := h.cpu
		if !skipped {
			skipped, emit = true, h.average
		}
		if err := emit(1-(id+wa)/100, at, zoned, h.in.Lines.Number(), line); err != nil {
			return err
		}
		h.in.Lines.settle(h.in.Lines.Number() + 1)
	}
	return h.in.Lines.Err()
}

// row reads the last n numbers of a line, before a date and a time if they
// stand at its end; a time may also stand at its beginning.
func (h *hostStat) row(line []byte, n int) (values []float64, at time.Time, zoned evidence.Tri, ok bool) {
	if n == 0 {
		return nil, at, zoned, false
	}
	fields := bytes.Fields(line)
	var s stamp
	if k := len(fields); k > n+1 && bytes.IndexByte(fields[k-1], ':') > 0 && bytes.IndexByte(fields[k-2], '-') > 0 {
		if i := bytes.LastIndex(line, fields[k-2]); readStamp(line[i:], &s) > 0 {
			at, zoned = h.clock.resolve(&s)
		}
		fields = fields[:k-2]
	} else if readStamp(bytes.TrimLeft(line, " ["), &s) > 0 {
		at, zoned = h.clock.resolve(&s)
	}
	if len(fields) < n {
		return nil, at, zoned, false
	}
	for _, f := range fields[len(fields)-n:] {
		v, w := decimal(f)
		if w != len(f) {
			return nil, at, zoned, false
		}
		values = append(values, v)
	}
	return values, at, zoned, true
}

// topIdle returns the idle and waiting percentage of top's summary line; -1 if
// the line is none. Lines of single processors are not.
//
//	%Cpu(s):  5.9 us,  2.9 sy,  0.0 ni, 91.2 id,  0.0 wa, …
//	Cpu(s):  5.9%us,  2.9%sy,  0.0%ni, 91.2%id,  0.0%wa, …
//	CPU:   5% usr   2% sys   0% nic  92% idle   0% io   0% irq   0% sirq      BusyBox
func topIdle(line []byte) float64 {
	head, rest, ok := bytes.Cut(line[:min(len(line), 200)], []byte(":"))
	if !ok {
		return -1
	}
	busybox := bytes.HasSuffix(head, []byte("CPU"))
	if !busybox && !bytes.HasSuffix(head, []byte("Cpu(s)")) {
		return -1
	}
	sum, found := 0.0, false
	var last float64
	words := bytes.Clone(rest)
	for i, c := range words { // a comma after a digit is a decimal mark
		if c == '%' || c == ',' && (i == 0 || !isDigit(words[i-1])) {
			words[i] = ' '
		}
	}
	for _, f := range bytes.Fields(words) {
		f = bytes.TrimRight(f, ",")
		if v, n := decimal(f); n > 0 && n == len(f) {
			last = v
			continue
		}
		switch string(f) {
		case "id", "idle":
			sum, found = sum+last, true
		case "wa", "io":
			sum += last
		}
	}
	if !found || sum > 100.5 {
		return -1
	}
	return sum
}

// top reads one screen's summary. The time stands in the lines above.
func (h *hostStat) top(line []byte) error {
	idle := topIdle(line)
	before := h.in.Lines.Before()
	before = before[max(0, len(before)-1000):]
	var at time.Time
	zoned := evidence.Unknown
	if i := bytes.LastIndex(before, []byte("top - ")); i >= 0 {
		var s stamp
		if readStamp(before[i+len("top - "):], &s) > 0 {
			at, zoned = h.clock.resolve(&s)
		}
	}
	h.tops++
	if h.tops == 1 {
		return h.average(1-idle/100, at, zoned, h.in.Lines.Number(), line)
	}
	return h.cpu(1-idle/100, at, zoned, h.in.Lines.Number(), line)
}

// statCounter reads "nr_throttled 300", which may have a prefix.
func statCounter(line []byte, key string) (int64, bool) {
	i := bytes.Index(line, []byte(key))
	if i < 0 || i > maxPrefix || byteAt(line, i+len(key)) != ' ' {
		return 0, false
	}
	text := bytes.TrimSpace(line[i+len(key):])
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil && n >= 0
}

// cpuStat reads the counters of one sample of cpu.stat.
func (h *hostStat) cpuStat() error {
	h.periods, h.throttled = evidence.None, evidence.None
	line := 0
	for h.in.Lines.Next() {
		text := h.in.Lines.Bytes()
		if n, ok := statCounter(text, "nr_periods"); ok && h.periods < 0 {
			h.periods = n
		} else if n, ok := statCounter(text, "nr_throttled"); ok && h.throttled < 0 {
			h.throttled = n
			line = h.in.Lines.Number()
		} else {
			h.in.Lines.Unread()
			break
		}
	}
	if h.periods < 0 || h.throttled < 0 {
		return h.in.Lines.Err()
	}
	h.samples++
	if h.samples == 1 {
		h.first = line
	} else if d := h.periods - h.lastPeriods; d > 0 && h.throttled >= h.lastThrottled {
		m := evidence.Mark{Kind: evidence.MarkThrottled, Value: share(float64(h.throttled-h.lastThrottled) / float64(d))}
		if err := h.mark(m, time.Time{}, evidence.Unknown, line, nil); err != nil {
			return err
		}
	} else if d < 0 { // of another container
		h.samples = 1
		h.first = line
	}
	h.lastPeriods, h.lastThrottled = h.periods, h.throttled
	return h.in.Lines.Err()
}

// onlyThrottled tells what a single sample says of the time since the container
// started.
func (h *hostStat) onlyThrottled() error {
	if h.samples != 1 || h.in.Lines.grows() || h.lastPeriods <= 0 {
		return nil
	}
	m := evidence.Mark{Kind: evidence.MarkThrottled, Text: "since the container started", Value: share(float64(h.lastThrottled) / float64(h.lastPeriods))}
	return h.mark(m, time.Time{}, evidence.Unknown, h.first, nil)
}
