package ledger

import (
	"cmp"
	"slices"
	"time"
)

// siblings joins the units that one piece of code made: numbered ones by their
// numbers, the others where a call and its retries are the only reading.
func (j *joiner) siblings() {
	j.order = j.order[:0]
	for i := range j.units {
		j.order = append(j.order, int32(i))
	}
	units := j.units
	slices.SortFunc(j.order, func(a, b int32) int {
		x, y := &units[a], &units[b]
		return cmp.Or(cmp.Compare(x.site, y.site), cmp.Compare(x.start, y.start), cmp.Compare(x.head, y.head))
	})
	for i := 0; i < len(j.order); {
		n := i + 1
		for n < len(j.order) && units[j.order[n]].site == units[j.order[i]].site {
			n++
		}
		j.site(j.order[i:n])
		i = n
	}
}

// site joins the units of one call site, in order of start.
func (j *joiner) site(run []int32) {
	for k, i := range run {
		if u := &j.units[i]; u.ordinal >= 2 {
			j.numbered(run[:k], i)
		}
	}
	if j.tree.huge {
		return
	}
	if len(run) > 1 {
		units := j.units
		slices.SortStableFunc(run, func(a, b int32) int {
			x, y := &units[a], &units[b]
			return cmp.Or(cmp.Compare(x.place, y.place), cmp.Compare(x.op, y.op), cmp.Compare(x.wrap, y.wrap), cmp.Compare(x.callee, y.callee),
				cmp.Compare(x.ident, y.ident), cmp.Compare(x.start, y.start), cmp.Compare(x.head, y.head))
		})
	}
	for i := 0; i < len(run); {
		n := i + 1
		for n < len(run) && j.alike(run[i], run[n]) {
			n++
		}
		if n-i > 1 {
			j.group(run[i:n])
		} else if j.learning {
			j.learnSingle(run[i])
		}
		i = n
	}
	for i := 0; i < len(run); {
		n := i + 1
		for n < len(run) && j.alikeBut(run[i], run[n]) {
			n++
		}
		if n-i > 1 && j.learning {
			j.learnMixed(run[i], run[n-1])
		}
		if n-i > 1 && n-i <= maxParallel && j.units[run[i]].ident != j.units[run[n-1]].ident {
			j.balanced(run[i:n])
		}
		i = n
	}
}

func (j *joiner) alike(a, b int32) bool {
	return j.alikeBut(a, b) && j.units[a].ident == j.units[b].ident
}

// alikeBut is alike but for the identity.
func (j *joiner) alikeBut(a, b int32) bool {
	x, y := &j.units[a], &j.units[b]
	return x.place == y.place && x.op == y.op && x.wrap == y.wrap && x.callee == y.callee
}

// lookBack bounds how many earlier siblings a numbered one is compared with.
const lookBack = 64

// numbered appends unit i, whose number says that it is a resend, to the call it
// continues: the latest earlier sibling that is alike and ended before.
func (j *joiner) numbered(before []int32, i int32) {
	u := &j.units[i]
	best, score := int32(-1), 0
	for k := len(before) - 1; k >= 0 && k >= len(before)-lookBack; k-- {
		b := before[k]
		x := &j.units[b]
		if x.next >= 0 || x.place != u.place || x.ordinal >= u.ordinal || x.end > u.start+int64(j.cfg.Epsilon) && x.ordinal+1 != u.ordinal {
			continue
		}
		points := 0
		switch {
		case x.op == u.op && x.ident == u.ident:
			points = 4
		case x.op == u.op:
			points = 3
		case x.class == isRedirect || x.class == isAuth:
			points = 2
		}
		if points > 0 && max(1, x.ordinal)+1 == u.ordinal {
			points += 4
		}
		if points > score {
			best, score = b, points
		}
	}
	if best >= 0 {
		x := &j.units[best]
		why := whyAfter(x.class)
		if gap := int(u.ordinal) - max(1, int(x.ordinal)); gap > 1 {
			why = j.whyResent(u)
		} else if j.learning {
			j.learnResend(u, x.class)
		}
		if x.call < 0 {
			j.open(best, Explicit)
		}
		j.calls[x.call].evidence = Explicit
		if t := &j.tries[u.first]; t.reason == byInitial {
			t.reason = why
		}
		j.missing(u, max(1, int(x.ordinal)))
		j.join(best, i, Explicit, why)
		return
	}
	// Its first attempt was not seen.
	c := j.open(i, Explicit)
	if t := &j.tries[u.first]; t.reason == byInitial {
		t.reason = j.whyResent(u)
	}
	if u.site < -1 {
		if u.lost > 0 {
			j.refill(u)
			if u.lost+1 == u.ordinal {
				j.tries[u.first].reason = byInitial
				return
			}
		}
		// A trace of its own: the first attempt is counted where it stands.
		c.calls = 0
		c.ordinal = int(u.ordinal)
		return
	}
	j.missing(u, 0)
}

// whyResent is why a numbered unit was sent whose predecessor has no client span.
func (j *joiner) whyResent(u *unit) reason {
	if u.after != isUnknown {
		return whyAfter(u.after)
	}
	return j.resendsOf(u).usual()
}

