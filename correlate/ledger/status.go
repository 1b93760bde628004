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
	return httpOutcome(x.Status)
}

// httpOutcome reads an HTTP status as a proxy or server logs it. A 503 may be a
// refusal or a failure behind it; it is taken as the weaker claim.
func httpOutcome(status int) evidence.Outcome {
	switch {
	case status == 504 || status == 408:
		return evidence.Timeout
	case status == 429:
		return evidence.Rejected
	case status == 499 || status == 460:
		return evidence.Cancelled
	case status == 401 || status == 407:
		return evidence.Challenged
	case status >= 500:
		return evidence.Failed
	case status >= 400:
		return evidence.BizFailed
	case status >= 300 && status != 304:
		return evidence.Redirected
	case status >= 100:
		return evidence.OK
	}
	return evidence.OutcomeUnknown
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
