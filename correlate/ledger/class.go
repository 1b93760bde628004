package ledger

import (
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// class says what an outcome means for sending the same request again.
type class uint8

// The classes.
const (
	isUnknown class = iota
	isOK
	isTransient // a retry is plausible
	isTimeout
	isRejected
	isCancelled
	isTerminal // sending it again would not help
	isRedirect
	isAuth
)

// retryable reports whether a client may have sent the request again because of
// this.
func (c class) retryable() bool {
	return c == isTransient || c == isTimeout || c == isRejected
}

// classOf reads a span's outcome and the protocol's own status.
func classOf(in *evidence.Span) class {
	switch in.Outcome {
	case evidence.OK:
		return isOK
	case evidence.Timeout, evidence.Late:
		return isTimeout
	case evidence.Rejected:
		return isRejected
	case evidence.Cancelled:
		return isCancelled
	case evidence.Unreachable, evidence.NoProvider:
		return isTransient
	case evidence.BizFailed:
		return isTerminal
	case evidence.Redirected:
		return isRedirect
	case evidence.Challenged:
		return isAuth
	case evidence.Failed:
		return classOfFailure(in.Protocol, in.Status, in.Error)
	}
	return isUnknown
}

func classOfFailure(protocol, status, err string) class {
	switch protocol {
	case "http", "aws":
		switch status {
		case "408", "425", "429", "500", "502", "503", "504":
			return isTransient
		}
		if len(status) == 3 && (status[0] == '4' || status[0] == '5') {
			return isTerminal
		}
	case "db":
		return classOfSQL(status, err)
	case "grpc", "rpc":
		switch strings.ToUpper(status) {
		case "UNAVAILABLE", "14", "RESOURCE_EXHAUSTED", "8", "ABORTED", "10", "INTERNAL", "13", "UNKNOWN", "2", "":
			return isTransient
		case "DEADLINE_EXCEEDED", "4":
			return isTimeout
		case "CANCELLED", "1":
			return isCancelled
		}
		if protocol == "grpc" {
			return isTerminal
		}
	}
	return isTransient
}

// classOfSQL tells the failures that a driver or a framework may repeat.
func classOfSQL(status, err string) class {
	switch status {
	case "40001", "40P01", "1213", "1205", "":
		return isTransient
	}
	if strings.HasPrefix(status, "08") || strings.HasPrefix(status, "57P") || strings.Contains(err, "onnection") {
		return isTransient
	}
	return isTerminal
}
