package correlate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// What makes an account of an edge worth a finding.
const (
	manyCalls     = 20   // fewer say nothing about a rate
	retryBudget   = 0.1  // retries per call that a fleet should stay under
	quietRetries  = 0.05 // below it an edge counts as not retried
	atCeiling     = 0.8  // share of retried calls that used all their attempts
	hopeless      = 0.05 // share of retried calls that a retry saved, below which retries do not help
	failedShare   = 0.05 // of the attempts, from which failures are told of
	layerFrom     = 1.2  // amplification from which a layer counts as one that retries
	slowerTimes   = 5    // a provider this many times slower than the others is the slow one
	skewShare     = 2.5  // times its fair share
	slowMethod    = 500 * time.Millisecond
	waitShare     = 0.6 // share of a method's time in one kind of wait
	sustainedFrom = 30 * time.Second

	regularGaps    = 0.7              // share of gaps of one length from which they are a timeout's
	longestTimeout = 30 * time.Second // a longer distance is hardly a timeout's
	mostAttempts   = 10
)

// accountFindings say what spans and access logs tell of calls, attempts and
// where the time went.
func (q *inquiry) accountFindings() {
	accounts := q.e.accounts()
	// Edges in trouble first: calm ones, however busy, must not crowd them out.
	for _, calm := range []bool{false, true} {
		left := mostTroubled
		if calm {
			left = mostCalm
		}
		for i := range accounts {
			x := &accounts[i]
			if left == 0 {
				break
			}
			if max(x.Calls, x.Attempts) < fewCalls || calmAccount(x) != calm {
				continue
			}
			before := len(q.findings)
			if x.Protocol == "db" || x.Protocol == "redis" {
				q.failedFinding(x) // statements have findings of their own
			} else {
				q.accountFinding(x)
			}
			if len(q.findings) > before {
				left--
			}
		}
	}
	q.layerFinding()
	q.budgetFinding()
	q.timeFindings()
	q.duplicateFindings()
	q.arrivalFindings()
	q.hopFindings()
	q.calleeFindings()
}

// How many edges are told of, in trouble and without.
const mostTroubled, mostCalm = 20, 8

// calmAccount reports an edge on which nothing failed and nothing was retried.
func calmAccount(x *ledger.Edge) bool {
	failed := int64(0)
	for o, n := range x.Outcomes {
		switch o {
		case evidence.Failed, evidence.Timeout, evidence.Rejected, evidence.Unreachable, evidence.NoProvider:
			failed += n
		}
	}
	return failed == 0 && x.Retried == 0 && x.Orphans == 0
}

func accountValues(x *ledger.Edge) map[string]float64 {
	v := map[string]float64{"calls": round(x.Calls, 1), "attempts": round(x.Attempts, 1)}
	if x.Amplification > 0 {
		v["amplification"] = round(x.Amplification, 2)
	}
	if x.Ceiling > 1 {
		v["ceiling"] = float64(x.Ceiling)
	}
	if x.Timeout > 0 {
		v["timeout_ms"] = float64(x.Timeout.Milliseconds())
	}
	if x.Orphaned > 0 {
		v["orphaned_s"] = round(x.Orphaned.Seconds(), 1)
	}
	return v
}

func accountNamesOf(x *ledger.Edge) map[string]string {
	service, method := serviceName(x.Service), methodName(x.Method)
	if service == "" {
		service = x.Callee
	}
	return map[string]string{"consumer": x.Caller, "service": service, "method": method, "edge": accountTitle(x), "protocol": x.Protocol}
}

// basisWords says what an account rests on.
func basisWords(x *ledger.Edge) string {
	words := lang.T("spans of all calls")
	switch {
	case x.Basis == ledger.FromAccess:
		words = lang.T("access logs")
	case x.OneSided == "provider":
		words = lang.T("spans of the provider alone")
	}
	switch {
	case x.ByEvidence[ledger.Inferred.String()] > 0:
		words += lang.T(", joined by inference")
	case x.Collapses():
		words += lang.T(", attempts inside the client's library not seen")
	case !x.Exact:
		words += lang.T(", some spans of it lost")
	}
	return words
}

