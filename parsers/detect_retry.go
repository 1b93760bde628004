package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// The end of a call that some other client library has retried:
//
//	Retry failed last attempt: count=3                                      Spring Retry, DEBUG
//	reactor.core.Exceptions$RetryExhaustedException: Retries exhausted: 3/3 Reactor
//	Retrying failed to complete successfully after 3 attempts.              Guava-Retrying
//	GET http://stock/x giving up after 5 attempt(s)                         go-retryablehttp
//	exceeded maximum number of attempts, 3                                  AWS SDK for Go
//	call to stock failed, attempt 3/3, giving up                            somebody's own
//
// A line for each attempt is no call of its own: of those only the last, which
// has reached its maximum, is taken, and as a lower bound, since nobody can
// tell whether it counts attempts or retries.
func retries() detector {
	return messages("retry", "Ends of retried calls: Spring Retry, Reactor, Guava-Retrying, Go libraries, and lines that say attempt n of n", []rule{
		{sign: "Retry failed last attempt: count=", find: triesAfter("last attempt: count=", 0, "spring-retry")},
		{sign: "Retries exhausted: ", find: triesAfter("Retries exhausted: ", 1, "reactor")},
		{sign: "Retrying failed to complete successfully after ", find: triesAfter("successfully after ", 0, "guava-retrying")},
		{sign: " giving up after ", find: triesAfter("giving up after ", 0, "generic")},
		{sign: "exceeded maximum number of attempts, ", find: triesAfter("number of attempts, ", 0, "aws")},
		{sign: "All attempts fail:", find: retryGo},
		{sign: "etry attempt ", find: lastOf},
		{sign: "etrying attempt ", find: lastOf},
		{sign: ", attempt ", find: lastOf},
		{sign: " (attempt ", find: lastOf},
		{sign: "etrying (", find: lastOf},
	})
}

const maxAttempts = 1000 // a higher number is no count of attempts

func triesAfter(key string, more int, mode string) func(*logOut, []byte, int) (bool, error) {
	return func(o *logOut, text []byte, at int) (bool, error) {
		value := past(text[at:], key)
		n := plain(value)
		if n <= 0 || n > maxAttempts {
			return false, nil
		}
		after := bytes.TrimLeft(value, "0123456789")
		if mode == "generic" && !has(after[:min(len(after), 12)], " attempt", " tries", " retries", " times") {
			return false, nil
		}
		t := newTries(mode, int(n)+more)
		t.Service = peerOf(text)
		return o.tries(at, t)
	}
}

// retryGo counts the numbered errors of avast/retry-go.
func retryGo(o *logOut, text []byte, at int) (bool, error) {
	n := 0
	for _, line := range bytes.Split(text[at:], newline)[1:] {
		if !bytes.HasPrefix(line, []byte("#")) || plain(line[1:]) != int64(n+1) {
			break
		}
		n++
	}
	if n == 0 {
		return false, nil
	}
	t := newTries("retry-go", n)
	t.Service = peerOf(text)
	return o.tries(at, t)
}

// lastOf reads "attempt 3/3" or "attempt 3 of 3", where both are the same, and
// only where the line says that something outside had failed.
func lastOf(o *logOut, text []byte, at int) (bool, error) {
	from, to := lineOf(text, at)
	line := text[from:to]
	value := text[at:to]
	i := bytes.IndexAny(value, "0123456789")
	if i < 0 || i > 20 {
		return false, nil
	}
	n := plain(value[i:])
	tail := bytes.TrimLeft(value[i:], "0123456789")
	tail = bytes.TrimLeft(tail, " ")
	if !bytes.HasPrefix(tail, []byte("/")) && !bytes.HasPrefix(tail, []byte("of ")) {
		return false, nil
	}
	limit := plain(bytes.TrimLeft(tail, "/of "))
	if n < 2 || n != limit || n > 100 {
		return false, nil
	}
	lower := bytes.ToLower(line)
	if !has(lower, "timeout", "timed out", "fail", "error", "exception", "refused", "unavailable", "http") ||
		has(lower, "login", "password", "reconnect", "leader", "download", "migration") {
		return false, nil
	}
	t := newTries("generic", evidence.None)
	t.AtLeast = int(n)
	t.Service = peerOf(text)
	return o.tries(at, t)
}
