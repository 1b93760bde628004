package ledger

import (
	"slices"
	"time"
)

// windows cuts the time covered into intervals of equal, round width.
type windows struct {
	from, width int64 // ns
	n           int
}

// widths are the round widths of windows; each divides the next.
var widths = []time.Duration{
	time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute,
	time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 56 * 7 * 24 * time.Hour, 560 * 7 * 24 * time.Hour,
}

// cut makes at most n windows of the time between two moments, in ns.
func cut(from, to int64, n int) windows {
	if from == 0 || to < from {
		return windows{}
	}
	w := windows{width: int64(widths[len(widths)-1])}
	for _, d := range widths {
		if start := from - from%int64(d); (to-start)/int64(d) < int64(n) {
			w.width = int64(d)
			break
		}
	}
	w.from = from - from%w.width
	w.n = min(int((to-w.from)/w.width)+1, n)
	return w
}

// at is the window of a moment; -1 if it lies in none.
func (w *windows) at(ns int64) int {
	if w.n == 0 || ns < w.from {
		return -1
	}
	if i := (ns - w.from) / w.width; i < int64(w.n) {
		return int(i)
	}
	return -1
}

// span finds the time that the spans cover. A few spans of a wild clock must
// not stretch it: one in a thousand may lie outside at either end.
func (l *Ledger) span(order []uint32) windows {
	var starts []int64
	step := max(1, len(order)/65_536)
	for i := 0; i < len(order); i += step {
		if s := l.at(order[i]).start; s != 0 {
			starts = append(starts, s)
		}
	}
	if len(starts) == 0 {
		return windows{}
	}
	slices.Sort(starts)
	out := len(starts) / 1000
	from, to := starts[out], starts[len(starts)-1-out]
	// The true ends, unless they are far from the rest.
	slack := (to-from)/10 + int64(time.Minute)
	low, high := from, to
	for _, k := range order {
		s := l.at(k).start
		if s == 0 {
			continue
		}
		if s < low && s > from-slack {
			low = s
		}
		if s > high && s < to+slack {
			high = s
		}
	}
	return cut(low, high, l.cfg.Windows)
}

// windowSum is what happened in one window.
type windowSum struct {
	calls, attempts, failures, timed int64
	busy                             time.Duration
}

func (w *windows) sum(list *[]windowSum, ns int64) *windowSum {
	i := w.at(ns)
	if i < 0 {
		return nil
	}
	if *list == nil {
		*list = make([]windowSum, w.n)
	}
	return &(*list)[i]
}

// book makes the report's windows of a list, without the empty ends.
func (w *windows) book(list []windowSum) []Window {
	first, last := 0, len(list)-1
	for first <= last && list[first] == (windowSum{}) {
		first++
	}
	for last >= first && list[last] == (windowSum{}) {
		last--
	}
	var out []Window
	for i := first; i <= last; i++ {
		s := list[i]
		x := Window{
			From: time.Unix(0, w.from+int64(i)*w.width).UTC(), Width: time.Duration(w.width),
			Calls: s.calls, Attempts: s.attempts, Failures: s.failures, Mean: -1,
		}
		if s.timed > 0 {
			x.Mean = s.busy / time.Duration(s.timed)
		}
		out = append(out, x)
	}
	return out
}
