package correlate

import (
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/incident"
)

// Several edges may be retried at one time, and few of them have to do with what
// burns. Of which the chain tells is weighed by what they call and by how much
// they add to it: never by the factor alone, nor by how exactly it is known. A
// payment that was sent twice does not fill the pool of another service.

// muchMore is how many times as many retries another edge must have sent for a few
// to be nothing beside them.
const muchMore = 5

// multiplied is an edge of which findings tell.
type multiplied struct {
	title     string
	method    string
	caller    string
	callees   []string // names of what it calls: interface and application
	hosts     []string
	amplified bool
	extra     float64 // attempts beyond one a call
	joined    bool    // it calls what is in trouble, or is called by it
}

func (m *multiplied) few() bool { return m.extra < someCalls }

// bystanders are the titles of edges beside the incident: aside are those that are
// retried and not part of it, strange all of which something tells and that have
// nothing to do with what is in trouble, where others have.
func (q *inquiry) bystanders() (aside, strange map[string]bool) {
	list := q.toldOf()
	if len(list) == 0 {
		return nil, nil
	}
	t, g := q.troubled(), q.callGraph()
	behind := q.behindDuplicates(incident.RetryAmplified)
	var lead *multiplied
	joined := false
	for _, m := range list {
		m.joined = t.joins(g, m) || slices.ContainsFunc(behind, func(f incident.Finding) bool { return f.Subject == m.title })
		joined = joined || m.joined
		if m.amplified && (lead == nil || m.joined && !lead.joined || m.joined == lead.joined && m.extra > lead.extra) {
			lead = m
		}
	}
	aside, strange = map[string]bool{}, map[string]bool{}
	for _, m := range list {
		if m.joined || len(m.callees) == 0 {
			continue
		}
		strange[m.title] = joined
		switch {
		case !m.amplified:
		case lead.joined:
			aside[m.title] = true
		case m.few() && m.extra*muchMore < lead.extra && !m.near(g, lead):
			aside[m.title] = true
		case m.few() && len(t.methods) > 0:
			aside[m.title] = true // threads show what is in trouble, and it is not this
		}
	}
	return aside, strange
}

// toldOf lists the edges of which findings tell, one for each title, whatever
// tells of it.
func (q *inquiry) toldOf() []*multiplied {
	by := map[string]*multiplied{}
	for _, f := range q.findings {
		if f.Names["edge"] == "" || calm[f.Kind] {
			continue
		}
		m := by[f.Subject]
		if m == nil {
			m = &multiplied{title: f.Subject, method: f.Names["method"], caller: f.Names["consumer"]}
			by[f.Subject] = m
		}
		if f.Kind == incident.RetryAmplified {
			m.amplified = true
			m.extra = max(m.extra, f.Values["attempts"]-f.Values["calls"])
		}
		if s := f.Names["service"]; s != "" && !slices.Contains(m.callees, s) {
			m.callees = append(m.callees, s)
		}
	}
	if len(by) == 0 {
		return nil
	}
	for i := range q.e.accounts() {
		x := &q.e.accounts()[i]
		if m := by[accountTitle(x)]; m != nil {
			if x.Callee != "" && !slices.Contains(m.callees, x.Callee) {
				m.callees = append(m.callees, x.Callee)
			}
			for _, p := range x.Providers {
				m.hosts = append(m.hosts, hostOf(p.Name))
			}
		}
	}
	type pair struct{ consumer, service string }
	providers := map[pair][]string{}
	for k, x := range q.e.edges {
		for addr := range x.providers {
			providers[pair{k.consumer, k.service}] = append(providers[pair{k.consumer, k.service}], hostOf(addr))
		}
	}
	list := make([]*multiplied, 0, len(by))
	for _, title := range sortedKeys(by) {
		m := by[title]
		for _, s := range m.callees {
			m.hosts = append(m.hosts, providers[pair{m.caller, s}]...)
		}
		list = append(list, m)
	}
	return list
}

// near reports whether two edges are on one way of requests.
func (m *multiplied) near(g calls, o *multiplied) bool {
	for _, a := range m.callees {
		for _, b := range o.callees {
			if g.reaches(a, b) || g.reaches(b, a) {
				return true
			}
		}
	}
	return false
}

// troubled is what the findings show to be in trouble: by name, by the method that
// threads are in, by address.
type troubled struct {
	names   map[string]bool
	methods map[string]bool // "Class.method"
	hosts   map[string]bool
}

