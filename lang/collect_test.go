package lang_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// spoken are the folders whose code speaks to people.
var spoken = []string{"cmd", "collector", "correlate", "incident", "parsers", "runbooks", "tui", "simulate", "exporter", "capture", "document"}

// wrappers are functions of a folder that translate one of their arguments, by
// its place: -1 for a noun of plural's, of which the key is "%s" and the plural.
var wrappers = map[string]map[string][]int{
	"incident":  {"add": {1}, "heading": {0}, "row": {1}},
	"correlate": {"fill": {0}},
	"runbooks":  {"complain": {1}, "Problem": {1}, "fields": {1}, "oneOf": {1}, "sequence": {1}},
	"collector": {"problem": {1}, "unread": {1}, "consequence": {1}},
	"document":  {"Problem": {1}},
	"parsers":   {"Skip": {1}},
	"cmd":       {"usagef": {1}, "complain": {1}, "refuse": {1}, "Problem": {1}},
	"simulate":  {"say": {0}, "known": {2}, "unknown": {1}, "need": {2}, "add": {1}},
}

// source is one parsed file.
type source struct {
	name, folder string
	file         *ast.File
	fset         *token.FileSet
	consts       map[string]string // of its package
}

// sources parses all code that speaks, tests left out.
func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	consts := map[string]map[string]string{}
	for _, folder := range spoken {
		err := filepath.WalkDir("../"+folder, func(name string, d fs.DirEntry, err error) error {
			switch {
			case d == nil: // the folder is not there yet
				return nil
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, name, nil, 0)
			if err != nil {
				return err
			}
			dir := filepath.Dir(name)
			if consts[dir] == nil {
				consts[dir] = map[string]string{}
			}
			constants(file, consts[dir])
			list = append(list, source{strings.TrimPrefix(filepath.ToSlash(name), "../"), folder, file, fset, consts[dir]})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// constants adds the string constants of a file.
func constants(file *ast.File, to map[string]string) {
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			for i, name := range v.Names {
				if i < len(v.Values) {
					if text, ok := literal(v.Values[i], nil); ok {
						to[name.Name] = text
					}
				}
			}
		}
	}
}

// literal returns the value of a string that is written out: literals, constants
// of the package, and sums of them.
func literal(e ast.Expr, consts map[string]string) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.Ident:
		s, ok := consts[e.Name]
		return s, ok
	case *ast.ParenExpr:
		return literal(e.X, consts)
	case *ast.BinaryExpr:
		a, okA := literal(e.X, consts)
		b, okB := literal(e.Y, consts)
		return a + b, okA && okB && e.Op == token.ADD
	}
	return "", false
}

// texts calls say with each text that a file passes on to be translated, and
// where.
func (s *source) texts(say func(at token.Position, text string)) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		for _, arg := range s.translated(call) {
			if text, ok := literal(call.Args[arg.at], s.consts); ok && text != "" {
				if arg.noun {
					text = "%s " + text
				}
				say(s.fset.Position(call.Args[arg.at].Pos()), text)
			}
		}
		if name, _ := callee(call); name == "plural" && s.folder == "correlate" && len(call.Args) == 2 {
			if noun, ok := literal(call.Args[1], s.consts); ok {
				say(s.fset.Position(call.Pos()), "%s "+many(noun))
			}
		}
		return true
	})
}

type argument struct {
	at   int
	noun bool
}

// translated returns which arguments of a call are translated.
func (s *source) translated(call *ast.CallExpr) []argument {
	name, of := callee(call)
	if of == "lang" {
		switch name {
		case "T", "Mark", "Sprintf", "Errorf", "NewError", "Word", "Upper":
			return []argument{{0, false}}
		case "Plural":
			return []argument{{3, true}}
		case "In":
			return []argument{{1, false}}
		}
		return nil
	}
	if name == "plural" && s.folder != "correlate" && len(call.Args) == 3 {
		return []argument{{2, true}}
	}
	var list []argument
	for _, i := range wrappers[s.folder][name] {
		if i < len(call.Args) {
			list = append(list, argument{i, false})
		}
	}
	return list
}

// callee returns the name of the function that is called, and of what.
func callee(call *ast.CallExpr) (name, of string) {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name, ""
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			of = x.Name
		}
		return f.Sel.Name, of
	}
	return "", ""
}

// many is the plural that correlate's findings make of a noun.
func many(noun string) string {
	if stem := strings.TrimSuffix(noun, "y"); stem != noun && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return stem + "ies"
	}
	return noun + "s"
}
