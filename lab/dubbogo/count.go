package main

import (
	"sync"
	"time"
)

// consumerCount holds what one edge ("interface.method") did since the start.
type consumerCount struct {
	Calls      int64            `json:"calls"`    // logical, counted around the proxy
	Attempts   int64            `json:"attempts"` // counted inside the cluster invoker
	ByAttempts map[string]int64 `json:"by_attempts"`
	OK         int64            `json:"ok"`
	Failed     int64            `json:"failed"`
	Outcomes   map[string]int64 `json:"outcomes"` // of attempts
	InFlight   int64            `json:"in_flight"`
}

// providerCount holds what one method did since the start.
type providerCount struct {
	Received   int64 `json:"received"`
	Executions int64 `json:"executions"`
	Completed  int64 `json:"completed"`
	Failed     int64 `json:"failed"`
	Orphaned   int64 `json:"orphaned"`    // ended after the consumer had left
	OrphanedMs int64 `json:"orphaned_ms"` // work done for nobody: from the time the consumer left
	BusyMs     int64 `json:"busy_ms"`
	Rejected   int64 `json:"rejected"` // received and not executed
	Active     int64 `json:"active"`
	ActivePeak int64 `json:"active_peak"`
}

// poolCount is the database pool of a provider.
type poolCount struct {
	Max       int   `json:"max"`
	InUse     int   `json:"in_use"`
	InUsePeak int   `json:"active_peak"` // as seen at the readings of /counters
	WaitCount int64 `json:"wait_count"`
	WaitMs    int64 `json:"wait_ms"`
}

// counters is what /counters answers. Its methods may be called from any goroutine.
type counters struct {
	mu sync.Mutex

	Name    string                    `json:"name"`
	Role    string                    `json:"role"`
	Edges   map[string]*consumerCount `json:"edges,omitempty"`
	Methods map[string]*providerCount `json:"methods,omitempty"`
	Pool    *poolCount                `json:"pool,omitempty"`
}

func newCounters(c *config) *counters {
	return &counters{
		Name: c.name, Role: c.role,
		Edges: map[string]*consumerCount{}, Methods: map[string]*providerCount{},
	}
}

// edge runs f with the counts of one edge.
func (s *counters) edge(name string, f func(*consumerCount)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.Edges[name]
	if e == nil {
		e = &consumerCount{ByAttempts: map[string]int64{}, Outcomes: map[string]int64{}}
		s.Edges[name] = e
	}
	f(e)
}

// method runs f with the counts of one method.
func (s *counters) method(name string, f func(*providerCount)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.Methods[name]
	if m == nil {
		m = &providerCount{}
		s.Methods[name] = m
	}
	f(m)
}

// ended counts the end of one execution. timeout is the consumer's, counted from
// the arrival; zero or less means that there is none or that it is not known.
func (p *providerCount) ended(took, timeout time.Duration, failed bool) {
	p.Active--
	p.BusyMs += took.Milliseconds()
	if failed {
		p.Failed++
	} else {
		p.Completed++
	}
	if timeout > 0 && took > timeout {
		p.Orphaned++
		p.OrphanedMs += (took - timeout).Milliseconds()
	}
}
