package incident

import (
	"strconv"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/lang"
)

// htmlFinding is a finding in a list.
type htmlFinding struct {
	ID     string
	Anchor string // empty where the finding stands a second time
	Href   string // where it stands first
	Kind   string
	Text   string
	Times  string
	When   string
	Cites  htmlCitations
}

// htmlRef names a finding, as a link where the page shows it, and says it to
// whoever rests on the name.
type htmlRef struct{ ID, Href, Text string }

// htmlCitations are the places of what is said: a few in sight, more behind a
// click.
type htmlCitations struct {
	Shown, Folded []string
	Fold          string // says how many are folded
	More          string
}

// chooseFindings gives anchors to the findings that the page will show, before
// anything refers to them.
func (h *htmlPage) chooseFindings() {
	r := h.index.report
	number := map[*Finding]int{}
	for i := range r.Findings {
		number[&r.Findings[i]] = i + 1
	}
	choose := func(f *Finding) {
		h.anchors[f.ID] = "finding-" + strconv.Itoa(number[h.byID[f.ID]])
	}
	for i := range r.Incidents[:min(htmlIncidents, len(r.Incidents))] {
		found := h.findings(r.Incidents[i].findingIDs())
		for _, f := range found[:min(htmlFindings, len(found))] {
			choose(f)
		}
	}
	others := 0
	for i := range r.Findings {
		f := &r.Findings[i]
		if h.anchors[f.ID] == "" && others < htmlFindings {
			others++
			choose(f)
		}
	}
}

func (h *htmlPage) finding(f *Finding) htmlFinding {
	v := htmlFinding{
		ID: f.ID, Kind: string(f.Kind), Text: cutMiddle(f.Text, htmlSentence), Times: f.times(),
		When: h.span(f.First, f.Last), Cites: htmlCitedUpTo(htmlCitesOfFinding, f.Citations), Href: "#" + h.anchors[f.ID],
	}
	if !h.printed[f.ID] {
		h.printed[f.ID] = true
		v.Anchor = h.anchors[f.ID]
	}
	return v
}

// otherFindings are those that no incident names.
func (h *htmlPage) otherFindings() htmlList[htmlFinding] {
	var list []*Finding
	seen := map[string]bool{}
	for i := range h.index.report.Findings {
		f := &h.index.report.Findings[i]
		if !h.printed[f.ID] && !seen[f.ID] {
			seen[f.ID] = true
			list = append(list, h.byID[f.ID])
		}
	}
	return listed(list, htmlFindings, func(f **Finding) htmlFinding { return h.finding(*f) })
}

// refs names findings.
func (h *htmlPage) refs(ids []string) []htmlRef {
	var list []htmlRef
	for _, f := range h.findings(ids) {
		if len(list) == htmlItems {
			break
		}
		r := htmlRef{ID: f.ID, Text: cutMiddle(f.Text, htmlName)}
		if anchor := h.anchors[f.ID]; anchor != "" {
			r.Href = "#" + anchor
		}
		list = append(list, r)
	}
	return list
}

// htmlCited makes citations ready to be shown.
func htmlCited(list []evidence.Citation) htmlCitations { return htmlCitedUpTo(htmlCites, list) }

func htmlCitedUpTo(limit int, list []evidence.Citation) htmlCitations {
	var v htmlCitations
	list = places(list[:min(len(list), 4*htmlCitesMore)])
	for i, c := range list {
		at := "[" + cutMiddle(c.String(), htmlName) + "]"
		switch {
		case i < limit:
			v.Shown = append(v.Shown, at)
		case i < limit+htmlCitesMore:
			v.Folded = append(v.Folded, at)
		}
	}
	if n := len(list) - limit; n > 0 {
		v.Fold = lang.Sprintf("and %s more", grouped(n))
	}
	v.More = more(len(list) - limit - htmlCitesMore)
	return v
}
