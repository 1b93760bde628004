package tui

import (
	"slices"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/runbooks"
)

// Notebook is what the engineer said: answers against the evidence, remarks on
// it, and how far each runbook was walked. It is kept when the program ends and
// goes into exported reports.
type Notebook struct {
	Answers map[string]map[string]Said `json:"answers,omitempty"` // by incident and runbook, then by step
	Remarks []Remark                   `json:"remarks,omitempty"`
	Walked  map[string]int             `json:"walked,omitempty"` // steps accepted, by incident and runbook
}

// Said is an answer by a person.
type Said struct {
	Answer incident.Answer `json:"answer"`
	Note   string          `json:"note"`
}

// Remark is a bookmark, perhaps with words, on something of an incident.
type Remark struct {
	Incident string              `json:"incident"`
	Key      string              `json:"key"` // the thing on the screen
	Screen   string              `json:"screen"`
	About    string              `json:"about"` // its text
	Stance   string              `json:"stance,omitempty"`
	Note     string              `json:"note,omitempty"`
	Cites    []evidence.Citation `json:"citations,omitempty"`
	Findings []string            `json:"findings,omitempty"`
}

// walkKey names the walk of an incident through a book. The ID of an incident
// is made of what it is about, so that it survives reading again.
func walkKey(in *incident.Incident, book string) string { return in.ID + " " + book }

// overrides returns what was said about the steps of a book.
func (n *Notebook) overrides(in *incident.Incident, book string) map[string]runbooks.Override {
	out := map[string]runbooks.Override{}
	for step, s := range n.Answers[walkKey(in, book)] {
		out[step] = runbooks.Override{Answer: s.Answer, Note: s.Note}
	}
	return out
}

// say notes an answer; an empty one takes it back.
func (n *Notebook) say(in *incident.Incident, book, step string, said Said) {
	key := walkKey(in, book)
	if said.Answer == "" {
		delete(n.Answers[key], step)
		return
	}
	if n.Answers == nil {
		n.Answers = map[string]map[string]Said{}
	}
	if n.Answers[key] == nil {
		n.Answers[key] = map[string]Said{}
	}
	n.Answers[key][step] = said
}

func (n *Notebook) at(id, screen, key string) int {
	return slices.IndexFunc(n.Remarks, func(r Remark) bool { return r.Incident == id && r.Screen == screen && r.Key == key })
}

// put adds a remark or replaces the one on the same thing.
func (n *Notebook) put(r Remark) {
	if i := n.at(r.Incident, r.Screen, r.Key); i >= 0 {
		n.Remarks[i] = r
		return
	}
	n.Remarks = append(n.Remarks, r)
}

func (n *Notebook) drop(id, screen, key string) {
	if i := n.at(id, screen, key); i >= 0 {
		n.Remarks = slices.Delete(n.Remarks, i, i+1)
	}
}

// walked is how many steps were accepted.
func (n *Notebook) walked(in *incident.Incident, book string) int { return n.Walked[walkKey(in, book)] }

func (n *Notebook) setWalked(in *incident.Incident, book string, to int) {
	if n.Walked == nil {
		n.Walked = map[string]int{}
	}
	n.Walked[walkKey(in, book)] = to
}

// Into returns the report with what the engineer said in it: the walks as they
// were answered, the actions that follow from them, and the remarks. The report
// given is left as it is, and so are its labels, which are firebreak's own.
func (n *Notebook) Into(r *incident.Report, books *runbooks.Library) *incident.Report {
	out := *r
	out.Incidents = slices.Clone(r.Incidents)
	for i := range out.Incidents {
		in := &out.Incidents[i]
		for _, b := range books.Books() {
			over := n.overrides(in, b.Name)
			if len(over) == 0 {
				continue
			}
			c := runbooks.NewCase(r, i)
			w := b.Start().Follow(c, over)
			if b.Name == runbooks.DefaultName {
				in.Walk, in.Actions = w.Answered(), w.Actions(c)
			} else {
				in.Walk = append(slices.Clone(in.Walk), w.Answered()...)
			}
		}
		for _, rm := range n.Remarks {
			if rm.Incident == in.ID {
				in.Remarks = append(in.Remarks, incident.Remark{
					Stance: rm.Stance, About: rm.About, Text: rm.Note, Findings: rm.Findings, Citations: rm.Cites,
				})
			}
		}
	}
	return &out
}

func stanceWord(s string) string { return (&incident.Remark{Stance: s}).Says() }
