package parsers

import (
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// detector finds one family of messages in application-log records.
type detector struct {
	name  string   // family, for `firebreak formats`
	doc   string   // what it reads, in a sentence
	signs []string // one of these stands in every record it wants
	find  func(r *logRecord, o *logOut) error
}

// detectors lists all families, in the order in which they see a record. A
// record is offered to each one of whose signs it contains.
func detectors() []detector {
	return []detector{}
}

// logRecord is one application-log record: header fields and the whole message
// with its continuation lines (stack trace, causes), unescaped.
type logRecord struct {
	Time   time.Time
	Zoned  evidence.Tri
	Level  string // upper case: ERROR, WARN, INFO …; empty if not stated
	Logger string
	Thread string
	Trace  string // trace or request id
	App    string // application name, if the header states one
	Text   []byte // message and continuation lines, joined by \n

	lines []recordLine // where each line of Text began
}

type recordLine struct {
	off  int // in Text
	line int // physical line number
}

// line returns the physical line of an offset in Text.
func (r *logRecord) line(off int) int {
	n := 0
	for _, l := range r.lines {
		if l.off > off {
			break
		}
		n = l.line
	}
	return n
}

// logOut lets detectors emit evidence about the record at hand.
type logOut struct {
	in   *Input
	emit Emit
	rec  *logRecord
	ev   evidence.Record
}

// at prepares a record cited at the line of an offset in the text. The
// detector sets one payload on it and hands it to send.
func (o *logOut) at(off int) *evidence.Record {
	o.ev = evidence.Record{
		Time: o.rec.Time, Zoned: o.rec.Zoned, Place: o.in.place(),
		Cite: o.in.cite(o.rec.line(off)), Thread: o.rec.Thread, Trace: o.rec.Trace,
		Raw: o.rec.Text,
	}
	if o.ev.Place.Service == "" {
		o.ev.Place.Service = o.rec.App
	}
	return &o.ev
}

func (o *logOut) send(r *evidence.Record) error { return o.emit(r) }

// logReader reads application-log records around lines of interest.
type logReader struct {
	in   *Input
	emit Emit
}

func newLogReader(in *Input, emit Emit) *logReader { return &logReader{in: in, emit: emit} }

// record reads the record that the current line belongs to and offers it to
// the detectors. It leaves the first line of the next record unread.
func (l *logReader) record() error { return nil }
