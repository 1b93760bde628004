package simulate

import (
	"math"
	"math/rand/v2"
)

// Scenario is a stretch of time to be played.
type Scenario struct {
	Model Model
	ForS  float64 // how long; 60 if 0
	// Trigger is the trouble that begins it all; the zero value is none.
	Trigger Trigger
	Seed    uint64
	Points  int // into how many the time is cut; 60 if 0
	Events  int // about how many are played at most; 3,000,000 if 0
}

// troubled is how many times as long one takes in a trouble that is not known.
const troubled = 5

// Troubled is how a model is played with a passing trouble, where that tells
// something: with a calm hold time, the model's own is that of the trouble;
// without one, what can be stuck is pushed once.
func Troubled(m Model, calmS float64, stuck bool, t Trigger) Scenario {
	s := Scenario{Model: m}
	switch {
	case calmS > 0: // a change of the hold time shortens the trouble's, not that of calm times
		t.HoldS, s.Model.HoldS = m.HoldS, math.Min(calmS, m.HoldS)
	case stuck:
		t.HoldS = troubled * m.HoldS
	default:
		return s
	}
	s.Trigger = t
	return s
}

// Trigger is a passing trouble. Outside it the model holds.
type Trigger struct {
	AtS          float64 `json:"at_s"`
	ForS         float64 `json:"for_s"`
	HoldS        float64 `json:"hold_s"`         // hold time meanwhile; 0: the model's
	ArrivalsPerS float64 `json:"arrivals_per_s"` // arrivals meanwhile; 0: the model's
}

func (t Trigger) on(at float64) bool { return at >= t.AtS && at < t.AtS+t.ForS }

// Point is what happened in an interval; rates are per second.
type Point struct {
	AtS          float64 `json:"at_s"`        // its beginning
	CallsPerS    float64 `json:"calls_per_s"` // calls that began
	LoadPerS     float64 `json:"load_per_s"`  // attempts that were sent
	GoodPerS     float64 `json:"good_per_s"`  // calls that ended
	FailedPerS   float64 `json:"failed_per_s"`
	RejectedPerS float64 `json:"rejected_per_s"` // attempts that were refused
	LatePerS     float64 `json:"late_per_s"`     // attempts whose caller gave up
	Busy         float64 `json:"busy"`           // means over the interval
	Queued       float64 `json:"queued"`
	Orphaned     float64 `json:"orphaned"` // of Busy, workers at work for nobody
}

// Totals counts a whole run. Calls = Good + Failed + Open.
type Totals struct {
	Calls    int64   `json:"calls"`
	Good     int64   `json:"good"`
	Failed   int64   `json:"failed"`
	Open     int64   `json:"open"`
	Attempts int64   `json:"attempts"`
	Rejected int64   `json:"rejected"`
	Late     int64   `json:"late"`
	Bad      int64   `json:"bad"`    // attempts that failed for other reasons
	Served   int64   `json:"served"` // attempts that a worker finished, in time or not
	BusyS    float64 `json:"busy_s"`
}

// Series is a run: what happened over time.
type Series struct {
	Points []Point `json:"points"` // fewer than asked for if there was too much to play
	Totals Totals  `json:"totals"`
	// Scale is the share of the fleet that was played, rates being counted up to
	// the whole: 1, or less where the whole would be too much to play.
	Scale float64 `json:"scale"`
	// Recovered says that calls went well again from RecoveredS, after the trouble
	// was over, until the end.
	Recovered  bool    `json:"recovered"`
	RecoveredS float64 `json:"recovered_s,omitempty"`
}

// maxEvents is about how much is played.
const maxEvents = 3_000_000

