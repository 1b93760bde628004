package document

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Load reads the one document of a file. Its root is nil if there is none; what
// is wrong with its form are problems.
func (f *File) Load(text []byte) (root *yaml.Node, problems Problems) {
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return nil, f.broken(err)
	}
	var doc, more yaml.Node
	if err := loader.Load(&doc); err != nil {
		return nil, f.broken(err)
	}
	switch err := loader.Load(&more); {
	case err == nil:
		problems = append(problems, f.Problem(PlaceOf(&more), "a second document: a file holds one"))
	case !errors.Is(err, io.EOF):
		return nil, f.broken(err)
	}
	if len(doc.Content) == 1 {
		root = doc.Content[0]
	}
	return root, problems
}

// broken says where a text stops being YAML.
func (f *File) broken(err error) Problems {
	if errors.Is(err, io.EOF) {
		return Problems{f.Problem(Place{}, "the file is empty")}
	}
	var bad *yaml.LoadError
	if errors.As(err, &bad) {
		if tab := f.indentedByTab(bad.Mark.Line); tab > 0 {
			return Problems{f.Problem(Place{bad.Mark.Line, tab}, "a tab: YAML is indented by spaces, and tabs are not allowed for it")}
		}
		return Problems{f.Problem(Place{bad.Mark.Line, max(1, bad.Mark.Column)}, "%s", bad.Message)}
	}
	return Problems{f.Problem(Place{}, "%s", strings.TrimPrefix(err.Error(), "yaml: "))}
}

// indentedByTab returns the column of a tab in the indentation of a line; 0 if
// there is none.
func (f *File) indentedByTab(n int) int {
	if n < 1 || n > len(f.Lines) {
		return 0
	}
	line := f.Lines[n-1]
	blank := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	return strings.IndexByte(blank, '\t') + 1
}

// PlaceOf is where a node stands.
func PlaceOf(n *yaml.Node) Place { return Place{n.Line, max(1, n.Column)} }

// Real follows an alias.
func Real(n *yaml.Node) *yaml.Node {
	for range 10 {
		if n.Kind != yaml.AliasNode || n.Alias == nil {
			break
		}
		n = n.Alias
	}
	return n
}
