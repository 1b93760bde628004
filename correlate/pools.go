package correlate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// pool is everything said about one pool of workers or connections.
type pool struct {
	key, name string
	kind      evidence.PoolKind
	impl      string
	resource  string
	owner     string
	place     evidence.Place

	seen        sighting // any snapshot
	rejected    sighting // refused at the pool itself
	relayed     sighting // refused, as the other end was told
	shutdown    sighting // refused while shutting down
	burst       sighting // refused while clearly not full
	full        sighting // snapshots with every member active
	waits       sighting // borrowers that waited long and got a connection, by their spans
	unreachable sighting
	leak        sighting
	calm        sighting // gauges that show room

	max, active, idle, queued, waiting, size int // of the worst snapshot; None if never stated
	worst                                    cited
	worstScore                               int
	first, last                              progress // of the completed tasks, by time
	tasks                                    int64    // most tasks taken since the pool's start that a snapshot told of; 0 if none did
	waited                                   time.Duration
}

// progress is how many tasks a pool had completed at a time.
type progress struct {
	at        time.Time
	completed int64
	tasks     int64
	cite      evidence.Citation
}

// poolKey identifies a pool. Names that hold an address are unique; others are
// told apart by the process that they were seen in.
func poolKey(name, owner string, p evidence.Place, source string) string {
	if poolAddress(name) != "" {
		return name
	}
	if owner != "" {
		return name + "@" + owner
	}
	if p.Instance != "" || p.Service != "" {
		return name + "@" + p.Service + "/" + p.Instance
	}
	return name + "@" + folder(source)
}

// folder returns the directory part of a source's path.
func folder(source string) string {
	if i := strings.LastIndexAny(source, "/!"); i >= 0 {
		return source[:i]
	}
	return ""
}

func (e *Engine) pool(key string) *pool {
	p := e.pools[key]
	if p == nil {
		if len(e.pools) >= maxKeys {
			e.lost++
			return nil
		}
		p = &pool{key: key, max: evidence.None, active: evidence.None, idle: evidence.None, queued: evidence.None, waiting: evidence.None, size: evidence.None, worstScore: -1}
		e.pools[key] = p
	}
	return p
}

func (e *Engine) addPool(r *evidence.Record) {
	s := r.Pool
	name := s.Name
	if name == "" {
		name = cmp.Or(s.Impl, "pool")
	}
	place := r.Place
	if s.Relayed {
		place = evidence.Place{} // the observer is not the owner
	}
	p := e.pool(poolKey(name, s.Owner, place, r.Cite.Source))
	if p == nil {
		return
	}
	if p.name == "" || name < p.name {
		p.name = name
	}
	if s.Kind != evidence.PoolUnknown {
		p.kind = s.Kind
	}
	p.impl = minNonEmpty(p.impl, s.Impl)
	p.resource = minNonEmpty(p.resource, s.Resource)
	p.owner = minNonEmpty(p.owner, cmp.Or(s.Owner, poolAddress(name)))
	p.place.Service = minNonEmpty(p.place.Service, place.Service)
	p.place.Instance = minNonEmpty(p.place.Instance, place.Instance)
	p.seen.add(r, 1)
	if s.Waited > p.waited {
		p.waited = s.Waited
	}
	if s.Waited >= borrowLong && !s.Rejected && r.Trace != "" {
		p.waits.add(r, 1)
	}
	notFull := s.Max > 0 && s.Active >= 0 && s.Active*10 < s.Max*9
	switch {
	case s.Shutdown:
		if s.Rejected {
			p.shutdown.add(r, 1)
		}
	case s.Unreachable:
		p.unreachable.add(r, 1)
	case s.Leak && !s.Rejected:
		p.leak.add(r, 1)
	case s.Rejected && s.Relayed:
		p.relayed.add(r, 1)
		if notFull {
			p.burst.add(r, 1)
		}
	case s.Rejected:
		p.rejected.add(r, 1)
		if notFull {
			p.burst.add(r, 1)
		}
	case s.Active >= 0 && s.Max > 0 && s.Active*2 <= s.Max:
		p.calm.add(r, 1)
	}
	if s.Shutdown {
		return
	}
	if s.Max > 0 && s.Active >= s.Max {
		p.full.add(r, 1)
	}
	p.snapshot(r, s)
}

