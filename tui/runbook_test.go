package tui

import (
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/runbooks"
)

// given is an answer to a step.
type given struct {
	step   string
	answer incident.Answer
}

// ways returns, for each step of a book and each of its answers, a shortest row
// of answers that leads there and gives it.
func ways(b *runbooks.Book) [][]given {
	var list [][]given
	reached := map[string][]given{b.Steps[0].ID: nil}
	queue := []string{b.Steps[0].ID}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		for _, a := range []incident.Answer{incident.Yes, incident.No, incident.DontKnow} {
			way := append(append([]given{}, reached[id]...), given{id, a})
			list = append(list, way)
			next := b.Step(id).Next[a].Then
			if _, ok := reached[next]; next != "" && !ok {
				reached[next] = way
				queue = append(queue, next)
			}
		}
	}
	return list
}

// Every answer to every step of every runbook can be given on the screen, which
// then ends where the walk does.
func TestEveryRunbookPath(t *testing.T) {
	r := readReport(t, "reference")
	books, err := runbooks.Load("")
	if err != nil {
		t.Fatal(err)
	}
	answerKeys := map[incident.Answer]string{incident.Yes: "y", incident.No: "n", incident.DontKnow: "u"}
	walked := 0
	for _, b := range books.Books() {
		steps := map[string]bool{}
		for _, way := range ways(b) {
			d := start(t, r, 60, 30)
			d.do("palette").write(b.Name).press("enter").screen()
			over := map[string]runbooks.Override{}
			for _, g := range way {
				d.screen()
				if got := d.m.here().key; got != stepKey(g.step) {
					t.Fatalf("%s: at %q, not at %q", b.Name, got, g.step)
				}
				d.do("override").press(answerKeys[g.answer]).write("so").press("enter").do("accept")
				over[g.step] = runbooks.Override{Answer: g.answer, Note: "so"}
				steps[g.step] = true
			}
			for range 40 {
				d.screen()
				if d.m.here().key == "conclusion" {
					break
				}
				d.do("accept")
			}
			end, _ := b.Start().Follow(runbooks.NewCase(d.m.scene.report, 0), over).Conclusion()
			if end == "" {
				end = incident.Inconclusive
			}
			if s := d.screen(); !strings.Contains(s, "THE WALK ENDS AT  "+string(end)) {
				t.Errorf("%s by %v does not end at %s:\n%s", b.Name, way, end, s)
			}
			walked++
		}
		if len(steps) != len(b.Steps) {
			t.Errorf("%s: %d of %d steps were reached", b.Name, len(steps), len(b.Steps))
		}
	}
	t.Logf("%d ways were walked", walked)
}
