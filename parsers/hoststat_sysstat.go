package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Tables of sysstat (mpstat, sar -u, iostat, pidstat). Headers may be repeated;
// times may have AM and PM; the decimal mark follows the locale:
//
//	Linux 6.1.0-18-amd64 (order-0) 	03/14/2026 	_x86_64_	(4 CPU)
//
//	09:12:33 AM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
//	09:12:34 AM  all    5.00    0.00    1.00    0.00    0.00    0.00    0.00    0.00    0.00   94.00
//	Average:     all    5.00    0.00    1.00    0.00    0.00    0.00    0.00    0.00    0.00   94.00
//
//	avg-cpu:  %user   %nice %system %iowait  %steal   %idle
//	           5.00    0.00    1.00    0.00    0.00   94.00
//
//	09:12:33 AM   UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command

// sysstatColumns returns the columns of a table's header, nil if the line is none.
func sysstatColumns(line []byte) []string {
	var cols []string
	percents := 0
	for _, f := range bytes.Fields(line) {
		if f[0] == '%' {
			percents++
		}
		if percents > 0 || string(f) == "CPU" || string(f) == "PID" || string(f) == "TID" || string(f) == "UID" {
			cols = append(cols, string(f))
		}
		if len(cols) > 30 {
			return nil
		}
	}
	if percents < 3 {
		return nil
	}
	return cols
}

func columnAt(cols []string, name string) int {
	for i, c := range cols {
		if c == name {
			return i
		}
	}
	return -1
}

// sample is a row that may turn out to be the average since the host started.
type sample struct {
	busy  float64
	at    time.Time
	zoned evidence.Tri
	line  int
	set   bool
}

// sysstat reads the rows below a header. A lone row is the average since the
// host started, and so is iostat's first.
func (h *hostStat) sysstat(cols []string) error {
	idle, wait := columnAt(cols, "%idle"), columnAt(cols, "%iowait")
	if idle < 0 {
		return h.pidstat(cols)
	}
	all := columnAt(cols, "CPU") >= 0
	date, _ := h.bootHeader()
	var first sample
	rows, blank := 0, 0
	for h.in.Lines.Next() {
		line := h.in.Lines.Bytes()
		if len(bytes.TrimSpace(line)) == 0 {
			if blank++; blank > 1 {
				break
			}
			continue
		}
		if c := sysstatColumns(line); c != nil && columnAt(c, "%idle") >= 0 {
			cols, blank = c, 0
			idle, wait = columnAt(cols, "%idle"), columnAt(cols, "%iowait")
			continue
		}
		fields := bytes.Fields(line)
		if len(fields) < len(cols) {
			h.in.Lines.Unread()
			break
		}
		row := fields[len(fields)-len(cols):]
		id, ok := percent(row, idle)
		if !ok {
			h.in.Lines.Unread()
			break
		}
		blank = 0
		if all && string(row[0]) != "all" && string(row[0]) != "-1" {
			continue // of one processor
		}
		if bytes.Contains(fields[0], []byte("verage")) || bytes.HasSuffix(fields[0], []byte(":")) {
			rows++ // so the row before was no average since the start
			continue
		}
		wa, _ := percent(row, wait)
		s := sample{busy: 1 - (id+wa)/100, line: h.in.Lines.Number(), set: true}
		s.at, s.zoned = h.rowTime(line, date)
		rows++
		if rows == 1 {
			first = s
			continue
		}
		if rows == 2 && all && first.set {
			if err := h.cpu(first.busy, first.at, first.zoned, first.line, nil); err != nil {
				return err
			}
			first.set = false
		}
		if err := h.cpu(s.busy, s.at, s.zoned, s.line, line); err != nil {
			return err
		}
		h.in.Lines.settle(s.line + 1)
	}
	if first.set {
		emit := h.average
		if !all {
			h.ios++
		}
		if rows > 1 && all || h.ios > 1 {
			emit = h.cpu
		}
		if err := emit(first.busy, first.at, first.zoned, first.line, nil); err != nil {
			return err
		}
	}
	return h.in.Lines.Err()
}

func percent(row [][]byte, i int) (float64, bool) {
	if i < 0 || i >= len(row) {
		return 0, false
	}
	v, n := decimal(row[i])
	return v, n > 0 && n == len(row[i])
}

// rowTime reads the time of day of a row and gives it the date of the report.
func (h *hostStat) rowTime(line []byte, date stamp) (time.Time, evidence.Tri) {
	var s stamp
	if readStamp(bytes.TrimLeft(line, " "), &s) == 0 {
		return time.Time{}, evidence.Unknown
	}
	if s.year == 0 && date.year != 0 {
		s.year, s.month, s.day, s.slashes = date.year, date.month, date.day, date.slashes
	}
	return h.clock.resolve(&s)
}

// bootHeader finds the date and the number of processors in the line with which
// a report of sysstat begins; 0 if it is not there.
func (h *hostStat) bootHeader() (date stamp, processors int) {
	before := h.in.Lines.Before()
	i := bytes.LastIndex(before, []byte(" CPU)"))
	if i < 0 {
		return date, 0
	}
	from, _ := lineOf(before, i)
	line := before[from:i]
	if j := bytes.LastIndexByte(line, '('); j >= 0 {
		processors = int(max(0, plain(line[j+1:])))
	}
	for _, f := range bytes.Fields(line) {
		var s stamp
		if readStamp(append(append([]byte{}, f...), " 00:00:00"...), &s) > 0 && s.year > 0 {
			return s, processors
		}
	}
	return date, processors
}

// pidstat adds up what the processes took. That is less than the whole, so it
// says something only where it is near the limit.
func (h *hostStat) pidstat(cols []string) error {
	at := columnAt(cols, "%CPU")
	date, processors := h.bootHeader()
	sum, line := 0.0, 0
	var when time.Time
	zoned := evidence.Unknown
	for h.in.Lines.Next() {
		text := h.in.Lines.Bytes()
		fields := bytes.Fields(text)
		if len(fields) < len(cols) || bytes.HasPrefix(fields[0], []byte("Average")) {
			h.in.Lines.Unread()
			break
		}
		// The command, which comes last, may have blanks.
		skip := 0
		for skip < len(fields) && (bytes.IndexByte(fields[skip], ':') > 0 || string(fields[skip]) == "AM" || string(fields[skip]) == "PM") {
			skip++
		}
		v, ok := percent(fields[skip:], at)
		if !ok {
			h.in.Lines.Unread()
			break
		}
		if columnAt(cols, "TGID") < 0 || skip+1 < len(fields) && string(fields[skip+1]) != "-" { // threads repeat their process
			sum += v
		}
		if line == 0 {
			line = h.in.Lines.Number()
			when, zoned = h.rowTime(text, date)
		}
	}
	if processors > 0 && at >= 0 && line > 0 {
		if err := h.average(min(1, sum/100/float64(processors)), when, zoned, line, nil); err != nil {
			return err
		}
	}
	return h.in.Lines.Err()
}
