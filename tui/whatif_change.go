package tui

import (
	"maps"
	"reflect"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/simulate"
)

// Supposed is what an engineer supposes about the numbers of an incident, as it
// was typed, by input: what the evidence does not tell or tells wrong, and what
// might be changed.
type Supposed struct {
	AsIs   map[string]string `json:"as_is,omitempty"`
	Change map[string]string `json:"change,omitempty"`
}

func (s Supposed) clone() Supposed { return Supposed{maps.Clone(s.AsIs), maps.Clone(s.Change)} }

// scenario is the state of the what-if screen.
type scenario struct {
	said map[string]Supposed // by the incident's ID
	base base
	runs bool     // an answer is on its way
	came *outcome // the last answer; nil if there is none
}

// base is what a report tells of an incident's numbers, kept until another one
// is looked at.
type base struct {
	report  *incident.Report
	nth     int
	model   simulate.Model
	origins []simulate.Origin
}

func newScenario(c *Case) *scenario {
	sc := &scenario{said: map[string]Supposed{}}
	if c != nil {
		for id, s := range c.WhatIf {
			sc.said[id] = s.clone()
		}
	}
	return sc
}

// kept is what goes into the case.
func (sc *scenario) kept() map[string]Supposed {
	out := map[string]Supposed{}
	for id, s := range sc.said {
		if len(s.AsIs)+len(s.Change) > 0 {
			out[id] = s.clone()
		}
	}
	return out
}

// question is what is to be reckoned: what is, and what might be.
type question struct {
	before, after supposed
	base          *base
	said          Supposed
}

// asks makes the question that stands on the screen. What was typed and makes no
// sense any more, since the evidence tells something else, is passed over.
func (s *scene) asks() question {
	sc := s.scenario
	if sc.base.report != s.report || sc.base.nth != s.nth {
		sc.base = base{report: s.report, nth: s.nth}
		sc.base.model, sc.base.origins = simulate.FromReport(s.report, s.nth)
	}
	q := question{base: &sc.base, said: sc.said[s.incidentID()]}
	q.before.Model = sc.base.model
	list := inputs()
	for i := range list {
		if typed, ok := q.said.AsIs[list[i].id]; ok {
			list[i].put(&q.before, typed)
		}
	}
	q.after = q.before
	for i := range list {
		if typed, ok := q.said.Change[list[i].id]; ok {
			list[i].put(&q.after, typed)
		}
	}
	return q
}

func (s *scene) incidentID() string {
	if s.now == nil {
		return ""
	}
	return s.now.ID
}

// missing lists what is needed and not known.
func (q *question) missing() []simulate.Input {
	var list []simulate.Input
	for _, p := range q.before.Problems() {
		list = append(list, p.Input)
	}
	return list
}

// origin says where a number came from; nil for what no report tells.
func (q *question) origin(in *input) *simulate.Origin {
	i := slices.IndexFunc(q.base.origins, func(o simulate.Origin) bool { return o.Input == in.of })
	if i < 0 || in.id == "backoff" {
		return nil
	}
	return &q.base.origins[i]
}

// outcome is the answer to a question.
type outcome struct {
	before, after supposed // of the question
	simulate.Comparison
	trouble simulate.Trigger
	played  [2]simulate.Series // before and after
	err     error
}

type outcomeMsg struct{ *outcome }

// How long is played, with what trouble, and how much of it at most, so that an
// answer comes at once.
const (
	playForS   = 60
	playEvents = 100_000
)

var playTrouble = simulate.Trigger{AtS: 10, ForS: 20}

// answer reckons. It takes up to some tenths of a second.
func answer(before, after supposed) *outcome {
	o := &outcome{before: before, after: after}
	if o.Comparison, o.err = simulate.Compare(before.Model, after.Model); o.err != nil {
		return o
	}
	for i, m := range []supposed{before, after} {
		s := simulate.Troubled(m.Model, m.calmS, o.Before.Metastable, playTrouble)
		s.ForS, s.Seed, s.Events = playForS, 1, playEvents
		if o.played[i], o.err = simulate.Run(s); o.err != nil {
			return o
		}
		if i == 0 {
			o.trouble = s.Trigger
		}
	}
	return o
}

// reckon asks for an answer where the screen has none yet, one at a time.
func (m *Model) reckon() tea.Cmd {
	if m.here().screen != onWhatIf || m.scene.scenario.runs {
		return nil
	}
	q := m.scene.asks()
	if len(q.missing()) > 0 || m.scene.scenario.answered(&q) {
		return nil
	}
	m.scene.scenario.runs = true
	return func() tea.Msg { return outcomeMsg{answer(q.before, q.after)} }
}

