package collector

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

// numbered is a log whose lines say their numbers.
func numbered(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "this is line %d\n", i)
	}
	return b.String()
}

func TestExcerptShowsTheLineThatIsCited(t *testing.T) {
	dir := t.TempDir()
	log := []byte(numbered(50))
	var packed bytes.Buffer
	gz := gzip.NewWriter(&packed)
	tw := tar.NewWriter(gz)
	for _, name := range []string{"other.log", "app/app.log"} {
		must(t, tw.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(log))}))
		_, err := tw.Write(log)
		must(t, err)
	}
	must(t, tw.Close())
	must(t, gz.Close())
	for name, data := range map[string][]byte{"plain.log": log, "crlf.log": []byte(strings.ReplaceAll(string(log), "\n", "\r\n")), "scene.tar.gz": packed.Bytes()} {
		must(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	for _, tt := range []struct {
		source      string
		line        int
		first, last int
		onDisk      bool
	}{
		{"plain.log", 20, 18, 23, true},
		{"crlf.log", 20, 18, 23, true},
		{"plain.log", 1, 1, 4, true},
		{"plain.log", 50, 48, 50, true},
		{"plain.log", 0, 1, 4, true},
		{"scene.tar.gz!app/app.log", 20, 18, 23, false},
	} {
		got, err := Excerpt(context.Background(), []string{dir}, Options{}, evidence.Citation{Source: tt.source, Line: tt.line}, 2, 3)
		if err != nil {
			t.Errorf("%s:%d: %v", tt.source, tt.line, err)
			continue
		}
		last := got.First + len(got.Lines) - 1
		if got.First != tt.first || last != tt.last || got.Lines[0] != fmt.Sprintf("this is line %d", tt.first) || (got.Path != "") != tt.onDisk || got.More != (tt.last < 50) {
			t.Errorf("%s:%d: lines %d to %d, %q, path %q, more %v", tt.source, tt.line, got.First, last, got.Lines[0], got.Path, got.More)
		}
	}
	for _, c := range []evidence.Citation{{Source: "gone.log", Line: 1}, {Source: "scene.tar.gz!gone.log", Line: 1}, {Source: "stdin", Line: 3}} {
		if _, err := Excerpt(context.Background(), []string{dir, "-"}, Options{}, c, 2, 3); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", c.Source, err)
		}
	}
	if _, err := Excerpt(context.Background(), []string{dir}, Options{}, evidence.Citation{Source: "plain.log", Line: 99}, 2, 3); err == nil {
		t.Error("a line past the end was found")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
