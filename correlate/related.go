package correlate

import (
	"strings"

	"github.com/firebreak-io/firebreak/incident"
)

// What was retried and what ran twice belong together only if the one calls the
// other. Two services of one evidence may each have their own trouble.

// calls is who calls whom, by the names that the evidence has for both: services
// and interfaces, in lower case and without what makes an interface of a service.
type calls map[string][]string

// plainName is what an application and its interface have in common:
// "com.acme.shop.OrderService", "shop-order" and "order-2" are about orders.
func plainName(s string) string {
	s = strings.ToLower(baseName(shortService(s)))
	for _, end := range []string{"impl", "service", "svc", "facade", "provider", "api"} {
		s = strings.TrimRight(strings.TrimSuffix(s, end), "-_.")
	}
	return s
}

// callGraph is built from all edges, whatever tells of them.
func (q *inquiry) callGraph() calls {
	g := calls{}
	link := func(from, to string) {
		if from, to = plainName(from), plainName(to); from != "" && to != "" && from != to {
			g[from] = append(g[from], to)
		}
	}
	for i := range q.e.accounts() {
		x := &q.e.accounts()[i]
		for _, callee := range []string{x.Service, x.Callee} {
			link(x.Caller, callee)
		}
		link(x.Service, x.Callee)
		link(x.Callee, x.Service)
	}
	for k := range q.e.edges {
		link(k.consumer, k.service)
	}
	return g
}

// alike reports whether two plain names mean one service: "order" and "shop-order".
func alike(a, b string) bool {
	const tellsEnough = 4
	return a == b || len(a) >= tellsEnough && strings.HasSuffix(b, a) || len(b) >= tellsEnough && strings.HasSuffix(a, b)
}

// reaches reports whether a service calls another, itself or through others.
func (g calls) reaches(from, to string) bool {
	seen := map[string]bool{}
	next := []string{plainName(from)}
	to = plainName(to)
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		if alike(at, to) {
			return true
		}
		for name, callees := range g {
			if seen[name] || !alike(name, at) {
				continue
			}
			seen[name] = true
			next = append(next, callees...)
		}
	}
	return false
}

// leadsTo reports whether retries that one finding tells of may have caused the
// executions that another tells of: they are of the same method, or of one above
// it. What names no service may be anybody's.
func leadsTo(g calls, retries, executions map[string]string) bool {
	from, to := retries["service"], executions["service"]
	if from == "" || to == "" {
		return true
	}
	return methodsMatch(from, retries["method"], to, executions["method"]) || g.reaches(from, to)
}

// behindDuplicates are the findings of the given kinds that tell of calls which
// may have caused writes to run twice.
func (q *inquiry) behindDuplicates(kinds ...incident.Kind) []incident.Finding {
	twice := q.of(incident.DuplicateWrite)
	g := q.callGraph()
	var list []incident.Finding
	for _, f := range q.of(kinds...) {
		for _, d := range twice {
			if leadsTo(g, f.Names, d.Names) {
				list = append(list, f)
				break
			}
		}
	}
	return list
}

func idsOf(fs []incident.Finding) []string {
	var ids []string
	for _, f := range fs[:min(len(fs), 6)] {
		ids = append(ids, f.ID)
	}
	return ids
}

// behind is the amplifier of writes that ran twice: of several edges that are
// retried, the one that leads to them; nil if none does.
func (q *inquiry) behind(amp *candidate) *candidate {
	fs := q.behindDuplicates(incident.RetryAmplified)
	if len(fs) == 0 {
		return nil
	}
	names := map[string]string{}
	switch {
	case q.account != nil:
		names = accountNamesOf(q.account)
	case q.edge != nil:
		names = edgeNames(q.edge)
	}
	for _, f := range fs {
		if len(names) == 0 || f.Names["service"] == names["service"] && f.Names["method"] == names["method"] {
			return amp
		}
	}
	f := fs[0]
	amp.subject, amp.brief, amp.since, amp.forIDs = f.Text, f.Subject, f.First, []string{f.ID}
	return amp
}
