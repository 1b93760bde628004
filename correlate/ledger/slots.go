package ledger

import (
	"cmp"
	"slices"
)

// A slot is a logical call with the retries of its callers folded away: the same
// downstream call made by two attempts of one call above shares it.

// repeatKey counts equal calls inside one attempt.
type repeatKey struct {
	inside int32 // the entry span; a root is below zero
	edge   edgeKey
	ident  uint64
}

type slotOf struct {
	edge   *edgeSum
	slot   uint64
	path   int32
	weight float64
}

// slots finds, for every call of the trace, its slot and its place in the tree
// of call paths, from the top down.
func (j *joiner) slots() {
	t := &j.tree
	j.edgesOf()
	clear(j.attemptSlot)
	clear(j.repeats)
	for i := range j.calls {
		c := &j.calls[i]
		if c.unit < 0 {
			continue
		}
		j.each(c, func(_ int, x *try) {
			if x.entry >= 0 {
				j.attemptSlot[x.entry] = int32(i)
			}
		})
	}
	// Equal calls inside one attempt are told apart by their order.
	j.order = j.order[:0]
	for i := range j.calls {
		if j.calls[i].unit >= 0 {
			j.order = append(j.order, int32(i))
		}
	}
	calls := j.calls
	slices.SortFunc(j.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(calls[a].start, calls[b].start), cmp.Compare(calls[a].unit, calls[b].unit))
	})
	for _, i := range j.order {
		c := &calls[i]
		inside := j.enclosing(c)
		u := &j.units[c.unit]
		k := repeatKey{inside, c.edge.key, u.ident}
		n := j.repeats[k]
		j.repeats[k] = n + 1
		h := mix(uint64(c.edge.key.caller)<<32 | uint64(c.edge.key.callee))
		h = mix(h ^ uint64(c.edge.key.op)<<32 ^ uint64(n))
		c.slot = mix(h ^ u.ident) // completed below by the slot above
	}
	for _, i := range j.order {
		j.resolve(i, 0)
	}
	j.slotSet = j.slotSet[:0]
	for _, i := range j.order {
		c := &calls[i]
		if !c.known || t.huge {
			continue
		}
		c.edge.cumAttempts += c.weight * float64(c.attempts)
		c.edge.cumCalls += c.weight * float64(c.calls)
		if c.calls > 0 {
			j.slotSet = append(j.slotSet, slotOf{c.edge, c.slot, c.path, c.weight})
		}
	}
	slices.SortFunc(j.slotSet, func(a, b slotOf) int { return cmp.Compare(a.slot, b.slot) })
	for i, s := range j.slotSet {
		if i == 0 || s.slot != j.slotSet[i-1].slot || s.edge != j.slotSet[i-1].edge {
			s.edge.slots += s.weight
			j.paths.nodes[s.path].slots += s.weight // equal slots have equal paths
		}
	}
}

// enclosing is the callee's span inside which a call was made: an index, or
// less than zero at a root; a missing parent counts as one, too.
func (j *joiner) enclosing(c *call) int32 {
	t := &j.tree
	at := c.site
	for steps := 0; at >= 0 && int(at) < len(t.spans) && steps < 64; steps++ {
		if _, ok := j.attemptSlot[at]; ok && t.roles[at] == roleEntry {
			// An arrival's own call is not inside itself.
			return at
		}
		up := t.up[at]
		if up < 0 {
			return at
		}
		at = up
	}
	return at
}

// maxLayers bounds how deep calls are followed.
const maxLayers = 64

// resolve completes a call's slot and path from the call around it.
func (j *joiner) resolve(i int32, depth int) {
	c := &j.calls[i]
	if c.path >= 0 {
		return
	}
	t := &j.tree
	in := j.enclosing(c)
	above := int32(-1)
	if in >= 0 && int(in) < len(t.spans) {
		if a, ok := j.attemptSlot[in]; ok && a != i {
			above = a
		}
	}
	c.above = above
	slot, path := uint64(0), int32(0)
	switch {
	case above >= 0 && depth < maxLayers:
		j.resolve(above, depth+1)
		a := &j.calls[above]
		c.known, slot, path = a.known, a.slot, a.path
	case c.site < 0 || above < 0 && in < 0:
		c.known = true
		if u := &j.units[c.unit]; c.providerSaw && t.spans[u.head].parent != 0 {
			c.known = false
		}
	case int(in) < len(t.spans) && t.par[in] == -1:
		c.known = true // below a root span that is no entry
	}
	c.slot = mix(c.slot ^ slot)
	c.path = 0
	if c.known && !t.huge {
		c.path = j.paths.child(path, c.edge.key, j.l)
		j.paths.add(c, path)
	}
}
