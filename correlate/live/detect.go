package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/incident"
)

// DetectConfig says how sure a [Detector] must be before it says something. The
// zero value of a field takes the default named beside it.
type DetectConfig struct {
	// Hold is how many reports in a row must say that something is an incident (2).
	// If they are of low certainty, twice as many must.
	Hold int
	// Clear is for how long reports must say nothing of it before it is over (5 min).
	Clear time.Duration
	// Silence is after how long without any evidence it is given up (12 times Clear).
	// Silence alone is no sign that anything is well: a fleet that is down sends
	// nothing.
	Silence time.Duration
	// Old is how long ago an incident may have ended, by what its evidence says, to
	// be opened (35 min): a dump of the last fire that was copied here is none.
	Old time.Duration
	// MaxOpen is how many incidents are followed at once (20).
	MaxOpen int
}

// Detector makes incidents that last out of reports that come and go. An
// incident opens when reports in a row say it, stays open through reports that
// do not, and is over after a quiet time. What reports say of the same services,
// pools or statements is the same incident, whatever they call it and however
// sure they are; the deepest verdict so far is the one that it has.
//
// It is a function of the reports and their times: it has no clock.
type Detector struct {
	cfg     DetectConfig
	open    []*following
	pending []*following
	taken   map[string]bool // IDs in use, and the last ones that were
	last    time.Time       // when there was evidence
}

// Episode is one incident from its beginning to its end.
type Episode struct {
	ID      string
	Opened  time.Time // when it was noticed
	Updated time.Time // when its verdict last became another or deeper
	Said    time.Time // when a report last said it
	Closed  time.Time // zero while it is open
	Changes int       // how often its label became another

	Verdict incident.Incident // the deepest so far
	Last    incident.Incident // what the last report says of it; without a label if nothing
	About   []string          // the services, pools and statements that it is about
}

// News is what happened to an incident.
type News string

// The news. Deeper: the verdict is surer or its chain is longer; Changed: it has
// another label. Over: reports have said nothing of it for a while. Lost: no
// evidence came for so long that nobody knows.
const (
	Opened  News = "opened"
	Changed News = "changed"
	Deeper  News = "deeper"
	Over    News = "over"
	Lost    News = "lost"
)

// Event tells of an incident, with the report that it was seen in; nil when it is
// over.
type Event struct {
	What    News
	Episode Episode
	Was     incident.Label // before it changed
	Report  *incident.Report
}

// following is an incident that is open, or may become one.
type following struct {
	Episode
	about  map[string]bool
	streak int // reports in a row that say it, weighed: two for one that is at least fairly sure
	rows   int // the same, each counted once
	better int // reports in a row whose verdict is another or deeper
	label  incident.Label
	quiet  time.Time // since when reports with evidence say nothing of it; zero if the last one did
	said   bool      // by the report at hand
}

// maxAbout bounds what an incident is about.
const maxAbout = 200

// maxTaken bounds the IDs that are remembered.
const maxTaken = 1000

// NewDetector makes a detector that goes on with the incidents that were open
// when an earlier one ended.
func NewDetector(c DetectConfig, open []Episode) *Detector {
	if c.Hold <= 0 {
		c.Hold = 2
	}
	if c.Clear <= 0 {
		c.Clear = 5 * time.Minute
	}
	if c.Silence <= 0 {
		c.Silence = 12 * c.Clear
	}
	if c.Old <= 0 {
		c.Old = 5*time.Minute + oldAfter
	}
	if c.MaxOpen <= 0 {
		c.MaxOpen = 20
	}
	d := &Detector{cfg: c, taken: map[string]bool{}}
	for _, e := range open[:min(len(open), c.MaxOpen)] {
		f := &following{Episode: e, about: map[string]bool{}, label: e.Verdict.Label}
		f.learn(e.About)
		d.open = append(d.open, f)
		d.taken[e.ID] = true
	}
	return d
}

