package ledger

import "github.com/firebreak-io/firebreak/evidence"

// A callee's span whose client span was lost is still an attempt of its caller.
// Where the rest of the input tells which service makes such calls and by what
// span, and the trace has one place it can have come from, the entry is put
// there as the attempt it was; what follows treats it as any other sibling.

// originKey is a callee's operation as its own spans name it.
type originKey struct{ callee, op uint32 }

// origin is where the calls that arrive as one operation come from.
type origin struct {
	from []fromSum
	seen int64 // arrivals whose client span is there
	lost int64 // arrivals whose parent is not
}

// fromWhom is one caller, and the operation of the span that stands for its
// whole call: a container if contained is set, else the attempt itself.
type fromWhom struct {
	caller, op uint32
	contained  bool
}

// fromSum is how often a caller was seen to call so.
type fromSum struct {
	fromWhom
	n int64
}

// maxOrigins bounds the callers that one operation is looked for at.
const maxOrigins = 8

// lostShare is the share of an operation's arrivals, by those whose client was
// seen, up to which a missing parent is a loss; above it, somebody who sends no
// spans calls the same operation, or the spans are a sample.
const lostShare = 0.25

// lossyFrom is of how many arrivals one must have lost its client's span, or of
// how many calls one must hide its attempts, for the counts of their edge to be
// called inexact.
const lossyFrom = 100

// skewKey is a pair of processes.
type skewKey struct{ client, entry uint32 }

// skewSum is by how much an entry's clock is ahead of its client's: the mean
// distance of their middles.
type skewSum struct {
	sum float64
	n   int64
}

func (j *joiner) origin(callee, op uint32) *origin {
	k := originKey{callee, op}
	o := j.origins[k]
	if o == nil && len(j.origins) < j.cfg.MaxNames {
		o = &origin{}
		j.origins[k] = o
	}
	return o
}

// isClient reports whether node i is a span of a caller.
func (t *tree) isClient(i int32) bool {
	r := t.roles[i]
	return r == roleCall || r == roleAttempt || r == roleLogical
}

// learnOrigins notes by whom each operation of a callee is called.
func (j *joiner) learnOrigins() {
	t := &j.tree
	for i := range t.spans {
		if t.roles[i] != roleEntry || t.par[i] < 0 || t.par[i] != t.up[i] {
			continue
		}
		p, s := t.up[i], &t.spans[i]
		ghost := int(p) >= len(t.spans)
		if !ghost && (!t.isClient(p) || t.spans[p].kind == evidence.KindProducer) {
			continue
		}
		o := j.origin(j.name(t.service(int32(i))), s.op)
		if o == nil {
			continue
		}
		if ghost {
			o.lost++
			continue
		}
		o.seen++
		top := p
		for steps := 0; t.holds[top] >= 0 && steps < maxNest; steps++ {
			top = t.holds[top]
		}
		o.add(fromWhom{j.name(t.service(p)), t.spans[top].op, top != p})
		c := &t.spans[p]
		if t.firstEntry[p] == int32(i) && t.nextEntry[i] < 0 && c.start != 0 && s.start != 0 {
			j.learnSkew(c, s)
		}
	}
}

func (o *origin) add(f fromWhom) {
	for i := range o.from {
		if o.from[i].fromWhom == f {
			o.from[i].n++
			return
		}
	}
	if len(o.from) < maxOrigins {
		o.from = append(o.from, fromSum{f, 1})
	}
}

// callers lists who calls. Where a container was lost, too, its attempts looked
// like calls of their own: what a caller does more often is how it calls.
func (o *origin) callers(f func(fromWhom)) {
	for _, x := range o.from {
		usual := true
		for _, y := range o.from {
			if y.caller == x.caller && y.op == x.op && y.contained != x.contained && y.n > x.n {
				usual = false
			}
		}
		if usual {
			f(x.fromWhom)
		}
	}
}

func (j *joiner) learnSkew(c, s *span) {
	k := skewKey{c.place, s.place}
	x, ok := j.skews[k]
	if !ok && len(j.skews) >= 4*j.cfg.MaxNames {
		return
	}
	x.sum += float64(s.start-c.start) + float64(s.dur-c.dur)/2
	x.n++
	j.skews[k] = x
}

// onClock returns an entry's start on the clock of a process that called it.
func (j *joiner) onClock(place uint32, s *span) int64 {
	if x := j.skews[skewKey{place, s.place}]; x.n > 0 {
		return s.start - int64(x.sum/float64(x.n))
	}
	return s.start
}

