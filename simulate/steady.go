package simulate

import "math"

// State is how things stand when they no longer change. Shares are of attempts
// unless said otherwise.
type State struct {
	LoadPerS      float64 `json:"load_per_s"`     // attempts a second that reach the provider
	Amplification float64 `json:"amplification"`  // LoadPerS / arrivals
	Failed        float64 `json:"failed"`         // share of attempts that fail, for whatever reason
	Rejected      float64 `json:"rejected"`       // share of attempts that are refused by the full pool
	Late          float64 `json:"late"`           // share of attempts whose caller gives up before the answer
	Utilisation   float64 `json:"utilisation"`    // share of the workers that are busy
	Queued        float64 `json:"queued"`         // requests that wait for a worker
	WaitS         float64 `json:"wait_s"`         // how long one that is let in waits
	MembersNeeded float64 `json:"members_needed"` // workers that the load would keep busy: load x hold time
	GoodPerS      float64 `json:"good_per_s"`     // calls a second that succeed
	GoodShare     float64 `json:"good_share"`     // their share of all calls
	Wasted        float64 `json:"wasted"`         // share of what the pool lets in whose answer nobody waits for
}

// Result is what becomes of a model in the long run.
type Result struct {
	Model   Model   `json:"model"`
	Ceiling float64 `json:"ceiling"` // the most attempts of one call
	// NeededAlone is the workers that the calls need if none is made twice
	// (Little's law), and MaxHoldS the hold time up to which the pool could carry
	// them.
	NeededAlone float64 `json:"needed_alone"`
	MaxHoldS    float64 `json:"max_hold_s"`
	// Calm is where things settle that began well, Stuck where they settle after
	// everything has failed for a while. They differ where retries alone keep the
	// pool full: nothing brings it back but less load.
	Calm       State `json:"calm"`
	Stuck      State `json:"stuck"`
	Metastable bool  `json:"metastable"`
	// Recovers says that nearly all calls succeed even after trouble, and Fits that
	// they do if there was none.
	Recovers bool `json:"recovers"`
	Fits     bool `json:"fits"`
}

// fits is the share of calls that succeed where all is said to be well.
const fits = 0.99

// The fixed point is looked for until it moves less, or for so long.
const (
	settled  = 1e-9
	maxSteps = 3_000
)

// Solve finds where a model settles: attempts fail because of the load, and the
// load is what it is because attempts fail.
func Solve(m Model) (Result, error) {
	if err := m.Check(); err != nil {
		return Result{}, err
	}
	r := Result{Model: m, Ceiling: m.Ceiling(), NeededAlone: m.ArrivalsPerS * m.MeanHoldS()}
	if rest := float64(m.Threads)/m.ArrivalsPerS - m.FastShare*m.FastHoldS; rest > 0 && m.FastShare < 1 {
		r.MaxHoldS = rest / (1 - m.FastShare)
	}
	p := newPool(m)
	r.Calm, r.Stuck = settle(p, 0), settle(p, 1)
	r.Fits, r.Recovers = r.Calm.GoodShare >= fits*(1-m.FailShare), r.Stuck.GoodShare >= fits*(1-m.FailShare)
	r.Metastable = r.Stuck.Failed-r.Calm.Failed > 0.02 && r.Calm.GoodShare-r.Stuck.GoodShare > 0.02
	return r, nil
}

// settle follows the share of attempts that fail from a first guess. What fails
// grows with what failed, so that guesses from 0 rise to the least state that
// holds itself up, and guesses from 1 fall to the greatest.
func settle(p *pool, failed float64) State {
	for range maxSteps {
		s := p.at(p.m.ArrivalsPerS * attempts(p.m.Layers, failed))
		moved := math.Abs(s.Failed - failed)
		failed = s.Failed
		if moved < settled {
			break
		}
	}
	a := attempts(p.m.Layers, failed)
	s := p.at(p.m.ArrivalsPerS * a)
	s.Amplification = a
	s.GoodShare = 1 - callFails(p.m.Layers, failed)
	s.GoodPerS = p.m.ArrivalsPerS * s.GoodShare
	return s
}

// attempts is how many attempts one call makes of which a share fails.
func attempts(layers []Layer, failed float64) float64 {
	all := 1.0
	for i := len(layers) - 1; i >= 0; i-- {
		one, chance := 0.0, 1.0
		for range layers[i].Retries + 1 {
			one += chance
			chance *= failed
		}
		all *= one
		failed = chance // the layer above sees a failure when all have failed
	}
	return all
}