func (q *inquiry) accountFinding(x *ledger.Edge) {
	title, names, values := accountTitle(x), accountNamesOf(x), accountValues(x)
	peak := amplifiedStretch(x)
	all := accountSighting(x, int64(x.Calls), x.First, x.Last)
	retried := accountSighting(x, x.Retried, peak.from, peak.to)
	amp, high := x.Amplification, peak.amplification()
	counted := x.OneSided != "provider" || amp > 1

	message := x.Protocol == "messaging"
	switch {
	case message:
		q.redelivered(x)
	case !counted || amp <= 0:
	case q.aside[title]:
		q.find(incident.RetryBudget, title, lang.Sprintf("%s: retries are %d %% of the calls (%s), a budget is commonly 10 %%", title, int(x.RetryShare*100), basisWords(x)), retried, values, names)
	case (amp >= amplifiedFrom || high >= amplifiedFrom) && x.Retried >= fewCalls:
		text := lang.Sprintf("%s: %s attempts for %s calls, amplification %.1fx (%s)", title, human(int64(x.Attempts)), human(int64(x.Calls)), amp, basisWords(x))
		if high >= amp*1.1 {
			text += lang.Sprintf(", %.1fx while it retried", high)
			values["peak.amplification"] = round(high, 2)
		}
		q.find(incident.RetryAmplified, title, text, retried, values, names)
		if q.account == nil {
			q.account = x
		}
		if x.Ceiling > 1 && x.AtCeiling >= atCeiling {
			q.find(incident.RetryCeiling, title, lang.Sprintf("%s: %d %% of the retried calls used all %d attempts", title, int(x.AtCeiling*100), x.Ceiling), retried, values, names)
		}
		if writes(names["method"]) {
			q.find(incident.RetryWrite, title, lang.Sprintf("%s writes, by its name, and is retried %s: without an idempotency key it may be executed more than once", title, times(int(x.Retries))), retried, nil, names)
		}
		if x.SameProvider >= 0.5 && len(x.Providers) > 1 {
			q.find(incident.RetrySameTarget, title, lang.Sprintf("%s: all attempts of %d %% of the retried calls went to one provider", title, int(x.SameProvider*100)), retried, nil, names)
		}
		if ended := x.Fates.AfterRetry + x.Fates.Exhausted; ended >= manyCalls && float64(x.Fates.AfterRetry) < hopeless*float64(ended) {
			q.find(incident.RetryHopeless, title, lang.Sprintf("%s: of %d retried calls a retry saved %d: retries do not help here", title, ended, x.Fates.AfterRetry), retried, map[string]float64{"calls.retried": float64(ended), "calls.saved": float64(x.Fates.AfterRetry)}, names)
		}
	case x.Retries > 0 && x.RetryShare >= retryBudget && x.Retried >= someCalls:
		q.find(incident.RetryBudget, title, lang.Sprintf("%s: retries are %d %% of the calls (%s), a budget is commonly 10 %%", title, int(x.RetryShare*100), basisWords(x)), retried, values, names)
	case float64(x.Ambiguous) >= quietRetries*x.Calls: // what failed and came again may have been retried, or be the next of a loop
	case x.Collapses(): // one span around all attempts: that none is seen says nothing
	case x.Calls >= manyCalls && amp < 1+quietRetries:
		q.find(incident.RetryNone, title, lang.Sprintf("%s: %s attempts for %s calls (%s), no retries to speak of", title, human(int64(x.Attempts)), human(int64(x.Calls)), basisWords(x)), all, values, names)
	}
	if n := x.Fates.Exhausted; message {
		// Deliveries were told of above.
	} else if n > 0 && x.Ceiling > 1 {
		q.find(incident.RetryExhausted, title, lang.Sprintf("%s: %s failed after all their attempts (%s)", title, plural(int(n), "call"), basisWords(x)), withCount(retried, n), values, names)
	} else if x.Fates.AfterRetry > 0 {
		q.find(incident.RetrySucceeded, title, lang.Sprintf("%s: %s succeeded only after a retry", title, plural(int(x.Fates.AfterRetry), "call")), withCount(retried, x.Fates.AfterRetry), nil, names)
	}
	if n := x.Outcomes[evidence.Timeout]; n > 0 {
		text := lang.Sprintf("%s: %s timed out", title, plural(int(n), "attempt"))
		if x.Timeout > 0 {
			text += lang.Sprintf(", most after %d ms", x.Timeout.Milliseconds())
		}
		q.find(incident.CallTimeout, title, lang.Sprintf("%s (%s)", text, basisWords(x)), failing(x, n), values, names)
	}
	q.failedFinding(x)
	if named := x.Method != "" || x.Service != "" || x.Callee != ""; named && x.Orphans > 0 && x.Orphaned >= time.Second {
		text := lang.Sprintf("%s: at %s the provider went on working after the caller had given up, for %s in all", title, plural(int(x.Orphans), "attempt"), seconds(x.Orphaned.Seconds()))
		if x.Server > 0 {
			text += lang.Sprintf(", %d %% of its time", int(100*x.Orphaned.Seconds()/x.Server.Seconds()))
		}
		q.find(incident.CallLate, title, lang.Sprintf("%s (orphaned work)", text), failing(x, x.Orphans), values, names)
	}
	q.providerFindings(x)
}

