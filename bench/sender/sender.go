// Package sender sends encoded traffic as SDKs and Collectors do: over several
// connections, and again when the receiver asks for it, so that nothing is lost
// unless that is wanted. It counts what it sent in spans.
package sender

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firebreak-io/firebreak/bench/truth"
)

// Config says how to send.
type Config struct {
	GRPC, HTTP  string // addresses; with both, connections take turns
	Connections int    // 4
	JSON        bool   // what the corpus holds; over HTTP only
	Gzip        bool
	Rate        float64 // spans a second of all connections; 0: as fast as they are taken
	// GiveUp counts what is refused and goes on to the next request, instead of
	// sending it again.
	GiveUp bool
	// NoAnswer is how long nothing may be answered at all, from the beginning,
	// before sending fails; 0: 15 s.
	NoAnswer time.Duration
	Token    string // bearer token, if any
}

// Result is what became of what was sent, in spans.
type Result struct {
	Accepted int64         `json:"accepted"`
	Refused  int64         `json:"refused"`  // each time that they were refused
	Resent   int64         `json:"resent"`   // each time that they were sent again
	Rejected int64         `json:"rejected"` // by a partial success
	Failed   int64         `json:"failed"`   // for good: no answer, or one that allows no resending
	Requests int64         `json:"requests"`
	Took     time.Duration `json:"took_ns"`
	Error    string        `json:"error,omitempty"` // the last one
}

// refusal is an answer that asks to come back.
type refusal struct {
	after    time.Duration
	err      error
	answered bool // by the receiver itself
}

func (r *refusal) Error() string { return fmt.Sprintf("come back after %v: %v", r.after, r.err) }

// transport sends one request and returns how many of its spans were rejected.
type transport interface {
	send(ctx context.Context, body []byte) (rejected int64, err error)
	close() error
}

// Load is traffic to send: a corpus so many times, then another once (which may
// be nil), so that any number of calls can be sent.
type Load struct {
	Corpus *truth.Corpus
	Laps   int
	Rest   *truth.Corpus
	// FirstLap numbers the first lap, so that what is sent later, or by another
	// sender, is other traces. Step is how much later each lap's times are.
	FirstLap uint64
	Step     time.Duration
}

// Truth is the truth of the whole load.
func (l *Load) Truth() *truth.Truth {
	t := l.Corpus.Truth.Times(int64(l.Laps))
	if l.Rest != nil {
		t = t.Plus(l.Rest.Truth)
	}
	return t
}

// at is the request of a number and its lap; nil after the last.
func (l *Load) at(n int64) (*truth.Request, int) {
	if lap := n / int64(len(l.Corpus.Requests)); lap < int64(l.Laps) {
		return &l.Corpus.Requests[n%int64(len(l.Corpus.Requests))], int(lap)
	}
	n -= int64(l.Laps * len(l.Corpus.Requests))
	if l.Rest == nil || n >= int64(len(l.Rest.Requests)) {
		return nil, 0
	}
	return &l.Rest.Requests[n], l.Laps
}

// run is one load being sent.
type run struct {
	cfg   Config
	load  *Load
	began time.Time
	next  atomic.Int64 // request
	due   atomic.Int64 // spans begun
	heard atomic.Bool  // an answer came
	mu    sync.Mutex
	last  string // why there was no answer
	Result
}

// Send sends a load, until the context ends.
func Send(ctx context.Context, c Config, l *Load) (Result, error) {
	if c.Connections <= 0 {
		c.Connections = 4
	}
	if c.NoAnswer <= 0 {
		c.NoAnswer = 15 * time.Second
	}
	r := &run{cfg: c, load: l, began: time.Now()}
	within, giveUp := context.WithCancel(ctx)
	defer giveUp()
	watch := time.AfterFunc(c.NoAnswer, func() {
		if !r.heard.Load() {
			giveUp()
		}
	})
	defer watch.Stop()
	var lines []transport
	for i := range c.Connections {
		overGRPC := c.GRPC != "" && (c.HTTP == "" || i%2 == 0)
		switch {
		case overGRPC && c.JSON:
			return r.Result, errors.New("OTLP over gRPC has no JSON")
		case overGRPC:
			t, err := dialGRPC(c)
			if err != nil {
				return r.Result, err
			}
			lines = append(lines, t)
		case c.HTTP != "":
			lines = append(lines, dialHTTP(c))
		default:
			return r.Result, errors.New("nowhere to send to")
		}
	}
	var wg sync.WaitGroup
	for _, t := range lines {
		wg.Go(func() { r.connection(within, t) })
	}
	wg.Wait()
	if within.Err() != nil && ctx.Err() == nil {
		return r.Result, fmt.Errorf("nothing was answered for %v: is that an OTLP receiver, and without TLS? %s", c.NoAnswer, r.last)
	}
	r.Took = time.Since(r.began)
	var errs []error
	for _, t := range lines {
		errs = append(errs, t.close())
	}
	return r.Result, errors.Join(errs...)
}

// connection sends requests, one at a time.
func (r *run) connection(ctx context.Context, t transport) {
	var buf []byte
	for {
		req, lap := r.load.at(r.next.Add(1) - 1)
		if req == nil || !r.wait(ctx, req.Spans) {
			return
		}
		buf = req.Lap(buf[:0], r.load.FirstLap+uint64(lap), time.Duration(lap)*r.load.Step)
		for again := false; ; again = true {
			rejected, err := t.send(ctx, buf)
			pause, resend := r.account(int64(req.Spans), rejected, again, err)
			if !resend || !sleep(ctx, pause) {
				break
			}
		}
	}
}

// account counts an answer, and says whether to send again, and when.
func (r *run) account(spans, rejected int64, again bool, err error) (time.Duration, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Requests++
	if again {
		r.Resent += spans
	}
	var back *refusal
	unheard := errors.As(err, &back) && !back.answered
	if !unheard {
		r.heard.Store(true)
	} else if !errors.Is(back.err, context.Canceled) {
		r.last = back.err.Error()
	}
	switch {
	case err == nil:
		r.Accepted += spans - rejected
		r.Rejected += rejected
	case errors.As(err, &back):
		r.Refused += spans
		return back.after, !r.cfg.GiveUp
	default:
		r.Failed += spans
		r.Error = err.Error()
	}
	return 0, false
}

// wait waits until so many more spans are due.
func (r *run) wait(ctx context.Context, spans int) bool {
	before := r.due.Add(int64(spans)) - int64(spans)
	if r.cfg.Rate <= 0 {
		return ctx.Err() == nil
	}
	due := r.began.Add(time.Duration(float64(before) / r.cfg.Rate * float64(time.Second)))
	return sleep(ctx, time.Until(due))
}

// sleep waits, unless the context ends.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
