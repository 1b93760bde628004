package correlate

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// Threads are grouped while they stream by, so that 100,000 of them cost as
// much memory as there are shapes of stacks.

// shapes remembers what each shape of stack was judged to be.
type shapes struct {
	seed   maphash.Seed
	funcs  map[*evidence.Frame]uint64 // hash of a frame's function
	byKey  map[uint64]*shape
	groups map[groupKey]*group
	pools  map[poolID]*dumpPool
	sorted []*group // cache of sortedGroups, dropped when a group is added or grows
	lost   int
}

func newShapes() *shapes {
	return &shapes{
		seed: maphash.MakeSeed(), funcs: map[*evidence.Frame]uint64{}, byKey: map[uint64]*shape{},
		groups: map[groupKey]*group{}, pools: map[poolID]*dumpPool{},
	}
}

// shape is one normalised stack with the state that it was seen in.
type shape struct {
	verdict verdict
	frames  []*evidence.Frame
	state   evidence.State
	name    string // its functions joined: the order that reports use
}

// poolID is a pool of threads in a process.
type poolID struct{ process, pool string }

type groupKey struct {
	pool  poolID
	shape *shape
}

// group is the threads of one pool with one shape, by dump.
type group struct {
	key    groupKey
	counts map[string]int   // by dump key
	firsts map[string]cited // where it stands in each dump, by dump key
	cites  sighting
	locks  map[string]int // classes of what they wait for
}

// citations are where a group is first seen in each of its dumps, so that a
// reader can go from dump to dump; and if these are few, further threads of it.
func (g *group) citations() []evidence.Citation {
	var s sighting
	for key := range g.counts {
		s.citeAt(g.firsts[key])
	}
	for _, c := range g.cites.cites {
		if len(s.cites) < keepCites {
			s.citeAt(c)
		}
	}
	return s.citations()
}

// dumpPool is a pool of threads as dumps show it.
type dumpPool struct {
	id     poolID
	counts map[string]*poolCount // by dump key
}

// poolCount is a pool in one dump.
type poolCount struct {
	total, idle int
	kinds       map[incident.WaitKind]int
	methods     map[string]int // busy threads by service method
	cite        cited
}

func (c *poolCount) busy() int { return c.total - c.idle }

// dump is one thread or goroutine dump.
type dump struct {
	key      string
	source   string
	process  string
	service  string
	at       time.Time
	cite     evidence.Citation
	meta     evidence.Dump
	threads  int
	cut      int                   // threads whose stack was cut
	waiting  map[string]*lockQueue // by lock identity, until the dump closes
	holders  map[string]holder
	waitsFor map[string]string   // thread -> lock, for cycles
	seenAt   map[string]cited    // the same threads, where they stand
	proofs   []evidence.Citation // where the threads of the cycles stand
	convoys  []convoy
	cycles   [][]evidence.Held
}

type lockQueue struct {
	class   string
	waiters int
	told    int // waiters that the source itself counted, though it may not show them
	owner   string
	app     map[string]int // first app frames of those who wait
	pools   map[string]int
	kind    incident.WaitKind
	cite    cited
	method  map[string]int
}

type holder struct {
	thread  string
	verdict verdict
	at      cited
}

// convoy is a lock that many wait for.
type convoy struct {
	lock, class string
	waiters     int
	pool        string
	kind        incident.WaitKind
	owner       string
	ownerKind   incident.WaitKind
	ownerAt     string
	ownerCite   evidence.Citation
	app         string
	method      string
	cite        cited
	ownerKnown  bool
}

func dumpKey(source, id string) string { return source + "\x00" + id }

// processOf names the process that a dump is of.
func processOf(r *evidence.Record) string {
	if r.Place.Service != "" || r.Place.Instance != "" {
		return r.Place.Service + "/" + r.Place.Instance
	}
	return folder(r.Cite.Source)
}

func (e *Engine) dump(r *evidence.Record, id string) *dump {
	k := dumpKey(r.Cite.Source, id)
	d := e.dumps[k]
	if d == nil {
		if len(e.dumps) >= maxKeys {
			e.lost++
			return nil
		}
		d = &dump{
			key: k, source: r.Cite.Source, process: processOf(r), service: r.Place.Service, cite: r.Cite,
			waiting: map[string]*lockQueue{}, holders: map[string]holder{}, waitsFor: map[string]string{}, seenAt: map[string]cited{},
		}
		e.dumps[k] = d
	}
	if d.at.IsZero() {
		d.at = r.Time
	}
	return d
}