// redelivered says that a broker delivered messages more than once: attempts, but
// none that a caller made.
func (q *inquiry) redelivered(x *ledger.Edge) {
	if x.Retried == 0 || x.Amplification < 1+quietRetries {
		return
	}
	text := lang.Sprintf("%s: %s deliveries of %s messages, up to %d of one: the broker delivered again what was not acknowledged; no caller retried", accountTitle(x), human(int64(x.Attempts)), human(int64(x.Calls)), x.Ceiling)
	q.find(incident.MessageRedelivered, accountTitle(x), text, accountSighting(x, x.Retried, x.First, x.Last), accountValues(x), accountNamesOf(x))
}

// failedFinding says how many attempts were refused or failed.
func (q *inquiry) failedFinding(x *ledger.Edge) {
	title, names, values := accountTitle(x), accountNamesOf(x), accountValues(x)
	rejected, failed := x.Outcomes[evidence.Rejected], x.Outcomes[evidence.Failed]+x.Outcomes[evidence.Unreachable]
	if x.Protocol == "http" || x.Basis == ledger.FromAccess {
		failed, rejected = failed+rejected, 0 // 503 has many reasons, a full pool is one of them
	}
	late := x.Outcomes[evidence.Timeout]
	if x.Protocol == "db" || x.Protocol == "redis" {
		failed, late = failed+late, 0 // no finding of their own tells of statements that timed out
	}
	if rejected > 0 {
		q.find(incident.PoolRejected, title, lang.Sprintf("%s: %s refused by the provider (%s)", title, plural(int(rejected), "attempt"), basisWords(x)), failing(x, rejected), values, names)
	}
	// A proxy's breaker refuses calls before it sends anything: they are no attempts.
	what, of := lang.T("attempts"), 0.0 // as they were seen: attempts of sampled calls stand for more
	for _, n := range x.Outcomes {
		of += float64(n)
	}
	if x.ByAttempts[0] > 0 {
		what = lang.T("calls and attempts")
	}
	serves := x.Basis == ledger.FromAccess && x.OneSided == "provider" // any path that a server was ever asked for
	if tellsOfFailure(failed, of) && (failed >= someCalls || !serves) {
		text := lang.Sprintf("%s: %d of %s %s failed, %d %% (%s)", title, failed, human(int64(of)), what, int(100*float64(failed)/of), basisWords(x))
		if n := x.ByAttempts[0]; n > 0 {
			text += lang.Sprintf("; %s never sent", plural(int(wholeNumber(n)), "call"))
		}
		if late > 0 {
			text += lang.Sprintf(", besides %d that timed out", late)
		}
		values = maps.Clone(values)
		values["failed.share"] = round(float64(failed)/of, 2)
		q.find(incident.CallFailed, title, text, failing(x, failed), values, names)
	}
}

func withCount(s *sighting, n int64) *sighting {
	c := *s
	c.count = int(n)
	return &c
}

// failing is when an account's attempts failed.
func failing(x *ledger.Edge, n int64) *sighting {
	var sp span
	for _, w := range x.Windows {
		if w.Failures > 0 {
			sp.add(w.From)
			sp.add(w.From.Add(w.Width))
		}
	}
	if sp.first.IsZero() {
		return accountSighting(x, n, x.First, x.Last)
	}
	return accountSighting(x, n, sp.first, sp.last)
}

