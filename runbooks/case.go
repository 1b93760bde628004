package runbooks

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/firebreak-io/firebreak/incident"
)

// Case is an incident with the findings that are its own.
type Case struct {
	incident *incident.Incident
	findings []*incident.Finding
	techs    []Tech
}

// NewCase returns the case of a report's i-th incident. Where a report holds
// several, the engine numbers the findings of one after those of the other, so
// an incident's own are those between the first and the last that it names.
func NewCase(r *incident.Report, i int) *Case {
	c := &Case{incident: &r.Incidents[i]}
	from, to := 0, len(r.Findings)-1
	if len(r.Incidents) > 1 {
		from, to = c.named(r.Findings)
	}
	for j := from; j <= to; j++ {
		c.findings = append(c.findings, &r.Findings[j])
	}
	c.techs = techsOf(r, c.findings)
	return c
}

// named returns the range of findings that the incident names.
func (c *Case) named(all []incident.Finding) (from, to int) {
	in := c.incident
	var ids []string
	for _, l := range in.Chain {
		ids = append(ids, l.Findings...)
	}
	for _, n := range in.Notes {
		ids = append(ids, n.Findings...)
	}
	for _, a := range in.Alternatives {
		ids = append(append(ids, a.For...), a.Against...)
	}
	from, to = 0, -1
	for i := range all {
		if slices.Contains(ids, all[i].ID) {
			if to < 0 {
				from = i
			}
			to = i
		}
	}
	return from, to
}

// of returns the findings of the given kinds, in the report's order.
func (c *Case) of(kinds ...incident.Kind) []*incident.Finding {
	var list []*incident.Finding
	for _, f := range c.findings {
		if slices.Contains(kinds, f.Kind) {
			list = append(list, f)
		}
	}
	return list
}

func (c *Case) has(kinds []incident.Kind) bool { return len(c.of(kinds...)) > 0 }

// maxBecause bounds how many findings an answer names.
const maxBecause = 6

// ids returns the IDs of the findings of the given kinds, of each kind first.
func (c *Case) ids(kinds []incident.Kind, only func(id string) bool) []string {
	list := []string{}
	for _, k := range kinds {
		for _, f := range c.of(k) {
			if len(list) < maxBecause && (only == nil || only(f.ID)) {
				list = append(list, f.ID)
			}
		}
	}
	return list
}

// Answer answers a step from the evidence, with the findings that it rests on.
func (c *Case) Answer(s *Step) (incident.Answer, []string) {
	switch {
	case s.ByHand:
		return incident.DontKnow, []string{}
	case s.DecidedBy == ByVerdict:
		return c.byVerdict(s)
	case s.DecidedBy != ByPresence:
		return c.byChain(s)
	}
	if ids := c.ids(s.Yes, nil); len(ids) > 0 {
		return incident.Yes, ids
	}
	if ids := c.ids(s.No, nil); len(ids) > 0 {
		return incident.No, ids
	}
	return incident.DontKnow, []string{}
}

// byChain answers by what the engine found to have begun it. What was seen but
// outweighed by something else is a no because of that; what was seen where
// nothing stands out, or in the very lines that outweigh it, leaves the question
// open.
func (c *Case) byChain(s *Step) (incident.Answer, []string) {
	var links []string
	for _, l := range c.incident.Chain {
		if s.DecidedBy == ByChain || l.Role == incident.Trigger {
			links = append(links, l.Findings...)
		}
	}
	if ids := c.ids(s.Yes, func(id string) bool { return slices.Contains(links, id) }); len(ids) > 0 {
		return incident.Yes, ids
	}
	if ids := c.ids(s.No, nil); len(ids) > 0 {
		return incident.No, ids
	}
	seen := c.ids(s.Yes, nil)
	if c.sameLines(seen, links) {
		return incident.DontKnow, seen
	}
	if len(seen) > 0 && len(links) > 0 && s.DecidedBy == ByTrigger {
		return incident.No, links[:min(len(links), maxBecause)]
	}
	return incident.DontKnow, seen
}

