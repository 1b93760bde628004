package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/correlate/ledger"
)

// Entry is where requests come in: the first call of their traces.
type Entry struct {
	Name     string // "gateway POST /buy"; empty for traces whose beginning was not seen
	Requests float64
	Stacked  int64   // traces in which a call was retried inside an attempt of a retried call
	Reach    []Reach // ordered by name
	Created  time.Time
}

// Reach is what requests of an entry asked of one service.
type Reach struct {
	Callee             string
	Attempts, Intended float64
	Created            time.Time
}

// The bounds of what entries reach.
const (
	maxEntries = 200
	maxReach   = 5_000
)

// entrySum is an entry that is being counted.
type entrySum struct {
	Entry
	reach map[string]*reachSum
	last  time.Time
}

type reachSum struct {
	Reach
	last time.Time
}

// entrySums are the entries.
type entrySums struct {
	byName map[string]*entrySum
	pairs  int // of entries and callees
}

func entryName(x *ledger.Entry) string {
	switch {
	case x.Rest:
		return Other
	case x.Service != "":
		return label(joinWords(x.Callee, x.Service+"."+x.Method))
	}
	return label(joinWords(x.Callee, x.Method))
}

func joinWords(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

// add adds an entry of a book; folded counts what found no series of its own.
func (s *entrySums) add(x *ledger.Entry, now time.Time, folded map[string]int64) {
	if s.byName == nil {
		s.byName = map[string]*entrySum{}
	}
	name := entryName(x)
	e := s.byName[name]
	if e == nil && len(s.byName) >= maxEntries {
		name = Other
		e = s.byName[name]
	}
	if name == Other {
		folded["entries"] += int64(x.Requests + 0.5)
	}
	if e == nil {
		e = &entrySum{Entry: Entry{Name: name, Created: now}, reach: map[string]*reachSum{}}
		s.byName[name] = e
	}
	e.last = now
	e.Requests += x.Requests
	e.Stacked += x.Stacked
	for i := range x.Reach {
		y := &x.Reach[i]
		r := s.pair(e, label(y.Callee), y, now, folded)
		r.last = now
		r.Attempts += y.Attempts
		r.Intended += y.Intended
	}
}

func (s *entrySums) pair(e *entrySum, callee string, y *ledger.Reach, now time.Time, folded map[string]int64) *reachSum {
	if e.Name == Other {
		callee = Other
	}
	r := e.reach[callee]
	if r == nil && s.pairs >= maxReach {
		callee = Other
		r = e.reach[callee]
	}
	if callee == Other {
		folded["entry-callees"] += int64(y.Attempts + 0.5)
	}
	if r == nil {
		r = &reachSum{Reach: Reach{Callee: callee, Created: now}}
		e.reach[callee] = r
		s.pairs++
	}
	return r
}

// forget drops what no request came for since a time.
func (s *entrySums) forget(before time.Time) {
	for name, e := range s.byName {
		for callee, r := range e.reach {
			if r.last.Before(before) && callee != Other {
				delete(e.reach, callee)
				s.pairs--
			}
		}
		if e.last.Before(before) && name != Other {
			s.pairs -= len(e.reach)
			delete(s.byName, name)
		}
	}
}

// list copies the entries, ordered by name.
func (s *entrySums) list() []Entry {
	list := make([]Entry, 0, len(s.byName))
	for _, e := range s.byName {
		x := e.Entry
		x.Reach = make([]Reach, 0, len(e.reach))
		for _, r := range e.reach {
			x.Reach = append(x.Reach, r.Reach)
		}
		slices.SortFunc(x.Reach, func(a, b Reach) int { return cmp.Compare(a.Callee, b.Callee) })
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