func (e *Engine) addDump(r *evidence.Record) {
	d := e.dump(r, r.Dump.ID)
	if d == nil {
		return
	}
	if !r.Dump.Closing {
		d.meta, d.cite = *r.Dump, r.Cite
		return
	}
	cycles := r.Dump.Deadlocks
	d.meta = *r.Dump
	d.meta.Deadlocks = nil
	for _, c := range cycles {
		d.cycles = append(d.cycles, slices.Clone(c))
	}
	d.close()
}

func (e *Engine) addStack(r *evidence.Record) {
	s := r.Stack
	d := e.dump(r, s.Dump)
	if d == nil {
		return
	}
	n := max(1, s.Count)
	if s.System || s.Carrier {
		return
	}
	d.threads += n
	if s.Cut {
		d.cut += n
	}
	sh := e.shapes.of(s)
	if sh == nil {
		return
	}
	v := &sh.verdict
	id := poolID{d.process, poolOf(s, v.entry)}
	if poolAddress(id.pool) != "" {
		id.process = "" // the name says whose it is
	}
	at := cited{r.Time, r.Cite}

	dp := e.shapes.pools[id]
	if dp == nil {
		if len(e.shapes.pools) >= maxKeys {
			e.shapes.lost++
			return
		}
		dp = &dumpPool{id: id, counts: map[string]*poolCount{}}
		e.shapes.pools[id] = dp
	}
	c := dp.counts[d.key]
	if c == nil {
		c = &poolCount{kinds: map[incident.WaitKind]int{}, methods: map[string]int{}, cite: at}
		dp.counts[d.key] = c
	}
	c.total += n
	c.kinds[v.kind] += n
	if v.kind == incident.WaitIdle {
		c.idle += n
	} else if v.entry != nil {
		c.methods[v.entry.Func] += n
	}

	gk := groupKey{id, sh}
	g := e.shapes.groups[gk]
	if g == nil {
		if len(e.shapes.groups) >= maxKeys {
			e.shapes.lost++
			return
		}
		g = &group{key: gk, counts: map[string]int{}, firsts: map[string]cited{}, locks: map[string]int{}}
		e.shapes.groups[gk] = g
	}
	e.shapes.sorted = nil
	g.counts[d.key] += n
	if first, ok := g.firsts[d.key]; !ok || at.compare(first) < 0 {
		g.firsts[d.key] = at
	}
	g.cites.count += n
	g.cites.span.add(at.at)
	g.cites.citeAt(at)
	if s.WaitsOn.Class != "" && len(g.locks) < 20 {
		g.locks[s.WaitsOn.Class] += n
	}
	d.lock(s, v, id.pool, at, n)
}

// lock keeps who waits for and who holds which lock, until the dump closes.
func (d *dump) lock(s *evidence.Stack, v *verdict, pool string, at cited, n int) {
	name := s.Name
	if name == "" {
		name = s.ID
	}
	switch v.kind {
	case incident.WaitLock, incident.WaitLogging, incident.WaitClassInit, incident.WaitDBPool:
		if s.WaitsOn.ID == "" && s.WaitsOn.Class == "" {
			if s.Runtime == evidence.Go && v.kind == incident.WaitLock && v.app != nil {
				// Go prints no lock identity: those who wait in one function wait together.
				d.queue("go "+v.app.Func, "sync.Mutex in "+v.app.Func, v, pool, at, n)
			}
			break
		}
		if strings.Contains(s.WaitsOn.Class, "ConditionObject") || strings.Contains(s.WaitsOn.Class, "CountDownLatch") || strings.Contains(s.WaitsOn.Class, "SynchronousQueue") || strings.Contains(s.WaitsOn.Class, "Semaphore") {
			break
		}
		if v.kind == incident.WaitDBPool && s.State != evidence.StateBlocked && !lockClass(s.WaitsOn.Class) {
			break
		}
		id := s.WaitsOn.ID
		if id == "" {
			id = s.WaitsOn.Class
		}
		q := d.queue(id, s.WaitsOn.Class, v, pool, at, n)
		if q != nil && s.WaitsOn.Owner != "" {
			q.owner = minNonEmpty(q.owner, s.WaitsOn.Owner)
		}
		if len(d.waitsFor) < maxKeys {
			d.waitsFor[name] = id
			d.seenAt[name] = at
		}
	}
	for _, h := range s.Holds {
		if h.ID == "" || strings.HasSuffix(h.Class, "ThreadPoolExecutor$Worker") || len(d.holders) >= maxKeys {
			continue
		}
		if h.Waiters > 0 {
			behind := *v
			behind.kind = incident.WaitLock
			if q := d.queue(h.ID, h.Class, &behind, "", at, 0); q != nil {
				q.told = max(q.told, h.Waiters)
				if v.app != nil && len(q.app) == 0 {
					q.app[frameName(v.app)] = 1 // where its holder is, for want of those who wait
				}
			}
		}
		if old, ok := d.holders[h.ID]; !ok || at.compare(old.at) < 0 {
			d.holders[h.ID] = holder{name, *v, at}
		}
	}
}

