// Package live counts spans that go on coming, in bounded memory, and concludes
// from the latest of them now and then.
//
// It does two things with each record. The counters are exact: spans wait, by
// trace, until their trace has been quiet for a while; traces that are done are
// joined by a ledger and their sums are added to what was counted before. The
// report is of the recent past: a bounded ring of the latest records is read
// again by a fresh [correlate.Engine], whole traces at a time, a share of them
// when there are more than fit.
//
// It promises: a span is counted once, or counted as lost by reason; memory is
// bounded by Config. It cannot know: what a trace goes on to do after it was
// quiet for longer than Config.Lateness (such spans are counted as late), and,
// where nothing but likeness tells a retry from a loop, more than the traces
// tell that were done until then: the first few of an operation may be ambiguous.
//
// An Engine may be used by many goroutines.
package live

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// Config bounds an engine. The zero value of a field takes the default named
// beside it.
type Config struct {
	// Lateness is how long nothing of a trace must have come before it is done
	// (10 s); MaxAge how old it grows at most (60 s).
	Lateness, MaxAge time.Duration
	// MaxSpans is how many spans wait for their trace to be done (1,000,000, at
	// about 100 bytes each and 60 for each trace). Past 70 % of it traces are done
	// earlier; what does not fit is refused.
	MaxSpans int
	// MaxEdges bounds the edges, MaxMethods the methods of one edge (2,000, 20); of
	// all edges together there are 20,000, and one more for each.
	// The rest is counted in one called [Other].
	MaxEdges, MaxMethods int
	// EdgeIdle is after what time without a call an edge is forgotten (1 h).
	EdgeIdle time.Duration

	// Recent is how far back reports look (5 min), MaxRecent and MaxRecentBytes
	// how many records they are made of at most (100,000, 128 MiB).
	Recent         time.Duration
	MaxRecent      int
	MaxRecentBytes int
	// MaxRawBytes bounds the latest bytes of followed files that are kept for
	// bundles of evidence (32 MiB; below zero: none are).
	MaxRawBytes int

	Version     string                           // of the tool, for reports
	Fingerprint func(system, text string) string // removes the literals of a statement, if given
	Conclude    func(*incident.Report) error     // is applied to each report before it is published, if given
	// Observed hears of each report once it is published, one at a time, if given.
	Observed func(context.Context, *Published, *Basis)
	Now      func() time.Time             // the time (time.Now)
	Failed   func(what string, err error) // hears what went wrong, if given
	Tracer   trace.Tracer                 // takes spans of the engine's own work, if given: one a batch, one a report
}

// Other is the name of what was folded together at a cap.
const Other = "__other__"

