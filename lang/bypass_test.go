package lang_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sentence finds three English words in a row: what people read, mostly.
var sentence = regexp.MustCompile(`(?:^|[^\w.$/])[A-Za-z]?[a-z]{2,},? [a-z]{1,},? [a-z]{2,}(?:[ ,.;:)?!]|$)`)

// notForPeople are files whose texts are what firebreak recognises, not what it
// says, or that a machine reads.
var notForPeople = []string{
	"parsers/", "correlate/appframe.go", "correlate/classify", "correlate/leaf.go", "correlate/waitkind.go", "correlate/ledger/", "collector/hint.go",
	"exporter/", "collector/otlp/",
}

// notTranslated are texts that stay as they are, with the reason.
var notTranslated = map[string]string{
	"| Name | Read as | What it is | Checked with | Known by |\n|---|---|---|---|---|\n": "a document in English",
	"lock in share mode":              "SQL",
	"lock in share":                   "SQL",
	"## Nothing to judge No incident": "how a report in English begins",
}

// commands are the beginnings of what people copy into a shell or a database.
var commands = regexp.MustCompile(`^\s*(?:firebreak (?:report|triage|demo) |grep |for i in |GODEBUG=|SELECT )`)

// TestNothingBypassesTheCatalogue looks for sentences in the code that do not go
// through this package.
func TestNothingBypassesTheCatalogue(t *testing.T) {
	used, wanted := map[string]bool{}, wanted(t)
	for _, s := range sources(t) {
		if slices.ContainsFunc(notForPeople, func(prefix string) bool { return strings.HasPrefix(s.name, prefix) }) {
			continue
		}
		through := map[token.Pos]bool{} // literals that are translated
		ast.Inspect(s.file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				for _, arg := range s.translated(call) {
					literals(call.Args[arg.at], func(l *ast.BasicLit) { through[l.Pos()] = true })
				}
			}
			return true
		})
		literals(s.file, func(l *ast.BasicLit) {
			text, err := strconv.Unquote(l.Value)
			if err != nil || through[l.Pos()] || !sentence.MatchString(text) || commands.MatchString(text) || partOf(wanted, text) {
				return
			}
			if notTranslated[text] != "" {
				used[text] = true
				return
			}
			t.Errorf("%s:%d says %q without the catalogue", s.name, s.fset.Position(l.Pos()).Line, text)
		})
	}
	for text := range notTranslated {
		if !used[text] {
			t.Errorf("nothing says %q any more", text)
		}
	}
}

func literals(n ast.Node, do func(*ast.BasicLit)) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				do(n)
			}
		}
		return true
	})
}

// partOf reports texts that the catalogue has, whole or as part of a sum of
// constants: tables that are translated as they are read.
func partOf(wanted map[string]string, text string) bool {
	if wanted[text] != "" {
		return true
	}
	for key := range wanted {
		if len(key) > len(text) && strings.Contains(key, text) {
			return true
		}
	}
	return false
}
