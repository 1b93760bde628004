package correlate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// Scraped counters say how many calls and attempts there were, not which. A
// process counts from its start, so two readings are needed to know what
// happened in between; one says only what the process is used to.

// counterKey is one counted edge of one process.
type counterKey struct {
	impl, consumer  string
	process         string // instance and folder: replicas count for themselves
	side            evidence.Side
	service, method string
}

// counter is what was read of one edge, whatever the order of the readings.
type counter struct {
	key      counterKey
	readings []reading        // since the process started, at most maxReadings
	grown    evidence.Counter // sum of what readings within one input say it grew
	grew     int
	seen     sighting

	sum   evidence.Counter // what between says of it
	since bool             // it is between readings
}

// reading is what one scrape says of a counter.
type reading struct {
	at   time.Time
	cite evidence.Citation
	n    evidence.Counter
}

// maxReadings bounds the scrapes of one counter that are held against each other.
const maxReadings = 1000

// enoughCounted is how many calls counters must tell of before a share of them
// means something.
const enoughCounted = 100

func (e *Engine) addCounter(r *evidence.Record) {
	c := r.Counter
	owner := cmp.Or(r.Place.Service, r.Place.Instance, folder(r.Cite.Source))
	k := counterKey{c.Impl, owner, r.Place.Instance + "\x00" + folder(r.Cite.Source), c.Side, serviceName(c.Service), methodName(c.Method)}
	if !c.Began.IsZero() { // which tells processes apart, so that scrapes may lie in a folder for each time
		k.process = r.Place.Instance + "\x00" + wordsOf(folder(r.Cite.Source))
	}
	if c.Side == evidence.Provider {
		k.consumer, k.service = "", cmp.Or(k.service, owner)
	}
	x := e.counters[k]
	if x == nil {
		if len(e.counters) >= maxKeys {
			e.lost++
			return
		}
		if e.counters == nil {
			e.counters = map[counterKey]*counter{}
		}
		x = &counter{key: k}
		e.counters[k] = x
	}
	x.seen.add(r, 1)
	if c.Delta {
		if x.grew++; x.grew == 1 {
			x.grown = *c
			return
		}
		eachCount(&x.grown, c, func(sum *int64, n int64) {
			if n >= 0 {
				*sum = max(0, *sum) + n
			}
		})
		return
	}
	if len(x.readings) == maxReadings {
		e.lost++
		return
	}
	x.readings = append(x.readings, reading{r.Time, r.Cite, *c})
}

// eachCount visits the numbers of two readings side by side.
func eachCount(a, b *evidence.Counter, do func(a *int64, b int64)) {
	for _, p := range [...]struct {
		a *int64
		b int64
	}{
		{&a.Calls, b.Calls},
		{&a.Attempts, b.Attempts},
		{&a.Retries, b.Retries},
		{&a.Failed, b.Failed},
		{&a.Timeouts, b.Timeouts},
		{&a.RetriesRefused, b.RetriesRefused},
		{&a.Overflow, b.Overflow},
		{&a.Took, b.Took},
	} {
		do(p.a, p.b)
	}
}

// between is what happened between readings; false if there was but one of each
// life of the process, and the numbers are those since it started.
func (x *counter) between() (evidence.Counter, bool) {
	if x.grew > 0 {
		return x.grown, true
	}
	list := x.inOrder()
	last := list[len(list)-1].n
	grown, known := last, false
	eachCount(&grown, &last, func(n *int64, _ int64) { *n = min(*n, 0) })
	for i := range len(list) - 1 {
		before, after := list[i].n, list[i+1].n
		if before == after || !before.Began.Equal(after.Began) || fell(&before, &after) {
			continue // nothing happened, or the process began to count anew: what it did is not known
		}
		known = true
		eachCount(&after, &before, func(n *int64, before int64) {
			if before >= 0 {
				*n -= before
			}
		})
		eachCount(&grown, &after, func(sum *int64, n int64) {
			if n >= 0 {
				*sum = max(0, *sum) + n
			}
		})
	}
	if !known {
		return last, false
	}
	return grown, true
}

