// Command compose writes the composed incidents under testdata/incidents: what
// the servers of fictional shops would have left behind, from templates of the
// formats that real producers print, and beside each a want.json with what a
// person who knows the truth would conclude. Each incident is one function, each
// family of incidents one file. Run it from the project's root:
//
//	go run ./internal/compose
//
// Nothing is random, so the same program writes the same bytes.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// composed is one incident: its evidence and the truth about it.
type composed struct {
	name string
	make func(files)
	want want
}

// want is the truth, as correlate's tests read it.
type want struct {
	Why          string   `json:"why"`
	Label        string   `json:"label"`
	Or           []string `json:"or,omitempty"`        // also accepted, where the evidence honestly cannot tell
	Also         []string `json:"also,omitempty"`      // labels of the further incidents
	Incidents    int      `json:"incidents,omitempty"` // how many; 0: not said
	Chain        []string `json:"chain,omitempty"`     // "role label", in order
	ActFirst     string   `json:"act_first,omitempty"`
	Not          []string `json:"not,omitempty"` // labels that no incident may have
	Edges        []edge   `json:"edges,omitempty"`
	Pools        []pool   `json:"pools,omitempty"`
	SQL          []sql    `json:"sql,omitempty"`
	Paths        []path   `json:"paths,omitempty"`
	Findings     []string `json:"findings,omitempty"`    // kinds of which there must be one
	NoFindings   []string `json:"no_findings,omitempty"` // kinds of which there must be none
	Says         []string `json:"says,omitempty"`        // stand in some note, finding or headline
	MinCertainty string   `json:"min_certainty,omitempty"`
	MaxCertainty string   `json:"max_certainty,omitempty"`
}

// edge is an edge of the report: the first that has all the names given.
type edge struct {
	Consumer      string  `json:"consumer,omitempty"`
	Service       string  `json:"service,omitempty"`
	Method        string  `json:"method,omitempty"`
	Basis         string  `json:"basis,omitempty"`
	Calls         int64   `json:"calls,omitempty"`
	Attempts      int64   `json:"attempts,omitempty"`
	Amplification float64 `json:"amplification,omitempty"`
	Tolerance     float64 `json:"tolerance,omitempty"` // of the numbers; not given: 3 % of the amplification, none of the counts
}

// path is a way on which retries multiply.
type path struct {
	Amplification float64 `json:"amplification"`
	Load          float64 `json:"load,omitempty"`
}

type pool struct {
	Name     string `json:"name"` // contained in the pool's name
	Max      *int   `json:"max,omitempty"`
	Active   *int   `json:"active,omitempty"`
	Queued   *int   `json:"queued,omitempty"`
	Rejected *int   `json:"rejected,omitempty"`
}

type sql struct {
	Contains     string `json:"contains"` // of the fingerprint
	RunningNow   int    `json:"running_now,omitempty"`
	RowsExamined int64  `json:"rows_examined,omitempty"`
	FullScan     *bool  `json:"full_scan,omitempty"`
}

func ptr[T any](v T) *T { return &v }

func main() {
	if err := write("testdata/incidents"); err != nil {
		fmt.Fprintln(os.Stderr, "compose:", err)
		os.Exit(1)
	}
}

// write writes all incidents below root, in place of what was there.
func write(root string) error {
	seen := map[string]bool{}
	for _, c := range slices.Concat(families()...) {
		if seen[c.name] {
			return fmt.Errorf("two incidents are named %s", c.name)
		}
		seen[c.name] = true
		f := files{}
		c.make(f)
		truth, err := wantJSON(c.want)
		if err != nil {
			return err
		}
		f.at("want.json").Write(truth)
		if err := os.RemoveAll(filepath.Join(root, c.name)); err != nil {
			return err
		}
		for file, text := range f {
			path := filepath.Join(root, c.name, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func wantJSON(w want) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(w)
	return b.Bytes(), err
}

// noon is when most incidents begin.
var noon = time.Date(2026, 3, 14, 10, 2, 11, 0, time.UTC)

// spread gives numbers below n that look irregular and are always the same.
func spread(i, n int) int { return (i*7919 + i*i*31 + 13) % n }

// after is noon plus some milliseconds.
func after(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }

func minutes(n int) time.Duration { return time.Duration(n) * time.Minute }

// firstLine is a text up to its first line's end.
func firstLine(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return first
}
