package ledger

// waste accounts for the provider time of attempts that nobody had use for. Only
// durations are compared across hosts, never clocks, so that skew does not matter:
// a provider that took longer than its caller waited worked for nobody at least
// for the difference.
func (j *joiner) waste() {
	t := &j.tree
	j.forgetWanted()
	for i := range j.calls {
		c := &j.calls[i]
		if c.unit < 0 {
			continue
		}
		n, k := 0, 0
		j.each(c, func(int, *try) { n++ })
		failedCall := c.class != isOK && c.class != isUnknown
		abandoned := false
		j.each(c, func(_ int, x *try) {
			k++
			if x.entry < 0 {
				return
			}
			s := &t.spans[x.entry]
			e := c.edge
			d := duration(s.dur)
			e.server += d
			rest := d
			if g := j.wanted(x.entry, 0); g >= 0 && s.dur > g {
				o := duration(s.dur - g)
				e.orphaned += o
				c.orphaned += s.dur - g
				e.orphans++
				rest -= o
				if k == n {
					abandoned = true
				}
			}
			used := k == n
			if c.hedged {
				used = x.class == isOK
			}
			switch {
			case !used:
				e.superseded += rest
			case failedCall:
				e.failed += rest
			}
			if x.client >= 0 && t.firstEntry[x.client] == x.entry && t.nextEntry[x.entry] < 0 {
				cl := &t.spans[x.client]
				if gaveUp(cl) && s.start != 0 && s.start > cl.end()+int64(j.cfg.SkewBound) {
					e.deadOnArrival++
				}
			}
		})
		if abandoned && c.calls > 0 {
			c.edge.fates.Abandoned++
		}
	}
}

// forgetWanted makes room to note how long after its own start each entry was
// still wanted; -1: to the end.
func (j *joiner) forgetWanted() {
	j.giveUps = grow(j.giveUps, len(j.tree.spans))
	for i := range j.giveUps {
		j.giveUps[i] = -2 // not yet known
	}
}

// gaveUp reports whether a client span ended without waiting for its answer.
func gaveUp(s *span) bool { return s.class == isTimeout || s.class == isCancelled }

// wanted is how long after its start an entry's result was still waited for: by
// its client, or by the callers above that had given up. -1: to its end.
func (j *joiner) wanted(entry int32, depth int) int64 {
	if g := j.giveUps[entry]; g != -2 {
		return g
	}
	t := &j.tree
	g := int64(-1)
	j.giveUps[entry] = g
	c := t.up[entry]
	if c < 0 || int(c) >= len(t.spans) || t.roles[c] != roleCall && t.roles[c] != roleAttempt && t.roles[c] != roleLogical {
		return g
	}
	cl := &t.spans[c]
	if gaveUp(cl) && t.nextEntry[entry] < 0 {
		g = cl.dur
	}
	// What the caller's own entry was still wanted for, on the caller's clock.
	at := c
	for steps := 0; steps < maxLayers && at >= 0 && int(at) < len(t.spans) && t.roles[at] != roleEntry; steps++ {
		at = t.up[at]
	}
	if depth < maxLayers && at >= 0 && int(at) < len(t.spans) && t.roles[at] == roleEntry {
		if above := j.wanted(at, depth+1); above >= 0 && cl.start != 0 {
			left := max(0, above-(cl.start-t.spans[at].start))
			if g < 0 || left < g {
				g = left
			}
		}
	}
	j.giveUps[entry] = g
	return g
}
