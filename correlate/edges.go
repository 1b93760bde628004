package correlate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// edgeKey is a consumer's calls of one provider method.
type edgeKey struct{ consumer, service, method string }

// edge is what logs tell of an edge. Logs tell of calls only at their end, and
// mostly of those that failed.
type edge struct {
	key       edgeKey
	exhausted sighting // calls that failed after all their attempts
	succeeded sighting // calls that succeeded after a retry
	once      sighting // calls seen with one attempt
	timeouts  sighting // attempts that timed out, outside a Tries record
	rejected  sighting // attempts refused, outside a Tries record
	limited   sighting // attempts refused by a limit (executes, actives, rate), outside a Tries record
	lastLimit sighting // the same as the last attempt of a call
	late      sighting // answers after the timeout
	failed    sighting // other failed attempts
	unreach   sighting
	retried   sighting // attempts 2 and later, of all calls

	calls, attempts int64 // of calls whose attempts are known
	by              map[int]int64
	last            map[evidence.Outcome]int // outcome of the last attempt of exhausted calls
	ceiling         int
	timeout         time.Duration
	providers       map[string]*sighting
	candidates      map[int]*sighting // Q of (P/Q)
	tried           map[int]*sighting // P of (P/Q)
	sameTarget      sighting          // all attempts went to one provider though there were several attempts
	modes           map[string]int
	providerSlow    sighting // the provider's own record of taking longer than the timeout
}

func (e *Engine) edge(k edgeKey) *edge {
	x := e.edges[k]
	if x == nil {
		if len(e.edges) >= maxKeys {
			e.lost++
			return nil
		}
		x = &edge{key: k, by: map[int]int64{}, last: map[evidence.Outcome]int{}, modes: map[string]int{}}
		e.edges[k] = x
	}
	return x
}

// consumerOf names the caller: its application if known, else where its log lies.
func consumerOf(r *evidence.Record) string {
	return cmp.Or(r.Place.Service, r.Place.Instance, folder(r.Cite.Source))
}

func (e *Engine) addTries(r *evidence.Record) {
	t := r.Tries
	if t.Service == "" && t.Method == "" && t.Mode == "" {
		return
	}
	x := e.edge(edgeKey{consumerOf(r), serviceName(t.Service), methodName(t.Method)})
	if x == nil {
		return
	}
	x.modes[t.Mode]++
	if t.Timeout > 0 {
		x.timeout = max(x.timeout, t.Timeout)
	}
	for _, p := range t.Providers {
		note(&x.providers, p, r, 1)
	}
	attempts := t.Attempts
	if attempts > 0 {
		x.calls++
		x.attempts += int64(attempts)
		x.by[attempts]++
		if attempts > 1 {
			x.retried.add(r, attempts-1)
		}
	}
	switch {
	case t.Succeeded:
		x.succeeded.add(r, 1)
	case attempts == 1 && t.Mode == "profiler":
		x.once.add(r, 1) // slow, but nothing says that it failed
	default:
		if attempts == 1 {
			x.once.add(r, 1)
		}
		x.exhausted.add(r, 1)
		x.last[t.Outcome]++
		x.ceiling = max(x.ceiling, attempts)
	}
	if t.Candidates >= 0 {
		note(&x.candidates, t.Candidates, r, 1)
	}
	if t.Failed >= 0 {
		note(&x.tried, t.Failed, r, 1)
	}
	if attempts > 1 && (t.Failed == 1 || len(t.Each) > 1 && sameAddr(t.Each)) {
		x.sameTarget.add(r, 1)
	}
	for _, a := range t.Each {
		note(&x.providers, a.Addr, r, 1)
	}
}

func sameAddr(each []evidence.Try) bool {
	for _, a := range each[1:] {
		if a.Addr != each[0].Addr {
			return false
		}
	}
	return true
}

func (e *Engine) addAttempt(r *evidence.Record) {
	a := r.Attempt
	n := max(1, a.Count)
	switch a.Side {
	case evidence.Probe:
		e.addProbe(r)
		return
	case evidence.Provider:
		x := e.edge(e.providerEdge(r, a))
		if x == nil {
			return
		}
		if a.Timeout > 0 && a.Duration > a.Timeout || a.Outcome == evidence.Late {
			x.providerSlow.add(r, n)
		}
		if a.Timeout > 0 {
			x.timeout = max(x.timeout, a.Timeout)
		}
		if a.Outcome == evidence.Rejected {
			x.refused(a).add(r, n)
		}
		return
	}
	x := e.edge(edgeKey{consumerOf(r), serviceName(a.Service), methodName(a.Method)})
	if x == nil {
		return
	}
	if a.Timeout > 0 {
		x.timeout = max(x.timeout, a.Timeout)
	}
	if a.PeerAddr != "" && a.Outcome != evidence.Late {
		if !a.LastOf {
			note(&x.providers, a.PeerAddr, r, n)
		}
	}
	if a.LastOf { // already counted with its call
		if a.Outcome == evidence.Rejected && limited(a) {
			x.lastLimit.add(r, n)
		}
		return
	}
	switch a.Outcome {
	case evidence.Timeout:
		x.timeouts.add(r, n)
	case evidence.Rejected:
		x.refused(a).add(r, n)
	case evidence.Late:
		x.late.add(r, n)
	case evidence.Unreachable:
		x.unreach.add(r, n)
	case evidence.Failed:
		x.failed.add(r, n)
	}
}

