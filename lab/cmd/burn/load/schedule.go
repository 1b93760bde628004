// Package load is an open-loop load generator: requests leave when the schedule
// says so, whether or not the earlier ones came back, as users do. The schedule
// follows from a seed alone. What is in flight is bounded; a request that finds no
// room is counted as dropped, never delayed.
package load

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Plan is a load to apply.
type Plan struct {
	Rate     float64       `json:"rate"` // requests per second
	Duration time.Duration `json:"duration_ns"`
	Steps    []Step        `json:"steps,omitempty"`
	Mix      []Path        `json:"mix"`
	Uniform  bool          `json:"uniform,omitempty"` // equal distances instead of a Poisson process
	Seed     uint64        `json:"seed"`
	InFlight int           `json:"in_flight"`
	First    int           `json:"first,omitempty"` // added to {n}
}

// Step multiplies the rate from a time on.
type Step struct {
	From   time.Duration `json:"from_ns"`
	Factor float64       `json:"factor"`
}

// Path is one kind of request. {n} in its template is a number of its own for
// each request, {key} one of Keys numbers.
type Path struct {
	Template string  `json:"template"`
	Weight   float64 `json:"weight"`
	Keys     int     `json:"keys,omitempty"`
}

// arrival is one request of the schedule.
type arrival struct {
	at   time.Duration
	kind int // index into the mix
	path string
}

// schedule lays out all requests of a plan.
func schedule(p Plan) []arrival {
	rng := rand.New(rand.NewPCG(p.Seed, 0x6c6162))
	total := 0.0
	for _, path := range p.Mix {
		total += path.Weight
	}
	var list []arrival
	for at := time.Duration(0); ; {
		gap := 1.0
		if !p.Uniform {
			gap = rng.ExpFloat64()
		}
		at += time.Duration(gap / (p.Rate * factor(p.Steps, at)) * float64(time.Second))
		if at >= p.Duration {
			return list
		}
		kind := pick(p.Mix, rng.Float64()*total)
		list = append(list, arrival{at, kind, p.Mix[kind].fill(p.First+len(list), rng)})
	}
}

// factor is that of the last step begun.
func factor(steps []Step, at time.Duration) float64 {
	f := 1.0
	for _, s := range steps {
		if at >= s.From {
			f = s.Factor
		}
	}
	return f
}

func pick(mix []Path, x float64) int {
	for i, path := range mix {
		if x -= path.Weight; x < 0 {
			return i
		}
	}
	return len(mix) - 1
}

func (p Path) fill(n int, rng *rand.Rand) string {
	key := 0
	if p.Keys > 0 {
		key = rng.IntN(p.Keys)
	}
	return strings.NewReplacer("{n}", fmt.Sprint(100000+n), "{key}", fmt.Sprint(1000+key)).Replace(p.Template)
}
