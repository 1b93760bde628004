package ledger

import (
	"cmp"
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Two logs of one request tell how many deliveries one call became, even if
// neither says so itself: n lines of one request ID and target at the server are
// n deliveries of what its caller's log has once, if they follow each other as
// retries do (resent.go). Without request IDs, the calls
// of one log are held against the arrivals of the other, for one method and the
// time that both cover.

// maxRequestSpan is how far apart lines of one request ID may be.
const maxRequestSpan = int64(10 * time.Minute)

// remember keeps what is needed to match a line with those of other logs.
func (a *accessLog) remember(x *evidence.Access, server, method uint32, start int64, tries int, o evidence.Outcome, ex example) {
	y := line{
		start: start, dur: ex.dur, server: server, method: method, source: ex.source, line: ex.line,
		tries: int16(min(tries, 1<<15-1)), caller: x.Side == evidence.Consumer || tries >= 0, failed: isFailure(o),
		left: o == evidence.Cancelled, endless: x.Duration < 0,
	}
	if len(x.Path) > 0 {
		y.target = hashBytes(1, x.Path)
	} else {
		y.target = hashBytes(4, a.route)
	}
	if len(x.Key) > 0 && x.Side != evidence.Consumer {
		y.id = hashBytes(hashBytes(5, a.route), x.Key)
		a.keys.add(&y)
	}
	if len(x.RequestID) > 0 {
		y.id = hashBytes(2, x.RequestID)
		a.requests.add(&y)
		return
	}
	if len(x.Client) > 0 && len(x.Path) > 0 && tries < 0 && start != 0 {
		y.id = mix(hashBytes(hashBytes(3, hostBytes(x.Client)), x.Path) ^ a.hashes.of(a.servers, server))
		a.repeats.add(&y)
	}
}

// hopKey is a caller's log and what of a callee's log stood behind it.
type hopKey struct {
	caller, callee, method uint32
}

type hopSum struct {
	calls, arrivals, tries int64
	told                   bool
	by                     map[int]int64
	kinds                  arrivalKinds
	shapes                 map[arrivalShape]int64
	worst                  int64
	cite                   evidence.Citation
	from, to               int64
}

// hops matches the logs of callers and callees.
func (a *accessLog) hops(b *Book) {
	sums := map[hopKey]*hopSum{}
	lines := a.requests.lines
	if oneServer(lines) {
		lines = nil // nothing to match with
	}
	slices.SortFunc(lines, func(x, y line) int {
		if x.id != y.id {
			return cmp.Compare(x.id, y.id)
		}
		return cmp.Or(cmp.Compare(a.servers.keys[x.server], a.servers.keys[y.server]), cmp.Compare(x.target, y.target), a.compareLines(&x, &y))
	})
	above := a.whoCalls(lines)
	alone, fromNowhere := map[uint32]int64{}, map[uint32]int64{}
	eachRun(lines, func(x, y *line) bool { return x.id == y.id }, func(run []line) {
		a.request(run, above, sums, alone, fromNowhere)
	})
	matched := map[uint32]bool{} // methods that were joined by request ID
	for k, s := range sums {
		loose := s.settle()
		h := Hop{
			Caller: a.servers.keys[k.caller], Callee: a.servers.keys[k.callee], Method: a.methods.keys[k.method], Calls: s.calls, Arrivals: s.arrivals,
			Amplification: ratio(float64(s.arrivals), float64(s.calls)), Joined: true, Attempts: evidence.None, ByArrivals: s.by, Cite: s.cite,
			Unmatched: map[string]int64{},
		}
		if s.told {
			h.Attempts = s.tries
		}
		if s.from != 0 {
			h.From, h.To = time.Unix(0, s.from).UTC(), time.Unix(0, s.to).UTC()
		}
		if loose > 0 {
			h.Unmatched["arrivals of one request ID that do not follow each other as retries do"] = loose
		}
		if n := alone[k.caller]; n > 0 {
			h.Unmatched["caller's line without an arrival"] = n
		}
		if n := fromNowhere[k.callee]; n > 0 {
			h.Unmatched["arrival without a caller's line"] = n
		}
		matched[k.method] = true
		b.Hops = append(b.Hops, h)
	}
	a.countHops(b, matched)
	slices.SortFunc(b.Hops, func(x, y Hop) int {
		return cmp.Or(cmp.Compare(y.Arrivals-y.Calls, x.Arrivals-x.Calls), cmp.Compare(y.Arrivals, x.Arrivals), cmp.Compare(x.Caller, y.Caller),
			cmp.Compare(x.Callee, y.Callee), cmp.Compare(x.Method, y.Method))
	})
	if len(b.Hops) > a.cfg.MaxEdges {
		b.Hops = b.Hops[:a.cfg.MaxEdges]
	}
}

func oneServer(lines []line) bool {
	for i := range lines {
		if lines[i].server != lines[0].server {
			return false
		}
	}
	return true
}

// compareLines orders the lines of one request by time and place.
func (a *accessLog) compareLines(x, y *line) int {
	if x.start != y.start {
		return cmp.Compare(x.start, y.start)
	}
	return cmp.Or(cmp.Compare(a.sources.keys[x.source], a.sources.keys[y.source]), cmp.Compare(x.line, y.line))
}

// eachRun calls f for each run of equal neighbours.
func eachRun(lines []line, same func(x, y *line) bool, f func(run []line)) {
	for i := 0; i < len(lines); {
		n := i + 1
		for n < len(lines) && same(&lines[i], &lines[n]) {
			n++
		}
		f(lines[i:n])
		i = n
	}
}

// pair is two servers whose logs share request IDs.
type pair struct{ a, b uint32 }

// whoCalls finds which of two servers is the caller: the one that says so of
// itself, else the one whose requests last longer, for they enclose the other's.
func (a *accessLog) whoCalls(lines []line) map[pair]bool {
	type weight struct {
		says int64
		ns   int64
	}
	weights := map[pair]*weight{}
	eachRun(lines, func(x, y *line) bool { return x.id == y.id }, func(run []line) {
		if len(run) > 256 {
			run = run[:256]
		}
		for i := 0; i < len(run); {
			n := i + 1
			for n < len(run) && run[n].server == run[i].server {
				n++
			}
			if n < len(run) {
				for k := n; k < len(run); k++ {
					if run[k].server == run[k-1].server && k > n {
						continue
					}
					p := pair{run[i].server, run[k].server}
					w := weights[p]
					if w == nil {
						if len(weights) >= a.cfg.MaxEdges {
							continue
						}
						w = &weight{}
						weights[p] = w
					}
					if run[i].caller != run[k].caller {
						w.says += sign(run[i].caller)
					}
					w.ns += run[i].dur - run[k].dur
				}
			}
			i = n
		}
	})
	above := map[pair]bool{}
	for p, w := range weights {
		if w.says > 0 || w.says == 0 && w.ns >= 0 {
			above[p] = true
		} else {
			above[pair{p.b, p.a}] = true
		}
	}
	return above
}

func sign(plus bool) int64 {
	if plus {
		return 1
	}
	return -1
}

// request adds the lines of one request ID.
func (a *accessLog) request(run []line, above map[pair]bool, sums map[hopKey]*hopSum, alone, fromNowhere map[uint32]int64) {
	if len(run) > 4096 {
		return // an ID that is none
	}
	// Arrivals of each server, one target at a time, against the lines of the
	// nearest server above it: the one that itself has the most servers above.
	for i := 0; i < len(run); {
		n := i + 1
		for n < len(run) && run[n].server == run[i].server && run[n].target == run[i].target {
			n++
		}
		callee := run[i].server
		caller, depth, below := uint32(0), -1, false
		for k := range run {
			s := run[k].server
			below = below || s != callee && above[pair{callee, s}]
			if s == callee || !above[pair{s, callee}] || above[pair{callee, s}] {
				continue
			}
			d := 0
			for m := range run {
				if run[m].server != s && above[pair{run[m].server, s}] {
					d++
				}
			}
			if d > depth || d == depth && a.servers.keys[s] < a.servers.keys[caller] {
				caller, depth = s, d
			}
		}
		switch {
		case depth >= 0:
			a.hop(sums, run, run[i:n], caller)
		case !below && !run[i].caller:
			fromNowhere[callee] += int64(n - i)
		case !below:
			alone[callee] += int64(n - i)
		}
		i = n
	}
}

func (a *accessLog) hop(sums map[hopKey]*hopSum, run, arrived []line, caller uint32) {
	first := &arrived[0]
	k := hopKey{caller, first.server, first.method}
	s := sums[k]
	if s == nil {
		if len(sums) >= 4*a.cfg.MaxEdges {
			return
		}
		s = &hopSum{by: map[int]int64{}, shapes: map[arrivalShape]int64{}}
		sums[k] = s
	}
	calls, tries := int64(0), int64(0)
	for i := range run {
		x := &run[i]
		if x.server != caller || x.start != 0 && first.start != 0 && abs(x.start-first.start) > maxRequestSpan {
			continue
		}
		calls++
		if x.tries >= 0 {
			tries += int64(x.tries)
			s.told = true
		}
	}
	n := int64(len(arrived))
	s.arrivals += n
	s.tries += tries
	of := s.kinds.shapeOf(arrived)
	of.calls, of.toldMore = calls, max(0, tries-calls)
	s.shapes[of]++
	if again := int64(of.resent + of.waited + 1); again > s.worst {
		s.worst = again
		s.cite = evidence.Citation{Source: a.sources.keys[first.source], Line: int(first.line)}
	}
	if first.start != 0 {
		if s.from == 0 || first.start < s.from {
			s.from = first.start
		}
		s.to = max(s.to, arrived[len(arrived)-1].start)
	}
}

// settle counts the calls once it is known what arrivals of one request ID are at
// this hop. It returns how many of them are none of these calls' retries, though
// of their ID.
func (s *hopSum) settle() (loose int64) {
	afterFailure, afterWait := s.kinds.retried()
	for of, times := range s.shapes {
		n, calls := int64(of.n), of.requests(afterFailure, afterWait)
		s.calls += calls * times
		s.by[int(min(n/calls, maxBy))] += calls * times
		loose += (calls - max(1, min(of.calls, n))) * times
	}
	return loose
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

// countHops holds the calls of callers' logs against the arrivals at servers,
// for methods that no request ID joined.
func (a *accessLog) countHops(b *Book, matched map[uint32]bool) {
	type side struct {
		list     []*accessSum
		names    []string
		from, to int64
	}
	collect := func(m map[uint32]*side, method uint32, e *accessSum, name string) {
		s := m[method]
		if s == nil {
			s = &side{from: e.first, to: e.last}
			m[method] = s
		}
		s.list = append(s.list, e)
		s.names = append(s.names, name)
		s.from, s.to = min(s.from, e.first), max(s.to, e.last)
	}
	callers, callees := map[uint32]*side{}, map[uint32]*side{}
	proxies := map[[2]uint32]bool{}
	for k, e := range a.proxied {
		proxies[[2]uint32{k.server, k.method}] = true
		if e.first != 0 && !matched[k.method] && k.method > 1 {
			collect(callers, k.method, e, a.servers.keys[k.server])
		}
	}
	for k, e := range a.arrivals {
		if e.first != 0 && !proxies[[2]uint32{k.server, k.method}] && !matched[k.method] && k.method > 1 {
			collect(callees, k.method, e, a.servers.keys[k.server])
		}
	}
	for method, from := range callers {
		to := callees[method]
		if to == nil {
			continue
		}
		start, end := max(from.from, to.from), min(from.to, to.to)
		step := int64(a.grid.step())
		// Whole windows inside the common time, and those at its ends, whose other
		// part neither log covers.
		start -= start % step
		end += step - end%step
		h := Hop{
			Caller: joined(from.names), Callee: joined(to.names), Method: a.methods.keys[method], Amplification: evidence.None, Attempts: evidence.None,
			From: time.Unix(0, start).UTC(), To: time.Unix(0, end).UTC(), Unmatched: map[string]int64{},
		}
		var allCalls, allArrivals int64
		for _, e := range from.list {
			h.Calls += a.grid.between(&e.series, start, end).calls
			allCalls += e.seenCalls
		}
		for _, e := range to.list {
			h.Arrivals += a.grid.between(&e.series, start, end).attempts
			allArrivals += int64(e.edgeSum.attempts)
		}
		if h.Calls == 0 || h.Arrivals == 0 {
			continue
		}
		h.Amplification = float64(h.Arrivals) / float64(h.Calls)
		if n := allCalls - h.Calls; n > 0 {
			h.Unmatched["call outside the common time"] = n
		}
		if n := allArrivals - h.Arrivals; n > 0 {
			h.Unmatched["arrival outside the common time"] = n
		}
		b.Hops = append(b.Hops, h)
	}
}

// joined lists distinct names in order.
func joined(names []string) string {
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > 4 {
		names = append(names[:4:4], "…")
	}
	s := ""
	for i, n := range names {
		if i > 0 {
			s += ", "
		}
		s += n
	}
	return s
}