// answered reports whether the answer is that to the question.
func (sc *scenario) answered(q *question) bool {
	return sc.came != nil && reflect.DeepEqual(sc.came.before, q.before) && reflect.DeepEqual(sc.came.after, q.after)
}

func (m *Model) outcomeCame(msg outcomeMsg) {
	m.scene.scenario.runs, m.scene.scenario.came = false, msg.outcome
	m.changed()
}

// presets are changes to try, of which those are offered that change something.
var presets = []struct {
	change map[string]string
	name   string
}{
	{map[string]string{"retries": "0"}, lang.Mark("nobody tries again")},
	{map[string]string{"hold": "/20"}, lang.Mark("one takes a twentieth of the time, as with an index")},
	{map[string]string{"threads": "x2"}, lang.Mark("twice the threads")},
	{map[string]string{"timeout": "/2"}, lang.Mark("half the timeout")},
	{map[string]string{"layers": "1"}, lang.Mark("one layer only tries again")},
	{map[string]string{"retries": "0", "hold": "/20"}, lang.Mark("both: nobody tries again, and one takes a twentieth of the time")},
}

// preset goes to the next of the presets; after the last, back to what is.
func (m *Model) preset() tea.Cmd {
	q := m.scene.asks()
	next := 0
	for i := range presets {
		if maps.Equal(presets[i].change, q.said.Change) {
			next = i + 1
		}
	}
	for ; next < len(presets); next++ {
		to := q.before
		for id, typed := range presets[next].change {
			inputOf(id).put(&to, typed)
		}
		if !reflect.DeepEqual(to, q.before) {
			break
		}
	}
	if next == len(presets) {
		m.suppose(Supposed{AsIs: q.said.AsIs})
		m.note = lang.T("as it is")
		return nil
	}
	m.suppose(Supposed{AsIs: q.said.AsIs, Change: maps.Clone(presets[next].change)})
	m.note = lang.Sprintf("%s; %s goes on", lang.T(presets[next].name), m.keyOf("preset"))
	return nil
}

// suppose takes what is supposed of the incident that is looked at.
func (m *Model) suppose(s Supposed) {
	m.scene.scenario.said[m.scene.incidentID()] = s
	m.changed()
}

// chosenInput is the input that the cursor is on; nil if there is none.
func (m *Model) chosenInput() *input {
	if p, _ := m.current(); p.index(m.here().key) < 0 {
		return nil
	}
	in := inputOf(m.here().key)
	if in == nil {
		m.note = lang.T("choose one of the numbers above first")
	}
	return in
}

// change asks for a value; where none is needed, it gives the other one.
func (m *Model) change() tea.Cmd {
	in := m.chosenInput()
	if in == nil {
		if m.here().key != "" {
			m.note = ""
			return m.enter()
		}
		return nil
	}
	if in.kind == kindYesNo {
		q := m.scene.asks()
		typed, _ := in.step(&q.after, in.get(&q.after) == 0)
		m.supposeOf(in, typed, false)
		return nil
	}
	m.askFor(in, false)
	return nil
}

// correct asks for a value that the evidence tells wrong.
func (m *Model) correct() tea.Cmd {
	if in := m.chosenInput(); in != nil {
		m.askFor(in, true)
	}
	return nil
}

func (m *Model) askFor(in *input, asIs bool) {
	ask := lang.Sprintf("%s, what if: ", lang.T(in.ask))
	if asIs || in.asIs(m.scene) {
		ask = lang.Sprintf("%s, as it is: ", lang.T(in.ask))
	}
	if cells(ask) > m.width*2/3 {
		ask = lang.T(in.name) + ": "
	}
	m.prompt = &prompt{ask: ask, enter: func(m *Model, typed string) tea.Cmd {
		if typed != "" {
			m.supposeOf(in, typed, asIs)
		}
		return nil
	}}
}

// asIs reports whether a value that is given is of what is, not of a change:
// nothing can be compared with what is not known.
func (in *input) asIs(s *scene) bool {
	q := s.asks()
	return in.both || in.must && in.get(&q.before) == 0
}

