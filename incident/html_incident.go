package incident

import (
	"slices"
	"strconv"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/lang"
)

// htmlVerdict is a label as it is announced.
type htmlVerdict struct {
	Anchor    string
	Class     string // "burning", "healthy" or "unsure"
	Glyph     string
	Label     string
	Certainty string
	Dots      string
	Means     string
	Headline  string
	ByHand    string // what the engineer says beside it
	Subject   string
	When      string
	Cites     htmlCitations
}

// htmlIncident is one incident, in the order in which it is read.
type htmlIncident struct {
	htmlVerdict
	Chain        *htmlChain
	Box          *htmlBox
	Notes        htmlList[htmlNote]
	Remarks      htmlList[htmlRemark]
	Evidence     htmlList[htmlFinding]
	Walks        []htmlWalk
	Missing      htmlList[htmlMissing]
	Actions      htmlList[htmlAction]
	Alternatives htmlList[htmlAlternative]
}

// htmlBox is what to do, or to collect, before anything else.
type htmlBox struct {
	Title   string
	Actions []htmlAction
	Missing []htmlMissing
	Says    []string // where no action of the runbook deals with the label
}

type htmlNote struct {
	Text  string
	Refs  []htmlRef
	Cites htmlCitations
}

// htmlRemark is what the engineer noted.
type htmlRemark struct {
	Says, Text, About string
	Refs              []htmlRef
	Cites             htmlCitations
}

type htmlAction struct {
	Anchor       string // empty in the box
	Number       string
	What         string
	WhatCites    htmlCitations
	Command      string
	CommandBelow string // the anchor of where the command stands, if it is not here
	Why          string
	WhyCites     htmlCitations
	Risk         string
	RiskCites    htmlCitations
}

type htmlMissing struct {
	What       string
	WhatCites  htmlCitations
	Command    string
	Tells      string
	TellsCites htmlCitations
}

type htmlAlternative struct {
	Label, Certainty, Dots string
	WhyNot                 string
	Cites                  htmlCitations
	For, Against           []htmlRef
}

// htmlWalk is the walk through one runbook.
type htmlWalk struct {
	Runbook string
	Steps   []htmlStep
	More    string
}

type htmlStep struct {
	Class, Glyph, Answer string
	Ask                  string
	Refs                 []htmlRef
	Overridden           bool
	Note                 string
	Concludes            string
}

func (h *htmlPage) verdictOf(i int, in *Incident) htmlVerdict {
	glyph, s := h.verdict(in.Label)
	class := "burning"
	switch s {
	case green:
		class = "healthy"
	case yellow:
		class = "unsure"
	}
	window := in.Window
	if window.IsZero() {
		window = h.index.report.Window
	}
	h.setDay(window)
	return htmlVerdict{
		Anchor: "incident-" + strconv.Itoa(i+1), Class: class, Glyph: glyph, Label: lang.Word(string(in.Label)),
		Certainty: lang.Sprintf("%s certainty", lang.Word(string(in.Certainty))), Dots: h.certainty(in.Certainty), Means: in.Certainty.Means(),
		Headline: cutMiddle(in.Headline, htmlSentence), ByHand: in.byHandWords(), Subject: cutMiddle(in.Subject, htmlName), When: h.when(window),
		Cites: htmlCited(h.behind(in, "", in.Headline)),
	}
}

func (h *htmlPage) incident(i int, in *Incident) htmlIncident {
	v := htmlIncident{htmlVerdict: h.verdictOf(i, in)}
	v.Chain = h.chain(in)
	v.Box = h.first(in, v.Anchor)
	v.Notes = listed(in.Notes, htmlItems, func(n *Note) htmlNote { return h.note(in, n) })
	v.Remarks = listed(in.Remarks, htmlItems, func(r *Remark) htmlRemark {
		return htmlRemark{r.Says(), cutMiddle(r.Text, htmlSentence), cutMiddle(r.About, htmlName), h.refs(r.Findings), htmlCited(r.Citations)}
	})
	found := h.findings(in.findingIDs())
	v.Evidence = listed(found, htmlFindings, func(f **Finding) htmlFinding { return h.finding(*f) })
	v.Walks = h.walks(in)
	missing := in.Missing
	if collects(in) {
		missing = missing[min(boxed, len(missing)):]
	}
	v.Missing = listed(missing, htmlItems, func(m *Missing) htmlMissing { return h.missing(in, m) })
	orders := map[int]bool{}
	v.Actions = listed(in.Actions, htmlItems, func(a *Action) htmlAction {
		anchor := actionAnchor(v.Anchor, a)
		if orders[a.Order] {
			anchor = ""
		}
		orders[a.Order] = true
		return h.action(in, a, htmlAction{Anchor: anchor, Number: strconv.Itoa(a.Order) + "."})
	})
	v.Alternatives = listed(in.Alternatives, htmlItems, func(a *Alternative) htmlAlternative { return h.alternative(in, a) })
	return v
}

