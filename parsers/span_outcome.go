package parsers

import (
	"bytes"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// How a span ended. The protocol's own status speaks first, then the class of
// the error, then the status of the span: conventions forbid clients to call a
// request an error that they withdrew themselves, and a server that answered
// late has no idea of it.

// outcome fills Outcome, Status and Error.
func (s *spanSource) outcome(sp *evidence.Span, names *interner) {
	kind, said := s.failure()
	sp.Error = names.of(kind)
	failed := s.status == 2
	switch sp.Protocol {
	case "http":
		if code := s.httpStatus(); code > 0 {
			sp.Status = statusText(code)
			sp.Outcome = httpOutcome(code)
			switch {
			case s.set(fieldFlags):
				if o := flagOutcome(s.str(fieldFlags)); o != evidence.OutcomeUnknown && sp.Outcome != evidence.OK {
					sp.Outcome = o
				}
			case sp.Outcome == evidence.OK && failed && len(kind) > 0 && !isDigits(kind):
				sp.Outcome = errorOutcome(kind, said) // the body was never read to its end
			}
			return
		}
		if o := flagOutcome(s.str(fieldFlags)); o != evidence.OutcomeUnknown {
			sp.Outcome = o
			return
		}
		if sp.Kind == evidence.KindClient && s.status == 0 && len(kind) == 0 && !s.yes(fieldErrorFlag) {
			sp.Outcome = evidence.Cancelled
			return
		}
	case "grpc", "dubbo", "rpc", "aws":
		if sp.Protocol == "aws" {
			if code := s.httpStatus(); code >= 400 && !failed && len(kind) == 0 {
				sp.Status, sp.Outcome = statusText(code), httpOutcome(code)
				return
			}
		}
		if code := s.str(fieldRPCStatus); len(code) > 0 {
			name := rpcStatusName(code, sp.Protocol)
			sp.Status = names.of(name)
			sp.Outcome = rpcOutcome(name, said)
			if sp.Outcome == evidence.OK && failed {
				sp.Outcome = errorOutcome(kind, said)
			}
			return
		}
		if name := grpcStatusIn(kind, said); name != "" && sp.Protocol != "dubbo" {
			sp.Status = name
			sp.Outcome = rpcOutcome([]byte(name), said)
			return
		}
		if sp.Protocol == "dubbo" && len(kind) > 0 {
			sp.Outcome = dubboOutcome(kind, said)
			return
		}
	case "db", "redis":
		if code := s.str(fieldDBStatus); len(code) > 0 {
			sp.Status = names.of(code)
			if o := dbOutcome(code); o != evidence.OK || !failed {
				sp.Outcome = o
				return
			}
		}
		if len(kind) > 0 && isDigits(kind) {
			sp.Outcome = dbOutcome(kind)
			return
		}
	}
	switch {
	case len(kind) > 0 && (failed || s.set(fieldErrorType) || s.set(fieldException)):
		sp.Outcome = errorOutcome(kind, said)
	case failed:
		sp.Outcome = errorOutcome(kind, said)
	default:
		sp.Outcome = evidence.OK
	}
}

// failure returns the class of the error that a span tells of, and its message.
func (s *spanSource) failure() (kind, said []byte) {
	switch {
	case s.set(fieldErrorType):
		kind = s.str(fieldErrorType)
	case s.set(fieldException):
		kind = s.str(fieldException)
	case s.set(fieldMicroException) && s.micrometer():
		kind = s.str(fieldMicroException)
	case s.thrown.len > 0 && s.status == 2:
		kind = s.bytes(s.thrown)
	}
	if string(kind) == "none" || string(kind) == "None" {
		kind = nil
	}
	switch {
	case s.set(fieldExceptionText):
		said = s.str(fieldExceptionText)
	case s.said.len > 0:
		said = s.bytes(s.said)
	case s.message.len > 0:
		said = s.bytes(s.message)
	case s.set(fieldStatusText):
		said = s.str(fieldStatusText)
	case s.set(fieldErrorFlag) && s.fields[fieldErrorFlag].kind == 's':
		said = s.str(fieldErrorFlag)
	}
	return kind, said
}

// httpStatus returns the status that was answered, 0 if there was none.
func (s *spanSource) httpStatus() int {
	n, ok := s.num(fieldHTTPStatus)
	if !ok && s.micrometer() {
		n, ok = s.num(fieldMicroStatus)
	}
	if !ok {
		if k := s.str(fieldErrorType); len(k) == 3 && isDigits(k) {
			n, ok = wholeNumber(k)
		}
	}
	if !ok || n < 100 || n > 999 {
		return 0
	}
	return int(n)
}

// httpOutcome returns what an HTTP status says of the request.
func httpOutcome(code int) evidence.Outcome {
	switch code {
	case 304:
		return evidence.OK
	case 401, 407:
		return evidence.Challenged
	case 408, 425, 500, 502, 503, 504:
		return evidence.Failed
	case 429:
		return evidence.Rejected
	case 499:
		return evidence.Cancelled
	case 501, 505:
		return evidence.BizFailed
	}
	switch {
	case code < 300:
		return evidence.OK
	case code < 400:
		return evidence.Redirected
	case code < 500:
		return evidence.BizFailed
	}
	return evidence.Failed
}

// flagOutcome reads Envoy's response flags.
func flagOutcome(flags []byte) evidence.Outcome {
	for len(flags) > 0 {
		flag, rest, _ := bytes.Cut(flags, []byte(","))
		flags = rest
		switch string(bytes.TrimSpace(flag)) {
		case "UT", "SI", "DPE", "UMSDR":
			return evidence.Timeout
		case "UO", "RL", "RLSE", "OM":
			return evidence.Rejected
		case "UF", "UC", "UR", "LR":
			return evidence.Unreachable
		case "UH", "NR", "NC":
			return evidence.NoProvider
		case "DC", "DR":
			return evidence.Cancelled
		}
	}
	return evidence.OutcomeUnknown
}

var grpcStatus = []string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
	"INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

// rpcStatusName gives gRPC's numbers their names; other codes stay as printed.
func rpcStatusName(code []byte, protocol string) []byte {
	if n, ok := wholeNumber(code); ok && protocol != "dubbo" && n >= 0 && n < int64(len(grpcStatus)) && len(code) < 3 {
		return []byte(grpcStatus[n])
	}
	return code
}

// rpcOutcome returns what a status code of gRPC, Connect or Dubbo says.
func rpcOutcome(code, said []byte) evidence.Outcome {
	var buf [64]byte
	key := buf[:0]
	for _, c := range code[:min(len(code), 60)] { // DeadlineExceeded, deadline_exceeded
		switch {
		case c == '_' || c == '-' || c == ' ':
		case c >= 'a' && c <= 'z':
			key = append(key, c-'a'+'A')
		default:
			key = append(key, c)
		}
	}
	switch string(key) {
	case "OK", "0", "20", "SUCCESS":
		return evidence.OK
	case "CANCELLED", "CANCELED":
		return evidence.Cancelled
	case "DEADLINEEXCEEDED", "30", "31":
		return evidence.Timeout
	case "RESOURCEEXHAUSTED", "100":
		return evidence.Rejected
	case "UNAVAILABLE":
		if errorOutcome(nil, said) == evidence.Unreachable {
			return evidence.Unreachable
		}
		return evidence.Failed
	case "ABORTED", "INTERNAL", "UNKNOWN", "SERVERERROR", "CLIENTERROR", "80", "90":
		return evidence.Failed
	case "35": // Dubbo's inactive channel
		return evidence.Unreachable
	}
	switch {
	case bytes.Contains(key, []byte("TIMEOUT")):
		return evidence.Timeout
	case bytes.Contains(key, []byte("EXHAUSTED")), bytes.Contains(key, []byte("LIMIT")), bytes.Contains(key, []byte("THROTTL")):
		return evidence.Rejected
	case bytes.Contains(key, []byte("INACTIVE")):
		return evidence.Unreachable
	}
	return evidence.BizFailed
}

// grpcStatusIn finds the name of a gRPC status in an error's class or message.
func grpcStatusIn(kind, said []byte) string {
	for _, b := range [][]byte{kind, said} {
		if len(b) < 5 {
			continue
		}
		if i := bytes.Index(b, []byte("code = ")); i >= 0 { // rpc error: code = DeadlineExceeded desc = …
			word, _, _ := bytes.Cut(b[i+7:], []byte(" "))
			for _, name := range grpcStatus {
				if strings.EqualFold(strings.ReplaceAll(name, "_", ""), string(word)) {
					return name
				}
			}
		}
		for rest, more := b, true; more; _, rest, more = bytes.Cut(rest, []byte("StatusRuntimeException: ")) {
			for _, name := range grpcStatus[1:] {
				if len(rest) >= len(name) && string(rest[:len(name)]) == name {
					return name
				}
			}
		}
	}
	return ""
}

// dubboOutcome tells Dubbo's own failures from exceptions of the business code,
// which it hands to the caller and does not retry.
func dubboOutcome(kind, said []byte) evidence.Outcome {
	o := errorOutcome(kind, said)
	if o != evidence.Failed {
		return o
	}
	for _, own := range []string{"RpcException", "RemotingException", "java.io.", "java.net.", "io.netty.", "ExecutionException"} {
		if bytes.Contains(kind, []byte(own)) {
			return evidence.Failed
		}
	}
	return evidence.BizFailed
}

// dbOutcome reads SQLSTATEs and the codes of MySQL.
func dbOutcome(code []byte) evidence.Outcome {
	switch string(code) {
	case "0", "00000", "OK", "ok":
		return evidence.OK
	case "40001", "40P01", "1213", "1614":
		return evidence.Failed
	case "57014", "55P03", "1205", "3024", "1969", "HYT00":
		return evidence.Timeout
	case "53300", "53400", "1040", "1203", "1226":
		return evidence.Rejected
	case "57P01", "57P02", "57P03", "2002", "2003", "2006", "2013":
		return evidence.Unreachable
	}
	if len(code) == 5 {
		switch string(code[:2]) {
		case "08":
			return evidence.Unreachable
		case "53", "58", "XX":
			return evidence.Failed
		case "00", "01", "02":
			return evidence.OK
		}
	}
	return evidence.BizFailed
}

// errorSigns tell what became of a request by words of its error's class or
// message, in lower case. The first that is found decides.
var errorSigns = []struct {
	sign    string
	outcome evidence.Outcome
}{
	{"cancel", evidence.Cancelled},
	{"abortederror", evidence.Cancelled},
	{"aborterror", evidence.Cancelled},
	{"timeout", evidence.Timeout},
	{"timed out", evidence.Timeout},
	{"timedout", evidence.Timeout},
	{"deadline", evidence.Timeout},
	{"rejected", evidence.Rejected},
	{"callnotpermitted", evidence.Rejected},
	{"bulkheadfull", evidence.Rejected},
	{"requestnotpermitted", evidence.Rejected},
	{"resource_exhausted", evidence.Rejected},
	{"resourceexhausted", evidence.Rejected},
	{"throttl", evidence.Rejected},
	{"toomanyrequests", evidence.Rejected},
	{"exhausted", evidence.Rejected},
	{"no provider available", evidence.NoProvider},
	{"no instances available", evidence.NoProvider},
	{"no servers available", evidence.NoProvider},
	{"no healthy upstream", evidence.NoProvider},
	{"connectexception", evidence.Unreachable},
	{"connection refused", evidence.Unreachable},
	{"connection reset", evidence.Unreachable},
	{"connection_refused", evidence.Unreachable},
	{"connectionrefused", evidence.Unreachable},
	{"connectionreset", evidence.Unreachable},
	{"connectionerror", evidence.Unreachable},
	{"connection_error", evidence.Unreachable},
	{"connection closed", evidence.Unreachable},
	{"connect error", evidence.Unreachable},
	{"broken pipe", evidence.Unreachable},
	{"econn", evidence.Unreachable},
	{"enotfound", evidence.Unreachable},
	{"ehostunreach", evidence.Unreachable},
	{"unreach", evidence.Unreachable},
	{"unknownhost", evidence.Unreachable},
	{"name_resolution_error", evidence.Unreachable},
	{"no such host", evidence.Unreachable},
	{"socketexception", evidence.Unreachable},
	{"nohttpresponse", evidence.Unreachable},
	{"prematureclose", evidence.Unreachable},
	{"remotedisconnected", evidence.Unreachable},
	{"protocolerror", evidence.Unreachable},
	{"net.operror", evidence.Unreachable},
	{"syscall.errno", evidence.Unreachable},
}

// errorOutcome classifies an error by its class, and where that says nothing by
// its message: by its last cause first, for what stands before it may be an
// address of a kilobyte, timeout and all.
func errorOutcome(kind, said []byte) evidence.Outcome {
	if len(kind) == 3 && isDigits(kind) {
		n, _ := wholeNumber(kind)
		if o := httpOutcome(int(n)); o != evidence.OK {
			return o
		}
	}
	var cause []byte
	if i := bytes.LastIndex(said, []byte("cause: ")); i > 0 {
		cause = said[i:]
	}
	for _, b := range [...][]byte{kind, cause, said} {
		if o := signedOutcome(b); o != evidence.OutcomeUnknown {
			return o
		}
	}
	return evidence.Failed
}

// signedOutcome looks for the signs near the beginning of a text.
func signedOutcome(b []byte) evidence.Outcome {
	var buf [240]byte
	low := buf[:copy(buf[:], b)]
	for i, c := range low {
		if c >= 'A' && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	for _, e := range errorSigns {
		if bytes.Contains(low, []byte(e.sign)) {
			return e.outcome
		}
	}
	return evidence.OutcomeUnknown
}

func isDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}
