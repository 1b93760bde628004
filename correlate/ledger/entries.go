package ledger

import (
	"cmp"
	"slices"

	"github.com/firebreak-io/firebreak/evidence"
)

// entryUnit looks at a callee's span that no client span of the trace accounts
// for: a root, a delivery of a message, an arrival from a caller without spans.
func (j *joiner) entryUnit(i int32) {
	t, s := &j.tree, &j.tree.spans[i]
	o := j.l.ops.keys[s.op]
	if o.protocol == "messaging" && s.ident != 0 && s.kind == evidence.KindConsumer {
		j.delivery(i)
		return
	}
	p := t.up[i]
	switch {
	case p < 0:
		j.arrival([]int32{i}, -2-i)
	case int(p) >= len(t.spans): // lostParent looks at all children of one parent together
	default:
		client := t.roles[p] == roleCall || t.roles[p] == roleAttempt || t.roles[p] == roleLogical
		if client && j.accounted(p, i) {
			return
		}
		if t.service(p) == t.service(i) && s.flags&flagRemote == 0 {
			return // one request seen by two instrumentations of one process
		}
		j.arrival([]int32{i}, p)
	}
}

// accounted reports whether below counts entry i as a delivery of client span p.
func (j *joiner) accounted(p, i int32) bool {
	t := &j.tree
	e := t.firstEntry[p]
	if e < 0 || t.spans[p].kind == evidence.KindProducer {
		return false
	}
	return t.service(e) == t.service(i) && t.spans[e].op == t.spans[i].op
}

// arrival makes a unit of entries of one operation that share a parent.
func (j *joiner) arrival(entries []int32, site int32) {
	t := &j.tree
	i := entries[0]
	s := &t.spans[i]
	last := &t.spans[entries[len(entries)-1]]
	u := unit{
		head: i, site: site, wrap: 0, place: s.place, op: s.op, callee: j.name(t.service(i)), start: s.start, end: s.end(),
		class: last.class, first: int32(len(j.tries)), n: int32(len(entries)), next: -1, call: -1, ordinal: s.ordinal, retries: -1,
		numbered: s.ordinal == 1 || len(entries) > 1, evidence: Single,
	}
	for k, e := range entries {
		x := &t.spans[e]
		why := x.reason
		if k > 0 && why == byInitial {
			why = byRetry
		}
		j.tries = append(j.tries, try{client: -1, entry: e, class: x.class, reason: why, start: x.start, dur: x.dur})
		u.end = max(u.end, x.end())
		if x.class == isOK {
			u.class = isOK
		}
	}
	if len(entries) == 1 && s.ordinal > 1 {
		u.site = -2 - i // numbered by a header: the first stands by itself somewhere
	}
	if len(entries) > 1 {
		u.evidence = Structural
		if top := int(last.ordinal); top > len(entries) {
			u.ordinal = 0
		}
		u.ordinal = min(u.ordinal, 1)
	}
	j.units = append(j.units, u)
}

// lostParent looks at the children of a parent that was not seen: entries of one
// operation are the deliveries of one call, for context is handed over once per
// call of a client.
func (j *joiner) lostParent(g int32) {
	t := &j.tree
	if t.huge {
		for e := t.firstEntry[g]; e >= 0; e = t.nextEntry[e] {
			if t.roles[e] == roleEntry {
				j.arrival([]int32{e}, -2-e)
			}
		}
		return
	}
	group := j.order[:0]
	for e := t.firstEntry[g]; e >= 0; e = t.nextEntry[e] {
		if t.roles[e] == roleEntry && (t.spans[e].ident == 0 || t.spans[e].kind != evidence.KindConsumer) {
			group = append(group, e)
		}
	}
	j.order = group
	// Places are numbered in the order of their services, so that one service's
	// entries stand together.
	slices.SortFunc(group, func(a, b int32) int {
		x, y := &t.spans[a], &t.spans[b]
		if x.op != y.op {
			return cmp.Compare(x.op, y.op)
		}
		if t.service(a) != t.service(b) {
			return cmp.Compare(x.place, y.place)
		}
		return cmp.Compare(a, b)
	})
	for i := 0; i < len(group); {
		n, e := i+1, group[i]
		for n < len(group) && t.spans[group[n]].op == t.spans[e].op && t.service(group[n]) == t.service(e) {
			n++
		}
		j.deliveries(g, group[i:n])
		i = n
	}
}

