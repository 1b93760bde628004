package simulate

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

func played(t *testing.T, s Scenario) Series {
	t.Helper()
	x, err := Run(s)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// What is true of every run.
func TestRuns(t *testing.T) {
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := Scenario{Model: randomModel(r), ForS: 5 + 20*r.Float64(), Seed: seed, Points: 1 + r.IntN(50)}
		if r.IntN(2) == 0 {
			s.Trigger = Trigger{AtS: 2, ForS: 3, HoldS: r.Float64() * 3, ArrivalsPerS: r.Float64() * 300}
		}
		x := played(t, s)
		n := x.Totals
		if n.Calls != n.Good+n.Failed+n.Open || n.Open < 0 {
			t.Fatalf("%+v: %+v", s, n)
		}
		if float64(n.Attempts) > float64(n.Calls)*s.Model.Ceiling() || n.Attempts < n.Good+n.Failed {
			t.Fatalf("%+v: %d attempts of %d calls", s, n.Attempts, n.Calls)
		}
		if n.Rejected+n.Late+n.Bad > n.Attempts {
			t.Fatalf("%+v: %+v", s, n)
		}
		var calls, load float64
		for i, p := range x.Points {
			if p.Busy > float64(s.Model.Threads)*(1+1e-9) || p.Orphaned > p.Busy+1e-9 || p.Queued > float64(s.Model.Queue)+1e-9 || p.Orphaned < -1e-9 {
				t.Fatalf("%+v: point %d %+v", s, i, p)
			}
			calls += p.CallsPerS * s.ForS / float64(s.Points)
			load += p.LoadPerS * s.ForS / float64(s.Points)
		}
		if math.Abs(calls-float64(n.Calls)) > 1e-3 || math.Abs(load-float64(n.Attempts)) > 1e-3 {
			t.Fatalf("%+v: points have %v calls, %v attempts of %+v", s, calls, load, n)
		}
		if again := played(t, s); !reflect.DeepEqual(x, again) {
			t.Fatalf("%+v: a second run differs", s)
		}
	}
}

// Little's law: workers busy = requests served a second x time each is held.
func TestLittle(t *testing.T) {
	for _, m := range []Model{
		{ArrivalsPerS: 100, HoldS: 0.5, Spread: 0.3, Threads: 100},
		{ArrivalsPerS: 300, HoldS: 3.1, Spread: 1, Threads: 200},
		Model{ArrivalsPerS: 80, HoldS: 1, Spread: 1, Threads: 60, Queue: 100, TimeoutS: 2}.Retries(2),
		{ArrivalsPerS: 200, HoldS: 0.4, FastShare: 0.5, FastHoldS: 0.01, Spread: 0.5, Threads: 100},
	} {
		x := played(t, Scenario{Model: m, ForS: 400, Seed: 7})
		busy, served := x.Totals.BusyS/400, float64(x.Totals.Served)/400
		if want := served * m.MeanHoldS(); math.Abs(busy-want) > 0.03*want {
			t.Errorf("%+v: %.1f busy, %.1f/s served: %.1f", m, busy, served, want)
		}
	}
}

// The two answers are made independently, and agree.
func TestRunAgreesWithArithmetic(t *testing.T) {
	for _, m := range []Model{
		scan(),
		scan().WithoutRetries(),
		{ArrivalsPerS: 100, HoldS: 0.5, Spread: 1, Threads: 55},
		{ArrivalsPerS: 100, HoldS: 0.5, Spread: 1, Threads: 55, Queue: 20},
		Model{ArrivalsPerS: 100, HoldS: 0.5, Spread: 1, Threads: 60, TimeoutS: 2}.Retries(1),
		{ArrivalsPerS: 50, HoldS: 0.1, Spread: 0.5, Threads: 20, TimeoutS: 1, Layers: []Layer{{Retries: 2}, {Retries: 2}}},
		{ArrivalsPerS: 50, HoldS: 2, Spread: 0.5, Threads: 20, TimeoutS: 1, Layers: []Layer{{Retries: 2}, {Retries: 2}}},
		{ArrivalsPerS: 40, HoldS: 0.5, Spread: 0.5, Threads: 60, FailShare: 0.3, Layers: []Layer{{Retries: 1}}},
	} {
		want, err := Solve(m)
		if err != nil {
			t.Fatal(err)
		}
		n := played(t, Scenario{Model: m, ForS: 300, Seed: 3}).Totals
		load, good := float64(n.Attempts)/300, float64(n.Good)/300
		if math.Abs(load-want.Stuck.LoadPerS) > 0.06*load || math.Abs(good-want.Stuck.GoodPerS) > 0.06*m.ArrivalsPerS {
			t.Errorf("%+v: played %.1f/s, %.1f good; arithmetic %.1f/s, %.1f good", m, load, good, want.Stuck.LoadPerS, want.Stuck.GoodPerS)
		}
	}
}

