package ledger

// Plain RPC says nothing of what makes two calls the same request. Siblings of
// one operation are then joined only if each but the last failed in a way that
// is retried and something besides speaks for a retry; else they may be a loop.

// loopKey is an operation as one service calls it.
type loopKey struct{ caller, op uint32 }

// loopSum is what an edge's groups of siblings were like, learned before
// anything is joined.
type loopSum struct {
	candidates int64 // groups in which a sibling followed a failure
	wentOn     int64 // of them, those that went on after a success: loops do, retries never
	stopped    int64 // those that ended with the first success, after a failure
	singles    int64 // sites with one call, which succeeded: loops would have gone on
	lengths    [maxLength + 1]int64
	longest    int
}

const maxLength = 16

// Thresholds of learning (the spec's T3c).
const (
	enoughCandidates = 50
	enoughStopped    = 20 // successes after which nothing came, at once or after failures
	stoppedShare     = 0.02
	fewCandidates    = 3 // suffice if nothing ever went on and chains are as short as retries mostly are
	fewStopped       = 5
	usualAttempts    = 6
	loopShare        = 0.2 // of candidates that go on: the edge is called in loops
	retryShare       = 0.01
	sameCeiling      = 0.95 // of the failing chains that end at one length
)

func (j *joiner) loop(u *unit) *loopSum {
	k := loopKey{j.name(j.l.places.keys[u.place].service), u.op}
	s := j.loops[k]
	if s == nil {
		s = &loopSum{}
		if len(j.loops) < j.cfg.MaxNames {
			j.loops[k] = s
		}
	}
	return s
}

// guess decides on sequential siblings whose identity is unknown.
func (j *joiner) guess(run []int32) {
	s := j.loop(&j.units[run[0]])
	if j.learning {
		j.learnLoop(s, run)
		return
	}
	looping := s.candidates > 0 && float64(s.wentOn) >= loopShare*float64(s.candidates) && s.wentOn > 1
	promoted := s.promoted()
	for at := 0; at < len(run); {
		n := at + 1
		for n < len(run) && n-at < j.cfg.MaxChain && j.classAt(run[n-1]).retryable() && j.follows(run[n-1], run[n]) && !j.units[run[n]].numbered {
			n++
		}
		if n-at > 1 {
			j.settleChain(run[at:n], looping, promoted)
		}
		at = n
	}
}

// settleChain joins a chain of failures, and what came after the last of them,
// if its clues suffice; else it counts as one ambiguous group.
func (j *joiner) settleChain(run []int32, looping, promoted bool) {
	clues := j.clues(run)
	if clues == 0 && !promoted || looping && clues < 2 {
		c := j.units[run[0]].call
		if c < 0 {
			j.open(run[0], Ambiguous)
		} else {
			j.calls[c].evidence = Ambiguous
		}
		j.doubtAll(run)
		return
	}
	for _, i := range run[1:] {
		last := j.tail(run[0], Inferred)
		j.absorb(last, i, Inferred, byRetry)
	}
}

// doubtAll notes that any of some units may be part of a call with another.
func (j *joiner) doubtAll(run []int32) {
	for _, i := range run {
		j.units[i].doubted = true
	}
}

// clues counts what speaks for a retry in the weakest step of a run: an attempt
// that waited out a timeout or was refused by a full pool, a different peer, a
// wait no shorter than the one before. A cluster that runs out of peers asks one
// again: steps of one run may have different clues.
func (j *joiner) clues(run []int32) int {
	least := 3
	gap := int64(0)
	for k, i := range run[1:] {
		prev, u := &j.units[run[k]], &j.units[i]
		n := 0
		if c := prev.class; c == isTimeout || c == isRejected {
			n++
		}
		if a, b := j.address(prev), j.address(u); a != "" && b != "" && a != b {
			n++
		}
		next := u.start - j.endOf(run[k])
		if next >= int64(j.cfg.MinWait) && next*5 >= gap*4 { // jitter may shrink a wait by a fifth
			n++
		}
		gap = next
		least = min(least, n)
	}
	return least
}

// address is where a unit's attempt went: the callee's process, or the peer.
func (j *joiner) address(u *unit) string {
	if u.n > 0 {
		if t := &j.tries[u.first]; t.entry >= 0 {
			if p := j.l.places.keys[j.tree.spans[t.entry].place].instance; p != "" {
				return p
			}
		}
	}
	p := j.l.peers.keys[u.peer]
	if p.addr != "" {
		return p.addr
	}
	return p.name
}

// learnLoop notes what a group of siblings was like.
func (j *joiner) learnLoop(s *loopSum, run []int32) {
	candidate, ok, wentOn := false, false, false
	length := 1
	for k, i := range run {
		if k > 0 {
			if ok {
				wentOn = true
			}
			if j.classAt(run[k-1]).retryable() && j.follows(run[k-1], i) {
				candidate = true
				length++
			}
		}
		ok = ok || j.classAt(i) == isOK
	}
	if !candidate && !wentOn {
		return
	}
	s.candidates++
	length = min(length, maxLength)
	switch {
	case wentOn:
		s.wentOn++
	case ok:
		s.stopped++
	default:
		s.lengths[length]++
	}
	s.longest = max(s.longest, length)
}

// learnSingle notes a call that had no sibling.
func (j *joiner) learnSingle(i int32) {
	if u := &j.units[i]; u.ident == 0 && j.tree.roles[u.head] != roleEntry && j.classAt(i) == isOK {
		j.loop(u).singles++
	}
}

// promoted reports whether an edge's chains behave as only retries do: they
// never go on after a success, often enough to tell, and where they end without
// one it is at one and the same length.
func (s *loopSum) promoted() bool {
	stopped := s.stopped + s.singles
	many := s.candidates >= enoughCandidates && stopped >= enoughStopped && float64(s.wentOn) < retryShare*float64(s.candidates)
	few := s.candidates >= fewCandidates && stopped >= fewStopped && s.wentOn == 0 && s.longest <= usualAttempts
	if !many && !few || float64(stopped) < stoppedShare*float64(s.candidates+s.singles) {
		return false
	}
	failed := int64(0)
	for _, n := range s.lengths {
		failed += n
	}
	return failed == 0 || float64(s.lengths[s.longest]) >= sameCeiling*float64(failed)
}
