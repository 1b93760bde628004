package ledger

import "time"

// grid cuts time into windows whose width grows with the time covered. Each
// width divides the next, so that widening is exact, and the last one depends
// only on the first and the last moment.
type grid struct {
	max         int
	width       int // index into widths
	first, last int64
	any         bool
	now         [2]int64 // beginning and end of the window asked for last; its number
	nowNumber   int64
	all         []*series
}

// series is what happened per window of a grid.
type series struct {
	base int64 // number of the first window
	list []windowSum
}

func (g *grid) number(ns int64) int64 {
	w := int64(widths[g.width])
	if ns < 0 {
		return -1
	}
	return ns / w
}

func (g *grid) add(s *series) { g.all = append(g.all, s) }

// at is the window of s for a moment, widening all windows if need be.
func (g *grid) at(s *series, ns int64) *windowSum {
	if ns >= g.now[0] && ns < g.now[1] {
		if i := uint64(g.nowNumber - s.base); i < uint64(len(s.list)) {
			return &s.list[i]
		}
	}
	n := g.number(ns)
	if !g.any {
		g.first, g.last, g.any = n, n, true
	}
	for n < g.first || n > g.last {
		g.first, g.last = min(n, g.first), max(n, g.last)
		if g.last-g.first < int64(g.max) || g.width == len(widths)-1 {
			break
		}
		g.widen()
		n = g.number(ns)
	}
	if g.last-g.first >= int64(g.max) {
		return nil // centuries: a damaged time
	}
	if w := int64(widths[g.width]); ns >= 0 {
		g.now, g.nowNumber = [2]int64{n * w, (n + 1) * w}, n
	}
	switch {
	case len(s.list) == 0:
		s.base, s.list = n, append(s.list, windowSum{})
	case n < s.base:
		wider := make([]windowSum, int64(len(s.list))+s.base-n)
		copy(wider[s.base-n:], s.list)
		s.base, s.list = n, wider
	default:
		for n >= s.base+int64(len(s.list)) {
			s.list = append(s.list, windowSum{})
		}
	}
	return &s.list[n-s.base]
}

func (g *grid) widen() {
	step := int64(widths[g.width+1] / widths[g.width])
	g.width++
	g.now = [2]int64{}
	g.first, g.last = g.first/step, g.last/step
	for _, s := range g.all {
		if len(s.list) == 0 {
			continue
		}
		base := s.base / step
		merged := make([]windowSum, (s.base+int64(len(s.list))-1)/step-base+1)
		for i, w := range s.list {
			m := &merged[(s.base+int64(i))/step-base]
			m.calls += w.calls
			m.attempts += w.attempts
			m.failures += w.failures
			m.timed += w.timed
			m.busy += w.busy
		}
		s.base, s.list = base, merged
	}
}

// windows are the book's, in the form that bookEdge reads.
func (g *grid) windows(s *series) (windows, []windowSum) {
	w := int64(widths[g.width])
	return windows{from: s.base * w, width: w, n: len(s.list)}, s.list
}

// between sums the windows that lie wholly between two moments.
func (g *grid) between(s *series, from, to int64) (sum windowSum) {
	w := int64(widths[g.width])
	for i, x := range s.list {
		if start := (s.base + int64(i)) * w; start >= from && start+w <= to {
			sum.calls += x.calls
			sum.attempts += x.attempts
			sum.failures += x.failures
		}
	}
	return sum
}

func (g *grid) step() time.Duration { return widths[g.width] }
