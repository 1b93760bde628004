package incident

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

func TestEveryLabelIsExplained(t *testing.T) {
	for _, l := range Labels() {
		e, ok := Explain(l)
		if !ok || e.Means == "" || len(e.Evidence) == 0 || len(e.Against) == 0 || len(e.First) == 0 || len(e.LookAlikes) == 0 {
			t.Errorf("%s is not explained in full: %+v", l, e)
		}
		for _, a := range e.LookAlikes {
			if _, ok := Explain(a.Label); !ok || a.Label == l {
				t.Errorf("%s looks like %q?", l, a.Label)
			}
		}
	}
}

// TestEveryKindIsDocumented compares the list with the constants.
func TestEveryKindIsDocumented(t *testing.T) {
	docs := map[string]string{}
	for _, k := range Kinds() {
		docs[string(k.Kind)] = k.Doc
	}
	file, err := parser.ParseFile(token.NewFileSet(), "kind.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		kind, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		n++
		if docs[kind] == "" {
			t.Errorf("%s (%s) is not in Kinds", spec.Names[0].Name, kind)
		}
		return true
	})
	if n != len(docs) {
		t.Errorf("%d constants, %d documented", n, len(docs))
	}
}

// TestEveryWordIsExplained holds that each kind says what it speaks for, and
// that each wait kind, role and certainty is a term, with a name of its own.
func TestEveryWordIsExplained(t *testing.T) {
	names := map[string]bool{}
	for _, l := range Labels() {
		names[string(l)] = true
	}
	for _, k := range Kinds() {
		if len(strings.Fields(k.Kind.Says())) < 5 {
			t.Errorf("%s says %q", k.Kind, k.Kind.Says())
		}
		names[string(k.Kind)] = true
	}
	if len(says) != len(Kinds()) {
		t.Errorf("%d kinds say something, %d are documented", len(says), len(Kinds()))
	}
	terms := map[string]bool{}
	for _, g := range Terms() {
		for _, term := range g.Terms {
			if names[term.Name] || terms[term.Name] || term.Means == "" || term.Says == "" {
				t.Errorf("%q is twice, or not explained", term.Name)
			}
			terms[term.Name] = true
		}
	}
	for _, w := range []string{"trigger", "amplifier", "victim", "high", "medium", "low"} {
		if !terms[w] {
			t.Errorf("%q is no term", w)
		}
	}
	for _, k := range Kinds() {
		if wait, ok := strings.CutPrefix(string(k.Kind), "stack."); ok && !terms[wait] {
			t.Errorf("%q is no term, and %s is a kind", wait, k.Kind)
		}
	}
}