// supposeOf puts a value that was typed in its place.
func (m *Model) supposeOf(in *input, typed string, asIs bool) {
	q := m.scene.asks()
	said, to := q.said.clone(), q.before
	asIs = asIs || in.asIs(m.scene)
	if asIs {
		to = supposed{Model: q.base.model}
	}
	if wrong := in.put(&to, typed); wrong != "" {
		m.note = m.glyphs.no + " " + incident.Visible(wrong)
		return
	}
	set := func(where *map[string]string) {
		if *where == nil {
			*where = map[string]string{}
		}
		(*where)[in.id] = typed
	}
	if asIs {
		set(&said.AsIs)
		delete(said.Change, in.id)
	} else if set(&said.Change); in.show(&to) == in.show(&q.before) {
		delete(said.Change, in.id) // what it is already
	}
	m.suppose(said)
}

// nudge moves the chosen number to the next round one.
func nudge(up bool) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		in := m.chosenInput()
		if in == nil {
			return nil
		}
		q := m.scene.asks()
		if in.asIs(m.scene) && in.get(&q.before) == 0 {
			m.note = lang.Sprintf("%s is not known yet: %s takes it", lang.T(in.name), m.keyOf("change"))
			return nil
		}
		typed, ok := in.step(&q.after, up)
		if !ok {
			m.note = lang.Sprintf("%s goes no further", lang.T(in.name))
			return nil
		}
		m.supposeOf(in, typed, false)
		return nil
	}
}

// reset takes a change back, and once more a correction; all of them where the
// cursor is on no number.
func (m *Model) reset() tea.Cmd {
	q := m.scene.asks()
	said := q.said.clone()
	in := inputOf(m.here().key)
	switch {
	case in == nil:
		said = Supposed{}
	case said.Change[in.id] != "":
		delete(said.Change, in.id)
	case said.AsIs[in.id] != "":
		delete(said.AsIs, in.id)
	default:
		m.note = lang.T("this is the incident's own number")
		return nil
	}
	m.suppose(said)
	m.note = lang.T("as it is")
	return nil
}

// whatIfBindings are the keys of the what-if screen.
func whatIfBindings() []binding {
	here := []screenID{onWhatIf}
	return []binding{
		{id: "change", keys: []string{"enter", "c"}, does: lang.Mark("type another value for the chosen number"), tip: lang.Mark("type a value"), on: here, do: (*Model).change},
		{id: "more", keys: []string{"+", "right", "="}, does: lang.Mark("more of it, up to the next round number"), tip: lang.Mark("more"), on: here, do: nudge(true)},
		{id: "less", keys: []string{"-", "left"}, does: lang.Mark("less of it, down to the next round number"), tip: lang.Mark("less"), on: here, do: nudge(false)},
		{id: "preset", keys: []string{"p"}, does: lang.Mark("try the next change that might help: no retries, an index, more threads, a shorter timeout, one layer of retries"), tip: lang.Mark("try a change"), on: here, do: (*Model).preset},
		{id: "reset", keys: []string{"r"}, does: lang.Mark("take the change of the chosen number back: the incident's own"), tip: lang.Mark("take back"), on: here, do: (*Model).reset},
		{id: "correct", keys: []string{"i"}, does: lang.Mark("type what the chosen number really was, where the evidence tells it wrong or not at all"), tip: lang.Mark("correct what is"), on: here, do: (*Model).correct},
	}
}

// command is how the same is had at the command line.
func (q *question) command() string {
	b, a := &q.before, &q.after
	float := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	in := inputs()
	show := map[string]func(m *supposed) string{}
	for i := range in {
		x := &in[i]
		show[x.id] = func(m *supposed) string {
			switch {
			case x.kind == kindTries:
				return x.show(m)
			case x.kind == kindYesNo:
				return strconv.FormatBool(m.Cancels)
			case x.id == "queue" && m.Queue == simulate.Endless:
				return "endless"
			case x.kind == kindTime:
				return float(x.get(m)) + "s"
			}
			return float(x.get(m))
		}
	}
	out, changes := "firebreak simulate", ""
	for _, f := range []struct{ id, flag string }{
		{"arrivals", "arrivals"}, {"hold", "hold"}, {"calm", "calm"}, {"timeout", "timeout"}, {"retries", "layers"}, {"backoff", "backoff"}, {"threads", "threads"}, {"queue", "queue"}, {"cancels", "cancels"},
	} {
		x := inputOf(f.id)
		if x.get(b) != 0 {
			out += " --" + f.flag + "=" + show[f.id](b)
		}
		if !x.both && show[f.id](b) != show[f.id](a) {
			if changes != "" {
				changes += " "
			}
			changes += f.id + "=" + show[f.id](a)
		}
	}
	return out + " --after '" + changes + "'"
}
