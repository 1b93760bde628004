// Package collector finds and opens inputs — files, folders, archives, standard
// input — picks the format of each by its content, feeds the evidence to a
// sink, and counts what it could not read.
//
// It promises: inputs in name order, records in the order of reading, so that
// the same evidence gives the same sequence; memory that does not depend on the
// size of what is read; nothing ever unpacked to disk; and that whatever is not
// read is said in a [Source], with its path and the reason. A file that is
// damaged, cut, binary or out of reach never stops the others.
package collector

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/lang"
)

// ErrNothingRead is wrapped by the error of a Collect that could read none of
// its paths; the error's text has the first reasons.
var ErrNothingRead = lang.NewError("nothing could be read")

// Options says how to collect.
type Options struct {
	Stdin        io.Reader      // what "-" reads; nil means os.Stdin
	Zone         *time.Location // for times without an offset; nil means UTC
	Since        time.Time      // records with a time before it are dropped; zero means none
	Until        time.Time      // records with a time after it are dropped; zero means none
	AccessFormat string         // of access logs: see parsers.Hint
	Progress     func(Progress) // called now and then from the reading goroutine
	Exclude      []string       // paths never read, such as the report being written
	Limits       Limits         // zero fields mean the defaults

	// Foreign says of an input that begins with head why it is no evidence, so
	// that it is not read; empty if it is. It may be nil.
	Foreign func(head []byte) string
}

// Limits bounds what hostile or careless input can cost.
type Limits struct {
	Unpacked int64 // bytes that one archive may unpack to; 8 GiB
	Ratio    int64 // and how many times its packed size; 200
	Slack    int64 // bytes that may be unpacked whatever the ratio; 64 MiB
	Window   int64 // memory of one decompressor; 64 MiB
	Buffered int64 // size of a zip that cannot be read from disk; 128 MiB
}

func (l Limits) withDefaults() Limits {
	set := func(v *int64, to int64) {
		if *v <= 0 {
			*v = to
		}
	}
	set(&l.Unpacked, 8<<30)
	set(&l.Ratio, 200)
	set(&l.Slack, 64<<20)
	set(&l.Window, 64<<20)
	set(&l.Buffered, 128<<20)
	return l
}

// Progress says how far reading has come, in bytes as they lie on disk.
type Progress struct {
	Bytes, Total      int64
	Files, FilesTotal int
	Current           string // what is being read
}

// Source is what became of one file, archive member or other input.
type Source struct {
	Path        string       // as cited
	Format      string       // the formats that gave records, the most frequent first; "text" if none did
	Bytes       int64        // read, after unpacking
	Records     int          // handed to the sink
	Skipped     int          // pieces that could not be understood
	OutOfWindow int          // records dropped because of Since and Until
	From, To    time.Time    // of its records, or of a log's first and last line; zero if unknown
	ZoneStated  evidence.Tri // whether its times came with their offset; No if only some did
	Problems    []string     // what was not read and why, for people
	Unread      string       // the first of the problems that leaves evidence unread; empty if all of it was read
}

// Collect reads all paths ("-" is standard input) and hands each record, lent,
// to the sink. The sources are valid whatever the error. An error of the sink
// ends collecting and is returned as it is; so does the end of the context,
// whose error is then wrapped: what was read until then has reached the sink.
func Collect(ctx context.Context, paths []string, o Options, sink func(*evidence.Record) error) ([]Source, error) {
	c := newCollection(ctx, o, sink)
	return c.run(paths)
}

// collection is the state of one Collect.
type collection struct {
	ctx  context.Context
	o    Options
	sink func(*evidence.Record) error
	open func(path string) (*os.File, error) // os.Open, but for tests

	sources  []*Source
	byPath   map[string]*Source
	copies   *copies
	roots    []string // the folders given, links resolved
	parsed   bool     // some input reached a parser
	sinkErr  error
	excerpt  *excerpt        // looked for instead of parsing; nil when collecting
	packed   map[string]bool // sources that were unpacked, where one is looked for
	progress Progress
	told     int64 // bytes when Progress was last called
}

