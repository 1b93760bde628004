package ledger

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// accessLog sums access-log lines up as they come; only what is needed to match
// lines of several logs is kept per line, and that is bounded.
type accessLog struct {
	l     *Ledger
	cfg   Config
	lines int64
	grid  grid

	servers, backends, instances, methods, sources *table[string]

	proxied  map[proxyKey]*accessSum
	arrivals map[arrivalKey]*accessSum
	hashes   hashes         // of the servers' names
	orders   hashes         // of the sources' names
	routes   map[uint32]int // masked paths of each server
	route    []byte
	source   string // asked for last, and the folder it lies in
	folder   string

	nearMethods  nearIDs
	nearProxied  nearSums[proxyKey]
	nearArrivals nearSums[arrivalKey]

	mixed   map[[2]uint32]*mixedLog // by server and source
	noted   *mixedLog               // counted last, and whose it is
	notedOf [2]uint32

	requests bag // by request ID
	repeats  bag // by client and target, where there is no request ID
	keys     bag // by business key
}

// proxyKey is what a proxy asked of a backend.
type proxyKey struct{ server, backend, method uint32 }

// arrivalKey is what one process was asked for.
type arrivalKey struct {
	server, instance, method uint32
	plain                    bool // the lines do not say what a proxy asked of others
}

// accessSum is the account of one edge as a log tells it.
type accessSum struct {
	edgeSum
	series
	protocol, service, method string
	consumer, counted         bool // the caller's own log; the log tells attempts
	repeats                   int64
	callers                   tally
	moreCallers               int64
	near                      [16]nearProvider // of providers
}

func newAccessLog(l *Ledger) *accessLog {
	names := func() *table[string] { return newTable("other", l.cfg.MaxNames) }
	return &accessLog{
		l: l, cfg: l.cfg, grid: grid{max: l.cfg.Windows},
		servers: names(), backends: names(), instances: names(), methods: names(), sources: names(),
		proxied: map[proxyKey]*accessSum{}, arrivals: map[arrivalKey]*accessSum{}, routes: map[uint32]int{}, mixed: map[[2]uint32]*mixedLog{},
		requests: bag{max: l.cfg.MaxRequests}, repeats: bag{max: l.cfg.MaxRequests}, keys: bag{max: l.cfg.MaxRequests},
	}
}

// AddAccess takes in one line of an access log. It copies what it keeps, and
// leaves alone records that are no such lines.
func (l *Ledger) AddAccess(r *evidence.Record) {
	if r.Access == nil || l.closed {
		return
	}
	l.access.add(r)
}

// By how much a server may exceed the routes that are reported, and all of them
// together the edges, until the lines are over and the largest are known. What
// is beyond that is folded as it comes: which routes these are depends on the
// order of the lines, so there is much room before it.
const (
	hardRoutes = 25
	hardEdges  = 10
)

func (a *accessLog) add(r *evidence.Record) {
	x := r.Access
	a.lines++
	name := r.Place.Service
	if name == "" {
		if a.source != r.Cite.Source || a.folder == "" {
			a.source = strings.Clone(r.Cite.Source)
			a.folder = path.Dir(a.source)
			if a.folder == "." { // no folder: the file's own name says whose it is
				a.folder = path.Base(a.source)
			}
		}
		name = a.folder
	}
	server := a.servers.id(name, strings.Clone)
	method := a.method(server, x)
	start := a.start(r)
	call := outcomeOf(x)
	ns := max(0, x.Duration.Nanoseconds())
	source := a.sources.id(r.Cite.Source, strings.Clone)
	ex := example{attempts: 1, dur: ns, source: source, line: int32(max(0, min(r.Cite.Line, 1<<31-1))), order: a.orders.of(a.sources, source)}

	counted := len(x.Upstreams) > 0 || x.Attempts >= 0
	listed := counted || x.Side == evidence.Consumer
	a.note(server, source, !listed, start)
	tries := -1
	if listed {
		e := a.proxy(proxyKey{server, a.backends.id(cmp.Or(x.Peer, x.Backend), strings.Clone), method}, x)
		tries = a.countCall(e, x, call, start, ex)
	}
	if x.Side != evidence.Consumer || counted {
		instance := a.instances.id(r.Place.Instance, strings.Clone)
		a.arrive(a.arrival(arrivalKey{server, instance, method, !listed}, x), x, call, start, ex)
	}
	a.remember(x, server, method, start, tries, call, ex)
}

// hashes are numbers of names that do not depend on the order of arrival.
type hashes []uint64

func (h *hashes) of(t *table[string], id uint32) uint64 {
	for len(*h) <= int(id) {
		*h = append(*h, hashText(6, t.keys[len(*h)]))
	}
	return (*h)[id]
}

