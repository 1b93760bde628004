package parsers

import (
	"slices"
	"time"
)

// decideUpstream finds the columns that tell of a proxy's tries: addresses,
// statuses and times. Names have been heeded; what is left has none, and only
// facts over many lines can tell a request's time from its upstreams':
//
//   - an upstream's value is a dash, or a list, in the lines whose address is;
//   - a request takes at least as long as its tries together;
//   - an answer takes at least as long as its header, and that as the connection.
//
// What they leave open stays unknown.
func (s *accessShape) decideUpstream(taken []bool, request int) {
	p := &s.layout.plan
	var addrs, statuses, times []int
	for c := range s.layout.columns {
		if f := &s.facts[c]; !taken[c] && c > request {
			switch {
			case f.addr > 0 && f.only(f.addr+f.word+f.verb):
				addrs = append(addrs, c)
			case f.only(f.status):
				statuses = append(statuses, c)
			case f.only(f.milli):
				times = append(times, c)
			}
		}
	}
	take := func(r accessRole, c int, unit time.Duration) {
		if p.set(r, c, unit) {
			taken[c] = true
		}
	}
	if len(addrs) > 0 && !p.has(roleUpAddr) {
		take(roleUpAddr, s.best(addrs, func(c int) int { return 2*s.facts[c].multi + s.facts[c].dashes }), 0)
	}
	if !p.has(roleUpStatus) {
		var fit []int
		for _, c := range statuses {
			if s.likeUpstream(c, true) {
				fit = append(fit, c)
			}
		}
		if len(fit) > 0 {
			take(roleUpStatus, s.best(fit, s.lastIsStatus), 0)
		}
	}
	s.decideTimes(times, take)
	if p.has(roleUpAddr) && !p.has(roleBackend) {
		for c := request + 1; c < len(s.layout.columns); c++ {
			if f := &s.facts[c]; !taken[c] && s.layout.columns[c].end == ']' && f.word > 0 && f.only(f.word+f.addr) {
				take(roleBackend, c, 0)
				break
			}
		}
	}
}

// best returns the column with the highest score, the first of equals.
func (s *accessShape) best(columns []int, score func(c int) int) int {
	return slices.MaxFunc(columns, func(a, b int) int { return score(a) - score(b) })
}

// count returns how many elements a value of a column has in a sample line; 0
// for a dash.
func (s *accessShape) count(line, column int) int {
	v := s.values[line][column].of(s.lines[line])
	if isDash(v) {
		return 0
	}
	n := 1
	for _, rest, _ := nextElement(v); len(rest) > 0; _, rest, _ = nextElement(rest) {
		n++
	}
	return n
}

// likeUpstream reports whether a column is a list of as many as there are
// upstreams in every line, and whether some line proves that it is one: without
// upstreams, or with several. Without an address to compare it with, a column
// proves itself.
func (s *accessShape) likeUpstream(column int, unproven bool) bool {
	f := &s.facts[column]
	with := s.lists(column)
	if with < 0 {
		return f.multi > 0 || f.dashes > 0
	}
	proof, against := 0, 0
	for i := range s.lines {
		want, got := s.count(i, with), s.count(i, column)
		switch {
		case want == got || want == 1 && got == 0: // no answer
			if want != 1 {
				proof++
			}
		default:
			against++
		}
	}
	return against*200 <= len(s.lines) && (unproven || proof > 0)
}

// lists returns a column that is known to have an element a try; -1 if there is none.
func (s *accessShape) lists(but int) int {
	for _, r := range [...]accessRole{roleUpAddr, roleUpStatus, roleUpTime} {
		if c := int(s.layout.plan.at[r]); c >= 0 && c != but {
			return c
		}
	}
	return -1
}

// lastIsStatus counts the lines in which a list of statuses ends in the status
// that was answered.
func (s *accessShape) lastIsStatus(column int) int {
	at := int(s.layout.plan.at[roleStatus])
	if at < 0 {
		return 0
	}
	n := 0
	for i, line := range s.lines {
		v := s.values[i][column].of(line)
		if want := s.values[i][at].of(line); len(v) >= 3 && string(v[len(v)-3:]) == string(want) {
			n++
		}
	}
	return n
}

// decideTimes tells apart the columns with times in seconds.
func (s *accessShape) decideTimes(times []int, take func(r accessRole, c int, unit time.Duration)) {
	p := &s.layout.plan
	var lists, open []int
	for _, c := range times {
		if s.likeUpstream(c, false) {
			lists = append(lists, c)
		} else {
			open = append(open, c)
		}
	}
	if !p.has(roleDuration) {
		if r := s.longest(open, append(lists, named(p, roleUpTime)...)); r >= 0 {
			take(roleDuration, r, time.Second)
			open = slices.DeleteFunc(open, func(c int) bool { return c == r })
		}
	}
	for _, c := range open {
		if s.likeUpstream(c, true) && (p.has(roleUpAddr) || p.has(roleUpStatus)) {
			lists = append(lists, c)
		}
	}
	if p.has(roleDuration) {
		lists = slices.DeleteFunc(lists, func(c int) bool { return !s.covers(int(p.at[roleDuration]), c) })
	}
	s.decideChain(lists, take)
}

