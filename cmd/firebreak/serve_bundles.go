package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/firebreak-io/firebreak/correlate/live"
	"github.com/firebreak-io/firebreak/exporter"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/incident/bundle"
	"github.com/firebreak-io/firebreak/lang"
)

// watch notices incidents in the reports of an engine, says so in the log, and
// freezes the evidence of each into a bundle. It hears of one report at a time.
type watch struct {
	engine *live.Engine
	store  *bundle.Store // nil: no bundles are kept
	dir    string
	recent time.Duration
	logger *slog.Logger
	now    func() time.Time
	end    func()       // stops hearing of the time
	tracer trace.Tracer // takes a span of each bundle

	hearing  sync.Mutex // one at a time; of the fields up to mu
	detector *live.Detector
	due      map[string]time.Time // when the bundle of an incident is to be written again
	noted    map[string]time.Time // when a bundle's manifest last said that its incident goes on
	unkept   map[string]unkept    // what could not be written, of the incidents that said so last

	mu      sync.Mutex // of what is shown
	open    []live.Episode
	opened  map[string]int64            // incidents, by label
	seen    map[string]bool             // labels of which one was open
	reports map[string]*incident.Report // of the incidents that have no bundle
	past    []exporter.Noticed          // of those, the ones that are over, the latest first
}

// unkept is a bundle that could not be written. What comes next may be silence.
type unkept struct {
	episode live.Episode
	p       *live.Published
	basis   *live.Basis
}

const (
	maxPast    = 50
	maxUnkept  = 2               // each holds on to the records of a report
	tryAgain   = time.Minute     // after what time a bundle that could not be written is tried again
	goOn       = 2 * time.Minute // after what time it is written again, with more of how it burned
	noteEvery  = 5 * time.Minute // how often a manifest says that the incident goes on
	watchEvery = 10 * time.Second
)

// startBundles begins to notice incidents: what it returns is the engine's
// Observed. Incidents that an earlier process left open go on.
func startBundles(c *config, tracer trace.Tracer, logger *slog.Logger, now func() time.Time) (*watch, error) {
	w := &watch{
		dir: c.Incidents.Dir, recent: c.Report.Recent, logger: logger, now: now, end: func() {},
		opened: map[string]int64{}, seen: map[string]bool{}, reports: map[string]*incident.Report{}, due: map[string]time.Time{}, noted: map[string]time.Time{},
		unkept: map[string]unkept{}, tracer: tracer,
	}
	if tracer == nil {
		w.tracer = noop.NewTracerProvider().Tracer("")
	}
	detect := live.DetectConfig{Hold: c.Detect.Hold, Clear: c.Detect.Clear, Old: c.Report.Recent + 30*time.Minute}
	if w.dir == "" {
		w.detector = live.NewDetector(detect, nil)
		return w, nil
	}
	var err error
	w.store, err = bundle.Open(w.dir, bundle.Limits{MaxCount: c.Incidents.MaxCount, MaxBytes: c.Incidents.MaxBytes, MaxAge: c.Incidents.MaxAge}, now)
	if err != nil {
		return nil, failed(lang.Errorf("incidents.dir %s: %w", w.dir, err), lang.T("a folder that firebreak may write to; empty: no bundles are kept"))
	}
	list, err := w.store.List()
	if err != nil {
		return nil, failed(lang.Errorf("incidents.dir %s: %w", w.dir, err), "ls "+incident.Quote(w.dir))
	}
	w.detector = live.NewDetector(detect, w.resumed(list, 12*c.Detect.Clear))
	for _, m := range list {
		w.detector.Taken(m.ID)
	}
	w.show()
	w.prune()
	return w, nil
}

