package ledger

import (
	"cmp"
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// edgeKey is a caller's calls of one operation of a callee.
type edgeKey struct {
	caller, callee uint32 // names
	op             uint32
}

// maxBy is the largest number of attempts that is counted by itself.
const maxBy = 64

// edgeSum is the account of one edge.
type edgeSum struct {
	key                                          edgeKey
	calls, attempts                              float64 // by weight
	seenCalls                                    int64
	by                                           [maxBy + 1]float64
	retries, proxied                             float64
	hedges, transparent, redirects, auths        float64
	hidden, collapsed                            float64
	lossy                                        bool // some of its arrivals had lost their client's span
	ceiling                                      int
	retried                                      int64 // calls with a retry
	evidence                                     [Explicit + 1]int64
	joined                                       Joined
	marks                                        marks
	fates                                        Fates
	outcomes                                     [evidence.Challenged + 1]int64
	clients, servers                             int64 // attempts of which that side was seen
	weighted, unweighted                         int64
	cumAttempts, cumCalls, slots                 float64
	server, orphaned, superseded, failed         time.Duration
	orphans                                      int64
	deadOnArrival                                int64
	attempt, call, gap                           Histogram
	windows                                      []windowSum
	providers                                    map[string]*providerSum
	otherProviders                               int64
	timeouts                                     map[time.Duration]int64
	first, last                                  int64
	examples                                     []example
	picks                                        picks
	noBackoff, afterTerminal, sameOnly, severals int64
}

// hardNames is by how much the processes of an edge may exceed those that are
// reported, until all are in and the largest are known.
const hardNames = 8

type providerSum struct {
	attempts, failures int64
	busy               time.Duration
	latency            Histogram
}

// example is a call worth looking at.
type example struct {
	trace    [16]byte
	attempts int
	dur      int64
	source   uint32
	line     int32
	order    uint64 // of the source, whatever order its name came in
}

const maxExamples = 5

func exampleOf(s *span, attempts int, dur int64) example {
	return example{s.trace, attempts, dur, s.source, s.line, uint64(s.source)}
}

func (j *joiner) edge(k edgeKey) *edgeSum {
	e := j.edges[k]
	if e == nil {
		if len(j.edges) >= j.cfg.MaxEdges {
			j.l.lose(LostEdges, 1)
			if j.other == nil {
				j.other = &edgeSum{key: edgeKey{op: 1}}
			}
			return j.other
		}
		e = &edgeSum{key: k}
		j.edges[k] = e
	}
	return e
}

// edgesOf finds the edge of every call and what is true of the call as a whole.
func (j *joiner) edgesOf() {
	t := &j.tree
	for i := range j.calls {
		c := &j.calls[i]
		if c.unit < 0 {
			continue
		}
		u := &j.units[c.unit]
		head := &t.spans[u.head]
		c.providerSaw = t.roles[u.head] == roleEntry
		caller := t.service(u.head)
		if c.providerSaw {
			caller = ""
			if u.foster {
				caller = j.nameList[u.caller]
			} else if u.site >= 0 && int(u.site) < len(t.spans) {
				caller = t.service(u.site)
			}
		}
		c.edge = j.edge(edgeKey{j.name(caller), c.callee, u.op})
		c.weight = 1
		if head.weight > 0 {
			c.weight = float64(head.weight)
		}
		c.attempts = 0
		j.each(c, func(_ int, x *try) {
			if x.reason.counted() {
				c.attempts++
			}
		})
	}
}

// count adds the calls of one trace to their edges.
func (j *joiner) count() {
	stacked := false
	for i := range j.calls {
		c := &j.calls[i]
		if c.unit < 0 {
			continue
		}
		if !stacked && c.attempts > 1 && j.retriedAbove(c) {
			stacked = true
			j.stacked++
			j.paths.nodes[j.paths.nodes[max(0, c.path)].root].stacked++
		}
		j.countCall(c)
	}
}

// retriedAbove reports whether a call that led to c was retried, too.
func (j *joiner) retriedAbove(c *call) bool {
	for steps := 0; c.above >= 0 && steps < maxLayers; steps++ {
		c = &j.calls[c.above]
		if c.attempts > 1 {
			return true
		}
	}
	return false
}

func (j *joiner) countCall(c *call) {
	e, w, t := c.edge, c.weight, &j.tree
	head := &t.spans[j.units[c.unit].head]
	if head.weight > 0 {
		e.weighted++
		j.weighted++
	} else {
		e.unweighted++
		j.unweighted++
	}
	e.calls += w * float64(c.calls)
	e.attempts += w * float64(c.attempts)
	e.seenCalls += int64(c.calls)
	f := j.fate(c)
	if c.calls > 0 {
		e.by[min(c.attempts, maxBy)] += w
		e.evidence[min(c.evidence, Explicit)]++
		e.joined.add(c.evidence, j.units[c.unit].doubted, w*float64(c.calls))
		e.fates.add(f)
		if j.collapsed(c) {
			e.collapsed += w
		}
	} else if c.ordinal > 1 {
		e.evidence[Explicit]++
		// The call stands in another trace: what was counted there as ending one
		// attempt earlier ended here.
		e.by[min(c.ordinal, maxBy)] += w
		e.by[min(c.ordinal-1-int(j.units[c.unit].lost), maxBy)] -= w
	}
	longest := c.attempts
	if c.calls == 0 {
		longest = c.ordinal
	}
	e.ceiling = max(e.ceiling, longest)
	if c.attempts > 1 {
		e.retried++
	}
	if win := j.windows.sum(&e.windows, c.start); win != nil {
		win.calls += int64(c.calls)
	}
	if c.start != 0 {
		if e.first == 0 || c.start < e.first {
			e.first = c.start
		}
		e.last = max(e.last, c.end)
	}
	if !c.providerSaw && c.calls > 0 && c.start != 0 {
		e.call.Add(duration(c.end - c.start))
	}
	var prev *try
	where, moved := "", false
	j.each(c, func(_ int, x *try) {
		j.countTry(c, x, prev)
		if a := j.provider(x); a != "" {
			moved = moved || where != "" && a != where
			where = a
		}
		prev = x
	})
	if c.attempts > 1 && where != "" {
		e.severals++
		if !moved {
			e.sameOnly++
		}
	}
	e.example(exampleOf(head, longest, c.end-c.start))
	e.marks.seeCall(head, longest, c.end-c.start, f)
	e.picks.consider(j, c, longest, f)
}

// collapsed reports whether attempts of a call may be hidden in a span that covers
// them all.
func (j *joiner) collapsed(c *call) bool {
	for u := c.unit; u >= 0; u = j.units[u].next {
		if j.units[u].collapsed {
			return true
		}
	}
	return false
}

// countTry adds one attempt.
func (j *joiner) countTry(c *call, x, prev *try) {
	e, w, t := c.edge, c.weight, &j.tree
	switch x.reason {
	case byRetry:
		e.retries += w
	case byProxy:
		e.retries += w
		e.proxied += w
	case byHedge:
		e.hedges += w
	case byTransparent:
		e.transparent += w
	case byRedirect:
		e.redirects += w
	case byAuth:
		e.auths += w
	}
	if x.hidden {
		e.hidden += w
		e.outcomes[evidence.OutcomeUnknown]++
		return
	}
	outcome, dur := evidence.OutcomeUnknown, x.dur
	if x.client >= 0 {
		s := &t.spans[x.client]
		outcome = s.outcome
		e.clients++
		if x.entry >= 0 && t.nextEntry[x.entry] >= 0 || x.entry >= 0 && t.firstEntry[x.client] != x.entry {
			outcome = t.spans[x.entry].outcome
		}
		if s.outcome == evidence.Timeout {
			e.timedOut(duration(s.dur))
		}
	}
	switch {
	case x.entry < 0:
		j.noProvider++
	case x.client < 0:
		e.servers++
		outcome = t.spans[x.entry].outcome
		if t.up[x.entry] >= int32(len(t.spans)) {
			j.noConsumer++
		}
	default:
		e.servers++
	}
	if int(outcome) < len(e.outcomes) {
		e.outcomes[outcome]++
	}
	e.attempt.Add(duration(dur))
	seen := &t.spans[max(x.client, x.entry)]
	if x.client >= 0 {
		seen = &t.spans[x.client]
	}
	e.marks.seeTry(seen, dur, outcome)
	failed := x.class.retryable() || x.class == isTerminal
	if win := j.windows.sum(&e.windows, x.start); win != nil && x.start != 0 {
		win.attempts++
		win.timed++
		win.busy += duration(dur)
		if failed {
			win.failures++
		}
	}
	if prev != nil && !prev.hidden && x.reason == byRetry && x.client >= 0 && prev.client >= 0 {
		gap := t.spans[x.client].start - t.spans[prev.client].end()
		e.gap.Add(duration(max(0, gap)))
		e.marks.gap.see(gap, seen)
		if prev.class == isTransient && gap < int64(j.cfg.MinWait) {
			e.noBackoff++
		}
		if prev.class == isTerminal {
			e.afterTerminal++
		}
	}
	e.provider(j.provider(x), hardNames*j.cfg.MaxProviders, func(p *providerSum) {
		p.attempts++
		if failed {
			p.failures++
		}
		busy := dur
		if x.entry >= 0 {
			busy = t.spans[x.entry].dur
		}
		p.busy += duration(busy)
		p.latency.Add(duration(busy))
	})
}

// provider names the process that an attempt went to; empty if unknown.
func (j *joiner) provider(x *try) string {
	t := &j.tree
	if x.entry >= 0 {
		if p := j.l.places.keys[t.spans[x.entry].place].instance; p != "" {
			return p
		}
	}
	if x.client < 0 {
		return ""
	}
	p := j.l.peers.keys[t.spans[x.client].peer]
	return cmp.Or(j.hosts[p.addr], p.addr, p.name)
}

// learnAddresses notes which process answers at an address, so that attempts
// that never arrived count for the one they were sent to. An address that
// several answer at, as a balancer's, names none of them.
func (j *joiner) learnAddresses() {
	for i := range j.tries {
		x := &j.tries[i]
		if x.client < 0 || x.entry < 0 {
			continue
		}
		addr := j.l.peers.keys[j.tree.spans[x.client].peer].addr
		host := j.l.places.keys[j.tree.spans[x.entry].place].instance
		if addr == "" || host == "" {
			continue
		}
		known, ok := j.hosts[addr]
		switch {
		case !ok && len(j.hosts) < j.cfg.MaxNames:
			j.hosts[addr] = host
		case known != host:
			j.hosts[addr] = ""
		}
	}
}

func (e *edgeSum) provider(name string, limit int, f func(*providerSum)) {
	if name == "" {
		return
	}
	p := e.providers[name]
	if p == nil {
		if len(e.providers) >= limit {
			e.otherProviders++
			return
		}
		if e.providers == nil {
			e.providers = map[string]*providerSum{}
		}
		p = &providerSum{}
		e.providers[name] = p
	}
	f(p)
}

// maxTimeouts bounds the durations among which the timeout is looked for.
const maxTimeouts = 64

// timedOut notes how long an attempt waited that timed out, to two digits.
func (e *edgeSum) timedOut(d time.Duration) {
	if d <= 0 {
		return
	}
	unit := time.Duration(1)
	for d/unit >= 100 {
		unit *= 10
	}
	d = (d + unit/2) / unit * unit
	if e.timeouts == nil {
		e.timeouts = map[time.Duration]int64{}
	}
	if _, ok := e.timeouts[d]; ok || len(e.timeouts) < maxTimeouts {
		e.timeouts[d]++
	}
}

// timeout is the commonest duration of attempts that timed out.
func (e *edgeSum) timeout() (mode time.Duration, n int64) {
	for d, c := range e.timeouts {
		if c > n || c == n && d < mode {
			mode, n = d, c
		}
	}
	return mode, n
}

// example keeps the worst calls: of most attempts, then the longest.
func (e *edgeSum) example(x example) {
	if n := len(e.examples); n == maxExamples {
		if last := &e.examples[n-1]; x.attempts < last.attempts || x.attempts == last.attempts && x.dur < last.dur {
			return
		}
	}
	worse := func(a, b example) int {
		if a.attempts != b.attempts || a.dur != b.dur {
			return cmp.Or(cmp.Compare(b.attempts, a.attempts), cmp.Compare(b.dur, a.dur))
		}
		return cmp.Or(slices.Compare(a.trace[:], b.trace[:]),
			cmp.Compare(a.order, b.order), cmp.Compare(a.line, b.line))
	}
	if n := len(e.examples); n == maxExamples && worse(x, e.examples[n-1]) >= 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(e.examples, x, worse)
	e.examples = slices.Insert(e.examples, at, x)
	if len(e.examples) > maxExamples {
		e.examples = e.examples[:maxExamples]
	}
}