// callFails is the share of calls that fail after all attempts.
func callFails(layers []Layer, failed float64) float64 {
	for i := len(layers) - 1; i >= 0; i-- {
		failed = math.Pow(failed, float64(layers[i].Retries+1))
	}
	return failed
}

// pool is the queue in front of the workers: Erlang's, with as many places to
// wait in as there are. It treats arrivals as random and waits as their means.
type pool struct {
	m    Model
	hold float64   // mean time that a worker is kept
	late []float64 // chance that an attempt let in behind so many others misses its timeout
}

func newPool(m Model) *pool {
	p := &pool{m: m, hold: m.MeanHoldS()}
	if m.Cancels && m.TimeoutS > 0 {
		p.hold = m.FastShare*cutMean(m.FastHoldS, m.Spread, m.TimeoutS) + (1-m.FastShare)*cutMean(m.HoldS, m.Spread, m.TimeoutS)
	}
	n := m.queue()
	p.late = make([]float64, n+1)
	for k := range p.late {
		if m.TimeoutS > 0 {
			left := m.TimeoutS - float64(k)*p.hold/float64(m.Threads)
			p.late[k] = m.FastShare*longer(m.FastHoldS, m.Spread, left) + (1-m.FastShare)*longer(m.HoldS, m.Spread, left)
		}
	}
	return p
}

// longer is the chance that a request holds its worker for longer than t: a
// fixed part and an exponential one.
func longer(hold, spread, t float64) float64 {
	switch t -= (1 - spread) * hold; {
	case t < 0:
		return 1
	case spread == 0 || hold == 0:
		return 0
	}
	return math.Exp(-t / (spread * hold))
}

// cutMean is the mean time that a worker is kept if the work ends at t.
func cutMean(hold, spread, t float64) float64 {
	fixed, mean := (1-spread)*hold, spread*hold
	if t <= fixed {
		return t
	}
	return fixed + mean*(1-math.Exp(-(t-fixed)/max(mean, 1e-300)))
}

// at is the pool's state under a load, calls apart.
func (p *pool) at(load float64) State {
	c, q := p.m.Threads, len(p.late)-1
	offered := load * p.hold
	s := State{LoadPerS: load, MembersNeeded: offered}
	// The chances of the states beyond "all busy", relative to the likeliest end.
	rho := offered / float64(c)
	below := 1/erlang(c, offered) - 1 // of all states with a free worker, relative to "all busy, nobody waits"
	weight := func(k int) float64 { return math.Pow(rho, float64(k)) }
	if rho > 1 {
		weight = func(k int) float64 { return math.Pow(rho, float64(k-q)) }
		below *= math.Pow(rho, float64(-q))
	}
	if math.IsInf(below, 0) {
		below = math.MaxFloat64 / 4
	}
	sum, late, waits, queued := below, below*p.late[0], 0.0, 0.0
	w, step := weight(0), rho
	for k := range q + 1 {
		if k > 0 {
			w *= step
			if w == 0 && rho > 1 {
				w = weight(k)
			}
		}
		sum += w
		queued += w * float64(k)
		if k < q {
			late += w * p.late[k+1]
			waits += w * float64(k+1)
		}
		if rho < 1 && w < 1e-15*sum {
			break
		}
	}
	s.Rejected = w / sum
	if rho < 1 && q > 0 && w < 1e-15*sum {
		s.Rejected = 0
	}
	s.Late, s.Queued = late/sum, queued/sum
	in := 1 - s.Rejected
	if in > 0 {
		s.WaitS = waits / sum / in * p.hold / float64(c)
		s.Wasted = s.Late / in
	}
	s.Utilisation = min(1, rho*in)
	s.Failed = 1 - (1-p.m.FailShare)*max(0, in-s.Late)
	return s
}

// manyWorkers are enough: more of them, at the same load for each, behave alike.
const manyWorkers = 5_000

// erlang is the chance that all of c workers are busy where nobody waits
// (Erlang's loss formula), never 0.
func erlang(c int, offered float64) float64 {
	if c > manyWorkers {
		c, offered = manyWorkers, offered*manyWorkers/float64(c)
	}
	b := 1.0
	for n := 1; n <= c; n++ {
		b = offered * b / (float64(n) + offered*b)
	}
	return max(b, 1e-300)
}