// inOrder are the readings as they followed each other: by the times that they
// state, else by the lines of one input or the numbers in the names of several.
// Names that do not tell, as before.txt and after.txt, leave it to the numbers:
// counters only rise.
func (x *counter) inOrder() []reading {
	list := slices.Clone(x.readings)
	slices.SortFunc(list, func(a, b reading) int {
		return cmp.Or(a.n.Began.Compare(b.n.Began), a.at.Compare(b.at), naturalCompare(a.cite.Source, b.cite.Source), cmp.Compare(a.cite.Line, b.cite.Line))
	})
	for i := range len(list) - 1 {
		a, b := &list[i], &list[i+1]
		if !a.n.Began.IsZero() || !b.n.Began.IsZero() || !a.at.IsZero() && !b.at.IsZero() || a.cite.Source == b.cite.Source || wordsOf(a.cite.Source) == wordsOf(b.cite.Source) {
			continue
		}
		slices.SortStableFunc(list, func(a, b reading) int {
			return cmp.Or(cmp.Compare(max(a.n.Calls, a.n.Attempts), max(b.n.Calls, b.n.Attempts)), cmp.Compare(a.n.Attempts, b.n.Attempts), cmp.Compare(a.n.Failed, b.n.Failed))
		})
		break
	}
	return list
}

// fell reports whether any number is below what it was.
func fell(before, after *evidence.Counter) bool {
	down, a := false, *after
	eachCount(&a, before, func(n *int64, before int64) { down = down || *n >= 0 && *n < before })
	return down
}

// wordsOf is a name without its digits.
func wordsOf(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, name)
}

// naturalCompare orders names as people number them: metrics-9 before metrics-10.
func naturalCompare(a, b string) int {
	for a != "" && b != "" {
		m, n := digits(a), digits(b)
		if m > 0 && n > 0 {
			x, y := strings.TrimLeft(a[:m], "0"), strings.TrimLeft(b[:n], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[m:], b[n:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// failures are the attempts or calls that failed, and their share of all. Those
// that timed out may be among the failed.
func failures(c *evidence.Counter) (int64, float64) {
	calls, attempts := float64(max(c.Calls, c.Attempts, 1)), float64(max(c.Attempts, c.Calls, 1))
	if c.Calls > 0 {
		calls = float64(c.Calls)
	}
	refused := max(0, c.Overflow)
	share := max(float64(c.Failed)/calls, float64(c.Timeouts)/attempts) + float64(refused)/(attempts+float64(refused))
	return max(0, c.Failed, c.Timeouts) + refused, min(1, max(0, share))
}

// before is what a process had counted up to the first of its scrapes.
func (x *counter) before() (evidence.Counter, bool) {
	if len(x.readings) == 0 || x.grew == 0 && len(x.readings) < 2 {
		return evidence.Counter{}, false
	}
	return x.inOrder()[0].n, true
}

func (x *counter) title() string {
	name := joinMethod(x.key.service, x.key.method)
	if strings.ContainsAny(x.key.method, " /") {
		name = strings.TrimSpace(x.key.service + " " + x.key.method)
	}
	if x.key.consumer == "" {
		return name
	}
	return x.key.consumer + " -> " + name
}

func (e *Engine) sortedCounters() []*counter {
	list := make([]*counter, 0, len(e.counters))
	for _, x := range e.counters {
		x.sum, x.since = x.between()
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b *counter) int {
		return cmp.Or(cmp.Compare(b.sum.Attempts-b.sum.Calls, a.sum.Attempts-a.sum.Calls), cmp.Compare(a.key.service, b.key.service), cmp.Compare(a.key.method, b.key.method),
			cmp.Compare(a.key.consumer, b.key.consumer), cmp.Compare(a.key.process, b.key.process), cmp.Compare(a.key.impl, b.key.impl), cmp.Compare(a.key.side, b.key.side))
	})
	return list
}

// counterEdges are edges on the basis of scraped counters.
func (q *inquiry) counterEdges() []incident.Edge {
	list := []incident.Edge{}
	for _, x := range q.e.sortedCounters() {
		c, between := x.sum, x.since
		if c.Attempts < 1 || c.Calls < 1 && max(c.Failed, c.Timeouts) < 1 || len(list) == 30 {
			continue
		}
		o := incident.Edge{
			Consumer: x.key.consumer, Service: x.key.service, Method: x.key.method, Basis: "metrics", Exact: true, Attempts: ptr(c.Attempts),
			Outcomes: map[string]int64{}, Citations: x.seen.citations(),
		}
		if c.Calls > 0 {
			o.Calls, o.Amplification = ptr(c.Calls), ptr(round(float64(c.Attempts)/float64(c.Calls), 3))
		}
		if !between {
			o.Scope = "since-start"
		}
		for name, n := range map[string]int64{"failed": c.Failed, "timeout": c.Timeouts, "rejected": c.Overflow} {
			if n > 0 {
				o.Outcomes[name] = n
			}
		}
		list = append(list, o)
	}
	return list
}