func defaulted(c Config) Config {
	wait := func(p *time.Duration, d time.Duration) {
		if *p <= 0 {
			*p = d
		}
	}
	or := func(p *int, d int) {
		if *p <= 0 {
			*p = d
		}
	}
	wait(&c.Lateness, 10*time.Second)
	wait(&c.MaxAge, time.Minute)
	or(&c.MaxSpans, 1_000_000)
	or(&c.MaxEdges, 2_000)
	or(&c.MaxMethods, 20)
	wait(&c.EdgeIdle, time.Hour)
	wait(&c.Recent, 5*time.Minute)
	or(&c.MaxRecent, 100_000)
	or(&c.MaxRecentBytes, 128<<20)
	if c.MaxRawBytes == 0 {
		c.MaxRawBytes = 32 << 20
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Tracer == nil {
		c.Tracer = noop.NewTracerProvider().Tracer("")
	}
	if c.Failed == nil {
		c.Failed = func(string, error) {}
	}
	return c
}

// Engine takes in records as they come.
type Engine struct {
	cfg Config

	mu       sync.Mutex // of what is taken in
	waiting  *ledger.Waiting
	closed   tombstones
	reserved int       // spans of the requests at hand
	arrived  int       // of those, the spans that were added
	came     time.Time // when the latest of those requests did
	joining  int       // spans that were taken out and are being joined
	recent   recent
	sources  sourceBook
	intake   Intake
	rejected rejections

	rawMu sync.Mutex
	raw   rawRing

	closing sync.Mutex // one batch at a time
	sumMu   sync.Mutex
	sums    sums

	publishing sync.Mutex
	published  atomic.Pointer[Published]
	news       chan struct{} // closed with the next report; guarded by mu
	revision   uint64
}

// Intake counts what became of what was sent.
type Intake struct {
	Received map[string]int64 // spans admitted, by transport
	Refused  map[string]int64 // spans refused, by transport: their senders may send them again
	Logs     int64            // records of logs
	Late     int64            // spans that came after their trace was counted
	Stale    int64            // spans that had ended long before they came
	// Weighted counts spans that state for how many they stand, Unweighted others.
	Weighted, Unweighted int64
	LastSpan             time.Time // when the last one came

	SpansHeld, TracesOpen int
	RecentKept            int     // records that the next report is made of
	SourcesFolded         int     // sources that were too many to be listed
	RecentShare           float64 // share of the traces that it sees
}

// New makes an engine.
func New(c Config) *Engine {
	c = defaulted(c)
	e := &Engine{cfg: c, news: make(chan struct{})}
	e.waiting = ledger.NewWaiting(e.ledgerConfig())
	e.intake.Received, e.intake.Refused = map[string]int64{}, map[string]int64{}
	e.sums = newSums(c.MaxEdges, c.MaxMethods)
	e.sums.Started, e.rejected = c.Now(), rejections{}
	e.recent = recent{max: c.MaxRecent, maxBytes: c.MaxRecentBytes}
	e.raw.max = c.MaxRawBytes
	// Whoever follows notices a restart: later engines begin with higher numbers.
	e.revision = uint64(max(0, c.Now().UnixMilli()))
	return e
}

func (e *Engine) ledgerConfig() ledger.Config {
	// Admit keeps it from ever being full, so that it lets no trace go.
	return ledger.Config{MaxAttempts: 4 * e.cfg.MaxSpans, Other: Other, Fingerprint: e.cfg.Fingerprint, Experience: ledger.NewExperience()}
}

// Admit asks for room for some spans that came by a transport. If there is none
// it says so before anything is spent on them. Otherwise Done gives back what
// was asked for, after they were added.
func (e *Engine) Admit(transport string, spans int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.held()+spans > e.cfg.MaxSpans {
		e.intake.Refused[transport] += int64(spans)
		return false
	}
	e.reserved += spans
	e.came = e.cfg.Now()
	e.intake.Received[transport] += int64(spans)
	return true
}

// Done gives back the room that Admit gave.
func (e *Engine) Done(spans int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reserved -= spans
	// Spans that were expected and did not come, or came without being expected,
	// make it seem for a moment that more are expected, or fewer, than are.
	e.arrived = min(max(0, e.arrived-spans), e.reserved)
}

// held is for how many spans memory is in use.
func (e *Engine) held() int { return e.waiting.Held() + e.reserved - e.arrived + e.joining }

// Add takes one record. It keeps nothing of r that is lent.
func (e *Engine) Add(r *evidence.Record) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.came // spans of one request came at one time, as far as waiting goes
	if r.Span == nil || e.reserved == 0 {
		now = e.cfg.Now()
	}
	e.recent.add(now, r)
	if r.Pool != nil {
		e.rejected.add(r)
	}
	if r.Span == nil {
		return
	}
	e.intake.seen(r, now)
	if e.arrived < e.reserved {
		e.arrived++
	}
	e.intake.LastSpan = now
	if id := r.Span.TraceID; !e.waiting.Has(id) && e.closed.has(id) {
		e.intake.Late++
		return
	}
	e.waiting.Add(r, now)
}

// Again takes a record that came at a time before this process began, for the
// reports that look back at it. It is counted nowhere: it was, or was lost, then.
func (e *Engine) Again(r *evidence.Record, came time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.cfg.Now()
	if came.After(now) {
		came = now
	}
	if now.Sub(came) <= e.cfg.Recent {
		e.recent.add(came, r)
	}
}

// AddLogs counts records of logs that came.
func (e *Engine) AddLogs(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.intake.Logs += int64(n)
}

// Advance counts the traces that are done, and forgets what is old.
func (e *Engine) Advance() { e.close(false) }

// Flush counts all traces, done or not.
func (e *Engine) Flush() { e.close(true) }

