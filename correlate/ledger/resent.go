package ledger

import (
	"slices"
	"time"
)

// One request ID may stand for one request that was sent again, and for many that
// were made while it was answered: a page of parts, a federated query of several
// subgraphs, all of them POST /graphql. A request was sent again if the one before
// had failed, or had been running for as long as all of them had: the caller's
// timeout. What began together, or after an answer, is another request.

const (
	leastWait   = int64(50 * time.Millisecond) // no timeout is shorter
	likeWaits   = 0.7                          // share of waits of one length from which they are a timeout's
	fansOut     = 0.1                          // share of requests after an answer from which those after a failure are no retries either
	maxGaps     = 1 << 14                      // waits that are kept of one hop
	timeIsExact = int64(2 * time.Millisecond)
)

// arrivalKinds count what followed the first arrival of a request ID.
type arrivalKinds struct {
	resent  int64   // after a failure
	waiting int64   // while the one before still ran
	another int64   // after an answer, or at once
	waits   []int64 // between the starts of those that waited and of the ones before
	ends    []int64 // and between their ends: which of the two a log prints is not always known
	coarse  bool    // the times are whole seconds
}

// followed tells what an arrival is to the one before it.
type followed int8

const (
	another followed = iota
	resent
	waited
)

func follow(prev, x *line) (followed, int64) {
	failed := prev.failed || prev.left
	if prev.start == 0 || x.start == 0 {
		if failed {
			return resent, 0
		}
		return another, 0
	}
	wait, end, slack := x.start-prev.start, prev.start+prev.dur, slackOf(prev, x)
	switch {
	case failed && x.start >= end-slack:
		return resent, wait
	case wait >= leastWait && (x.start < end || prev.endless):
		return waited, wait
	case failed && wait >= leastWait:
		return resent, wait
	}
	return another, wait
}

// slackOf is how exactly the ends of two requests are known: many logs print
// whole seconds.
func slackOf(x, y *line) int64 {
	if (x.start+x.dur)%int64(time.Second) == 0 && (y.start+y.dur)%int64(time.Second) == 0 || x.start%int64(time.Second) == 0 && y.start%int64(time.Second) == 0 {
		return int64(time.Second)
	}
	return timeIsExact
}

// arrivalShape is how the arrivals of one request ID followed each other.
type arrivalShape struct {
	n               int
	resent, waited  int
	calls, toldMore int64 // the caller's lines, and the attempts beyond them that they tell of
}

// shapeOf looks at the arrivals of one request, in their order.
func (k *arrivalKinds) shapeOf(arrived []line) arrivalShape {
	s := arrivalShape{n: len(arrived)}
	for i := 1; i < len(arrived); i++ {
		k.coarse = k.coarse || slackOf(&arrived[i-1], &arrived[i]) == int64(time.Second)
		switch f, wait := follow(&arrived[i-1], &arrived[i]); f {
		case resent:
			s.resent++
			k.resent++
		case waited:
			s.waited++
			k.waiting++
			if len(k.waits) < maxGaps {
				k.waits = append(k.waits, wait)
				k.ends = append(k.ends, wait+arrived[i].dur-arrived[i-1].dur)
			}
		default:
			k.another++
		}
	}
	return s
}

// ofOneLength reports whether waits are of one length. Times in whole seconds
// leave them uncertain by one, which tells nothing of short ones.
func ofOneLength(waits []int64, coarse bool) bool {
	if len(waits) == 0 {
		return false
	}
	slices.Sort(waits)
	median := waits[len(waits)/2]
	near, off := 0, median/5
	if coarse {
		if median < 3*int64(time.Second)/2 {
			return false
		}
		off = max(off, int64(time.Second))
	}
	for _, w := range waits {
		if abs(w-median) <= off {
			near++
		}
	}
	return float64(near) >= likeWaits*float64(len(waits))
}

// retried reports whether failures and timeouts of this hop are followed by the
// same request again, and not by the next of several.
func (k *arrivalKinds) retried() (afterFailure, afterWait bool) {
	all := k.resent + k.waiting + k.another
	afterWait = ofOneLength(k.waits, k.coarse) || ofOneLength(k.ends, k.coarse)
	others := k.another
	if !afterWait {
		others += k.waiting
	}
	few := float64(others) < fansOut*float64(all)
	return few, afterWait && few
}

// requests is how many requests the arrivals of one ID were.
func (s *arrivalShape) requests(afterFailure, afterWait bool) int64 {
	n := int64(s.n)
	again := int64(0)
	if afterFailure {
		again += int64(s.resent)
	}
	if afterWait {
		again += int64(s.waited)
	}
	again = max(again, min(s.toldMore, n-1))
	return max(1, min(s.calls, n), n-again)
}
