package collector

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/parsers"
)

// reading is one input being parsed: it stands between the parser and the sink.
type reading struct {
	c     *collection
	src   *Source
	skips []*skipped // by the reason's first appearance

	copy     *copyReader
	sameDump string // a dump that was read before: its threads were, too
	outDump  string // a dump that is outside the window: its threads are, too
	inSink   bool
}

type skipped struct {
	why   string
	line  int
	count int
}

// maxSkips bounds the places sampled into a source's problems.
const maxSkips = 5

// skip counts a piece that could not be understood.
func (rd *reading) skip(line int, why string) {
	rd.src.Skipped++
	for _, s := range rd.skips {
		if s.why == why {
			s.count++
			return
		}
	}
	if len(rd.skips) < 100 {
		rd.skips = append(rd.skips, &skipped{why, line, 1})
	}
}

// parse reads an input. A parser that panics loses its input, not the report.
func (rd *reading) parse(in *parsers.Input) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if rd.inSink {
				panic(p)
			}
			err = fmt.Errorf("internal error: %v", p)
		}
	}()
	return parsers.Read(in, rd.emit)
}

// emit hands a record on if it lies in the window.
func (rd *reading) emit(r *evidence.Record) error {
	if rd.repeated(r) {
		return nil
	}
	if rd.outside(r) {
		rd.src.OutOfWindow++
		return nil
	}
	rd.src.Records++
	if !r.Time.IsZero() {
		if rd.src.From.IsZero() || r.Time.Before(rd.src.From) {
			rd.src.From = r.Time
		}
		if r.Time.After(rd.src.To) {
			rd.src.To = r.Time
		}
		if r.Zoned == evidence.No || rd.src.ZoneStated == evidence.Unknown {
			rd.src.ZoneStated = r.Zoned
		}
	}
	rd.inSink = true
	err := rd.c.sink(r)
	rd.inSink = false
	if err != nil {
		rd.c.sinkErr = err
	}
	return err
}

// repeated reports whether a record was read before, in another input.
func (rd *reading) repeated(r *evidence.Record) bool {
	again := rd.copy.repeats(r)
	switch {
	case r.Dump != nil && !r.Dump.Closing:
		rd.sameDump = ""
		if again {
			rd.sameDump = r.Dump.ID
		}
	case r.Dump != nil && rd.sameDump != "" && r.Dump.ID == rd.sameDump,
		r.Stack != nil && rd.sameDump != "" && r.Stack.Dump == rd.sameDump:
		return true
	}
	return again
}

func (rd *reading) outside(r *evidence.Record) bool {
	out := !r.Time.IsZero() &&
		(!rd.c.o.Since.IsZero() && r.Time.Before(rd.c.o.Since) || !rd.c.o.Until.IsZero() && r.Time.After(rd.c.o.Until))
	switch {
	case r.Dump != nil && !r.Dump.Closing:
		rd.outDump = ""
		if out {
			rd.outDump = r.Dump.ID
		}
	case r.Dump != nil && rd.outDump != "" && r.Dump.ID == rd.outDump,
		r.Stack != nil && rd.outDump != "" && r.Stack.Dump == rd.outDump:
		return true
	}
	return out
}

// finish completes the source after its input was parsed.
func (rd *reading) finish(in *parsers.Input, n int64) {
	s := rd.src
	s.Bytes += n
	if s.From.IsZero() || !in.From.IsZero() && in.From.Before(s.From) {
		s.From = in.From
	}
	if in.To.After(s.To) {
		s.To = in.To
	}
	formats := make([]string, 0, len(in.Tally))
	for f, n := range in.Tally {
		if n > 0 || len(in.Tally) == 1 {
			formats = append(formats, f)
		}
	}
	slices.SortFunc(formats, func(a, b string) int {
		if d := in.Tally[b] - in.Tally[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	s.Format = strings.Join(formats, ", ")
	if s.Format == "" {
		s.Format = "text"
	}
	read := s.Records
	for _, o := range in.Origins {
		rd.origin(o)
	}
	if s.Records < read {
		rd.c.problem(s.Path, "its records are counted where they came from")
	}
	for i, k := range rd.skips {
		if i == maxSkips {
			rd.c.problem(s.Path, "and %d more reasons", len(rd.skips)-maxSkips)
			break
		}
		where := ""
		if k.line > 0 {
			where = lang.Sprintf("line %d", k.line)
		}
		switch {
		case k.count > 1 && where != "":
			where += lang.Sprintf(" (and %d more)", k.count-1)
		case k.count > 1:
			where = lang.Sprintf("%d times", k.count)
		}
		if where != "" {
			where += ": "
		}
		rd.c.problem(s.Path, "%s%s", where, lang.T(k.why))
	}
}

// origin lists a source that records had been read from before firebreak wrote
// them.
func (rd *reading) origin(o parsers.Origin) {
	s := rd.c.source(o.Path)
	if s == rd.src {
		return
	}
	if s.Format == "" {
		s.Format = o.Format
	}
	s.Bytes += o.Bytes
	s.Skipped += o.Skipped
	moved := min(o.Records, rd.src.Records) // each is counted once, where it came from
	s.Records += moved
	rd.src.Records -= moved
	if s.From.IsZero() || !o.From.IsZero() && o.From.Before(s.From) {
		s.From = o.From
	}
	if o.To.After(s.To) {
		s.To = o.To
	}
	for _, p := range o.Problems {
		rd.c.problem(s.Path, "%s", p)
	}
	if s.Unread == "" {
		s.Unread = o.Unread
	}
}
