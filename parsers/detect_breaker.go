package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// Breakers, bulkheads and limiters. They protect; that they act is a symptom:
//
//	HystrixRuntimeException: StockClient#get(String) timed-out and no fallback available.
//	CallNotPermittedException: CircuitBreaker 'stock' is OPEN and does not permit further calls
//	2026-03-14T09:12:33.123+01:00[Europe/Berlin]: CircuitBreaker 'stock' changed state from CLOSED to OPEN
//	com.alibaba.csp.sentinel.slots.block.flow.FlowException
//	2026-03-14 09:12:33|1|GET:/order,FlowException,default,origin,17|3,0        sentinel-block.log
//
// A retry that has ended tells how many attempts it made; the lines in between
// are part of the same call and are left out.
func breakers() detector {
	return messages("breaker", "Hystrix, Resilience4j and Sentinel: open circuits, full bulkheads, limits, timeouts and retries that ended", []rule{
		{sign: "' changed state from ", find: r4jState},
		{sign: "does not permit further calls", find: r4jRefused},
		{sign: "' recorded a timeout exception.", find: r4jTimeLimiter},
		{sign: "' has exhausted all attempts (", find: r4jExhausted},
		{sign: "Number of retry attempts: '", find: r4jRetry},
		{sign: "' rejected a call.", find: r4jBulkhead},
		{sign: "' exceeded failure rate threshold", find: r4jThreshold},
		{sign: "' exceeded slow call rate threshold", find: r4jThreshold},
		{sign: "Hystrix circuit short-circuited and is OPEN", find: hystrix},
		{sign: "HystrixRuntimeException: ", find: hystrix},
		{sign: " short-circuited and ", find: hystrix},
		{sign: " could not be queued for execution and ", find: hystrix},
		{sign: " could not acquire a semaphore for execution and ", find: hystrix},
		{sign: " fallback execution rejected.", find: hystrix},
		{sign: "com.alibaba.csp.sentinel.slots.block.", find: sentinel},
		{sign: "SentinelBlockException: ", find: sentinel},
		{sign: ",FlowException,", find: sentinelBlock},
		{sign: ",DegradeException,", find: sentinelBlock},
		{sign: ",ParamFlowException,", find: sentinelBlock},
		{sign: ",SystemBlockException,", find: sentinelBlock},
		{sign: ",AuthorityException,", find: sentinelBlock},
	})
}

// quotedBefore returns what stands in the last pair of single quotes that ends
// at an offset: "CircuitBreaker 'stock" gives "stock".
func quotedBefore(text []byte, at int) string {
	head := before(text, at)
	head = bytes.TrimRight(head, "'")
	return snippet(head[bytes.LastIndexByte(head, '\'')+1:], maxText)
}

func r4jState(o *logOut, text []byte, at int) (bool, error) {
	states := rest(text, at+len("' changed state from "))
	if !bytes.Contains(states, []byte(" to ")) {
		return false, nil
	}
	return o.mark(at, evidence.Mark{
		Kind: evidence.MarkBreakerState, Subject: quotedBefore(text, at), Text: snippet(upTo(states, ".,;'\""), 60),
	})
}

func r4jRefused(o *logOut, text []byte, at int) (bool, error) {
	from, to := lineOf(text, at)
	line := text[from:to]
	m := evidence.Mark{Text: snippet(line, maxText)}
	switch {
	case has(line, "CircuitBreaker '"):
		m.Kind, m.Subject = evidence.MarkBreakerOpen, snippet(enclosed(line, "CircuitBreaker '", "'"), maxText)
		m.Text = snippet(enclosed(line, "' is ", " and "), 60)
	case has(line, "Bulkhead '"):
		m.Kind, m.Subject = evidence.MarkBulkheadFull, snippet(enclosed(line, "Bulkhead '", "'"), maxText)
	case has(line, "RateLimiter '"):
		m.Kind, m.Subject = evidence.MarkRateLimited, snippet(enclosed(line, "RateLimiter '", "'"), maxText)
	default:
		return false, nil
	}
	return o.mark(at, m)
}

func r4jTimeLimiter(o *logOut, text []byte, at int) (bool, error) {
	return o.mark(at, slow(quotedBefore(text, at), []byte("TimeLimiter timeout")))
}

func r4jExhausted(o *logOut, text []byte, at int) (bool, error) {
	n := countAfter(rest(text, at), "all attempts (")
	if n <= 0 {
		return false, nil
	}
	t := newTries("resilience4j", n)
	t.Service = quotedBefore(text, at)
	return o.tries(at, t)
}

