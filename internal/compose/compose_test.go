package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFixturesAreComposed holds that the files in the repository are what this
// program writes.
func TestFixturesAreComposed(t *testing.T) {
	made, kept := t.TempDir(), "../../testdata/incidents"
	if err := write(made); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]string{{made, kept}, {kept, made}} {
		err := filepath.WalkDir(pair[0], func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(pair[0], path)
			if err != nil {
				return err
			}
			if rel == "README.md" || strings.HasPrefix(rel, "judge") || strings.HasPrefix(rel, "lab-") { // written by hand, or captured
				return nil
			}
			a, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b, err := os.ReadFile(filepath.Join(pair[1], rel))
			if err != nil {
				t.Errorf("only one side has it: %v", err)
				return nil
			}
			// How well gzip packs depends on the release of Go.
			if string(a) != string(b) && !strings.HasSuffix(rel, ".gz") {
				t.Errorf("%s differs: go run ./internal/compose", rel)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
