package correlate_test

import (
	"bytes"
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/correlate"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

func jsonOf(t *testing.T, r *incident.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := incident.WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// same fails the test at the first line in which two reports differ.
func same(t *testing.T, what string, a, b []byte) {
	t.Helper()
	if bytes.Equal(a, b) {
		return
	}
	x, y := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			t.Errorf("%s changes the report at line %d:\n%s\n%s", what, i+1, x[i], y[i])
			return
		}
	}
	t.Errorf("%s changes the report's length", what)
}

// TestOrderOfRecords feeds the same records in other orders: the files the other
// way round, and what happened within one millisecond shuffled.
func TestOrderOfRecords(t *testing.T) {
	for _, name := range incidentNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(incidentsRoot, name)
			var files [][]*evidence.Record
			_, err := collector.Collect(context.Background(), []string{dir}, collector.Options{Zone: time.UTC, Exclude: answers(dir)}, func(r *evidence.Record) error {
				if n := len(files); n == 0 || files[n-1][0].Cite.Source != r.Cite.Source {
					files = append(files, nil)
				}
				files[len(files)-1] = append(files[len(files)-1], r.Clone())
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			straight := fed(t, files)
			slices.Reverse(files)
			same(t, "another order of files", straight, fed(t, files))
			random := rand.New(rand.NewPCG(1, 2))
			random.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
			for _, f := range files {
				shuffleMoments(f, random)
			}
			same(t, "another order within milliseconds", straight, fed(t, files))
		})
	}
}

func fed(t *testing.T, files [][]*evidence.Record) []byte {
	t.Helper()
	e := correlate.New(correlate.Config{Version: "test"})
	for _, f := range files {
		for _, r := range f {
			if err := e.Add(r.Clone()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return jsonOf(t, e.Report())
}

// shuffleMoments shuffles runs of records of one millisecond. Dumps stay as they
// are: their threads belong between their beginning and end.
func shuffleMoments(list []*evidence.Record, random *rand.Rand) {
	for i := 0; i < len(list); {
		j := i + 1
		for j < len(list) && movable(list[i]) && movable(list[j]) && list[i].Time.UnixMilli() == list[j].Time.UnixMilli() {
			j++
		}
		run := list[i:j]
		random.Shuffle(len(run), func(a, b int) { run[a], run[b] = run[b], run[a] })
		i = j
	}
}

func movable(r *evidence.Record) bool { return r.Dump == nil && r.Stack == nil && !r.Time.IsZero() }

// TestOrderOfPaths names the parts of the evidence in two orders.
func TestOrderOfPaths(t *testing.T) {
	for _, name := range incidentNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var paths []string
			entries, err := os.ReadDir(filepath.Join(incidentsRoot, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if path := filepath.Join(incidentsRoot, name, e.Name()); !slices.Contains(answers(filepath.Dir(path)), path) {
					paths = append(paths, path)
				}
			}
			report := func() []byte {
				e := correlate.New(correlate.Config{Version: "test"})
				if _, err := collector.Collect(context.Background(), paths, collector.Options{Zone: time.UTC}, e.Add); err != nil {
					t.Fatal(err)
				}
				return jsonOf(t, e.Report())
			}
			straight := report()
			slices.Reverse(paths)
			same(t, "another order of paths", straight, report())
		})
	}
}

// TestOneByteReads reads each file as a stream that gives a byte at a time.
func TestOneByteReads(t *testing.T) {
	err := filepath.WalkDir(incidentsRoot, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "want.json" || d.Name() == "truth.json" || d.Name() == "README.md" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if len(data) > 24<<10 {
			return nil // long files have nothing that short ones have not
		}
		read := func(oneByte bool) []byte {
			o := collector.Options{Zone: time.UTC, Stdin: bytes.NewReader(data)}
			if oneByte {
				o.Stdin = iotest.OneByteReader(o.Stdin)
			}
			e := correlate.New(correlate.Config{Version: "test"})
			if _, err := collector.Collect(context.Background(), []string{"-"}, o, e.Add); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			return jsonOf(t, e.Report())
		}
		same(t, path+": reading byte by byte", read(false), read(true))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestReportsFitTheSchema validates the JSON of every report.
func TestReportsFitTheSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(incident.JSONSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("report.json", doc); err != nil {
		t.Fatal(err)
	}
	schema := c.MustCompile("report.json")
	for _, name := range incidentNames(t) {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(jsonOf(t, conclude(t, name))))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
