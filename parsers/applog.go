package parsers

import (
	"bytes"
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
	return []detector{
		dubboDetector(),
		dubboAccessMessages(),
		hikari(),
		druid(),
		connectionPools(),
		threadPools(),
		rpcPools(),
		databaseErrors(),
		pgBouncer(),
		redis(),
		outgoingCalls(),
		discovery(),
		slowStatements(),
		proxies(),
		breakers(),
		brokers(),
		retries(),
		lifecycle(),
		unknownErrors(), // sees what the others left
	}
}

// logRecord is one application-log record: header fields and the whole message
// with its continuation lines (stack trace, causes), unescaped.
type logRecord struct {
	Time     time.Time
	Zoned    evidence.Tri
	Level    string // canonical: TRACE, DEBUG, INFO, WARN, ERROR, FATAL; empty if not stated
	Logger   string
	Thread   string
	Trace    string // trace or request id
	App      string // application name, if the header or a wrapper states one
	Instance string // host or pod, if the header or a wrapper states one
	Text     []byte // message and continuation lines, joined by \n

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

// first returns the first line of Text: the message, unless it has several lines.
func (r *logRecord) first() []byte {
	if i := bytes.IndexByte(r.Text, '\n'); i >= 0 {
		return r.Text[:i]
	}
	return r.Text
}

// logOut lets detectors emit evidence about the record at hand.
type logOut struct {
	in    *Input
	emit  Emit
	rec   *logRecord
	names *interner
	ev    evidence.Record
	raw   []byte

	told   bool        // something was emitted of the record
	errors errorCounts // errors that nobody knows
	dubbo  bool        // Dubbo's detector has had the record and recognised it
	found  []foundSign // the signs that stand in the record
	recent recentSums  // of what detectors emitted, for those that must not repeat
	thrown recentSums  // what threads threw, see retold
	late   lateAnswers // late responses of which one line was seen
}

// foundSign is a sign and where it first stands in a record's text.
type foundSign struct {
	sign string
	off  int
}

// offset returns where a sign first stands in the record; -1 if it does not.
func (o *logOut) offset(sign string) int {
	for _, f := range o.found {
		if f.sign == sign {
			return f.off
		}
	}
	return -1
}

// maxRaw is how much of a record's text goes with its evidence.
const maxRaw = 8 << 10

// at prepares a record cited at the line of an offset in the text. The
// detector sets one payload on it and hands it to send.
func (o *logOut) at(off int) *evidence.Record {
	o.raw = append(o.raw[:0], o.rec.Text[:min(len(o.rec.Text), maxRaw)]...)
	o.ev = evidence.Record{
		Time: o.rec.Time, Zoned: o.rec.Zoned, Place: o.in.place(),
		Cite: o.in.cite(o.rec.line(off)), Thread: o.rec.Thread, Trace: o.rec.Trace,
		Raw: o.raw,
	}
	if o.rec.App != "" {
		o.ev.Place.Service = o.rec.App
	}
	if o.rec.Instance != "" {
		o.ev.Place.Instance = o.rec.Instance
	}
	return &o.ev
}

// send emits a record. What Dubbo's own detector said of a failed call or of a
// shutdown, a general one need not say again.
func (o *logOut) send(r *evidence.Record) error {
	o.told = true
	if o.dubbo && r.Mark != nil && (r.Mark.Kind == evidence.MarkDownstream || r.Mark.Kind == evidence.MarkDeploy) {
		return nil
	}
	if r.Tries != nil || r.Route != nil || r.Attempt != nil && r.Attempt.Side != evidence.Provider {
		r.Logger = o.rec.Logger
	}
	return o.emit(r)
}

// str returns b as a string; equal texts share one.
func (o *logOut) str(b []byte) string { return o.names.of(b) }

// offer shows a whole record to the detectors that want it.
func (l *logReader) offer(r *logRecord) error {
	table := detectorSigns()
	l.out.found = l.out.found[:0]
	var wanted uint64
	table.each(r.Text, func(literal, off int) {
		if sign := table.signs[literal]; l.out.offset(sign) < 0 {
			l.out.found = append(l.out.found, foundSign{sign, off})
			wanted |= table.wanted[literal]
		}
	})
	last := len(allDetectors()) - 1 // errors that nobody knows; the level stands in the header
	if r.Level == "ERROR" || r.Level == "FATAL" {
		wanted |= 1 << last
	}
	if wanted == 0 {
		return nil
	}
	if wanted != 1<<last && l.out.retold(r) {
		return nil
	}
	l.out.rec, l.out.dubbo, l.out.told = r, false, false
	for i := range allDetectors() {
		if wanted&(1<<i) == 0 {
			continue
		}
		if err := allDetectors()[i].find(r, &l.out); err != nil {
			return err
		}
	}
	return nil
}
