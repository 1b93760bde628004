package lang_test

import (
	"fmt"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/firebreak-io/firebreak/correlate/ledger"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/internal/golden"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/parsers"
	"github.com/firebreak-io/firebreak/runbooks"
)

const file = "zh-Hans.txt"

// wanted returns every text that is to be translated, and where it stands.
func wanted(t *testing.T) map[string]string {
	all := map[string]string{}
	add := func(at string, texts ...string) {
		for _, text := range texts {
			if text != "" && all[text] == "" && speaks(text) {
				all[text] = at
			}
		}
	}
	for _, s := range sources(t) {
		s.texts(func(at token.Position, text string) { add(fmt.Sprintf("%s:%d", s.name, at.Line), text) })
	}
	words(add)
	explained(add)
	for text, at := range templates(t) {
		add(at, text)
	}
	return all
}

// speaks reports whether a text has letters besides its verbs and fields, or
// marks that look otherwise in Chinese.
func speaks(text string) bool {
	text = field.ReplaceAllString(verb.ReplaceAllString(text, ""), "{")
	return strings.ContainsFunc(text, unicode.IsLetter) || strings.ContainsAny(text, "{:(,;")
}

// words are those that machines know and people read beside what they mean.
func words(add func(at string, texts ...string)) {
	for _, l := range incident.Labels() {
		add("labels", string(l))
	}
	add("roles", string(incident.Trigger), string(incident.Amplifier), string(incident.Victim))
	add("certainties", string(incident.High), string(incident.Medium), string(incident.Low))
	add("answers", string(incident.Yes), string(incident.No), string(incident.DontKnow))
	for _, g := range incident.Terms() {
		for _, term := range g.Terms {
			add("terms", term.Name)
		}
	}
	for o := evidence.OutcomeUnknown; o <= evidence.Challenged; o++ {
		add("outcomes", o.String())
	}
	add("fates", "timed-out", "rejected", "cancelled", "failed")
	add("pools", "frozen", "slow", "too-small", "shutting-down")
	add("bases", "spans", "logs", "access-logs", "metrics")
	add("reading", "file", "block", "messages")
	for _, l := range []ledger.Loss{
		ledger.LostParent, ledger.LostNoTrace, ledger.LostNoID, ledger.LostDuplicate, ledger.LostNegative, ledger.LostTime, ledger.LostSampled, ledger.LostHuge, ledger.LostNames,
		ledger.LostEdges, ledger.LostPaths,
	} {
		add("losses", string(l))
	}
}

// explained are the texts of tables that are translated as they are read.
func explained(add func(at string, texts ...string)) {
	for _, k := range incident.Kinds() {
		add("kinds", k.Doc, k.Kind.Says())
	}
	for _, g := range incident.Terms() {
		add("terms", g.Title)
		for _, term := range g.Terms {
			add("terms", term.Means, term.Says)
		}
	}
	for _, l := range incident.Labels() {
		e, _ := incident.Explain(l)
		add("labels", e.Means)
		add("labels", slices.Concat(e.Evidence, e.Against, e.First)...)
		for _, x := range e.LookAlikes {
			add("labels", x.Tell)
		}
	}
	for _, f := range parsers.Formats() {
		add("formats", f.Doc)
	}
	for _, f := range parsers.Families() {
		add("formats", f.Doc)
	}
	// What the command library says of its own.
	add("cobra", "Help about any command", "Generate the autocompletion script for the specified shell")
}

// templates are the texts of the built-in runbooks. Commands are not among them.
func templates(t *testing.T) map[string]string {
	t.Helper()
	library, err := runbooks.Load("")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, b := range library.Books() {
		add := func(texts ...string) {
			for _, text := range texts {
				all[text] = "runbooks/" + b.Name + ".yaml"
			}
		}
		add(b.Title, b.About)
		actions := b.Actions
		for _, s := range b.Steps {
			add(s.Ask, s.Body)
			actions = append(slices.Clone(actions), s.Actions...)
		}
		for _, a := range actions {
			add(a.What)
			add(slices.Concat(a.Why, a.Risk)...)
		}
	}
	delete(all, "")
	return all
}

