package correlate

import (
	"fmt"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// How much is needed before failed calls count as an incident rather than as
// the noise that every fleet makes.
const (
	fewCalls      = 3  // fewer are isolated
	someCalls     = 10 // fewer, in a log of half an hour or more, are isolated too
	hiccupCalls   = 50 // fewer, if all at one moment of such a log, are a hiccup
	steadyPerMin  = 1  // below this rate over their whole span they are background
	amplifiedFrom = 1.5
)

// How short a burst must be, and how long its log must go on without another,
// for it to be over.
const (
	hiccupLasts = 10 * time.Second
	hiccupQuiet = 5 * time.Minute
)

// loud reports whether something was seen often enough, for its span and for
// the time that its logs cover, to matter.
func (q *inquiry) loud(s *sighting) bool {
	if s.count < fewCalls {
		return false
	}
	if s.span.first.IsZero() {
		return true
	}
	if (s.count < someCalls || q.hiccup(s)) && q.covered(s) >= quietGap {
		return false
	}
	return s.perMinute() >= steadyPerMin
}

// hiccup reports a few events at one moment, after which their log goes on.
func (q *inquiry) hiccup(s *sighting) bool {
	if s.count >= hiccupCalls || s.span.last.Sub(s.span.first) > hiccupLasts {
		return false
	}
	for _, src := range q.e.sources {
		for _, c := range s.cites {
			if c.cite.Source == src.Path && src.To.Sub(s.span.last) >= hiccupQuiet {
				return true
			}
		}
	}
	return false
}

// covered is the longest time that one of the logs in which something was seen
// covers.
func (q *inquiry) covered(s *sighting) time.Duration {
	var longest time.Duration
	for _, src := range q.e.sources {
		for _, c := range s.cites {
			if c.cite.Source == src.Path && !src.From.IsZero() {
				longest = max(longest, src.To.Sub(src.From))
			}
		}
	}
	return longest
}

func (q *inquiry) callFindings() {
	listed := 0
	for _, x := range q.spreadEdges() {
		if listed >= 30 {
			break
		}
		if x.trouble() == 0 {
			q.quietEdge(x)
			continue
		}
		listed++
		q.edgeFindings(x)
	}
	q.probeFindings()
}

// quietEdge notes an edge whose calls were seen and needed one attempt each.
func (q *inquiry) quietEdge(x *edge) {
	if x.once.count >= fewCalls && x.amplification() < 1.1 {
		q.find(incident.RetryNone, x.title(), lang.Sprintf("%s: %d slow calls seen with one attempt each, no retries", x.title(), x.once.count), &x.once, map[string]float64{"calls": float64(x.calls), "attempts": float64(x.attempts)}, edgeNames(x))
	}
}

func edgeNames(x *edge) map[string]string {
	return map[string]string{"consumer": x.key.consumer, "service": x.key.service, "method": x.key.method, "edge": x.title()}
}

func (q *inquiry) edgeFindings(x *edge) {
	names := edgeNames(x)
	title := x.title()
	values := map[string]float64{}
	if x.calls > 0 {
		values["calls"], values["attempts"] = float64(x.calls), float64(x.attempts)
		values["amplification"] = round(x.amplification(), 2)
	}
	if x.timeout > 0 {
		values["timeout_ms"] = float64(x.timeout.Milliseconds())
	}
	if x.ceiling > 0 {
		values["ceiling"] = float64(x.ceiling)
	}
	if n := x.exhausted.count; n > 0 && x.ceiling > 1 {
		text := lang.Sprintf("%s: %s failed after all %d attempts", title, plural(n, "call"), x.ceiling)
		if x.timeout > 0 {
			text += lang.Sprintf(", timeout %d ms each", x.timeout.Milliseconds())
		}
		text += lastErrors(x)
		q.find(incident.RetryExhausted, title, text, &x.exhausted, values, names)
	} else if n > 0 {
		q.find(incident.CallTimeout, title, lang.Sprintf("%s: %s failed at the first attempt%s", title, plural(n, "call"), lastErrors(x)), &x.exhausted, values, names)
	}
	if x.once.count >= fewCalls && x.amplification() < 1.1 {
		q.find(incident.RetryNone, title, lang.Sprintf("%s: %d calls seen with one attempt each, no retries", title, x.once.count), &x.once, values, names)
	}
	amp := x.amplification()
	if amp >= amplifiedFrom && !q.aside[title] && (q.loud(&x.exhausted) || q.loud(&x.retried) || q.poolInTrouble() && x.exhausted.count+x.retried.count > 0) {
		s := x.retriedCalls()
		basis := lang.T("of the calls that failed or were slow")
		q.find(incident.RetryAmplified, title, lang.Sprintf("%s: %d attempts for %s, amplification %.1fx (%s; calls that succeeded at once leave no line)", title, x.attempts, plural(int(x.calls), "call"), amp, basis), s, values, names)
		if x.ceiling > 1 && amp >= 0.9*float64(x.ceiling) {
			q.find(incident.RetryCeiling, title, lang.Sprintf("%s: amplification %.1fx is at its ceiling of %d: nearly every such call exhausts its retries", title, amp, x.ceiling), s, values, names)
		}
		if q.edge == nil {
			q.edge = x
		}
		if n := x.last[evidence.Rejected]; n > 0 {
			by := lang.T("a pool")
			if x.lastLimit.count*2 > n {
				by = lang.T("a limit")
			}
			q.find(incident.RetryRejection, title, lang.Sprintf("%s: retries are sent at once to %s that has just refused (%s of the last attempts)", title, by, times(n)), &x.exhausted, nil, names)
		}
		if writes(x.key.method) {
			q.find(incident.RetryWrite, title, lang.Sprintf("%s writes, by its name, and is retried %s: without an idempotency key it may be executed more than once", title, times(int(x.attempts-x.calls))), s, nil, names)
		}
		if x.sameTarget.count > 0 && x.sameTarget.count*2 > x.exhausted.count {
			if n := leastKey(x.candidates); n >= 3 && x.sameTarget.count >= fewCalls {
				q.find(incident.RouteSkew, title, lang.Sprintf("%s: of %d candidates one gets every attempt of %s", title, n, plural(x.sameTarget.count, "call")), &x.sameTarget, map[string]float64{"candidates.last": float64(n)}, map[string]string{"service": x.key.service, "method": x.key.method})
			}
			q.find(incident.RetrySameTarget, title, lang.Sprintf("%s: all attempts of %s went to one provider", title, plural(x.sameTarget.count, "call")), &x.sameTarget, nil, names)
		}
	}
	if n := x.succeeded.count; n > 0 {
		q.find(incident.RetrySucceeded, title, lang.Sprintf("%s: %s succeeded only after a retry", title, plural(n, "call")), &x.succeeded, nil, names)
	}
	if n := x.timeouts.count; n > 0 {
		text := lang.Sprintf("%s: %s timed out", title, plural(n, "attempt"))
		if x.timeout > 0 {
			text += lang.Sprintf(" after %d ms", x.timeout.Milliseconds())
		}
		q.find(incident.CallTimeout, title, text, &x.timeouts, values, names)
	}
	if n := x.rejected.count; n > 0 {
		q.find(incident.PoolRejected, title, lang.Sprintf("%s: %s refused by the provider's full pool", title, plural(n, "attempt")), &x.rejected, values, names)
	}
	if n := x.limited.count; n > 0 {
		q.find(incident.Limited, title, lang.Sprintf("%s: %s refused by a limit on calls at once, not by a full pool", title, plural(n, "attempt")), &x.limited, values, names)
	}
	if n := x.lastLimit.count; n > 0 {
		q.find(incident.Limited, title, lang.Sprintf("%s: the last attempt of %s was refused by a limit on calls at once, not by a full pool", title, plural(n, "call")), &x.lastLimit, values, names)
	}
	if n := x.late.count + x.providerSlow.count; n > 0 && x.key.service+x.key.method != "" {
		s := x.late
		s.buckets = nil
		s.merge(&x.providerSlow)
		q.find(incident.CallLate, title, lang.Sprintf("%s: %s finished after the caller had given up (orphaned work)", title, plural(n, "execution")), &s, values, names)
	}
	if n := x.failed.count; n >= someCalls {
		q.find(incident.CallFailed, title, lang.Sprintf("%s: %s failed with an error of the callee or of the connection", title, plural(n, "attempt")), &x.failed, nil, names)
	}
	if n := x.unreach.count; n > 0 {
		q.find(incident.CallUnreachable, title, lang.Sprintf("%s: %s met a refused or closed connection", title, plural(n, "attempt")), &x.unreach, nil, names)
	}
	if q.edge == nil && !q.aside[title] && !q.strange[title] && (q.loud(&x.exhausted) || q.loud(&x.timeouts) || q.loud(&x.rejected)) {
		q.edge = x
	}
}

// leastKey is the smallest key of a map, -1 of an empty one.
func leastKey[V any](m map[int]V) int {
	least := -1
	for k := range m {
		if least < 0 || k < least {
			least = k
		}
	}
	return least
}

// retriedCalls is when calls with more than one attempt were seen.
func (x *edge) retriedCalls() *sighting {
	if x.exhausted.count > 0 {
		return &x.exhausted
	}
	return &x.retried
}

func lastErrors(x *edge) string {
	var parts []string
	for _, o := range []evidence.Outcome{evidence.Timeout, evidence.Rejected, evidence.Unreachable, evidence.Failed, evidence.NoProvider} {
		if n := x.last[o]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", o, n))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return lang.Sprintf(" (last error: %s)", lang.Join(parts))
}

// writes guesses from a method's name that it changes something.
func writes(method string) bool {
	m := strings.ToLower(method)
	for _, verb := range []string{"create", "insert", "add", "save", "update", "modify", "delete", "remove", "deduct", "decrease", "increase", "pay", "place", "submit", "transfer", "refund", "cancel", "confirm", "lock", "unlock", "reserve", "send", "publish", "write", "set", "put", "post", "charge", "settle", "consume", "book", "order", "grant", "issue", "award", "redeem", "debit", "credit", "withdraw", "deposit", "freeze", "register", "record", "upsert", "merge"} {
		if strings.HasPrefix(m, verb) {
			rest := method[len(verb):]
			return rest == "" || rest[0] < 'a' || rest[0] > 'z' // "settle" is not "set"
		}
	}
	return false
}

// poolInTrouble reports whether a pool was found full or refusing.
func (q *inquiry) poolInTrouble() bool {
	return q.has(incident.PoolExhausted, incident.PoolRejected, incident.PoolBusy)
}

func (q *inquiry) probeFindings() {
	keys := sortedKeys(q.e.probes)
	for _, k := range keys {
		p := q.e.probes[k]
		if k == "" {
			k = lang.T("a method")
		}
		names := map[string]string{"service": p.service, "method": p.method}
		limit := time.Second
		for _, x := range q.e.edges {
			if x.timeout > 0 && methodsMatch(x.key.service, x.key.method, p.service, p.method) {
				limit = min(limit, x.timeout)
			}
		}
		switch {
		case p.slowest >= limit:
			q.find(incident.ProbeSlow, k, lang.Sprintf("%s invoked by hand on the provider takes %d ms, past network and pool", k, p.slowest.Milliseconds()), &p.seen, map[string]float64{"probe_ms": float64(p.slowest.Milliseconds())}, names)
		case p.slowest <= 100*time.Millisecond:
			q.find(incident.ProbeFast, k, lang.Sprintf("%s invoked by hand on the provider takes %d ms", k, p.slowest.Milliseconds()), &p.seen, map[string]float64{"probe_ms": float64(p.slowest.Milliseconds())}, names)
		}
	}
}

// methodsMatch compares methods whose services may be written short or long.
func methodsMatch(service1, method1, service2, method2 string) bool {
	if method1 == "" || methodName(method1) != methodName(method2) {
		return false
	}
	a, b := shortService(service1), shortService(service2)
	return a == "" || b == "" || a == b || strings.TrimSuffix(a, "Impl") == strings.TrimSuffix(b, "Impl")
}
