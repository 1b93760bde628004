package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/collect"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/env"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/load"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/scenario"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/stack"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/truth"
)

const (
	warms   = 3 * time.Second  // of a gentle load before the window
	settles = 20 * time.Second // at most, until providers have ended what they do and have read what was sent
	flushes = 1500 * time.Millisecond
)

// burn does one run: start, warm up, load with the fault at its time, collect,
// write the truth, and put everything back.
func burn(ctx context.Context, s *stack.Stack, j job, dir string) (*truth.Truth, error) {
	d := j.scenario.Dose(j.level, j.seed)
	if err := s.Use(ctx, d.Setup); err != nil {
		return nil, errors.Join(err, s.Leave())
	}
	t := &truth.Truth{
		Scenario: j.scenario.Name, Dose: j.level.String(), Seed: j.seed, Why: j.scenario.Why,
		Expect: d.Expect, Load: truth.Load{Plan: d.Load}, Setup: services(d), Counts: map[string]truth.N{},
	}
	r := &running{stack: s, dose: d, truth: t}
	err := r.window(ctx, dir)
	// Whatever happened, the next run finds everything as before.
	back := context.WithoutCancel(ctx)
	err = errors.Join(err, s.Leave(), r.undo(back))
	if err != nil {
		return nil, err
	}
	if err := t.Write(filepath.Join(dir, "truth.json")); err != nil {
		return t, err
	}
	if t.Checked != agrees {
		return t, fmt.Errorf("the counters do not agree: %s", t.Checked)
	}
	return t, nil
}

const agrees = "agrees"

func services(d scenario.Dose) []truth.Service {
	var list []truth.Service
	for _, spec := range d.Setup.Services {
		settings := map[string]string{"line": spec.Line}
		for k, v := range spec.Settings {
			settings[k] = v
		}
		list = append(list, truth.Service{Name: spec.Name, Settings: settings})
	}
	return list
}

// running is a run under way.
type running struct {
	stack *stack.Stack
	dose  scenario.Dose
	truth *truth.Truth
	atOn  map[string]truth.Counters // counters when the fault began

	mu    sync.Mutex
	undos []func(context.Context) error
	errs  []error
}

func (r *running) fail(err error) {
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.errs = append(r.errs, err)
	}
}

func (r *running) missed(err error) {
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.truth.Missed = append(r.truth.Missed, err.Error())
	}
}

// window is the part of the run that is measured.
func (r *running) window(ctx context.Context, dir string) error {
	s, d, t := r.stack, r.dose, r.truth
	url := "http://" + env.Addr(s.Nginx.Port)
	if err := s.Database().EmptyLog(ctx); err != nil {
		return err
	}
	load.Run(ctx, url, load.Plan{Rate: 10, Duration: warms, Mix: d.Load.Mix, Seed: 1, InFlight: 50, First: 800_000})
	if err := s.Database().EmptyLog(ctx); err != nil {
		return err
	}
	c, err := collect.Begin(filepath.Join(dir, "evidence"), s)
	if err != nil {
		return err
	}
	c.Host = d.Host
	before, err := s.Counters(ctx)
	if err != nil {
		return err
	}
	r.atOn = before

	// Everything that happens at a time, while the load goes on.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t.Window.From = now()
	var timed sync.WaitGroup
	at := func(d time.Duration, f func()) {
		timed.Go(func() {
			select {
			case <-ctx.Done():
			case <-time.After(time.Until(t.Window.From.Add(d))):
				f()
			}
		})
	}
	at(scenario.FaultOn-100*time.Millisecond, func() {
		on, err := s.Counters(ctx)
		if err != nil {
			r.fail(err)
			return
		}
		r.atOn = on
	})
	for _, f := range d.Faults {
		at(f.From, func() { r.fail(r.apply(ctx, f)) })
		if f.To > 0 {
			at(f.To, func() { r.fail(r.undo(ctx)) })
		}
	}
	for n := range scenario.Looks {
		at(scenario.FirstLook+time.Duration(n)*scenario.LookGap, func() {
			// A process that burns may not answer: that is how it is in life.
			r.missed(c.Look(ctx, n+1, n+1 == scenario.Looks, d.Dumps))
		})
	}
	t.Load.Result = load.Run(ctx, url, d.Load)
	timed.Wait()
	t.Window.To = now()
	if err := ctx.Err(); err != nil {
		return err
	}

	after, err := r.settle(ctx)
	if err != nil {
		return err
	}
	if err := r.count(ctx, c); err != nil {
		return err
	}
	if t.Spans, err = c.End(ctx); err != nil {
		return err
	}
	r.derive(before, after)
	return errors.Join(r.errs...)
}

