package correlate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// Points from which a certainty is earned. They are tuned on the scoreboard over
// all incidents with known answers, never for one.
const (
	pointsHigh    = 6
	pointsMedium  = 3
	pointsLow     = 2
	manyErrors    = 100  // errors that explain nothing, from which calm is doubtful
	floodOfErrors = 1000 // the same, from which calm in other things says nothing
	freshDeploy   = 10 * time.Minute
	orderSlack    = time.Minute // onsets closer than this say nothing about order
)

// conclude weighs all labels and makes the verdict.
func (q *inquiry) conclude() incident.Incident {
	all := q.triggers()
	amp, victim := q.amplifier(), q.starvation()
	trigger := q.pick(all)
	lone := victim // the full pool, where nothing else is seen
	if borrow := q.borrowing(); trigger == nil && borrow.points >= pointsLow && borrow.kinds > 0 {
		trigger, victim = borrow, q.starvedBorrowers()
	}

	in := incident.Incident{Window: q.signal.window()}
	switch {
	case q.e.outside():
		trigger, amp, victim = nil, &candidate{label: incident.RetryAmplification}, &candidate{label: incident.PoolStarvation}
		in.Label, in.Certainty = incident.Inconclusive, incident.Low
	case trigger != nil:
		in.Label = trigger.label
		in.Certainty = q.certainty(trigger, all)
		if trigger.label == incident.PoolStarvation && lone.points >= pointsMedium && in.Certainty == incident.Low {
			in.Certainty = incident.Medium // as a full pool alone would be
		}
	case amp.points >= pointsMedium:
		in.Label, in.Certainty = incident.RetryAmplification, incident.Medium
		if amp.points < 5 {
			in.Certainty = incident.Low
		}
	case victim.points >= pointsMedium || victim.kinds > 0:
		in.Label, in.Certainty = incident.PoolStarvation, incident.Medium
		if victim.points < pointsMedium {
			in.Certainty = incident.Low
		}
	default:
		in.Label, in.Certainty = q.noIncident()
	}
	briefs := q.chain(&in, trigger, amp, victim)
	in.ActFirst = q.actFirst(&in)
	in.Headline = q.headline(&in, briefs)
	in.Subject = q.scopeName()
	in.Notes = q.sentences(&in, trigger)
	in.Alternatives = q.alternatives(&in, append(append([]*candidate{}, all...), amp, victim))
	in.Missing = q.missing(&in)
	in.Walk, in.Actions = []incident.Answered{}, []incident.Action{}
	in.ID = q.id(&in)
	return in
}

// pick returns the trigger: what stops a whole process wins over what its
// threads then seem to wait for; among the rest the best supported.
func (q *inquiry) pick(all []*candidate) *candidate {
	var best *candidate
	for _, c := range all {
		if c.points < pointsLow {
			continue
		}
		switch c.label {
		case incident.Deadlock:
			if q.has(incident.LockDeadlock) {
				if q.deadlockMatters() {
					return c
				}
				continue
			}
		case incident.GCPause:
			if q.starvedCollector(all) {
				c.whyNot = lang.T("the collector is slow because the processors are: it takes little of the time, and threads are seen to run")
				continue
			}
			if c.points >= pointsMedium && (q.collectorStops() || !q.threadsTell()) {
				return c
			}
		case incident.DuplicateWrites:
			if best != nil || q.has(incident.PoolExhausted) {
				continue
			}
		}
		if c.points == pointsLow && c.kinds == 0 {
			continue
		}
		if best == nil || c.points > best.points {
			best = c
		}
	}
	return best
}

// collectorStops reports a collector that takes so much of the time that it
// explains whatever else is seen.
func (q *inquiry) collectorStops() bool {
	f := first(q.of(incident.GCPauses))
	return max(f.Values["gc.share"], f.Values["gc.worst_share"]) >= gcShareBad || f.Values["gc.full"] >= fewCalls || q.has(incident.HeapFull, incident.OutOfMemory)
}