// maxFoster bounds the work of placing the orphans of one trace.
const maxFoster = 1 << 20

// foster places the entries of one operation that share a parent which was not
// seen. It reports whether they are accounted for.
func (j *joiner) foster(g int32, entries []int32) bool {
	t, e := &j.tree, entries[0]
	o := j.origins[originKey{j.name(t.service(e)), t.spans[e].op}]
	if o == nil {
		return false
	}
	ok := false
	if float64(o.lost) <= lostShare*float64(o.seen) && t.par[e] == g && len(t.ghost)*len(j.units) <= maxFoster {
		if from, units, only := j.callersOf(o, e); only {
			if from.contained {
				ok = j.intoContainer(units, entries)
			} else {
				ok = j.besideSiblings(from, units, entries)
			}
		}
	}
	return ok
}

// callersOf finds the one caller in this trace that an entry may have come from,
// and the calls of its kind that were seen.
func (j *joiner) callersOf(o *origin, e int32) (who fromWhom, units []int32, only bool) {
	t := &j.tree
	callee := j.name(t.service(e))
	found, all := 0, 0
	o.callers(func(f fromWhom) {
		all++
		var mine []int32
		for i := range j.units {
			u := &j.units[i]
			if u.op == f.op && u.callee == callee && !u.foster && t.roles[u.head] != roleEntry && j.name(t.service(u.head)) == f.caller {
				mine = append(mine, int32(i))
			}
		}
		if len(mine) > 0 || found == 0 {
			who = f
		}
		if len(mine) > 0 {
			units = mine
			found++
		}
	})
	if found == 0 {
		return who, nil, all == 1
	}
	return who, units, found == 1
}

// during reports whether a moment lies within a span.
func during(at, start, end int64) bool { return at >= start && at <= end }

// middle is when an entry was half done, on the clock of a caller.
func (j *joiner) middle(place uint32, e int32) int64 {
	s := &j.tree.spans[e]
	return j.onClock(place, s) + s.dur/2
}

// intoContainer adds entries to the attempts of the call whose span was open
// while they ran.
func (j *joiner) intoContainer(units, entries []int32) bool {
	best := int32(-1)
	for _, i := range units {
		u := &j.units[i]
		if len(units) > 1 && !during(j.middle(u.place, entries[0]), u.start, u.end) {
			continue
		}
		if best >= 0 {
			return false
		}
		best = i
	}
	if best < 0 {
		return false
	}
	t, u := &j.tree, &j.units[best]
	old := append([]try(nil), j.tries[u.first:u.first+u.n]...)
	if len(old) == 1 && old[0].client == u.head {
		if old[0].entry >= 0 {
			return false // its own delivery is there
		}
		old = old[:0] // none of its attempts was seen
	}
	at := j.onClock(u.place, &t.spans[entries[0]])
	put := 0
	for put < len(old) && (old[put].client < 0 || t.spans[old[put].client].start <= at) {
		put++
	}
	told := 0 // attempts that a number had told of
	for k := len(old) - 1; k >= 0 && told < len(entries); k-- {
		if old[k].hidden {
			old = append(old[:k], old[k+1:]...)
			told++
			if k < put {
				put--
			}
		}
	}
	u.first, u.n = int32(len(j.tries)), int32(len(old)+len(entries))
	j.tries = append(j.tries, old[:put]...)
	for k, e := range entries {
		x := &t.spans[e]
		why := byRetry
		if k > 0 {
			why = byProxy
		}
		j.tries = append(j.tries, try{client: -1, entry: e, class: x.class, reason: why, start: x.start, dur: x.dur})
	}
	j.tries = append(j.tries, old[put:]...)
	tries := j.tries[u.first:]
	for k := range tries[1:] {
		if tries[k+1].reason == byInitial {
			tries[k+1].reason = byRetry
		}
	}
	if tries[0].reason != byTransparent {
		tries[0].reason = byInitial
	}
	if told < len(entries) {
		u.evidence = Inferred
	}
	return true
}