// TestCatalogueIsComplete holds the catalogue to the code and the runbooks: no
// text without a translation, no translation without a text. With -update it
// sorts the catalogue, adds what it lacks and drops what is stale.
func TestCatalogueIsComplete(t *testing.T) {
	want := wanted(t)
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if golden.Updating() {
		rewriteCatalogue(t, string(source), want)
		return
	}
	have := map[string]bool{}
	last := ""
	for _, e := range lang.Entries(string(source)) {
		switch {
		case have[e.Text]:
			t.Errorf("%s:%d: %q stands there twice", file, e.Line, e.Text)
		case e.Text < last:
			t.Errorf("%s:%d: %q is out of order: go test ./lang -update sorts", file, e.Line, e.Text)
		case want[e.Text] == "":
			t.Errorf("%s:%d: stale, nothing says %q: go test ./lang -update drops it", file, e.Line, e.Text)
		case e.Said == "":
			t.Errorf("%s:%d: %q (%s) is not translated", file, e.Line, e.Text, want[e.Text])
		}
		have[e.Text], last = true, e.Text
	}
	for _, text := range slices.Sorted(maps.Keys(want)) {
		if !have[text] {
			t.Errorf("%s has no %q (%s): go test ./lang -update adds it, to be translated", file, text, want[text])
		}
	}
}

// rewriteCatalogue keeps the head of the catalogue and the translations that
// are wanted, and adds what it lacks, to be filled in.
func rewriteCatalogue(t *testing.T, source string, want map[string]string) {
	head, _, _ := strings.Cut(source, "\nen  ")
	said := map[string]string{}
	for _, e := range lang.Entries(source) {
		said[e.Text] = e.Said
	}
	var b strings.Builder
	b.WriteString(strings.TrimRight(head, "\n") + "\n")
	indented := strings.NewReplacer("\n\n", "\n\n    ", "\n", "\n    ")
	for _, text := range slices.Sorted(maps.Keys(want)) {
		fmt.Fprintf(&b, "\nen  %s\nzh  %s\n", marked(indented.Replace(text)), marked(indented.Replace(said[text])))
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// marked writes a space at the end of a text so that it stays there.
func marked(s string) string {
	if stem, ok := strings.CutSuffix(s, " "); ok {
		return stem + "␣"
	}
	return s
}

var (
	verb  = regexp.MustCompile(`%(?:\[(\d+)\])?[-+#0]*\d*(?:\.\d+)?(?:\[(\d+)\])?([a-zA-Z%])`)
	field = regexp.MustCompile(`\{[a-z._/|0-9-]+[^{}]*\}`)
)

// verbs returns the verb of each argument of a format.
func verbs(format string) map[int]string {
	of := map[int]string{}
	next := 1
	for _, m := range verb.FindAllStringSubmatch(format, -1) {
		if m[3] == "%" {
			continue
		}
		if i := m[1] + m[2]; i != "" {
			_, _ = fmt.Sscan(i, &next)
		}
		of[next] += m[3]
		next++
	}
	return of
}

// fields returns the fields of a template without what is said instead of them.
func fields(template string) []string {
	var list []string
	for _, f := range field.FindAllString(template, -1) {
		name, _, _ := strings.Cut(strings.Trim(f, "{}"), "|")
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

var halfWidth = regexp.MustCompile(`\p{Han}[,;?!:]|\p{Han}\.(?:$|\s)`)

// TestTranslationsFit holds translations to the verbs of their formats, the
// fields of their templates, and the form of Chinese texts.
func TestTranslationsFit(t *testing.T) {
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	template := templates(t)
	for _, e := range lang.Entries(string(source)) {
		at := fmt.Sprintf("%s:%d", file, e.Line)
		if e.Said == "" {
			continue // TestCatalogueIsComplete says so
		}
		if a, b := verbs(e.Text), verbs(e.Said); !maps.Equal(a, b) {
			t.Errorf("%s: %q has verbs %v, its translation %v", at, e.Text, a, b)
		}
		if a, b := fields(e.Text), fields(e.Said); template[e.Text] != "" && !slices.Equal(a, b) {
			t.Errorf("%s: %q has fields %v, its translation %v", at, e.Text, a, b)
		}
		if strings.Count(e.Text, "%%") != strings.Count(e.Said, "%%") {
			t.Errorf("%s: %q: the %%%% of its translation are others", at, e.Text)
		}
		if m := halfWidth.FindString(e.Said); m != "" {
			t.Errorf("%s: %q: %q wants a full-width mark", at, e.Text, m)
		}
		if strings.HasSuffix(e.Text, " ") && strings.HasSuffix(e.Said, "： ") {
			t.Errorf("%s: %q: a full-width colon needs no space after it", at, e.Text)
		}
	}
}
