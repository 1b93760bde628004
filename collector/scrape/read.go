package scrape

import (
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/parsers"
)

// maxReasons bounds the reasons that are counted apart.
const maxReasons = 50

// read hands on an answer, as a source of its own: what is cited is this answer.
func (t *target) read(sink collector.Sink, body []byte, at time.Time) error {
	at = at.UTC()
	path := t.name + "@" + at.Format("2006-01-02T15:04:05.000Z07:00")
	text := bytes.IndexByte(body[:min(len(body), 4<<10)], 0) < 0
	var whole io.Reader = bytes.NewReader(body)
	if t.Kind == collector.KindPrometheus { // scripts that keep scrapes write their time so
		body = append([]byte("# "+at.Format(time.RFC3339Nano)+"\n"), body...)
		whole = bytes.NewReader(body)
	}
	if text {
		sink.Raw(path, at, body)
	}
	in := parsers.NewInput(path, whole)
	in.Hint = parsers.Hint{Service: t.Service, Instance: t.host, Zone: time.UTC, Modified: at}
	if t.Kind == collector.KindPrometheus {
		in.Hint.Format = "text"
	}
	in.Continue(t.before)
	n := collector.News{Path: path, Kind: t.Kind, Bytes: int64(len(body)), From: at, To: at, Gone: true}
	if text {
		n.Lines = int64(bytes.Count(body, []byte("\n")))
	}
	skipped := map[string]int64{}
	in.Skip = func(_ int, why string) {
		n.Skipped++
		if _, known := skipped[why]; known || len(skipped) < maxReasons {
			skipped[why]++
		}
	}
	stacks := 0
	err := parsers.Read(in, func(r *evidence.Record) error {
		if r.Time.IsZero() {
			r.Time, r.Zoned = at, evidence.Yes
		}
		if r.Stack != nil {
			stacks++
		}
		n.Records++
		sink.Add(r)
		return nil
	})
	t.before = in
	in.Reader, in.Lines = nil, nil // what it read is not needed any more
	n.Format = format(in.Tally)
	for why := range skipped {
		n.Problems = append(n.Problems, lang.T(why))
	}
	if err == nil && t.Kind == collector.KindGoroutines && stacks == 0 {
		err = lang.NewError("its answer holds no goroutines")
	}
	if err == nil && t.Kind == collector.KindPrometheus && bytes.HasPrefix(bytes.TrimSpace(body[bytes.IndexByte(body, '\n')+1:]), []byte("<")) {
		err = lang.NewError("its answer holds no metrics")
	}
	sink.Source(n)

	t.mu.Lock()
	defer t.mu.Unlock()
	for f, k := range in.Tally {
		if k > 0 {
			t.counts.Records[f] += int64(k)
		}
	}
	for why, k := range skipped {
		t.counts.Skipped[collector.FormatReason{Format: n.Format, Reason: why}] += k
	}
	t.counts.Lines += n.Lines
	t.counts.Bytes += n.Bytes
	if n.Records > 0 {
		t.last = at
	}
	return err
}

// format names the format that most records are of.
func format(tally map[string]int) string {
	best := "text"
	for f, n := range tally {
		if n > 0 && (best == "text" || n > tally[best] || n == tally[best] && strings.Compare(f, best) < 0) {
			best = f
		}
	}
	return best
}