// threadsTell reports whether most workers of a pool are seen, in more than one
// dump, to wait for one kind of thing: a pause or two do not keep them there.
func (q *inquiry) threadsTell() bool {
	for _, f := range q.findings {
		switch f.Kind {
		case incident.StackLock, incident.StackDBRead, incident.StackDBPool, incident.StackRPC, incident.StackHTTP, incident.StackRedis, incident.StackMQ, incident.StackLogging, incident.StackClassInit:
			if f.Values["dumps"] > 1 && f.Values["pool.max"] > 0 && f.Values["threads"] >= busyPool*f.Values["pool.max"] {
				return true
			}
		}
	}
	return false
}

// starvedCollector reports a collector that is slow because the processors are:
// it takes little of the time, its heap has room, and threads are seen to run.
func (q *inquiry) starvedCollector(all []*candidate) bool {
	f := first(q.of(incident.GCPauses))
	if max(f.Values["gc.share"], f.Values["gc.worst_share"]) >= gcShareBad || q.has(incident.HeapFull, incident.OutOfMemory) {
		return false
	}
	return slices.ContainsFunc(all, func(c *candidate) bool { return c.label == incident.CPUSaturation && c.points >= pointsMedium })
}

// deadlockMatters reports whether a deadlock explains what is seen: more threads
// wait for locks than for anything else, or nothing else is seen.
func (q *inquiry) deadlockMatters() bool {
	others := 0
	for _, f := range q.findings {
		if strings.HasPrefix(string(f.Kind), "stack.") && f.Kind != incident.StackIdle && f.Kind != incident.StackLock && f.Kind != incident.StackCondition {
			others = max(others, int(f.Values["threads"]))
		}
	}
	locked := q.threadsOfKind(incident.StackLock) + q.threadsOfKind(incident.StackCondition)
	for _, f := range q.of(incident.LockDeadlock, incident.LockConvoy) {
		locked = max(locked, int(f.Values["threads"]))
	}
	return locked >= others
}

// certainty turns points into a word.
func (q *inquiry) certainty(c *candidate, all []*candidate) incident.Certainty {
	level := 0
	switch {
	case c.points >= pointsHigh && c.kinds >= 2:
		level = 2
	case c.points >= pointsMedium:
		level = 1
	}
	if c.doubt != "" {
		level--
	}
	if level == 2 {
		for _, other := range all {
			if c.label == incident.Deadlock && other.label == incident.LockContention {
				continue // the queue behind a deadlock is part of it
			}
			if other != c && other.points >= pointsMedium && other.points+2 > c.points {
				level = 1 // another explanation is nearly as good
			}
		}
		if q.outOfOrder(c) {
			level = 1
		}
		if len(c.against) > 0 {
			level = 1
		}
	}
	return []incident.Certainty{incident.Low, incident.Medium, incident.High}[max(0, level)]
}

// outOfOrder reports a trigger whose own log began clearly after what it is
// said to have caused. What dumps and snapshots show has no onset: they were
// taken when somebody came to look.
func (q *inquiry) outOfOrder(c *candidate) bool {
	at := q.onset(c)
	effect := q.since(incident.PoolExhausted, incident.PoolRejected, incident.RetryExhausted, incident.CallTimeout)
	return !at.IsZero() && !effect.IsZero() && at.After(effect.Add(orderSlack)) && q.comparableClocks()
}

// onset is when a candidate's evidence began, if it has an onset.
func (q *inquiry) onset(c *candidate) time.Time {
	var s span
	for _, f := range q.findings {
		if slices.Contains(c.forIDs, f.ID) && !snapshotKind(f.Kind) && !victimKind(f.Kind) {
			s.add(f.First)
		}
	}
	return s.first
}

// snapshotKind reports findings from dumps and listings, whose time is that of
// the look, not of the onset.
func snapshotKind(k incident.Kind) bool {
	return strings.HasPrefix(string(k), "stack.") || strings.HasPrefix(string(k), "lock.") || k == incident.SQLRunning || k == incident.SQLScan || k == incident.PoolBusy || k == incident.PoolHot || k == incident.ConnHeldAcross || k == incident.SQLIdleTrx
}

