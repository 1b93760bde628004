package collector

import (
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Sink takes what is read of sources that go on: followed files, folders of
// dumps, endpoints that are scraped.
type Sink interface {
	// Room reports whether there is any for more records.
	Room() bool
	// Add takes a record, which is lent.
	Add(r *evidence.Record)
	// Again takes a record that was handed on before the last restart, so that a
	// report can be made of it, and when it came then. It must not be counted.
	Again(r *evidence.Record, came time.Time)
	// Raw takes the bytes that the next records are made of, as UTF-8, lent.
	Raw(path string, at time.Time, text []byte)
	// Source takes what is known of a source now.
	Source(News)
}

// The kinds of sources that go on.
const (
	KindFile       = "file"
	KindDump       = "dump"
	KindGoroutines = "goroutines"
	KindPrometheus = "prometheus"
)

// News is what is known of such a source now. Its numbers are totals since
// reading began; each replaces those before it.
type News struct {
	Path     string // as records cite it
	Kind     string
	Format   string // the formats that gave records, the most frequent first; "text" if none did
	Records  int64
	Skipped  int64
	Lines    int64 // number of the last line that was read; 0 if it has none
	Bytes    int64
	From, To time.Time // of its records
	Problems []string
	Unread   string // the first of the problems that leaves evidence unread
	Gone     bool   // nothing more will come of it
}

// Counts is what the readers of such sources count. It only grows.
type Counts struct {
	Records map[string]int64 // by format
	Skipped map[FormatReason]int64
	Lines   int64
	Bytes   int64
}

// FormatReason is why something of a format was skipped.
type FormatReason struct{ Format, Reason string }

// State is how one configured source stands: a pattern of files, a folder, an
// endpoint.
type State struct {
	Source, Kind string
	Up           bool          // it could be read the last time
	Lag          time.Duration // since when there is something that was not read; below 0 if that is not known
	LagBytes     int64         // written and not read; below 0 if that is not known
	Last         time.Time     // when the last record came
}
