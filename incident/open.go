package incident

import (
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/lang"
)

// OpenIncident is an incident that earlier reports of a firebreak serve said and
// that is not over. A later report may say less: its evidence is no longer recent.
type OpenIncident struct {
	ID        string    `json:"id"`
	Label     Label     `json:"label"`
	Certainty Certainty `json:"certainty"`
	Subject   string    `json:"subject,omitempty"`
	Headline  string    `json:"headline"`
	Opened    time.Time `json:"opened"`
	Said      time.Time `json:"said,omitzero"`    // when a report last said it
	Now       Label     `json:"now,omitempty"`    // what that report called it, if another report has not come since
	Bundle    string    `json:"bundle,omitempty"` // where its evidence can be fetched: a path at the server, or a URL
}

// shownOpen is how many open incidents stand by name under a verdict.
const shownOpen = 2

// Unsaid are the open incidents that the report does not say itself: at most two
// of them, and how many more there are.
func (r *Report) Unsaid() (named []OpenIncident, more int) {
	for i := range r.OpenIncidents {
		switch o := &r.OpenIncidents[i]; {
		case r.says(o):
		case len(named) < shownOpen:
			named = append(named, *o)
		default:
			more++
		}
	}
	return named, more
}

// says reports whether an open incident is one that the report says. Reports name
// their subjects only where several stand side by side.
func (r *Report) says(o *OpenIncident) bool {
	if o.Now == o.Label && !r.GeneratedAt.IsZero() && o.Said.Equal(r.GeneratedAt) {
		return true
	}
	for i := range r.Incidents {
		in := &r.Incidents[i]
		if in.Label == o.Label && (in.Subject == o.Subject || in.Subject == "" || o.Subject == "") {
			return true
		}
	}
	return false
}

// What says which incident it is: "slow-sql (SkuService)".
func (o *OpenIncident) What() string {
	what := lang.Word(string(o.Label))
	if o.Subject != "" {
		what += lang.Sprintf(" (%s)", o.Subject)
	}
	return what
}

// When says since when it is open and when a report last said it, with the date
// where that is not the day of now.
func (o *OpenIncident) When(now time.Time, zone *time.Location) string {
	clock := func(t time.Time) string {
		t = t.In(zone)
		if n := now.In(zone); now.IsZero() || t.Format(time.DateOnly) == n.Format(time.DateOnly) {
			return t.Format("15:04")
		}
		return t.Format("2006-01-02 15:04")
	}
	said := lang.Sprintf("since %s", clock(o.Opened))
	switch {
	case o.Said.IsZero():
	case o.Now != "" && o.Now != o.Label:
		said += lang.Sprintf(", at %s said to be %s", clock(o.Said), lang.Word(string(o.Now)))
	default:
		said += lang.Sprintf(", last said %s", clock(o.Said))
	}
	return said
}

// open says under the verdict which incidents are not over though the report
// says nothing of them.
func (t *text) open() {
	named, more := t.index.report.Unsaid()
	for i := range named {
		o := &named[i]
		words := append(t.words(bold, lang.Sprintf("open: %s", o.What())), t.words(plain, o.When(t.index.report.GeneratedAt, t.zone))...)
		if o.Bundle != "" {
			words[len(words)-1] += ";"
			words = append(words, t.words(dim, lang.Sprintf("bundle: %s", o.Bundle))...)
		}
		t.item(t.paint(yellow, "!")+" ", "  ", words...)
	}
	if more > 0 {
		t.item("  ", "  ", t.words(dim, lang.Sprintf("and %d more that are open", more))...)
	}
}

func (m *markdown) open() {
	named, more := m.index.report.Unsaid()
	for i := range named {
		o := &named[i]
		line := escape(o.When(m.index.report.GeneratedAt, m.zone))
		if o.Bundle != "" {
			line += "; " + lang.Sprintf("bundle: %s", code(o.Bundle))
		}
		m.line(nil, "\n**%s** %s", escape(strings.TrimSpace(lang.Sprintf("open: %s", o.What()))), line)
	}
	if more > 0 {
		m.line(nil, "\n%s", lang.Sprintf("and %d more that are open", more))
	}
}
