package parsers

import (
	"bytes"
	"time"
)

// decideDuration finds the unit of a column of whole numbers that may be how
// long requests took: Apache httpd prints microseconds for %D, Tomcat before
// version 10 milliseconds, and %T is seconds. Facts over many lines tell:
//
//   - two columns of which one is the other in a smaller unit name both units;
//   - lines are written as requests end, so that if their times are those of the
//     beginnings, only the right unit puts the ends in order;
//   - no server answers in a few microseconds, and none has thousands of
//     requests open all the time.
//
// If more than one unit is left, the duration stays unknown.
func (s *accessShape) decideDuration(taken []bool) {
	p := &s.layout.plan
	if p.has(roleDuration) || len(s.lines) < 10 {
		return
	}
	var columns []int
	for c := int(p.at[roleStatus]) + 1; c < len(s.layout.columns); c++ {
		f := &s.facts[c]
		switch {
		case taken[c] || f.multi > 0 || f.same:
		case f.only(f.whole):
			columns = append(columns, c)
		case s.every(c, func(v []byte) bool { return slashed(v) == 2 && bytes.IndexByte(v, '/') > 0 }):
			if s.scaled(c, c, 1_000_000) { // httpd's %T/%D
				p.set(roleDuration, c, time.Microsecond)
				p.pair, p.started = true, true
			}
		}
	}
	for _, a := range columns {
		for _, b := range columns {
			if a == b || p.has(roleDuration) {
				continue
			}
			if s.scaled(a, b, 1_000_000) {
				p.set(roleDuration, b, time.Microsecond)
			}
		}
	}
	for _, c := range columns {
		for _, unit := range [...]time.Duration{time.Microsecond, time.Millisecond, time.Second} {
			if !p.has(roleDuration) && s.orders(c, unit) {
				p.set(roleDuration, c, unit)
				p.started = true
			}
		}
	}
	if len(columns) == 1 && !p.has(roleDuration) {
		if unit := s.plausible(columns[0]); unit > 0 {
			p.set(roleDuration, columns[0], unit)
		}
	}
}

// scaled reports whether the numbers of column b are those of column a in a
// smaller unit. If both are the same, its value is "a/b".
func (s *accessShape) scaled(a, b int, factor int64) bool {
	some := false
	for i := range s.lines {
		x, y := s.value(i, a), s.value(i, b)
		if a == b {
			x, y, _ = bytes.Cut(x, []byte{'/'})
		}
		n, m := int64(accessNumber(x, 1)), int64(accessNumber(y, 1))
		if n < 0 || m < 0 {
			continue
		}
		if m/factor != n {
			return false
		}
		some = some || n > 0
	}
	return some
}

// orders reports whether the lines are out of order by their times and in order
// once durations in this unit are added.
func (s *accessShape) orders(column int, unit time.Duration) bool {
	before, after := 0, 0
	var lastStart, lastEnd time.Time
	for i := range s.lines {
		at, ok := s.time(i)
		d := accessNumber(s.value(i, column), unit)
		if !ok || d < 0 || d > 24*time.Hour {
			if d > 24*time.Hour {
				after++
			}
			continue
		}
		end := at.Add(d)
		if at.Add(1200 * time.Millisecond).Before(lastStart) { // times may be whole seconds
			before++
		}
		if end.Add(1200 * time.Millisecond).Before(lastEnd) {
			after++
		}
		if at.After(lastStart) {
			lastStart = at
		}
		if end.After(lastEnd) {
			lastEnd = end
		}
	}
	return before >= 2 && after*10 <= before
}

// plausible returns the only unit that the values of a column can have.
func (s *accessShape) plausible(column int) time.Duration {
	var sum, count, zero, tiny int64
	var first, last time.Time
	for i := range s.lines {
		n := int64(accessNumber(s.value(i, column), 1))
		at, ok := s.time(i)
		if n < 0 || n > 1e12 || !ok {
			continue
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
		sum += n
		count++
		switch {
		case n == 0:
			zero++
		case n < 50:
			tiny++
		}
	}
	span := last.Sub(first) + time.Second
	if count < 20 {
		return 0
	}
	open := func(unit time.Duration) float64 { return float64(sum) * float64(unit) / float64(span) }
	micros := (zero+tiny)*20 < count
	millis := open(time.Millisecond) < 2000 && time.Duration(sum/count)*time.Millisecond < 2*time.Minute
	seconds := open(time.Second) < 2000 && sum/count < 120
	switch {
	case micros && !millis && !seconds:
		return time.Microsecond
	case millis && !micros && !seconds:
		return time.Millisecond
	}
	return 0
}

// time returns the time of a sample line.
func (s *accessShape) time(i int) (time.Time, bool) {
	c := max(s.layout.plan.at[roleTime], s.layout.plan.at[roleStart])
	if c < 0 {
		return time.Time{}, false
	}
	clock := accessClock{work: &clockwork{zone: time.UTC}}
	t, _ := clock.read(s.value(i, int(c)))
	return t, !t.IsZero()
}
