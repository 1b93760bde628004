package runbooks

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/internal/golden"
)

// TestReference holds the walk and the actions of the reference incident.
func TestReference(t *testing.T) {
	r := reportOf(t, filepath.Join(incidentsFolder, "reference-slow-sql-retries"))
	if err := builtIn(t).Apply(r); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, w := range r.Incidents[0].Walk {
		fmt.Fprintf(&b, "%-16s %-8s %v %s\n", w.Step, w.Answer, w.Because, w.Concludes)
	}
	for _, a := range r.Incidents[0].Actions {
		fmt.Fprintf(&b, "\n%d. %s [%s]\n", a.Order, a.What, a.Label)
		if a.Command != "" {
			fmt.Fprintln(&b, a.Command)
		}
		fmt.Fprintf(&b, "why:  %s\n", a.Why)
		if a.Risk != "" {
			fmt.Fprintf(&b, "risk: %s\n", a.Risk)
		}
	}
	golden.Check(t, "testdata/reference-slow-sql-retries.golden.txt", b.Bytes())
}

// TestStories walks each further runbook over an incident that it is for.
func TestStories(t *testing.T) {
	l := builtIn(t)
	for _, c := range []struct {
		book, incident string
		want           incident.Label
		step           string // one that is answered yes
	}{
		{"traffic-skew", "skew-router-leaves-one-of-six", incident.TrafficSkew, "few-left"},
		{"p99-and-qps-up", "reference-slow-sql-retries", incident.SlowSQL, "asked-again"},
		{"duplicate-writes", "duplicate-writes-orders", incident.DuplicateWrites, "retried"},
		{"grey-traffic-in-stable", "no-provider-tag-router", incident.NoProvider, "lane-empty"},
		{"provider-pool-full", "reference-slow-sql-retries", incident.SlowSQL, "really-full"},
		{"provider-pool-full", "lock-monitor-convoy", incident.LockContention, "at-lock"},
		{"provider-pool-full", "healthy-deploy-shut-down-pool", incident.Healthy, ""},
		{"no-provider", "no-provider-tag-router", incident.NoProvider, "router"},
		{"no-provider", "no-provider-empty-registry", incident.NoProvider, "none-found"},
	} {
		t.Run(c.book+"/"+c.incident, func(t *testing.T) {
			r := reportOf(t, filepath.Join(incidentsFolder, c.incident))
			l.Book(c.book).Apply(r)
			walk := r.Incidents[0].Walk
			if got := walk[len(walk)-1].Concludes; got != c.want {
				t.Errorf("concludes %q, want %q", got, c.want)
			}
			yes := c.step == ""
			for _, w := range walk {
				yes = yes || w.Step == c.step && w.Answer == incident.Yes && len(w.Because) > 0
				t.Log(w.Step, w.Answer, w.Because)
			}
			if !yes {
				t.Errorf("step %s is not answered yes", c.step)
			}
			if len(r.Incidents[0].Actions) == 0 {
				t.Error("no actions")
			}
		})
	}
}

