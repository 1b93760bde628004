package ledger

// What the numbers of attempts prove of those that were not seen.

// resends counts by what the resends of an operation were preceded, where the
// attempt before was seen, and at how many sites it was asked for the same
// several times, and for several things.
type resends struct{ retry, redirect, auth, same, mixed int64 }

// batches reports whether siblings of one operation mostly ask for different
// things.
func (r *resends) batches() bool { return r != nil && r.mixed > r.same }

// usual is why an operation is sent again, where the attempt before is not
// there to tell: a redirect's target is always asked for after a redirect.
func (r *resends) usual() reason {
	switch {
	case r == nil:
		return byRetry
	case r.redirect > 9*(r.retry+r.auth):
		return byRedirect
	case r.auth > 9*(r.retry+r.redirect):
		return byAuth
	}
	return byRetry
}

// resendsOf finds the sum for the operation of a unit.
func (j *joiner) resendsOf(u *unit) *resends {
	k := loopKey{j.name(j.l.places.keys[u.place].service), u.op}
	r := j.resends[k]
	if r == nil && j.learning && len(j.resends) < j.cfg.MaxNames {
		r = &resends{}
		j.resends[k] = r
	}
	return r
}

// learnResend notes that a resend followed an attempt of a class.
func (j *joiner) learnResend(u *unit, after class) {
	r := j.resendsOf(u)
	switch {
	case r == nil:
	case after == isRedirect:
		r.redirect++
	case after == isAuth:
		r.auth++
	default:
		r.retry++
	}
}

// learnMixed notes siblings of one operation, by the first and the last of them
// in order of identity.
func (j *joiner) learnMixed(first, last int32) {
	switch r := j.resendsOf(&j.units[first]); {
	case r == nil:
	case j.units[first].ident != j.units[last].ident:
		r.mixed++
	default:
		r.same++
	}
}

// whyAfter is why a request was sent again after an attempt of a class.
func whyAfter(c class) reason {
	switch c {
	case isRedirect:
		return byRedirect
	case isAuth:
		return byAuth
	}
	return byRetry
}

// maxNumber bounds the numbers among which gaps are looked for.
const maxNumber = 64

// countKey is a callee's operation.
type countKey struct{ callee, op uint32 }

// togetherSum says whether the numbered arrivals of one call share a trace.
type togetherSum struct{ with, without int64 }

// numberedArrivals looks at arrivals that a header numbers and whose callers send
// no spans: there are no more third attempts than second ones, and no more second
// than first ones, so that what is missing was lost. That holds only within a
// trace, and where the attempts of one call share theirs.
func (j *joiner) numberedArrivals() {
	seen := false
	for i := range j.units {
		if u := &j.units[i]; u.ordinal > 0 && j.tree.roles[u.head] == roleEntry && !u.foster {
			seen = true
			break
		}
	}
	if !seen {
		return
	}
	sums := map[countKey]*[maxNumber + 1][]int32{}
	var keys []countKey
	for i := range j.units {
		u := &j.units[i]
		if u.ordinal == 0 || u.ordinal > maxNumber || u.foster || u.n != 1 || j.tree.roles[u.head] != roleEntry {
			continue
		}
		k := countKey{u.callee, u.op}
		if sums[k] == nil {
			sums[k] = new([maxNumber + 1][]int32)
			keys = append(keys, k)
		}
		sums[k][u.ordinal] = append(sums[k][u.ordinal], int32(i))
	}
	for _, k := range keys {
		by := sums[k]
		if j.learning {
			j.learnTogether(k, by)
			continue
		}
		if s := j.together[k]; s == nil || s.without > s.with/4 {
			continue
		}
		need := 0
		for n := maxNumber; n >= 1; n-- {
			need = max(need, len(by[n]))
			if gap := need - len(by[n]); gap > 0 {
				j.fill(by, n, gap)
			}
		}
	}
}

func (j *joiner) learnTogether(k countKey, by *[maxNumber + 1][]int32) {
	later := 0
	for n := 2; n <= maxNumber; n++ {
		later += len(by[n])
	}
	if later == 0 {
		return
	}
	s := j.together[k]
	if s == nil {
		if len(j.together) >= j.cfg.MaxNames {
			return
		}
		s = &togetherSum{}
		j.together[k] = s
	}
	if len(by[1]) > 0 {
		s.with++
	} else {
		s.without++
	}
}

// fill says of the arrivals after number n that so many of that number were
// lost: each is one that came before such an arrival.
func (j *joiner) fill(by *[maxNumber + 1][]int32, n, gap int) {
	for m := n + 1; m <= maxNumber && gap > 0; m++ {
		for _, i := range by[m] {
			u := &j.units[i]
			if gap == 0 {
				break
			}
			if int(u.ordinal)-int(u.lost)-1 == n {
				u.lost++
				gap--
			}
		}
	}
}

// refill puts the attempts that were lost before a unit in front of it.
func (j *joiner) refill(u *unit) {
	first := int32(len(j.tries))
	for range u.lost {
		j.tries = append(j.tries, try{client: -1, entry: -1, class: isUnknown, reason: byRetry, dur: -1, hidden: true})
	}
	j.tries = append(j.tries, j.tries[u.first:u.first+u.n]...)
	u.first, u.n = first, u.n+int32(u.lost)
}