// resumed are the incidents that an earlier process left open. Those that were
// left long ago nobody knows anything of.
func (w *watch) resumed(list []bundle.Manifest, silence time.Duration) []live.Episode {
	var open []live.Episode
	for _, m := range list {
		if !m.Closed.IsZero() {
			continue
		}
		if w.now().Sub(m.Said) > silence {
			w.amend(m.ID, func(m *bundle.Manifest) { m.Closed, m.Ended = w.now().UTC(), string(live.Lost) })
			continue
		}
		e := live.Episode{ID: m.ID, Opened: m.Opened, Updated: m.Updated, Said: m.Said, Changes: m.Changes, About: m.About}
		e.Verdict = incident.Incident{ID: m.Incident, Label: m.Label, Certainty: m.Certainty, ActFirst: m.ActFirst, Subject: m.Subject, Headline: m.Headline}
		if r, err := w.IncidentReport(m.ID); err == nil {
			for _, in := range r.Incidents {
				if in.ID == m.Incident {
					e.Verdict = in
				}
			}
		}
		w.noted[m.ID] = m.Said
		open = append(open, e)
		w.logger.Info("incident resumed", "id", m.ID, "label", m.Label, "opened", m.Opened)
	}
	return open
}

// begin hears of the time, too, until end is called.
func (w *watch) begin(ctx context.Context, engine *live.Engine) {
	w.engine = engine
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	w.end = func() {
		cancel()
		<-done
		w.hearing.Lock()
		defer w.hearing.Unlock()
		w.keep(ctx, time.Time{})
	}
	go func() {
		defer close(done)
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				w.hearing.Lock()
				events := w.detector.Tick(w.now())
				w.show()
				for _, e := range events {
					w.happened(ctx, e, nil, nil)
				}
				w.keep(ctx, w.now())
				w.hearing.Unlock()
			}
		}
	}()
}

// keep tries again to write what could not be written, if it is due; all of it if
// no time is given.
func (w *watch) keep(ctx context.Context, at time.Time) {
	for id, u := range w.unkept {
		if at.IsZero() || !at.Before(w.due[id]) {
			w.freeze(ctx, &u.episode, u.p, u.basis)
		}
	}
}

// observe hears of a report.
func (w *watch) observe(ctx context.Context, p *live.Published, basis *live.Basis) {
	w.hearing.Lock()
	defer w.hearing.Unlock()
	events := w.detector.Observe(p.Report, p.At, p.Records)
	open := w.show()
	for _, e := range events {
		w.happened(ctx, e, p, basis)
	}
	for i := range open {
		e := &open[i]
		// Only what is no worse than what there is may take its place.
		same := e.Last.Label == e.Verdict.Label && e.Last.Certainty == e.Verdict.Certainty
		if due, is := w.due[e.ID]; is && same && !p.At.Before(due) {
			w.freeze(ctx, e, p, basis)
		}
		if e.Said.Equal(p.At) && e.Said.Sub(w.noted[e.ID]) >= noteEvery {
			w.noted[e.ID] = e.Said
			w.amend(e.ID, func(m *bundle.Manifest) { m.Said, m.About = e.Said, e.About })
		}
	}
}

// show hands on which incidents are open.
func (w *watch) show() []live.Episode {
	open := w.detector.Open()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = open
	for i := range open {
		w.seen[string(open[i].Verdict.Label)] = true
	}
	return open
}

// happened tells of an event and keeps its evidence.
func (w *watch) happened(ctx context.Context, ev live.Event, p *live.Published, basis *live.Basis) {
	e := &ev.Episode
	v := &e.Verdict
	facts := []any{"id", e.ID, "label", v.Label, "certainty", v.Certainty, "headline", v.Headline}
	if v.Subject != "" {
		facts = append(facts, "subject", v.Subject)
	}
	first := doFirst(v)
	switch ev.What {
	case live.Opened:
		w.mu.Lock()
		w.opened[string(v.Label)]++
		w.mu.Unlock()
		w.logger.Warn("incident opened", append(facts, first...)...)
	case live.Changed:
		w.logger.Warn("incident changed", append(append(facts, "was", ev.Was), first...)...)
	case live.Deeper:
		w.logger.Info("incident deepened", append(facts, first...)...)
	case live.Over:
		w.logger.Info("incident over", "id", e.ID, "label", v.Label, "took", e.Said.Sub(e.Opened).Round(time.Second))
	case live.Lost:
		w.logger.Warn("incident lost", "id", e.ID, "label", v.Label, "last_said", e.Said)
	}
	if !e.Closed.IsZero() {
		w.closed(ev)
	} else {
		w.freeze(ctx, e, p, basis)
	}
	w.engine.Republish() // who looks on hears of it, though no report may come for long
}

