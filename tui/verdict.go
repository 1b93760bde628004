package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/runbooks"
)

// verdictPage is the first screen: what burns, because of what, and what to do
// first.
func verdictPage(s *scene, _ place) *page {
	p := &page{first: "headline"}
	w := s.width - 2
	if s.now == nil {
		waiting(s, p, w)
		openIncidents(s, p, w)
		return p
	}
	in := s.now
	p.thing(row{
		key: "headline", links: []link{{name: lang.T("walk the runbook"), to: place{screen: onRunbook}}},
		cites: s.citesOf(firstOf(in)), copy: toCopyFirst(in),
	}, nil, w, headline(s, in))
	byHand(s, p, w)
	when := in.Window
	if when.IsZero() {
		when = s.report.Window
	}
	about := strings.Join(slices.DeleteFunc([]string{in.Subject, s.between(when)}, func(s string) bool { return s == "" }), ", ")
	sure := s.certainty(in.Certainty) + " " + lang.Word(string(in.Certainty)) + ": " + in.Certainty.Means()
	switch {
	case s.width >= 100:
		p.para(nil, w, text{{dim, about + "   "}, {plain, sure}})
	case s.tight():
		p.para(nil, w, say(dim, about))
	default:
		p.para(nil, w, say(dim, about))
		p.para(nil, w, say(plain, sure))
	}
	openIncidents(s, p, w)
	if s.partial {
		p.para(nil, w, say(warn, s.unsure+" "+lang.T("Only part of the evidence has been read: this may change.")))
	}
	for _, src := range s.report.Sources {
		if src.Unread != "" {
			p.thing(row{key: "unread", links: []link{{name: lang.T("what was not read"), to: place{screen: onSources}}}, alarm: true},
				say(warn, s.unsure+" "), w, say(warn, lang.T("Part of the evidence could not be read; it may change the verdict.")))
			break
		}
	}
	chain(s, p, in, w)
	actFirst(s, p, in, w)
	missing(s, p, in, w)
	notes(s, p, in, w)
	alternatives(s, p, in, w)
	actions(s, p, w, lang.T("WHAT TO DO, IN ORDER"), in.Actions)
	return p
}

// openIncidents says which incidents are not over though the report says nothing
// of them, and where their evidence is.
func openIncidents(s *scene, p *page, w int) {
	named, more := s.report.Unsaid()
	for i := range named {
		o := &named[i]
		r := row{key: "open " + o.ID, copy: cmp.Or(o.Bundle, o.Headline), alarm: true}
		said := text{{strong, lang.Sprintf("open: %s", o.What())}, {plain, " " + o.When(s.report.GeneratedAt, s.zone)}}
		switch {
		case o.Bundle == "":
		case cells(o.Bundle) > w-4: // it would take more lines than it is worth
			said = said.and(plain, "; ").and(dim, lang.T("y copies the URL of its bundle"))
		default:
			said = said.and(plain, "; ").and(dim, lang.Sprintf("bundle: %s", o.Bundle))
		}
		p.thing(r, text{{warn, s.arrow + " "}}, w, said)
	}
	if more > 0 {
		p.para(nil, w, say(dim, "  "+lang.Sprintf("and %d more that are open", more)))
	}
}

// firstActions are the actions to take before anything else, by their place in
// the list: what saves the scene, and what deals with the label to act on first.
func firstActions(in *incident.Incident) []int {
	if in.ActFirst == "" {
		return nil
	}
	var list []int
	for i, a := range in.Actions {
		if len(list) < 2 && (i == 0 && a.Label == "" || a.Label == in.ActFirst && a.Command != "") {
			list = append(list, i)
		}
	}
	for i, a := range in.Actions {
		if len(list) == 0 && a.Label == in.ActFirst {
			list = append(list, i)
		}
	}
	return list
}

// toCopyFirst is what y copies on the first screen before the cursor is moved:
// the first command of the box, else the headline.
func toCopyFirst(in *incident.Incident) string {
	for _, i := range firstActions(in) {
		if c := in.Actions[i].Command; c != "" {
			return c
		}
	}
	return string(in.Label) + " (" + string(in.Certainty) + "): " + in.Headline
}

// byHand says what the engineer's answers led to, beside what firebreak says.
func byHand(s *scene, p *page, w int) {
	for _, b := range s.booksOverridden() {
		label, _ := b.Start().Follow(runbooks.NewCase(s.report, s.nth), s.notes.overrides(s.now, b.Name)).Conclusion()
		if label == "" {
			label = incident.Inconclusive
		}
		r := row{key: "by hand " + b.Name, links: []link{{name: b.Title, to: place{screen: onRunbook}}}}
		said := lang.Sprintf("You say %s, firebreak says %s.", lang.Word(string(label)), lang.Word(string(s.now.Label)))
		if label == s.now.Label {
			said = lang.Sprintf("You say %s as well.", lang.Word(string(label)))
		}
		p.thing(r, text{{accent, s.arrow + " "}}, w, text{{accent, said}, {dim, "  " + lang.Sprintf("(your answers: %d, runbook %s)", len(s.notes.overrides(s.now, b.Name)), b.Name)}})
	}
}

