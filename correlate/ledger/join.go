package ledger

import (
	"cmp"
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Evidence says how attempts were joined to their call.
type Evidence uint8

// The kinds of evidence, strongest last. Single is a call seen with one attempt,
// which nothing had to be joined to.
const (
	Single     Evidence = iota
	Ambiguous           // not joined, though it may have been one call
	Inferred            // siblings that look like one call
	Structural          // the shape of the trace says so
	Explicit            // an attribute or a span's role says so
)

// String returns the evidence's name as used in reports.
func (e Evidence) String() string {
	return [...]string{"single", "ambiguous", "inferred", "structural", "explicit"}[min(e, Explicit)]
}

// try is one attempt of a call.
type try struct {
	client, entry int32 // spans; -1 if that side was not seen
	class         class
	reason        reason
	start, dur    int64
	hidden        bool // known of only by number
}

// unit is what stands for one call until siblings are joined: a client span with
// all that is below it, or entries whose client was not seen.
type unit struct {
	head       int32 // the span that names it
	site       int32 // the span whose code made it; -1 for a root
	wrap       uint32
	place      uint32
	op         uint32
	callee     uint32 // name
	peer       uint32
	ident      uint64
	start, end int64
	class      class
	evidence   Evidence
	first, n   int32 // its attempts among joiner.tries
	ordinal    uint16
	retries    int16
	numbered   bool   // its number says that it is a first attempt
	lost       uint16 // arrivals: numbered attempts before it that were not seen
	after      class  // of the attempt before it, where that is known of by its entry alone
	collapsed  bool   // it covers the call with all its attempts, none of which was seen
	doubted    bool   // it may be part of another call, or another of it
	foster     bool   // placed here by what is known of other calls; its client span was lost
	caller     uint32 // the caller's name, for those
	next       int32
	call       int32 // the call it became part of
}

// call is a logical call.
type call struct {
	unit        int32 // first of its units
	site        int32
	callee      uint32
	start, end  int64
	attempts    int // counted towards amplification
	calls       int // 1, or 0 for resends whose first attempt is in another trace
	class       class
	evidence    Evidence
	providerSaw bool // only the callee's side was seen
	hedged      bool
	slot        uint64
	above       int32 // the call in whose attempt it was made; -1 if there is none
	path        int32
	known       bool // its ancestry is complete
	edge        *edgeSum
	weight      float64
	ordinal     int   // of the last attempt, where numbered alone
	orphaned    int64 // provider time after the caller had given up
}

// joiner turns traces into sums. Its scratch memory is reused from trace to trace.
type joiner struct {
	l     *Ledger
	cfg   Config
	tree  tree
	spans []span
	tries []try
	units []unit
	calls []call

	order []int32

	names    map[string]uint32
	nameList []string
	callees  map[calleeKey]uint32
	hosts    map[string]string // the process that answered at an address; empty if several did
	loops    map[loopKey]*loopSum
	origins  map[originKey]*origin
	skews    map[skewKey]skewSum
	resends  map[loopKey]*resends
	together map[countKey]*togetherSum
	edges    map[edgeKey]*edgeSum
	other    *edgeSum
	methods  map[methodKey]*methodSum
	texts    map[uint32]*statementSum
	paths    *pathTree
	messages map[messageKey]*messageSum
	windows  windows

	all         []uint32 // the spans in order, trace by trace
	at          int      // where in it the trace at hand begins
	learning    bool     // the first pass
	replaying   bool     // a trace is joined once more, to be shown: nothing is counted
	traces      int64
	huge        int64
	stacked     int64
	weighted    int64
	unweighted  int64
	noProvider  int64
	noConsumer  int64
	attemptSlot map[int32]int32 // entry span → call
	slotSet     []slotOf
	kids        []kid
	follow      []int32
	repeats     map[repeatKey]uint32
	giveUps     []int64
}

func newJoiner(l *Ledger) *joiner {
	j := &joiner{
		l: l, cfg: l.cfg, names: map[string]uint32{"": 0}, nameList: []string{""},
		callees: map[calleeKey]uint32{}, hosts: map[string]string{}, loops: map[loopKey]*loopSum{}, origins: map[originKey]*origin{}, skews: map[skewKey]skewSum{},
		resends: map[loopKey]*resends{}, together: map[countKey]*togetherSum{}, edges: map[edgeKey]*edgeSum{},
		methods: map[methodKey]*methodSum{}, texts: map[uint32]*statementSum{}, messages: map[messageKey]*messageSum{},
		attemptSlot: map[int32]int32{}, repeats: map[repeatKey]uint32{},
	}
	j.tree.j = j
	j.paths = newPathTree(l.cfg.MaxPaths)
	return j
}

// name numbers a service's name. Numbers follow the order of traces, which does
// not depend on the order of the input.
func (j *joiner) name(s string) uint32 {
	id, ok := j.names[s]
	if !ok {
		id = uint32(len(j.nameList))
		j.names[s] = id
		j.nameList = append(j.nameList, s)
	}
	return id
}

// run joins all traces twice: once to learn how each edge behaves, once to count.
func (j *joiner) run(order []uint32) {
	j.windows = j.l.span(order)
	j.all = order
	for _, j.learning = range []bool{true, false} {
		if !j.learning {
			j.recall()
		}
		for j.at = 0; j.at < len(order); {
			n := j.load(j.at)
			j.dedupe()
			j.trace()
			j.at += n
		}
	}
	j.redeliveries()
	j.markLosses()
}

// load copies the trace that begins at a place of the order, and returns how many
// spans it has.
func (j *joiner) load(at int) int {
	first := j.l.at(j.all[at])
	n := at
	j.spans = j.spans[:0]
	for ; n < len(j.all) && j.l.at(j.all[n]).trace == first.trace; n++ {
		j.spans = append(j.spans, *j.l.at(j.all[n]))
	}
	return n - at
}

// counting reports whether what is found is to be counted.
func (j *joiner) counting() bool { return !j.learning && !j.replaying }

// dedupe drops spans that were delivered twice: of equal ID and side.
func (j *joiner) dedupe() {
	j.capAlike()
	s := j.spans
	// In order of start, copies of a span stand together unless its times differ.
	byID := func(a, b span) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(sideBit(&a), sideBit(&b)), compareSpans(&a, &b))
	}
	dup := false
	for i := 1; i < len(s) && !dup; i++ {
		dup = sameSpan(&s[i], &s[i-1])
	}
	if !dup && len(s) > 1 && !j.hasTwice() {
		return
	}
	slices.SortFunc(s, byID)
	n := 0
	for i := range s {
		if n > 0 && sameSpan(&s[n-1], &s[i]) {
			continue
		}
		s[n] = s[i]
		n++
	}
	if j.counting() {
		j.l.lose(LostDuplicate, int64(len(s)-n))
	}
	j.spans = s[:n]
	slices.SortFunc(j.spans, func(a, b span) int { return compareSpans(&a, &b) })
}

