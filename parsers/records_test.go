package parsers

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// recordsOf reads an input and keeps its records.
func recordsOf(t testing.TB, name string, data []byte) ([]*evidence.Record, *Input) {
	t.Helper()
	in := NewInput(name, bytes.NewReader(data))
	in.Hint.Modified = fixtureModified
	var list []*evidence.Record
	if err := Read(in, func(r *evidence.Record) error {
		c := r.Clone()
		c.Raw = nil
		list = append(list, c)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return list, in
}

// written is a file of records.
func written(t testing.TB, origins []Origin, list []*evidence.Record) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewRecordWriter(&b, origins)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if ok, err := w.Write(r); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRecordsReadBackTheSame writes and reads what the samples of all formats
// give.
func TestRecordsReadBackTheSame(t *testing.T) {
	kinds := map[string]int{}
	for _, path := range fixtures(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list, _ := recordsOf(t, path, data)
		back, in := recordsOf(t, "records.jsonl", written(t, nil, list))
		if len(back) != len(list) || in.Tally["firebreak-records"] != len(list) {
			t.Errorf("%s: %d records of %d came back", path, len(back), len(list))
			continue
		}
		for i := range list {
			emptied(reflect.ValueOf(list[i]).Elem())
			v := reflect.ValueOf(list[i]).Elem()
			for f := range v.NumField() {
				if v.Field(f).Kind() == reflect.Pointer && !v.Field(f).IsNil() {
					kinds[v.Type().Field(f).Name]++
				}
			}
			if !reflect.DeepEqual(list[i], back[i]) {
				t.Errorf("%s, record %d:\n%s\nread back:\n%s", path, i, encodeRecord(nil, list[i]), encodeRecord(nil, back[i]))
				break
			}
		}
	}
	if len(kinds) != 12 {
		t.Errorf("the samples have only records of %v", kinds)
	}
}

// emptied makes lists without members nil, times UTC and texts UTF-8, as which
// they are written.
func emptied(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*evidence.Frame]() {
			emptied(v.Elem())
		}
	case reflect.String:
		v.SetString(strings.ToValidUTF8(v.String(), "\ufffd"))
	case reflect.Slice:
		if v.Len() == 0 {
			v.SetZero()
		}
		for i := range v.Len() {
			if v.Type().Elem().Kind() != reflect.Uint8 {
				emptied(v.Index(i))
			}
		}
	case reflect.Struct:
		if t, ok := v.Interface().(time.Time); ok {
			v.Set(reflect.ValueOf(t.UTC()))
			return
		}
		for i := range v.NumField() {
			emptied(v.Field(i))
		}
	}
}

func TestRecordsSayWhatTheyWereReadFrom(t *testing.T) {
	want := []Origin{{Path: "otlp", Format: "otlp-proto", Records: 7, Problems: []string{"one in 2"}}, {Path: "/var/log/a.log", Skipped: 2, Unread: "gone"}}
	_, in := recordsOf(t, "x", written(t, want, nil))
	if !reflect.DeepEqual(in.Origins, want) {
		t.Errorf("%+v", in.Origins)
	}
}

func TestRecordsThatAreDamaged(t *testing.T) {
	head := `{"schema":"firebreak.records/v1","sources":[]}` + "\n"
	good := `{"cite":{"source":"a"},"mark":{"kind":"gc.pause","value":1.5}}`
	for _, c := range []struct {
		name, text string
		records    int
		skips      int
	}{
		{"whole", good, 1, 0},
		{"cut", good[:len(good)-4], 0, 1},
		{"cut between two", good + "\n" + good[:20] + "\n" + good, 2, 1},
		{"no payload", `{"cite":{"source":"a"}}`, 0, 1},
		{"two payloads", `{"mark":{"kind":"x"},"span":{}}`, 0, 1},
		{"number for a text", `{"mark":{"kind":3}}`, 0, 1},
		{"text for a number", `{"mark":{"kind":"x","value":"y"}}`, 0, 1},
		{"number too large", `{"pool":{"max":99999999999999999999}}`, 0, 1},
		{"ID too short", `{"span":{"trace_id":"00"}}`, 0, 1},
		{"of a later version", `{"mark":{"kind":"x","mood":{"a":[1,{"b":"\u00e9"}],"c":null}},"more":[]}`, 1, 0},
		{"a name of a later version", `{"span":{"outcome":"undecided"}}`, 1, 0},
		{"white space", `{ "mark" : { "kind" : "x" , "value" : 2 } }`, 1, 0},
		{"deep", `{"x":` + strings.Repeat("[", 100_000), 0, 1},
		{"an array", `[]`, 0, 1},
		{"nothing", "\n\n", 0, 0},
		{"after it", good + "x", 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var skips []string
			in := NewInput("records.jsonl", strings.NewReader(head+c.text))
			in.Skip = func(line int, why string) { skips = append(skips, fmt.Sprint(line, why)) }
			n := 0
			if err := Read(in, func(*evidence.Record) error { n++; return nil }); err != nil {
				t.Fatal(err)
			}
			if n != c.records || len(skips) != c.skips {
				t.Errorf("%d records, skips %q", n, skips)
			}
		})
	}
	var b bytes.Buffer
	w, err := NewRecordWriter(&b, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := w.Write(&evidence.Record{SQL: &evidence.Statement{Text: strings.Repeat("x", maxLine)}}); ok || err != nil {
		t.Error("a record longer than a line was written", ok, err)
	}
	_ = b
}

func TestKeysOfRecords(t *testing.T) {
	for name, want := range map[string]string{"TraceID": "trace_id", "DBSystem": "db_system", "CPU": "cpu", "MaxFrames": "max_frames", "ID": "id", "PeerAddr": "peer_addr"} {
		if got := snake(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func FuzzRecords(f *testing.F) {
	seed := written(f, []Origin{{Path: "otlp"}}, []*evidence.Record{
		{Time: fixtureModified, Zoned: evidence.Yes, Cite: evidence.Citation{Source: "a", Line: 3}, Span: &evidence.Span{ID: [8]byte{1}, Name: "GET \"x\"\t\u00e9\x1b", Retries: -1}},
		{Stack: &evidence.Stack{Dump: "1", Frames: []*evidence.Frame{{Func: "a.b", File: "b.go", Line: 3, Native: true}}, Labels: map[string]string{"a": "b"}}},
	})
	fuzzFormat(f, "firebreak-records", string(seed))
}

func BenchmarkRecordsWritten(b *testing.B) {
	data, err := os.ReadFile("../testdata/otlp-json/" + firstSample(b, "../testdata/otlp-json"))
	if err != nil {
		b.Fatal(err)
	}
	list, _ := recordsOf(b, "x", data)
	buf := []byte{}
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range list {
			buf = encodeRecord(buf[:0], r)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(list)), "ns/record")
}

func BenchmarkRecordsRead(b *testing.B) {
	data, err := os.ReadFile("../testdata/otlp-json/" + firstSample(b, "../testdata/otlp-json"))
	if err != nil {
		b.Fatal(err)
	}
	list, _ := recordsOf(b, "x", data)
	text := written(b, nil, list)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		_ = Read(NewInput("records.jsonl", bytes.NewReader(text)), func(*evidence.Record) error { return nil })
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(list)), "ns/record")
}

func firstSample(tb testing.TB, dir string) string {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") && !strings.HasSuffix(e.Name(), ".golden.json") || strings.HasSuffix(e.Name(), ".jsonl") {
			return e.Name()
		}
	}
	tb.Fatal("no sample")
	return ""
}