// deliveries looks at the entries of one operation whose parent was not seen.
func (j *joiner) deliveries(g int32, entries []int32) {
	t, e := &j.tree, entries[0]
	_, seen := j.known(calleeKey{op: t.spans[e].op, callee: t.service(e), kind: clientsSeen})
	switch {
	case seen:
		// Its callers do send spans; this one's was lost, with what it would have told.
		if !j.learning && !j.foster(g, entries) && j.counting() {
			j.l.lose(LostParent, int64(len(entries)))
		}
	case len(entries) > j.cfg.MaxChain:
		for _, x := range entries {
			j.arrival([]int32{x}, -2-x)
		}
	default:
		j.arrival(entries, g)
	}
}

// calleeKey is what a callee is learned under: the caller's service, what it
// called and how it named the other end.
type calleeKey struct {
	place, op, peer uint32
	callee          string
	kind            uint8
}

// The kinds of callee keys.
const (
	byPeer      uint8 = iota // caller, operation, peer → callee
	byOp                     // caller, operation → callee, if it is the only one
	clientsSeen              // callee, operation → whether its callers send spans
)

// severalCallees marks an operation that more than one service answered.
const severalCallees = ^uint32(0)

// learnCallees notes which service answered which client span, so that attempts
// which reached nobody are counted on the same edge.
func (j *joiner) learnCallees() {
	t := &j.tree
	for i := range t.spans {
		if t.roles[i] != roleCall && t.roles[i] != roleAttempt && t.roles[i] != roleLogical {
			continue
		}
		e := t.firstEntry[i]
		if e < 0 {
			continue
		}
		s := &t.spans[i]
		callee := t.service(e)
		if callee == "" {
			continue
		}
		id := j.name(callee)
		caller := j.name(t.service(int32(i)))
		for _, k := range []calleeKey{{place: caller, op: s.op, peer: s.peer, kind: byPeer}, {place: caller, op: s.op, kind: byOp}} {
			switch had, ok := j.callees[k]; {
			case !ok:
				if len(j.callees) < 4*j.cfg.MaxNames {
					j.callees[k] = id
				}
			case had != id:
				j.callees[k] = severalCallees
			}
		}
		k := calleeKey{op: t.spans[e].op, callee: callee, kind: clientsSeen}
		if _, ok := j.callees[k]; !ok && len(j.callees) < 4*j.cfg.MaxNames {
			j.callees[k] = 1
		}
	}
}

// calleeOf names the service that a client span called.
func (j *joiner) calleeOf(i int32) uint32 {
	t := &j.tree
	if e := t.firstEntry[i]; e >= 0 && t.service(e) != "" {
		return j.name(t.service(e))
	}
	for c := t.firstAttempt[i]; c >= 0; c = t.nextAttempt[c] {
		if e := t.firstEntry[c]; e >= 0 && t.service(e) != "" {
			return j.name(t.service(e))
		}
	}
	s := &t.spans[i]
	o := &j.l.ops.keys[s.op]
	caller := j.name(t.service(i))
	if id, ok := j.known(calleeKey{place: caller, op: s.op, peer: s.peer, kind: byPeer}); ok {
		return id
	}
	rpc := o.protocol == "dubbo" || o.protocol == "grpc" || o.protocol == "rpc"
	if rpc {
		if id, ok := j.known(calleeKey{place: caller, op: s.op, kind: byOp}); ok {
			return id
		}
		if o.service != "" {
			return j.name(o.service) // the peer is one of its processes
		}
	}
	if o.db != "" {
		return j.name(o.db)
	}
	if p := j.l.peers.keys[s.peer]; p.name != "" && !isAddress(p.name) {
		return j.name(host(p.name))
	}
	return 0
}