func TestWalkByHand(t *testing.T) {
	b := builtIn(t).Book(DefaultName)
	w := b.Start()
	if _, err := w.Answer("routing", incident.Yes, ""); err == nil {
		t.Error("a step that the walk does not stand at was answered")
	}
	if _, err := w.Answer("pool-full", "perhaps", ""); err == nil {
		t.Error("an answer that is none was taken")
	}
	if _, ok := w.Back(); ok {
		t.Error("went back from the start")
	}
	answer := func(w Walk, step string, a incident.Answer) Walk {
		t.Helper()
		next, err := w.Answer(step, a, "seen by hand")
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	w = answer(w, "pool-full", incident.Yes)
	w = answer(w, "amplified", incident.Yes)
	fork := w
	for _, step := range []string{"workers-wait", "connections", "duplicates"} {
		w = answer(w, step, incident.No)
	}
	w = answer(w, "only-retries", incident.Yes)
	if label, end := w.Conclusion(); label != incident.RetryAmplification || !end {
		t.Errorf("concludes %s, at the end: %v", label, end)
	}
	if label, end := fork.Conclusion(); label != "" || end {
		t.Error("the walk before was changed")
	}
	back, ok := w.Back()
	if label, end := back.Conclusion(); !ok || label != "" || end || back.Step().ID != "only-retries" {
		t.Errorf("after going back: %s, %v, %v", label, end, back.Step())
	}
	// Another answer to a step that was passed takes back what followed it.
	other := answer(w, "amplified", incident.No)
	if n := len(other.Replies()); n != 2 || other.Step().ID != "workers-wait" {
		t.Errorf("%d answers, then %v", n, other.Step())
	}
	list := w.Answered()
	if last := list[len(list)-1]; last.Concludes != incident.RetryAmplification || last.OverriddenBy == nil || *last.OverriddenBy != "seen by hand" {
		t.Errorf("the last step is %+v", last)
	}
}

// TestOverrideChangesTheBranch answers one step of the reference incident
// against its evidence.
func TestOverrideChangesTheBranch(t *testing.T) {
	r := reportOf(t, filepath.Join(incidentsFolder, "reference-slow-sql-retries"))
	c := NewCase(r, 0)
	w := builtIn(t).Book(DefaultName).Start().Follow(c, map[string]Override{
		"database": {incident.No, "the DBA sees nothing"}, "downstream": {incident.Yes, "they wait for pricing"},
	})
	if label, end := w.Conclusion(); label != incident.DownstreamWait || !end {
		t.Errorf("concludes %s, at the end: %v", label, end)
	}
	for _, a := range w.Actions(c) {
		if a.Label == incident.SlowSQL {
			t.Errorf("still proposes %q", a.What)
		}
	}
}

// TestLoopEnds holds that evidence does not go round for ever.
func TestLoopEnds(t *testing.T) {
	b, err := Parse("loop.yaml", []byte(`name: loop
steps:
  - {id: a, ask: A, yes: [deploy], next: {yes: {conclude: healthy}, else: b}}
  - {id: b, ask: B, yes: [deploy], next: {yes: {conclude: healthy}, else: a}}
`))
	if err != nil {
		t.Fatal(err)
	}
	w := b.Start().Follow(&Case{incident: &incident.Incident{}}, nil)
	if label, end := w.Conclusion(); label != "" || end || len(w.Replies()) != 2 {
		t.Errorf("%s, at the end: %v, %d answers", label, end, len(w.Replies()))
	}
}

// TestOwnFindings holds that with several incidents each is walked by its own.
func TestOwnFindings(t *testing.T) {
	r := &incident.Report{
		Incidents: []incident.Incident{
			{Label: incident.SlowSQL, Chain: []incident.Link{{Role: incident.Trigger, Label: incident.SlowSQL, Findings: []string{"f1"}}}, Notes: []incident.Note{{Findings: []string{"f2"}}}},
			{Label: incident.NoProvider, Chain: []incident.Link{{Role: incident.Trigger, Label: incident.NoProvider, Findings: []string{"f3"}}}},
		},
		Findings: []incident.Finding{{ID: "f1", Kind: incident.SQLSlow}, {ID: "f2", Kind: incident.PoolExhausted}, {ID: "f3", Kind: incident.RouteNone}},
	}
	if err := builtIn(t).Apply(r); err != nil {
		t.Fatal(err)
	}
	for i, want := range []incident.Answer{incident.Yes, incident.DontKnow} {
		if w := r.Incidents[i].Walk[0]; w.Answer != want {
			t.Errorf("incident %d: the pool is full: %s, want %s", i, w.Answer, want)
		}
		if last := r.Incidents[i].Walk[len(r.Incidents[i].Walk)-1]; last.Concludes != r.Incidents[i].Label {
			t.Errorf("incident %d concludes %s", i, last.Concludes)
		}
	}
}