// mostAlike is how many spans of one trace may have one ID: a client's and its
// callees', of as many attempts as a call may have, and more.
const mostAlike = 64

// capAlike lets go of the spans of one ID beyond that: a producer that gives all
// its spans one ID would make each of them be compared with all others.
func (j *joiner) capAlike() {
	if len(j.spans) <= 16*mostAlike {
		return
	}
	seen := make(map[uint64]uint8, len(j.spans))
	kept := j.spans[:0]
	lost := int64(0)
	for _, s := range j.spans {
		if n := seen[s.id]; n < mostAlike {
			seen[s.id] = n + 1
			kept = append(kept, s)
		} else {
			lost++
		}
	}
	j.spans = kept
	if j.counting() {
		j.l.lose(LostDuplicate, lost)
	}
}

// hasTwice reports whether an ID stands twice among the spans.
func (j *joiner) hasTwice() bool {
	t := &j.tree
	size := 4
	for size < 3*len(j.spans) {
		size *= 2
	}
	t.slots = grow(t.slots, size)
	clear(t.slots)
	mask := uint64(size - 1)
	for i := range j.spans {
		at := mix(j.spans[i].id) & mask
		for ; t.slots[at] != 0; at = (at + 1) & mask {
			if sameSpan(&j.spans[t.slots[at]-1], &j.spans[i]) {
				return true
			}
		}
		t.slots[at] = int32(i) + 1
	}
	return false
}

