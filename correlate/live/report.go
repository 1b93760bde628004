package live

import (
	"context"
	"iter"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/firebreak-io/firebreak/correlate"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// Published is a report as it was made at a time. Nobody changes it any more.
type Published struct {
	Report   *incident.Report
	Revision uint64
	At       time.Time
	Took     time.Duration
	Records  int // that it was made of
}

// Basis is what a report was made of. It is lent.
type Basis struct {
	Sources []incident.Source
	list    []remembered
}

// Records are the records and when they came, in the order in which they came.
func (b *Basis) Records() iter.Seq2[*evidence.Record, time.Time] {
	return func(yield func(*evidence.Record, time.Time) bool) {
		for _, x := range b.list {
			if !yield(x.rec, x.at) {
				return
			}
		}
	}
}

// Source is the path under which reports name what was sent.
const Source = "otlp"

// Publish makes a report of the recent records, if something came since the
// last one or nothing of it is recent any more, and reports whether it did.
func (e *Engine) Publish() bool {
	e.publishing.Lock()
	defer e.publishing.Unlock()
	began := e.cfg.Now()
	e.mu.Lock()
	e.recent.expire(began.Add(-e.cfg.Recent))
	fresh := e.recent.fresh
	list := slices.Clone(e.recent.list)
	share, dropped := e.recent.kept(), e.recent.other
	e.recent.fresh, e.recent.other = 0, nil
	e.mu.Unlock()
	if last := e.published.Load(); fresh == 0 && last != nil && (len(list) > 0 || last.Records == 0) {
		return false
	}
	list, old := setAside(list, began, e.cfg.Recent)
	basis := Basis{Sources: listed(list, dropped, old, e.Sources(), share), list: list}
	ctx, publish := e.step(context.Background(), "publish", attribute.Int("records", len(list)))
	defer publish.End()
	_, step := e.step(ctx, "report")
	report, err := e.conclude(list, basis.Sources)
	ended(step, err)
	if err != nil {
		e.cfg.Failed("report", err)
		return false
	}
	publish.SetAttributes(attribute.Int("incidents", len(report.Incidents)))
	now := e.cfg.Now()
	p := &Published{Report: report, At: now, Took: now.Sub(began), Records: len(list)}
	e.mu.Lock()
	e.put(p)
	e.mu.Unlock()
	if e.cfg.Observed != nil {
		e.cfg.Observed(ctx, p, &basis)
	}
	return true
}

// put publishes under a new revision. The engine is locked.
func (e *Engine) put(p *Published) {
	e.revision++
	p.Revision = e.revision
	e.published.Store(p)
	close(e.news)
	e.news = make(chan struct{})
}

// Republish publishes the last report under another revision: what is shown beside it
// is another.
func (e *Engine) Republish() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if last := e.published.Load(); last != nil {
		p := *last
		e.put(&p)
	}
}

// conclude reads records again with an engine of their own.
func (e *Engine) conclude(list []remembered, sources []incident.Source) (*incident.Report, error) {
	engine := correlate.New(correlate.Config{Version: e.cfg.Version, Fingerprint: e.cfg.Fingerprint})
	for _, x := range list {
		if err := engine.Add(x.rec); err != nil {
			return nil, err
		}
	}
	for _, s := range sources {
		engine.AddSource(s)
	}
	report := engine.Report()
	if e.cfg.Conclude == nil {
		return report, nil
	}
	return report, e.cfg.Conclude(report)
}

// Latest is the last report; nil before the first.
func (e *Engine) Latest() *Published { return e.published.Load() }

// Wait returns the last report once its revision is another than the one given:
// a later one, or that of an engine which was started again.
func (e *Engine) Wait(ctx context.Context, after uint64) (*Published, error) {
	for {
		e.mu.Lock()
		news := e.news
		e.mu.Unlock()
		if p := e.published.Load(); p != nil && p.Revision != after {
			return p, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-news:
		}
	}
}