// Run plays a scenario, event by event: calls arrive at random, workers are kept
// as long as the model says, callers give up and try again as configured.
func Run(s Scenario) (Series, error) {
	if err := s.Model.Check(); err != nil {
		return Series{}, err
	}
	if s.ForS <= 0 || math.IsNaN(s.ForS) {
		s.ForS = 60
	}
	s.ForS = min(s.ForS, maxSeconds)
	if s.Points <= 0 {
		s.Points = 60
	}
	s.Points = min(s.Points, 10_000)
	if s.Events <= 0 || s.Events > maxEvents {
		s.Events = maxEvents
	}
	r := newRun(s)
	r.play()
	return r.series(), nil
}

// event is something that will happen.
type event struct {
	at   float64
	seq  uint64 // events of one moment happen in the order in which they were made
	kind eventKind
	who  int32 // call or attempt
	nth  uint32
}

type eventKind uint8

const (
	arrive eventKind = iota
	resend
	finish
	giveUp
)

// caller is a call that is not over.
type caller struct {
	left []int16 // retries left, by layer
}

// request is an attempt that its caller or a worker still has to do with.
type request struct {
	call     int32
	nth      uint32 // how often the slot was used: events of older attempts are stale
	working  bool
	queued   bool
	answered bool // the caller knows how it ended, or gave up
	bad      bool
}

// run is a scenario being played.
type run struct {
	s      Scenario
	m      Model // scaled
	scale  float64
	rng    *rand.Rand
	events heap
	seq    uint64
	now    float64

	calls     []caller
	freeCalls []int32
	reqs      []request
	freeReqs  []int32
	queue     []int32 // requests that wait, oldest first, from head on
	head      int
	waiting   int
	busy      int
	orphaned  int

	points []Point
	at     int // the interval at hand
	totals Totals
}

func newRun(s Scenario) *run {
	r := &run{s: s, m: s.Model, scale: 1, rng: rand.New(rand.NewPCG(s.Seed, 0x66697265))}
	r.points = make([]Point, s.Points)
	rate := max(s.Model.ArrivalsPerS, s.Trigger.ArrivalsPerS)
	if worst := 3 * rate * s.ForS * s.Model.Ceiling(); worst > float64(s.Events) {
		threads := max(1, math.Floor(float64(s.Model.Threads)*float64(s.Events)/worst))
		r.scale = threads / float64(s.Model.Threads)
		r.m.Threads = int(threads)
		r.m.ArrivalsPerS *= r.scale
		r.s.Trigger.ArrivalsPerS *= r.scale
		if r.m.Queue > 0 {
			r.m.Queue = int(math.Round(float64(r.m.Queue) * r.scale))
		}
	}
	return r
}

// roundTrip is how long it takes at least until a failure is known and the next
// attempt arrives.
const roundTrip = 0.001

func (r *run) play() {
	r.next()
	most := 4 * r.s.Events // bounds a run whose single worker has more to do than can be played
	for n := 0; ; n++ {
		e := r.events.pop() // the next arrival is always among them
		if e.at >= r.s.ForS {
			r.pass(r.s.ForS)
			break
		}
		if n == most {
			r.points = r.points[:r.at]
			break
		}
		r.pass(e.at)
		switch e.kind {
		case arrive:
			r.arrive()
		case resend:
			r.send(e.who)
		case finish:
			if x := &r.reqs[e.who]; x.nth == e.nth && x.working {
				r.finish(e.who)
			}
		case giveUp:
			if x := &r.reqs[e.who]; x.nth == e.nth && !x.answered {
				r.giveUp(e.who)
			}
		}
	}
	r.totals.Open = r.totals.Calls - r.totals.Good - r.totals.Failed
}

// pass lets time go by, adding up who was busy.
func (r *run) pass(to float64) {
	width := r.s.ForS / float64(len(r.points))
	for r.now < to {
		until := to
		if end := float64(r.at+1) * width; end <= to && r.at < len(r.points)-1 {
			until = end
		}
		d := until - r.now
		p := r.point()
		p.Busy += float64(r.busy) * d
		p.Queued += float64(r.waiting) * d
		p.Orphaned += float64(r.orphaned) * d
		r.totals.BusyS += float64(r.busy) * d
		if r.now = until; until < to {
			r.at++
		}
	}
}