// close joins the traces that are done and adds them to the sums.
func (e *Engine) close(all bool) {
	e.closing.Lock()
	defer e.closing.Unlock()
	now := e.cfg.Now()
	e.rawMu.Lock()
	e.raw.expire(now.Add(-2*e.cfg.Recent), now.Add(-20*e.cfg.Recent))
	e.rawMu.Unlock()
	e.mu.Lock()
	e.recent.expire(now.Add(-e.cfg.Recent))
	e.sources.expire(now.Add(-e.cfg.Recent))
	done := map[Finalized]int64{}
	wait := e.patience()
	p := ledger.Patience{Quiet: wait, Age: e.cfg.MaxAge, Longer: wait == e.cfg.Lateness, All: all}
	part := e.waiting.Take(now, p, func(id [16]byte, quiet, _ time.Duration) {
		e.closed.add(id)
		done[e.why(quiet, p)]++
	})
	if part != nil {
		e.joining = part.Held()
	}
	e.mu.Unlock()
	if part == nil {
		e.sumMu.Lock()
		e.sums.forget(now.Add(-e.cfg.EdgeIdle))
		e.sumMu.Unlock()
		return
	}
	_, step := e.step(context.Background(), "join", attribute.Int("traces", len(done)), attribute.Int("spans", part.Held()))
	book := part.Close()
	step.End()
	e.sumMu.Lock()
	e.sums.add(book, now)
	for why, n := range done {
		e.sums.Finalized[why] += n
	}
	e.sums.forget(now.Add(-e.cfg.EdgeIdle))
	e.sumMu.Unlock()
	e.mu.Lock()
	e.joining = 0
	e.mu.Unlock()
}

// Finalized is why a trace was counted.
type Finalized string

// The reasons.
const (
	Quiet    Finalized = "quiet"    // nothing more of it came
	Aged     Finalized = "aged"     // it had gone on for long
	Evicted  Finalized = "evicted"  // there was little room left
	Shutdown Finalized = "shutdown" // all were
)

// patience is how long nothing of a trace must have come: less where there is
// little room.
func (e *Engine) patience() time.Duration {
	switch held := e.held(); {
	case held > e.cfg.MaxSpans*85/100:
		return e.cfg.Lateness / 10
	case held > e.cfg.MaxSpans*70/100:
		return e.cfg.Lateness / 3
	}
	return e.cfg.Lateness
}

// why a trace was counted that was quiet for so long.
func (e *Engine) why(quiet time.Duration, p ledger.Patience) Finalized {
	switch {
	case p.All:
		return Shutdown
	case quiet >= e.cfg.Lateness:
		return Quiet
	case quiet >= p.Quiet:
		return Evicted
	}
	return Aged
}

// Snapshot returns what was counted. Nobody changes it any more.
func (e *Engine) Snapshot() *Snapshot {
	e.sumMu.Lock()
	s := e.sums.snapshot()
	e.sumMu.Unlock()
	s.Stores = []Store{e.rawStore()}
	e.mu.Lock()
	defer e.mu.Unlock()
	s.Intake = e.intake
	s.Intake.Received, s.Intake.Refused = maps.Clone(e.intake.Received), maps.Clone(e.intake.Refused)
	s.Intake.SpansHeld, s.Intake.TracesOpen = e.held(), e.waiting.Open()
	s.Intake.RecentKept, s.Intake.RecentShare = len(e.recent.list), e.recent.kept()
	s.Intake.SourcesFolded = e.sources.folded
	s.MaxSpans = e.cfg.MaxSpans
	s.Rejections, s.Stores = e.rejected.list(), append(s.Stores, e.stores()...)
	return s
}

// maxTombstones is how many closed traces are remembered at least, twice as many
// at most: 16 bytes each and the map's own.
const maxTombstones = 1 << 18

// tombstones remembers the traces that were counted last, so that a span that
// comes later is not counted as a call of its own.
type tombstones struct{ young, old map[[16]byte]struct{} }

func (t *tombstones) add(id [16]byte) {
	if t.young == nil || len(t.young) >= maxTombstones {
		t.young, t.old = map[[16]byte]struct{}{}, t.young
	}
	t.young[id] = struct{}{}
}

func (t *tombstones) has(id [16]byte) bool {
	if _, yes := t.young[id]; yes {
		return true
	}
	_, yes := t.old[id]
	return yes
}