func (d *dump) queue(id, class string, v *verdict, pool string, at cited, n int) *lockQueue {
	q := d.waiting[id]
	if q == nil {
		if len(d.waiting) >= maxKeys {
			return nil
		}
		q = &lockQueue{class: class, app: map[string]int{}, pools: map[string]int{}, method: map[string]int{}, kind: v.kind, cite: at}
		d.waiting[id] = q
	}
	q.waiters += n
	q.pools[pool] += n
	if v.app != nil {
		q.app[frameName(v.app)] += n
	}
	if v.entry != nil {
		q.method[v.entry.Func] += n
	}
	if at.compare(q.cite) < 0 {
		q.cite = at
	}
	return q
}

// close turns queues into convoys, looks for cycles, and forgets the rest.
func (d *dump) close() {
	if d.waiting == nil {
		return
	}
	for id, q := range d.waiting {
		q.waiters = max(q.waiters, q.told)
		if q.waiters < 3 {
			continue
		}
		c := convoy{lock: id, class: q.class, waiters: q.waiters, kind: q.kind, owner: q.owner, cite: q.cite, pool: top(q.pools), app: top(q.app), method: top(q.method)}
		if h, ok := d.holders[id]; ok {
			c.owner, c.ownerKnown, c.ownerKind, c.ownerCite = h.thread, true, h.verdict.kind, h.at.cite
			if h.verdict.app != nil {
				c.ownerAt = frameName(h.verdict.app)
			}
		}
		d.convoys = append(d.convoys, c)
	}
	slices.SortFunc(d.convoys, func(a, b convoy) int {
		return cmp.Or(cmp.Compare(b.waiters, a.waiters), cmp.Compare(a.class, b.class), cmp.Compare(a.lock, b.lock))
	})
	d.convoys = d.convoys[:min(len(d.convoys), 20)]
	if len(d.cycles) == 0 {
		d.findCycles()
	}
	for _, c := range d.cycles {
		for _, h := range c {
			if at, ok := d.seenAt[h.Thread]; ok && len(d.proofs) < 4 {
				d.proofs = append(d.proofs, at.cite)
			}
		}
	}
	d.waiting, d.holders, d.waitsFor, d.seenAt = nil, nil, nil, nil
}

// findCycles follows who waits for whom.
func (d *dump) findCycles() {
	names := make([]string, 0, len(d.waitsFor))
	for t := range d.waitsFor {
		names = append(names, t)
	}
	slices.Sort(names)
	done := map[string]bool{}
	for _, start := range names {
		var path []string
		on := map[string]int{}
		for t := start; t != "" && !done[t]; {
			if i, again := on[t]; again {
				var cycle []evidence.Held
				for _, name := range path[i:] {
					lock := d.waitsFor[name]
					q := d.waiting[lock]
					owner := d.holders[lock].thread
					cycle = append(cycle, evidence.Held{Thread: name, Lock: q.class + " " + lock, Owner: owner})
				}
				if len(cycle) > 1 {
					d.cycles = append(d.cycles, cycle)
				}
				break
			}
			on[t] = len(path)
			path = append(path, t)
			lock, waits := d.waitsFor[t]
			if !waits {
				break
			}
			owner := d.holders[lock].thread
			if owner == "" && d.waiting[lock] != nil {
				owner = d.waiting[lock].owner
			}
			t = owner
		}
		for _, t := range path {
			done[t] = true
		}
	}
}