// limited reports whether a limit refused an attempt, not a full pool: Dubbo's
// executes and actives, dubbo-go's limiters.
func limited(a *evidence.Attempt) bool { return strings.HasSuffix(a.Error, " limit") }

// refused is where refusals of this kind are counted.
func (x *edge) refused(a *evidence.Attempt) *sighting {
	if limited(a) {
		return &x.limited
	}
	return &x.rejected
}

// providerEdge is the edge of an attempt seen at the provider: the consumer is
// the peer, if it is named.
func (e *Engine) providerEdge(r *evidence.Record, a *evidence.Attempt) edgeKey {
	return edgeKey{a.Peer.Service, serviceName(a.Service), methodName(a.Method)}
}

// serviceName drops group and version of a service key.
func serviceName(s string) string {
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		s = s[i+1:]
	}
	if i := strings.IndexByte(s, ':'); i > 0 {
		s = s[:i]
	}
	return s
}

// methodName drops a parameter list.
func methodName(s string) string {
	if i := strings.IndexByte(s, '('); i > 0 {
		return s[:i]
	}
	return s
}

func (x *edge) name() string {
	if n := joinMethod(x.key.service, x.key.method); n != "" {
		return n
	}
	for _, mode := range sortedKeys(x.modes) {
		if mode != "" {
			return mode + " calls"
		}
	}
	for _, addr := range sortedKeys(x.providers) {
		return "calls to " + addr
	}
	return "calls"
}

// title is "consumer -> Service.method".
func (x *edge) title() string {
	if x.key.consumer == "" {
		return x.name()
	}
	return x.key.consumer + " -> " + x.name()
}

func (x *edge) amplification() float64 {
	if x.calls == 0 {
		return 0
	}
	return float64(x.attempts) / float64(x.calls)
}

// trouble is how much went wrong on the edge.
func (x *edge) trouble() int {
	return x.exhausted.count + x.timeouts.count + x.rejected.count + x.limited.count + x.late.count + x.failed.count + x.unreach.count + x.succeeded.count + x.providerSlow.count
}

func (e *Engine) sortedEdges() []*edge {
	list := make([]*edge, 0, len(e.edges))
	for _, x := range e.edges {
		list = append(list, x)
	}
	sortEdges(list)
	return list
}

// sortEdges puts those with the most retries and trouble first.
func sortEdges(list []*edge) {
	slices.SortFunc(list, func(a, b *edge) int {
		return cmp.Or(cmp.Compare(b.attempts-b.calls, a.attempts-a.calls), cmp.Compare(b.trouble(), a.trouble()), cmp.Compare(a.key.service, b.key.service), cmp.Compare(a.key.method, b.key.method), cmp.Compare(a.key.consumer, b.key.consumer))
	})
}

// probe is a method that somebody invoked by hand on the provider.
type probe struct {
	service, method string
	seen            sighting
	slowest         time.Duration
	fastest         time.Duration
}

func (e *Engine) addProbe(r *evidence.Record) {
	a := r.Attempt
	if a.Duration < 0 {
		return
	}
	key := joinMethod(a.Service, methodName(a.Method))
	p := e.probes[key]
	if p == nil {
		if len(e.probes) >= maxKeys {
			e.lost++
			return
		}
		p = &probe{service: serviceName(a.Service), method: methodName(a.Method), fastest: a.Duration}
		e.probes[key] = p
	}
	p.seen.add(r, 1)
	p.slowest = max(p.slowest, a.Duration)
	p.fastest = min(p.fastest, a.Duration)
}

// policy is what was configured for a method.
type policy struct {
	service, method string
	timeout         time.Duration
	retries         int
	cluster         string
	application     string
	threads         int
	cite            cited
}

func (e *Engine) addPolicy(r *evidence.Record) {
	p := r.Policy
	key := serviceName(p.Service) + "." + methodName(p.Method)
	x := e.policy[key]
	if x == nil {
		if len(e.policy) >= maxKeys {
			e.lost++
			return
		}
		x = &policy{service: serviceName(p.Service), method: methodName(p.Method), timeout: evidence.None, retries: evidence.None, threads: evidence.None, cite: cited{r.Time, r.Cite}}
		e.policy[key] = x
	}
	x.timeout = max(x.timeout, p.Timeout)
	x.retries = max(x.retries, p.Retries)
	x.threads = max(x.threads, p.Threads)
	x.cluster = minNonEmpty(x.cluster, p.Cluster)
	x.application = minNonEmpty(x.application, p.Application)
	if c := (cited{r.Time, r.Cite}); c.compare(x.cite) < 0 {
		x.cite = c
	}
}
