package correlate

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// Two services that burn for reasons of their own, or one that burned twice, are
// two incidents. To tell them apart the engine keeps what it was told (but for
// threads, which it keeps as groups), cuts it into scopes by time and by who
// calls whom, and concludes for each scope as if it were all there is. Only if
// more than one scope is an incident of its own does the report say so;
// otherwise the evidence is one.

const (
	maxKept    = 60_000           // records kept to be told apart; past it there is one scope
	quietGap   = 30 * time.Minute // of silence between two incidents
	maxEras    = 100              // parts told apart; more are no incidents but a habit, and one scope
	enoughSelf = fewCalls         // signs of trouble a scope needs to stand alone
)

// keep remembers a record for scoping, and reports whether it did.
func (e *Engine) keep(r *evidence.Record) bool {
	if e.nested || r.Stack != nil || r.Dump != nil || r.Span != nil || r.Access != nil || len(e.kept) > maxKept {
		return false
	}
	raw := r.Raw
	r.Raw = nil
	e.kept = append(e.kept, r.Clone())
	r.Raw = raw
	return true
}

// trouble reports whether a record is a sign of trouble by itself.
func trouble(r *evidence.Record) bool {
	switch {
	case r.Pool != nil:
		return (r.Pool.Rejected || r.Pool.Unreachable) && !r.Pool.Shutdown
	case r.Tries != nil:
		return !r.Tries.Succeeded && r.Tries.Attempts != 1
	case r.Attempt != nil:
		switch r.Attempt.Outcome {
		case evidence.Timeout, evidence.Rejected, evidence.Late, evidence.Unreachable:
			return !r.Attempt.LastOf
		}
	case r.Route != nil:
		return r.Route.Empty
	case r.SQL != nil:
		return r.SQL.Origin == evidence.SlowLog && r.SQL.Duration >= time.Second || r.SQL.Origin == evidence.LockWait || r.SQL.Origin == evidence.Deadlock
	case r.Mark != nil:
		switch r.Mark.Kind {
		case evidence.MarkGCFull, evidence.MarkOOM, evidence.MarkDownstream, evidence.MarkTooManyConns, evidence.MarkLockTimeout, evidence.MarkDBDeadlock, evidence.MarkDuplicateKey, evidence.MarkBreakerOpen:
			return true
		case evidence.MarkGCPause:
			return r.Mark.Value >= gcShortest
		}
	}
	return false
}

// eras splits the time of the evidence where it was quiet for long, and returns
// the start of each part but the first. Parts without enough trouble of their
// own are not parts.
func (e *Engine) eras() []time.Time {
	if !sameClocks(e.zoned) {
		return nil
	}
	var at []time.Time
	for _, r := range e.kept {
		if !r.Time.IsZero() && trouble(r) {
			at = append(at, r.Time)
		}
	}
	slices.SortFunc(at, time.Time.Compare)
	var starts []time.Time
	begin := 0
	for i := 1; i <= len(at); i++ {
		if i < len(at) && at[i].Sub(at[i-1]) < quietGap {
			continue
		}
		if i-begin >= enoughSelf {
			starts = append(starts, at[begin])
		}
		begin = i
	}
	if len(starts) < 2 || len(starts) > maxEras {
		return nil
	}
	// A part reaches back over half the silence before it.
	for i, s := range starts {
		if i == 0 {
			continue
		}
		before := s
		for _, t := range at {
			if t.Before(s) {
				before = t
			}
		}
		starts[i] = before.Add(s.Sub(before) / 2)
	}
	return starts[1:]
}

// eraOf returns the part that a time lies in; -1 for no time.
func eraOf(t time.Time, starts []time.Time) int {
	if t.IsZero() {
		return -1
	}
	n := 0
	for _, s := range starts {
		if !t.Before(s) {
			n++
		}
	}
	return n
}

// islands joins names that belong together: addresses, services, applications.
type islands struct{ parent map[string]string }

func (s *islands) root(k string) string {
	p, ok := s.parent[k]
	if !ok {
		s.parent[k] = k
		return k
	}
	if p == k {
		return k
	}
	r := s.root(p)
	s.parent[k] = r
	return r
}

func (s *islands) join(keys []string) {
	for _, k := range keys[min(1, len(keys)):] {
		a, b := s.root(keys[0]), s.root(k)
		if a != b {
			s.parent[max(a, b)] = min(a, b)
		}
	}
}