func victimKind(k incident.Kind) bool {
	switch k {
	case incident.PoolExhausted, incident.PoolRejected, incident.CallTimeout, incident.RetryExhausted, incident.CallLate, incident.ConnExhausted:
		return true
	}
	return false
}

// comparableClocks reports whether times of different sources may be compared:
// all state their offsets, or none does, or those that do and those that do not
// show the same minutes. A zone taken wrongly would have put them hours apart.
func (q *inquiry) comparableClocks() bool { return sameClocks(q.e.zoned) || q.e.sameMinutes() }

// sameMinutes reports whether the sources with offsets and those without cover
// mostly the same time, which is too short to do so by chance.
func (e *Engine) sameMinutes() bool {
	stated, bare := e.zoneSpans()
	if stated.first.IsZero() || bare.first.IsZero() {
		return false
	}
	from, to := stated.first, stated.last
	if bare.first.After(from) {
		from = bare.first
	}
	if bare.last.Before(to) {
		to = bare.last
	}
	shorter := min(stated.seconds(), bare.seconds())
	return shorter > 0 && max(stated.seconds(), bare.seconds()) < (2*time.Hour).Seconds() && to.Sub(from).Seconds() >= shorter/2
}

// noIncident tells healthy from inconclusive.
func (q *inquiry) noIncident() (incident.Label, incident.Certainty) {
	trouble, calmKinds := 0, map[incident.Kind]bool{}
	unexplained := 0 // exceptions that no finding explains
	for _, f := range q.findings {
		switch f.Kind {
		case incident.StackIdle, incident.PoolIdle, incident.GCQuiet, incident.CPUFree, incident.SQLFast, incident.RetryNone, incident.PoolShutdown, incident.RouteWide, incident.ProbeFast:
			calmKinds[f.Kind] = true
		case incident.AppErrors:
			unexplained += f.Count
		case incident.Deployed, incident.RetrySucceeded, incident.DumpCut, incident.DumpPartial, incident.TimeDB, incident.TimeDownstream, incident.TimeOwn, incident.RetryBudget:
		case incident.SQLSlow, incident.SQLScan, incident.SQLLockWait, incident.SQLDeadlock:
			if f.Count >= fewCalls && !q.stray(f) {
				trouble++
			}
		default:
			if q.stray(f) {
				continue // an event or a few in a long quiet time
			}
			trouble++
		}
	}
	delete(calmKinds, incident.RouteWide)
	switch {
	case trouble > 0:
		return incident.Inconclusive, incident.Low
	case unexplained >= manyErrors && !q.steadyErrors && !q.callsSucceed() && (unexplained >= floodOfErrors || len(calmKinds) == 0):
		return incident.Inconclusive, incident.Low // nothing is known but that much of it failed
	case unexplained >= manyErrors && (len(calmKinds) > 0 || q.callsSucceed()):
		return incident.Healthy, incident.Low // quiet by what is understood, and much that is not
	case q.unsaid && len(calmKinds) > 0:
		return incident.Healthy, incident.Low // most calls were answered with something else than was asked for
	case len(calmKinds) >= 3:
		return incident.Healthy, incident.High
	case len(calmKinds) >= 1:
		return incident.Healthy, incident.Medium
	case (q.e.readLogs() || q.e.servedWell() || q.e.countedWell()) && !q.e.readInVain():
		return incident.Healthy, incident.Low
	}
	return incident.Inconclusive, incident.Low
}

// stray reports a finding that is a few events in a log of half an hour or more.
func (q *inquiry) stray(f incident.Finding) bool {
	s := sighting{count: f.Count, span: span{f.First, f.Last}}
	for _, c := range f.Citations {
		s.citeAt(cited{cite: c})
	}
	switch {
	case f.Count >= someCalls || failedMost(&f):
		return false
	case f.Count < fewCalls && q.e.span.seconds() >= quietGap.Seconds():
		return true
	case strings.HasPrefix(string(f.Kind), "sql."): // a slow log is silent where nothing is slow
		return q.e.covers() >= quietGap
	}
	return q.covered(&s) >= quietGap
}

