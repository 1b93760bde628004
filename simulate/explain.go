package simulate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Sentence is a sentence with its numbers apart, so that it can be said in
// another language: Args are strings and Sentences, in the order of Format's %s.
type Sentence struct {
	Format string
	Args   []any
}

func say(format string, args ...any) Sentence { return Sentence{format, args} }

// String says it in English.
func (s Sentence) String() string { return s.Say(fmt.Sprintf) }

// Say says it by a function like fmt.Sprintf that may translate the format.
func (s Sentence) Say(sprintf func(format string, args ...any) string) string {
	args := make([]any, len(s.Args))
	for i, a := range s.Args {
		if in, ok := a.(Sentence); ok {
			a = in.Say(sprintf)
		}
		args[i] = a
	}
	return sprintf(s.Format, args...)
}

// Comparison is a model before and after a change.
type Comparison struct {
	Before, After Result
	Changes       []Sentence // what was changed, as "retries=0"
	Explanation   []Sentence // the most important first
}

// Compare solves both and says what the change does.
func Compare(before, after Model) (Comparison, error) {
	b, err := Solve(before)
	if err != nil {
		return Comparison{}, err
	}
	a, err := Solve(after)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{Before: b, After: a, Changes: changes(&before, &after)}
	c.Explanation = append(c.Explanation, c.verdict())
	if len(c.Changes) > 0 {
		c.Explanation = append(c.Explanation, loadOf(&b, &a)...)
	} else {
		c.Explanation = append(c.Explanation, say("in trouble the provider gets %s attempts/s (%sx of at most %sx), and %s of the calls succeed",
			Number(b.Stuck.LoadPerS), Ratio(b.Stuck.Amplification), Ratio(b.Ceiling), Percent(b.Stuck.GoodShare)))
	}
	c.Explanation = append(c.Explanation, stability(&b, &a)...)
	return c, nil
}

// changes says how two models differ.
func changes(b, a *Model) []Sentence {
	var list []Sentence
	add := func(differ bool, format string, args ...any) {
		if differ {
			list = append(list, say(format, args...))
		}
	}
	add(layerRetries(b) != layerRetries(a), "retries=%s", layerRetries(a))
	add(b.ArrivalsPerS != a.ArrivalsPerS, "%s calls/s", Number(a.ArrivalsPerS))
	add(b.HoldS != a.HoldS, "hold %s", Seconds(a.HoldS))
	add(b.TimeoutS != a.TimeoutS, "timeout %s", Seconds(a.TimeoutS))
	add(b.Threads != a.Threads, "%s threads", Whole(float64(a.Threads)))
	add(b.Queue != a.Queue, "queue %s", places(a.Queue))
	add(!b.Cancels && a.Cancels, "timeouts that cancel")
	return list
}

func places(n int) any {
	if n == Endless {
		return say("endless")
	}
	return Whole(float64(n))
}

// layerRetries is "2" or "2,2"; layers that do not retry at all are "0".
func layerRetries(m *Model) string {
	if m.Ceiling() == 1 {
		return "0"
	}
	var parts []string
	for _, l := range m.Layers {
		parts = append(parts, strconv.Itoa(l.Retries))
	}
	return strings.Join(parts, ",")
}

// changed is all changes in one text; empty if there are none.
func (c *Comparison) changed() Sentence {
	s := Sentence{}
	for i, x := range c.Changes {
		if i == 0 {
			s = x
			continue
		}
		s = say("%s and %s", s, x)
	}
	return s
}

// verdict is the one sentence to take away.
func (c *Comparison) verdict() Sentence {
	a, b := &c.After, &c.Before
	m := &a.Model
	lead := say("as it is")
	if len(c.Changes) > 0 {
		lead = say("with %s", c.changed())
	}
	need := say("%s calls/s x %s needs %s threads", Number(m.ArrivalsPerS), Seconds(m.MeanHoldS()), Whole(math.Ceil(a.NeededAlone-1e-9)))
	threads := Whole(float64(m.Threads))
	cut := a.Ceiling < b.Ceiling && len(c.Changes) == 1
	slow := m.TimeoutS > 0 && m.HoldS > m.TimeoutS
	switch {
	case a.NeededAlone > float64(m.Threads) && cut && m.Cure != "":
		return say("%s: %s > %s: cut alone does not save you; %s does", lead, need, threads, say(m.Cure))
	case a.NeededAlone > float64(m.Threads) && cut:
		return say("%s: %s > %s: cut alone does not save you; a hold time under %s does", lead, need, threads, Seconds(a.MaxHoldS))
	case a.NeededAlone > float64(m.Threads):
		return say("%s: %s > %s: still too few, up to a hold time of %s", lead, need, threads, Seconds(a.MaxHoldS))
	case slow && a.Stuck.GoodShare < fits && a.Stuck.Rejected < 0.01:
		return say("%s: %s, and there are %s: the pool has room again for others; but one takes %s, longer than its timeout of %s: %s of these calls succeed until it is faster",
			lead, need, threads, Seconds(m.HoldS), Seconds(m.TimeoutS), Percent(a.Stuck.GoodShare))
	case slow && a.Stuck.GoodShare < fits:
		return say("%s: %s, and there are %s; but one takes %s, longer than its timeout of %s: %s of the calls succeed",
			lead, need, threads, Seconds(m.HoldS), Seconds(m.TimeoutS), Percent(a.Stuck.GoodShare))
	case a.Recovers && len(c.Changes) == 0:
		return say("%s: %s, and there are %s: it holds", lead, need, threads)
	case a.Recovers && b.Recovers:
		return say("%s: %s, and there are %s: it holds, as it did before", lead, need, threads)
	case a.Recovers:
		return say("%s: %s, and there are %s: it recovers by itself", lead, need, threads)
	case a.Metastable:
		return say("%s: %s, and there are %s: enough for calls made once, but retries can keep the pool full; take the load off for a moment, or cut the retries", lead, need, threads)
	}
	return say("%s: %s, and there are %s: too tight, %s of the calls succeed", lead, need, threads, Percent(a.Stuck.GoodShare))
}

// loadOf says what reaches the provider.
func loadOf(b, a *Result) []Sentence {
	return []Sentence{
		say("in trouble the provider gets %s attempts/s (%sx of at most %sx), after the change %s/s (%sx)",
			Number(b.Stuck.LoadPerS), Ratio(b.Stuck.Amplification), Ratio(b.Ceiling), Number(a.Stuck.LoadPerS), Ratio(a.Stuck.Amplification)),
		say("calls that succeed: %s of %s/s, after the change %s of %s/s",
			Percent(b.Stuck.GoodShare), Number(b.Model.ArrivalsPerS), Percent(a.Stuck.GoodShare), Number(a.Model.ArrivalsPerS)),
	}
}

// stability says what comes back by itself.
func stability(b, a *Result) []Sentence {
	var list []Sentence
	if b.Metastable {
		list = append(list, say("as it is, it stays down once it is down: calm it serves %s of the calls, after trouble %s, because retries alone keep %s of %s threads busy",
			Percent(b.Calm.GoodShare), Percent(b.Stuck.GoodShare), Whole(math.Round(b.Stuck.Utilisation*float64(b.Model.Threads))), Whole(float64(b.Model.Threads))))
	}
	if a.Stuck.Wasted > 0.05 && !a.Model.Cancels {
		list = append(list, say("%s of what the workers do is for callers that have given up: a timeout does not end the work", Percent(a.Stuck.Wasted)))
	}
	return list
}