// names lists what a record says about whose trouble it is. Callers are not
// among them: one caller may suffer from two services.
func names(r *evidence.Record) []string {
	var keys []string
	add := func(kind, v string) {
		if v != "" {
			keys = append(keys, kind+v)
		}
	}
	switch {
	case r.Pool != nil:
		p := r.Pool
		add("addr:", cmp.Or(p.Owner, poolAddress(p.Name)))
		if !p.Relayed {
			keys = append(keys, homes(r.Place.Service, r.Cite.Source)...)
		}
	case r.Tries != nil:
		add("svc:", serviceName(r.Tries.Service))
		for _, a := range r.Tries.Providers {
			add("addr:", a)
		}
	case r.Attempt != nil:
		add("svc:", serviceName(r.Attempt.Service))
		add("addr:", r.Attempt.PeerAddr)
		if r.Attempt.Side == evidence.Provider {
			keys = keys[:0]
			add("svc:", serviceName(r.Attempt.Service))
			add("app:", r.Place.Service)
		}
	case r.Route != nil:
		add("svc:", serviceName(r.Route.Service))
	case r.Mark != nil:
		keys = append(keys, homes(r.Place.Service, r.Cite.Source)...)
	}
	return keys
}

// homes are the names of the process that a source is about: its application,
// and the folder that its logs and dumps share.
func homes(service, source string) []string {
	var keys []string
	if service != "" {
		keys = append(keys, "app:"+service)
	}
	if f := folder(source); f != "" {
		keys = append(keys, "app:"+f)
	}
	return keys
}

// caller is the application that made the calls a record is about.
func caller(r *evidence.Record) string {
	if r.Tries != nil || r.Attempt != nil && r.Attempt.Side != evidence.Provider && r.Attempt.Side != evidence.Probe || r.Route != nil {
		return cmp.Or(r.Place.Service, folder(r.Cite.Source))
	}
	return ""
}