// Twenty seconds of trouble: without retries it is over soon after; with them it
// never is.
func TestTriggerAndRecovery(t *testing.T) {
	m := Model{ArrivalsPerS: 150, HoldS: 1, Spread: 0.2, TimeoutS: 2, Threads: 200, Queue: 400}.Retries(3)
	trouble := Trigger{AtS: 10, ForS: 20, HoldS: 5}
	stuck := played(t, Scenario{Model: m, ForS: 120, Trigger: trouble, Seed: 1})
	if stuck.Recovered {
		t.Errorf("with retries it came back at %v s", stuck.RecoveredS)
	}
	if last := stuck.Points[len(stuck.Points)-1]; last.LoadPerS < 2*m.ArrivalsPerS || last.GoodPerS > m.ArrivalsPerS/2 {
		t.Errorf("%+v", last)
	}
	if calm := stuck.Points[3]; calm.GoodPerS < 100 {
		t.Errorf("before the trouble: %+v", calm)
	}
	if x := played(t, Scenario{Model: m.WithoutRetries(), ForS: 120, Trigger: trouble, Seed: 1}); !x.Recovered || x.RecoveredS < 30 || x.RecoveredS > 45 {
		t.Errorf("without retries it came back at %v s", x.RecoveredS)
	}
}

// A fleet too large to be played is played in small, with the same rates.
func TestScale(t *testing.T) {
	m := Model{ArrivalsPerS: 200_000, HoldS: 0.5, Spread: 0.5, TimeoutS: 1, Threads: 80_000, Queue: 8_000, Layers: []Layer{{Retries: 2, BackoffS: 0.05}}}
	x := played(t, Scenario{Model: m, ForS: 60, Seed: 1})
	want, err := Solve(m)
	if err != nil {
		t.Fatal(err)
	}
	last := x.Points[len(x.Points)-1]
	if x.Scale >= 0.2 || math.Abs(last.CallsPerS-m.ArrivalsPerS) > 0.1*m.ArrivalsPerS || math.Abs(last.LoadPerS-want.Stuck.LoadPerS) > 0.1*last.LoadPerS {
		t.Errorf("scale %v, last %+v, arithmetic %+v", x.Scale, last, want.Stuck)
	}
}

func BenchmarkRun(b *testing.B) {
	n := int64(0)
	for b.Loop() {
		x, err := Run(Scenario{Model: scan(), ForS: 60})
		if err != nil {
			b.Fatal(err)
		}
		n += x.Totals.Attempts
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/attempt")
}

func FuzzModel(f *testing.F) {
	f.Add(300.0, 3.1, 1.0, 2, 200, 0, uint64(1))
	f.Add(1e8, 1e6, 0.0, 100, 1, -1, uint64(2))
	f.Fuzz(func(t *testing.T, rate, hold, timeout float64, retries, threads, queue int, seed uint64) {
		m := Model{ArrivalsPerS: rate, HoldS: hold, TimeoutS: timeout, Threads: threads, Queue: queue, Spread: 0.5}.Retries(retries)
		c, err := Compare(m, m.WithoutRetries())
		if err != nil {
			return
		}
		for _, s := range c.Explanation {
			_ = s.String()
		}
		if math.IsNaN(c.Before.Stuck.LoadPerS) || math.IsNaN(c.Before.Calm.GoodPerS) || math.IsNaN(c.Before.Stuck.WaitS) {
			t.Fatalf("%+v: %+v", m, c.Before)
		}
	})
}
