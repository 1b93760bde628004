package parsers

import (
	"bytes"
	"slices"

	"github.com/firebreak-io/firebreak/evidence"
)

// The layout of an access log may change on the way: a server was reloaded with
// another log_format, several virtual hosts write into one file, or two files
// were put behind each other. Lines that are unlike all before are kept aside,
// and when there are some, what their columns are is learned from them, as it
// was from the first lines. A line of which nothing can be made is skipped and
// counted.

const (
	strangeFirst = enoughOfShape // lines kept aside from which is learned the first time,
	strangeMore  = 500           // and later on
	strangeBytes = 1 << 20
	strangeTurns = 4 // layouts of one separator or kind each, at a time
)

// strangeLines are the lines kept aside, and where they stood.
type strangeLines struct {
	lines  []strangeLine
	bytes  int
	turns  int    // how often was learned from such lines
	header header // scratch
}

type strangeLine struct {
	text   []byte
	number int
	place  evidence.Place
}

// unlike takes the current line, which fits no layout; object says that it is
// JSON. It reports whether the line is one of an access log.
func (r *accessReader) unlike(line []byte, object bool) (bool, error) {
	number := r.in.Lines.Number()
	if len(line) > 32<<10 {
		return false, nil
	}
	if !object && r.damaged(line, number) {
		return true, r.setAside(line, number)
	}
	if !hasRequest(line) {
		return false, nil
	}
	if object {
		if l, _ := learnAccessJSON([][]byte{line}); len(l) == 0 {
			return false, nil
		}
		return true, r.setAside(line, number)
	}
	if layouts, _ := learnAccess([][]byte{line}, r.parser.layouts...); len(layouts) > 0 {
		if l := layouts[0].ready(); r.leveled(line) { // of an application's log: what follows may belong to it
			if l.split(line, &r.parser.values) {
				return r.send(l, line)
			}
			return false, nil
		}
		return true, r.setAside(line, number)
	}
	if bytes.Contains(line, []byte(" HTTP/")) && byteAt(line, 0) != ' ' && byteAt(line, 0) != '\t' && !r.leveled(line) {
		r.in.Skip(number, "access-log line that fits no layout")
	}
	return false, nil
}

// damaged reports whether a line is one of a known layout of which the end, or
// at the start of the input the beginning, is missing; or one that has fewer
// columns from then on.
func (r *accessReader) damaged(line []byte, number int) bool {
	layouts := r.parser.layouts
	return slices.ContainsFunc(layouts[:min(len(layouts), 4)], func(l *accessLayout) bool {
		return l.cut(line) || number == 1 && l.headless(line)
	})
}

// leveled reports whether a line has a header with a level, as an application
// writes it.
func (r *accessReader) leveled(line []byte) bool {
	return r.strange.header.parse(line) && r.strange.header.level != ""
}

// setAside keeps a line until there are enough to learn from.
func (r *accessReader) setAside(line []byte, number int) error {
	s := &r.strange
	s.lines = append(s.lines, strangeLine{bytes.Clone(line), number, r.placeNow()})
	s.bytes += len(line)
	if len(s.lines) >= strangeMore || s.bytes >= strangeBytes || s.turns == 0 && len(s.lines) >= strangeFirst {
		return r.learnAgain()
	}
	return nil
}

// learnAgain finds the layouts of the lines that were kept aside and emits what
// they say.
func (r *accessReader) learnAgain() error {
	s := &r.strange
	left := s.lines
	s.lines, s.bytes = nil, 0
	if len(left) == 0 {
		return nil
	}
	s.turns++
	for range strangeTurns {
		texts := make([][]byte, len(left))
		for i := range left {
			texts[i] = left[i].text
		}
		layouts, _ := learnAccess(texts, r.parser.layouts...)
		if len(layouts) == 0 {
			break
		}
		learned := len(r.parser.layouts)
		for _, l := range layouts {
			if l.ready(); len(r.parser.layouts) < maxAccessShapes {
				r.parser.add(l)
			}
		}
		if r.blocks != nil && len(r.parser.layouts) > learned {
			r.blocks.publish(r.parser.layouts)
		}
		before := len(left)
		var err error
		if left, err = r.sendKept(left, layouts); err != nil {
			return err
		}
		if len(left) == 0 || len(left) == before {
			break
		}
	}
	for i := range left {
		why := "access-log line that fits no layout"
		if r.damaged(left[i].text, left[i].number) {
			why = "access-log line is cut"
		}
		r.in.Skip(left[i].number, why)
	}
	return nil
}

// sendKept emits the lines that fit one of the layouts and returns the others.
func (r *accessReader) sendKept(lines []strangeLine, layouts []*accessLayout) (left []strangeLine, err error) {
	p := &r.parser
	known := p.layouts
	shared := p.shared
	p.layouts, p.shared = nil, nil
	for _, l := range layouts {
		p.add(l)
	}
	defer func() { p.layouts, p.shared = known, shared }()
	x := &r.now
	for i := range lines {
		line := &lines[i]
		l, _ := p.layoutOf(line.text)
		if l == nil {
			left = append(left, *line)
			continue
		}
		if x.time, x.zoned = p.read(l, line.text, &x.access); x.time.IsZero() {
			left = append(left, *line)
			continue
		}
		x.text = extent{0, int32(len(line.text))}
		if err := r.lendOf(line.place, line.number, line.text, x); err != nil {
			return nil, err
		}
	}
	return left, nil
}