// missing adds the attempts that numbers prove between two units.
func (j *joiner) missing(u *unit, last int) {
	gap := int(u.ordinal) - last - 1
	if gap <= 0 || gap > 64 {
		return
	}
	first := int32(len(j.tries))
	why := j.resendsOf(u).usual()
	for range gap {
		j.tries = append(j.tries, try{client: -1, entry: -1, class: isUnknown, reason: why, dur: -1, hidden: true})
	}
	j.tries = append(j.tries, j.tries[u.first:u.first+u.n]...)
	u.first, u.n = first, u.n+int32(gap)
	if last == 0 {
		j.tries[first].reason = byInitial
	}
}

// group joins units of one site, edge, operation and identity, in order of start.
func (j *joiner) group(run []int32) {
	if u := &j.units[run[0]]; !u.foster && j.tree.roles[max(0, u.head)] == roleEntry {
		j.entryGroup(run)
		return
	}
	run = slices.DeleteFunc(slices.Clone(run), func(i int32) bool { return j.units[i].call >= 0 && j.calls[j.units[i].call].unit != i })
	if len(run) < 2 {
		return
	}
	known := j.units[run[0]].ident != 0
	switch j.l.ops.keys[j.units[run[0]].op].protocol {
	case "db", "redis":
		known = false // statements are recorded without their parameters: equal texts are no identity
	}
	overlap, fanout := false, false
	for i := 0; i < len(run); {
		n, end := i+1, j.endOf(run[i])
		slack := j.slack(run[i])
		for n < len(run) && j.units[run[n]].start < end-slack {
			if e := j.endOf(run[n]); e > end {
				end, slack = e, j.slack(run[n])
			}
			n++
		}
		if n-i > 1 {
			overlap = true
			if !j.hedge(run[i:n], known) {
				fanout = true
			}
		}
		i = n
	}
	if overlap {
		run = slices.DeleteFunc(run, func(i int32) bool { return j.units[i].call >= 0 && j.calls[j.units[i].call].unit != i })
	}
	if known {
		j.chain(run)
		return
	}
	if fanout {
		j.parallel(run)
		return
	}
	j.guess(run)
}

// endOf is when the call that unit i begins has ended.
func (j *joiner) endOf(i int32) int64 {
	if c := j.units[i].call; c >= 0 {
		return j.calls[c].end
	}
	return j.units[i].end
}

// tail is the last unit of the call that unit i begins, opening it if needed.
func (j *joiner) tail(i int32, e Evidence) int32 {
	if j.units[i].call < 0 {
		j.open(i, e)
	}
	for j.units[i].next >= 0 {
		i = j.units[i].next
	}
	return i
}

// classAt is the class of the call that unit i begins.
func (j *joiner) classAt(i int32) class {
	if c := j.units[i].call; c >= 0 {
		return j.calls[c].class
	}
	return j.units[i].class
}

// slack is by how much the unit after a may overlap it and still have come after
// it: asynchronous clients may record the end of an attempt that timed out after
// they have begun the next.
func (j *joiner) slack(a int32) int64 {
	e := int64(j.cfg.Epsilon)
	if j.classAt(a) == isTimeout {
		e = max(e, min((j.endOf(a)-j.units[a].start)/50, int64(10*time.Millisecond)))
	}
	return e
}

// follows reports whether unit b may be the next attempt after what a began.
func (j *joiner) follows(a, b int32) bool {
	gap := j.units[b].start - j.endOf(a)
	return gap >= -j.slack(a) && gap <= int64(j.cfg.MaxGap) && j.units[a].start != 0
}

// chain joins units of one known identity: the same request again, after a
// failure.
func (j *joiner) chain(run []int32) {
	open, n := run[0], 1
	for _, i := range run[1:] {
		c := j.classAt(open)
		if (c.retryable() || c == isAuth) && n < j.cfg.MaxChain && j.follows(open, i) && !j.saysFirst(i) {
			why := byRetry
			if c == isAuth {
				why = byAuth
			}
			last := j.tail(open, Inferred)
			j.absorb(last, i, Inferred, why)
			n++
			continue
		}
		open, n = i, 1
	}
}

// saysFirst reports whether a unit's own number says that it begins a call.
func (j *joiner) saysFirst(i int32) bool { return j.units[i].ordinal == 1 }

// absorb joins unit i, and all that was already joined to it, after unit last.
func (j *joiner) absorb(last, i int32, e Evidence, why reason) {
	if old := j.units[i].call; old >= 0 {
		c := &j.calls[old]
		end, cl := c.end, c.class
		c.calls, c.unit = 0, -1 // emptied
		target := j.units[last].call
		for u := i; u >= 0; u = j.units[u].next {
			j.units[u].call = target
		}
		rest := j.units[i].next
		j.join(last, i, e, why)
		j.units[i].next = rest
		j.calls[target].end, j.calls[target].class = max(j.calls[target].end, end), cl
		return
	}
	j.join(last, i, e, why)
}

// entryGroup looks at arrivals of one caller without client spans: they are
// calls of their own, and doubtful if one followed a failure.
func (j *joiner) entryGroup(run []int32) {
	for k, i := range run[1:] {
		if j.units[run[k]].class.retryable() && j.units[i].site >= 0 {
			if c := j.units[run[0]].call; c < 0 {
				j.open(run[0], Ambiguous)
				j.doubtAll(run)
			}
			return
		}
	}
}
