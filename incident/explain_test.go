package incident

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
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
