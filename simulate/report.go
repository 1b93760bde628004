package simulate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// Origin says where a number of a model comes from.
type Origin struct {
	Input     Input
	Known     bool     // false: the report does not tell, and it is to be typed in
	How       Sentence // what was read; what would tell, if it is not known
	Citations []evidence.Citation
}

// FromReport makes a model of incident i of a report, as far as the report
// tells: the edge that was retried most, and the pool that it filled. There is
// one origin for each input, in the order of the model's fields; what is not
// known is left zero.
func FromReport(r *incident.Report, i int) (Model, []Origin) {
	f := reading{r: r, m: Model{Spread: DefaultSpread}}
	if i >= 0 && i < len(r.Incidents) {
		f.in = &r.Incidents[i]
		f.m.Cure = cures[f.in.Label]
	}
	f.edge = f.findEdge()
	f.path = f.findPath()
	f.pools = f.findPools()
	f.arrivals()
	f.hold()
	f.timeout()
	f.layers()
	f.threads()
	f.queue()
	return f.m, f.origins
}

// cures names what would shorten the hold time, by what began the trouble.
var cures = map[incident.Label]string{
	incident.SlowSQL: lang.Mark("the index"), incident.LockContention: lang.Mark("the lock"), incident.DownstreamWait: lang.Mark("the slow downstream"),
	incident.GCPause: lang.Mark("the collector"), incident.CPUSaturation: lang.Mark("the processor"),
}

// Doubt says that a model made from a report does not do what the report shows:
// by its numbers the pool would hold. They are means over the time and over all
// processes, and may hide the worst minute or the one that got it all.
func Doubt(r *incident.Report, i int, before *Result) (Sentence, bool) {
	if i < 0 || i >= len(r.Incidents) || !before.Recovers {
		return Sentence{}, false
	}
	for _, l := range r.Incidents[i].Chain {
		if l.Label == incident.PoolStarvation || l.Label == incident.RetryAmplification {
			return say("by these numbers there would be no trouble, and there was: they are means over the whole time and all processes; give those of the worst minute, or of the process that got most"), true
		}
	}
	return Sentence{}, false
}

// reading is a report being read.
type reading struct {
	r       *incident.Report
	in      *incident.Incident // nil if there is none
	edge    *incident.Edge     // nil if unknown, as the next two
	path    *incident.Path
	pools   []*incident.Pool
	m       Model
	origins []Origin
}

func (f *reading) known(in Input, cites []evidence.Citation, format string, args ...any) {
	f.origins = append(f.origins, Origin{in, true, say(format, args...), cites[:min(3, len(cites))]})
}

func (f *reading) unknown(in Input, format string, args ...any) {
	f.origins = append(f.origins, Origin{Input: in, How: say(format, args...)})
}

// findings are those that the incident's chain names, in its order, then the rest.
func (f *reading) findings() []*incident.Finding {
	var ids []string
	if f.in != nil {
		for _, l := range f.in.Chain {
			ids = append(ids, l.Findings...)
		}
	}
	var list []*incident.Finding
	for _, id := range ids {
		for i := range f.r.Findings {
			if x := &f.r.Findings[i]; x.ID == id {
				list = append(list, x)
			}
		}
	}
	if len(f.r.Incidents) > 1 {
		return list // the others may belong to another incident
	}
	for i := range f.r.Findings {
		if x := &f.r.Findings[i]; !slices.Contains(ids, x.ID) {
			list = append(list, x)
		}
	}
	return list
}

// findEdge is the edge that is said to be retried, else called in vain, else the
// one with the most attempts.
func (f *reading) findEdge() *incident.Edge {
	for _, kind := range []string{"retry.amplified", "retry.", "call.timeout", "call."} {
		for _, x := range f.findings() {
			if strings.HasPrefix(string(x.Kind), kind) && x.Kind != incident.RetryNone {
				if e := f.edgeOf(x.Subject); e != nil {
					return e
				}
			}
		}
	}
	if len(f.r.Edges) > 0 && len(f.r.Incidents) < 2 {
		return &f.r.Edges[0]
	}
	return nil
}

// edgeOf is the edge of a name, as whoever saw all its calls tells it.
func (f *reading) edgeOf(name string) *incident.Edge {
	var found *incident.Edge
	for i := range f.r.Edges {
		if e := &f.r.Edges[i]; e.Name() == name && (found == nil || found.Scope != "" && e.Scope == "") {
			found = e
		}
	}
	return found
}

// findPath is the way of requests that ends at the edge.
func (f *reading) findPath() *incident.Path {
	if f.edge == nil {
		return nil
	}
	for i := range f.r.Paths {
		p := &f.r.Paths[i]
		if n := len(p.Layers); n > 0 && p.Layers[n-1].Edge == f.edge.Name() && p.InPerS != nil {
			return p
		}
	}
	return nil
}