// Open returns the incidents that are open, the oldest first.
func (d *Detector) Open() []Episode {
	list := make([]Episode, 0, len(d.open))
	for _, f := range d.open {
		list = append(list, f.episode())
	}
	slices.SortFunc(list, func(a, b Episode) int {
		return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Taken says that an ID is in use by an incident of long ago.
func (d *Detector) Taken(id string) {
	if len(d.taken) < maxTaken {
		d.taken[id] = true
	}
}

// Observe hears of a report that was made at a time of so many records.
func (d *Detector) Observe(r *incident.Report, at time.Time, records int) []Event {
	if records == 0 {
		return d.Tick(at) // it says nothing, neither that it burns nor that it does not
	}
	d.last = at
	for _, f := range slices.Concat(d.open, d.pending) {
		f.said = false
	}
	var events []Event
	pairs, rest := match(d.open, burning(r))
	for _, p := range pairs {
		if e, news := p.f.hear(p.v, r, at, d.cfg.Hold); news {
			events = append(events, e)
		}
	}
	rest = slices.DeleteFunc(rest, func(v verdict) bool { return d.old(v.in, at) })
	pairs, rest = match(d.pending, rest)
	for _, p := range pairs {
		p.f.suspect(p.v, at)
	}
	for i := range rest {
		if len(d.pending) >= d.cfg.MaxOpen {
			break
		}
		f := &following{about: map[string]bool{}}
		f.suspect(&rest[i], at)
		d.pending = append(d.pending, f)
	}
	d.pending = slices.DeleteFunc(d.pending, func(f *following) bool { return !f.said })
	events = append(events, d.admit(r, at)...)
	return append(events, d.settle(at)...)
}

// Tick hears of the time while no report comes.
func (d *Detector) Tick(now time.Time) []Event {
	var events []Event
	d.open = slices.DeleteFunc(d.open, func(f *following) bool {
		if now.Sub(later(f.Said, d.last)) < d.cfg.Silence {
			return false
		}
		events = append(events, f.end(Lost, now))
		return true
	})
	return events
}

// admit opens what was said often enough.
func (d *Detector) admit(r *incident.Report, at time.Time) []Event {
	var events []Event
	d.pending = slices.DeleteFunc(d.pending, func(f *following) bool {
		if f.rows < d.cfg.Hold || f.streak < 2*d.cfg.Hold || len(d.open) >= d.cfg.MaxOpen {
			return false
		}
		f.Opened, f.Updated, f.better = at, at, 0
		f.ID = d.id(&f.Verdict, at)
		d.open = append(d.open, f)
		events = append(events, Event{What: Opened, Episode: f.episode(), Report: r})
		return true
	})
	return events
}

// settle ends what nothing was said of for long enough.
func (d *Detector) settle(at time.Time) []Event {
	var events []Event
	d.open = slices.DeleteFunc(d.open, func(f *following) bool {
		switch {
		case f.said:
			f.quiet = time.Time{}
			return false
		case f.quiet.IsZero():
			f.quiet = at
		}
		f.Last, f.better = incident.Incident{}, 0
		if at.Sub(f.quiet) < d.cfg.Clear {
			return false
		}
		events = append(events, f.end(Over, at))
		return true
	})
	return events
}

func (f *following) end(what News, at time.Time) Event {
	f.Closed = at
	return Event{What: what, Episode: f.episode()}
}

// episode is a copy for others.
func (f *following) episode() Episode {
	e := f.Episode
	e.About = make([]string, 0, len(f.about))
	for a := range f.about {
		e.About = append(e.About, a)
	}
	slices.Sort(e.About)
	return e
}

// suspect hears of what is not open yet. The verdict is the last one.
func (f *following) suspect(v *verdict, at time.Time) {
	f.said, f.Said = true, at
	f.Last = *v.in
	f.Verdict, f.label = *v.in, v.in.Label
	f.learn(v.about)
	f.rows++
	f.streak++
	if v.in.Certainty != incident.Low {
		f.streak++
	}
}

// hear hears of an open incident. A verdict takes the place of the last one when
// reports in a row say it, and it is deeper, or another and no less sure. The more
// often the label has changed, the longer the next one must be said.
func (f *following) hear(v *verdict, r *incident.Report, at time.Time, hold int) (Event, bool) {
	f.said, f.Said = true, at
	f.Last = *v.in
	f.learn(v.about)
	other := v.in.Label != f.Verdict.Label
	surer := cmp.Compare(rank(v.in.Certainty), rank(f.Verdict.Certainty))
	if surer < 0 || !other && surer == 0 && len(v.in.Chain) <= len(f.Verdict.Chain) {
		f.better = 0
		return Event{}, false
	}
	if v.in.Label != f.label {
		f.better = 0
	}
	f.label = v.in.Label
	f.better++
	need := hold
	if other {
		need = hold << min(f.Changes, 5)
	}
	if f.better < need {
		return Event{}, false
	}
	e := Event{What: Deeper, Report: r}
	if other {
		e.What, e.Was = Changed, f.Verdict.Label
		f.Changes++
	}
	f.Verdict, f.Updated, f.better = *v.in, at, 0
	e.Episode = f.episode()
	return e, true
}

func (f *following) learn(about []string) {
	for _, a := range about {
		if len(f.about) < maxAbout {
			f.about[a] = true
		}
	}
}

func rank(c incident.Certainty) int {
	switch c {
	case incident.High:
		return 2
	case incident.Medium:
		return 1
	case incident.Low:
	}
	return 0
}

// id names an incident: by its time, label and subject, and a number if another
// one had that name.
func (d *Detector) id(in *incident.Incident, at time.Time) string {
	base := in.ID
	if in.Window.From.IsZero() { // then it begins with the label
		base = at.UTC().Format("2006-01-02T15-04Z") + "-" + base
	}
	id := base
	for n := 2; d.taken[id]; n++ {
		id = fmt.Sprintf("%s-%d", base, n)
	}
	if len(d.taken) >= maxTaken {
		clear(d.taken)
		for _, f := range d.open {
			d.taken[f.ID] = true
		}
	}
	d.taken[id] = true
	return id
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// verdict is an incident of a report, and what it is about.
type verdict struct {
	in    *incident.Incident
	about []string
}

// old reports an incident that ended long ago, by what its evidence says.
func (d *Detector) old(in *incident.Incident, at time.Time) bool {
	to := later(in.Window.From, in.Window.To)
	return !to.IsZero() && at.Sub(to) > d.cfg.Old
}

// burning are the incidents of a report that say that something is wrong.
func burning(r *incident.Report) []verdict {
	var list []verdict
	for i := range r.Incidents {
		in := &r.Incidents[i]
		if in.Label != incident.Healthy && in.Label != incident.Inconclusive {
			list = append(list, verdict{in, about(in, r)})
		}
	}
	return list
}

// identifying are the names of findings that tell one incident from another.
var identifying = []string{"service", "class", "process", "owner", "table", "fingerprint"}

// about lists the services, pools and statements that an incident is about.
func about(in *incident.Incident, r *incident.Report) []string {
	said := map[string]bool{}
	if in.Subject != "" {
		said[short(in.Subject)] = true
	}
	wanted := map[string]bool{}
	for _, l := range in.Chain {
		for _, id := range l.Findings {
			wanted[id] = true
		}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if !wanted[f.ID] {
			continue
		}
		for _, k := range identifying {
			if n := f.Names[k]; n != "" && len(said) < maxAbout {
				said[short(n)] = true
			}
		}
		if n := f.Names["pool"]; n != "" && len(said) < maxAbout {
			// Many services call their pools alike.
			said[n+"@"+cmp.Or(f.Names["service"], f.Names["process"], f.Names["owner"])] = true
		}
	}
	list := make([]string, 0, len(said))
	for s := range said {
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

// short is a service's name without its package, as some sources leave it out.
func short(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 && i+1 < len(name) && name[i+1] >= 'A' && name[i+1] <= 'Z' {
		name = name[i+1:]
	}
	return strings.TrimSuffix(name, "Impl")
}

// pair is a verdict that is about an incident that is followed.
type pair struct {
	f *following
	v *verdict
}

// match tells which verdicts are of which incidents, each of one at most, the
// most alike first, and which verdicts are of none. An incident that has no
// verdict of its own but shares what another's is about is said by it, too.
func match(list []*following, verdicts []verdict) (pairs []pair, rest []verdict) {
	type likeness struct{ f, v, score int }
	var all []likeness
	for i, f := range list {
		for j := range verdicts {
			if s := f.like(&verdicts[j], len(list) == 1 && len(verdicts) == 1); s > 0 {
				all = append(all, likeness{i, j, s})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b likeness) int { return cmp.Compare(b.score, a.score) })
	ofF, ofV := map[int]bool{}, map[int]bool{}
	for _, l := range all {
		if ofF[l.f] || ofV[l.v] {
			continue
		}
		ofF[l.f], ofV[l.v] = true, true
		pairs = append(pairs, pair{list[l.f], &verdicts[l.v]})
	}
	for _, l := range all {
		if !ofF[l.f] {
			list[l.f].said = true
		}
	}
	for j := range verdicts {
		if !ofV[j] {
			rest = append(rest, verdicts[j])
		}
	}
	return pairs, rest
}

// like says how alike a verdict and an incident are; 0 if they are two. Where
// both say what they are about they must share some of it; where one does not,
// the label tells, or that there is no other.
func (f *following) like(v *verdict, alone bool) int {
	shared := 0
	for _, a := range v.about {
		if f.about[a] {
			shared++
		}
	}
	same := v.in.Label == f.Verdict.Label
	switch {
	case shared > 0 && same:
		return 2*shared + 1
	case shared > 0:
		return 2 * shared
	case len(v.about) > 0 && len(f.about) > 0:
		return 0
	case same || alone:
		return 1
	}
	return 0
}