// covers is the time from the first to the last line of all that was read.
func (e *Engine) covers() time.Duration {
	whole := e.span
	for _, s := range e.sources {
		whole.add(s.From)
		whole.add(s.To)
	}
	return whole.last.Sub(whole.first)
}

// chain links trigger, amplifier and victim, as far as each is supported and
// may be caused by the one before. It returns what each link is in a few words.
func (q *inquiry) chain(in *incident.Incident, trigger, amp, victim *candidate) (briefs []string) {
	in.Chain = []incident.Link{}
	if in.Label == incident.Healthy || in.Label == incident.Inconclusive {
		return nil
	}
	full := q.has(incident.PoolExhausted, incident.PoolRejected, incident.ConnExhausted, incident.StackDBPool, incident.PoolBusy, incident.ConnLimit)
	add := func(role incident.Role, c *candidate) {
		link := incident.Link{Role: role, Label: c.label, Subject: clip(c.subject, 240), Findings: c.forIDs}
		if at := q.onset(c); !at.IsZero() {
			link.Since = at
		} else if role != incident.Trigger {
			link.Since = c.since
		} else if c.label == incident.PoolStarvation {
			link.Since = q.since(incident.ConnExhausted, incident.ConnLeak)
		}
		if role == incident.Trigger && link.Since.IsZero() {
			link.Assumed = true
		}
		in.Chain = append(in.Chain, link)
		briefs = append(briefs, cmp.Or(c.brief, brief(c.subject)))
	}
	if trigger != nil && trigger.label == incident.DuplicateWrites {
		if amp = q.behind(amp); amp == nil {
			amp = &candidate{label: incident.RetryAmplification}
		}
	}
	last := incident.Label("")
	follows := func(l incident.Label) bool {
		return last == "" || slices.Contains(causes[last], l) || last == incident.PoolStarvation && l == last // workers wait for connections
	}
	if trigger != nil && trigger.label != incident.DuplicateWrites {
		add(incident.Trigger, trigger)
		last = trigger.label
	}
	if amp.points >= pointsMedium && follows(amp.label) {
		add(incident.Amplifier, amp)
		last = amp.label
	}
	if trigger != nil && trigger.label == incident.DuplicateWrites {
		add(incident.Victim, trigger)
		return briefs
	}
	if full && victim.points > 0 && follows(victim.label) {
		add(incident.Victim, victim)
	}
	for i := range len(in.Chain) - 1 {
		a, b := in.Chain[i].Since, in.Chain[i+1].Since
		if a.IsZero() || b.IsZero() || !q.comparableClocks() || a.After(b) {
			in.Chain[i].Assumed = true
		}
	}
	return briefs
}

// actFirst is what to deal with first: cutting the amplification usually comes
// before repairing the trigger.
func (q *inquiry) actFirst(in *incident.Incident) incident.Label {
	for _, l := range in.Chain {
		if l.Label == incident.RetryAmplification {
			return l.Label
		}
	}
	if in.Label == incident.Healthy || in.Label == incident.Inconclusive {
		return ""
	}
	return in.Label
}

// headline is the chain in one line that can be pasted into a channel.
func (q *inquiry) headline(in *incident.Incident, briefs []string) string {
	switch in.Label {
	case incident.Healthy:
		return lang.T("healthy: nothing in this evidence says that the fleet is burning")
	case incident.Inconclusive:
		if q.e.outside() {
			return lang.Sprintf("inconclusive: the window leaves out all records that have a time (%d)", q.e.excluded)
		}
		if f := q.worstTrouble(); f.ID != "" {
			return lang.Sprintf("inconclusive: %s", shorten(f.Text, 160))
		}
		if f := first(q.of(incident.AppErrors)); f.Count >= manyErrors && !q.steadyErrors {
			return lang.Sprintf("inconclusive: %s", shorten(f.Text, 160))
		}
		return lang.T("inconclusive: the evidence cannot tell; see what is missing")
	}
	var parts []string
	for i, l := range in.Chain {
		parts = append(parts, lang.Sprintf("%s (%s)", string(l.Label), briefs[i]))
	}
	return strings.Join(parts, " -> ")
}

