// Package scrape asks endpoints of services now and then, for their goroutines
// and for their Prometheus metrics, and hands on what they answer as evidence.
//
// It promises: an answer is read whole or not at all, by the readers of files, as
// a source of its own; its records have the time at which it was asked for, where
// they have none; what one answer counts can be compared with the answer before.
// An endpoint that fails is said once, with the reason, until it answers again. No
// answer is larger than its limit, slower than its time-out, or from another host
// than the one that was asked. When the sink has no room, nothing is asked.
package scrape

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/lang"
)

// Target is an endpoint.
type Target struct {
	URL     string
	Kind    string // collector.KindGoroutines or KindPrometheus
	Service string // that answers there
	Every   time.Duration
	Timeout time.Duration // 10 s, or Every if that is shorter
	MaxSize int64         // bytes of an answer, unpacked (64 MiB)

	// Files with what the endpoint asks for; empty: nothing is given. They are read
	// anew each time, so that they may change.
	TokenFile, Username, PasswordFile string
	CAFile, CertFile, KeyFile         string
}

// Config says what to ask.
type Config struct {
	Targets []Target
	Sink    collector.Sink // its methods are called by several goroutines
	Now     func() time.Time
	Log     *slog.Logger // nil: nothing is logged
	Agent   string       // of requests
}

// Scraper asks endpoints.
type Scraper struct {
	cfg     Config
	targets []*target
	turns   chan struct{} // answers that are read at once
}

// New makes a scraper. An error says which file of a target cannot be used.
func New(cfg Config) (*Scraper, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Agent == "" {
		cfg.Agent = "firebreak"
	}
	s := &Scraper{cfg: cfg, turns: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
	for _, x := range cfg.Targets {
		t, err := newTarget(x)
		if err != nil {
			return nil, lang.Errorf("scrape %s: %w", t.name, err)
		}
		s.targets = append(s.targets, t)
	}
	return s, nil
}

// Run asks all endpoints, each at its own pace, until the context ends.
func (s *Scraper) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, t := range s.targets {
		all.Go(func() {
			// Not all at once, and not in step with each other or with those who watch.
			wait := time.NewTimer(time.Duration(rand.Float64() * float64(min(t.Every, 10*time.Second))))
			defer wait.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-wait.C:
				}
				s.scrape(ctx, t)
				wait.Reset(time.Duration((0.95 + 0.1*rand.Float64()) * float64(t.Every)))
			}
		})
	}
	all.Wait()
}

// scrape asks an endpoint once.
func (s *Scraper) scrape(ctx context.Context, t *target) {
	if !s.cfg.Sink.Room() {
		return
	}
	at := s.cfg.Now()
	body, err := t.ask(ctx, s.cfg.Agent)
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		s.turns <- struct{}{}
		err = t.read(s.cfg.Sink, body, at)
		<-s.turns
	}
	s.outcome(t, err)
}

// outcome says that an endpoint fails, or that it answers again.
func (s *Scraper) outcome(t *target, err error) {
	t.mu.Lock()
	why := ""
	if err != nil {
		why = err.Error()
		t.failures++
	}
	changed := why != t.problem
	t.problem = why
	t.asked = true
	failures := t.failures
	t.mu.Unlock()
	if !changed {
		return
	}
	n := collector.News{Path: t.name, Kind: t.Kind, Format: "text", Gone: why == ""}
	if why != "" {
		s.cfg.Log.Warn("scrape failed", "url", t.name, "err", err, "failures", failures)
		n.Unread, n.Problems = why, []string{why}
	} else {
		s.cfg.Log.Info("scrape answered", "url", t.name)
	}
	s.cfg.Sink.Source(n)
}

// Stats returns what was counted until now.
func (s *Scraper) Stats() (collector.Counts, []collector.State) {
	c := collector.Counts{Records: map[string]int64{}, Skipped: map[collector.FormatReason]int64{}}
	states := make([]collector.State, 0, len(s.targets))
	for _, t := range s.targets {
		t.mu.Lock()
		for format, n := range t.counts.Records {
			c.Records[format] += n
		}
		for why, n := range t.counts.Skipped {
			c.Skipped[why] += n
		}
		c.Lines += t.counts.Lines
		c.Bytes += t.counts.Bytes
		states = append(states, collector.State{Source: t.name, Kind: t.Kind, Up: t.asked && t.problem == "", Lag: -1, LagBytes: -1, Last: t.last})
		t.mu.Unlock()
	}
	return c, states
}
