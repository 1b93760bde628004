package runbooks

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/document"
)

// good is a runbook without problems, which the tests below break.
const good = `name: team-book
title: A book
steps:
  - id: one
    ask: Is it full?
    yes: [pool.exhausted]
    no: [pool.idle]
    next:
      yes: two
      else: {conclude: healthy}
  - id: two
    ask: Did somebody change it?
    by_hand: true
    next: {conclude: pool-starvation, then: end}
actions:
  - phase: repair
    what: "Look at {pool|the pool}"
    command: "grep {pool.exhausted/pool} app.log"
    why: ["{pool.exhausted/text}."]
`

func TestGoodBookHasNoProblems(t *testing.T) {
	b, err := Parse("good.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if ps := b.Lint(); len(ps) > 0 {
		t.Fatal(ps)
	}
}

func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name, old, with string
		want            string // beginning of the message
	}{
		{"unknown kind", "pool.exhausted]", "pool.exausted]", `bad.yaml:6:11: unknown kind of finding "pool.exausted" (did you mean "pool.exhausted"?)`},
		{"unknown key", "    ask: Is", "    aks: Is", `bad.yaml:5:5: a step has no key "aks"`},
		{"key twice", "title: A book", "title: A book\ntitle: B", `bad.yaml:3:1: `},
		{"unknown label", "conclude: healthy", "conclude: helthy", `bad.yaml:10:24: unknown label "helthy" (did you mean "healthy"?)`},
		{"unknown step", "yes: two", "yes: tow", `bad.yaml:9:12: step "one" leads to an unknown step "tow"`},
		{"unreachable step", "yes: two", "yes: {conclude: healthy}", `bad.yaml:11:9: no answer leads to step "two"`},
		{"loop without an exit", "next: {conclude: pool-starvation, then: end}", "next: two", `bad.yaml:11:9: from step "two" no answers lead to an end: a loop without an exit`},
		{"end without a label", "next: {conclude: pool-starvation, then: end}", "next: end", `bad.yaml:14:11: step "two" can end the walk without a label`},
		{"no answers", "    yes: [pool.exhausted]\n    no: [pool.idle]\n", "", `bad.yaml:4:9: step "one" has no answers`},
		{"yes and no", "no: [pool.idle]", "no: [pool.exhausted]", `bad.yaml:4:9: step "one" takes pool.exhausted for yes and for no`},
		{"id twice", "id: two", "id: one", `bad.yaml:11:9: step "one" stands on line 4 already`},
		{"no id", "id: one", "id: ''", `bad.yaml:4:9: a step needs an id`},
		{"id that means the end", "id: two", "id: end", `bad.yaml:11:9: "end" means the end of a walk`},
		{"nothing asked", "    ask: Is it full?\n", "", `bad.yaml:4:9: step "one" asks nothing`},
		{"answer that leads nowhere", "      else: {conclude: healthy}\n", "", `bad.yaml:4:9: step "one" does not say where "no" leads`},
		{"by hand and by kinds", "by_hand: true", "by_hand: true\n    yes: [deploy]", `bad.yaml:11:9: step "two" is answered by hand`},
		{"decided by nobody", "by_hand: true", "decided_by: chance", `bad.yaml:13:17: what a step is decided by is trigger, chain, verdict, not "chance"`},
		{"unknown field", "{pool|the pool}", "{pol|the pool}", `bad.yaml:17:20: no finding has a field "pol"`},
		{"field of another kind", "{pool.exhausted/pool}", "{pool.exhausted/table}", `bad.yaml:18:20: no finding of kind pool.exhausted has a field "table"`},
		{"unknown kind in a field", "{pool.exhausted/text}", "{pool.exausted/text}", `bad.yaml:19:12: unknown kind of finding "pool.exausted"`},
		{"field not closed", "{pool|the pool}", "{pool", `bad.yaml:17:20: a field is {name}`},
		{"field that is no name", "{pool|the pool}", "{the pool}", `bad.yaml:17:20: a field is {name}`},
		{"field in quotes", "grep {pool.exhausted/pool} app.log", "grep '{pool.exhausted/pool}' app.log", `bad.yaml:18:21: field {pool.exhausted/pool} stands in quotes`},
		{"field of another language", "{pool.exhausted/pool} app", "{override} app", `bad.yaml:18:20: field "override" cannot stand here`},
		{"unknown phase", "phase: repair", "phase: soon", `bad.yaml:16:12: a phase is save, cut,`},
		{"no phase", "  - phase: repair\n    what", "  - what", `bad.yaml:16:5: an action needs a phase`},
		{"answer without a step", "phase: repair", "phase: repair\n    when: {answer: yes}", `bad.yaml:16:5: an action that stands under no step`},
		{"unknown language", "command:", "language: perl\n    command:", `bad.yaml:18:15: a command's language is shell, sql, yaml, not "perl"`},
		{"no name", "name: team-book", "name: Team Book", `bad.yaml:1:7: a runbook needs a name`},
		{"steps that are no list", "steps:\n  - id: one", "steps:\n    id: one", `bad.yaml:`},
		{"second document", "actions:", "---\nactions:", `bad.yaml:`},
		{"not YAML", "title: A book", "title: [", `bad.yaml:`},
		{"tab", "    ask: Is", "\task: Is", `bad.yaml:5:`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(good, c.old) {
				t.Fatalf("%q is not in the good book", c.old)
			}
			ps := problemsOf("bad.yaml", strings.Replace(good, c.old, c.with, 1))
			if len(ps) == 0 {
				t.Fatal("no problem found")
			}
			for _, p := range ps {
				if strings.HasPrefix(p.String(), c.want) {
					if p.Line > 0 && p.Excerpt == "" {
						t.Errorf("no excerpt: %s", p)
					}
					return
				}
			}
			t.Errorf("want %s\ngot  %v", c.want, ps)
		})
	}
}