// apply turns a fault on and notes when.
func (r *running) apply(ctx context.Context, f scenario.Fault) error {
	var undo func(context.Context) error
	var err error
	on := now()
	switch f.Kind {
	case scenario.Inside:
		undo, err = r.stack.Inside(ctx, f.Query, f.On)
	case scenario.DropIndex:
		undo, err = r.stack.DropIndex(ctx)
	case scenario.LockRows:
		undo, err = r.stack.LockRows(ctx, f.Rows)
	case scenario.Hang:
		undo, err = r.stack.Hang(ctx)
	default:
		err = fmt.Errorf("no fault is of kind %q", f.Kind)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if undo != nil && f.Kind != scenario.Inside { // those end with their services
		r.undos = append(r.undos, undo)
	}
	r.truth.Faults = append(r.truth.Faults, truth.Fault{Kind: f.Kind, What: f.Query, Targets: f.On, On: on})
	return err
}

// undo takes back what would outlive the services.
func (r *running) undo(ctx context.Context) error {
	r.mu.Lock()
	undos := r.undos
	r.undos = nil
	for i := range r.truth.Faults {
		if f := &r.truth.Faults[i]; f.Off == nil {
			f.Off = new(now())
		}
	}
	r.mu.Unlock()
	var errs []error
	for _, undo := range undos {
		errs = append(errs, undo(ctx))
	}
	return errors.Join(errs...)
}

// settle waits until providers have ended what they do and have read what was sent
// to them, which takes long where a collector holds them, and spans have arrived;
// then it reads the counters.
func (r *running) settle(ctx context.Context) (map[string]truth.Counters, error) {
	limit := time.Now().Add(settles)
	for {
		all, err := r.stack.Counters(ctx)
		if err != nil {
			return nil, err
		}
		if truth.Idle(all) && truth.Check(all) == nil || time.Now().After(limit) {
			time.Sleep(flushes)
			return r.stack.Counters(ctx)
		}
		time.Sleep(300 * time.Millisecond)
	}
}

// count counts what the services cannot know: what stands in the database.
func (r *running) count(ctx context.Context, c *collect.Collector) error {
	db, counts := r.stack.Database(), r.truth.Counts
	var err error
	if counts["stock_log_rows"], err = db.Number(ctx, "SELECT COUNT(*) FROM shop.t_stock_log"); err != nil {
		return err
	}
	if counts["stock_log_rows"] == 0 {
		delete(counts, "stock_log_rows")
		return nil
	}
	counts["duplicated_orders"], err = db.Number(ctx, "SELECT COUNT(*) FROM (SELECT order_id FROM shop.t_stock_log GROUP BY order_id HAVING COUNT(*) > 1) AS d")
	if err != nil || counts["duplicated_orders"] == 0 {
		return err
	}
	return c.Duplicates(ctx)
}

func (r *running) derive(before, after map[string]truth.Counters) {
	t := r.truth
	t.Processes = map[string]truth.Counters{}
	sinceFault := map[string]truth.Counters{}
	for name, c := range after {
		t.Processes[name] = c.Since(before[name])
		sinceFault[name] = c.Since(r.atOn[name])
	}
	t.Edges, t.FaultEdges = truth.Derive(t.Processes), truth.Derive(sinceFault)
	t.Checked = agrees
	if err := truth.Check(t.Processes); err != nil {
		t.Checked = err.Error()
	}
}

func now() time.Time { return time.Now().UTC().Round(time.Millisecond) }
