package incident

import (
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// index finds the citations that stand behind what is shown.
type index struct {
	report *Report
	byID   map[string]*Finding
}

func newIndex(r *Report) *index {
	x := &index{report: r, byID: make(map[string]*Finding, len(r.Findings))}
	for i := range r.Findings {
		x.byID[r.Findings[i].ID] = &r.Findings[i]
	}
	return x
}

// findings returns those of the given IDs that exist.
func (x *index) findings(ids []string) []*Finding {
	var list []*Finding
	for _, id := range ids {
		if f := x.byID[id]; f != nil {
			list = append(list, f)
		}
	}
	return list
}

// seenIn returns the first citation of each finding, and of a single finding
// the first in each of its sources: what joins two kinds of evidence cites both.
func (x *index) seenIn(ids []string) []evidence.Citation {
	var list []evidence.Citation
	found := x.findings(ids)
	for _, f := range found {
		for i, c := range f.Citations {
			if i == 0 || len(found) == 1 && !citesSource(f.Citations[:i], c.Source) {
				list = appendNew(list, c)
			}
		}
	}
	return list
}

func citesSource(list []evidence.Citation, source string) bool {
	return slices.ContainsFunc(list, func(c evidence.Citation) bool { return c.Source == source })
}

func appendNew(list []evidence.Citation, c evidence.Citation) []evidence.Citation {
	for _, have := range list {
		if have == c {
			return list
		}
	}
	return append(list, c)
}

// behind returns citations for the numbers in a sentence that has none of its
// own (a headline, an action): of the findings, the incident's own first, whose
// sentence has the same numbers. A number of one digit tells too little to go
// by. Where no finding has them, it is the link of the chain with the label that
// the sentence is about, else the first thing cited.
func (x *index) behind(in *Incident, about Label, sentence string) []evidence.Citation {
	numbers := numbersOf(sentence)
	if len(numbers) == 0 {
		return nil
	}
	ids := in.findingIDs()
	pool := x.findings(ids)
	for i := range x.report.Findings {
		pool = append(pool, &x.report.Findings[i])
	}
	var list []evidence.Citation
	for _, n := range numbers {
		for _, f := range pool {
			if len(n) > 1 && len(f.Citations) > 0 && hasNumber(f.Text, n) {
				list = appendNew(list, f.Citations[0])
				break
			}
		}
	}
	for _, link := range in.Chain {
		if len(list) == 0 && link.Label == about {
			list = x.seenIn(link.Findings)
		}
	}
	if len(list) == 0 {
		list = x.seenIn(ids)
		list = list[:min(1, len(list))]
	}
	if len(list) == 0 && len(x.report.Sources) > 0 {
		list = append(list, evidence.Citation{Source: x.report.Sources[0].Path})
	}
	return list
}

// about returns the citations of a thing that has none of its own: of the
// findings about it.
func (x *index) about(own []evidence.Citation, subject string) []evidence.Citation {
	if len(own) > 0 {
		return own
	}
	for i := range x.report.Findings {
		if f := &x.report.Findings[i]; f.Subject == subject || strings.Contains(f.Text, subject) {
			return f.Citations
		}
	}
	return nil
}

// findingIDs returns the findings that an incident names, chain first.
func (in *Incident) findingIDs() []string {
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
	for _, w := range in.Walk {
		ids = append(ids, w.Because...)
	}
	seen := map[string]bool{}
	unique := ids[:0]
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			unique = append(unique, id)
		}
	}
	return unique
}

// numbersOf returns the runs of digits in s that stand for themselves, with
// their points and commas: "3.0", "2,481,932".
func numbersOf(s string) []string {
	var list []string
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i]) {
			continue
		}
		end := numberEnd(s, i)
		list = append(list, s[i:end])
		i = end
	}
	return list
}

func hasNumber(s, number string) bool {
	for i := 0; i < len(s); i++ {
		if isDigit(s[i]) {
			end := numberEnd(s, i)
			if s[i:end] == number {
				return true
			}
			i = end
		}
	}
	return false
}

func numberEnd(s string, i int) int {
	for i++; i < len(s); i++ {
		if isDigit(s[i]) || (s[i] == '.' || s[i] == ',') && i+1 < len(s) && isDigit(s[i+1]) {
			continue
		}
		break
	}
	return i
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
