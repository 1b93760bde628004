package parsers

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestTraceFormatsAgree reads the same trace from every format: what a finding
// would be made of must not depend on who stored it.
func TestTraceFormatsAgree(t *testing.T) {
	for _, name := range []string{"f01-okhttp-numbered-resends", "f04-mesh-three-servers"} {
		want := spansOf(t, "../testdata/otlp-json/"+name+".jsonl")
		for _, path := range []string{
			"../testdata/otlp-json/tempo-v1-" + name + ".json", "../testdata/otlp-proto/" + name + ".binpb",
			"../testdata/otlp-proto/" + name + "-zstd.binpb", "../testdata/jaeger/" + name + ".json", "../testdata/zipkin/" + name + ".json",
		} {
			got := spansOf(t, path)
			if len(got) != len(want) || len(want) < 5 {
				t.Errorf("%s: %d spans, want %d", path, len(got), len(want))
				continue
			}
			for i := range want {
				for key, v := range want[i] {
					// Zipkin lowers names; only OTLP says whether a parent is remote.
					if key != "Name" && key != "Remote" && !reflect.DeepEqual(v, got[i][key]) {
						t.Errorf("%s: span %d: %s is %v, want %v", path, i, key, got[i][key], v)
					}
				}
			}
		}
	}
}

func spansOf(t *testing.T, path string) []map[string]any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := read(path, bytes.NewReader(data))
	if p.err != nil || len(p.skips) > 0 {
		t.Errorf("%s: %v %v", path, p.skips, p.err)
	}
	var spans []map[string]any
	for _, r := range p.records {
		var rec struct{ Span map[string]any }
		if err := json.Unmarshal([]byte(r), &rec); err != nil {
			t.Fatal(err)
		}
		spans = append(spans, rec.Span)
	}
	return spans
}

// TestSpanNamesAreKnownOnce holds that no attribute name means two things, and
// that docs/formats.md lists every one.
func TestSpanNamesAreKnownOnce(t *testing.T) {
	doc, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for f, names := range spanNames {
		if len(names) == 0 {
			t.Errorf("field %d has no names", f)
		}
		for _, name := range names {
			if seen[name] {
				t.Errorf("%s stands twice", name)
			}
			seen[name] = true
			if !strings.Contains(string(doc), "`"+name+"`") {
				t.Errorf("docs/formats.md does not name %s", name)
			}
		}
	}
}