// findPools are the worst pool and those of its name in the other processes of
// its service.
func (f *reading) findPools() []*incident.Pool {
	var first *incident.Pool
	for _, kind := range []string{"pool.exhausted", "pool.", "conn."} {
		for _, x := range f.findings() {
			if first == nil && strings.HasPrefix(string(x.Kind), kind) && x.Kind != incident.PoolIdle {
				first = f.poolOf(x.Subject)
			}
		}
	}
	if first == nil {
		return nil
	}
	list := []*incident.Pool{first}
	for i := range f.r.Pools {
		p := &f.r.Pools[i]
		if p != first && p.Kind == first.Kind && p.Owner != "" && p.Max != nil && poolBase(p) == poolBase(first) && f.serviceOf(p) != "" && f.serviceOf(p) == f.serviceOf(first) {
			list = append(list, p)
		}
	}
	return list
}

func (f *reading) poolOf(name string) *incident.Pool {
	for i := range f.r.Pools {
		if p := &f.r.Pools[i]; p.Name == name && p.Max != nil {
			return p
		}
	}
	return nil
}

// poolBase is a pool's name without its owner.
func poolBase(p *incident.Pool) string {
	return strings.TrimRight(strings.TrimSuffix(p.Name, p.Owner), "-:@ ")
}

// serviceOf is whose pool it is, as findings about it say; empty if none does.
func (f *reading) serviceOf(p *incident.Pool) string {
	for i := range f.r.Findings {
		if x := &f.r.Findings[i]; x.Names["pool"] == p.Name && x.Names["service"] != "" {
			return x.Names["service"]
		}
	}
	return ""
}

const noArrivals = "calls a second of the business, before retries: no spans, access logs or scrapes tell"

// arrivals are the calls of the edge, or of all methods of the pool where that
// went through more: spans may be a sample, and logs tell of failed calls only.
func (f *reading) arrivals() {
	f.edgeArrivals()
	f.throughPool()
}

func (f *reading) edgeArrivals() {
	switch e := f.edge; {
	case f.path != nil && *f.path.InPerS > 0:
		rate := *f.path.InPerS
		for _, l := range f.path.Layers {
			if l.FanOut > 0 {
				rate *= l.FanOut
			}
		}
		f.m.ArrivalsPerS = rate
		f.known(Arrivals, f.path.Citations, "%s requests/s entered the path to %s", Number(rate), e.Name())
	case e == nil || e.Calls == nil || *e.Calls == 0:
		f.unknown(Arrivals, noArrivals)
	default:
		w := f.r.Window
		if f.in != nil && !f.in.Window.IsZero() && e.Scope == "failed-calls" {
			w = f.in.Window
		}
		s := w.To.Sub(w.From).Seconds()
		if s < 1 || e.Scope == "since-start" {
			f.unknown(Arrivals, noArrivals)
			return
		}
		f.m.ArrivalsPerS = float64(*e.Calls) / s
		if e.Scope == "failed-calls" {
			f.known(Arrivals, e.Citations, "at least: %s calls of %s that failed, in %s", Whole(float64(*e.Calls)), e.Name(), Seconds(s))
		} else {
			f.known(Arrivals, e.Citations, "%s calls of %s in %s", Whole(float64(*e.Calls)), e.Name(), Seconds(s))
		}
	}
}

// throughPool takes the arrivals from what the pool did, if that is more. A pool
// that is full tells how many attempts it completed and refused; how many calls
// those were, the amplification meanwhile.
func (f *reading) throughPool() {
	if f.edge == nil || len(f.pools) == 0 {
		return
	}
	times := max(1, value(f.edge.Amplification), value(f.edge.Peak))
	if f.path != nil {
		times = max(times, f.path.Amplification)
	}
	done, refused := 0.0, 0.0
	for _, p := range f.pools {
		done += value(p.CompletedPerSecond)
		for i := range f.r.Findings {
			x := &f.r.Findings[i]
			if s := x.Last.Sub(x.First).Seconds(); x.Kind == incident.PoolExhausted && x.Subject == p.Name && s >= 1 {
				refused += float64(x.Count) / s
			}
		}
	}
	rate := (done + refused) / times
	if done == 0 || rate <= f.m.ArrivalsPerS {
		return
	}
	f.m.ArrivalsPerS = rate
	f.origins = f.origins[:0] // arrivals are the first
	f.known(Arrivals, f.pools[0].Citations, "the pool completed %s/s and refused %s/s: at %sx, %s calls/s of all its methods",
		Number(done), Number(refused), Ratio(times), Number(rate))
}