// of returns the shape of a stack, judged once.
func (sh *shapes) of(s *evidence.Stack) *shape {
	h := uint64(s.State)*0x9e3779b97f4a7c15 ^ uint64(s.Working)*0xff51afd7ed558ccd ^ uint64(s.Runtime)<<40
	if s.WaitsOn.Class != "" {
		h ^= maphash.String(sh.seed, s.WaitsOn.Class)
	}
	detail := s.Detail
	if s.Runtime == evidence.Go {
		detail, _, _ = strings.Cut(detail, ",")
	}
	if detail != "" {
		h ^= maphash.String(sh.seed, detail) * 31
	}
	for _, f := range s.Frames {
		fh, ok := sh.funcs[f]
		if !ok {
			if len(sh.funcs) >= 1_000_000 {
				clear(sh.funcs)
			}
			fh = maphash.String(sh.seed, f.Func)
			if f.Line > 0 && s.Runtime == evidence.JVM && isApp(f.Func) {
				fh ^= uint64(f.Line) * 0x9e3779b97f4a7c15 // the user's own line is part of the answer
			}
			sh.funcs[f] = fh
		}
		h = h*0x100000001b3 ^ fh
	}
	if x := sh.byKey[h]; x != nil {
		return x
	}
	if len(sh.byKey) >= maxKeys {
		sh.lost++
		return nil
	}
	x := &shape{verdict: classify(s), frames: slices.Clone(s.Frames[:min(len(s.Frames), 64)]), state: s.State}
	var b strings.Builder
	for _, f := range x.frames {
		b.WriteString(f.Func)
		if isApp(f.Func) {
			b.WriteString(":" + strconv.Itoa(f.Line))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%s\n%s\n%d", s.WaitsOn.Class, detail, s.Working)
	x.name = b.String()
	sh.byKey[h] = x
	return x
}

// frameName is "class.method(File.java:12)", without the package's path for Go.
func frameName(f *evidence.Frame) string {
	if f == nil {
		return ""
	}
	if f.File == "" {
		return f.Func
	}
	file := f.File
	if i := strings.LastIndexAny(file, `/\`); i >= 0 {
		file = file[i+1:]
	}
	if f.Line > 0 {
		return f.Func + "(" + file + ":" + strconv.Itoa(f.Line) + ")"
	}
	return f.Func + "(" + file + ")"
}

// top returns the key with the largest count, the smallest name among equals.
func top(m map[string]int) string {
	best, n := "", 0
	for k, v := range m {
		if v > n || v == n && k < best {
			best, n = k, v
		}
	}
	return best
}

// sortedDumps lists dumps by process and time.
func (e *Engine) sortedDumps() []*dump {
	list := make([]*dump, 0, len(e.dumps))
	for _, d := range e.dumps {
		d.close()
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b *dump) int {
		return cmp.Or(cmp.Compare(a.process, b.process), a.at.Compare(b.at), cmp.Compare(a.source, b.source), compareCites(a.cite, b.cite))
	})
	return list
}

// busiest returns the dump key in which the pool had most busy threads.
func (p *dumpPool) busiest() string {
	best := ""
	for k, c := range p.counts {
		if best == "" {
			best = k
			continue
		}
		b := p.counts[best]
		if c.busy() > b.busy() || c.busy() == b.busy() && (c.total > b.total || c.total == b.total && c.cite.compare(b.cite) < 0) {
			best = k
		}
	}
	return best
}

func (s *shapes) sortedPools() []*dumpPool {
	list := make([]*dumpPool, 0, len(s.pools))
	for _, p := range s.pools {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *dumpPool) int {
		ca, cb := a.counts[a.busiest()], b.counts[b.busiest()]
		return cmp.Or(cmp.Compare(cb.busy(), ca.busy()), cmp.Compare(cb.total, ca.total), cmp.Compare(a.id.pool, b.id.pool), cmp.Compare(a.id.process, b.id.process))
	})
	return list
}

// most returns the largest number of the group's threads in one dump.
func (g *group) most() int {
	n := 0
	for _, c := range g.counts {
		n = max(n, c)
	}
	return n
}

func (s *shapes) sortedGroups() []*group {
	if s.sorted != nil {
		return s.sorted
	}
	list := make([]*group, 0, len(s.groups))
	for _, g := range s.groups {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.most(), a.most()), cmp.Compare(a.key.pool.pool, b.key.pool.pool), cmp.Compare(a.key.pool.process, b.key.pool.process),
			cmp.Compare(a.key.shape.name, b.key.shape.name), cmp.Compare(a.key.shape.state, b.key.shape.state),
			compareFirst(&a.cites, &b.cites)) // two lines or locks of one method
	})
	s.sorted = list
	return list
}
