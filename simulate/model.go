// Package simulate does what-if arithmetic: what callers that retry make of a
// rate of requests, whether a pool of workers can carry it, and whether it comes
// back by itself once it was overrun.
//
// It promises: pure functions of numbers; the same model and seed give the same
// result; every number that is not given is said to be missing, none is made up.
// It refuses to be more than a model: one pool, one kind of request (or two), and
// callers that behave as configured. [Solve] answers for the long run by
// arithmetic, [Run] plays a stretch of time event by event; they are made
// independently and checked against each other.
package simulate

import (
	"errors"
	"fmt"
	"math"
)

// Model is a pool of workers and those who call it. Times are in seconds.
type Model struct {
	ArrivalsPerS float64 `json:"arrivals_per_s"` // calls of the business, before any retry
	HoldS        float64 `json:"hold_s"`         // how long one request keeps a worker
	// Spread is how much that varies: 0 for always the same, 1 for exponential.
	Spread float64 `json:"spread,omitempty"`
	// FastShare of the requests, such as those of another method of the pool, hold
	// a worker for FastHoldS only.
	FastShare float64 `json:"fast_share,omitempty"`
	FastHoldS float64 `json:"fast_hold_s,omitempty"`
	TimeoutS  float64 `json:"timeout_s,omitempty"` // how long a caller waits for one attempt; 0 for ever
	// Layers are the callers that try again, outermost first. Their attempts
	// multiply. None: nobody retries.
	Layers  []Layer `json:"layers,omitempty"`
	Threads int     `json:"threads"` // workers, of all processes together
	Queue   int     `json:"queue"`   // places to wait in, of all processes together; [Endless] if unbounded
	// Cancels says that a timeout ends the work. Mostly it does not: the provider
	// goes on for nobody.
	Cancels bool `json:"cancels,omitempty"`
	// FailShare of the attempts fail for other reasons.
	FailShare float64 `json:"fail_share,omitempty"`
	// Cure names what would shorten the hold time, as "the index"; empty if unknown.
	Cure string `json:"cure,omitempty"`
}

// Layer is a caller that tries again.
type Layer struct {
	Name     string  `json:"name,omitempty"`
	Retries  int     `json:"retries"`             // attempts beyond the first
	BackoffS float64 `json:"backoff_s,omitempty"` // wait before each of them
}

// Endless is a queue without a bound.
const Endless = -1

// endless is how long a queue is looked at: longer than anybody waits.
const endless = 20_000

// The bounds of a model.
const (
	maxLayers  = 8
	maxRetries = 100
	maxThreads = 1_000_000
	maxRate    = 1e8
	maxSeconds = 1e6
)

// DefaultSpread is how much hold times vary where nothing is known: a little.
const DefaultSpread = 0.3

// Retries returns the model with one layer of callers that retry n times at
// once, in place of its layers.
func (m Model) Retries(n int) Model {
	m.Layers = []Layer{{Retries: n}}
	return m
}

// WithoutRetries returns the model with layers that do not retry.
func (m Model) WithoutRetries() Model {
	layers := make([]Layer, len(m.Layers))
	for i, l := range m.Layers {
		layers[i] = Layer{Name: l.Name}
	}
	m.Layers = layers
	return m
}

// Ceiling is the most attempts that one call can make.
func (m Model) Ceiling() float64 {
	n := 1.0
	for _, l := range m.Layers {
		n *= float64(1 + l.Retries)
	}
	return n
}

// MeanHoldS is how long one request of any kind keeps a worker.
func (m Model) MeanHoldS() float64 { return m.FastShare*m.FastHoldS + (1-m.FastShare)*m.HoldS }

// queue is how many places are looked at.
func (m Model) queue() int {
	if m.Queue == Endless {
		return endless
	}
	return min(m.Queue, endless)
}

// Problem is an input that makes no sense, or that is missing.
type Problem struct {
	Input   Input
	Missing bool
	Wants   string // what it must be, as "above 0"
}

func (p Problem) Error() string {
	if p.Missing {
		return fmt.Sprintf("%s: not known; give it", p.Input)
	}
	return fmt.Sprintf("%s: must be %s", p.Input, p.Wants)
}

// Input names a number of the model.
type Input string

// The inputs.
const (
	Arrivals Input = "arrivals"
	Hold     Input = "hold"
	Spread   Input = "spread"
	Fast     Input = "fast"
	Timeout  Input = "timeout"
	Layers   Input = "layers"
	Threads  Input = "threads"
	Queue    Input = "queue"
	Failing  Input = "failing"
)

// Problems lists what is wrong with a model, in the order of its fields.
func (m Model) Problems() []Problem {
	var list []Problem
	need := func(ok bool, in Input, wants string) {
		if !ok {
			list = append(list, Problem{Input: in, Wants: wants})
		}
	}
	between := func(x, low, high float64) bool { return x >= low && x <= high } // false for NaN
	missing := func(in Input) { list = append(list, Problem{Input: in, Missing: true}) }
	if m.ArrivalsPerS == 0 {
		missing(Arrivals)
	} else {
		need(between(m.ArrivalsPerS, math.SmallestNonzeroFloat64, maxRate), Arrivals, "above 0 and at most 100,000,000 a second")
	}
	if m.HoldS == 0 {
		missing(Hold)
	} else {
		need(between(m.HoldS, 1e-9, maxSeconds), Hold, "above 0 and at most 1,000,000 s")
	}
	need(between(m.Spread, 0, 1), Spread, "from 0 to 1")
	need(between(m.FastShare, 0, 1) && between(m.FastHoldS, 0, maxSeconds), Fast, "a share from 0 to 1 with a time")
	need(between(m.TimeoutS, 0, maxSeconds), Timeout, "0 (for ever) or more")
	ok := len(m.Layers) <= maxLayers
	for _, l := range m.Layers {
		ok = ok && l.Retries >= 0 && l.Retries <= maxRetries && between(l.BackoffS, 0, maxSeconds)
	}
	need(ok && m.Ceiling() <= 1e6, Layers, "at most 8 layers with 0 to 100 retries each")
	if m.Threads == 0 {
		missing(Threads)
	} else {
		need(m.Threads > 0 && m.Threads <= maxThreads, Threads, "from 1 to 1,000,000")
	}
	need(m.Queue >= Endless, Queue, "0 or more, or endless")
	need(between(m.FailShare, 0, 1), Failing, "from 0 to 1")
	return list
}

// Check returns an error that names every problem; nil if there is none.
func (m Model) Check() error {
	var list []error
	for _, p := range m.Problems() {
		list = append(list, p)
	}
	return errors.Join(list...)
}
