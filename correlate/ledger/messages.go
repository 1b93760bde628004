package ledger

import (
	"cmp"
	"slices"
)

// messageKey is a message as one service takes it in.
type messageKey struct {
	service uint32
	op      uint32
	ident   uint64
}

// messageSum is how often a message was delivered. Brokers deliver in traces of
// their own, so it is kept for the whole input.
type messageSum struct {
	n      int
	class  class
	latest int64
	first  int64
	weight float64
	worst  example
}

// delivery notes the delivery of a message to a consumer.
func (j *joiner) delivery(i int32) {
	if !j.counting() {
		return
	}
	t, s := &j.tree, &j.tree.spans[i]
	for at, steps := t.par[i], 0; at >= 0 && int(at) < len(t.spans) && steps < maxClimb; at, steps = t.par[at], steps+1 {
		if a := &t.spans[at]; t.roles[at] == roleEntry && a.ident == s.ident {
			return // received and processed: one delivery
		}
	}
	k := messageKey{j.name(t.service(i)), s.op, s.ident}
	m := j.messages[k]
	if m == nil {
		if len(j.messages) >= j.cfg.MaxRequests {
			j.l.lose(LostRequests, 1)
			return
		}
		m = &messageSum{first: s.start}
		j.messages[k] = m
	}
	m.n++
	m.weight = max(m.weight, max(1, float64(s.weight)))
	if s.start < m.first {
		m.first = s.start
	}
	if s.start >= m.latest {
		m.latest, m.class = s.start, s.class
		m.worst = exampleOf(s, m.n, s.dur)
	}
	e := j.edge(edgeKey{0, k.service, s.op})
	e.attempt.Add(duration(s.dur))
	e.servers++
	e.server += duration(s.dur)
	e.outcomes[min(max(0, int(s.outcome)), len(e.outcomes)-1)]++
	if w := j.windows.sum(&e.windows, s.start); w != nil {
		w.attempts++
		w.timed++
		w.busy += duration(s.dur)
		if s.class != isOK && s.class != isUnknown {
			w.failures++
		}
	}
}

// redeliveries counts each message as one call of the broker, and its
// deliveries as that call's attempts.
func (j *joiner) redeliveries() {
	keys := make([]messageKey, 0, len(j.messages))
	for k := range j.messages {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b messageKey) int {
		return cmp.Or(cmp.Compare(a.service, b.service), cmp.Compare(a.op, b.op), cmp.Compare(a.ident, b.ident))
	})
	for _, k := range keys {
		m := j.messages[k]
		e := j.edge(edgeKey{0, k.service, k.op})
		e.calls += m.weight
		e.seenCalls++
		e.attempts += m.weight * float64(m.n)
		e.retries += m.weight * float64(m.n-1)
		e.by[min(m.n, maxBy)] += m.weight
		e.ceiling = max(e.ceiling, m.n)
		f := fateUnknown
		switch {
		case m.class == isOK && m.n == 1:
			f = fateAtOnce
		case m.class == isOK:
			f = fateAfterRetry
		case m.class != isUnknown && m.n > 1:
			f = fateExhausted
		case m.class != isUnknown:
			f = fateFailed
		}
		e.fates.add(f)
		ev := Single
		if m.n > 1 {
			ev = Structural
			e.retried++
		}
		e.evidence[ev]++
		e.joined.add(ev, false, m.weight)
		if w := j.windows.sum(&e.windows, m.first); w != nil {
			w.calls++
		}
		if m.first != 0 && (e.first == 0 || m.first < e.first) {
			e.first = m.first
		}
		e.last = max(e.last, m.latest)
		m.worst.attempts = m.n
		e.example(m.worst)
	}
}