// doFirst is what to deal with first, and how.
func doFirst(v *incident.Incident) []any {
	var facts []any
	if v.ActFirst != "" {
		facts = append(facts, "act_first", v.ActFirst)
	}
	if len(v.Actions) > 0 {
		// What deals with it stands before what is good for any incident.
		a := slices.MinFunc(v.Actions, func(a, b incident.Action) int {
			return cmp.Or(cmp.Compare(aside(&a, v), aside(&b, v)), cmp.Compare(a.Order, b.Order))
		})
		facts = append(facts, "do", a.What)
		if a.Command != "" {
			facts = append(facts, "command", a.Command)
		}
	}
	return facts
}

// aside is 0 for an action that deals with what to deal with first, 1 for others.
func aside(a *incident.Action, v *incident.Incident) int {
	if a.Label != "" && a.Label == v.ActFirst {
		return 0
	}
	return 1
}

// freeze writes the bundle of an incident, or a new version of it.
func (w *watch) freeze(ctx context.Context, e *live.Episode, p *live.Published, basis *live.Basis) {
	if w.store == nil {
		w.keepReport(e.ID, p.Report)
		return
	}
	_, again := w.due[e.ID]
	delete(w.due, e.ID)
	_, step := w.tracer.Start(ctx, "bundle")
	defer step.End()
	if err := w.store.Put(manifestOf(e, version()), frozen(p, basis, w.engine.RawFiles(p.At.Add(-2*w.recent)))); err != nil {
		w.logger.Error("bundle failed", "id", e.ID, "err", err)
		step.RecordError(err)
		step.SetStatus(codes.Error, "")
		w.due[e.ID] = later(p.At, w.now()).Add(tryAgain)
		if _, is := w.unkept[e.ID]; is || len(w.unkept) < maxUnkept {
			w.unkept[e.ID] = unkept{*e, p, basis}
		}
		if _, err := w.store.Get(e.ID); err != nil {
			w.keepReport(e.ID, p.Report)
		}
		return
	}
	delete(w.unkept, e.ID)
	if !again {
		w.due[e.ID] = p.At.Add(goOn)
	}
	w.mu.Lock()
	delete(w.reports, e.ID)
	w.mu.Unlock()
	w.noted[e.ID] = e.Said
	w.logger.Info("bundle written", "id", e.ID, "path", filepath.Join(w.dir, e.ID))
	w.prune()
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (w *watch) keepReport(id string, r *incident.Report) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reports[id] = r
}

// closed notes that an incident is over.
func (w *watch) closed(ev live.Event) {
	e := &ev.Episode
	w.keep(context.Background(), time.Time{})
	delete(w.unkept, e.ID)
	delete(w.due, e.ID)
	delete(w.noted, e.ID)
	if w.keepPast(ev) {
		return
	}
	w.amend(e.ID, func(m *bundle.Manifest) {
		m.Closed, m.Ended, m.Said, m.About = e.Closed.UTC(), string(ev.What), e.Said, e.About
	})
	w.prune()
}

// keepPast keeps in mind an incident that has no bundle and is over.
func (w *watch) keepPast(ev live.Event) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reports[ev.Episode.ID] == nil {
		return false
	}
	n := noticed(&ev.Episode)
	n.Ended = string(ev.What)
	w.past = append([]exporter.Noticed{n}, w.past...)
	for len(w.past) > maxPast {
		delete(w.reports, w.past[len(w.past)-1].ID)
		w.past = w.past[:len(w.past)-1]
	}
	return true
}

