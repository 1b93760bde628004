package ledger

import "time"

// DeadlineLayer is one layer of callers as configured: how long it waits for an
// attempt, how often it tries again and how long it waits in between.
type DeadlineLayer struct {
	Name    string
	Timeout time.Duration // per attempt
	Retries int           // attempts beyond the first
	Backoff time.Duration // total of the waits between the attempts
	// Left is what the caller above has left when it makes the call; zero or less
	// takes the layer's place in the chain: one attempt's timeout of the layer above.
	Left time.Duration
}

// Deadline is the arithmetic of one layer.
type Deadline struct {
	Name     string
	Attempts int           // 1 + retries
	Needs    time.Duration // timeout x attempts + backoff
	Left     time.Duration // what its caller waits; 0 if nobody above says
	Over     time.Duration // Needs - Left, if the layer outlives its caller; else 0
	Useful   int           // attempts that can end before the caller gives up; Attempts if Left is 0
	// Factor is the worst-case attempts per request at the entry: the product of
	// the attempts of this layer and of those above.
	Factor int
}

// Deadlines does the arithmetic of timeouts over layers, outermost first. Load
// multiplies: layers of 3 and 3 attempts make 9.
func Deadlines(layers []DeadlineLayer) []Deadline {
	out := make([]Deadline, 0, len(layers))
	factor, above := 1, time.Duration(0)
	for _, l := range layers {
		n := 1 + max(0, l.Retries)
		d := Deadline{Name: l.Name, Attempts: n, Needs: times(max(0, l.Timeout), n), Left: l.Left, Useful: n}
		if d.Needs <= maxDuration-max(0, l.Backoff) {
			d.Needs += max(0, l.Backoff)
		} else {
			d.Needs = maxDuration
		}
		if d.Left <= 0 {
			d.Left = above
		}
		if factor > maxFactor/n {
			factor = maxFactor
		} else {
			factor *= n
		}
		d.Factor = factor
		if d.Left > 0 {
			d.Over = max(0, d.Needs-d.Left)
			if l.Timeout > 0 && d.Over > 0 {
				pause := time.Duration(0)
				if n > 1 {
					pause = max(0, l.Backoff) / time.Duration(n-1)
				}
				d.Useful = min(n, int((d.Left+pause)/(l.Timeout+pause)))
			}
		}
		above = l.Timeout
		out = append(out, d)
	}
	return out
}

const (
	maxDuration = time.Duration(1<<63 - 1)
	maxFactor   = 1 << 40
)

func times(d time.Duration, n int) time.Duration {
	if n > 0 && d > maxDuration/time.Duration(n) {
		return maxDuration
	}
	return d * time.Duration(n)
}

// Load is a rate of requests multiplied on its way down.
type Load struct {
	In, Out float64   // per second
	Factors []float64 // attempts per request of each layer, outermost first
}

// Multiply carries a rate through layers that make so many attempts each:
// 1,000/s through layers of 3 and 2 is 6,000/s.
func Multiply(in float64, factors ...float64) Load {
	out := in
	for _, f := range factors {
		out *= f
	}
	return Load{In: in, Out: out, Factors: append([]float64(nil), factors...)}
}
