package ledger

// maxHedge is the largest number of overlapping copies that are one call's.
const maxHedge = 5

// hedge joins overlapping units if they are copies of one call sent side by
// side: at most one answered, and the others were given up or failed. Units
// whose identity is unknown must say more: one was cancelled, or named a hedge.
func (j *joiner) hedge(run []int32, known bool) bool {
	named := 0
	for _, i := range run {
		if u := &j.units[i]; u.n > 0 && j.tries[u.first].reason == byHedge {
			named++
		}
	}
	if named == 0 && len(run) > maxHedge {
		return false
	}
	oks, cancelled, staggered := 0, 0, false
	for _, i := range run {
		switch c := j.classAt(i); {
		case c == isOK:
			oks++
		case c == isCancelled:
			cancelled++
		case !c.retryable():
			return false
		}
		staggered = staggered || j.units[i].start != j.units[run[0]].start
		if j.units[i].ordinal == 1 {
			return false
		}
	}
	switch {
	case oks > 1:
		return false
	case named > 0:
	case known:
		// Copies of one request that all fail at once may be a fan-out during an
		// outage; a winner or a withdrawal tells.
		if oks+cancelled == 0 {
			return false
		}
	case cancelled == 0 || oks == 0:
		return false
	}
	for _, i := range run[1:] {
		last := j.tail(run[0], Inferred)
		j.absorb(last, i, Inferred, byHedge)
		u := &j.units[i]
		for k := u.first; k < u.first+u.n; k++ {
			if r := &j.tries[k].reason; *r == byInitial {
				*r = byHedge
			}
		}
	}
	c := &j.calls[j.units[run[0]].call]
	c.hedged = true
	if oks > 0 {
		c.class = isOK
	}
	return true
}

// containerReasons says why each attempt below a logical call was made.
func (j *joiner) containerReasons(u *unit, tries []try) {
	top := 0
	for k := range tries {
		t := &tries[k]
		if t.client >= 0 {
			top = max(top, int(j.tree.spans[t.client].ordinal))
		}
		if k == 0 {
			continue
		}
		prev := &tries[k-1]
		if t.reason != byInitial {
			continue
		}
		t.reason = byRetry
		switch {
		case t.client == prev.client && t.client >= 0:
			t.reason = byProxy
		case prev.class == isRedirect:
			t.reason = byRedirect
		case prev.class == isAuth:
			t.reason = byAuth
		case t.client >= 0 && prev.client >= 0 && j.tree.spans[t.client].start < j.tree.spans[prev.client].end()-int64(j.cfg.Epsilon):
			t.reason = byHedge
		}
	}
	if top > len(tries) && top <= len(tries)+64 {
		for range top - len(tries) {
			j.tries = append(j.tries, try{client: -1, entry: -1, class: isUnknown, reason: byRetry, dur: -1, hidden: true})
		}
		u.n = int32(len(j.tries)) - u.first
		tries = j.tries[u.first:]
		tries[0].reason = byInitial
		last := len(tries) - 1
		tries[1], tries[last] = tries[last], tries[1] // what was seen last stays last
		if tries[last].reason == byInitial {
			tries[last].reason = byRetry
		}
	}
	// The first is the initial one, whatever it says.
	if len(tries) > 0 && tries[0].reason != byTransparent {
		tries[0].reason = byInitial
	}
}

// wireReasons says why one client span reached several entries.
func (j *joiner) wireReasons(_ *unit, tries []try) {
	cancelled, oks, overlap := false, 0, false
	for k := range tries {
		cancelled = cancelled || tries[k].class == isCancelled
		if tries[k].class == isOK {
			oks++
		}
		// Entries may be of two hosts: only an overlap beyond the skew counts.
		if k > 0 && tries[k].start < tries[k-1].start+tries[k-1].dur-int64(j.cfg.SkewBound) {
			overlap = true
		}
	}
	for k := range tries {
		t := &tries[k]
		switch {
		case k == 0:
			if t.reason != byTransparent {
				t.reason = byInitial
			}
		case t.reason == byHedge || overlap && cancelled && oks <= 1:
			t.reason = byHedge
		case t.reason == byInitial:
			t.reason = byProxy
		}
	}
}
