package ledger

// Fates says how the logical calls of an edge ended, each counted once, and
// Abandoned besides.
type Fates struct {
	AtOnce       int64 // succeeded with the first attempt
	AfterRetry   int64 // succeeded with a later one
	Exhausted    int64 // made two or more attempts, the last of which failed too
	TimedOut     int64 // one attempt, which timed out
	Rejected     int64 // one attempt, refused by a full pool or a limiter
	Cancelled    int64 // one attempt, withdrawn by the caller
	NotRetryable int64 // ended with an error that another attempt would not mend
	Budget       int64 // not sent again because a retry budget was used up
	Failed       int64 // one attempt, which failed in a way that might have been retried
	Unknown      int64 // nothing says how it ended

	// Abandoned counts, besides the above, calls whose caller had given up the
	// last attempt while the provider went on working at it.
	Abandoned int64
}

// fate numbers the fields of Fates.
type fate uint8

const (
	fateAtOnce fate = iota
	fateAfterRetry
	fateExhausted
	fateTimedOut
	fateRejected
	fateCancelled
	fateNotRetryable
	fateBudget
	fateFailed
	fateUnknown
)

func (f *Fates) add(x fate) {
	switch x {
	case fateAtOnce:
		f.AtOnce++
	case fateAfterRetry:
		f.AfterRetry++
	case fateExhausted:
		f.Exhausted++
	case fateTimedOut:
		f.TimedOut++
	case fateRejected:
		f.Rejected++
	case fateCancelled:
		f.Cancelled++
	case fateNotRetryable:
		f.NotRetryable++
	case fateBudget:
		f.Budget++
	case fateFailed:
		f.Failed++
	case fateUnknown:
		f.Unknown++
	}
}

func (j *joiner) fate(c *call) fate {
	budget := false
	for u := c.unit; u >= 0; u = j.units[u].next {
		budget = budget || j.tree.spans[j.units[u].head].flags&flagBudget != 0
	}
	switch {
	case c.class == isOK && c.attempts > 1:
		return fateAfterRetry
	case c.class == isOK:
		return fateAtOnce
	case budget:
		return fateBudget
	case c.class == isTerminal || c.class == isAuth || c.class == isRedirect:
		return fateNotRetryable
	case c.class == isUnknown:
		return fateUnknown
	case c.attempts > 1:
		return fateExhausted
	case c.class == isTimeout:
		return fateTimedOut
	case c.class == isRejected:
		return fateRejected
	case c.class == isCancelled:
		return fateCancelled
	}
	return fateFailed
}
