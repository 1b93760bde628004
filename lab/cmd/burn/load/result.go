package load

import (
	"math"
	"slices"
	"sync"
	"time"
)

// Result is what the load itself counted.
type Result struct {
	Seconds float64 `json:"seconds"` // until the last answer
	Sent    int64   `json:"sent"`
	Dropped int64   `json:"dropped"` // no room in flight
	Paths   []Count `json:"paths"`
}

// Count is the share of one kind of request.
type Count struct {
	Path     string           `json:"path"`
	Sent     int64            `json:"sent"`
	Dropped  int64            `json:"dropped,omitempty"`
	Statuses map[string]int64 `json:"statuses"`
	P50      float64          `json:"p50_ms"`
	P95      float64          `json:"p95_ms"`
	Max      float64          `json:"max_ms"`
}

type recorder struct {
	mu     sync.Mutex
	counts []Count
	took   [][]float64 // milliseconds
}

func newRecorder(mix []Path) *recorder {
	r := &recorder{counts: make([]Count, len(mix)), took: make([][]float64, len(mix))}
	for i, p := range mix {
		r.counts[i] = Count{Path: p.Template, Statuses: map[string]int64{}}
	}
	return r
}

func (r *recorder) add(kind int, status string, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[kind].Sent++
	r.counts[kind].Statuses[status]++
	r.took[kind] = append(r.took[kind], float64(took)/float64(time.Millisecond))
}

func (r *recorder) drop(kind int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[kind].Dropped++
}

func (r *recorder) result(lasted time.Duration) Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := Result{Seconds: lasted.Seconds(), Paths: r.counts}
	for i := range r.counts {
		c := &r.counts[i]
		slices.Sort(r.took[i])
		c.P50, c.P95, c.Max = quantile(r.took[i], 0.50), quantile(r.took[i], 0.95), quantile(r.took[i], 1)
		all.Sent += c.Sent
		all.Dropped += c.Dropped
	}
	return all
}

// quantile is by nearest rank, to a tenth; 0 if there is nothing.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := max(int(math.Ceil(q*float64(len(sorted))))-1, 0)
	return math.Round(sorted[at]*10) / 10
}
