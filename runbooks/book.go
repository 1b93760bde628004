// Package runbooks answers the question that follows a verdict: what does one
// ask, in which order, and what does one do. A runbook is a YAML file of steps
// that are answered yes, no or unknown by kinds of findings, and of actions
// whose commands are filled with the incident's own names.
//
// The package promises that a walk is a pure function of a report and of what
// the engineer said; that nothing is ever executed; and that no name read from
// evidence reaches a command unless it is quoted for the shell or, where no one
// quoting is safe everywhere (SQL, YAML), consists of harmless characters only.
// It refuses runbooks that contradict themselves: see Lint.
package runbooks

import (
	"github.com/firebreak-io/firebreak/document"
	"github.com/firebreak-io/firebreak/incident"
)

// DefaultName is the runbook that every incident is walked through.
const DefaultName = "retries-and-pools"

// Book is one runbook.
type Book struct {
	Name    string
	Title   string
	About   string // Markdown: when to open it
	Steps   []Step // the first is where a walk begins
	Actions []Template

	file *document.File
	at   document.Place
}

// Step is one question.
type Step struct {
	ID        string
	Ask       string
	Body      string          // Markdown: what yes and no mean, and how to find out by hand
	Yes, No   []incident.Kind // kinds of findings that answer; neither found: unknown
	DecidedBy Decider
	ByHand    bool            // only a person can answer: the evidence never does
	Show      []incident.Kind // findings set beside the question
	Next      map[incident.Answer]Next
	Actions   []Template // for walks that come here; answered yes, unless they say otherwise

	at document.Place
}

// Decider says how a step is answered where the mere presence of a finding
// would not do, because the engine weighs one explanation against another.
type Decider string

// The deciders.
const (
	ByPresence Decider = ""        // any finding of a yes kind
	ByTrigger  Decider = "trigger" // a finding of a yes kind stands in the trigger of the incident's chain
	ByChain    Decider = "chain"   // a finding of a yes kind stands anywhere in the chain
	ByVerdict  Decider = "verdict" // the engine's label is what yes, or what no, concludes
)

// Next says where an answer leads: to a conclusion, to another step, or first
// one and then the other. The first conclusion of a walk stands.
type Next struct {
	Conclude incident.Label
	Then     string // step; empty: the walk ends

	at document.Place
}

// Phase is the place of an action in the order in which things are done.
type Phase string

// phases are the phases in their order.
var phases = []Phase{"save", "cut", "shed", "avoid", "repair", "restart", "lasting", "collect"}

// Template is an action whose texts have fields to be filled.
type Template struct {
	Phase    Phase
	When     When
	ForEach  incident.Kind // once for each finding of this kind, whose fields come first; at most three times
	What     string
	Command  string
	Language Language
	Why      []string // sentences; one whose fields are not known is left out
	Risk     []string
	Label    incident.Label // the link of the chain that it deals with

	at document.Place
}

// When restricts a template. Conditions that are given must all hold.
type When struct {
	Answers []incident.Answer // of the step that it stands under
	Labels  []incident.Label  // one of them stands in the chain, or is the conclusion
	Verdict []incident.Label  // one of them is the conclusion
	Kinds   []incident.Kind   // one of them was found
	Not     []incident.Kind   // none of them was found
	Tech    []Tech            // the evidence is of one of them
	NotTech []Tech            // the evidence is of none of them
}

// Language says how values are made harmless in a command.
type Language string

// The languages.
const (
	Shell Language = "shell"
	SQL   Language = "sql"
	YAML  Language = "yaml"
)

// answers are all answers.
var answers = []incident.Answer{incident.Yes, incident.No, incident.DontKnow}

// Step returns the step with an ID, or nil.
func (b *Book) Step(id string) *Step {
	for i := range b.Steps {
		if b.Steps[i].ID == id {
			return &b.Steps[i]
		}
	}
	return nil
}
