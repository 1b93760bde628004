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
	strange strangeLines
}

func newAccessReader(in *Input, emit Emit, layouts []*accessLayout) *accessReader {
	r := &accessReader{in: in, emit: emit, parser: newAccessParser(in)}
	r.rec = evidence.Record{Place: in.place(), Cite: in.cite(0)}
	for _, l := range layouts {
		r.parser.add(l.ready())
	}
	in.atEnd = append(in.atEnd, r.learnAgain)
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
	l, found := r.parser.layoutOf(line)
	if l != nil {
		return r.send(l, line)
	}
	if len(r.parser.layouts) == 0 {
		return false, nil
	}
	return r.unlike(line, found)
}

// send emits the record of a line that was cut into values. A line without a
// time that can be read is none.
func (r *accessReader) send(l *accessLayout, line []byte) (bool, error) {
	x := &r.now
	if x.time, x.zoned = r.parser.read(l, line, &x.access); x.time.IsZero() {
		if hasRequest(line) && !r.leveled(line) {
			r.in.Skip(r.in.Lines.Number(), "access-log line without a time that can be read")
		}
		return false, nil
	}
	x.text = extent{0, int32(len(line))}
	return true, r.lend(r.in.Lines.Number(), line, x)
}

// lend emits what a line of a text says.
func (r *accessReader) lend(number int, text []byte, x *accessLine) error {
	return r.lendOf(r.placeNow(), number, text, x)
}

// lendOf emits what a line says that came from a place.
func (r *accessReader) lendOf(place evidence.Place, number int, text []byte, x *accessLine) error {
	rec := &r.rec
	rec.Time, rec.Zoned, rec.Cite.Line, rec.Raw, rec.Access = x.time, x.zoned, number, x.text.of(text), &x.access
	rec.Place = place
	r.sent++
	return r.emit(rec)
}

// placeNow is whose the current line is.
func (r *accessReader) placeNow() evidence.Place {
	if _, source := r.in.Lines.Origin(); source != "" {
		place := r.rec.Place
		place.Instance, place.Service = podOf(source)
		return place
	}
	if r.in.Lines.Wrapped() {
		return r.in.place()
	}
	return r.rec.Place
}
