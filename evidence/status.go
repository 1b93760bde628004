package evidence

// StatusOutcome reads an HTTP status as a server's or a proxy's log has it,
// where nothing else tells how the request ended. A 503 may be a refusal or a
// failure behind it, and is taken for the weaker claim; a 408 is a client that
// did not finish its request; 499 (nginx) and 460 (ALB) are clients that left.
func StatusOutcome(status int) Outcome {
	switch {
	case status == 401 || status == 407:
		return Challenged
	case status == 429:
		return Rejected
	case status == 499 || status == 460:
		return Cancelled
	case status == 504:
		return Timeout
	case status >= 500:
		return Failed
	case status >= 400:
		return BizFailed
	case status >= 300 && status != 304:
		return Redirected
	case status >= 100:
		return OK
	}
	return OutcomeUnknown
}
