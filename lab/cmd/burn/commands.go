package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/env"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/fixtures"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/scenario"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/stack"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/truth"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/verdict"
)

func list(out io.Writer) error {
	for i, s := range scenario.All {
		fmt.Fprintf(out, "%-20s %v  %s\n", s.Name, scenario.Levels(i), s.Why)
	}
	return nil
}

// job is one run to do.
type job struct {
	scenario scenario.Scenario
	level    scenario.Level
	seed     uint64
}

// name is the folder of the run.
func (j job) name() string { return fmt.Sprintf("%s-%s-s%d", j.scenario.Name, j.level, j.seed) }

// seedOf is the seed of a scenario's dose unless the user gives one.
func seedOf(index int, l scenario.Level) uint64 { return uint64(100*(1+index) + int(l)) }

func (o options) run(ctx context.Context, names []string, out io.Writer) error {
	level, err := scenario.ParseLevel(o.dose)
	if err != nil {
		return err
	}
	var jobs []job
	for _, name := range names {
		s, i, err := scenario.Find(name)
		if err != nil {
			return err
		}
		seed := o.seed
		if seed == 0 {
			seed = seedOf(i, level)
		}
		jobs = append(jobs, job{s, level, seed})
	}
	return o.do(ctx, jobs, out)
}

func (o options) all(ctx context.Context, out io.Writer) error {
	var jobs []job
	for i, s := range scenario.All {
		for _, l := range scenario.Levels(i) {
			jobs = append(jobs, job{s, l, seedOf(i, l)})
		}
	}
	return o.do(ctx, jobs, out)
}

// do runs jobs one after the other. A run that fails does not keep the next from
// being tried.
func (o options) do(ctx context.Context, jobs []job, out io.Writer) (err error) {
	if len(jobs) == 0 {
		return errors.New("nothing to run; burn list names the scenarios")
	}
	begin := time.Now()
	e, err := env.New(o.work, o.base)
	if err != nil {
		return err
	}
	s, err := stack.Start(ctx, e, filepath.Join(o.lab, "java", "target"), filepath.Join(o.lab, "dubbogo", "dubbogo"))
	if err != nil {
		return errors.Join(err, e.Close())
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	fmt.Fprintf(out, "database, registry and receiver are up after %s\n", since(begin))
	var errs []error
	for i, j := range jobs {
		from := time.Now()
		t, err := burn(ctx, s, j, filepath.Join(o.work, "out", j.name()))
		if t != nil {
			fmt.Fprintf(out, "%2d/%d %-32s %5s  %s\n", i+1, len(jobs), j.name(), since(from), summary(t))
		}
		if t != nil && len(t.Missed) > 0 {
			fmt.Fprintf(out, "%40s  could not be collected: %q\n", "", t.Missed)
		}
		if err != nil {
			fmt.Fprintf(out, "%2d/%d %-32s %5s  failed: %v\n", i+1, len(jobs), j.name(), since(from), err)
			errs = append(errs, fmt.Errorf("%s: %w", j.name(), err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	fmt.Fprintf(out, "%d runs in %s\n", len(jobs), since(begin))
	return errors.Join(errs...)
}

func since(t time.Time) time.Duration { return time.Since(t).Round(time.Second) }

// summary is a run in a line: its edges.
func summary(t *truth.Truth) string {
	text := ""
	for _, e := range t.Edges {
		if e.Edge == t.Expect.Edge || len(t.Edges) == 1 {
			text = fmt.Sprintf("%s %d calls, %d attempts (%.2fx), %v, %d executed, %d orphaned", e.Edge, e.Calls, e.Attempts, e.Amplification, e.Outcomes, e.Executions, e.Orphaned)
		}
	}
	return fmt.Sprintf("%s; counters: %s", text, t.Checked)
}

// smoke runs the reference chain and asks firebreak.
func (o options) smoke(ctx context.Context, out io.Writer) error {
	s, i, err := scenario.Find("missing-index")
	if err != nil {
		return err
	}
	j := job{s, scenario.Full, seedOf(i, scenario.Full)}
	if err := o.do(ctx, []job{j}, out); err != nil {
		return err
	}
	return o.judge(ctx, []string{j.name()}, out)
}

// judge asks firebreak about captured runs and compares with their truth.
func (o options) judge(ctx context.Context, names []string, out io.Writer) error {
	dirs, err := o.captures(names)
	if err != nil {
		return err
	}
	tool, err := verdict.Build(ctx, o.work)
	if err != nil {
		return err
	}
	wrong := 0
	for _, dir := range dirs {
		t, err := truth.Read(filepath.Join(dir, "truth.json"))
		if err != nil {
			return err
		}
		r, err := verdict.Ask(ctx, tool, filepath.Join(dir, "evidence"), filepath.Join(dir, "report.json"))
		if err != nil {
			return err
		}
		said, misses := verdict.Judge(r, t)
		fmt.Fprintf(out, "%-34s %s\n", filepath.Base(dir), said)
		for _, miss := range misses {
			fmt.Fprintf(out, "%-34s   wrong: %s\n", "", miss)
		}
		wrong += len(misses)
	}
	if wrong > 0 {
		return fmt.Errorf("%d answers are wrong", wrong)
	}
	return nil
}

// captures are the folders of captured runs, all if no names are given.
func (o options) captures(names []string) ([]string, error) {
	if len(names) == 0 {
		found, err := filepath.Glob(filepath.Join(o.work, "out", "*", "truth.json"))
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			names = append(names, filepath.Base(filepath.Dir(f)))
		}
	}
	var dirs []string
	for _, name := range names {
		dir := filepath.Join(o.work, "out", name)
		if _, err := os.Stat(filepath.Join(dir, "truth.json")); err != nil {
			return nil, fmt.Errorf("%s was not captured: %w", name, err)
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}

func (o options) fixtures(names []string, out io.Writer) error {
	dirs, err := o.captures(names)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		size, err := fixtures.Write(dir, o.out)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(dir), err)
		}
		fmt.Fprintf(out, "%-34s %d KB\n", filepath.Base(dir), size/1000)
	}
	return nil
}
