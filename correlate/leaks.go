package correlate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// Leak warnings are kept by the member that was not given back, so that one
// that came back after all can be withdrawn: a pool warns of every borrower that
// takes long.

// memberSubject returns the subject under which a leak, or its end, is kept.
func memberSubject(m *evidence.Mark) string {
	if m.Kind != evidence.MarkLeak && m.Kind != evidence.MarkLeakReturned {
		return m.Subject
	}
	member, _, _ := strings.Cut(m.Text, " held by ")
	return m.Subject + "\x00" + member
}

// leaks lists what was never given back, by pool.
func (e *Engine) leaks() []*mark {
	type member struct{ place, name string }
	of := func(m *mark) member {
		_, name, _ := strings.Cut(m.key.subject, "\x00")
		return member{m.key.place, name}
	}
	returned := map[member]int{}
	for _, m := range e.marksOf(evidence.MarkLeakReturned) {
		returned[of(m)] += m.seen.count
	}
	pools := map[markKey]*mark{}
	for _, m := range e.marksOf(evidence.MarkLeak) {
		if k := of(m); k.name != "" && returned[k] > 0 {
			returned[k] -= m.seen.count
			if returned[k] >= 0 {
				continue
			}
		}
		k := m.key
		k.subject, _, _ = strings.Cut(k.subject, "\x00")
		p := pools[k]
		if p == nil {
			p = &mark{key: k}
			pools[k] = p
		}
		p.seen.merge(&m.seen)
		p.text = minNonEmpty(p.text, m.text)
	}
	var list []*mark
	for _, p := range pools {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *mark) int {
		return cmp.Or(cmp.Compare(b.seen.count, a.seen.count), cmp.Compare(a.key.subject, b.key.subject), cmp.Compare(a.key.place, b.key.place))
	})
	return list
}
