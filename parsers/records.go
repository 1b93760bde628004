package parsers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Records are what firebreak itself writes into an incident's bundle since
// bundles exist: a line that says what they were read from, then one record a
// line, as the engine was given it:
//
//	{"schema":"firebreak.records/v1","sources":[{"path":"otlp","format":"otlp-proto","records":2},{"path":"/var/log/shop/order.log","format":"app-log","records":1,"skipped":3,"problems":["line 7: …"]}]}
//	{"time":"2026-03-14T09:30:00.12Z","zoned":"yes","place":{"service":"order"},"cite":{"source":"otlp"},"span":{"trace_id":"5b8e…","id":"eee1…","kind":3,"duration":120000000,"outcome":"timeout","protocol":"dubbo","retries":-1}}
//	{"time":"2026-03-14T09:30:01Z","zoned":"yes","cite":{"source":"/var/log/shop/order.log","line":1201},"pool":{"name":"DubboServerHandler","kind":"thread","max":200,"active":200,"idle":-1}}
//
// Keys are the fields of package evidence in snake_case, enumerations their
// names, durations nanoseconds, IDs hexadecimal; -1 is "not stated", and what is
// left out is zero. A record that is read back is the one that was written,
// whatever parser made it: the same engine comes to the same numbers.
func recordsFormat() Format {
	return Format{
		Name:     "firebreak-records",
		Doc:      "Records that firebreak serve froze into the bundle of an incident",
		Versions: "firebreak.records/v1",
		Signs:    []string{`{"schema":"firebreak.records/v1", in the first line`},
		Sniff: func(_ string, head []byte) Match {
			if bytes.HasPrefix(head, []byte(recordsHead)) {
				return Sure
			}
			return No
		},
		Parse: parseRecords,
	}
}

const (
	recordsSchema = "firebreak.records/v1"
	recordsHead   = `{"schema":"firebreak.records/`
)

// Origin is one of the sources that records were read from before they were
// written.
type Origin struct {
	Path     string    `json:"path"`
	Format   string    `json:"format,omitempty"`
	Bytes    int64     `json:"bytes,omitempty"`
	Records  int       `json:"records,omitempty"`
	Skipped  int       `json:"skipped,omitempty"`
	From     time.Time `json:"from,omitzero"`
	To       time.Time `json:"to,omitzero"`
	Problems []string  `json:"problems,omitempty"`
	Unread   string    `json:"unread,omitempty"`
}

// Beside begins the source of a citation that is a path from the folder in which
// the records stand.
const Beside = "./"

// maxOrigins bounds the sources that a file of records may name.
const maxOrigins = 5000

// RecordWriter writes records that Read reads back.
type RecordWriter struct {
	w   *bufio.Writer
	buf []byte
}

// NewRecordWriter writes the first line.
func NewRecordWriter(w io.Writer, sources []Origin) (*RecordWriter, error) {
	rw := &RecordWriter{w: bufio.NewWriterSize(w, 64<<10)}
	head, err := json.Marshal(struct {
		Schema  string   `json:"schema"`
		Sources []Origin `json:"sources"`
	}{recordsSchema, sources[:min(len(sources), maxOrigins)]})
	if err != nil {
		return nil, err
	}
	_, err = rw.w.Write(append(head, '\n'))
	return rw, err
}

// Write writes a record, but for the text that it came from. A record that takes
// more than a line may have is left out, and Write says so.
func (w *RecordWriter) Write(r *evidence.Record) (written bool, err error) {
	bare := *r
	bare.Raw = nil
	w.buf = append(encodeRecord(w.buf[:0], &bare), '\n')
	if len(w.buf) > maxLine {
		return false, nil
	}
	_, err = w.w.Write(w.buf)
	return true, err
}

// Flush writes what is still held.
func (w *RecordWriter) Flush() error { return w.w.Flush() }

// parseRecords reads what a RecordWriter wrote.
func parseRecords(in *Input, emit Emit) error {
	folder := in.Name[:strings.LastIndexAny(in.Name, "/!")+1]
	d := recordReader{frames: map[string]*evidence.Frame{}, names: &interner{}}
	for in.Lines.Next() {
		line := in.Lines.Bytes()
		switch {
		case len(line) == 0:
		case bytes.HasPrefix(line, []byte(recordsHead)):
			var head struct {
				Schema  string
				Sources []Origin
			}
			if json.Unmarshal(line, &head) != nil {
				in.Skip(in.Lines.Number(), "JSON is broken")
				continue
			}
			if head.Schema != recordsSchema {
				in.Skip(in.Lines.Number(), "records of a later firebreak: what this one does not know is left out")
			}
			in.Origins = append(in.Origins, head.Sources[:min(len(head.Sources), maxOrigins-len(in.Origins))]...)
		default:
			r := d.record(line)
			if r == nil {
				in.Skip(in.Lines.Number(), "a record that cannot be read")
				continue
			}
			if beside, ok := strings.CutPrefix(r.Cite.Source, Beside); ok {
				r.Cite.Source = d.names.text(folder + beside)
			}
			if err := emit(r); err != nil {
				return err
			}
		}
	}
	return in.Lines.Err()
}

// snake makes a field's name a key: TraceID is trace_id.
func snake(name string) string {
	var b strings.Builder
	upper := func(i int) bool { return i < len(name) && name[i] >= 'A' && name[i] <= 'Z' }
	for i := range len(name) {
		if upper(i) && i > 0 && (!upper(i-1) || i+1 < len(name) && !upper(i+1)) {
			b.WriteByte('_')
		}
		b.WriteByte(name[i] | 0x20)
	}
	return b.String()
}
