package ledger

import "github.com/firebreak-io/firebreak/evidence"

func isFailure(o evidence.Outcome) bool {
	switch o {
	case evidence.OK, evidence.OutcomeUnknown, evidence.Redirected, evidence.Challenged, evidence.BizFailed, evidence.Cancelled:
		return false
	}
	return true
}

// outcomeOf is a line's outcome, from its status if it has no other.
func outcomeOf(x *evidence.Access) evidence.Outcome {
	if x.Outcome > 0 && x.Outcome <= evidence.Challenged {
		return x.Outcome
	}
	if x.Status == 503 && x.Attempts == 0 {
		return evidence.Rejected // never sent: a limit of the proxy's own
	}
	return evidence.StatusOutcome(x.Status)
}

func accessFate(o evidence.Outcome, n int) fate {
	switch o {
	case evidence.OK, evidence.Redirected, evidence.Challenged:
		if n > 1 {
			return fateAfterRetry
		}
		return fateAtOnce
	case evidence.BizFailed:
		return fateNotRetryable
	case evidence.OutcomeUnknown:
		return fateUnknown
	}
	switch {
	case n > 1:
		return fateExhausted
	case o == evidence.Timeout || o == evidence.Late:
		return fateTimedOut
	case o == evidence.Rejected:
		return fateRejected
	case o == evidence.Cancelled:
		return fateCancelled
	}
	return fateFailed
}