// snapshot keeps the worst state and the first and last progress.
func (p *pool) snapshot(r *evidence.Record, s *evidence.PoolSnapshot) {
	p.tasks = max(p.tasks, s.Tasks)
	score := 0
	if s.Active >= 0 {
		score = 2 * s.Active
	}
	if s.Rejected {
		score++
	}
	queued := s.Queued
	if queued < 0 && s.Tasks >= 0 && s.Completed >= 0 && s.Active >= 0 {
		queued = int(max(0, s.Tasks-s.Completed-int64(s.Active)))
	}
	c := cited{r.Time, r.Cite}
	if score > p.worstScore || score == p.worstScore && c.compare(p.worst) < 0 {
		p.worstScore, p.worst = score, c
		p.max, p.active, p.idle, p.queued, p.waiting, p.size = s.Max, s.Active, s.Idle, queued, s.Waiting, s.Size
	}
	if s.Completed >= 0 && !r.Time.IsZero() {
		g := progress{r.Time, s.Completed, s.Tasks, r.Cite}
		if p.first.at.IsZero() || g.compare(p.first) < 0 {
			p.first = g
		}
		if p.last.at.IsZero() || g.compare(p.last) > 0 {
			p.last = g
		}
	}
}

func (a progress) compare(b progress) int {
	return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.completed, b.completed), compareCites(a.cite, b.cite))
}

// rejections returns the refusals counted at the pool, or, where its own log is
// not there, those that callers were told of.
func (p *pool) rejections() *sighting {
	if p.rejected.count > 0 {
		return &p.rejected
	}
	return &p.relayed
}

// rate returns tasks completed per second and the seconds one task holds its
// worker (Little's law), if two snapshots far enough apart tell.
func (p *pool) rate() (perSecond, hold float64, ok bool) {
	dt := p.last.at.Sub(p.first.at).Seconds()
	if p.first.at.IsZero() || dt < 1 || p.last.completed < p.first.completed || p.active <= 0 {
		return 0, 0, false
	}
	perSecond = float64(p.last.completed-p.first.completed) / dt
	if perSecond > 0 {
		hold = float64(p.active) / perSecond
	}
	return perSecond, hold, true
}

func (p *pool) display() string {
	if p.name == "" {
		return p.key
	}
	return p.name
}

// note counts a record under a key, of at most a thousand.
func note[K comparable](m *map[K]*sighting, key K, r *evidence.Record, n int) {
	if *m == nil {
		*m = map[K]*sighting{}
	}
	s := (*m)[key]
	if s == nil {
		if len(*m) >= 1000 {
			return
		}
		s = &sighting{}
		(*m)[key] = s
	}
	s.add(r, n)
}

// minNonEmpty keeps the smaller of two texts, ignoring empty ones, so that the
// choice does not depend on the order of the evidence.
func minNonEmpty(a, b string) string {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

// joinMethod returns "Service.method" with the service's package removed.
func joinMethod(service, method string) string {
	s := shortService(service)
	switch {
	case s == "":
		return method
	case method == "":
		return s
	}
	return s + "." + method
}

// shortService drops package, group and version: "g/com.acme.SkuService:1.0" is
// "SkuService".
func shortService(service string) string {
	if i := strings.LastIndexByte(service, '/'); i >= 0 {
		service = service[i+1:]
	}
	if i := strings.IndexByte(service, ':'); i > 0 {
		service = service[:i]
	}
	if i := strings.LastIndexByte(service, '.'); i >= 0 {
		service = service[i+1:]
	}
	return service
}

// sortedPools lists pools, those with most trouble first.
func (e *Engine) sortedPools() []*pool {
	list := make([]*pool, 0, len(e.pools))
	for _, p := range e.pools {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *pool) int {
		return cmp.Or(cmp.Compare(b.rejections().count, a.rejections().count), cmp.Compare(b.active, a.active), cmp.Compare(a.key, b.key))
	})
	return list
}