func newCollection(ctx context.Context, o Options, sink func(*evidence.Record) error) *collection {
	o.Limits = o.Limits.withDefaults()
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	return &collection{ctx: ctx, o: o, sink: sink, open: os.Open, byPath: map[string]*Source{}, copies: newCopies(), packed: map[string]bool{}}
}

func (c *collection) run(paths []string) ([]Source, error) {
	files := c.find(paths)
	for _, f := range files {
		c.progress.Total += f.size
	}
	c.progress.FilesTotal = len(files)
	for _, f := range files {
		c.progress.Current = f.name
		c.tell()
		if !c.stopped() {
			c.file(f)
		}
		if c.ctx.Err() != nil {
			c.unread(f.name, "%s", c.interrupted())
		}
		if c.stopped() {
			break
		}
		c.progress.Files++
	}
	c.progress.Current = ""
	c.tell()

	sources := make([]Source, len(c.sources))
	for i, s := range c.sources {
		sources[i] = *s
	}
	slices.SortStableFunc(sources, func(a, b Source) int { return strings.Compare(a.Path, b.Path) })
	return sources, c.outcome(sources)
}

// maxReasons bounds the reasons in the error of a collection.
const maxReasons = 20

// outcome is the error that a collection ends with.
func (c *collection) outcome(sources []Source) error {
	if c.sinkErr != nil {
		return c.sinkErr
	}
	if err := c.ctx.Err(); err != nil {
		return fmt.Errorf("collect: %s: %w", c.interrupted(), err)
	}
	if c.parsed {
		return nil
	}
	var why strings.Builder
	listed, more := 0, 0
	for _, s := range sources {
		for _, p := range s.Problems {
			if listed == maxReasons {
				more++
				continue
			}
			listed++
			fmt.Fprintf(&why, "\n  %s: %s", s.Path, p)
		}
	}
	if more > 0 {
		why.WriteString("\n  " + lang.Sprintf("and %d more", more))
	}
	return fmt.Errorf("%w%s", ErrNothingRead, why.String())
}

// stopped reports whether reading must end now.
func (c *collection) stopped() bool { return c.sinkErr != nil || c.ctx.Err() != nil }

func (c *collection) interrupted() string {
	if c.progress.Total > 0 {
		return lang.Sprintf("interrupted: %d of %d bytes read", c.progress.Bytes, c.progress.Total)
	}
	return lang.Sprintf("interrupted: %d bytes read", c.progress.Bytes)
}

// source returns the source of a path, new if need be.
func (c *collection) source(path string) *Source {
	s := c.byPath[path]
	if s == nil {
		s = &Source{Path: path}
		c.byPath[path] = s
		c.sources = append(c.sources, s)
	}
	return s
}

// maxProblems bounds the problems kept of one source.
const maxProblems = 20

// problem notes why something of a path was not read.
func (c *collection) problem(path, format string, args ...any) {
	s := c.source(path)
	text := lang.Sprintf(format, args...)
	switch {
	case slices.Contains(s.Problems, text):
	case len(s.Problems) < maxProblems:
		s.Problems = append(s.Problems, text)
	case len(s.Problems) == maxProblems:
		s.Problems = append(s.Problems, lang.T("and more"))
	}
}

// unread notes why evidence of a path is missing from what was read, which puts
// the answer itself in doubt.
func (c *collection) unread(path, format string, args ...any) {
	c.problem(path, format, args...)
	if s := c.source(path); s.Unread == "" {
		s.Unread = lang.Sprintf(format, args...)
	}
}

// consequence notes a problem of a path unless one is known that explains it.
func (c *collection) consequence(path, format string, args ...any) {
	if !c.troubled(path) {
		c.problem(path, format, args...)
	}
}

// troubled reports whether a problem of a path is known.
func (c *collection) troubled(path string) bool {
	s := c.byPath[path]
	return s != nil && len(s.Problems) > 0
}

// advance counts bytes read from disk and tells of them now and then.
func (c *collection) advance(n int) {
	c.progress.Bytes += int64(n)
	if c.progress.Bytes-c.told >= 4<<20 {
		c.tell()
	}
}

func (c *collection) tell() {
	c.told = c.progress.Bytes
	if c.o.Progress != nil {
		c.o.Progress(c.progress)
	}
}
