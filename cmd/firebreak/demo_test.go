package main

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/internal/golden"
)

// The built-in incidents are those of testdata/incidents, without what tells
// the answer.
func TestDemosAreTheirFolders(t *testing.T) {
	for _, d := range demos() {
		root := filepath.Join("../../testdata/incidents", d.from)
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), "want.") || e.Name() == "README.md" {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			w, err := z.CreateHeader(&zip.FileHeader{Name: filepath.ToSlash(rel), Method: zip.Deflate, Modified: time.Date(2026, 3, 14, 10, 12, 0, 0, time.UTC)})
			if err != nil {
				return err
			}
			_, err = io.Copy(w, bytes.NewReader(data))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, filepath.Join("demos", d.name+".zip"), b.Bytes())
	}
}

func TestDemosGetTheirLabels(t *testing.T) {
	want := map[string]string{"slow-sql": "slow-sql", "two-layers": "slow-sql", "unsure": "inconclusive"}
	for _, d := range demos() {
		dir := t.TempDir()
		if err := d.layOut(dir); err != nil {
			t.Fatal(err)
		}
		r, _, err := analyse(context.Background(), request{paths: []string{dir}, zone: time.UTC}, func(progress) {})
		if err != nil || len(r.Incidents) != 1 {
			t.Fatalf("%s: %v, %d incidents", d.name, err, len(r.Incidents))
		}
		if got := string(r.Incidents[0].Label); got != want[d.name] {
			t.Errorf("%s is labelled %s", d.name, got)
		}
		for _, g := range d.guide {
			if g.Say == "" || g.Do == "" && g.At == "" {
				t.Errorf("%s has a step without words or keys", d.name)
			}
		}
	}
}
