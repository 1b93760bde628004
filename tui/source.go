package tui

import (
	"context"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/runbooks"
)

// Source is where reports come from: saved evidence, or a running exporter. Its
// methods are called from commands, never from Update, and one at a time.
type Source interface {
	// Read makes the report of a window of time; of all that there is if the
	// window is zero. It tells now and then how far it has come; tell does not
	// block. The end of the context ends reading: the reading then covers what
	// was read until then and says so.
	Read(ctx context.Context, w incident.Window, tell func(Progress)) (Reading, error)

	// Excerpt returns the text around what a citation names.
	Excerpt(ctx context.Context, c evidence.Citation) (Excerpt, error)
}

// Follower is a Source that goes on: a running exporter.
type Follower interface {
	Source

	// Next waits for a report newer than the revision and returns it. An error is
	// shown, and Next called again after a pause.
	Next(ctx context.Context, after uint64) (Reading, error)
}

// Reading is a report, with the runbooks that it may be walked through.
type Reading struct {
	Report   *incident.Report
	Books    *runbooks.Library
	Partial  bool   // reading was ended before the end
	Revision uint64 // of a Follower
}

// Progress says how far reading has come, in bytes as they lie on disk.
type Progress struct {
	Bytes, Total      int64 // Total is 0 if it is not known
	Files, FilesTotal int
	Current           string
	Draft             *incident.Report // the verdict so far; nil if there is no new one
}

// Excerpt is some lines of a source.
type Excerpt struct {
	Source string
	First  int // number of the first of the lines, from 1
	At     int // number of the line that was asked for; 0 if lines do not tell
	Lines  []string
	More   bool   // the source goes on
	Path   string // on disk, where an editor can open it; empty if it lies in an archive
}
