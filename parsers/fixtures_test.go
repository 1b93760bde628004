package parsers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/internal/golden"
)

// fixtures lists the samples of all formats: testdata/<format>/<sample>, each
// with <sample>.golden.json beside it.
func fixtures(t testing.TB) []string {
	t.Helper()
	all, err := filepath.Glob("../testdata/*/*")
	if err != nil {
		t.Fatal(err)
	}
	var samples []string
	for _, path := range all {
		dir := filepath.Base(filepath.Dir(path))
		base := filepath.Base(path)
		info, err := os.Stat(path)
		if err != nil || info.IsDir() || dir == "incidents" || dir == "inputs" || dir == "waits" ||
			strings.HasSuffix(base, ".golden.json") || strings.HasSuffix(base, ".go") || base == "README.md" || strings.HasSuffix(base, ".sh") || strings.HasSuffix(base, ".java") {
			continue
		}
		samples = append(samples, path)
	}
	return samples
}

// fixtureModified stands for the modification time of every fixture.
var fixtureModified = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// parsed is everything that reading an input gave, as text.
type parsed struct {
	records []string // as JSON, without Raw
	skips   []string
	err     error
}

func (p parsed) String() string {
	var b strings.Builder
	for _, r := range p.records {
		b.WriteString(r + "\n")
	}
	for _, s := range p.skips {
		b.WriteString("skip: " + s + "\n")
	}
	if p.err != nil {
		fmt.Fprintf(&b, "error: %v\n", p.err)
	}
	return b.String()
}

// read parses r as Read does. Whatever a record lent is overwritten as soon as
// it has been looked at, so that a parser that goes on using it gives itself away.
func read(name string, r io.Reader) parsed {
	return readBy(name, r, Read)
}

// readBy does what read does, with another function than Read.
func readBy(name string, r io.Reader, read func(*Input, Emit) error) parsed {
	var p parsed
	in := NewInput(name, r)
	in.Hint.Modified = fixtureModified
	in.Skip = func(line int, why string) { p.skips = append(p.skips, fmt.Sprintf("line %d: %s", line, why)) }
	p.err = read(in, func(rec *evidence.Record) error {
		raw := rec.Raw
		rec.Raw = nil
		text, err := json.Marshal(rec)
		rec.Raw = raw
		if rec.Access != nil && err == nil {
			text, err = accessText(text, rec.Access)
		}
		if err != nil {
			return err
		}
		p.records = append(p.records, trimNulls(text))
		for i := range rec.Raw {
			rec.Raw[i] = 0xff
		}
		if s := rec.Stack; s != nil {
			clear(s.Frames)
			clear(s.Holds)
		}
		return nil
	})
	return p
}

// trimNulls shortens a record's JSON: payloads that are not
// there say nothing, and who wrote a line stands in the line.
func trimNulls(text []byte) string {
	var m map[string]any
	if json.Unmarshal(text, &m) != nil {
		return string(text)
	}
	for k, v := range m {
		if k == "Logger" || v == nil || v == "" || k == "Zoned" && v == 0.0 || k == "Time" && v == "0001-01-01T00:00:00Z" {
			delete(m, k)
		}
	}
	if s, ok := m["Span"].(map[string]any); ok {
		trimSpan(s)
	}
	if p, ok := m["Place"].(map[string]any); ok {
		for k, v := range p {
			if v == "" {
				delete(p, k)
			}
		}
		if len(p) == 0 {
			delete(m, "Place")
		}
	}
	out, err := json.Marshal(m)
	if err != nil {
		return string(text)
	}
	return string(out)
}

