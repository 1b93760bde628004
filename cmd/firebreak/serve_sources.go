package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/collector/scrape"
	"github.com/firebreak-io/firebreak/collector/tail"
	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/lang"
)

// sources are what serve reads by itself: files that are followed, folders of
// dumps, endpoints that are scraped.
type sources struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
	files  atomic.Pointer[tail.Stats]
	scrape *scrape.Scraper
}

// startSources begins to read what is configured, until it is closed.
func startSources(ctx context.Context, c *config, engine *live.Engine, logger *slog.Logger, now func() time.Time) (*sources, error) {
	s := &sources{}
	// What was read is handed on when serve ends, not when it is told to.
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	sink := engineSink{engine}
	if len(c.Logs)+len(c.Dumps) > 0 {
		t, err := tail.New(tailConfig(c, sink, logger))
		if err != nil {
			s.cancel()
			return nil, failed(err, "firebreak serve --state-dir /var/lib/firebreak")
		}
		if t.Damaged() {
			engine.Source(live.SourceNews{Path: c.StateDir, Format: "text", Problems: []string{lang.T("the state of followed files could not be read: where they were read to is not known")}})
		}
		s.done.Go(func() { s.follow(ctx, t, now) })
	}
	if len(c.Scrape) > 0 {
		var err error
		if s.scrape, err = scrape.New(scrapes(c, sink, logger, now)); err != nil {
			return nil, errors.Join(failed(err, "firebreak serve --check"), s.Close(ctx))
		}
		s.done.Go(func() { s.scrape.Run(ctx) })
	}
	return s, nil
}

func scrapes(c *config, sink collector.Sink, logger *slog.Logger, now func() time.Time) scrape.Config {
	kinds := map[string]string{scrapeGoroutines: collector.KindGoroutines, scrapePrometheus: collector.KindPrometheus}
	s := scrape.Config{Sink: sink, Log: logger, Now: now, Agent: "firebreak/" + version()}
	for _, x := range c.Scrape {
		s.Targets = append(s.Targets, scrape.Target{
			URL: x.URL, Kind: kinds[x.Kind], Service: x.Service, Every: x.Every, Timeout: min(x.Timeout, x.Every), MaxSize: x.MaxSize,
			TokenFile: x.TokenFile, Username: x.Username, PasswordFile: x.PasswordFile, CAFile: x.CAFile, CertFile: x.CertFile, KeyFile: x.KeyFile,
		})
	}
	return s
}

func tailConfig(c *config, sink collector.Sink, logger *slog.Logger) tail.Config {
	t := tail.Config{State: c.StateDir, Sink: sink, Log: logger, Recent: c.Report.Recent}
	for _, l := range c.Logs {
		t.Files = append(t.Files, tail.Files{
			Paths: l.Paths, Exclude: l.Exclude, Service: l.Service, Format: l.Format, AccessFormat: l.AccessFormat, Start: l.From == fromStart,
		})
	}
	for _, d := range c.Dumps {
		t.Dumps = append(t.Dumps, tail.Dumps{Dir: d.Dir, Patterns: d.Patterns, Service: d.Service})
	}
	return t
}

// follow looks at the files every second.
func (s *sources) follow(ctx context.Context, t *tail.Tailer, now func() time.Time) {
	each := time.NewTicker(time.Second)
	defer each.Stop()
	for {
		t.Poll(now())
		stats := t.Stats()
		s.files.Store(&stats)
		select {
		case <-ctx.Done():
			t.Close()
			stats := t.Stats()
			s.files.Store(&stats)
			return
		case <-each.C:
		}
	}
}

// Close hands on what is open, and returns when all has been.
func (s *sources) Close(context.Context) error {
	s.cancel()
	s.done.Wait()
	return nil
}

// stats says what was read, for metrics.
func (s *sources) stats() live.SourceStats {
	all := live.SourceStats{Records: map[string]int64{}, Skipped: map[live.FormatReason]int64{}}
	add := func(c collector.Counts, states []collector.State) {
		for format, n := range c.Records {
			all.Records[format] += n
		}
		for r, n := range c.Skipped {
			all.Skipped[live.FormatReason(r)] += n
		}
		for _, x := range states {
			all.Sources = append(all.Sources, live.SourceState(x))
		}
	}
	if f := s.files.Load(); f != nil {
		add(f.Counts, f.States)
	}
	if s.scrape != nil {
		add(s.scrape.Stats())
	}
	return all
}

// engineSink hands on to the engine what sources say.
type engineSink struct{ engine *live.Engine }

// transport is how spans come that stand in files.
const transport = "file"

// Room implements collector.Sink: there is none where spans would be refused.
func (s engineSink) Room() bool { return s.engine.Admit(transport, 0) }

// Again implements collector.Sink.
func (s engineSink) Again(r *evidence.Record, came time.Time) { s.engine.Again(r, came) }

// Add implements collector.Sink.
func (s engineSink) Add(r *evidence.Record) {
	if r.Span == nil {
		s.engine.Add(r)
		return
	}
	admitted := s.engine.Admit(transport, 1)
	s.engine.Add(r)
	if admitted {
		s.engine.Done(1)
	}
}

// Raw implements collector.Sink.
func (s engineSink) Raw(path string, at time.Time, text []byte) { s.engine.Raw(path, at, text) }

// Source implements collector.Sink.
func (s engineSink) Source(n collector.News) {
	s.engine.Source(live.SourceNews{
		Path: n.Path, Format: n.Format, Records: n.Records, Skipped: n.Skipped, Lines: n.Lines, Bytes: n.Bytes,
		From: n.From, To: n.To, Problems: n.Problems, Unread: n.Unread, Gone: n.Gone,
	})
}
