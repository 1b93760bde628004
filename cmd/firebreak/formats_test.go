package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/internal/golden"
)

// TestFormatsDocument compares docs/formats.md with what the parsers say of
// themselves; with -update it rewrites the table there.
func TestFormatsDocument(t *testing.T) {
	const path, begin, end = "../../docs/formats.md", "<!-- begin formats -->\n", "<!-- end formats -->"
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(doc), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has lost its markers", path)
	}
	var table bytes.Buffer
	if err := formatsMarkdown(&table, allReadable()); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, path, []byte(head+begin+table.String()+end+tail))
}

func TestReadablesAreNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range allReadable() {
		if r.Name == "" || r.Doc == "" || seen[r.Name] {
			t.Errorf("%+v: no name, no description, or named twice", r)
		}
		seen[r.Name] = true
	}
}
