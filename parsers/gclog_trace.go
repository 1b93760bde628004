package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// Lines of Go's GODEBUG=gctrace=1. The world stands still in the first and in
// the last of the phases on the wall clock; there were five of them before Go
// 1.7. The time is that of the start of the collection, since the start of the
// process:
//
//	gc 12 @3.456s 5%: 0.024+1.2+0.003 ms clock, 0.049+0.1/0.9/0+0.007 ms cpu, 4->4->2 MB, 5 MB goal, 8 P (forced)
func isGCTrace(line []byte) bool {
	start, _, _ := gcTrace(line)
	return start >= 0
}

// gcTrace finds where the time since the start and the phases stand; -1 if the
// line is none of Go's.
func gcTrace(line []byte) (start, from, to int) {
	to = bytes.Index(line, clockSign)
	if to < 0 {
		return -1, 0, 0
	}
	from = bytes.LastIndex(line[:to], []byte("%: ")) + 3
	start = bytes.LastIndex(line[:max(from-3, 0)], []byte(" @"))
	if from < 3 || start < 4 || !isDigit(line[start-1]) {
		return -1, 0, 0
	}
	return start + 2, from, to
}

var clockSign = []byte(" ms clock, ")

func (g *gcLog) traceLine(line []byte) error {
	start, from, to := gcTrace(line)
	seconds, _ := decimal(line[start:])
	at := moment{seconds: seconds, known: true, uptime: true}
	var first, last, all float64
	phases := line[from:to]
	for i := 0; len(phases) > 0; i++ {
		v, n := decimal(phases)
		if n == 0 || i > 8 {
			return nil
		}
		if i == 0 {
			first = v
		}
		last = v
		all += v
		phases = bytes.TrimPrefix(phases[n:], []byte("+"))
	}
	g.named("Go")
	at = at.plus(all / 1000)
	g.origin(&at)
	begin := bytes.LastIndex(line[:start], []byte("gc "))
	return g.pause(evidence.MarkGCPause, at, (first+last)/1000, line[max(begin, 0):to], line)
}
