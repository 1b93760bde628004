// Command compose writes the composed incidents under testdata/incidents: what
// the servers of a fictional shop would have left behind, from templates of the
// formats that real producers print. Each incident is one function. Run it from
// the project's root:
//
//	go run ./internal/compose
//
// Numbers come from a fixed seed, so the same program writes the same bytes.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// files are an incident's files by name.
type files map[string]*strings.Builder

// at returns the file of a name.
func (f files) at(name string) *strings.Builder {
	if f[name] == nil {
		f[name] = &strings.Builder{}
	}
	return f[name]
}

func (f files) printf(name, format string, args ...any) { fmt.Fprintf(f.at(name), format, args...) }

// incidents lists all composed incidents.
var incidents = map[string]func(files){
	"reference-slow-sql-retries": reference,
}

func main() {
	root := "testdata/incidents"
	for name, make := range incidents {
		f := files{}
		make(f)
		for file, text := range f {
			path := filepath.Join(root, name, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				fail(err)
			}
			if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
				fail(err)
			}
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "compose:", err)
	os.Exit(1)
}

// noon is when most incidents begin.
var noon = time.Date(2026, 3, 14, 10, 2, 11, 0, time.UTC)