// providerFindings compare the providers of one edge: one that is slow, or one
// that gets more than its share and suffers from it.
func (q *inquiry) providerFindings(x *ledger.Edge) {
	if len(x.Providers) < 2 {
		return
	}
	var total, rest int64
	var slow, quick *ledger.Provider
	for i := range x.Providers {
		p := &x.Providers[i]
		total += p.Attempts
		if p.Attempts < someCalls {
			continue
		}
		if slow == nil || p.P50 > slow.P50 {
			slow = p
		}
		if quick == nil || p.P50 < quick.P50 {
			quick = p
		}
	}
	if total < manyCalls || slow == nil {
		return
	}
	names := accountNamesOf(x)
	if slow != quick && slow.P50 >= slowMethod && slow.P50 >= slowerTimes*max(quick.P50, time.Millisecond) && slow.P50 > quick.P95 {
		q.find(incident.CallSlowProvider, slow.Name, lang.Sprintf("%s: provider %s takes %s (median), %s takes %s: one provider is slow, not all", accountTitle(x), slow.Name, seconds(slow.P50.Seconds()), quick.Name, seconds(quick.P50.Seconds())),
			accountSighting(x, slow.Attempts, x.First, x.Last), map[string]float64{"provider.p50_ms": float64(slow.P50.Milliseconds())}, map[string]string{"provider": slow.Name, "service": names["service"], "method": names["method"]})
	}
	top := &x.Providers[0]
	rest = total - top.Attempts
	fair := float64(total) / float64(len(x.Providers))
	others := int64(0)
	for _, p := range x.Providers[1:] {
		others += p.Failures
	}
	// It suffers if it fails more than the others do, not if all fail alike.
	suffers := top.Failures*10 >= top.Attempts && top.Failures*rest >= 2*others*top.Attempts || q.poolInTrouble()
	if uneven := float64(top.Attempts) >= skewShare*fair || len(x.Providers) < 4 && top.Attempts >= 4*rest; uneven && suffers && total >= 3*manyCalls {
		q.find(incident.RouteSkew, accountTitle(x), lang.Sprintf("%s: provider %s gets %d of %d attempts, %d %%, though there are %d providers", accountTitle(x), top.Name, top.Attempts, total, top.Attempts*100/total, len(x.Providers)),
			accountSighting(x, top.Attempts, x.First, x.Last), map[string]float64{"tasks": float64(top.Attempts), "tasks.others": round(float64(rest)/float64(len(x.Providers)-1), 1)}, map[string]string{"service": names["service"], "method": names["method"]})
	}
}

// sustainedFinding says that retries went on when what began them was over: the
// statement, pause or lock that failed the calls was last seen well before, while
// the same evidence goes on.
func (q *inquiry) sustainedFinding() {
	x := q.account
	if x == nil || !q.comparableClocks() {
		return
	}
	peak := amplifiedStretch(x)
	var began incident.Finding
	for _, f := range q.of(incident.SQLSlow, incident.SQLLockWait, incident.GCPauses) {
		if !f.Last.IsZero() && !f.First.IsZero() && f.First.Before(peak.from.Add(sustainedFrom)) && f.Last.After(began.Last) {
			began = f
		}
	}
	if began.ID == "" || peak.to.Sub(began.Last) < sustainedFrom+maxTimeout(x) {
		return
	}
	text := lang.Sprintf("%s: retries go on for %s after the last sign of what began them (%s): they keep the load up by themselves", accountTitle(x), seconds(peak.to.Sub(began.Last).Seconds()), clip(began.Text, 80))
	s := accountSighting(x, x.Retried, began.Last, peak.to)
	for _, c := range began.Citations[:min(1, len(began.Citations))] {
		s.citeAt(cited{cite: c})
	}
	q.find(incident.RetrySustained, accountTitle(x), text, s, map[string]float64{"sustained_s": round(peak.to.Sub(began.Last).Seconds(), 1)}, accountNamesOf(x))
}

// maxTimeout is how long one call may go on after what slowed it has ended.
func maxTimeout(x *ledger.Edge) time.Duration {
	return max(0, x.Timeout) * time.Duration(max(1, x.Ceiling))
}

// trim prints a rate with at most three digits.
func trim(x float64) string { return fmt.Sprintf("%.4g", significant(x)) }