// start is when the request began, in ns; 0 if unknown.
func (a *accessLog) start(r *evidence.Record) int64 {
	if s := r.Time.Unix(); s < firstSecond || s > lastSecond {
		a.l.lose(LostUndated, 1)
		return 0
	}
	ns := r.Time.UnixNano()
	if !r.Access.Started && r.Access.Duration > 0 {
		ns -= int64(r.Access.Duration)
	}
	return ns
}

// firstSecond and lastSecond are those of the years 1990 and 2200: what lies
// outside is a damaged time.
var (
	firstSecond = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	lastSecond  = time.Date(2201, 1, 1, 0, 0, 0, 0, time.UTC).Unix() - 1
)

// method numbers what was asked for: a masked path or an RPC method.
func (a *accessLog) method(server uint32, x *evidence.Access) uint32 {
	a.route = a.route[:0]
	if x.Service != "" || x.Method != "" {
		a.route = append(append(append(a.route, x.Service...), '.'), x.Method...)
	} else {
		a.route = append(append(a.route, x.Verb...), ' ')
		a.route = appendRoute(a.route, x.Path)
	}
	t := a.methods
	id, hash, ok := a.nearMethods.id(t, a.route)
	if ok {
		return id
	}
	if id, ok = t.ids[string(a.route)]; ok {
		a.nearMethods.put(hash, id)
		return id
	}
	if a.routes[server] >= hardRoutes*a.cfg.MaxRoutes {
		t.lost++
		return 1
	}
	a.routes[server]++
	return t.id(string(a.route), strings.Clone)
}

func (a *accessLog) sum(x *evidence.Access) *accessSum {
	e := &accessSum{protocol: "http", consumer: x.Side == evidence.Consumer}
	if x.Service != "" || x.Method != "" {
		e.protocol, e.service, e.method = "rpc", strings.Clone(x.Service), strings.Clone(x.Method)
		if x.Software == "dubbo" {
			e.protocol = "dubbo"
		}
	}
	a.grid.add(&e.series)
	return e
}

func (a *accessLog) proxy(k proxyKey, x *evidence.Access) *accessSum {
	near := &a.nearProxied[(k.server*31+k.backend*17+k.method)%uint32(len(a.nearProxied))]
	if near.sum == nil || near.key != k {
		e := a.proxied[k]
		if e == nil {
			return sumFor(a, a.proxied, k, proxyKey{1, 1, 1}, x)
		}
		near.key, near.sum = k, e
	}
	return near.sum
}

func (a *accessLog) arrival(k arrivalKey, x *evidence.Access) *accessSum {
	near := &a.nearArrivals[(k.server*31+k.instance*17+k.method)%uint32(len(a.nearArrivals))]
	if near.sum == nil || near.key != k {
		e := a.arrivals[k]
		if e == nil {
			return sumFor(a, a.arrivals, k, arrivalKey{server: 1, instance: 1, method: 1}, x)
		}
		near.key, near.sum = k, e
	}
	return near.sum
}

// sumFor is the sum under a key, or under the one that stands for all others
// once there are too many.
func sumFor[K comparable](a *accessLog, sums map[K]*accessSum, k, others K, x *evidence.Access) *accessSum {
	e := sums[k]
	if e != nil {
		return e
	}
	if len(sums) >= a.cfg.MaxEdges*hardEdges {
		a.l.lose(LostEdges, 1)
		if e = sums[others]; e != nil {
			return e
		}
		k = others
	}
	e = a.sum(x)
	sums[k] = e
	return e
}

// span widens the time of an edge's first and last call.
func (e *edgeSum) span(start, ns int64) {
	if start == 0 {
		return
	}
	if e.first == 0 || start < e.first {
		e.first = start
	}
	e.last = max(e.last, start+ns)
}

