package parsers

import (
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// accessReader turns the lines of an access log into records, one at a time and
// in their order. It makes nothing new for a line: the record that it lends is
// always the same one.
type accessReader struct {
	in      *Input
	emit    Emit
	parser  accessParser
	rec     evidence.Record
	access  evidence.Access
	sent    int
	adopted int // layouts that were met after the first lines
}

func newAccessReader(in *Input, emit Emit, layouts []*accessLayout) *accessReader {
	r := &accessReader{in: in, emit: emit, parser: newAccessParser(in)}
	for _, l := range layouts {
		r.parser.add(l)
	}
	return r
}

// line reads a line if it is one of an access log.
func (r *accessReader) line(line []byte) (bool, error) {
	if len(line) == 0 {
		return false, nil
	}
	p := &r.parser
	l, found := p.layoutOf(line)
	if l != nil {
		return r.send(l, line)
	}
	if found {
		return false, nil
	}
	for _, l := range p.layouts[:min(len(p.layouts), 4)] {
		if l.cut(line) || r.in.Lines.Number() == 1 && l.headless(line) {
			r.in.Skip(r.in.Lines.Number(), "access-log line is cut")
			return true, nil
		}
	}
	if l := r.adopt(line); l != nil {
		return r.send(l, line)
	}
	return false, nil
}

const maxAdopted = 256

// adopt makes a layout of a line that is like none before.
func (r *accessReader) adopt(line []byte) *accessLayout {
	p := &r.parser
	if len(p.layouts) == 0 || p.layouts[0].json != nil || r.adopted >= maxAdopted || !hasRequest(line) || len(line) > 32<<10 {
		return nil
	}
	s := accessShape{layout: accessLayout{sep: p.layouts[0].sep}}
	s.layout.columns = columnsOf(line, s.layout.sep, &p.values)
	if len(s.layout.columns) < 3 {
		return nil
	}
	s.borrow(p.layouts[0])
	if !s.layout.plan.usable() {
		return nil
	}
	r.adopted++
	if len(p.layouts) < maxAccessShapes {
		p.add(&s.layout)
	}
	return &s.layout
}

// send emits the record of a line that was cut into values. A line without a
// time that can be read is none.
func (r *accessReader) send(l *accessLayout, line []byte) (bool, error) {
	t, zoned := r.parser.read(l, line, &r.access)
	if t.IsZero() {
		return false, nil
	}
	return true, r.lend(r.in.Lines.Number(), t, zoned, line, &r.access)
}

// lend emits what a line said.
func (r *accessReader) lend(number int, t time.Time, zoned evidence.Tri, line []byte, a *evidence.Access) error {
	rec := &r.rec
	*rec = evidence.Record{Time: t, Zoned: zoned, Place: r.in.place(), Cite: r.in.cite(number), Raw: line, Access: a}
	if _, source := r.in.Lines.Origin(); source != "" {
		rec.Place.Instance, rec.Place.Service = podOf(source)
	}
	r.sent++
	return r.emit(rec)
}