func (q *inquiry) worstTrouble() incident.Finding {
	var best incident.Finding
	for _, f := range q.findings {
		if !calm[f.Kind] && (best.ID == "" || f.Count > best.Count) {
			best = f
		}
	}
	return best
}

// scopeName says which service or pool an incident is about.
func (q *inquiry) scopeName() string {
	switch {
	case q.edge != nil && q.edge.key.service != "":
		return shortService(q.edge.key.service)
	case q.account != nil && q.account.Service != "":
		return shortService(q.account.Service)
	case q.workers != nil:
		return q.workers.display()
	case q.route != nil:
		return shortService(q.route.service)
	case q.threads != nil:
		return q.threads.id.pool
	case q.conn != nil:
		return q.conn.display()
	}
	return ""
}

func (q *inquiry) id(in *incident.Incident) string {
	parts := []string{}
	if t := q.signal.first; !t.IsZero() {
		parts = append(parts, t.UTC().Format("2006-01-02T15-04Z"))
	}
	parts = append(parts, string(in.Label))
	if in.Subject != "" {
		parts = append(parts, slug(in.Subject))
	}
	return strings.Join(parts, "-")
}

func slug(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 40 {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

// sentences are what a person should know beside the chain.
func (q *inquiry) sentences(in *incident.Incident, trigger *candidate) []incident.Note {
	var notes []incident.Note
	add := func(text string, ids ...string) {
		said := slices.ContainsFunc(in.Chain, func(l incident.Link) bool { return l.Subject == clip(text, 240) }) // the chain does already
		if len(notes) < 8 && len(ids) > 0 && !said {
			notes = append(notes, incident.Note{Text: text, Findings: ids})
		}
	}
	for _, k := range []incident.Kind{incident.PoolSharedLoss, incident.PoolFrozen, incident.PoolSlow, incident.PoolTooSmall, incident.RetryLayers, incident.RetrySustained, incident.RetryHopeless, incident.RetryRejection, incident.RetryWrite, incident.RetrySameTarget, incident.CallSlowProvider, incident.ConnHeldAcross, incident.CallLate, incident.PoolHot, incident.DumpStale, incident.PoolBurst, incident.SQLIdleTrx} {
		for i, f := range q.of(k) {
			if i == 2 {
				break
			}
			add(f.Text, f.ID)
		}
	}
	for _, f := range q.of(incident.Deployed) {
		if gap := q.signal.first.Sub(f.Last); !f.Last.IsZero() && gap >= 0 && gap <= freshDeploy {
			add(lang.Sprintf("%s, shortly before the first sign of trouble", f.Text), f.ID)
			break
		}
	}
	if trigger != nil {
		if trigger.doubt != "" {
			add(lang.Sprintf("Doubt: %s", trigger.doubt), trigger.forIDs...)
		}
		if q.outOfOrder(trigger) {
			add(lang.T("The evidence of the trigger begins after its effects: it may itself be an effect"), trigger.forIDs...)
		}
	}
	return notes
}

// alternatives lists the other labels that were weighed, best supported first.
func (q *inquiry) alternatives(in *incident.Incident, all []*candidate) []incident.Alternative {
	list := []incident.Alternative{}
	inChain := map[incident.Label]bool{in.Label: true}
	for _, l := range in.Chain {
		inChain[l.Label] = true
	}
	slices.SortStableFunc(all, func(a, b *candidate) int { return cmp.Compare(b.points, a.points) })
	for _, c := range all {
		if inChain[c.label] || len(c.forIDs) == 0 && len(c.against) == 0 {
			continue
		}
		why := c.whyNot
		if why == "" {
			why = lang.T("less of the evidence supports it")
		}
		cert := incident.Low
		if c.points >= 5 {
			cert = incident.Medium
		}
		list = append(list, incident.Alternative{Label: c.label, Certainty: cert, For: orEmpty(c.forIDs), Against: orEmpty(c.against), WhyNot: why})
	}
	return list[:min(len(list), 6)]
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
