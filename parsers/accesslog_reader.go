package parsers

import "github.com/firebreak-io/firebreak/evidence"

// accessReader turns the lines of an access log into records, one at a time and
// in their order. It makes nothing new for a line: the record that it lends is
// always the same one.
type accessReader struct {
	in      *Input
	emit    Emit
	parser  accessParser
	rec     evidence.Record
	now     accessLine
	blocks  *accessBlocks // nil if there is little to read
	follows bool          // the line before was one, too
	sent    int
	adopted int // layouts that were met after the first lines
}

func newAccessReader(in *Input, emit Emit, layouts []*accessLayout) *accessReader {
	r := &accessReader{in: in, emit: emit, parser: newAccessParser(in)}
	r.rec = evidence.Record{Place: in.place(), Cite: in.cite(0)}
	for _, l := range layouts {
		r.parser.add(l.ready())
	}
	return r
}

// line reads a line if it is one of an access log.
func (r *accessReader) line(line []byte) (mine bool, err error) {
	follows := r.follows
	r.follows = false
	if len(line) == 0 {
		return false, nil
	}
	if r.blocks != nil {
		if b, i := r.blocks.at(r.in.Lines.Number()); b != nil && b.lines[i].known {
			r.follows = true
			if !follows { // who reads what is in between has something to end
				return true, r.lend(r.in.Lines.Number(), b.data, &b.lines[i])
			}
			return true, r.rest(b, i)
		}
	}
	mine, err = r.one(line)
	r.follows = mine
	return mine, err
}

// rest emits the lines from the current one on that are parsed already.
func (r *accessReader) rest(b *accessBlock, i int) error {
	lines := r.in.Lines
	number := lines.Number()
	from, first := int(b.lines[i].end), i+1 // Lines is behind the current one
	for {
		for ; i < len(b.lines) && b.lines[i].known; i++ {
			if err := r.lend(number, b.data, &b.lines[i]); err != nil {
				return err
			}
			number++
		}
		if i > first {
			lines.pass(int(b.lines[i-1].end)-from, i-first)
		}
		if i < len(b.lines) {
			return nil
		}
		if b, i = r.blocks.at(number); b == nil {
			return nil
		}
		from, first = 0, 0
	}
}

// one reads a line without knowing those after it.
func (r *accessReader) one(line []byte) (bool, error) {
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
	s.layout.ready()
	if len(p.layouts) < maxAccessShapes {
		p.add(&s.layout)
		if r.blocks != nil {
			r.blocks.publish(p.layouts)
		}
	}
	return &s.layout
}

// send emits the record of a line that was cut into values. A line without a
// time that can be read is none.
func (r *accessReader) send(l *accessLayout, line []byte) (bool, error) {
	x := &r.now
	if x.time, x.zoned = r.parser.read(l, line, &x.access); x.time.IsZero() {
		return false, nil
	}
	x.text = extent{0, int32(len(line))}
	return true, r.lend(r.in.Lines.Number(), line, x)
}

// lend emits what a line of a text says.
func (r *accessReader) lend(number int, text []byte, x *accessLine) error {
	rec := &r.rec
	rec.Time, rec.Zoned, rec.Cite.Line, rec.Raw, rec.Access = x.time, x.zoned, number, x.text.of(text), &x.access
	if _, source := r.in.Lines.Origin(); source != "" {
		rec.Place.Instance, rec.Place.Service = podOf(source)
	} else if r.in.Lines.Wrapped() {
		rec.Place = r.in.place()
	}
	r.sent++
	return r.emit(rec)
}
