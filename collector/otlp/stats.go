package otlp

import (
	"maps"
	"sync"
)

// Stats counts what became of requests.
type Stats struct {
	Taken     map[string]int64            // by transport
	Refused   map[string]map[Reason]int64 // by transport and reason
	Converted map[string]int64            // of Taken, those in a form that is not plain OTLP, by form
	Skipped   map[string]int64            // what could not be read of those that were taken, by why

	BytesInFlight, MaxBytesInFlight int64
}

// counters are Stats that are being counted.
type counters struct {
	mu sync.Mutex
	s  Stats
}

func newCounters() *counters {
	return &counters{s: Stats{
		Taken: map[string]int64{}, Refused: map[string]map[Reason]int64{GRPC: {}, HTTP: {}}, Converted: map[string]int64{}, Skipped: map[string]int64{},
	}}
}

func (c *counters) taken(transport string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.Taken[transport]++
}

func (c *counters) refused(transport string, why Reason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.Refused[transport][why]++
}

func (c *counters) converted(form string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.Converted[form]++
}

// maxWhys bounds the reasons that are counted apart; they are constants, mostly.
const maxWhys = 50

func (c *counters) skipped(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.s.Skipped[why]; !known && len(c.s.Skipped) >= maxWhys {
		why = "other"
	}
	c.s.Skipped[why]++
}

// Stats says what became of the requests so far.
func (r *Receiver) Stats() Stats {
	c := r.stats
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.s
	s.Taken, s.Converted, s.Skipped = maps.Clone(s.Taken), maps.Clone(s.Converted), maps.Clone(s.Skipped)
	s.Refused = map[string]map[Reason]int64{GRPC: maps.Clone(c.s.Refused[GRPC]), HTTP: maps.Clone(c.s.Refused[HTTP])}
	s.BytesInFlight, s.MaxBytesInFlight = r.budget.used.Load(), r.budget.limit
	return s
}