// r4jRetry reads the event that ends a call. A failed one counts all its
// attempts, a successful one those that had failed before.
func r4jRetry(o *logOut, text []byte, at int) (bool, error) {
	n := countAfter(rest(text, at), "retry attempts: '")
	from, to := lineOf(text, at)
	line := text[from:to]
	if n <= 0 {
		return false, nil
	}
	t := newTries("resilience4j", n)
	switch {
	case has(line, "recorded a successful retry attempt"):
		t.Attempts, t.Succeeded, t.Outcome = n+1, true, evidence.OK
	case !has(line, "recorded a failed retry attempt"):
		return false, nil
	}
	t.Service = snippet(enclosed(line, "Retry '", "'"), maxText)
	return o.tries(at, t)
}

func r4jBulkhead(o *logOut, text []byte, at int) (bool, error) {
	return o.mark(at, evidence.Mark{Kind: evidence.MarkBulkheadFull, Subject: quotedBefore(text, at)})
}

func r4jThreshold(o *logOut, text []byte, at int) (bool, error) {
	return o.mark(at, evidence.Mark{
		Kind: evidence.MarkBreakerState, Subject: quotedBefore(text, at), Text: snippet(rest(text, at+2), maxText),
	})
}

// hystrix reads "<command key> <cause> and <fallback>". A command that merely
// failed says nothing of Hystrix's own.
func hystrix(o *logOut, text []byte, at int) (bool, error) {
	for _, c := range [...]struct{ words, kind string }{
		{" short-circuited and ", evidence.MarkBreakerOpen},
		{" could not be queued for execution and ", evidence.MarkBulkheadFull},
		{" could not acquire a semaphore for execution and ", evidence.MarkBulkheadFull},
		{" fallback execution rejected.", evidence.MarkBulkheadFull},
		{" timed-out and ", evidence.MarkDownstream},
		{"Hystrix circuit short-circuited and is OPEN", evidence.MarkBreakerOpen},
	} {
		i := bytes.Index(text, []byte(c.words))
		if i < 0 {
			continue
		}
		key := before(text, i)
		if j := bytes.LastIndex(key, []byte(": ")); j >= 0 {
			key = key[j+2:]
		}
		if !has(text, "Hystrix", "hystrix") {
			return false, nil
		}
		return o.mark(at, evidence.Mark{
			Kind: c.kind, Subject: snippet(key, maxText), Text: snippet(bytes.TrimSuffix([]byte(c.words), []byte(" and ")), 60),
		})
	}
	return false, nil
}

// sentinelKinds maps the last part of a block exception's name.
func sentinelKind(text []byte) string {
	switch {
	case bytes.HasPrefix(text, []byte("DegradeException")):
		return evidence.MarkBreakerOpen
	case has(text, "Exception"):
		return evidence.MarkRateLimited
	}
	return ""
}

func sentinel(o *logOut, text []byte, at int) (bool, error) {
	name := upTo(rest(text, at), ": ;,(")
	if bytes.HasPrefix(text[at:], []byte("SentinelBlockException: ")) {
		name = upTo(rest(text, at+len("SentinelBlockException: ")), ": ;,(")
	}
	// A frame's text ends in a method, an exception's does not.
	if bytes.HasPrefix(bytes.TrimLeft(before(text, at), " \t"), []byte("at ")) {
		return false, nil
	}
	name = name[bytes.LastIndexByte(name, '.')+1:]
	kind := sentinelKind(name)
	if kind == "" {
		return false, nil
	}
	return o.mark(at, evidence.Mark{Kind: kind, Subject: "sentinel", Text: snippet(name, maxText)})
}

// sentinelBlock reads a line of sentinel-block.log. The resource may hold
// commas, so it ends at the exception.
func sentinelBlock(o *logOut, text []byte, at int) (bool, error) {
	head := before(text, at)
	tail := rest(text, at+1)
	bar := bytes.LastIndexByte(tail, '|')
	open := bytes.IndexByte(head, '|')
	if bar < 0 || open < 0 {
		return false, nil
	}
	resource := head[open+1:]
	if i := bytes.IndexByte(resource, '|'); i >= 0 {
		resource = resource[i+1:]
	}
	blocked := plain(tail[bar+1:])
	if blocked < 0 || blocked > 1<<31 {
		return false, nil
	}
	name := upTo(tail, ",")
	return o.mark(at, evidence.Mark{
		Kind: sentinelKind(name), Subject: snippet(resource, maxText), Text: snippet(name, maxText), Count: int(blocked),
	})
}
