package correlate

import (
	"cmp"
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// route is what routing left for one service.
type route struct {
	key      string
	service  string
	method   string
	empty    sighting // calls that found nobody
	recalled sighting // the same as no thread's own record tells of them: QoS repeats what was logged
	narrowed sighting // snapshots in which routing left few of many
	wide     sighting
	culprit  string
	message  string
	stages   []evidence.Stage // of the snapshot that left fewest
	least    int
	at       cited
	consumer string

	told map[callKey]*emptyCall // by thread: the call that found nobody last
}

// emptyCall is a call that found nobody, as several layers tell of it: Dubbo 3.3
// after its routers, once more after its connectivity filter, then who catches
// the exception.
type emptyCall struct {
	at      time.Time
	loggers []string
}

// emptyAgain reports whether a record tells once more of a call that another
// record of its thread has told of.
func (x *route) emptyAgain(r *evidence.Record) bool {
	if r.Thread == "" || r.Logger == "" || r.Time.IsZero() {
		return false
	}
	key := callKey{source: r.Cite.Source, thread: r.Thread}
	c := x.told[key]
	if c != nil && r.Time.Sub(c.at).Abs() <= time.Second && !slices.Contains(c.loggers, r.Logger+"\x00"+r.Route.Message) {
		c.at = r.Time
		c.loggers = append(c.loggers, r.Logger+"\x00"+r.Route.Message)
		return true
	}
	if x.told == nil {
		x.told = map[callKey]*emptyCall{}
	}
	if c != nil || len(x.told) < maxKeys {
		x.told[key] = &emptyCall{r.Time, []string{r.Logger + "\x00" + r.Route.Message}}
	}
	return false
}

func (e *Engine) addRoute(r *evidence.Record) {
	t := r.Route
	key := serviceName(t.Service)
	x := e.routes[key]
	if x == nil {
		if len(e.routes) >= maxKeys {
			e.lost++
			return
		}
		x = &route{key: key, service: serviceName(t.Service), least: -1}
		e.routes[key] = x
	}
	x.consumer = minNonEmpty(x.consumer, r.Place.Service)
	switch {
	case t.Empty && r.Thread == "":
		x.recalled.add(r, 1)
	case t.Empty && !x.emptyAgain(r):
		x.empty.add(r, 1)
	}
	if t.Empty {
		x.method = minNonEmpty(x.method, t.Method)
	}
	x.culprit = minNonEmpty(x.culprit, t.Culprit)
	if t.Culprit != "" {
		x.message = minNonEmpty(x.message, t.Message)
	}
	if len(t.Stages) == 0 {
		return
	}
	first, last := t.Stages[0].Count, t.Stages[len(t.Stages)-1].Count
	switch {
	case t.Empty, t.Stages[0].Name == "registered":
	case first >= 3 && last*3 <= first:
		x.narrowed.add(r, 1)
	case last > 1:
		x.wide.add(r, 1)
	}
	c := cited{r.Time, r.Cite}
	if x.least < 0 || last < x.least || last == x.least && c.compare(x.at) < 0 {
		x.least, x.at = last, c
		x.stages = slices.Clone(t.Stages)
	}
}

func (e *Engine) sortedRoutes() []*route {
	list := make([]*route, 0, len(e.routes))
	for _, x := range e.routes {
		if x.empty.count == 0 {
			x.empty = x.recalled
		}
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b *route) int {
		return cmp.Or(cmp.Compare(b.empty.count, a.empty.count), cmp.Compare(a.key, b.key))
	})
	return list
}
