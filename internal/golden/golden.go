// Package golden compares what a test made with a file, and rewrites the file
// when tests run with -update.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Updating reports whether tests are to rewrite their files.
func Updating() bool { return *update }

// Check fails the test, showing the first line that differs, if got is not the
// content of the file at path.
func Check(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v\nrun the test with -update to write it", err)
	}
	if string(got) == string(want) {
		return
	}
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Errorf("%s:%d differs (run with -update to rewrite)\n got: %s\nwant: %s", path, i+1, a, b)
			return
		}
	}
}

// CheckSection does so for the part of a document between <!-- begin NAME --> and
// <!-- end NAME -->, which stand on lines of their own.
func CheckSection(t *testing.T, path, name, got string) {
	t.Helper()
	begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->"
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(doc), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has lost its markers", path)
	}
	Check(t, path, []byte(head+begin+got+end+tail))
}
