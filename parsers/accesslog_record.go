package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// accessParser takes lines apart. Nothing of what it makes of one depends on the
// lines before it, but for times without a date (see clockwork) and for layouts
// that were added since.
type accessParser struct {
	layouts []*accessLayout // tried in this order
	shared  []int           // by layout: columns that are the same as those of the one before
	values  [maxAccessColumns]extent
	tries   []evidence.Upstream
	path    []byte // scratch
	addr    []byte // scratch
	names   interner
	addrs   [64]accessAddr
	clock   accessClock
	created accessClock
	alone   bool // it does not see all lines
	refused bool // so that a time of this line is not known
}

func newAccessParser(in *Input) accessParser {
	p := accessParser{}
	p.clock.work = newClockwork(in)
	p.created.work = p.clock.work
	return p
}

// adopt takes over the layouts that another parser has added to those that it
// had.
func (r *accessParser) adopt(layouts []*accessLayout) {
	for _, l := range layouts[len(r.layouts):] {
		if l.json != nil { // it learns as it goes
			c := *l
			c.json = l.json.clone()
			l = &c
		}
		r.add(l)
	}
}

// time reads a time. One without a date follows from those of the lines before.
func (r *accessParser) time(c *accessClock, v []byte) (time.Time, evidence.Tri) {
	t, zoned := c.read(v)
	r.refused = r.refused || r.alone && !c.dated
	return t, zoned
}

// add appends a layout that is ready.
func (r *accessParser) add(l *accessLayout) {
	n := 0
	if k := len(r.layouts); k > 0 && l.json == nil && r.layouts[k-1].json == nil && l.sep == r.layouts[k-1].sep {
		before := r.layouts[k-1].columns
		for n < min(len(before), len(l.columns)) && before[n] == l.columns[n] {
			n++
		}
	}
	r.layouts = append(r.layouts, l)
	r.shared = append(r.shared, n)
}

// layoutOf cuts a line into the columns of the first layout that fits. found
// without a layout says that it fits one, and is of no request.
func (r *accessParser) layoutOf(line []byte) (l *accessLayout, found bool) {
	cut := 0 // columns that are cut already, of the layout before
	for i, l := range r.layouts {
		if l.json != nil {
			if l.json.split(line, &r.values) {
				if !l.json.fresh && l.requestIn(line, &r.values) {
					return l, true
				}
				found = true
			}
			cut = 0
			continue
		}
		ok := false
		if cut, ok = l.splitFrom(min(cut, r.shared[i]), line, &r.values); ok {
			return l, true
		}
	}
	return nil, found
}

// read fills in what a line says that was cut into values. The time is zero if
// there is none that can be read: the line is no request's then.
func (r *accessParser) read(l *accessLayout, line []byte, a *evidence.Access) (at time.Time, zoned evidence.Tri) {
	p := &l.plan
	value := func(role accessRole) []byte {
		if c := p.at[role]; c >= 0 {
			return r.values[c].of(line)
		}
		return nil
	}
	*a = evidence.Access{
		Side: evidence.Provider, Software: p.software, Started: p.started,
		Status: evidence.None, Duration: evidence.None, Queued: evidence.None, Attempts: evidence.None,
	}
	clock := value(roleTime)
	if p.has(roleStart) {
		clock, a.Started = value(roleStart), true
	}
	if at, zoned = r.time(&r.clock, clock); at.IsZero() {
		return at, zoned
	}
	if p.has(roleRequest) {
		a.Verb, a.Path = requestParts(value(roleRequest))
	} else {
		a.Verb, a.Path = valueOrNil(value(roleVerb)), valueOrNil(value(rolePath))
	}
	if l.json != nil {
		if i := bytes.IndexByte(a.Path, '\\'); i >= 0 {
			r.path = appendUnescaped(r.path[:0], a.Path, i)
			a.Path = r.path
		}
	}
	a.Client, a.Host = valueOrNil(value(roleClient)), valueOrNil(value(roleHost))
	a.Status = accessStatus(value(roleStatus))
	a.Outcome = evidence.StatusOutcome(a.Status)
	if v := value(roleDuration); v != nil {
		if p.pair {
			v = v[bytes.IndexByte(v, '/')+1:]
		}
		a.Duration = accessDuration(v, p.unit[roleDuration])
	}
	a.RequestID = valueOrNil(value(roleRequestID))
	if l.more {
		r.readMore(p, line, a, at)
	}
	switch {
	case p.has(roleTimers):
		r.haproxyRequest(a, value(roleServer), value(roleTimers), value(roleCounters), value(roleQueues), value(roleCapture))
	case p.has(roleTries):
		r.kongTries(a, value(roleTries), value(roleUpTime))
	case p.proxy:
		r.upstreams(a, p, value(roleUpAddr), value(roleUpStatus), value(roleUpTime), value(roleUpConnect), value(roleUpHeader))
		switch {
		case p.software == "envoy":
			envoyRequest(a)
		case p.software == "traefik" && len(a.Upstreams) == 0:
			a.Attempts = 0
		case p.software == "aws-elb" && a.Attempts == 0 && a.Status == 503:
			a.Outcome = evidence.NoProvider
		}
	}
	return at, zoned
}

