package live

import "time"

// SourceStats is what the readers of files, dumps and endpoints count. Its
// counts only grow.
type SourceStats struct {
	Records map[string]int64       // by format
	Skipped map[FormatReason]int64 // pieces that could not be understood
	Sources []SourceState          // as many as are configured, not as many as files match
}

// FormatReason is why something of a format was skipped: one of few short
// constants, never a piece of the text.
type FormatReason struct{ Format, Reason string }

// SourceState is how one configured source stands: a pattern of files, a folder
// of dumps, an endpoint that is scraped.
type SourceState struct {
	Source   string        // as configured
	Kind     string        // "file", "dump", "goroutines", "prometheus"
	Up       bool          // it could be read the last time
	Lag      time.Duration // since what is not read yet was written; below 0 if that is not known
	LagBytes int64         // written and not read yet; below 0 if that is not known
	Last     time.Time     // when the last record of it came; zero before
}

// RequestStats is what the receiver counts of whole requests. All but the bytes
// only grows.
type RequestStats struct {
	Taken     map[string]int64 // by transport
	Refused   map[string]int64 // by reason
	Converted map[string]int64 // of those taken, the ones that were no plain OTLP, by form
	Skipped   map[string]int64 // what could not be read in those taken, by reason

	Bytes, MaxBytes int64 // that are being read, and may be
}

// BundleStats is what the store of evidence counts. Written, Failed and Removed
// only grow.
type BundleStats struct {
	Written, Failed int64
	Removed         map[string]int64 // by why: "count", "bytes", "age"
	Kept            int
	Bytes           int64
}

// NoticedStats counts the incidents that a [Detector] told of, by label.
type NoticedStats struct {
	Opened map[string]int64 // only grows
	Open   map[string]int64 // now; 0 for a label of which there was one
}