// besideSiblings makes a unit of entries at the site of the calls like it.
func (j *joiner) besideSiblings(from fromWhom, units, entries []int32) bool {
	t, e := &j.tree, entries[0]
	site, place, ok := j.siteFor(from, units, e)
	if !ok {
		return false
	}
	s := &t.spans[e]
	u := unit{
		head: e, site: site, place: place, op: from.op, callee: j.name(t.service(e)), caller: from.caller, foster: true,
		class: s.class, first: int32(len(j.tries)), n: int32(len(entries)), next: -1, call: -1, retries: -1, evidence: Inferred,
	}
	u.start = j.onClock(place, s)
	u.end = u.start + s.dur
	for _, x := range entries[1:] {
		u.end = max(u.end, j.onClock(place, &t.spans[x])+t.spans[x].dur)
		u.class = t.spans[x].class
	}
	if !j.amongSiblings(&u, units) {
		return false
	}
	if u.n == 0 {
		return true // numbers tell of it already
	}
	for k, x := range entries {
		y := &t.spans[x]
		why := byInitial
		if k > 0 {
			why = byProxy
		}
		j.tries = append(j.tries, try{client: -1, entry: x, class: y.class, reason: why, start: y.start, dur: y.dur})
	}
	j.units = append(j.units, u)
	return true
}

// siteFor finds the span whose code made a call: the one that made others like
// it, or that of the caller, which was open at the time.
func (j *joiner) siteFor(from fromWhom, units []int32, e int32) (site int32, place uint32, ok bool) {
	t := &j.tree
	site = -1
	for _, i := range units {
		u := &j.units[i]
		if u.site < 0 || u.site == site {
			continue
		}
		if site >= 0 {
			site = -1 // several: the one that was open tells
			break
		}
		site, place = u.site, u.place
	}
	if site >= 0 {
		return site, place, true
	}
	for _, timed := range []bool{false, true} {
		found := 0
		for i := range t.spans {
			s := &t.spans[i]
			root := t.roles[i] == roleOther && t.par[i] < 0
			if t.roles[i] != roleEntry && !root || j.name(t.service(int32(i))) != from.caller {
				continue
			}
			if timed && !during(j.middle(s.place, e), s.start, s.end()) {
				continue
			}
			site, place = int32(i), s.place
			found++
		}
		if found == 1 {
			return site, place, true
		}
	}
	return -1, 0, false
}

// fosterSlack is by how much an entry, put on another clock, may run into its
// neighbours.
const fosterSlack = int64(20e6)

// amongSiblings gives a unit what the calls at its site have in common: their
// identity, and its place in their order and numbers. A unit of no attempts is
// one that numbers tell of anyway.
func (j *joiner) amongSiblings(u *unit, units []int32) bool {
	var prev, next *unit
	numbers, first, several := false, true, false
	for _, i := range units {
		x := &j.units[i]
		if x.site != u.site || x.foster {
			continue
		}
		numbers = numbers || x.ordinal > 0 || x.numbered
		if first {
			u.ident, u.wrap, u.place = x.ident, x.wrap, x.place
		} else if x.ident != u.ident {
			several = true
		}
		first = false
		if x.start+x.end <= u.start+u.end {
			if prev == nil || x.start > prev.start {
				prev = x
			}
		} else if next == nil || x.start < next.start {
			next = x
		}
	}
	if prev != nil && prev.end > u.start && prev.end-u.start <= fosterSlack {
		u.start = min(prev.end, u.end)
	}
	if next != nil && next.start < u.end && u.end-next.start <= fosterSlack {
		u.end = max(next.start, u.start)
	}
	if several || u.ident != 0 && j.resendsOf(u).batches() {
		// Which of several requests it was is not known: it is like none of them.
		u.ident = mix(j.tree.spans[u.head].id) | 1
	}
	if !numbers {
		return true
	}
	last := 0
	if prev != nil && (prev.class.retryable() || prev.class == isRedirect || prev.class == isAuth) {
		last = max(1, int(prev.ordinal))
	}
	if next != nil && next.ordinal > 1 {
		if int(next.ordinal)-last < 2 {
			return false // the numbers have no room for it
		}
		if int(next.ordinal)-last == 2 {
			next.after = u.class
		}
		u.n = 0
		return true
	}
	u.ordinal, u.numbered = uint16(last+1), last == 0
	return true
}

// doubt marks the calls of which an attempt was placed by inference.
func (j *joiner) doubt() {
	for i := range j.units {
		if u := &j.units[i]; u.foster && u.call >= 0 {
			if c := &j.calls[u.call]; c.evidence == Single || c.evidence > Inferred {
				c.evidence = Inferred
			}
		}
	}
}

// markLosses tells the edges of which spans are known to be lost.
func (j *joiner) markLosses() {
	for k, o := range j.origins {
		if o.lost*lossyFrom <= o.seen {
			continue // the ends of a capture
		}
		for _, f := range o.from {
			if e := j.edges[edgeKey{f.caller, k.callee, f.op}]; e != nil {
				e.lossy = true
			}
		}
	}
}
