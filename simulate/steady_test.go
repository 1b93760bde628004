package simulate

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// the incident of the documentation: 300 calls/s at a pool of 200 whose workers
// wait 3.1 s for a scan.
func scan() Model {
	return Model{ArrivalsPerS: 300, HoldS: 3.1, Spread: 0.3, TimeoutS: 1, Threads: 200, Cure: "the index"}.Retries(2)
}

func TestSentenceOfTheScan(t *testing.T) {
	before := scan()
	c, err := Compare(before, before.WithoutRetries())
	if err != nil {
		t.Fatal(err)
	}
	want := "with retries=0: 300 calls/s x 3.1 s needs 930 threads > 200: cut alone does not save you; the index does"
	if got := c.Explanation[0].String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if c.Before.Stuck.Amplification != 3 || c.Before.Stuck.LoadPerS != 900 || c.After.Stuck.LoadPerS != 300 || math.Round(c.After.MaxHoldS*1000) != 667 {
		t.Errorf("before %+v, after %+v", c.Before.Stuck, c.After)
	}
	indexed := before
	indexed.HoldS = 0.02
	c, err = Compare(before, indexed)
	if err != nil {
		t.Fatal(err)
	}
	want = "with hold 20 ms: 300 calls/s x 20 ms needs 6 threads, and there are 200: it recovers by itself"
	if got := c.Explanation[0].String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A pool that is nearly busy with calls made once stays full with calls made
// three times, long after the trouble is over.
func TestMetastable(t *testing.T) {
	m := Model{ArrivalsPerS: 150, HoldS: 1, Spread: 0.2, TimeoutS: 2, Threads: 200, Queue: 400}.Retries(3)
	r, err := Solve(m)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Metastable || !r.Fits || r.Recovers {
		t.Errorf("calm %+v\nstuck %+v", r.Calm, r.Stuck)
	}
	c, err := Compare(m, m.WithoutRetries())
	if err != nil {
		t.Fatal(err)
	}
	if !c.After.Recovers || !strings.HasSuffix(c.Explanation[0].String(), "it recovers by itself") {
		t.Errorf("%v", c.Explanation)
	}
}

func randomModel(r *rand.Rand) Model {
	m := Model{
		ArrivalsPerS: math.Exp(r.Float64()*6) / 2, HoldS: math.Exp(r.Float64()*6 - 5), Spread: r.Float64(), TimeoutS: max(0, r.Float64()*4-0.5),
		Threads: 1 + r.IntN(300), Queue: max(0, r.IntN(600)-300), Cancels: r.IntN(4) == 0, FailShare: max(0, r.Float64()*0.4-0.3),
		FastShare: max(0, r.Float64()-0.5), FastHoldS: r.Float64() / 100,
	}
	for range r.IntN(4) {
		m.Layers = append(m.Layers, Layer{Retries: r.IntN(4), BackoffS: max(0, r.Float64()-0.7)})
	}
	return m
}

func TestSteadyStates(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := randomModel(r)
		x, err := Solve(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []State{x.Calm, x.Stuck} {
			if s.Amplification < 1-1e-9 || s.Amplification > x.Ceiling*(1+1e-9) {
				t.Fatalf("%+v: amplification %v of at most %v", m, s.Amplification, x.Ceiling)
			}
			if math.Abs(s.LoadPerS-m.ArrivalsPerS*s.Amplification) > 1e-6*s.LoadPerS {
				t.Fatalf("%+v: load %v", m, s)
			}
			for _, share := range []float64{s.Failed, s.Rejected, s.Late, s.Utilisation, s.GoodShare, s.Wasted} {
				if !(share >= -1e-9 && share <= 1+1e-9) {
					t.Fatalf("%+v: %+v", m, s)
				}
			}
			if !(s.Queued >= 0 && s.Queued <= float64(m.Queue)+1e-6) || s.WaitS < 0 {
				t.Fatalf("%+v: %+v", m, s)
			}
		}
		const slack = 1e-6
		if x.Calm.Failed > x.Stuck.Failed+slack {
			t.Fatalf("%+v: calm %+v is worse than stuck %+v", m, x.Calm, x.Stuck)
		}
		// More retries, longer holds and more arrivals never make less load.
		for name, worse := range map[string]func(*Model){
			"retries":  func(m *Model) { m.Layers = append([]Layer{{Retries: 1}}, m.Layers...) },
			"hold":     func(m *Model) { m.HoldS *= 1.3 },
			"arrivals": func(m *Model) { m.ArrivalsPerS *= 1.2 },
			"threads":  func(m *Model) { m.Threads = max(1, m.Threads*3/4) },
		} {
			if name == "threads" && m.Queue > 0 {
				continue // a longer queue for each worker has waits of its own
			}
			n := m
			worse(&n)
			y, err := Solve(n)
			if err != nil {
				t.Fatal(err)
			}
			if y.Calm.LoadPerS < x.Calm.LoadPerS*(1-slack) || y.Stuck.LoadPerS < x.Stuck.LoadPerS*(1-slack) {
				t.Fatalf("%+v: worse %s made less load: %+v, %+v to %+v, %+v", m, name, x.Calm, x.Stuck, y.Calm, y.Stuck)
			}
		}
		if y, err := Solve(m.WithoutRetries()); err != nil || y.Calm.Amplification != 1 || y.Stuck.Amplification != 1 || y.Metastable {
			t.Fatalf("%+v: without retries %+v, %v", m, y, err)
		}
	}
}

func TestErlang(t *testing.T) {
	// Tables: 10 servers, 5 erlang: 0.018385; 200 servers, 180 erlang: 0.0101…
	if b := erlang(10, 5); math.Abs(b-0.018385) > 1e-6 {
		t.Errorf("%v", b)
	}
	if b := erlang(1, 1); b != 0.5 {
		t.Errorf("%v", b)
	}
	if b := erlang(50_000, 60_000); math.Abs(b-1.0/6) > 0.001 {
		t.Errorf("%v", b)
	}
}

func TestProblems(t *testing.T) {
	var m Model
	err := m.Check()
	var p Problem
	if !errors.As(err, &p) || !p.Missing || len(m.Problems()) != 3 {
		t.Errorf("%v", err)
	}
	for _, spoil := range []func(*Model){
		func(m *Model) { m.ArrivalsPerS = math.NaN() },
		func(m *Model) { m.ArrivalsPerS = math.Inf(1) },
		func(m *Model) { m.HoldS = -1 },
		func(m *Model) { m.TimeoutS = math.NaN() },
		func(m *Model) { m.Spread = 1.1 },
		func(m *Model) { m.Queue = -2 },
		func(m *Model) { m.Threads = -5 },
		func(m *Model) { m.FailShare = 2 },
		func(m *Model) { m.FastShare = -1 },
		func(m *Model) { m.Layers = []Layer{{Retries: -1}} },
		func(m *Model) { m.Layers = []Layer{{Retries: 100}, {Retries: 100}, {Retries: 100}, {Retries: 100}} },
	} {
		m := scan()
		spoil(&m)
		if len(m.Problems()) != 1 {
			t.Errorf("%+v: %v", m, m.Problems())
		}
		if _, err := Solve(m); err == nil {
			t.Errorf("%+v is solved", m)
		}
		if _, err := Run(Scenario{Model: m}); err == nil {
			t.Errorf("%+v is played", m)
		}
	}
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		Number(300): "300", Number(13.9): "13.9", Number(0): "0", Number(1240.4): "1,240", Number(0.0123): "0.012", Number(math.NaN()): "?", Number(2.5): "2.5",
		Whole(1234567): "1,234,567", Whole(-5): "-5", Whole(999): "999",
		Percent(0.5): "50 %", Percent(0.001): "<1 %", Percent(0.9999): ">99.9 %", Percent(1): "100 %", Percent(0): "0 %", Percent(0.995): "99.5 %",
		Seconds(0.05): "50 ms", Seconds(3.1): "3.1 s", Seconds(3000): "50m0s", Seconds(2e-5): "20 µs",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func BenchmarkSolve(b *testing.B) {
	m := scan()
	m.Queue = Endless
	for b.Loop() {
		if _, err := Solve(m); err != nil {
			b.Fatal(err)
		}
	}
}
