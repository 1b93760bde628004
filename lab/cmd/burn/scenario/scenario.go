// Package scenario is the table of what can burn: for each scenario the services'
// settings, the load, the fault and its time, and what a person who knows all that
// would conclude. Every scenario exists in a full dose and in a mild one that does
// little harm; every third one also with other parameters and another seed, so that
// nobody fits the tool to one capture.
package scenario

import (
	"fmt"
	"time"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/load"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/stack"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/truth"
)

// Level is how much of the fault is given.
type Level int

// Full burns; Mild must not; Second burns with other parameters.
const (
	Full Level = iota
	Mild
	Second
)

// String is the level's name on the command line and in truth.json.
func (l Level) String() string { return [...]string{"full", "mild", "second"}[l] }

// ParseLevel reads a name.
func ParseLevel(s string) (Level, error) {
	for _, l := range []Level{Full, Mild, Second} {
		if l.String() == s {
			return l, nil
		}
	}
	return 0, fmt.Errorf("dose %q: want full, mild or second", s)
}

// of chooses a parameter by level.
func of[T any](l Level, full, mild, second T) T { return [...]T{full, mild, second}[l] }

// Scenario is one thing that goes wrong.
type Scenario struct {
	Name string
	Why  string // the truth in a sentence
	make func(Level) Dose
}

// Dose is a scenario in one strength.
type Dose struct {
	Setup  stack.Setup
	Load   load.Plan
	Faults []Fault
	Expect truth.Expect
	Dumps  []string // services whose threads are dumped
	Host   string   // service whose host's processors are watched, if any
}

// Times of a run, from the beginning of the load.
const (
	Lasts     = 22 * time.Second
	FaultOn   = 6 * time.Second
	FirstLook = FaultOn + 3*time.Second // first dump; two more follow
	Looks     = 3
	LookGap   = 5 * time.Second
)

// Fault is something done at a time and, unless To is 0, undone.
type Fault struct {
	Kind  string // see the constants
	Query string // of a service's own fault
	On    []string
	Rows  []string // SKUs to lock
	From  time.Duration
	To    time.Duration
}

// Kinds of faults.
const (
	Inside    = "inside"     // POST /fault?Query on services
	DropIndex = "drop-index" // the stock table loses its index
	LockRows  = "lock-rows"  // a transaction holds rows
	Hang      = "vendor-hangs"
	Gone      = "gone" // services end
)

// Dose makes the scenario in a strength.
func (s Scenario) Dose(l Level, seed uint64) Dose {
	d := s.make(l)
	d.Load.Duration = Lasts
	d.Load.Seed = seed
	if d.Load.InFlight == 0 {
		d.Load.InFlight = 400
	}
	for i := range d.Faults {
		if d.Faults[i].From == 0 {
			d.Faults[i].From = FaultOn
		}
	}
	if d.Dumps == nil {
		d.Dumps = []string{"product-1"}
	}
	return d
}

// Levels are the doses a scenario is captured in.
func Levels(index int) []Level {
	if index%3 == 0 {
		return []Level{Full, Mild, Second}
	}
	return []Level{Full, Mild}
}

// Find finds a scenario and its place in the table.
func Find(name string) (Scenario, int, error) {
	for i, s := range All {
		if s.Name == name {
			return s, i, nil
		}
	}
	return Scenario{}, 0, fmt.Errorf("no scenario is named %s; burn list names them", name)
}

// harmless is what a mild dose leaves: nobody is hurt. Whoever still names the
// fault must do so with doubt.
func harmless(label string, or ...string) truth.Expect {
	e := truth.Expect{Label: "healthy", Or: append([]string{"inconclusive", label}, or...), Caps: map[string]string{label: "medium"}}
	for _, l := range or {
		e.Caps[l] = "medium"
	}
	return e
}