// troubled gathers that. Refusals that a caller was told of count only if they are
// some beside the most that there were.
func (q *inquiry) troubled() troubled {
	t := troubled{names: map[string]bool{}, methods: map[string]bool{}, hosts: map[string]bool{}}
	most := 0
	for _, f := range q.of(incident.PoolRejected, incident.PoolExhausted) {
		most = max(most, f.Count)
	}
	for _, f := range q.findings {
		own := false // its own evidence: its folder and process are its name
		switch f.Kind {
		case incident.PoolExhausted, incident.PoolBusy, incident.PoolHot, incident.ConnExhausted, incident.ConnHeldAcross, incident.LockConvoy, incident.LockDeadlock, incident.GCPauses, incident.HeapFull, incident.CPUBusy, incident.Throttled:
			own = true
		case incident.PoolRejected:
			if f.Count*muchMore < most {
				continue
			}
		case incident.ProbeSlow, incident.TimeDB, incident.TimeOwn, incident.TimeDownstream, incident.DuplicateWrite, incident.RouteNone, incident.RouteSkew, incident.RouteNarrow, incident.CallSlowProvider:
		default:
			if own = strings.HasPrefix(string(f.Kind), "stack.") && f.Kind != incident.StackIdle; !own {
				continue
			}
		}
		t.add(f, own)
	}
	for _, p := range q.e.pools {
		if p.rejections().count > 0 && p.rejections().count*muchMore >= most {
			t.host(p.owner)
		}
	}
	return t
}

func (t *troubled) add(f incident.Finding, own bool) {
	for _, n := range []string{"service", "class", "process"} {
		if s := plainName(lastPart(f.Names[n])); s != "" {
			t.names[s] = true
		}
	}
	if m := f.Names["method"]; m != "" && f.Names["class"] != "" {
		t.methods[joinMethod(f.Names["class"], m)] = true
	}
	t.host(f.Names["owner"])
	t.host(poolAddress(f.Names["pool"]))
	if own {
		for _, c := range f.Citations {
			if s := plainName(lastPart(folder(c.Source))); s != "" {
				t.names[s] = true
			}
		}
	}
}

func (t *troubled) host(addr string) {
	if h := hostOf(addr); h != "" {
		t.hosts[h] = true
	}
}

// joins reports whether an edge calls what is in trouble, itself or through
// others, or is a call that the troubled makes and waits for.
func (t *troubled) joins(g calls, m *multiplied) bool {
	if slices.ContainsFunc(m.hosts, func(h string) bool { return t.hosts[h] }) {
		return true
	}
	for name := range t.names {
		if m.caller != "" && alike(plainName(m.caller), name) || slices.ContainsFunc(m.callees, func(c string) bool { return g.reaches(c, name) }) {
			return true
		}
	}
	for full := range t.methods {
		class, method := splitFunc(full)
		if slices.ContainsFunc(m.callees, func(c string) bool { return methodsMatch(c, m.method, class, method) }) {
			return true
		}
	}
	return false
}

// lastPart is a path's last part.
func lastPart(path string) string {
	path = strings.Trim(path, "/!")
	return path[strings.LastIndexAny(path, "/!")+1:]
}

// hostOf is an address without its port.
func hostOf(addr string) string {
	if h, port, ok := cutLast(addr, ':'); ok && allDigits(port) {
		return h
	}
	return addr
}

// logsTellMore reports whether the retries that spans and access logs tell of are
// few beside those of another edge that logs tell of.
func (q *inquiry) logsTellMore() bool {
	x, y := q.account, q.edge
	if x == nil || y == nil || y.amplification() < amplifiedFrom || x.Attempts-x.Calls >= someCalls {
		return false
	}
	return (x.Attempts-x.Calls)*muchMore < float64(y.attempts-y.calls) && !methodsMatch(x.Service, x.Method, y.key.service, y.key.method)
}

// amplifiedIDs are the findings of edges that are amplified, that which the chain
// names first.
func (q *inquiry) amplifiedIDs() []string {
	lead := ""
	switch {
	case q.account != nil:
		lead = accountTitle(q.account)
	case q.edge != nil:
		lead = q.edge.title()
	}
	fs := q.of(incident.RetryAmplified)
	if i := slices.IndexFunc(fs, func(f incident.Finding) bool { return f.Subject == lead }); i > 0 {
		f := fs[i]
		fs = slices.Insert(slices.Delete(fs, i, i+1), 0, f)
	}
	return idsOf(fs)
}
