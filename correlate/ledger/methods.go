package ledger

import (
	"cmp"
	"slices"
	"time"
)

// methodKey is an operation as its provider runs it.
type methodKey struct{ service, op uint32 }

// methodSum is where the time of a method went: along its critical path, with
// what it waited for cut to its own interval.
type methodSum struct {
	count   int64
	total   time.Duration
	own     time.Duration
	by      map[waitedFor]*waitSum
	lost    time.Duration // waited for things beyond the cap
	latency Histogram
	slowest edgeSum // its examples
	first   int64   // when the first of its slow runs began; 0 without one
	last    int64   // when the last of them ended
}

// slowRun is how long a run takes to be told of as slow.
const slowRun = 500 * time.Millisecond

type waitedFor struct {
	kind       string
	callee, op uint32
	query      uint32
}

type waitSum struct {
	count int64
	total time.Duration
}

// maxWaits bounds what one method waits for.
const maxWaits = 32

// kid is one call made below an entry.
type kid struct{ site, call int32 }

// criticalPaths accounts for the time of the entries of a trace, going back from
// the end of each: the call that ended last is what was waited for, then what
// ended before that began. Both clocks are the provider's own.
func (j *joiner) criticalPaths() {
	t := &j.tree
	j.kids = j.kids[:0]
	for i := range j.calls {
		c := &j.calls[i]
		if c.unit < 0 || c.providerSaw {
			continue
		}
		if at := j.entryAbove(c.site); at >= 0 {
			j.kids = append(j.kids, kid{at, int32(i)})
		}
		j.countStatements(c)
	}
	calls := j.calls
	slices.SortFunc(j.kids, func(a, b kid) int {
		return cmp.Or(cmp.Compare(a.site, b.site), cmp.Compare(calls[b.call].end, calls[a.call].end), cmp.Compare(a.call, b.call))
	})
	k := 0
	for i := range t.spans {
		if t.roles[i] != roleEntry {
			continue
		}
		for k < len(j.kids) && j.kids[k].site < int32(i) {
			k++
		}
		n := k
		for n < len(j.kids) && j.kids[n].site == int32(i) {
			n++
		}
		j.criticalPath(int32(i), j.kids[k:n])
		k = n
	}
}

// entryAbove is the entry that a call was made in, or -1.
func (j *joiner) entryAbove(at int32) int32 {
	t := &j.tree
	for steps := 0; at >= 0 && int(at) < len(t.spans) && steps < maxLayers; steps++ {
		if t.roles[at] == roleEntry {
			return at
		}
		at = t.up[at]
	}
	return -1
}

func (j *joiner) criticalPath(i int32, kids []kid) {
	s := &j.tree.spans[i]
	key := methodKey{j.name(j.tree.service(i)), s.op}
	m := j.methods[key]
	if m == nil {
		if len(j.methods) >= j.cfg.MaxEdges {
			return
		}
		m = &methodSum{by: map[waitedFor]*waitSum{}}
		j.methods[key] = m
	}
	m.count++
	m.total += duration(s.dur)
	m.latency.Add(duration(s.dur))
	m.slowest.example(exampleOf(s, 1, s.dur))
	if s.dur >= int64(slowRun) && s.start != 0 {
		if m.first == 0 || s.start < m.first {
			m.first = s.start
		}
		m.last = max(m.last, s.end())
	}
	at := s.end()
	for _, k := range kids {
		c := &j.calls[k.call]
		end, start := min(c.end, at), max(c.start, s.start)
		if c.start == 0 || start >= end {
			continue
		}
		m.own += duration(at - end)
		m.wait(j.waitedFor(c), duration(end-start))
		at = start
	}
	m.own += duration(at - s.start)
}

func (j *joiner) waitedFor(c *call) waitedFor {
	s := &j.tree.spans[j.units[c.unit].head]
	w := waitedFor{kind: "rpc", callee: c.callee, op: s.op, query: s.query}
	switch p := j.l.ops.keys[s.op].protocol; p {
	case "db", "redis", "http", "messaging":
		w.kind = p
	}
	return w
}

func (m *methodSum) wait(k waitedFor, d time.Duration) {
	w := m.by[k]
	if w == nil {
		if len(m.by) >= maxWaits {
			m.lost += d
			return
		}
		w = &waitSum{}
		m.by[k] = w
	}
	w.count++
	w.total += d
}
