package runbooks

import (
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// Apply walks the default runbook for each incident of a report and fills its
// Walk and Actions. It is to be called before the report is published.
func (l *Library) Apply(r *incident.Report) error {
	b := l.Book(DefaultName)
	if b == nil {
		return lang.Errorf("there is no runbook %q", DefaultName)
	}
	b.Apply(r)
	return nil
}

// Apply walks this runbook for each incident of a report.
func (b *Book) Apply(r *incident.Report) {
	for i := range r.Incidents {
		c := NewCase(r, i)
		w := b.Start().Follow(c, nil)
		r.Incidents[i].Walk = w.Answered()
		r.Incidents[i].Actions = w.Actions(c)
	}
}

// Actions returns what to do after a walk, in order, with the names of the case
// filled in.
func (w Walk) Actions(c *Case) []incident.Action {
	labels := c.labels(w)
	type filled struct {
		phase  int
		action incident.Action
	}
	var list []filled
	add := func(t *Template, a incident.Answer) {
		if !t.When.holds(c, labels, a) {
			return
		}
		for _, action := range c.fill(t) {
			same := func(f filled) bool {
				return f.action.What == action.What && f.action.Command == action.Command
			}
			if !slices.ContainsFunc(list, same) {
				list = append(list, filled{slices.Index(phases, t.Phase), action})
			}
		}
	}
	for _, r := range w.steps {
		s := w.book.Step(r.Step)
		for i := range s.Actions {
			add(&s.Actions[i], r.Answer)
		}
	}
	for i := range w.book.Actions {
		add(&w.book.Actions[i], "")
	}
	slices.SortStableFunc(list, func(a, b filled) int { return a.phase - b.phase })
	actions := []incident.Action{}
	for i, f := range list {
		f.action.Order = i + 1
		actions = append(actions, f.action)
	}
	c.numberTheCut(actions)
	return actions
}

// numberTheCut writes the number of the step that cuts the retries where a
// later document repeats its lines.
func (c *Case) numberTheCut(actions []incident.Action) {
	cut := c.override()
	for i := range actions {
		before, after, found := strings.Cut(actions[i].Command, theCut)
		if !found {
			continue
		}
		step := lang.T("the step that cuts the retries")
		for _, a := range actions[:i] {
			if a.Command == cut {
				step = lang.Sprintf("step %d", a.Order)
				break
			}
		}
		actions[i].Command = before + step + after
	}
}

// labels are those of the chain and of the verdict; where a person's answers
// led elsewhere, only what they led to.
func (c *Case) labels(w Walk) []incident.Label {
	if w.label != "" && w.label != c.incident.Label && slices.ContainsFunc(w.steps, func(r Reply) bool { return r.ByHand }) {
		return []incident.Label{w.label}
	}
	labels := []incident.Label{c.incident.Label}
	for _, link := range c.incident.Chain {
		if !slices.Contains(labels, link.Label) {
			labels = append(labels, link.Label)
		}
	}
	if w.label != "" && !slices.Contains(labels, w.label) {
		labels = append(labels, w.label)
	}
	return labels
}

// holds reports whether a template is for a case. Under a step, an action is
// for the answer yes unless it says otherwise.
func (w When) holds(c *Case, labels []incident.Label, a incident.Answer) bool {
	if a != "" {
		if len(w.Answers) == 0 && a != incident.Yes || len(w.Answers) > 0 && !slices.Contains(w.Answers, a) {
			return false
		}
	}
	if len(w.Labels) > 0 && !slices.ContainsFunc(w.Labels, func(l incident.Label) bool { return slices.Contains(labels, l) }) {
		return false
	}
	// The conclusion stands first among the labels.
	if len(w.Verdict) > 0 && !slices.Contains(w.Verdict, labels[0]) {
		return false
	}
	of := func(t Tech) bool { return slices.Contains(c.techs, t) }
	if len(w.Tech) > 0 && !slices.ContainsFunc(w.Tech, of) || slices.ContainsFunc(w.NotTech, of) {
		return false
	}
	return (len(w.Kinds) == 0 || c.has(w.Kinds)) && !c.has(w.Not)
}

// maxEach bounds how often a template for each finding is repeated.
const maxEach = 3

// fill fills a template: once, or once for each finding that it is for. What
// has to be said of something unknown is not said.
func (c *Case) fill(t *Template) []incident.Action {
	if t.ForEach == "" {
		return c.fillWith(t, nil)
	}
	var list []incident.Action
	for i, f := range c.of(t.ForEach) {
		if i < maxEach {
			list = append(list, c.fillWith(t, f)...)
		}
	}
	return list
}

func (c *Case) fillWith(t *Template, f *incident.Finding) []incident.Action {
	of := c.lookup(f)
	what, ok := fillWords(lang.T(t.What), of)
	if !ok {
		return nil
	}
	a := incident.Action{What: what, Why: sentences(t.Why, of), Risk: sentences(t.Risk, of), Label: t.Label}
	if t.Command != "" {
		if command, ok := fillCommand(lang.T(t.Command), t.Language, of); ok {
			a.Command = command
		}
	}
	return []incident.Action{a}
}

func sentences(list []string, of lookup) string {
	var said []string
	for _, s := range list {
		if text, ok := fillWords(lang.T(s), of); ok {
			said = append(said, text)
		}
	}
	return lang.Sentences(said)
}
