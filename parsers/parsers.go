// Package parsers turns bytes into evidence. It knows one input at a time and
// nothing of incidents.
//
// A [Format] is one kind of evidence. Formats are of two sorts. A whole format
// (JSON documents, CSV, pprof) reads its input from the first byte to the last.
// A block format (a thread dump, a slow log, a processlist) starts at a line
// that it recognises and returns at the first line that is not its own, so that
// blocks of several formats may stand in one text, between log lines, in any
// order: that is what people paste. [Text] drives the block formats and reads
// application-log records in between.
//
// What is damaged inside a format is skipped with its place, through
// [Input.Skip], and reading goes on; only I/O errors and errors of the receiver
// end a parse. Records are lent: see package evidence.
package parsers

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Emit receives one lent record. An error from it ends the parse and is
// returned by it unchanged.
type Emit func(*evidence.Record) error

// ErrUnrecognized is returned by Parse, before anything was emitted, when the
// input turned out not to be of the format; another may try it.
var ErrUnrecognized = errors.New("format not recognised")

// Match is how sure a sniff is.
type Match int8

// The degrees of certainty.
const (
	No Match = iota
	Maybe
	Likely
	Sure
)

// Format is one kind of evidence that can be read.
type Format struct {
	Name     string   // stable; stands in reports as a source's format
	Doc      string   // what it is, in a sentence
	Versions string   // producers and versions it was checked with
	Signs    []string // how it is recognised, for people

	// Sniff tells from at most 4 KiB whether an input is of this format. The
	// name is a hint only: content decides.
	Sniff func(name string, head []byte) Match

	// Parse reads a whole input. Nil for block formats.
	Parse func(in *Input, emit Emit) error
	lines bool // Parse reads it by lines, with [Text] for those that are not its own

	// Block formats only. Each block's first line contains one of Marks (so that
	// a text without them can be passed by at memory speed) and Starts says yes
	// to it. Block is called with that line not yet read; it must read at least
	// one line, and leaves the first line that is not its own unread.
	// ErrUnrecognized gives the line back to the other formats.
	Marks  []string
	Starts func(line []byte) bool
	Block  func(in *Input, emit Emit) error
}

// Formats lists all formats in the order in which they are tried. It is the
// only registry.
func Formats() []Format {
	return []Format{
		pprofFormat(),
		recordsFormat(),
		otlpJSONFormat(),
		otlpProtoFormat(),
		jaegerFormat(),
		zipkinFormat(),
		accessLogFormat(),
		dubboAccessFormat(),
		goroutineFormat(),
		dubboQosFormat(),
		gcLogFormat(),
		jstatFormat(),
		hostStatFormat(),
		prometheusFormat(),
		jstackFormat(),
		threadInfoFormat(),
		dumpToFileFormat(),
		actuatorFormat(),
		javacoreFormat(),
		slowLogFormat(),
		mysqlClientFormat(),
		explainFormat(),
		innodbFormat(),
		postgresqlLog(),
		postgresqlCSVLog(),
		postgresqlJSONLog(),
		postgresqlExplain(),
		pgStatActivity(),
		pgbouncerConsole(),
	}
}

// Hint is what a text leaves out and its surroundings tell.
type Hint struct {
	Format       string // name of the format, "text" for none, where the user gave one
	AccessFormat string // log_format or LogFormat of access logs, where the user gave one

	Service  string         // from the folder or file name, or a wrapper
	Instance string         // the same
	Zone     *time.Location // for times without an offset; nil means UTC
	Modified time.Time      // of the file; for dates without a year, dumps without a time. Zero if unknown
}

// Input is one opened input: decompressed, decoded to UTF-8, ready to read.
// Use either Reader or Lines, not both.
type Input struct {
	Name   string    // path as it will be cited
	Reader io.Reader // the whole input, for whole formats
	Lines  *Lines    // the same by lines, for block formats
	Hint   Hint

	// Skip counts something that could not be read, at a line from 1 (0 if
	// there is none), with a short constant reason.
	Skip func(line int, why string)

	// From and To are the times of the first and the last line of an
	// application log, whatever they say; zero if they are not known.
	From, To time.Time

	// Tally counts the records of each format that were emitted.
	Tally map[string]int

	// Origins are the sources that records had been read from before firebreak
	// wrote them; only its own format has any.
	Origins []Origin

	// dumps counts the dumps seen in this input, so that each gets its ID.
	dumps int

	// text reads it as Text does: see there. Set by Read.
	text func(in *Input, emit Emit, first func(line []byte) (bool, error)) error

	// layers names the wrappers that were found.
	layers []string

	// placed tells whose a line is whose wrapper gave it a source; nil if the
	// source's name tells (podOf).
	placed func(source string) (evidence.Place, bool)

	// starts reports whether a line begins a block; nil if nobody drives blocks.
	starts func(line []byte) bool

	java  *javaDump      // the reader of Java thread dumps, kept between blocks
	atEnd []func() error // called when Text has read the last line

	// snapshots counts the session lists seen in this input.
	snapshots int

	lines *accessReader // the reader of access-log lines within other text

	prom *promReader // the reader of metrics, kept between blocks
	gc   *gcLog      // the reader of collectors' logs, kept between blocks
	host *hostStat   // the same of a host's statistics
}

