package truth

import (
	"encoding/json"
	"os"
	"time"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/load"
)

// Truth is what is known of one run; it is written as truth.json beside the evidence.
type Truth struct {
	Scenario string `json:"scenario"`
	Dose     string `json:"dose"`
	Seed     uint64 `json:"seed"`
	Why      string `json:"why"`

	Faults []Fault      `json:"faults"`
	Window Window       `json:"window"` // of the load, and of the evidence
	Expect Expect       `json:"expect"`
	Load   Load         `json:"load"`
	Setup  []Service    `json:"setup"`
	Counts map[string]N `json:"counts,omitempty"` // in the database
	Spans  int64        `json:"spans"`
	Missed []string     `json:"missed,omitempty"` // evidence that could not be collected, and why

	Edges      []Total             `json:"edges"`       // over the window
	FaultEdges []Total             `json:"fault_edges"` // from the fault on
	Processes  map[string]Counters `json:"processes"`   // over the window
	Checked    string              `json:"checked"`     // "agrees", or what does not
}

// N is a number counted outside the services.
type N = int64

// Fault is what was done, and when.
type Fault struct {
	Kind    string     `json:"kind"`
	What    string     `json:"what,omitempty"`
	Targets []string   `json:"targets,omitempty"`
	On      time.Time  `json:"on"`
	Off     *time.Time `json:"off,omitempty"`
}

// Window is a stretch of time.
type Window struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Expect is what a report on the evidence must conclude.
type Expect struct {
	Label string   `json:"label"`
	Or    []string `json:"or,omitempty"` // also right, where the evidence cannot tell
	Not   []string `json:"not,omitempty"`
	Chain []string `json:"chain,omitempty"`
	// Caps are the highest certainties of labels that are accepted only when they
	// are said with doubt: the fault is there and does little harm.
	Caps map[string]string `json:"caps,omitempty"`
	// Edge is the one whose amplification a report must know.
	Edge string `json:"edge,omitempty"`
}

// Load is the plan and what came of it.
type Load struct {
	Plan   load.Plan   `json:"plan"`
	Result load.Result `json:"result"`
}

// Service is one process's configuration.
type Service struct {
	Name     string            `json:"name"`
	Settings map[string]string `json:"settings"`
}

// Amplification is that of one edge, or 0.
func Amplification(edges []Total, name string) float64 {
	for _, e := range edges {
		if e.Edge == name {
			return e.Amplification
		}
	}
	return 0
}

// Write writes the truth to a file.
func (t *Truth) Write(name string) error {
	data, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(data, '\n'), 0o644)
}

// Read reads what Write wrote.
func Read(name string) (*Truth, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	t := &Truth{}
	return t, json.Unmarshal(data, t)
}
