package parsers

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/firebreak-io/firebreak/evidence"
)

// protoOf encodes lines of OTLP JSON as requests, by pdata.
func protoOf(t testing.TB, lines []byte) [][]byte {
	t.Helper()
	var requests [][]byte
	for line := range bytes.Lines(lines) {
		var from ptrace.JSONUnmarshaler
		traces, err := from.UnmarshalTraces(line)
		if err != nil {
			t.Fatalf("%v in %.200s", err, line)
		}
		var to ptrace.ProtoMarshaler
		b, err := to.MarshalTraces(traces)
		if err != nil {
			t.Fatal(err)
		}
		requests = append(requests, b)
	}
	return requests
}

// framed puts requests behind each other as the file exporter does.
func framed(requests ...[]byte) []byte {
	var b []byte
	for _, r := range requests {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(r))), r...)
	}
	return b
}

// bare returns records without what only text has: their lines.
func bare(p parsed) string {
	var b strings.Builder
	for _, r := range p.records {
		if i := strings.Index(r, "#trace"); i >= 0 {
			r = r[i:]
		}
		b.WriteString(r + "\n")
	}
	return b.String()
}

// TestOTLPEncodingsAgree holds the reader of JSON to what pdata makes of the
// same lines, and all ways of writing protobuf to each other.
func TestOTLPEncodingsAgree(t *testing.T) {
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string][]byte{"generated": otlpLines(250)}
	for _, path := range fixtures(t) {
		if filepath.Base(filepath.Dir(path)) != "otlp-json" || !strings.HasSuffix(path, ".jsonl") || strings.Contains(path, "/composed-") || strings.Contains(path, "/logs-") {
			continue
		}
		if samples[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	for name, lines := range samples {
		want := read(name, bytes.NewReader(lines))
		requests := protoOf(t, lines)
		var packed, packedJSON [][]byte
		for _, r := range requests {
			packed = append(packed, packer.EncodeAll(r, nil))
		}
		for line := range bytes.Lines(lines) {
			packedJSON = append(packedJSON, packer.EncodeAll(line, nil))
		}
		for how, data := range map[string][]byte{
			"frames": framed(requests...), "one request": bytes.Join(requests, nil),
			"packed frames": framed(packed...), "packed JSON": framed(packedJSON...),
		} {
			got := read(name, bytes.NewReader(data))
			if bare(got) != bare(want) || len(got.records) == 0 {
				same(t, name+" as "+how, parsed{records: strings.Split(bare(want), "\n")}, parsed{records: strings.Split(bare(got), "\n")})
			}
		}
	}
}

// TestOTLPProtoCut reads everything in front of a cut, anywhere.
func TestOTLPProtoCut(t *testing.T) {
	requests := protoOf(t, otlpLines(300))
	data := framed(requests...)
	for at := 0; at < len(data); at += len(data)/97 + 1 {
		got := read("cut", bytes.NewReader(data[:at]))
		if got.err != nil || len(got.records)%100 != 0 || len(got.skips) > 1 {
			t.Fatalf("cut at %d: %d records, %v %v", at, len(got.records), got.skips, got.err)
		}
		if whole := at / (4 + len(requests[0])); at > 5000 && len(got.records) < 100*whole {
			t.Errorf("cut at %d: %d records of %d whole requests", at, len(got.records), whole)
		}
	}
}

// TestOTLPOtherSignals passes by logs and metrics in the same file.
func TestOTLPOtherSignals(t *testing.T) {
	const lines = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"x"}}]}]}]}
{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"x"}]}]}]}
{"resourceMetrics":[]}
`
	in := NewInput("x", strings.NewReader(lines))
	in.Skip = func(line int, why string) { t.Errorf("line %d: %s", line, why) }
	if err := Read(in, func(*evidence.Record) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if in.Tally["otlp-json"] != 1 || in.Tally["otlp-logs"] != 1 || in.Tally["otlp-metrics"] != 1 {
		t.Errorf("tally %v", in.Tally)
	}
}

// TestOTLPSmallFrames reads many small requests in JSON: each must not cost
// buffers of its own.
func TestOTLPSmallFrames(t *testing.T) {
	const n = 4000
	one := []byte(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"order"}}]},"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"GET /a","kind":2,"startTimeUnixNano":"1773482400000000000","endTimeUnixNano":"1773482400010000000"}]}]}]}`)
	var file bytes.Buffer
	for range n {
		file.Write(framed(one))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	spans := 0
	if err := Read(NewInput("traces.bin", &file), func(r *evidence.Record) error { spans++; return nil }); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / n; spans != n || each > 16<<10 {
		t.Errorf("%d spans, %d bytes allocated for each", spans, each)
	}
}

func FuzzOTLPProto(f *testing.F) {
	requests := protoOf(f, otlpLines(3))
	fuzzFormat(f, "otlp-proto", string(requests[0]), string(framed(requests...)))
}

func BenchmarkOTLPProto(b *testing.B) {
	benchSpans(b, framed(protoOf(b, otlpLines(20_000))...), 20_000)
}

// What stands where a short pair of texts would is taken apart alike by the
// quick way and by the general one.
func TestShortPairs(t *testing.T) {
	long := strings.Repeat("x", 300)
	text := func(field byte, s string) []byte {
		return append(binary.AppendUvarint([]byte{field<<3 | 2}, uint64(len(s))), s...)
	}
	for _, name := range []string{"", "k", "http.request.method", long} {
		for _, value := range [][]byte{{}, text(1, ""), text(1, "GET"), text(1, long), {0x18, 0xc8, 0x01}, {0x10, 1}, {0x10, 2}, {0x18}, {0x0a, 9, 'x'}, {0x18, 1, 0x18, 2}} {
			for _, turned := range []bool{false, true} {
				msg := append(text(1, name), text(2, string(value))...)
				if turned {
					msg = append(text(2, string(value)), text(1, name)...)
				}
				wantName, want := (&otlpProto{}).keyValue(msg)
				gotName, v, ok := protoPair(msg)
				if !ok || string(gotName) != string(wantName) || string(v) != string(value) {
					t.Fatalf("%x: %q %x %v", msg, gotName, v, ok)
				}
				if got, ok := protoScalar(v); ok && (got.kind != want.kind || got.n != want.n || string(got.text) != string(want.text)) {
					t.Errorf("%x: %+v, want %+v", v, got, want)
				}
				if _, _, ok := protoPair(msg[:len(msg)-1]); ok && len(msg) > 4 {
					t.Errorf("%x is cut", msg)
				}
			}
		}
	}
}

// A name is found whichever stood in its slot before.
func TestNameCache(t *testing.T) {
	var c nameCache
	for range 2 {
		for name, want := range spanNameOf {
			if at, ok := c.find([]byte(name)); !ok || at != want {
				t.Errorf("%s: %v %v", name, at, ok)
			}
			if _, ok := c.find([]byte(name + ".not")); ok {
				t.Errorf("%s.not is known", name)
			}
		}
	}
}