// scopes cuts the evidence into parts that may be incidents of their own. Each
// is an engine that has been told only its part.
func (e *Engine) scopes() []*Engine {
	if len(e.kept) > maxKept {
		return nil
	}
	starts := e.eras()
	isl := &islands{parent: map[string]string{}}
	own := map[string]bool{} // applications seen to have pools or dumps of their own
	for _, r := range e.kept {
		keys := names(r)
		isl.join(keys)
		if r.Pool != nil && !r.Pool.Relayed {
			for _, home := range homes(r.Place.Service, r.Cite.Source) {
				own[home] = true
			}
		}
	}
	dumpKeys := map[string][]string{}
	for id, p := range e.shapes.pools {
		if !requestPool(id.pool) {
			continue
		}
		for k := range p.counts {
			keys := homes(e.dumps[k].service, e.dumps[k].source)
			for _, home := range keys {
				own[home] = true
			}
			if a := poolAddress(id.pool); a != "" {
				keys = append(keys, "addr:"+a)
			}
			if len(keys) > 0 {
				isl.join(keys)
				dumpKeys[k] = keys
			}
		}
	}
	e.joinAccounts(isl)
	e.callees(dumpKeys, isl.join)
	// Whoever calls and itself burns passes the trouble on: one incident.
	for _, r := range e.kept {
		if c := caller(r); c != "" && own["app:"+c] {
			if keys := names(r); len(keys) > 0 {
				isl.join([]string{"app:" + c, keys[0]})
			}
		}
	}

	type part struct {
		era  int
		root string
	}
	count := map[part]int{}
	for _, r := range e.kept {
		if keys := names(r); len(keys) > 0 && trouble(r) {
			count[part{max(0, eraOf(r.Time, starts)), isl.root(keys[0])}]++
		}
	}
	for k, keys := range dumpKeys { // a dump full of busy workers is trouble enough
		for id, p := range e.shapes.pools {
			if c := p.counts[k]; c != nil && requestPool(id.pool) && c.busy() >= frozenInPool && float64(c.busy()) >= nearlyFull*float64(c.total) {
				count[part{max(0, eraOf(e.dumps[k].at, starts)), isl.root(keys[0])}] += enoughSelf
			}
		}
	}
	var parts []part
	for p, n := range count {
		if n >= enoughSelf {
			parts = append(parts, p)
		}
	}
	// Calls that failed are the other end's trouble: beside a part that shows a
	// provider's own evidence they are not an incident apart, whoever they name.
	provider := map[part]bool{}
	for _, r := range e.kept {
		if r.Pool != nil && !r.Pool.Relayed || r.Attempt != nil && r.Attempt.Side == evidence.Provider || r.Mark != nil && r.Mark.Kind != evidence.MarkDownstream || r.Route != nil {
			if keys := names(r); len(keys) > 0 && trouble(r) {
				provider[part{max(0, eraOf(r.Time, starts)), isl.root(keys[0])}] = true
			}
		}
	}
	for k, keys := range dumpKeys {
		provider[part{max(0, eraOf(e.dumps[k].at, starts)), isl.root(keys[0])}] = true
	}
	shown := map[int]bool{}
	for _, p := range parts {
		shown[p.era] = shown[p.era] || provider[p]
	}
	parts = slices.DeleteFunc(parts, func(p part) bool { return shown[p.era] && !provider[p] })
	standing := map[part]bool{}
	for _, p := range parts {
		standing[p] = true
	}
	// Parts of time in which no service is named stand for themselves.
	named := map[int]bool{}
	for _, p := range parts {
		named[p.era] = true
	}
	for era := range len(starts) + 1 {
		if !named[era] {
			parts = append(parts, part{era, ""})
		}
	}
	if len(parts) < 2 || len(parts) > 20 {
		return nil
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(a.era, b.era), cmp.Compare(a.root, b.root)) })

	dbWaiters := map[string]bool{} // roots whose threads wait for a database
	for k, keys := range dumpKeys {
		for _, p := range e.shapes.pools {
			if c := p.counts[k]; c != nil && c.kinds[incident.WaitDBRead]+c.kinds[incident.WaitDBPool] >= fewThreads {
				dbWaiters[isl.root(keys[0])] = true
			}
		}
	}
	list := make([]*Engine, len(parts))
	for i := range parts {
		list[i] = New(e.cfg)
		list[i].nested = true
		list[i].sources = e.sources
	}
	apps := map[string]string{} // application -> root, for what names no service
	for k := range isl.parent {
		if len(k) > 4 && k[:4] == "app:" {
			apps[k[4:]] = isl.root(k)
		}
	}
	belongs := func(p part, era int, root string, db bool) bool {
		if era >= 0 && era != p.era {
			return false
		}
		if p.root == "" || root == "" {
			return !db || p.root == "" || len(dbWaiters) == 0 || dbWaiters[p.root]
		}
		if root == p.root {
			return true
		}
		// What is no part of its own goes with every part of its time.
		return !standing[part{p.era, root}]
	}
	for _, r := range e.kept {
		era, root := eraOf(r.Time, starts), ""
		if keys := names(r); len(keys) > 0 {
			root = isl.root(keys[0])
		} else if a := apps[cmp.Or(r.Place.Service, folder(r.Cite.Source))]; a != "" {
			root = a
		}
		for i, p := range parts {
			if belongs(p, era, root, r.SQL != nil) {
				_ = list[i].Add(r)
			}
		}
	}
	for i, p := range parts {
		list[i].book = within(e.book, func(names []string, first, last time.Time) bool {
			root := ""
			if len(names) > 0 {
				root = isl.root(names[0])
			}
			from, to := eraOf(first, starts), eraOf(last, starts)
			return belongs(p, from, root, false) || from < p.era && p.era <= to && belongs(p, p.era, root, false)
		})
		list[i].takeDumps(e, func(d *dump) bool {
			root := ""
			if keys := dumpKeys[d.key]; len(keys) > 0 {
				root = isl.root(keys[0])
			}
			return belongs(p, eraOf(d.at, starts), root, false)
		})
	}
	return list
}

// takeDumps shares the dumps of another engine that keep says yes to.
func (e *Engine) takeDumps(o *Engine, keep func(*dump) bool) {
	for k, d := range o.dumps {
		if keep(d) {
			e.dumps[k] = d
			e.span.add(d.at)
		}
	}
	for id, p := range o.shapes.pools {
		c := &dumpPool{id: id, counts: maps.Clone(p.counts)}
		maps.DeleteFunc(c.counts, func(k string, _ *poolCount) bool { return e.dumps[k] == nil })
		if len(c.counts) > 0 {
			e.shapes.pools[id] = c
		}
	}
	for k, g := range o.shapes.groups {
		c := &group{key: g.key, counts: maps.Clone(g.counts), firsts: g.firsts, cites: g.cites, locks: g.locks}
		maps.DeleteFunc(c.counts, func(k string, _ int) bool { return e.dumps[k] == nil })
		if len(c.counts) > 0 {
			e.shapes.groups[k] = c
		}
	}
}

func sameClocks(zoned map[string]evidence.Tri) bool {
	seen := map[evidence.Tri]bool{}
	for _, z := range zoned {
		seen[z] = true
	}
	return len(seen) < 2
}