// accessText rewrites the payload of an access-log record so that it can be
// read: slices as text, and nothing of what the line left out.
func accessText(record []byte, a *evidence.Access) ([]byte, error) {
	var m map[string]any
	if err := json.Unmarshal(record, &m); err != nil {
		return nil, err
	}
	fields := m["Access"].(map[string]any)
	for k, v := range map[string][]byte{"Verb": a.Verb, "Path": a.Path, "Host": a.Host, "Client": a.Client, "RequestID": a.RequestID, "Key": a.Key} {
		fields[k] = string(v)
	}
	fields["Outcome"], fields["Side"] = a.Outcome.String(), a.Side.String()
	var tries []string
	for _, u := range a.Upstreams {
		tries = append(tries, fmt.Sprintf("%s status %d took %v connect %v header %v group %d", u.Addr, u.Status, u.Duration, u.Connect, u.Header, u.Group))
	}
	fields["Upstreams"] = tries
	for k, d := range map[string]time.Duration{"Duration": a.Duration, "Queued": a.Queued} {
		if d >= 0 {
			fields[k] = d.String()
		} else {
			fields[k] = ""
		}
	}
	for k, v := range fields {
		if v == "" || v == false || v == nil || k == "Ordinal" && v == 0.0 || k == "Upstreams" && len(tries) == 0 || k == "Attempts" && v == -1.0 {
			delete(fields, k)
		}
	}
	return json.Marshal(m)
}

func TestFixtures(t *testing.T) {
	for _, path := range fixtures(t) {
		format := filepath.Base(filepath.Dir(path))
		name := filepath.Base(path)
		t.Run(format+"/"+name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := read(name, bytes.NewReader(data))
			golden.Check(t, path+".golden.json", []byte(want.String()))

			if len(data) < 256<<10 {
				slow := read(name, iotest.OneByteReader(bytes.NewReader(data)))
				same(t, "read one byte at a time", want, slow)
			}
			if isText(data) && !bytes.Contains(data, []byte("\r\n")) {
				crlf := read(name, bytes.NewReader(bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))))
				same(t, "with CR LF line ends", want, crlf)
			}
			// Cut anywhere: no panic, and no more records than the whole has lines.
			lines := bytes.Count(data, newline) + 1
			for i := range 40 {
				at := len(data) * i / 40
				for _, half := range [][]byte{data[:at], data[at:]} {
					if got := read(name, bytes.NewReader(half)); isText(data) && len(got.records) > 3*lines+len(half)/200 { // JSON may be one line
						t.Errorf("cut at %d: %d records from %d lines", at, len(got.records), lines)
					}
				}
			}
		})
	}
}

func isText(data []byte) bool {
	return !bytes.ContainsAny(data[:min(len(data), 512)], "\x00\x01\x02\x03")
}

func same(t *testing.T, how string, want, got parsed) {
	t.Helper()
	if want.String() == got.String() {
		return
	}
	for i := range max(len(want.records), len(got.records)) {
		var w, g string
		if i < len(want.records) {
			w = want.records[i]
		}
		if i < len(got.records) {
			g = got.records[i]
		}
		if w != g {
			t.Errorf("%s: record %d differs\n got: %s\nwant: %s", how, i, g, w)
			return
		}
	}
	t.Errorf("%s: skips or error differ\n got: %v %v\nwant: %v %v", how, got.skips, got.err, want.skips, want.err)
}

// fuzzFormat is the body of every format's fuzz target: no panic, the same
// records one byte at a time, lines that never go back within a kind of
// evidence's own line order are not required, but never beyond the input.
func fuzzFormat(f *testing.F, format string, seeds ...string) {
	for _, path := range fixtures(f) {
		if filepath.Base(filepath.Dir(path)) == format {
			data, err := os.ReadFile(path)
			if err == nil && len(data) < 64<<10 {
				f.Add(data)
			}
		}
	}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		want := read("fuzz", bytes.NewReader(data))
		got := read("fuzz", iotest.OneByteReader(bytes.NewReader(data)))
		same(t, "read one byte at a time", want, got)
	})
}

// benchFixture reports the speed of reading a text, repeated to some megabytes.
func benchFixture(b *testing.B, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	data = bytes.Repeat(data, max(1, 4<<20/len(data)))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		in := NewInput("bench", bytes.NewReader(data))
		if err := Read(in, func(*evidence.Record) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
