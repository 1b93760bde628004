package tui

import (
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/runbooks"
)

// scene is all that a screen may look at. Screens read it and change nothing.
type scene struct {
	report   *incident.Report
	books    *runbooks.Library
	nth      int                // of the report's incidents
	now      *incident.Incident // the incident that is looked at; nil if there is none
	byID     map[string]*incident.Finding
	notes    *Notebook
	book     string // name of the runbook that is walked
	loading  bool
	partial  bool
	progress Progress
	failure  error
	zone     *time.Location
	window   incident.Window // that the engineer chose; zero: all
	scenario *scenario       // of the what-if screen
	axis     axis            // of the timeline
	keyName  func(id string) string
	index    *callIndex   // of the report's edges
	stacks   *stackGroups // indexed when they are first asked for

	*glyphs
	width, height int // of the room for the page
}

// newScene indexes a report.
func newScene(r *incident.Report) *scene {
	s := &scene{report: r, byID: map[string]*incident.Finding{}, index: &callIndex{}, stacks: &stackGroups{}}
	for i := range r.Findings {
		s.byID[r.Findings[i].ID] = &r.Findings[i]
	}
	return s
}

// findings returns those of the given IDs that exist.
func (s *scene) findings(ids []string) []*incident.Finding {
	var list []*incident.Finding
	for _, id := range ids {
		if f := s.byID[id]; f != nil {
			list = append(list, f)
		}
	}
	return list
}

// citesOf returns the first citation of each finding, and of a single finding
// all that it has.
func (s *scene) citesOf(ids []string) []evidence.Citation {
	var list []evidence.Citation
	found := s.findings(ids)
	for _, f := range found {
		for i, c := range f.Citations {
			if (i == 0 || len(found) == 1) && !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	return list
}

// clock writes a time of day.
func (s *scene) clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(s.zone).Format("15:04:05")
}

// between writes a window of time.
func (s *scene) between(w incident.Window) string {
	if w.IsZero() {
		return ""
	}
	from, to := w.From.In(s.zone), w.To.In(s.zone)
	switch {
	case w.From.IsZero():
		return s.dash + to.Format("2006-01-02 15:04:05")
	case w.To.IsZero():
		return from.Format("2006-01-02 15:04:05") + s.dash
	case from.Format("2006-01-02") == to.Format("2006-01-02"):
		return from.Format("2006-01-02 15:04:05") + s.dash + to.Format("15:04:05")
	}
	return from.Format("2006-01-02 15:04:05") + s.dash + to.Format("2006-01-02 15:04:05")
}

// seen writes citations, each place once: at most n of them, and an ellipsis for
// the others.
func (s *scene) seen(list []evidence.Citation, n int) text {
	var t text
	var said []string
	for _, c := range list {
		short := s.shortCite(c)
		if slices.Contains(said, short) {
			continue
		}
		if len(said) == n {
			return t.and(cite, " "+s.ellipsis)
		}
		sep := ""
		if len(said) > 0 {
			sep = " "
		}
		said = append(said, short)
		t = t.and(cite, sep+"["+short+"]")
	}
	return t
}

// shortCite leaves out what a line number says better, and where a bundle lies.
func (s *scene) shortCite(c evidence.Citation) string {
	if c.Line > 0 {
		c.Part = ""
	}
	c.Source = s.shortSource(c.Source)
	return c.String()
}

// shortSource leaves out of a line that a bundle keeps for people where the bundle
// lies: what is left is the path of the file that the line came from.
func (s *scene) shortSource(source string) string {
	const folder = "/" + evidence.RawFolder + "/"
	if i := strings.LastIndex(source, folder); i >= 0 {
		return s.ellipsis + source[i+len(folder)-1:]
	}
	return source
}

// toLines are links to the text behind citations.
func toLines(list []evidence.Citation, n int) []link {
	var links []link
	for i := range list {
		if i == n {
			break
		}
		links = append(links, toLine(list[i]))
	}
	return links
}

func toLine(c evidence.Citation) link {
	return link{name: c.String(), to: place{screen: onExcerpt, arg: c.String()}, at: &c}
}
