package ledger

// maxParallel bounds the siblings among which parallel chains are looked for.
const maxParallel = 256

// parallel looks at overlapping siblings of unknown identity: calls made side by
// side, each perhaps retried. They are taken for that only if every sibling that
// began later began just when one before it had timed out or been refused, as a
// retry does; if a single one did not, they may be items handed to workers, and
// nothing is joined.
func (j *joiner) parallel(run []int32) {
	if j.learning || len(run) < 3 {
		return
	}
	failed := false
	first := j.endOf(run[0])
	for _, i := range run {
		failed = failed || j.classAt(i).retryable()
		first = min(first, j.endOf(i))
	}
	if !failed {
		return
	}
	if len(run) > maxParallel || !j.match(run, first) {
		for _, i := range run {
			if j.units[i].start >= first && j.units[run[0]].call < 0 {
				j.open(run[0], Ambiguous)
				j.doubtAll(run)
				return
			}
		}
	}
}

// match joins each sibling that began after the first one ended to the failure
// that it followed, if all of them have one.
func (j *joiner) match(run []int32, first int64) bool {
	j.follow = grow(j.follow, len(run))
	for k := range run {
		j.follow[k] = -1
	}
	any := false
	for k, i := range run {
		u := &j.units[i]
		if u.start < first-j.slack(i) {
			continue
		}
		best, least := -1, int64(0)
		for p, b := range run[:k] {
			c := j.classAt(b)
			if j.follow[p] >= 0 || c != isTimeout && c != isRejected {
				continue
			}
			gap := u.start - j.endOf(b)
			if limit := max(int64(j.cfg.MinWait), (j.endOf(b)-j.units[b].start)/50); gap < -j.slack(b) || gap > limit {
				continue
			}
			if best < 0 || abs(gap) < least {
				best, least = p, abs(gap)
			}
		}
		if best < 0 || u.numbered {
			return false
		}
		j.follow[best] = int32(k)
		any = true
	}
	if !any {
		return false
	}
	for p := range run {
		if k := j.follow[p]; k >= 0 {
			last := j.tail(run[p], Inferred)
			j.absorb(last, run[k], Inferred, byRetry)
		}
	}
	return true
}
