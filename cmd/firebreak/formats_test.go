package main

import (
	"bytes"
	"testing"

	"github.com/firebreak-io/firebreak/internal/golden"
)

// TestFormatsDocument compares docs/formats.md with what the parsers say of
// themselves; with -update it rewrites the table there.
func TestFormatsDocument(t *testing.T) {
	var table bytes.Buffer
	if err := formatsMarkdown(&table, allReadable()); err != nil {
		t.Fatal(err)
	}
	golden.CheckSection(t, "../../docs/formats.md", "formats", table.String())
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