// booksOverridden are the runbooks in which the engineer answered something.
func (s *scene) booksOverridden() []*runbooks.Book {
	var list []*runbooks.Book
	if s.books == nil {
		return nil
	}
	for _, b := range s.books.Books() {
		if len(s.notes.overrides(s.now, b.Name)) > 0 {
			list = append(list, b)
		}
	}
	return list
}

// tight reports whether the window is so low that the verdict must be brief for
// what to do first to be on it.
func (s *scene) tight() bool { return s.height < 30 }

// headline is the sentence to paste; its numbers are cited with the chain right
// below it, and here where there is none.
func headline(s *scene, in *incident.Incident) text {
	t := say(strong, in.Headline)
	if len(in.Chain) == 0 || !s.tight() {
		t = t.and(plain, " ").with(s.seen(s.citesOf(firstOf(in)), 2))
	}
	return t
}

// with appends a line to a line.
func (t text) with(o text) text { return append(t, o...) }

// waiting is shown until there is a verdict.
func waiting(s *scene, p *page, w int) {
	switch {
	case s.failure != nil:
		p.para(nil, w, say(bad, s.burning+" "+lang.T("Nothing could be read.")))
		p.gap()
		for _, line := range strings.Split(s.failure.Error(), "\n") {
			p.para(nil, w, say(plain, incident.Visible(line)))
		}
		p.gap()
		p.para(nil, w, say(dim, lang.T("q quits; firebreak formats lists what is read, and how it is recognised.")))
	case s.loading:
		p.para(nil, w, say(strong, lang.T("Reading the evidence …")))
		p.gap()
		g := s.progress
		if g.Total > 0 {
			share := min(1, float64(g.Bytes)/float64(g.Total))
			width := min(40, max(8, w-20))
			p.add(s.gauge(share, width, info).and(plain, fmt.Sprintf(" %3.0f %%", share*100)))
		}
		if g.FilesTotal > 1 {
			p.add(say(dim, lang.Sprintf("file %d of %d", min(g.Files+1, g.FilesTotal), g.FilesTotal)))
		}
		if g.Current != "" {
			p.add(say(dim, middle(incident.Visible(g.Current), w, s.ellipsis)))
		}
		p.gap()
		p.para(nil, w, say(dim, lang.T("The first verdict stands here as soon as there is one. Ctrl-C judges what was read so far.")))
	default:
		p.para(nil, w, say(strong, lang.T("No incident could be made out of this evidence.")))
		if len(s.report.Sources) > 0 {
			p.thing(row{key: "sources", links: []link{{to: place{screen: onSources}}}}, nil, w, say(info, s.right+" "+lang.T("what was read, and what was not")))
		}
	}
}

// firstOf are the findings of the chain, the trigger's first.
func firstOf(in *incident.Incident) []string {
	var ids []string
	for _, l := range in.Chain {
		ids = append(ids, l.Findings...)
	}
	if len(ids) == 0 {
		for _, n := range in.Notes {
			ids = append(ids, n.Findings...)
		}
	}
	return ids
}

// since says when a link of the chain began.
func since(s *scene, l *incident.Link) string {
	if l.Since.IsZero() {
		return lang.T("its start is not in the evidence")
	}
	word := lang.Sprintf("since %s", s.clock(l.Since))
	if l.Assumed {
		word += " " + lang.T("(order assumed)")
	}
	return word
}

// chain draws trigger, amplifier and victim with their numbers.
func chain(s *scene, p *page, in *incident.Incident, w int) {
	if len(in.Chain) == 0 {
		return
	}
	p.gap()
	boxes := s.height >= 34 && w >= 50
	for i := range in.Chain {
		l := &in.Chain[i]
		tn := roleTone(l.Role)
		cites := s.citesOf(l.Findings)
		r := row{key: fmt.Sprintf("link %d", i), cites: cites, alarm: true, copy: string(l.Label) + ": " + l.Subject}
		if len(l.Findings) > 0 {
			r.find = l.Findings[0]
		}
		r.links = linksOfLink(s, l)
		most := 3
		if s.tight() {
			most = 1
		}
		body := say(plain, l.Subject+" ").with(s.seen(cites, most))
		title := text{{dim, lang.Word(string(l.Role)) + "  "}, {tn, string(l.Label)}}
		if word := labelWord(l.Label); word != "" {
			title = title.and(dim, " "+word)
		}
		when := say(dim, since(s, l))
		if boxes {
			if i > 0 {
				p.add(text{{plain, "      "}, {roleTone(in.Chain[i-1].Role), s.bar}})
				p.rows[len(p.rows)-1].line[1].text = s.arrowDown()
			}
			p.box(s, tn, title, when, w, func(in *page, room int) { in.thing(r, nil, room, body) })
			continue
		}
		lead := strings.Repeat(" ", 2*max(0, i-1))
		if i > 0 {
			lead += s.corner + s.arrow + " "
		}
		first := append(text{{tn, lead}}, title...)
		p.thing(r, nil, w, append(first.and(plain, "  "), when...))
		next := " "
		if i < len(in.Chain)-1 {
			next = s.bar
		}
		indent := strings.Repeat(" ", 2*i)
		bodyLines := body.wrap(max(8, w-2*i-2), "")
		for _, line := range bodyLines {
			rr := r
			rr.find, rr.alarm = "", false
			rr.line = append(text{{tn, indent + next + " "}}, line...)
			p.rows = append(p.rows, rr)
		}
	}
}