func (f *reading) hold() {
	for _, p := range f.pools {
		if p.HoldSeconds != nil && *p.HoldSeconds > 0 && p.Diagnosis != "frozen" {
			f.m.HoldS = *p.HoldSeconds
			f.known(Hold, p.Citations, "%s completed %s/s with %s busy: each is held %s", p.Name, Number(value(p.CompletedPerSecond)), Whole(float64(value(p.Active))), Seconds(*p.HoldSeconds))
			return
		}
	}
	for _, x := range f.findings() {
		if s := x.Values["method.p95_s"]; s > 0 && f.edge != nil && x.Names["method"] == f.edge.Method {
			f.m.HoldS = s
			f.known(Hold, x.Citations, "19 of 20 runs of %s took up to %s", x.Subject, Seconds(s))
			return
		}
	}
	if len(f.r.SQL) > 0 && f.in != nil && f.in.Label == incident.SlowSQL && f.r.SQL[0].P95Seconds != nil && *f.r.SQL[0].P95Seconds > 0 {
		s := &f.r.SQL[0]
		f.m.HoldS = *s.P95Seconds
		f.known(Hold, s.Citations, "19 of 20 executions of the statement took up to %s", Seconds(*s.P95Seconds))
		return
	}
	f.unknown(Hold, "how long one request keeps a worker: two snapshots of the pool's completed tasks, or spans of the provider, would tell")
}

func (f *reading) timeout() {
	if e := f.edge; e != nil && e.TimeoutMS != nil && *e.TimeoutMS > 0 {
		f.m.TimeoutS = float64(*e.TimeoutMS) / 1000
		f.known(Timeout, e.Citations, "attempts of %s gave up after %s ms", e.Name(), Whole(float64(*e.TimeoutMS)))
		return
	}
	f.unknown(Timeout, "how long callers wait for one attempt: taken as for ever")
}

func (f *reading) layers() {
	var cites []evidence.Citation
	add := func(name string) {
		if e := f.edgeOf(name); e != nil && e.Ceiling != nil && *e.Ceiling > 1 {
			f.m.Layers = append(f.m.Layers, Layer{Name: name, Retries: min(*e.Ceiling-1, maxRetries)})
			cites = append(cites, e.Citations[:min(1, len(e.Citations))]...)
		}
	}
	switch {
	case f.path != nil:
		for _, l := range f.path.Layers {
			add(l.Edge)
		}
	case f.edge != nil:
		add(f.edge.Name())
	}
	if len(f.m.Layers) > maxLayers {
		f.m.Layers = f.m.Layers[len(f.m.Layers)-maxLayers:]
	}
	switch e := f.edge; {
	case len(f.m.Layers) == 1:
		f.known(Layers, cites, "%s: up to %s attempts", f.m.Layers[0].Name, strconv.Itoa(f.m.Layers[0].Retries+1))
	case len(f.m.Layers) > 1:
		f.known(Layers, cites, "%s layers retry, up to %s attempts at the last for one call", strconv.Itoa(len(f.m.Layers)), Number(f.m.Ceiling()))
	case e != nil && e.Amplification != nil && e.Scope == "":
		f.known(Layers, e.Citations, "%s: no retries to speak of", e.Name())
	default:
		f.unknown(Layers, "how often callers try again: taken as never")
	}
}

func (f *reading) threads() {
	if len(f.pools) == 0 {
		f.unknown(Threads, "how many workers there are: a refusal of the pool, a dump or its settings would tell")
		return
	}
	var cites []evidence.Citation
	sum, most := 0, 0
	for _, p := range f.pools {
		sum += *p.Max
		most = max(most, *p.Max)
		cites = append(cites, p.Citations[:min(1, len(p.Citations))]...)
	}
	seen, asked := len(f.pools), 0
	if f.edge != nil && f.pools[0].Kind == "thread" {
		asked = len(f.edge.Providers)
	}
	name := poolBase(f.pools[0])
	switch {
	case asked > seen:
		f.m.Threads = most * asked
		f.known(Threads, cites, "%s: %s threads in each of the %s providers that were asked (%s seen)", name, Whole(float64(most)), strconv.Itoa(asked), strconv.Itoa(seen))
	case seen > 1:
		f.m.Threads = sum
		f.known(Threads, cites, "%s: %s threads in %s processes together", name, Whole(float64(sum)), strconv.Itoa(seen))
	default:
		f.m.Threads = sum
		f.known(Threads, cites, "%s: %s threads", f.pools[0].Name, Whole(float64(sum)))
	}
}

func (f *reading) queue() {
	each, cites := -1, []evidence.Citation(nil)
	for _, p := range f.pools {
		if p.Rejected != nil && *p.Rejected > 0 && p.Queued != nil && *p.Queued >= each {
			each, cites = *p.Queued, p.Citations
		}
	}
	if each < 0 {
		f.unknown(Queue, "how many may wait for a worker: taken as none")
		return
	}
	f.m.Queue = each
	if max := f.pools[0].Max; max != nil && *max > 0 {
		f.m.Queue = each * f.m.Threads / *max
	}
	f.known(Queue, cites, "%s waited when requests were refused", Whole(float64(each)))
}

func value[T int | float64](p *T) T {
	if p == nil {
		return 0
	}
	return *p
}