// NewInput prepares an input that reads from r.
func NewInput(name string, r io.Reader) *Input {
	return &Input{
		Name:   name,
		Reader: r,
		Lines:  NewLines(r),
		Skip:   func(int, string) {},
		Tally:  map[string]int{},
	}
}

// Read chooses the format of an input by its first bytes and reads it: the
// whole format that is surest, else Text. A format that finds the input not to
// be its own is an error here only if it had consumed it.
func Read(in *Input, emit Emit) error {
	best, sample, err := in.choose()
	if err != nil {
		return err
	}
	in.decided(best)
	if best.Parse == nil {
		if !looksLikeLog(sample) {
			return Text(in, emit)
		}
		in.Tally["app-log"] += 0 // known, whether or not it has anything to say
		tail := &tailReader{r: in.Lines.r}
		in.Lines.r = tail
		in.From = in.logTime(sample, false)
		defer func() { in.To = in.logTime(tail.tail, true) }()
		in.atEnd = append(in.atEnd, func() error { return in.levelsAtEnd(tail.tail, emit) })
		return Text(in, emit)
	}
	if in.Lines.follow != nil { // there is no end at which to tally
		if !best.lines {
			emit = in.counted(best.Name, emit)
		}
		return best.Parse(in, emit)
	}
	records := 0
	defer func() { in.tally(best.Name, records) }()
	return best.Parse(in, func(r *evidence.Record) error {
		records++
		return emit(r)
	})
}

// choose finds the format of an input that is read from its first byte to the
// last, one without Parse if it has none, and prepares the input for it. It
// returns the first bytes that were looked at, without wrappers.
func (in *Input) choose() (best Format, sample []byte, err error) {
	br := bufio.NewReaderSize(in.Reader, wrapHead)
	head, err := br.Peek(sniffSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return best, nil, err
	}
	in.Reader = br
	in.Lines.r = br
	in.text = text
	best = wholeFormat(in.Name, head)
	if best.Parse == nil && in.formatFits(head) {
		best = accessLogFormat()
	}
	sample = head
	if best.Parse == nil {
		start, _ := br.Peek(wrapHead)
		if len(start) == wrapHead && bytes.Count(start, newline) < fewLines {
			start, in.Reader = pastLongLines(br)
			in.Lines.r = in.Reader
		}
		sample = start
		if inner := in.unwrap(start); inner != nil {
			sample = inner
			if best = wholeFormat(in.Name, inner[:min(len(inner), sniffSize)]); best.Parse != nil {
				in.Reader = &lineReader{l: in.Lines}
			}
		}
	}
	if best.Parse == nil && (isAccessLog(sample, accessMinority) || in.formatFits(sample)) {
		best = accessLogFormat()
	}
	if in.Hint.Format != "" {
		best = in.given()
	}
	return best, sample, nil
}

// given returns the whole format that the user named; one without Parse if it is
// another, which a text may hold.
func (in *Input) given() Format {
	for _, f := range Formats() {
		if f.Name != in.Hint.Format || f.Parse == nil {
			continue
		}
		if !f.lines && in.Lines.Wrapped() {
			in.Reader = &lineReader{l: in.Lines}
		}
		return f
	}
	return Format{}
}

// A line that is longer than all that is looked at, such as a request with its
// whole body, must not hide what the others are: then more is looked at.
const (
	fewLines = 8
	longLine = 32 << 10
	longLook = 4 << 20
)

// pastLongLines returns the first lines of a text that are not long, and a reader
// of all of it.
func pastLongLines(r io.Reader) ([]byte, io.Reader) {
	look, _ := io.ReadAll(io.LimitReader(r, longLook)) // an error will come again
	var sample []byte
	for rest := look; len(rest) > 0 && len(sample) < wrapHead; {
		line, more, _ := bytes.Cut(rest, newline)
		if len(line) <= longLine {
			sample = append(sample, rest[:len(rest)-len(more)]...)
		}
		rest = more
	}
	return sample, &prefixed{look, r}
}

// prefixed reads what was read already, then the rest. Unlike io.MultiReader it
// asks again after an end, which of a text that grows is not the last.
type prefixed struct {
	read []byte
	r    io.Reader
}

func (p *prefixed) Read(b []byte) (int, error) {
	if len(p.read) == 0 {
		p.read = nil
		return p.r.Read(b)
	}
	n := copy(b, p.read)
	p.read = p.read[n:]
	return n, nil
}

// wholeFormat returns the whole format that is surest of an input that begins
// with head; one without Parse if none is.
func wholeFormat(name string, head []byte) Format {
	best, match := Format{}, Maybe
	for _, f := range Formats() {
		if f.Parse == nil {
			continue
		}
		if m := f.Sniff(name, head); m > match {
			best, match = f, m
		}
	}
	return best
}

const sniffSize = 4 << 10

// cite returns the citation of a line of this input.
func (in *Input) cite(line int) evidence.Citation {
	return evidence.Citation{Source: in.Name, Line: line}
}

// place returns what the surroundings say about whose input this is.
func (in *Input) place() evidence.Place {
	if in.placed != nil {
		_, source := in.Lines.Origin()
		if p, ok := in.placed(source); ok {
			return p
		}
	}
	return evidence.Place{Service: in.Hint.Service, Instance: in.Hint.Instance}
}