// readMore fills in what few layouts have.
func (r *accessParser) readMore(p *accessPlan, line []byte, a *evidence.Access, at time.Time) {
	value := func(role accessRole) []byte {
		if c := p.at[role]; c >= 0 {
			return r.values[c].of(line)
		}
		return nil
	}
	if v := value(roleQueued); v != nil {
		a.Queued = accessDuration(v, p.unit[roleQueued])
	}
	if v := value(roleTrace); a.RequestID == nil && !isDash(v) {
		a.RequestID = traceOf(v)
	}
	if v := value(roleBackend); !isDash(v) {
		a.Backend = r.names.of(v)
	}
	if v := value(roleFlags); !isDash(v) {
		a.Flags = r.names.of(v)
	}
	if v := value(roleGRPC); !isDash(v) && a.Outcome == evidence.OK {
		if o := grpcAnswered(v); o != evidence.OutcomeUnknown {
			a.Outcome = o
		}
	}
	if v := value(roleAttempts); v != nil {
		a.Attempts = accessCount(v)
	}
	if n := accessCount(value(roleRetries)); n >= 0 {
		a.Attempts = n + 1
	}
	a.Ordinal = max(0, accessCount(value(roleOrdinal)))
	if v := value(rolePeer); !isDash(v) {
		a.Peer = r.names.of(v)
	}
	for i := 1; i < p.parts; i++ { // the phases of a request
		part := accessDuration(r.values[int(p.at[roleDuration])+i].of(line), p.unit[roleDuration])
		if part < 0 || a.Duration < 0 {
			a.Duration = evidence.None
			break
		}
		a.Duration += part
	}
	if v := value(roleCreated); a.Duration < 0 && v != nil {
		if came, _ := r.time(&r.created, v); !came.IsZero() && !at.Before(came) {
			a.Duration = at.Sub(came)
		}
	}
}

func valueOrNil(v []byte) []byte {
	if isDash(v) {
		return nil
	}
	return v
}

// traceOf returns the trace ID of a traceparent, or v as it is.
func traceOf(v []byte) []byte {
	if len(v) == 55 && v[2] == '-' && v[35] == '-' {
		return v[3:35]
	}
	return v
}

// upstreams takes the tries of a proxy from lists with an element each.
func (r *accessParser) upstreams(a *evidence.Access, p *accessPlan, addrs, statuses, times, connects, headers []byte) {
	a.Side = evidence.Consumer
	r.tries = r.tries[:0]
	named := p.has(roleUpAddr)
	dead := false
	group := 0
	lead := addrs
	if !named {
		if lead = statuses; !p.has(roleUpStatus) {
			lead = times
		}
	}
	for len(lead) > 0 {
		var addr, status, took, connect, header []byte
		var next bool
		if named {
			addr, addrs, next = nextElement(addrs)
		}
		status, statuses, next = nextIn(statuses, next)
		took, times, next = nextIn(times, next)
		connect, connects, _ = nextElement(connects)
		header, headers, _ = nextElement(headers)
		switch {
		case named:
			lead = addrs
		case p.has(roleUpStatus):
			lead = statuses
		default:
			lead = times
		}
		var to *accessAddr
		if named {
			to = r.addrOf(addr)
		}
		switch {
		case named && to.group:
			dead = true // none of its servers was alive
		case named && to.name == "", !named && isDash(status) && isDash(took):
		default:
			u := evidence.Upstream{Status: accessStatus(status), Duration: evidence.None, Connect: evidence.None, Header: evidence.None, Group: group}
			if named {
				u.Addr = to.name
			}
			u.Duration = accessDuration(took, p.unit[roleUpTime])
			u.Connect = accessDuration(connect, p.unit[roleUpConnect])
			u.Header = accessDuration(header, p.unit[roleUpHeader])
			r.tries = append(r.tries, u)
		}
		if next {
			group++
		}
	}
	a.Upstreams = r.tries
	if len(r.tries) > 0 {
		return
	}
	if a.Upstreams = nil; a.Attempts <= 0 {
		a.Attempts = 0
	}
	switch {
	case dead:
		a.Outcome = evidence.NoProvider
	case a.Status == 503:
		a.Outcome = evidence.Rejected // by a limit of the proxy's own
	}
}

// accessAddr is what an element of a list of addresses says.
type accessAddr struct {
	text  string // as printed; empty: not looked at yet
	name  string // without its scheme and path; empty for a dash
	group bool   // no address: the name of a group
}

// addrOf looks at an address, which is mostly one of a few.
func (r *accessParser) addrOf(v []byte) *accessAddr {
	n := len(v)
	if n == 0 {
		return &accessAddr{}
	}
	x := &r.addrs[(uint(v[n-1])+3*uint(v[n/2])+5*uint(v[max(0, n-6)])+7*uint(n))%uint(len(r.addrs))]
	if x.text == string(v) {
		return x
	}
	*x = accessAddr{text: r.names.of(v)}
	if bare := bareAddr(v); !isDash(bare) {
		x.name = r.names.of(bare)
		x.group = !isUpstreamAddr(bare)
	}
	return x
}

// nextIn is nextElement of one of several lists that run side by side.
func nextIn(list []byte, group bool) (elem, rest []byte, _ bool) {
	elem, rest, g := nextElement(list)
	return elem, rest, group || g
}

// accessClock reads times. Many lines in a row have the same one.
type accessClock struct {
	work  *clockwork
	text  []byte
	time  time.Time
	zoned evidence.Tri
	dated bool // the text has a date with its year
}

func (c *accessClock) read(v []byte) (time.Time, evidence.Tri) {
	if bytes.Equal(v, c.text) {
		return c.time, c.zoned
	}
	var s stamp
	if readStamp(v, &s) == 0 {
		return time.Time{}, evidence.Unknown
	}
	c.text = append(c.text[:0], v...)
	c.time, c.zoned = c.work.resolve(&s)
	c.dated = s.year > 0 || s.shape == shapeEpoch
	return c.time, c.zoned
}