// point is where what happens now is counted.
func (r *run) point() *Point { return &r.points[r.at] }

func (r *run) add(at float64, kind eventKind, who int32, nth uint32) {
	r.seq++
	r.events.push(event{at, r.seq, kind, who, nth})
}

// next makes the next arrival.
func (r *run) next() {
	rate := r.m.ArrivalsPerS
	if t := r.s.Trigger; t.ArrivalsPerS > 0 && t.on(r.now) {
		rate = t.ArrivalsPerS
	}
	r.add(r.now+r.rng.ExpFloat64()/rate, arrive, 0, 0)
}

func (r *run) arrive() {
	r.next()
	var c int32
	if n := len(r.freeCalls); n > 0 {
		c, r.freeCalls = r.freeCalls[n-1], r.freeCalls[:n-1]
	} else {
		c = int32(len(r.calls))
		r.calls = append(r.calls, caller{left: make([]int16, len(r.m.Layers))})
	}
	for i, l := range r.m.Layers {
		r.calls[c].left[i] = int16(l.Retries)
	}
	r.totals.Calls++
	r.point().CallsPerS++
	r.send(c)
}

// send makes an attempt of a call.
func (r *run) send(c int32) {
	r.totals.Attempts++
	r.point().LoadPerS++
	var i int32
	if n := len(r.freeReqs); n > 0 {
		i, r.freeReqs = r.freeReqs[n-1], r.freeReqs[:n-1]
	} else {
		i = int32(len(r.reqs))
		r.reqs = append(r.reqs, request{})
	}
	x := &r.reqs[i]
	*x = request{call: c, nth: x.nth + 1}
	switch {
	case r.busy < r.m.Threads:
		r.work(i)
	case r.m.Queue == Endless || r.waiting < r.m.Queue:
		x.queued = true
		r.queue = append(r.queue, i)
		r.waiting++
	default:
		r.totals.Rejected++
		r.point().RejectedPerS++
		x.answered = true
		r.release(i)
		r.failed(c)
		return
	}
	if r.m.TimeoutS > 0 {
		r.add(r.now+r.m.TimeoutS, giveUp, i, r.reqs[i].nth)
	}
}

// work gives a request to a worker.
func (r *run) work(i int32) {
	x := &r.reqs[i]
	x.working, x.queued = true, false
	r.busy++
	if x.answered {
		r.orphaned++
	}
	hold := r.m.HoldS
	if t := r.s.Trigger; t.HoldS > 0 && t.on(r.now) {
		hold = t.HoldS
	}
	if r.m.FastShare > 0 && r.rng.Float64() < r.m.FastShare {
		hold = r.m.FastHoldS
	}
	hold = (1-r.m.Spread)*hold + r.m.Spread*hold*r.rng.ExpFloat64()
	x.bad = r.m.FailShare > 0 && r.rng.Float64() < r.m.FailShare
	r.add(r.now+hold, finish, i, x.nth)
}

// finish ends the work at a request.
func (r *run) finish(i int32) {
	x := &r.reqs[i]
	r.totals.Served++
	answered, bad, c := x.answered, x.bad, x.call
	if answered {
		r.orphaned--
	}
	x.answered = true
	r.free(i)
	switch {
	case answered: // for nobody
	case bad:
		r.totals.Bad++
		r.failed(c)
	default:
		r.succeeded(c)
	}
}

// free takes a worker from a request, and gives it the next one that waits.
func (r *run) free(i int32) {
	x := &r.reqs[i]
	r.busy--
	x.working = false
	r.release(i)
	for r.head < len(r.queue) {
		k := r.queue[r.head]
		r.head++
		if r.head > 1024 && r.head*2 > len(r.queue) {
			r.queue = append(r.queue[:0], r.queue[r.head:]...)
			r.head = 0
		}
		if !r.reqs[k].queued { // given up meanwhile
			r.release(k)
			continue
		}
		r.waiting--
		r.work(k)
		return
	}
}

