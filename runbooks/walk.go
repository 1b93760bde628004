package runbooks

import (
	"slices"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// Walk is a way through a runbook: the steps answered so far and the step that
// comes next. It is a value: answering gives another walk and leaves the one
// before it as it was.
type Walk struct {
	book  *Book
	steps []Reply
	next  string // step to answer; empty at the end
	label incident.Label
}

// Reply is the answer that was given to a step.
type Reply struct {
	Step    string
	Answer  incident.Answer
	Because []string // finding IDs
	ByHand  bool     // a person answered, perhaps against the evidence
	Note    string   // that person's words
}

// Start begins a walk.
func (b *Book) Start() Walk {
	w := Walk{book: b}
	if len(b.Steps) > 0 {
		w.next = b.Steps[0].ID
	}
	return w
}

// Step returns the step to be answered, or nil at the end.
func (w Walk) Step() *Step { return w.book.Step(w.next) }

// Replies returns the answers so far.
func (w Walk) Replies() []Reply { return slices.Clone(w.steps) }

// Conclusion returns the label that the walk has come to, and whether the walk
// is at its end.
func (w Walk) Conclusion() (incident.Label, bool) { return w.label, w.next == "" }

// Answer returns the walk with a step answered by a person. An answer to a step
// that has been passed takes back what was answered after it, since it may lead
// elsewhere. Other steps cannot be answered.
func (w Walk) Answer(step string, a incident.Answer, note string) (Walk, error) {
	if !slices.Contains(answers, a) {
		return w, lang.Errorf("answer %q is none of yes, no, unknown", a)
	}
	i := slices.IndexFunc(w.steps, func(r Reply) bool { return r.Step == step })
	switch {
	case i >= 0 && step != w.next:
		w = w.backTo(i)
	case step != w.next || step == "":
		return w, lang.Errorf("step %q is not where this walk stands", step)
	}
	return w.reply(Reply{Step: step, Answer: a, Because: []string{}, ByHand: true, Note: note}), nil
}

// Back returns the walk without its last answer; false if there is none.
func (w Walk) Back() (Walk, bool) {
	if len(w.steps) == 0 {
		return w, false
	}
	return w.backTo(len(w.steps) - 1), true
}

// backTo returns the walk before its i-th answer.
func (w Walk) backTo(i int) Walk {
	kept := w.steps[:i]
	again := w.book.Start()
	for _, r := range kept {
		again = again.reply(r)
	}
	return again
}

// reply answers the step that the walk stands at.
func (w Walk) reply(r Reply) Walk {
	step := w.Step()
	w.steps = append(slices.Clone(w.steps), r)
	next := step.Next[r.Answer]
	if w.label == "" {
		w.label = next.Conclude
	}
	w.next = next.Then
	return w
}

// Override is what a person says about a step against the evidence.
type Override struct {
	Answer incident.Answer
	Note   string
}

// Follow walks from where a walk stands to its end, answering from the
// evidence, or as overrides say by step. It stops at a step that was answered
// before: the evidence would send it round for ever.
func (w Walk) Follow(c *Case, overrides map[string]Override) Walk {
	for s := w.Step(); s != nil; s = w.Step() {
		if slices.ContainsFunc(w.steps, func(r Reply) bool { return r.Step == s.ID }) {
			return w
		}
		answer, because := c.Answer(s)
		r := Reply{Step: s.ID, Answer: answer, Because: because}
		if o, ok := overrides[s.ID]; ok {
			r.Answer, r.Note, r.ByHand = o.Answer, o.Note, true
		}
		w = w.reply(r)
	}
	return w
}

// Answered returns the walk as it stands in a report.
func (w Walk) Answered() []incident.Answered {
	list := []incident.Answered{}
	for i, r := range w.steps {
		a := incident.Answered{Runbook: w.book.Name, Step: r.Step, Answer: r.Answer, Because: orEmpty(r.Because)}
		if s := w.book.Step(r.Step); s != nil {
			a.Ask = lang.T(s.Ask)
		}
		if r.ByHand {
			note := r.Note
			a.OverriddenBy = &note
		}
		if i == len(w.steps)-1 && w.next == "" {
			a.Concludes = w.label
		}
		list = append(list, a)
	}
	return list
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