// sameSpan reports whether two spans are deliveries of one. A callee's span that
// shares its ID with the client's may be one of several, of different attempts.
func sameSpan(a, b *span) bool {
	if a.id != b.id || sideBit(a) != sideBit(b) {
		return false
	}
	return a.flags&b.flags&flagShared == 0 || a.start == b.start && a.place == b.place
}

// sideBit tells the two spans apart that Zipkin gives one ID.
func sideBit(s *span) int {
	if s.flags&flagShared != 0 || s.serverSide() {
		return 1
	}
	return 0
}

// trace joins one trace and, unless it is only learning, counts it.
func (j *joiner) trace() {
	if len(j.spans) == 0 {
		return
	}
	j.tree.build(j.spans)
	j.units, j.calls, j.tries = j.units[:0], j.calls[:0], j.tries[:0]
	if j.learning {
		j.learnCallees()
		j.learnOrigins()
		j.gather()
		j.learnAddresses()
		j.siblings()
		return
	}
	j.traces++
	for i := range j.spans {
		if f := j.spans[i].flags; f&(flagNegative|flagUndated) != 0 {
			j.l.lose(LostNegative, int64(f&flagNegative/flagNegative))
			j.l.lose(LostTime, int64(f&flagUndated/flagUndated))
		}
	}
	if j.tree.huge {
		j.huge++
		j.l.lose(LostHuge, int64(len(j.spans)))
	}
	j.gather()
	j.siblings()
	j.finish()
	j.slots()
	j.waste()
	j.count()
	j.criticalPaths()
}

// gather makes a unit of each client span that is no attempt of another, and of
// entries without one.
func (j *joiner) gather() {
	t := &j.tree
	for i := range t.spans {
		at := int32(i)
		switch t.roles[i] {
		case roleCall, roleLogical:
			j.clientUnit(at)
		case roleEntry:
			j.entryUnit(at)
		}
	}
	for g := range t.ghost {
		at := int32(len(t.spans) + g)
		j.lostParent(at)
	}
	j.numberedArrivals()
}

func (j *joiner) clientUnit(i int32) {
	t, s := &j.tree, &j.tree.spans[i]
	u := unit{
		head: i, site: t.up[i], wrap: t.wrap[i], place: s.place, op: s.op, peer: s.peer, ident: s.ident, callee: j.calleeOf(i),
		start: s.start, end: s.end(), class: s.class, first: int32(len(j.tries)), next: -1, call: -1, retries: s.retries,
		ordinal: s.ordinal, numbered: s.ordinal == 1 || s.ordinal == 0 && s.flags&flagNumbers != 0,
	}
	if u.site < 0 {
		u.site = -2 - i // a root of its own
	}
	j.below(i, 0)
	u.n = int32(len(j.tries)) - u.first
	tries := j.tries[u.first:]
	if u.n == 1 && u.ordinal == 0 && tries[0].entry >= 0 {
		// A header may have told the callee what the caller's span does not say.
		u.ordinal = t.spans[tries[0].entry].ordinal
		u.numbered = u.numbered || u.ordinal == 1
	}
	if t.roles[i] == roleLogical {
		u.evidence = Explicit
		u.ordinal, u.numbered = 0, false
		j.containerReasons(&u, tries)
	} else if u.n > 1 {
		u.evidence = Structural
		j.wireReasons(&u, tries)
	}
	if n := int(s.retries) + 1; s.retries >= 0 && n > int(u.n) && n <= 1000 {
		for len(j.tries)-int(u.first) < n {
			j.tries = append(j.tries, try{client: -1, entry: -1, class: isUnknown, reason: byRetry, dur: -1, hidden: true})
		}
		// The attempt that was seen is the last one.
		tries = j.tries[u.first:]
		tries[0], tries[len(tries)-1] = tries[len(tries)-1], tries[0]
		tries[0].reason = byInitial
		tries[len(tries)-1].reason = byRetry
		u.n, u.evidence = int32(len(tries)), Explicit
	}
	if u.n == 1 {
		u.evidence = Single
		u.collapsed = s.flags&flagWhole != 0 && u.ordinal == 0 && s.retries < 0 && t.firstAttempt[i] < 0 && t.firstEntry[i] < 0
	}
	j.units = append(j.units, u)
}

