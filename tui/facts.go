package tui

import (
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// fact is one number or name of a thing, with where it was seen.
type fact struct {
	name, value string
	tone        tone
	cites       []evidence.Citation
	links       []link // where Enter leads; to the line, if empty
}

// facts lists what is known of a thing, names in one column. Enter on a fact
// opens the line that says so.
func (p *page) facts(s *scene, w int, list []fact) {
	col := 0
	for _, f := range list {
		col = max(col, min(cells(f.name), 18))
	}
	for _, f := range list {
		r := row{key: "fact " + f.name, cites: f.cites, copy: f.value, links: slices.Concat(f.links, toLines(f.cites, 1))}
		if !strings.Contains(f.value, " ") {
			f.value = shortFrame(f.value, max(12, w-col-2), s.ellipsis)
		}
		body := say(f.tone, f.value)
		if len(f.cites) > 0 {
			body = body.and(plain, " ").with(s.seen(f.cites[:1], 1))
		}
		p.thing(r, say(dim, pad(f.name, col, s.ellipsis)+"  "), w, body)
	}
}

// citeNumber returns where a number was seen: the first citation of the finding
// that has it under a key, else of the thing itself.
func citeNumber(about []*incident.Finding, key string, value float64, else_ []evidence.Citation) []evidence.Citation {
	for _, f := range about {
		if v, ok := f.Values[key]; ok && v == value && len(f.Citations) > 0 {
			return f.Citations[:1]
		}
	}
	return else_[:min(1, len(else_))]
}

// tell lists findings, each with its citations; Enter opens one with its
// numbers.
func (p *page) tell(s *scene, w int, title string, list []*incident.Finding) {
	if len(list) == 0 {
		return
	}
	p.title(title)
	for _, f := range list {
		r := row{key: "finding " + f.ID, find: f.ID, cites: f.Citations, copy: f.Text, links: []link{toFinding(f)}}
		p.thing(r, say(info, f.ID+" "), w, say(plain, f.Text+" ").with(s.seen(f.Citations, 2)))
	}
}

// about returns the findings for which ok holds, in their order.
func (s *scene) about(ok func(f *incident.Finding) bool) []*incident.Finding {
	var list []*incident.Finding
	for i := range s.report.Findings {
		if f := &s.report.Findings[i]; ok(f) {
			list = append(list, f)
		}
	}
	return list
}

// meaning says what a kind of finding means, nothing if there is no such kind.
func meaning(k incident.Kind) string {
	for _, d := range incident.Kinds() {
		if d.Kind == k {
			return d.Doc
		}
	}
	return ""
}

// uniqueKeys names n things by what they are; those that are alike are counted.
func uniqueKeys(n int, name func(i int) string) []string {
	keys := make([]string, n)
	seen := make(map[string]int, n)
	for i := range keys {
		k := name(i)
		seen[k]++
		if c := seen[k]; c > 1 {
			k += " #" + number(float64(c))
		}
		keys[i] = k
	}
	return keys
}

// citedLines lists citations one to a row, those of one source under its name,
// so that dump after dump can be opened.
func (p *page) citedLines(s *scene, w int, title string, list []evidence.Citation) {
	if len(list) == 0 {
		return
	}
	p.title(title)
	var sources []string
	bySource := map[string][]evidence.Citation{}
	for _, c := range list {
		if bySource[c.Source] == nil {
			sources = append(sources, c.Source)
		}
		bySource[c.Source] = append(bySource[c.Source], c)
	}
	for _, source := range sources {
		cited := bySource[source]
		if len(sources) > 1 {
			p.add(say(dim, middle(source, w-12, s.ellipsis)+"  "+lang.Sprintf("%d cited", len(cited))))
		}
		for _, c := range cited {
			r := row{key: "cite " + c.String(), cites: []evidence.Citation{c}, links: []link{toLine(c)}, copy: c.String()}
			line := say(cite, "["+middle(s.shortCite(c), max(8, w-2), s.ellipsis)+"]")
			if room := w - line.cells() - 2; c.Line > 0 && c.Part != "" && room >= 12 {
				line = line.and(plain, "  "+middle(threadOf(c), room, s.ellipsis))
			}
			r.line = line
			p.rows = append(p.rows, r)
		}
	}
}
