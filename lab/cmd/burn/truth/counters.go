// Package truth is what really happened in a run: the services' own counters, the
// fault and its time, and the label that somebody who knows both would give. The
// arithmetic checks itself: what consumers sent must be what providers got.
package truth

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// Counters are what one process counted; its control port gives them.
type Counters struct {
	Name     string            `json:"name,omitempty"`
	Role     string            `json:"role,omitempty"`
	Edges    map[string]Edge   `json:"edges,omitempty"`    // consumer side, by "Service.method"
	Methods  map[string]Method `json:"methods,omitempty"`  // provider side, by "Service.method"
	Pool     *Pool             `json:"pool,omitempty"`     // of the workers
	Rejected int64             `json:"rejected,omitempty"` // by the worker pool
}

// Edge is one consumer's side of calls to one method.
type Edge struct {
	Calls      int64            `json:"calls"`
	Attempts   int64            `json:"attempts"`
	ByAttempts map[string]int64 `json:"by_attempts,omitempty"`
	OK         int64            `json:"ok"`
	Failed     int64            `json:"failed"`
	Outcomes   map[string]int64 `json:"outcomes,omitempty"` // of attempts
	InFlight   int64            `json:"in_flight,omitempty"`
}

// Method is one provider's side.
type Method struct {
	Received   int64 `json:"received"`
	Executions int64 `json:"executions"`
	Completed  int64 `json:"completed"`
	Failed     int64 `json:"failed,omitempty"` // beside completed, where a process counts it so
	Orphaned   int64 `json:"orphaned"`
	OrphanedMS int64 `json:"orphaned_ms"`
	BusyMS     int64 `json:"busy_ms"`
	Rejected   int64 `json:"rejected,omitempty"` // received, not executed
}

// Pool is a bounded set of workers or connections, as far as it was counted.
type Pool struct {
	Max        int64 `json:"max"`
	ActivePeak int64 `json:"active_peak"`
	Active     int64 `json:"active,omitempty"`
	Queued     int64 `json:"queued,omitempty"`
	WaitCount  int64 `json:"wait_count,omitempty"`
}

// Parse reads the answer of /counters. The Java services and the Go one name some
// parts differently; what a process does not count is absent.
func Parse(data []byte) (Counters, error) {
	var raw struct {
		Counters
		Consumers map[string]Edge   `json:"consumers"`
		Consumer  map[string]Edge   `json:"consumer"`
		Providers map[string]Method `json:"providers"`
		Provider  map[string]Method `json:"provider"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return Counters{}, fmt.Errorf("counters: %w", err)
	}
	c := raw.Counters
	edges, methods := map[string]Edge{}, map[string]Method{}
	for _, m := range []map[string]Edge{c.Edges, raw.Consumers, raw.Consumer} {
		for name, e := range m {
			edges[short(name)] = e
		}
	}
	for _, m := range []map[string]Method{c.Methods, raw.Providers, raw.Provider} {
		for name, p := range m {
			methods[short(name)] = p
		}
	}
	c.Edges, c.Methods = edges, methods
	return c, nil
}

// short leaves "Service.method" of a name with packages.
func short(name string) string {
	parts := strings.Split(name, ".")
	return strings.Join(parts[max(len(parts)-2, 0):], ".")
}

// Since is what was counted between two readings. Peaks cannot be subtracted and
// are those of the later one.
func (c Counters) Since(before Counters) Counters {
	d := Counters{Name: c.Name, Role: c.Role, Pool: c.Pool, Rejected: c.Rejected - before.Rejected}
	d.Edges = map[string]Edge{}
	for name, e := range c.Edges {
		b := before.Edges[name]
		d.Edges[name] = Edge{
			Calls: e.Calls - b.Calls, Attempts: e.Attempts - b.Attempts, OK: e.OK - b.OK, Failed: e.Failed - b.Failed,
			ByAttempts: minus(e.ByAttempts, b.ByAttempts), Outcomes: minus(e.Outcomes, b.Outcomes), InFlight: e.InFlight,
		}
	}
	d.Methods = map[string]Method{}
	for name, m := range c.Methods {
		b := before.Methods[name]
		d.Methods[name] = Method{
			Received: m.Received - b.Received, Executions: m.Executions - b.Executions, Completed: m.Completed - b.Completed, Failed: m.Failed - b.Failed,
			Orphaned: m.Orphaned - b.Orphaned, OrphanedMS: m.OrphanedMS - b.OrphanedMS, BusyMS: m.BusyMS - b.BusyMS,
			Rejected: m.Rejected - b.Rejected,
		}
	}
	return d
}

// minus subtracts by key and leaves out what is zero.
func minus(a, b map[string]int64) map[string]int64 {
	d := map[string]int64{}
	maps.Copy(d, a)
	for k, n := range b {
		if d[k] -= n; d[k] == 0 {
			delete(d, k)
		}
	}
	return d
}

// Idle reports whether providers have ended all that they received.
func Idle(all map[string]Counters) bool {
	for _, c := range all {
		for _, m := range c.Methods {
			if m.Completed+m.Failed < m.Received-m.Rejected {
				return false
			}
		}
		if len(c.Methods) > 0 && c.Pool != nil && c.Pool.Queued > 0 {
			return false
		}
	}
	return true
}
