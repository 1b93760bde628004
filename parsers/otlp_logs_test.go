package parsers

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// asOTLP is a log as the Collector's filelog receiver takes it in, a record a
// line, so many to a request.
func asOTLP(text []byte, batch int) []plog.Logs {
	var all []plog.Logs
	var records plog.LogRecordSlice
	n := 0
	for line := range bytes.Lines(text) {
		if n%batch == 0 {
			logs := plog.NewLogs()
			all = append(all, logs)
			records = logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
		}
		n++
		r := records.AppendEmpty()
		r.SetObservedTimestamp(pcommon.Timestamp(1773479553000000000 + n))
		r.Body().SetStr(string(bytes.TrimRight(line, "\r\n")))
		r.Attributes().PutStr("log.file.name", "app.log")
	}
	return all
}

// aside is what stands beside a record in OTLP, or cites it: not in the line.
var aside = regexp.MustCompile(`"(Time|Zoned)":("[^"]*"|\d+),?|"Cite":"[^"]*",?|"Place":\{[^}]*\},?`)

// told returns records without that, in order.
func told(p parsed) parsed {
	out := parsed{skips: p.skips, err: p.err}
	for _, r := range p.records {
		if strings.Contains(r, `"app.error"`) { // counted over stretches of time, which batches cut
			continue
		}
		out.records = append(out.records, strings.ReplaceAll(aside.ReplaceAllString(r, ""), ",}", "}"))
	}
	slices.Sort(out.records)
	return out
}

// TestOTLPLogsAreLogs holds records of raw lines to the same lines in a file.
func TestOTLPLogsAreLogs(t *testing.T) {
	for _, path := range fixtures(t) {
		if filepath.Base(filepath.Dir(path)) != "app-log" || !strings.HasSuffix(path, ".log") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := read(path, bytes.NewReader(text))
		var lines bytes.Buffer
		var frames [][]byte
		for _, logs := range asOTLP(text, 1) {
			line, err := (&plog.JSONMarshaler{}).MarshalLogs(logs)
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(append(line, '\n'))
		}
		for _, logs := range asOTLP(text, 7) {
			frame, err := (&plog.ProtoMarshaler{}).MarshalLogs(logs)
			if err != nil {
				t.Fatal(err)
			}
			frames = append(frames, frame)
		}
		asJSON, asProto := read(path, &lines), read(path, bytes.NewReader(framed(frames...)))
		same(t, path+" as JSON", told(want), told(asJSON))
		same(t, path+" as protobuf", told(want), told(asProto))
	}
}
