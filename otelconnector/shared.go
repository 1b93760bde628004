package otelconnector

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.uber.org/zap"

	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/exporter"
	"github.com/firebreak-io/firebreak/parsers"
	"github.com/firebreak-io/firebreak/runbooks"
)

// components are the components of a factory, by their configuration: the
// Collector makes an instance for each pair of signals of one, all with the same.
type components struct {
	mu   sync.Mutex
	list map[*Config]*shared
}

// join makes an instance of the component of a configuration.
func (c *components) join(set connector.Settings, cfg component.Config, in signal, out output) (*instance, error) {
	conf, ok := cfg.(*Config)
	if !ok {
		return nil, fmt.Errorf("the configuration of %s is a %T", Type, cfg)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.list[conf]
	if s == nil {
		var err error
		if s, err = newShared(set, conf); err != nil {
			return nil, err
		}
		s.left = func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.list[conf] == s {
				delete(c.list, conf)
			}
		}
		if c.list == nil {
			c.list = map[*Config]*shared{}
		}
		c.list[conf] = s
	}
	return s.join(in, out), nil
}

// shared is what the instances of one component share.
type shared struct {
	cfg       *Config
	logger    *zap.Logger
	engine    *live.Engine
	readers   chan *parsers.OTLP
	metrics   *metrics
	incidents *incidents
	left      func() // is called when the last instance has left

	mu    sync.Mutex
	fed   [2]bool // whether an instance feeds this signal
	using int     // instances that were made and are not shut down
	// Instances that run, by what they hand on. The metrics pipelines may be shut
	// down before the logs pipelines are, or the other way round.
	forMetrics, forLogs int
	stop                context.CancelFunc // nil while nothing runs
	done                chan struct{}      // closed when the background work ended
}

func newShared(set connector.Settings, cfg *Config) (*shared, error) {
	books, err := runbooks.Load(cfg.Runbooks)
	if err != nil {
		return nil, fmt.Errorf("runbooks %s: %w", cfg.Runbooks, err)
	}
	s := &shared{cfg: cfg, logger: set.Logger, readers: make(chan *parsers.OTLP, runtime.GOMAXPROCS(0))}
	s.engine = live.New(live.Config{
		Lateness: cfg.Limits.Lateness, MaxAge: cfg.Limits.MaxAge, MaxSpans: cfg.Limits.MaxSpans, MaxEdges: cfg.Limits.MaxEdges,
		Recent: cfg.Report.Recent, MaxRecent: cfg.Report.MaxRecords,
		Version: version(), Fingerprint: parsers.Fingerprint, Conclude: books.Apply,
		Failed: func(what string, err error) { s.logger.Error("failed", zap.String("what", what), zap.Error(err)) },
	})
	for range cap(s.readers) {
		s.readers <- parsers.NewOTLP("otlp", func(why string) { s.logger.Debug("not read", zap.String("why", why)) })
	}
	from := resourceOf(set)
	s.incidents = newIncidents(s.engine, live.DetectConfig{Hold: cfg.Detect.Hold, Clear: cfg.Detect.Clear}, from, time.Now)
	if s.metrics, err = newMetrics(s.engine, &exporter.Stats{Noticed: s.incidents.noticed}, cfg.Histograms == Exponential, from, time.Now); err != nil {
		return nil, err
	}
	return s, nil
}

// join adds an instance.
func (s *shared) join(in signal, out output) *instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := &instance{shared: s, in: in, out: out, feeds: !s.fed[in]}
	s.fed[in] = true
	s.using++
	if out.metrics != nil {
		s.metrics.to(out.metrics)
	} else {
		s.incidents.to(out.logs)
	}
	return i
}

// start begins the background work with the first instance that is started.
func (s *shared) start(i *instance) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i.started || i.left {
		return errors.New("an instance of firebreak can be started once")
	}
	i.started = true
	*s.running(i)++
	if s.stop == nil {
		var ctx context.Context
		ctx, s.stop = context.WithCancel(context.Background())
		s.done = make(chan struct{})
		go s.run(ctx, s.done)
	}
	return nil
}

// running counts the instances that run and hand on what this one does.
func (s *shared) running(i *instance) *int {
	if i.out.metrics != nil {
		return &s.forMetrics
	}
	return &s.forLogs
}

// shutdown takes an instance away. With the last one that hands on metrics, or
// logs, nothing more can come in, for the instances before it took the same
// requests: all that waits is counted, and handed on a last time.
func (s *shared) shutdown(ctx context.Context, i *instance) error {
	s.mu.Lock()
	if i.left { // once more
		s.mu.Unlock()
		return nil
	}
	i.left = true
	last := false
	if i.started {
		running := s.running(i)
		*running--
		last = *running == 0
	}
	s.using--
	gone := s.using == 0
	var done chan struct{}
	if s.stop != nil && s.forMetrics == 0 && s.forLogs == 0 {
		s.stop()
		s.stop, done = nil, s.done
	}
	s.mu.Unlock()

	if done != nil {
		<-done
	}
	var err error
	if last {
		s.engine.Flush()
		s.engine.Publish()
		if i.out.metrics != nil {
			err = s.metrics.close(ctx)
		} else {
			err = s.incidents.close(ctx)
		}
	}
	if gone {
		s.left()
	}
	return err
}

// run counts, reports and hands on until the context ends. Making a report
// takes time, and so may handing on: none waits for the other.
func (s *shared) run(ctx context.Context, done chan struct{}) {
	defer close(done)
	var loops sync.WaitGroup
	loop := func(every time.Duration, work func()) {
		loops.Go(func() {
			tick := time.NewTicker(every)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
					work()
				}
			}
		})
	}
	loop(time.Second, s.engine.Advance)
	loop(s.cfg.MetricsFlushInterval, func() { s.say("metrics", s.metrics.flush(ctx)) })
	loop(s.cfg.Report.Every, func() {
		s.engine.Publish()
		s.say("incidents", s.incidents.flush(ctx))
	})
	loops.Wait()
}

// say logs that something could not be handed on.
func (s *shared) say(what string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		s.logger.Error("could not hand on", zap.String("what", what), zap.Error(err))
	}
}

// version is that of this module in the Collector that it was built into.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "dev"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == "github.com/firebreak-io/firebreak" && m.Version != "" && m.Version != "(devel)" {
			return m.Version
		}
	}
	return "dev"
}