// write puts the edges of access logs into the book, and what follows from
// matching logs.
func (a *accessLog) write(b *Book) {
	b.Lines = a.lines
	if a.lines == 0 {
		return
	}
	plain := a.settleArrivals()
	a.countRepeats()
	var edges []Edge
	for k, e := range a.proxied {
		x := a.edgeBook(e, k.method)
		x.Caller, x.Callee, x.OneSided = a.servers.keys[k.server], a.backends.keys[k.backend], "consumer"
		edges = append(edges, x)
	}
	told := map[[2]uint32]int64{} // what a proxy's edges tell already, and of how many failures
	for k, e := range a.proxied {
		told[[2]uint32{k.server, k.method}] += e.failed()
	}
	arrived := mergeInstances(a, a.arrivals)
	for k, e := range mergeInstances(a, plain) {
		k.plain = false
		server := [2]uint32{k.server, k.method}
		if failed, ok := told[server]; ok && (a.besideLists(k.server) || e.failed() > 2*failed+manyUntold) {
			arrived[k] = e
			delete(told, server)
		}
	}
	for k, e := range arrived {
		if _, ok := told[[2]uint32{k.server, k.method}]; ok {
			continue
		}
		x := a.edgeBook(e, k.method)
		x.Callee, x.OneSided = a.servers.keys[k.server], "provider"
		edges = append(edges, x)
	}
	b.Edges = append(b.Edges, a.topRoutes(edges)...)
	a.writeArrivals(b)
	a.hops(b)
	a.duplicates(b)
	a.l.lose(LostNames, a.servers.lost+a.backends.lost+a.instances.lost+a.methods.lost+a.sources.lost)
	a.l.lose(LostRequests, a.requests.lost+a.repeats.lost+a.keys.lost)
}

func (a *accessLog) edgeBook(e *accessSum, method uint32) Edge {
	x := e.book(a.cfg.MaxProviders)
	x.Basis, x.Protocol, x.Service, x.Method = FromAccess, e.protocol, e.service, e.method
	if e.service == "" && e.method == "" {
		x.Method = a.methods.keys[method]
	}
	w, list := a.grid.windows(&e.series)
	x.Windows = w.book(list)
	x.Examples = examplesOf(e.examples, a.sources.keys)
	x.Repeats = e.repeats
	if !e.counted {
		// Only calls or only arrivals were told: nothing says how many there were
		// of the other.
		x.Amplification, x.RetryShare = evidence.None, evidence.None
		if e.calls > 0 {
			x.Attempts = evidence.None
		} else {
			x.Calls = evidence.None
		}
	}
	return x
}

// topRoutes keeps the largest edges of each server and folds the rest into one.
func (a *accessLog) topRoutes(edges []Edge) []Edge {
	slices.SortFunc(edges, func(x, y Edge) int {
		return cmp.Or(cmp.Compare(x.Caller, y.Caller), cmp.Compare(x.OneSided, y.OneSided), compareFolded(x.Method, y.Method), cmp.Compare(volume(&y), volume(&x)),
			cmp.Compare(x.Callee, y.Callee), cmp.Compare(x.Service, y.Service), cmp.Compare(x.Method, y.Method))
	})
	var out []Edge
	server, n := "", 0
	for i := range edges {
		x := &edges[i]
		if s := x.OneSided + cmp.Or(x.Caller, x.Callee); s != server {
			server, n = s, 0
		}
		switch n++; {
		case n <= a.cfg.MaxRoutes:
			out = append(out, *x)
		case n == a.cfg.MaxRoutes+1:
			out = append(out, Edge{
				Caller: x.Caller, Protocol: x.Protocol, Method: foldedRoutes, Basis: x.Basis, OneSided: x.OneSided, Calls: x.Calls, Attempts: x.Attempts,
				Retries: x.Retries, Amplification: evidence.None, RetryShare: evidence.None, AtCeiling: evidence.None, Slots: evidence.None,
				Inherited: evidence.None, Cumulative: evidence.None, Wasted: evidence.None, Timeout: evidence.None, SameProvider: evidence.None,
			})
			o := &out[len(out)-1]
			if x.Caller == "" {
				o.Callee = x.Callee
			}
			o.Outcomes, o.First, o.Last, o.Examples = maps.Clone(x.Outcomes), x.First, x.Last, x.Examples
		default:
			o := &out[len(out)-1]
			o.Calls, o.Attempts, o.Retries = plus(o.Calls, x.Calls), plus(o.Attempts, x.Attempts), o.Retries+x.Retries
			for k, n := range x.Outcomes {
				if o.Outcomes == nil {
					o.Outcomes = map[evidence.Outcome]int64{}
				}
				o.Outcomes[k] += n
			}
			if !x.First.IsZero() && (o.First.IsZero() || x.First.Before(o.First)) {
				o.First = x.First
			}
			if x.Last.After(o.Last) {
				o.Last = x.Last
			}
		}
	}
	return out
}

// compareFolded puts routes that were folded as they came behind the others.
func compareFolded(a, b string) int {
	switch {
	case (a == foldedRoutes) == (b == foldedRoutes):
		return 0
	case a == foldedRoutes:
		return 1
	}
	return -1
}

// foldedRoutes is the name of all routes beyond those that are told apart.
const foldedRoutes = "other"

// plus adds two numbers of which either may be unknown.
func plus(a, b float64) float64 {
	if a < 0 || b < 0 {
		return max(a, b)
	}
	return a + b
}

func volume(x *Edge) float64 { return max(x.Calls, x.Attempts) }