// sameLines reports whether findings of two lists rest on a line in common.
func (c *Case) sameLines(a, b []string) bool {
	return slices.ContainsFunc(c.findings, func(f *incident.Finding) bool {
		return slices.Contains(a, f.ID) && slices.ContainsFunc(c.findings, func(g *incident.Finding) bool {
			return slices.Contains(b, g.ID) && overlap(f.Citations, g.Citations)
		})
	})
}

func overlap[T comparable](a, b []T) bool {
	return slices.ContainsFunc(a, func(x T) bool { return slices.Contains(b, x) })
}

// byVerdict answers with the engine's label.
func (c *Case) byVerdict(s *Step) (incident.Answer, []string) {
	switch c.incident.Label {
	case s.Next[incident.Yes].Conclude:
		return incident.Yes, c.ids(s.Yes, nil)
	case s.Next[incident.No].Conclude:
		return incident.No, c.ids(s.No, nil)
	}
	return incident.DontKnow, []string{}
}

// Shown returns the findings that a step sets beside its question.
func (c *Case) Shown(s *Step) []*incident.Finding {
	return c.of(union(s.Show, s.Yes, s.No)...)
}

// lookup returns what fields are filled with. The findings given are asked
// first, then those of the kinds that name a field best.
func (c *Case) lookup(foremost *incident.Finding) lookup {
	return func(p part) (value, bool) {
		if _, ok := made[p.field]; ok && p.kind == "" {
			text := c.make(p.field)
			return value{text: text, made: true}, text != ""
		}
		if foremost != nil && (p.kind == "" || p.kind == foremost.Kind) {
			if s := fieldText(foremost, p.field); s != "" {
				return value{text: s}, true
			}
		}
		kinds := fields[p.field]
		if p.kind != "" {
			kinds = []incident.Kind{p.kind}
		}
		for _, k := range kinds {
			for _, f := range c.foremost(k) {
				if s := fieldText(f, p.field); s != "" {
					return value{text: s}, true
				}
			}
		}
		return value{}, false
	}
}

// foremost returns the findings of a kind, those that the chain names before the
// others, in its order.
func (c *Case) foremost(k incident.Kind) []*incident.Finding {
	list := c.of(k)
	if k != incident.RetryAmplified {
		return list
	}
	var ids []string
	for _, l := range c.incident.Chain {
		ids = append(ids, l.Findings...)
	}
	place := func(f *incident.Finding) int {
		if i := slices.Index(ids, f.ID); i >= 0 {
			return i
		}
		return len(ids)
	}
	slices.SortStableFunc(list, func(a, b *incident.Finding) int { return place(a) - place(b) })
	return list
}

// fieldText returns a finding's field, or nothing.
func fieldText(f *incident.Finding, field string) string {
	switch field {
	case "subject":
		return f.Subject
	case "text":
		return f.Text
	case "count":
		if f.Count == 0 {
			return ""
		}
		return strconv.Itoa(f.Count)
	}
	if s := f.Names[field]; s != "" {
		return s
	}
	if field == "table" {
		return onlyTable(f.Names["fingerprint"])
	}
	if v, ok := f.Values[field]; ok {
		return number(v)
	}
	return ""
}

// number prints a number as people write it in a sentence and tools read it.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".")
}

// make makes one of the fields that are whole commands.
func (c *Case) make(field string) string {
	switch field {
	case fieldOverride:
		return c.override()
	case fieldLimit:
		return c.limit()
	case fieldIndex:
		return c.index()
	case fieldKill:
		return c.kill()
	case fieldKnobs:
		return c.knobs()
	case fieldRisk:
		return c.overrideRisk()
	case fieldEdges:
		return c.edgeWords()
	case fieldHolder:
		return c.holderWords()
	case fieldHop:
		return c.hop()
	case fieldLimitWords:
		return c.limitWords()
	case fieldOwnerLine:
		return c.ownerLine()
	}
	return ""
}
