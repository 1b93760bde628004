package parsers

import (
	"bytes"
	"math"
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Rows of jstat -gcutil, -gc and -gccause, which the JDK prints since 5: how full
// the spaces are, how often was collected since the start of the process, and
// how many seconds that took in all. With -t the seconds since the start stand
// in front; else the time between two rows is known only from the command:
//
//	$ jstat -gcutil 7 1000
//	  S0     S1     E      O      M     CCS    YGC     YGCT    FGC    FGCT    CGC    CGCT     GCT      JDK 9 and later
//	  0.00   0.00  83.12  99.90  94.81  91.20   8123  321.871   213  181.082     -        -  502.953
//	  S0     S1     E      O      P     YGC     YGCT    FGC    FGCT     GCT                            JDK 7 and before
//
// What counts is the difference between two rows. What CMS counts as full
// collections are its two short pauses: those that are short on average are
// told as pauses.
func jstatFormat() Format {
	return Format{
		Name:     "jstat",
		Doc:      "Counters of the garbage collector by jstat: -gcutil, -gc, -gccause",
		Versions: "JDK 5 to 25; made with JDK 17.0.15 and 25.0.3",
		Signs:    []string{"S0 S1 E O M CCS YGC YGCT FGC FGCT GCT"},
		Marks:    []string{"   YGCT ", "YGC YGCT FGC", "jstat -gc"},
		Starts: func(line []byte) bool {
			return jstatColumns(line) != nil || jstatInterval(line) > 0
		},
		Block: readJstat,
	}
}

// jstatColumns returns the names of the columns; nil if the line is no header.
func jstatColumns(line []byte) []string {
	if !bytes.Contains(line, []byte(" YGCT ")) || !bytes.Contains(line, []byte(" FGCT ")) {
		return nil
	}
	var cols []string
	for f := range bytes.FieldsSeq(line) {
		if len(cols) > 30 {
			return nil
		}
		cols = append(cols, string(f))
	}
	if !slices.Contains(cols, "O") && !slices.Contains(cols, "OC") || !slices.Contains(cols, "GCT") {
		return nil
	}
	return cols
}

// jstatInterval returns the time between two rows that a command asks for:
// "jstat -gcutil -h10 7 1000 60", "jstat -gc -t 7 1s"; 0 if the line is no such
// command.
func jstatInterval(line []byte) time.Duration {
	rest := past(line, "jstat -gc")
	n := 0
	for f := range bytes.FieldsSeq(rest) {
		if n > 0 && f[0] == '-' {
			continue
		}
		// The rest of the option, the process, the interval.
		if n++; n < 3 {
			continue
		}
		v := plain(f)
		if v <= 0 || v > 1e7 {
			return 0
		}
		if bytes.HasSuffix(f, []byte("s")) && !bytes.HasSuffix(f, []byte("ms")) {
			v *= 1000
		}
		return time.Duration(v) * time.Millisecond
	}
	return 0
}

// jstat reads the rows of one command.
type jstat struct {
	in       *Input
	emit     Emit
	cols     []string
	interval float64 // seconds between two rows; 0 if unknown
	last     jstatRow
	covered  float64
	first    int // line of the first row
	count    int // collections that the next mark stands for
	rec      evidence.Record
	raw      []byte
}

// jstatRow is one row: counters, seconds and the share of the old generation
// that is used. What the row does not have is -1.
type jstatRow struct {
	at, young, youngTime, full, fullTime, concurrent, concurrentTime, old float64
	set                                                                   bool
}

func readJstat(in *Input, emit Emit) error {
	j := &jstat{in: in, emit: emit}
	for n := 0; in.Lines.Next(); n++ {
		line := in.Lines.Bytes()
		switch {
		case jstatColumns(line) != nil:
			j.cols = jstatColumns(line)
		case n == 0 && jstatInterval(line) > 0:
			j.interval = jstatInterval(line).Seconds()
		default:
			row, ok := j.row(line)
			if !ok {
				in.Lines.Unread()
				if n == 0 {
					return ErrUnrecognized
				}
				return j.end()
			}
			if err := j.next(row, line); err != nil {
				return err
			}
			in.Lines.settle(in.Lines.Number() + 1)
		}
	}
	if err := in.Lines.Err(); err != nil {
		return err
	}
	return j.end()
}

// row reads one row; false if the line is none. The causes that -gccause puts
// at the end may hold blanks.
func (j *jstat) row(line []byte) (jstatRow, bool) {
	r := jstatRow{at: -1, young: -1, youngTime: -1, full: -1, fullTime: -1, concurrent: -1, concurrentTime: -1, old: -1, set: true}
	capacity, used, i := -1.0, -1.0, 0
	for f := range bytes.FieldsSeq(line) {
		if i >= len(j.cols) || j.cols[i] == "LGCC" {
			break
		}
		v, n := decimal(f)
		if string(f) == "-" {
			v = -1
		} else if n == 0 || n != len(f) {
			return r, false
		}
		switch j.cols[i] {
		case "Timestamp":
			r.at = v
		case "O":
			r.old = v / 100
		case "OC":
			capacity = v
		case "OU":
			used = v
		case "YGC":
			r.young = v
		case "YGCT":
			r.youngTime = v
		case "FGC":
			r.full = v
		case "FGCT":
			r.fullTime = v
		case "CGC":
			r.concurrent = v
		case "CGCT":
			r.concurrentTime = v
		}
		i++
	}
	if capacity > 0 && used >= 0 {
		r.old = used / capacity
	}
	return r, i > 0 && i >= len(j.cols)-2 && r.full >= 0 && r.fullTime >= 0
}

// shortFull is how long a full collection must take on average, in seconds, to
// be one that stops the process throughout.
const shortFull = 0.2

// next tells what happened between two rows.
func (j *jstat) next(r jstatRow, line []byte) error {
	was := j.last
	j.last = r
	if !was.set || r.full < was.full || r.fullTime < was.fullTime { // the first row, or another process
		if j.first == 0 {
			j.first = j.in.Lines.Number()
		}
		return nil
	}
	switch {
	case r.at > was.at && was.at >= 0:
		j.covered += r.at - was.at
	default:
		j.covered += j.interval
	}
	if err := j.pauses(evidence.MarkGCPause, "young collection", r.young-was.young, r.youngTime-was.youngTime, line); err != nil {
		return err
	}
	if err := j.pauses(evidence.MarkGCPause, "pause of a concurrent collection", r.concurrent-was.concurrent, r.concurrentTime-was.concurrentTime, line); err != nil {
		return err
	}
	n, took := r.full-was.full, r.fullTime-was.fullTime
	if n <= 0 || took < shortFull*n {
		return j.pauses(evidence.MarkGCPause, "pause of a collection of the old generation", n, took, line)
	}
	if err := j.pauses(evidence.MarkGCFull, "full collection", n, took, line); err != nil || r.old < 0 || r.old > 1 {
		return err
	}
	return j.mark(evidence.MarkHeapFull, "old generation", r.old, j.in.Lines.Number(), line)
}

// pauses emits the collections between two rows as one mark of their average
// length.
func (j *jstat) pauses(kind, what string, n, took float64, line []byte) error {
	if n < 1 || took < 0 || math.IsNaN(n+took) {
		return nil
	}
	j.count = int(min(n, 1<<30))
	defer func() { j.count = 0 }()
	return j.mark(kind, what, took/n, j.in.Lines.Number(), line)
}

// end tells how much time the rows cover, if that is known.
func (j *jstat) end() error {
	if j.covered <= 0 {
		return nil
	}
	return j.mark(evidence.MarkGCObserved, "jstat", j.covered, j.first, nil)
}

func (j *jstat) mark(kind, text string, value float64, line int, raw []byte) error {
	j.raw = append(j.raw[:0], raw[:min(len(raw), maxRaw)]...)
	j.rec = evidence.Record{Place: j.in.place(), Cite: j.in.cite(line), Raw: j.raw}
	if at, _ := j.in.Lines.Origin(); !at.IsZero() {
		j.rec.Time, j.rec.Zoned = at.UTC(), evidence.Yes
	}
	j.rec.Mark = &evidence.Mark{Kind: kind, Text: text, Value: math.Round(value*1e6) / 1e6, Count: j.count}
	return j.emit(&j.rec)
}