// timeFindings say where slow methods spend their time, along the critical path
// of their spans.
func (q *inquiry) timeFindings() {
	if q.e.book == nil {
		return
	}
	listed := 0
	for i := range q.e.book.Methods {
		m := &q.e.book.Methods[i]
		if m.Latency.Count < fewCalls || m.Latency.P95 < slowMethod || m.Total <= 0 || listed == 4 {
			continue
		}
		name := joinMethod(m.RPC, methodName(m.Method))
		if m.RPC == "" {
			name = strings.TrimSpace(m.Service + " " + m.Method)
		}
		names := map[string]string{"service": serviceName(m.RPC), "method": methodName(m.Method)}
		cites := methodCites(m)
		if len(cites) == 0 {
			continue
		}
		kinds := []struct {
			kind incident.Kind
			time time.Duration
			what string
		}{
			{incident.TimeDB, m.ByKind["db"], lang.T("in SQL")},
			{incident.TimeDownstream, m.ByKind["http"] + m.ByKind["rpc"] + m.ByKind["redis"] + m.ByKind["messaging"] + m.ByKind["other"], lang.T("waiting for calls of its own")},
			{incident.TimeOwn, m.Own, lang.T("in no call: its own code, a lock, a pause or a queue")},
		}
		for _, k := range kinds {
			share := k.time.Seconds() / m.Total.Seconds()
			if share < waitShare || k.kind == incident.TimeDownstream && q.seenBelow(m) {
				continue
			}
			text := lang.Sprintf("%s (p95 %s) spends %d %% of its time %s", name, seconds(m.Latency.P95.Seconds()), int(share*100), k.what)
			if w := longestWait(m, k.kind); w != nil {
				asked := strings.TrimSpace(w.Callee + " " + w.What)
				if k.kind == incident.TimeDB {
					asked = minNonBlank(w.Query, asked)
				}
				text = lang.Sprintf("%s: %s", text, clip(asked, 160))
				names["peer"] = w.Callee
				if w.Query != "" {
					names["query"] = clip(w.Query, 400)
				}
			}
			q.findCited(k.kind, name, text, int(m.Latency.Count), span{m.First, m.Last}, cites, map[string]float64{"time.share": round(share, 2), "method.p95_s": round(m.Latency.P95.Seconds(), 3)}, names)
			listed++
			break
		}
	}
}

// seenBelow reports whether the operation that a method mostly waits for is in
// the spans itself: then the wait is passed on, and told where it begins.
func (q *inquiry) seenBelow(m *ledger.Method) bool {
	w := longestWait(m, incident.TimeDownstream)
	if w == nil {
		return false
	}
	for i := range q.e.book.Methods {
		o := &q.e.book.Methods[i]
		if o == m {
			continue
		}
		if o.Service == w.Callee && o.Service != m.Service || o.Method != "" && strings.HasSuffix(w.What, o.Method) && (o.RPC == "" || strings.Contains(w.What, shortService(o.RPC))) {
			return true
		}
	}
	return false
}

// waitsInDatabase reports whether statements are slow because they wait for
// locks: then their time is not the statement's.
func (q *inquiry) waitsInDatabase() bool { return q.has(incident.SQLLockWait, incident.SQLMetaLock) }