// problemsOf returns what is wrong with a text.
func problemsOf(name, text string) document.Problems {
	b, err := Parse(name, []byte(text))
	if err != nil {
		var ps document.Problems
		if errors.As(err, &ps) {
			return ps
		}
		return document.Problems{{File: name, Text: err.Error()}}
	}
	return b.Lint()
}

func TestAllProblemsAreReported(t *testing.T) {
	text := strings.NewReplacer("pool.idle", "pool.idel", "healthy", "helthy", "pool-starvation", "pool-starving").Replace(good)
	if ps := problemsOf("bad.yaml", text); len(ps) != 3 {
		t.Errorf("want 3 problems, got %d: %v", len(ps), ps)
	}
}

func TestMessageShowsTheLine(t *testing.T) {
	got := problemsOf("bad.yaml", strings.Replace(good, "pool.idle", "pool.idel", 1)).Error()
	want := `bad.yaml:7:10: unknown kind of finding "pool.idel" (did you mean "pool.idle"?)
        no: [pool.idel]
             ^`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("team.yaml", good)
	write("ours.yml", strings.Replace(good, "team-book", "no-provider", 1))
	write("README.md", "not a runbook")
	write(".hidden.yaml", "not one either: [")
	l, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if l.Book("team-book") == nil || l.Book(DefaultName) == nil {
		t.Error("a book is missing")
	}
	if b := l.Book("no-provider"); b == nil || b.Title != "A book" {
		t.Error("the folder's book does not stand in place of the built-in one")
	}
	if first := l.Books()[0].Name; first != DefaultName {
		t.Errorf("%s stands first", first)
	}

	write("again.yaml", good)
	write("broken.yaml", "name: [")
	write("empty.yaml", "")
	_, err = Load(dir)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"broken.yaml:", "empty.yaml: the file is empty", `team.yaml:1:7: runbook "team-book" stands in ` + dir + `/again.yaml already`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
	if _, err := Load(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a folder that is not there gives no error")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(good)
	for _, s := range []string{"", "a", "- b", "name: &a [*a]", "steps: [{next: {yes: {}}}]", "{", "actions: [{what: '{'}]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := Parse("fuzz.yaml", []byte(text))
		if err != nil {
			_ = err.Error()
			return
		}
		if len(b.Lint()) == 0 {
			c := NewCase(reportNamed("x"), 0)
			b.Start().Follow(c, nil).Actions(c)
		}
	})
}

// TestDocumentedBook holds that the example of the documentation is sound.
func TestDocumentedBook(t *testing.T) {
	doc, err := os.ReadFile("../docs/runbooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```yaml\n")
	example, _, ok := strings.Cut(rest, "```")
	if ps := problemsOf("docs/runbooks.md", example); !ok || len(ps) > 0 {
		t.Errorf("found: %v; %v", ok, ps)
	}
}