func (g *glyphs) arrowDown() string {
	if g.across == "-" {
		return "v"
	}
	return "▼"
}

// linksOfLink are the places where a link of the chain can be looked into.
func linksOfLink(s *scene, l *incident.Link) []link {
	var list []link
	to := map[incident.Label]screenID{
		incident.SlowSQL: onSQL, incident.LockContention: onPools, incident.RetryAmplification: onCalls,
		incident.PoolStarvation: onPools, incident.DownstreamWait: onPools, incident.Deadlock: onPools,
		incident.NoProvider: onRoutes, incident.TrafficSkew: onRoutes, incident.DuplicateWrites: onCalls,
		incident.GCPause: onTimeline, incident.CPUSaturation: onPools,
	}[l.Label]
	if to != "" {
		list = append(list, link{name: string(l.Label), to: place{screen: to, key: s.spot(to, l)}})
	}
	for _, f := range s.findings(l.Findings) {
		list = append(list, toFinding(f))
	}
	return list
}

func toFinding(f *incident.Finding) link {
	return link{name: f.ID + " " + f.Text, to: place{screen: onFinding, arg: f.ID}}
}

// actFirst is the box of what to do before anything else.
func actFirst(s *scene, p *page, in *incident.Incident, w int) {
	if in.ActFirst == "" {
		return
	}
	list := firstActions(in)
	p.gap()
	p.box(s, accent, text{{accent, lang.T("ACT FIRST")}, {strong, "  " + string(in.ActFirst)}}, say(dim, lang.T("y copies the command")), w, func(b *page, room int) {
		for _, i := range list {
			a := &in.Actions[i]
			r := row{key: fmt.Sprintf("first %d", a.Order), copy: a.Command, links: []link{{name: a.What, to: place{screen: onVerdict, key: fmt.Sprintf("action %d", a.Order)}}}}
			b.thing(r, text{{accent, fmt.Sprintf("%d ", a.Order)}}, room, say(strong, a.What))
			commandLines(b, r, a.Command, room, briefly(s), s)
		}
		if len(list) == 0 {
			b.thing(row{key: "first"}, nil, room, say(strong, string(in.ActFirst)))
		}
	})
}

// briefly is how many lines of a command the box shows.
func briefly(s *scene) int {
	if s.tight() {
		return 2
	}
	return 3
}

// commandLines shows a command, at most n lines of it; 0 means all.
func commandLines(p *page, r row, command string, room, n int, s *scene) {
	if command == "" {
		return
	}
	lines := strings.Split(command, "\n")
	for i, line := range lines {
		c := r
		c.find, c.alarm = "", false
		if n > 0 && i == n && len(lines) > n {
			c.line = text{{plain, "    "}, {dim, lang.Sprintf("%s %d more lines; y copies all", s.ellipsis, len(lines)-n)}}
			p.rows = append(p.rows, c)
			return
		}
		c.line = text{{plain, "    "}, {info, cut(line, max(1, room-4), s.ellipsis)}}
		p.rows = append(p.rows, c)
	}
}

// missing lists the evidence that would help.
func missing(s *scene, p *page, in *incident.Incident, w int) {
	if len(in.Missing) == 0 {
		return
	}
	p.title(lang.T("MISSING, AND WORTH COLLECTING"))
	for i := range in.Missing {
		m := &in.Missing[i]
		r := row{key: fmt.Sprintf("missing %d", i), copy: m.Command}
		p.thing(r, text{{warn, s.unsure + " "}}, w, say(plain, m.What))
		commandLines(p, r, m.Command, w-2, 2, s)
		c := r
		for _, line := range say(dim, lang.Sprintf("tells: %s", m.WouldTell)).wrap(max(8, w-4), "") {
			c.line = append(text{{plain, "    "}}, line...)
			p.rows = append(p.rows, c)
		}
	}
}