func minNonBlank(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func longestWait(m *ledger.Method, kind incident.Kind) *ledger.Wait {
	for i := range m.Waits {
		w := &m.Waits[i]
		switch kind {
		case incident.TimeDB:
			if w.Kind == "db" {
				return w
			}
		case incident.TimeDownstream:
			if w.Kind != "db" {
				return w
			}
		}
	}
	return nil
}

// methodCites are traces of the slowest runs of a method.
func methodCites(m *ledger.Method) []evidence.Citation {
	var cites []evidence.Citation
	for _, x := range m.Examples {
		cites = citeUnion(keepCites, cites, []evidence.Citation{x.Cite})
	}
	return cites
}

// duplicateFindings say which writes ran more than once for one business key.
func (q *inquiry) duplicateFindings() {
	if q.e.book == nil {
		return
	}
	listed := 0
	g := q.callGraph()
	for _, d := range q.e.book.Duplicates {
		callee, _, _ := strings.Cut(d.Callee, ", ") // its replicas are named, too
		names := map[string]string{"service": minNonBlank(serviceName(d.Service), callee), "method": methodName(d.Method)}
		if !writes(names["method"]) || listed == 3 || !repeatedByRetry(&d) && !slices.ContainsFunc(q.of(incident.RetryAmplified, incident.RetryExhausted, incident.RetrySucceeded, incident.RetryWrite, incident.CallTimeout),
			func(f incident.Finding) bool { return leadsTo(g, f.Names, names) }) {
			continue
		}
		name := joinMethod(d.Service, methodName(d.Method))
		var cites []evidence.Citation
		cites = append(cites, d.Cites...)
		text := lang.Sprintf("%s was executed more than once for %s, up to %d times for one", name, plural(int(d.Keys), "business key"), d.Most)
		if d.Median > 0 {
			text += lang.Sprintf(", %s apart (median)", seconds(d.Median.Seconds()))
		}
		values := map[string]float64{"writes.duplicate": float64(d.Executions - d.Keys)}
		if repeatedByRetry(&d) {
			values["writes.retried"] = float64(d.Keys)
			if d.Overlaps > 0 {
				text += lang.Sprintf("; %s the next began while the one before still ran", times(int(d.Overlaps)))
			}
		}
		q.findCited(incident.DuplicateWrite, name, text, int(d.Executions-d.Keys), span{}, citeUnion(keepCites, cites), values, names)
		listed++
	}
}

// repeatedByRetry reports whether executions of one key follow each other as
// attempts do: while the one before still runs, or all at one short distance. A
// job that is due again every minute or a popular key do neither.
func repeatedByRetry(d *ledger.DuplicateWork) bool {
	again := d.Executions - d.Keys
	return d.Keys >= fewCalls && (d.Overlaps*2 >= again || d.Regular >= regularGaps && d.Median <= longestTimeout && d.Most <= mostAttempts)
}

// arrivalFindings compare what several providers of one kind received, by their
// own access logs.
func (q *inquiry) arrivalFindings() {
	if q.e.book == nil {
		return
	}
	kinds := map[string][]*ledger.Arrivals{}
	for i := range q.e.book.Arrivals {
		a := &q.e.book.Arrivals[i]
		key := baseName(a.Callee) + "\x00" + a.Method
		kinds[key] = append(kinds[key], a)
	}
	for _, key := range sortedKeys(kinds) {
		list := kinds[key]
		if len(list) < 2 {
			continue
		}
		slices.SortStableFunc(list, func(a, b *ledger.Arrivals) int { return cmp.Compare(b.Count, a.Count) })
		top, total := list[0], int64(0)
		for _, a := range list {
			total += a.Count
		}
		rest := total - top.Count
		uneven := float64(top.Count)*float64(len(list)) >= skewShare*float64(total) || len(list) < 4 && top.Count >= 4*rest
		others := int64(0)
		for _, a := range list[1:] {
			others += a.Failures
		}
		suffers := top.Failures*10 >= top.Count && top.Failures*rest >= 2*others*top.Count || q.poolInTrouble()
		if !uneven || total < 3*manyCalls || !suffers {
			continue
		}
		name := cmp.Or(top.Instance, top.Callee)
		s := &sighting{count: int(top.Count), span: span{top.First, top.Last}}
		s.citeAt(cited{top.First, top.Cite})
		q.find(incident.RouteSkew, name, lang.Sprintf("%s received %s of %s requests of %s, the other %d providers %s on average", name, human(top.Count), human(total), top.Method, len(list)-1, human(rest/int64(len(list)-1))), s,
			map[string]float64{"tasks": float64(top.Count), "tasks.others": round(float64(rest)/float64(len(list)-1), 1)}, map[string]string{"service": top.Callee, "method": top.Method})
		return
	}
}

// baseName is an instance's name without its number: product-1, product-2.
func baseName(s string) string { return strings.TrimRight(s, "0123456789-_.") }

// hopFindings compare what callers asked for with what arrived behind them.
func (q *inquiry) hopFindings() {
	if q.e.book == nil {
		return
	}
	for _, h := range q.e.book.Hops {
		title := h.Caller + " -> " + h.Callee + " " + h.Method
		if h.Calls < someCalls || h.Amplification < amplifiedFrom || !h.Joined || q.aside[title] {
			continue
		}
		s := &sighting{count: int(h.Arrivals - h.Calls), span: span{h.From, h.To}}
		s.citeAt(cited{cite: h.Cite})
		q.find(incident.RetryAmplified, title, lang.Sprintf("%s: %s requests arrived for %s that were asked for, amplification %.1fx (access logs of both ends, joined by request ID)", title, human(h.Arrivals), human(h.Calls), h.Amplification), s,
			map[string]float64{"calls": float64(h.Calls), "attempts": float64(h.Arrivals), "amplification": round(h.Amplification, 2)}, map[string]string{"consumer": h.Caller, "service": h.Callee, "method": h.Method, "edge": title})
	}
}
