package correlate_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/internal/golden"
)

const (
	accuracyDoc   = "../docs/accuracy.md"
	tableBegins   = "<!-- scoreboard -->\n"
	tableEnds     = "<!-- /scoreboard -->\n"
	abstaining    = incident.Inconclusive
	enoughToJudge = 10 // answers below which a certainty's share says little
)

// A verdict is one answer beside the truth. Where there was no such incident,
// or none was found, one side is empty.
type verdict struct {
	want, got incident.Label
	certainty incident.Certainty
}

func (v verdict) right() bool { return v.want == v.got }

// verdicts pairs a report's incidents with those of the truth: what is accepted
// counts as what was wanted.
func verdicts(r *incident.Report, w truth) []verdict {
	in := w.ours(r)
	first := verdict{w.Label, in.Label, in.Certainty}
	if w.accepts(in.Label) {
		first.want = in.Label
	}
	list := []verdict{first}
	also := slices.Clone(w.Also)
	for i := range r.Incidents {
		each := &r.Incidents[i]
		if each == in {
			continue
		}
		v := verdict{got: each.Label, certainty: each.Certainty}
		if at := slices.Index(also, each.Label); at >= 0 {
			v.want = each.Label
			also = slices.Delete(also, at, at+1)
		}
		list = append(list, v)
	}
	for _, l := range also {
		list = append(list, verdict{want: l})
	}
	return list
}

// TestScoreboard measures the verdicts over the composed incidents and compares
// the table with docs/accuracy.md. It fails if a certainty promises too much.
func TestScoreboard(t *testing.T) {
	var all []verdict
	names := incidentNames(t)
	for _, name := range names {
		all = append(all, verdicts(conclude(t, name), readTruth(t, name))...)
	}
	table := scoreboard(len(names), all)
	t.Log("\n" + table)

	doc, err := os.ReadFile(accuracyDoc)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(doc), tableBegins)
	_, tail, ok2 := strings.Cut(rest, tableEnds)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", accuracyDoc)
	}
	golden.Check(t, accuracyDoc, []byte(head+tableBegins+table+tableEnds+tail))

	for c, share := range map[incident.Certainty]float64{incident.High: 0.95, incident.Medium: 0.75} {
		if n, right := tally(all, func(v verdict) bool { return v.certainty == c }); n >= enoughToJudge && float64(right) < share*float64(n) {
			t.Errorf("%s was right %d of %d times, and promises %.0f %%", c, right, n, 100*share)
		}
	}
}

func tally(all []verdict, of func(verdict) bool) (n, right int) {
	for _, v := range all {
		if of(v) {
			n++
			if v.right() {
				right++
			}
		}
	}
	return n, right
}

func scoreboard(folders int, all []verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n| label | incidents | found | precision | recall | answered with `inconclusive` |\n|---|---:|---:|---:|---:|---:|\n")
	for _, l := range incident.Labels() {
		wanted, found := tally(all, func(v verdict) bool { return v.want == l })
		said, _ := tally(all, func(v verdict) bool { return v.got == l })
		abstained, _ := tally(all, func(v verdict) bool { return v.want == l && l != abstaining && v.got == abstaining })
		fmt.Fprintf(&b, "| `%s` | %d | %d | %s | %s | %d |\n", l, wanted, found, percent(found, said), percent(found, wanted), abstained)
	}

	fmt.Fprintf(&b, "\n| certainty | answers | right | share | promised |\n|---|---:|---:|---:|---:|\n")
	promised := map[incident.Certainty]string{incident.High: "95 %", incident.Medium: "75 %", incident.Low: "none"}
	for _, c := range []incident.Certainty{incident.High, incident.Medium, incident.Low} {
		n, right := tally(all, func(v verdict) bool { return v.certainty == c })
		fmt.Fprintf(&b, "| %s | %d | %d | %s | %s |\n", c, n, right, percent(right, n), promised[c])
	}

	n, right := tally(all, func(v verdict) bool { return v.want != "" })
	guess, hits := constantGuess(all)
	fmt.Fprintf(&b, "\nOver %d evidence sets with %d incidents the engine is right %d times (%s). Always answering `%s`, the best\nconstant guess, is right %d times (%s).\n", folders, n, right, percent(right, n), guess, hits, percent(hits, n))
	return b.String()
}

// constantGuess is the answer that is right most often if it is always given.
func constantGuess(all []verdict) (incident.Label, int) {
	return best(incident.Labels(), func(l incident.Label) int {
		n, _ := tally(all, func(v verdict) bool { return v.want == l })
		return n
	})
}

func best(labels []incident.Label, count func(incident.Label) int) (incident.Label, int) {
	l := slices.MaxFunc(labels, func(a, b incident.Label) int { return cmp.Compare(count(a), count(b)) })
	return l, count(l)
}

func percent(n, of int) string {
	if of == 0 {
		return "–"
	}
	share := 100 * float64(n) / float64(of)
	if n < of && share >= 99.5 {
		return fmt.Sprintf("%.1f %%", min(share, 99.9)) // not all of them, so not 100
	}
	return fmt.Sprintf("%.0f %%", share)
}