// notes are the sentences a person should know.
func notes(s *scene, p *page, in *incident.Incident, w int) {
	if len(in.Notes) == 0 {
		return
	}
	p.title(lang.T("NOTES"))
	for i := range in.Notes {
		n := &in.Notes[i]
		r := row{key: fmt.Sprintf("note %d", i), cites: s.citesOf(n.Findings)}
		for j, f := range s.findings(n.Findings) {
			if j == 0 {
				r.find = f.ID
			}
			r.links = append(r.links, toFinding(f))
		}
		p.thing(r, text{{dim, s.bullet + " "}}, w, say(plain, n.Text+" ").with(s.seen(r.cites, 2)))
	}
}

// alternatives are the labels that were weighed and not taken.
func alternatives(s *scene, p *page, in *incident.Incident, w int) {
	if len(in.Alternatives) == 0 {
		return
	}
	p.title(lang.T("ALSO WEIGHED"))
	for i := range in.Alternatives {
		a := &in.Alternatives[i]
		r := row{key: fmt.Sprintf("alternative %d", i), cites: s.citesOf(slices.Concat(a.For, a.Against))}
		for _, f := range s.findings(slices.Concat(a.For, a.Against)) {
			r.links = append(r.links, toFinding(f))
		}
		p.thing(r, text{{info, string(a.Label)}, {dim, " " + lang.Word(string(a.Certainty)) + "  "}}, w, say(plain, a.WhyNot+" ").with(s.seen(r.cites, 2)))
	}
}

// actions lists what to do, each with its command to copy.
func actions(s *scene, p *page, w int, title string, list []incident.Action) {
	if len(list) == 0 {
		return
	}
	p.title(title)
	for i := range list {
		a := &list[i]
		r := row{key: fmt.Sprintf("action %d", a.Order), copy: a.Command}
		p.thing(r, text{{accent, fmt.Sprintf("%2d ", a.Order)}}, w, say(strong, a.What))
		indented := func(tn tone, words string) {
			if words == "" {
				return
			}
			for _, line := range say(tn, words).wrap(max(8, w-3), "") {
				c := r
				c.line = append(text{{plain, "   "}}, line...)
				p.rows = append(p.rows, c)
			}
		}
		indented(dim, a.Why)
		commandLines(p, r, a.Command, w, 0, s)
		if a.Risk != "" {
			indented(warn, "! "+lang.Sprintf("risk: %s", a.Risk))
		}
	}
}

// labelWord is the label in the reader's language, nothing in English.
func labelWord(l incident.Label) string {
	_, word, _ := strings.Cut(lang.Word(string(l)), " ")
	return word
}

// findingPage is one finding with all that is known of it.
func findingPage(s *scene, at place) *page {
	f := s.byID[at.arg]
	p := &page{}
	w := s.width - 2
	if f == nil {
		p.none = lang.T("This finding is not in the report any more.")
		return p
	}
	p.thing(row{key: "finding", find: f.ID, cites: f.Citations, copy: f.Text}, text{{info, f.ID + " "}}, w, text{{heading, string(f.Kind) + "  "}, {strong, f.Text}})
	if f.Count > 1 {
		p.para(nil, w, say(dim, lang.Sprintf("seen %d times", f.Count)))
	}
	if !f.First.IsZero() {
		p.para(nil, w, say(dim, s.between(incident.Window{From: f.First, To: f.Last})))
	}
	for _, k := range incident.Kinds() {
		if k.Kind == f.Kind {
			p.title(lang.T("WHAT IT MEANS"))
			p.para(nil, w, say(plain, lang.T(k.Doc)))
		}
	}
	callsOf(s, p, f, w)
	values(s, p, f, w)
	p.title(lang.T("SEEN IN"))
	for i := range f.Citations {
		c := f.Citations[i]
		p.rows = append(p.rows, row{key: "cite " + c.String(), cites: []evidence.Citation{c}, links: []link{toLine(c)}, line: say(cite, "["+c.String()+"]")})
	}
	return p
}

// values lists the numbers and names of a finding.
func values(s *scene, p *page, f *incident.Finding, w int) {
	if len(f.Values) == 0 && len(f.Names) == 0 {
		return
	}
	p.title(lang.T("NUMBERS AND NAMES"))
	for _, k := range sortedKeys(f.Values) {
		p.rows = append(p.rows, row{key: "value " + k, line: text{{dim, pad(k, 22, s.ellipsis) + " "}, {info, number(f.Values[k])}}})
	}
	for _, k := range sortedKeys(f.Names) {
		r := row{key: "name " + k, copy: f.Names[k]}
		p.thing(r, text{{dim, pad(k, 22, s.ellipsis) + " "}}, w, say(plain, f.Names[k]))
	}
}
