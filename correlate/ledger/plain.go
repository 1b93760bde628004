package ledger

import "github.com/firebreak-io/firebreak/evidence"

// A log may hold lines that list a proxy's tries and lines that do not: its
// format was changed on the way, or several virtual hosts write into it. What
// the plain ones tell of a method stands beside what the others tell of it. But
// two logs of one server, with and without lists, that cover the same time, tell
// of the same requests: then the lists are enough, unless they have far fewer
// failures.

// manyUntold is how many failures of plain lines are too many to go untold, if
// those with lists have none.
const manyUntold = 20

func (e *accessSum) failed() (n int64) {
	for o, of := range e.outcomes {
		if isFailure(evidence.Outcome(o)) {
			n += of
		}
	}
	return n
}

// mixedLog is how many lines of either kind one log of a server had, and when.
type mixedLog struct {
	listed, plain int64
	first, last   int64
}

// note counts a line of a server's log.
func (a *accessLog) note(server, source uint32, plain bool, start int64) {
	key := [2]uint32{server, source}
	if a.noted == nil || a.notedOf != key {
		a.notedOf = key
		if a.noted = a.mixed[key]; a.noted == nil {
			a.noted = &mixedLog{}
			a.mixed[key] = a.noted
		}
	}
	m := a.noted
	if plain {
		m.plain++
	} else {
		m.listed++
	}
	if start != 0 {
		if m.first == 0 || start < m.first {
			m.first = start
		}
		m.last = max(m.last, start)
	}
}

// besideLists reports whether the plain lines of a server tell of requests that
// no line with lists tells of.
func (a *accessLog) besideLists(server uint32) bool {
	var same, own int64
	for key, m := range a.mixed {
		switch {
		case key[0] != server || m.plain == 0:
		case m.listed == 0 && a.coveredByLists(server, m):
			same += m.plain
		default:
			own += m.plain
		}
	}
	return own > same
}

// coveredByLists reports whether logs with lists cover most of the time of one
// without.
func (a *accessLog) coveredByLists(server uint32, m *mixedLog) bool {
	var common int64
	for key, o := range a.mixed {
		if key[0] == server && o.listed > o.plain {
			common += max(0, min(o.last, m.last)-max(o.first, m.first))
		}
	}
	return m.first == 0 || common*2 > m.last-m.first
}

// settleArrivals joins what plain and other lines tell of one arrival, and
// returns what the plain ones alone tell where there were others, too.
func (a *accessLog) settleArrivals() map[arrivalKey]*accessSum {
	apart := map[arrivalKey]*accessSum{}
	for k, e := range a.arrivals {
		if !k.plain {
			continue
		}
		apart[k] = e
		delete(a.arrivals, k)
	}
	for k, e := range apart {
		k.plain = false
		other := a.arrivals[k]
		if other == nil {
			a.arrivals[k] = e
			continue
		}
		c := &accessSum{protocol: e.protocol, service: e.service, method: e.method, moreCallers: e.moreCallers + other.moreCallers}
		for _, from := range []*accessSum{e, other} {
			for _, s := range from.callers.slots {
				if s.count > 0 && !c.callers.addSome([]byte(s.text), s.count, hardNames*a.cfg.MaxProviders) {
					c.moreCallers += s.count
				}
			}
		}
		c.merge(e, a)
		c.merge(other, a)
		a.arrivals[k] = c
	}
	return apart
}