// maxNest bounds containers in containers.
const maxNest = 8

// below appends the attempts that a client span made: those of its attempts, or
// one for each entry, or itself.
func (j *joiner) below(i int32, depth int) {
	t, s := &j.tree, &j.tree.spans[i]
	if t.firstAttempt[i] >= 0 && depth < maxNest {
		for c := t.firstAttempt[i]; c >= 0; c = t.nextAttempt[c] {
			j.below(c, depth+1)
		}
		return
	}
	alone := try{client: i, entry: -1, class: s.class, reason: s.reason, start: s.start, dur: s.dur}
	e := t.firstEntry[i]
	if e < 0 || t.huge || s.kind == evidence.KindProducer {
		j.tries = append(j.tries, alone)
		return
	}
	// The entries of the operation that was asked for are its deliveries; others
	// are mirrored or one-way traffic.
	first := len(j.tries)
	service, what := t.service(e), t.spans[e].op
	for ; e >= 0; e = t.nextEntry[e] {
		x := &t.spans[e]
		if t.service(e) != service || x.op != what || len(j.tries)-first >= 1000 {
			continue
		}
		j.tries = append(j.tries, try{client: i, entry: e, class: x.class, reason: s.reason, start: x.start, dur: x.dur})
	}
	added := j.tries[first:]
	if len(added) == 1 {
		added[0].class, added[0].start, added[0].dur = s.class, s.start, s.dur
		return
	}
	// The one that was used is the last: the successful one, if the call was.
	if s.class == isOK {
		for k := len(added) - 1; k >= 0; k-- {
			if added[k].class == isOK || added[k].class == isUnknown {
				used := added[k]
				copy(added[k:], added[k+1:])
				added[len(added)-1] = used
				break
			}
		}
	}
}

// finish makes a call of each unit that was not joined to another, and sums its
// units up.
func (j *joiner) finish() {
	for i := range j.units {
		if j.units[i].call >= 0 {
			continue
		}
		j.open(int32(i), j.units[i].evidence)
	}
	j.doubt()
}

// open makes a call that begins with unit i.
func (j *joiner) open(i int32, e Evidence) *call {
	u := &j.units[i]
	u.call = int32(len(j.calls))
	j.calls = append(j.calls, call{
		unit: i, site: u.site, callee: u.callee, start: u.start, end: u.end, calls: 1, class: u.class, evidence: e, path: -1, above: -1,
	})
	return &j.calls[u.call]
}

// join adds unit i to the call whose last unit is prev.
func (j *joiner) join(prev, i int32, e Evidence, why reason) {
	c := &j.calls[j.units[prev].call]
	u := &j.units[i]
	j.units[prev].next = i
	u.call = j.units[prev].call
	c.end = max(c.end, u.end)
	c.class = u.class
	if c.evidence == Single || e < c.evidence {
		c.evidence = e
	}
	if u.n > 0 {
		if t := &j.tries[u.first]; t.reason == byInitial {
			t.reason = why
		}
	}
}

// each calls f for every attempt of a call, in order.
func (j *joiner) each(c *call, f func(k int, t *try)) {
	k := 0
	for u := c.unit; u >= 0; u = j.units[u].next {
		x := &j.units[u]
		for i := x.first; i < x.first+x.n; i++ {
			f(k, &j.tries[i])
			k++
		}
	}
}

// counted reports whether an attempt belongs to the headline ratio.
func (r reason) counted() bool {
	return r == byInitial || r == byRetry || r == byProxy
}

func duration(ns int64) time.Duration { return time.Duration(ns) }