func (w *watch) amend(id string, change func(*bundle.Manifest)) {
	if w.store == nil {
		return
	}
	if err := w.store.Amend(id, change); err != nil && !errors.Is(err, bundle.ErrNone) {
		w.logger.Error("manifest failed", "id", id, "err", err)
	}
}

// prune removes what is beyond the limits, but no incident that is open.
func (w *watch) prune() {
	open := map[string]bool{}
	for _, e := range w.detector.Open() {
		open[e.ID] = true
	}
	removed, err := w.store.Prune(open)
	for _, id := range removed {
		w.logger.Info("bundle removed", "id", id)
	}
	if err != nil {
		w.logger.Error("pruning failed", "err", err)
	}
}

func noticed(e *live.Episode) exporter.Noticed {
	v := &e.Verdict
	n := exporter.Noticed{
		ID: e.ID, Label: v.Label, Certainty: v.Certainty, Subject: v.Subject, Headline: v.Headline, ActFirst: v.ActFirst,
		Opened: e.Opened.UTC(), Updated: e.Updated.UTC(), Said: e.Said.UTC(), Closed: e.Closed.UTC(),
	}
	if e.Closed.IsZero() && e.Last.Label != "" {
		n.Now = &exporter.NoticedNow{Label: e.Last.Label, Certainty: e.Last.Certainty}
	}
	return n
}

// Incidents implements exporter.Incidents.
func (w *watch) Incidents() ([]exporter.Noticed, error) {
	w.mu.Lock()
	list := slices.Clone(w.past)
	for i := range w.open {
		list = append(list, noticed(&w.open[i]))
	}
	w.mu.Unlock()
	if w.store != nil {
		bundles, err := w.store.List()
		if err != nil {
			return nil, err
		}
		for _, m := range bundles {
			kept := &exporter.NoticedBundle{Bytes: m.Bytes}
			if i := slices.IndexFunc(list, func(n exporter.Noticed) bool { return n.ID == m.ID }); i >= 0 {
				list[i].Bundle = kept
				continue
			}
			list = append(list, exporter.Noticed{
				ID: m.ID, Label: m.Label, Certainty: m.Certainty, Subject: m.Subject, Headline: m.Headline, ActFirst: m.ActFirst,
				Opened: m.Opened, Updated: m.Updated, Said: m.Said, Closed: m.Closed, Ended: m.Ended, Bundle: kept,
			})
		}
	}
	slices.SortFunc(list, func(a, b exporter.Noticed) int {
		return cmp.Or(b.Opened.Compare(a.Opened), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// IncidentReport implements exporter.Incidents.
func (w *watch) IncidentReport(id string) (*incident.Report, error) {
	w.mu.Lock()
	r := w.reports[id]
	w.mu.Unlock()
	if r != nil {
		return r, nil
	}
	o, err := w.OpenBundle(id)
	if err != nil {
		return nil, err
	}
	r, err = o.Report()
	return r, errors.Join(err, o.Close())
}

// OpenBundle implements exporter.Incidents.
func (w *watch) OpenBundle(id string) (*bundle.Opened, error) {
	if w.store == nil {
		return nil, bundle.ErrNone
	}
	return w.store.Open(id)
}

// counted counts incidents for the metrics.
func (w *watch) counted() live.NoticedStats {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := live.NoticedStats{Opened: maps.Clone(w.opened), Open: map[string]int64{}}
	for label := range w.seen {
		s.Open[label] = 0
	}
	for i := range w.open {
		s.Open[string(w.open[i].Verdict.Label)]++
	}
	return s
}

// stats counts for the metrics; nil if no bundles are kept.
func (w *watch) stats() func() live.BundleStats {
	if w.store == nil {
		return nil
	}
	return func() live.BundleStats {
		s := w.store.Stats()
		return live.BundleStats{Written: s.Written, Failed: s.Failed, Removed: s.Removed, Kept: s.Bundles, Bytes: s.Bytes}
	}
}