// giveUp is a caller's timeout.
func (r *run) giveUp(i int32) {
	x := &r.reqs[i]
	c := x.call
	x.answered = true
	r.totals.Late++
	r.point().LatePerS++
	switch {
	case r.m.Cancels && x.working:
		r.free(i)
	case r.m.Cancels && x.queued:
		x.queued = false
		r.waiting--
	case x.working:
		r.orphaned++
	}
	r.failed(c)
}

func (r *run) release(i int32) { r.freeReqs = append(r.freeReqs, i) }

// failed is what callers do about an attempt that failed: the innermost layer
// that has a retry left makes it, and those below it begin anew.
func (r *run) failed(c int32) {
	left := r.calls[c].left
	for l := len(left) - 1; l >= 0; l-- {
		if left[l] == 0 {
			continue
		}
		left[l]--
		for below := l + 1; below < len(left); below++ {
			left[below] = int16(r.m.Layers[below].Retries)
		}
		r.add(r.now+r.m.Layers[l].BackoffS+roundTrip, resend, c, 0)
		return
	}
	r.totals.Failed++
	r.point().FailedPerS++
	r.freeCalls = append(r.freeCalls, c)
}

func (r *run) succeeded(c int32) {
	r.totals.Good++
	r.point().GoodPerS++
	r.freeCalls = append(r.freeCalls, c)
}

// series makes rates of what was counted.
func (r *run) series() Series {
	width := r.s.ForS / float64(r.s.Points)
	by := 1 / (width * r.scale)
	for i := range r.points {
		p := &r.points[i]
		p.AtS = float64(i) * width
		for _, x := range []*float64{&p.CallsPerS, &p.LoadPerS, &p.GoodPerS, &p.FailedPerS, &p.RejectedPerS, &p.LatePerS, &p.Busy, &p.Queued, &p.Orphaned} {
			*x *= by
		}
	}
	s := Series{Points: r.points, Totals: r.totals, Scale: r.scale}
	s.RecoveredS, s.Recovered = r.recovered()
	return s
}

// well is the share of calls that succeed where they go well: nearly all, in
// however short an interval.
const well = 0.95

// recovered finds since when calls have gone well until the end.
func (r *run) recovered() (at float64, ok bool) {
	after := 0.0
	if r.s.Trigger.ForS > 0 {
		after = r.s.Trigger.AtS + r.s.Trigger.ForS
	}
	for i := len(r.points) - 1; i >= 0; i-- {
		p := &r.points[i]
		if p.AtS < after {
			break
		}
		if ended := p.GoodPerS + p.FailedPerS; ended == 0 && p.CallsPerS > 0 || p.GoodPerS < (1-r.m.FailShare)*well*ended {
			break
		}
		at, ok = p.AtS, true
	}
	return at, ok
}

// heap is a binary heap of events, the next one first.
type heap []event

func (a event) before(b event) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

func (h *heap) push(e event) {
	*h = append(*h, e)
	l := *h
	for i := len(l) - 1; i > 0; {
		up := (i - 1) / 2
		if !l[i].before(l[up]) {
			break
		}
		l[i], l[up] = l[up], l[i]
		i = up
	}
}

func (h *heap) pop() event {
	l := *h
	first, n := l[0], len(l)-1
	l[0] = l[n]
	l = l[:n]
	for i := 0; ; {
		k := 2*i + 1
		if k >= n {
			break
		}
		if k+1 < n && l[k+1].before(l[k]) {
			k++
		}
		if !l[k].before(l[i]) {
			break
		}
		l[i], l[k] = l[k], l[i]
		i = k
	}
	*h = l
	return first
}