// first makes the box, nil if there is nothing to do.
func (h *htmlPage) first(in *Incident, anchor string) *htmlBox {
	title := lang.T("Act first")
	if in.ActFirst != "" {
		title += ": " + lang.Word(string(in.ActFirst))
	}
	switch {
	case collects(in):
		box := &htmlBox{Title: lang.T("Collect first")}
		for i := range in.Missing[:min(boxed, len(in.Missing))] {
			box.Missing = append(box.Missing, h.missing(in, &in.Missing[i]))
		}
		return box
	case in.Label != Healthy && len(in.Actions) > 0:
		box := &htmlBox{Title: title}
		for _, a := range firstActions(in) {
			v := h.action(in, &a, htmlAction{Number: lang.Sprintf("step %d of %d", a.Order, len(in.Actions))})
			v.Why, v.WhyCites = "", htmlCitations{}
			if strings.Count(v.Command, "\n") > maxBoxLines && slices.ContainsFunc(in.Actions[:min(htmlItems, len(in.Actions))], func(b Action) bool { return b.Order == a.Order }) {
				v.Command, v.CommandBelow = "", actionAnchor(anchor, &a)
			}
			box.Actions = append(box.Actions, v)
		}
		return box
	case in.ActFirst != "":
		e, _ := Explain(in.ActFirst)
		return &htmlBox{Title: title, Says: e.First}
	}
	return nil
}

// maxBoxLines is how many lines of one command the box has room for.
const maxBoxLines = 16

func actionAnchor(incident string, a *Action) string {
	return incident + "-action-" + strconv.Itoa(a.Order)
}

func (h *htmlPage) note(in *Incident, n *Note) htmlNote {
	cites := h.seenIn(n.Findings)
	if len(cites) == 0 {
		cites = h.behind(in, "", n.Text)
	}
	return htmlNote{cutMiddle(n.Text, htmlSentence), h.refs(n.Findings), htmlCited(cites)}
}

// action fills what is said of an action into its place.
func (h *htmlPage) action(in *Incident, a *Action, v htmlAction) htmlAction {
	v.What, v.Why, v.Risk = cutMiddle(a.What, htmlSentence), cutMiddle(a.Why, htmlSentence), cutMiddle(a.Risk, htmlSentence)
	v.Command = strings.TrimRight(a.Command, "\n")
	v.WhatCites = htmlCited(h.behind(in, a.Label, a.What))
	v.WhyCites = htmlCited(h.behind(in, a.Label, a.Why))
	v.RiskCites = htmlCited(h.behind(in, a.Label, a.Risk))
	return v
}

func (h *htmlPage) missing(in *Incident, m *Missing) htmlMissing {
	return htmlMissing{
		What: cutMiddle(m.What, htmlSentence), WhatCites: htmlCited(h.behind(in, "", m.What)),
		Command: strings.TrimRight(m.Command, "\n"),
		Tells:   cutMiddle(m.WouldTell, htmlSentence), TellsCites: htmlCited(h.behind(in, "", m.WouldTell)),
	}
}

func (h *htmlPage) alternative(in *Incident, a *Alternative) htmlAlternative {
	var cites []evidence.Citation
	if len(a.For)+len(a.Against) == 0 {
		cites = h.behind(in, a.Label, a.WhyNot)
	}
	return htmlAlternative{
		Label: lang.Word(string(a.Label)), Certainty: lang.Word(string(a.Certainty)), Dots: h.certainty(a.Certainty),
		WhyNot: cutMiddle(a.WhyNot, htmlSentence), Cites: htmlCited(cites), For: h.refs(a.For), Against: h.refs(a.Against),
	}
}

// walks parts the steps by their runbooks.
func (h *htmlPage) walks(in *Incident) []htmlWalk {
	var list []htmlWalk
	for _, w := range in.Walk[:min(htmlSteps, len(in.Walk))] {
		if len(list) == 0 || list[len(list)-1].Runbook != w.Runbook {
			list = append(list, htmlWalk{Runbook: w.Runbook})
		}
		at := &list[len(list)-1]
		at.Steps = append(at.Steps, h.step(&w))
	}
	if len(list) > 0 {
		list[len(list)-1].More = more(len(in.Walk) - htmlSteps)
	}
	return list
}

func (h *htmlPage) step(w *Answered) htmlStep {
	glyph, _ := h.answer(w.Answer)
	s := htmlStep{
		Class: "unknown", Glyph: glyph, Answer: lang.Word(string(w.Answer)), Ask: cutMiddle(w.Ask, htmlSentence),
		Refs: h.refs(w.Because), Concludes: lang.Word(string(w.Concludes)),
	}
	if w.Answer == Yes || w.Answer == No {
		s.Class = string(w.Answer)
	}
	if s.Ask == "" {
		s.Ask = w.Step
	}
	if w.OverriddenBy != nil {
		s.Overridden, s.Note = true, cutMiddle(*w.OverriddenBy, htmlSentence)
	}
	return s
}
