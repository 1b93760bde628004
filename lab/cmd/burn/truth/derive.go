package truth

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Total is one edge over all its consumers and providers.
type Total struct {
	Edge          string           `json:"edge"` // "Service.method"
	Consumers     []string         `json:"consumers"`
	Calls         int64            `json:"calls"`
	Attempts      int64            `json:"attempts"`
	Amplification float64          `json:"amplification,omitempty"` // attempts / calls
	ByAttempts    map[string]int64 `json:"by_attempts,omitempty"`
	OK            int64            `json:"ok"`
	Failed        int64            `json:"failed"`
	Outcomes      map[string]int64 `json:"outcomes,omitempty"`
	Received      int64            `json:"received"`
	ReceivedBy    map[string]int64 `json:"received_by,omitempty"` // by provider
	Executions    int64            `json:"executions"`
	Orphaned      int64            `json:"orphaned"`
	OrphanedMS    int64            `json:"orphaned_ms"`
}

// Derive adds up the processes' counters by edge.
func Derive(all map[string]Counters) []Total {
	by := map[string]*Total{}
	for _, process := range slices.Sorted(maps.Keys(all)) {
		for name, e := range all[process].Edges {
			if e.Calls == 0 && e.Attempts == 0 {
				continue
			}
			t := by[name]
			if t == nil {
				t = &Total{Edge: name, ByAttempts: map[string]int64{}, Outcomes: map[string]int64{}, ReceivedBy: map[string]int64{}}
				by[name] = t
			}
			t.Consumers = append(t.Consumers, process)
			t.Calls, t.Attempts = t.Calls+e.Calls, t.Attempts+e.Attempts
			t.OK, t.Failed = t.OK+e.OK, t.Failed+e.Failed
			plus(t.ByAttempts, e.ByAttempts)
			plus(t.Outcomes, e.Outcomes)
		}
	}
	for _, process := range slices.Sorted(maps.Keys(all)) {
		for name, m := range all[process].Methods {
			t := find(by, name)
			if t == nil {
				continue // nobody that we count calls it
			}
			t.Received += m.Received
			t.ReceivedBy[process] += m.Received
			t.Executions += m.Executions
			t.Orphaned += m.Orphaned
			t.OrphanedMS += m.OrphanedMS
		}
	}
	var list []Total
	for _, name := range slices.Sorted(maps.Keys(by)) {
		t := by[name]
		if t.Calls > 0 {
			t.Amplification = math.Round(1000*float64(t.Attempts)/float64(t.Calls)) / 1000
		}
		list = append(list, *t)
	}
	return list
}

func plus(to, more map[string]int64) {
	for k, n := range more {
		to[k] += n
	}
}

// find takes a provider's method to its edge. A provider may leave out the service.
func find(by map[string]*Total, name string) *Total {
	if t := by[name]; t != nil {
		return t
	}
	for edge, t := range by {
		if _, method, _ := strings.Cut(edge, "."); method == name {
			return t
		}
	}
	return nil
}

// unreached are the outcomes of attempts that may never have come to a provider.
// An order service that fails so hands the same outcome on to its own caller, so
// they are a bound, not a count.
var unreached = []string{"unreached", "network", "forbidden", "limit"}

func (t *Total) unreached() int64 {
	var n int64
	for _, outcome := range unreached {
		n += t.Outcomes[outcome]
	}
	return n
}

// Check holds the two sides against each other: every attempt of a consumer was
// received by a provider, refused by its pool, left in its queue, or never came.
// Pools refuse before they know the method, so that is checked by service. Each
// disagreement names both numbers.
func Check(all map[string]Counters) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	edges := Derive(all)
	for _, t := range edges {
		var byAttempts, outcomes int64
		for n, calls := range t.ByAttempts {
			attempts, err := strconv.ParseInt(n, 10, 64)
			if err != nil {
				bad("%s: by_attempts has the key %q", t.Edge, n)
			}
			byAttempts += attempts * calls
		}
		for _, n := range t.Outcomes {
			outcomes += n
		}
		if len(t.ByAttempts) > 0 && byAttempts != t.Attempts {
			bad("%s: %d attempts, but calls by their attempts add up to %d", t.Edge, t.Attempts, byAttempts)
		}
		if len(t.Outcomes) > 0 && outcomes != t.Attempts {
			bad("%s: %d attempts, but %d outcomes", t.Edge, t.Attempts, outcomes)
		}
		if t.OK+t.Failed != t.Calls {
			bad("%s: %d calls, but %d ended", t.Edge, t.Calls, t.OK+t.Failed)
		}
	}
	services := map[string]bool{}
	for _, t := range edges {
		services[service(t.Edge)] = true
	}
	for _, name := range slices.Sorted(maps.Keys(services)) {
		var attempts, received, maybe int64
		for _, t := range edges {
			if service(t.Edge) == name {
				attempts, received, maybe = attempts+t.Attempts, received+t.Received, maybe+t.unreached()
			}
		}
		refused, queued := atPools(all, edges, name)
		if rest := attempts - received - refused; rest < 0 || rest > maybe+queued {
			bad("%s: consumers made %d attempts; providers received %d and refused %d, %d are queued, and at most %d never came: %d do not agree", name, attempts, received, refused, queued, maybe, rest)
		}
	}
	return errors.Join(errs...)
}

// service is the first part of an edge's name.
func service(edge string) string {
	name, _, _ := strings.Cut(edge, ".")
	return name
}

// atPools adds up what the pools of a service's providers refused and hold.
func atPools(all map[string]Counters, edges []Total, name string) (refused, queued int64) {
	for process, c := range all {
		provides := slices.ContainsFunc(edges, func(t Total) bool {
			_, there := t.ReceivedBy[process]
			return there && service(t.Edge) == name
		})
		if !provides {
			continue
		}
		refused += c.Rejected
		if c.Pool != nil {
			queued += c.Pool.Queued
		}
	}
	return refused, queued
}
