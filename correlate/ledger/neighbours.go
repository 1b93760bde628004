package ledger

import (
	"cmp"
	"slices"
)

// How near a span is to the call that is shown.
const (
	ofTheCall    = iota // the call's own spans, and those that lead to them
	belowTheCall        // what its attempts led to
	besides             // the rest, by how far away
	elsewhere           // not joined to it: a parent in between was not seen
)

// nearness orders spans: what is nearer is kept first.
type nearness struct{ where, far int }

// choose returns the spans that are shown: the call's own, what led to it, then
// what is nearest. With a span its parent is kept, up to where the ways join.
func (d *drawing) choose(head int32) map[int32]bool {
	near := d.nearness(head)
	list := slices.Clone(d.preorder)
	place := make([]int, len(list))
	for n, i := range list {
		place[i] = n
	}
	slices.SortFunc(list, func(a, b int32) int {
		x, y := near[a], near[b]
		if x.where == ofTheCall && y.where == ofTheCall {
			return cmp.Compare(place[a], place[b])
		}
		return cmp.Or(cmp.Compare(x.where, y.where), cmp.Compare(x.far, y.far), cmp.Compare(d.interest(b), d.interest(a)),
			cmp.Compare(d.j.spans[b].dur, d.j.spans[a].dur), cmp.Compare(place[a], place[b]))
	})
	kept := map[int32]bool{}
	for _, i := range list[:min(maxDrawn, len(list))] {
		kept[i] = true
	}
	return kept
}

// interest is how much a span tells: attempts of a call that was retried most.
func (d *drawing) interest(i int32) int {
	n := 0
	if d.marks[i].of > 1 || d.marks[i].reason != byInitial {
		n += 2
	}
	if c := d.j.spans[i].class; c != isOK && c != isUnknown {
		n++
	}
	return n
}

// nearness finds how near each span is.
func (d *drawing) nearness(head int32) []nearness {
	near := make([]nearness, len(d.j.spans))
	for i := range near {
		near[i].where = -1
	}
	var queue []int32
	set := func(i int32, where, far int) {
		if near[i].where < 0 {
			near[i] = nearness{where, far}
			queue = append(queue, i)
		}
	}
	for _, i := range d.preorder {
		if i == head || d.marks[i].focus {
			set(i, ofTheCall, 0)
		}
	}
	own := len(queue)
	for _, i := range queue[:own] {
		for steps, p := 0, d.above(i); p >= 0 && steps < maxAncestors; steps, p = steps+1, d.above(p) {
			set(p, ofTheCall, 0)
		}
	}
	// What the call's own spans led to, level by level.
	leading := slices.Clone(queue[own:])
	queue = queue[:own]
	for at := 0; at < len(queue); at++ {
		i := queue[at]
		for k := d.kid[i]; k >= 0; k = d.next[k] {
			set(k, belowTheCall, near[i].far+1)
		}
	}
	// All else, away from what led to the call.
	queue = append(queue[:0], leading...)
	for at := 0; at < len(queue); at++ {
		i := queue[at]
		if p := d.above(i); p >= 0 {
			set(p, besides, near[i].far+1)
		}
		for k := d.kid[i]; k >= 0; k = d.next[k] {
			set(k, besides, near[i].far+1)
		}
	}
	for _, i := range d.preorder {
		if near[i].where < 0 {
			far := 0
			if p := d.above(i); p >= 0 {
				far = near[p].far + 1
			}
			near[i] = nearness{elsewhere, far}
		}
	}
	return near
}