func named(p *accessPlan, r accessRole) []int {
	if p.has(r) {
		return []int{int(p.at[r])}
	}
	return nil
}

// longest returns the column whose values are at least those of all others and
// that is not just equal to them; -1 if no column is, or more than one.
func (s *accessShape) longest(open, lists []int) int {
	if len(open) == 1 && (len(lists) > 0 || len(s.lines) > 0 && s.count(0, open[0]) == 1) {
		if s.facts[open[0]].dash > 0 {
			return -1
		}
		for _, o := range lists {
			if !s.covers(open[0], o) {
				return -1
			}
		}
		return open[0]
	}
	found := -1
	for _, c := range open {
		if s.facts[c].dash > 0 {
			continue
		}
		wins := true
		for _, o := range append(slices.Clone(open), lists...) {
			if o != c && (!s.covers(c, o) || s.covers(o, c)) {
				wins = false
				break
			}
		}
		if wins {
			if found >= 0 {
				return -1
			}
			found = c
		}
	}
	return found
}

// covers reports whether in all lines but a stray one a column's times add up
// to at least those of another. nginx reads a clock that ticks in milliseconds.
func (s *accessShape) covers(a, b int) bool {
	less := 0
	for i := range s.lines {
		x, n := s.sum(i, a)
		y, m := s.sum(i, b)
		if n > 0 && m > 0 && x+2*time.Duration(max(n, m))*time.Millisecond < y {
			less++
		}
	}
	return less*200 <= len(s.lines)
}

// sum returns the total of a list of times in a sample line and how many there are.
func (s *accessShape) sum(line, column int) (total time.Duration, n int) {
	for v := s.values[line][column].of(s.lines[line]); len(v) > 0; {
		elem, rest, _ := nextElement(v)
		if d := accessNumber(elem, time.Second); d >= 0 {
			total += d
			n++
		}
		v = rest
	}
	return total, n
}

// decideChain gives lists of times their roles by their order: an answer covers
// its header, and that the connection.
func (s *accessShape) decideChain(lists []int, take func(r accessRole, c int, unit time.Duration)) {
	above := func(c int) int {
		n := 0
		for _, o := range lists {
			if o != c && s.covers(o, c) && !s.covers(c, o) {
				n++
			}
		}
		return n
	}
	var at [3][]int
	for _, c := range lists {
		if n := above(c); n < 3 {
			at[n] = append(at[n], c)
		}
	}
	p := &s.layout.plan
	switch {
	case len(lists) == 1 && !p.has(roleUpTime) && !p.has(roleUpHeader) && !p.has(roleUpConnect):
		take(roleUpTime, lists[0], time.Second)
	case len(lists) == 2 && len(at[0]) == 1:
		take(roleUpTime, at[0][0], time.Second)
		if role := s.headerOrConnect(at[0][0], at[1][0]); role != roleNone {
			take(role, at[1][0], time.Second)
		}
	case len(lists) == 3 && len(at[0]) == 1 && len(at[1]) == 1 && len(at[2]) == 1:
		take(roleUpTime, at[0][0], time.Second)
		take(roleUpHeader, at[1][0], time.Second)
		take(roleUpConnect, at[2][0], time.Second)
	case len(lists) == 3 && len(at[0]) == 1 && len(at[1]) == 2: // headers as quick as connections
		take(roleUpTime, at[0][0], time.Second)
		a, b := at[1][0], at[1][1]
		switch {
		case s.reaches(a, b) && !s.reaches(b, a):
			take(roleUpConnect, a, time.Second)
			take(roleUpHeader, b, time.Second)
		case s.reaches(b, a) && !s.reaches(a, b):
			take(roleUpConnect, b, time.Second)
			take(roleUpHeader, a, time.Second)
		}
	case len(lists) == 3 && len(at[2]) == 1: // answers as quick as their headers
		take(roleUpConnect, at[2][0], time.Second)
	}
}

// reaches reports whether every try that has a time in column b has one in a:
// there is no header without a connection.
func (s *accessShape) reaches(a, b int) bool {
	for i, line := range s.lines {
		v, w := s.values[i][a].of(line), s.values[i][b].of(line)
		for len(v) > 0 && len(w) > 0 {
			var x, y []byte
			x, v, _ = nextElement(v)
			y, w, _ = nextElement(w)
			if isDash(x) && !isDash(y) {
				return false
			}
		}
	}
	return true
}

// headerOrConnect tells what a list of times below those of the answers is: a
// try that timed out waiting for its header had connected.
func (s *accessShape) headerOrConnect(whole, part int) accessRole {
	waited, short := 0, 0
	for i, line := range s.lines {
		w, v := s.values[i][whole].of(line), s.values[i][part].of(line)
		for len(w) > 0 && len(v) > 0 {
			var a, b []byte
			a, w, _ = nextElement(w)
			b, v, _ = nextElement(v)
			d := accessNumber(a, time.Second)
			if d < 50*time.Millisecond {
				continue
			}
			waited++
			if c := accessNumber(b, time.Second); c >= 0 && c*10 < d {
				short++
			} else if c < 0 {
				waited--
			}
		}
	}
	switch {
	case waited >= 10 && short*10 >= waited*9:
		return roleUpConnect
	case waited >= 10 && short*2 < waited:
		return roleUpHeader
	}
	return roleNone
}
