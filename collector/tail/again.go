package tail

import (
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// What a report looks back at is read once more after a restart. Marks tell where
// that begins, and when what is read then came.

// mark is a position at a time.
type mark struct {
	position
	At time.Time `json:"at"`
}

// Marks are this far from each other, or a part of what reports look back at if
// that is more.
const (
	markEvery = 10 * time.Second
	marksPart = 60
)

// mark notes where reading is, and forgets what a report does not look at any
// more. The first mark that is kept is older than that, unless there is none.
func (f *file) mark() {
	if f.counting || f.dec == nil {
		return
	}
	now := f.t.now
	n := len(f.marks)
	since := time.Duration(-1) // a clock that was set back
	if n > 0 {
		since = now.Sub(f.marks[n-1].At)
	}
	if (since < 0 || since >= max(markEvery, f.t.cfg.Recent/marksPart)) && (n == 0 || f.marks[n-1].position != f.settled) {
		f.marks = append(f.marks, mark{f.settled, now})
	}
	for len(f.marks) > 1 && now.Sub(f.marks[1].At) > f.t.cfg.Recent {
		f.marks = f.marks[1:]
	}
}

// recall goes back to the last mark before what a report looks back at.
func (f *file) recall(x *saved) {
	if f.t.now.Sub(f.t.state.Saved) > f.t.cfg.Recent {
		return // nothing was read since
	}
	near := slices.DeleteFunc(slices.Clone(x.Marks), func(m mark) bool {
		return m.Offset > x.Offset || x.Offset-m.Offset > againSize || m.Line < 1 || m.Line > x.Line
	})
	for len(near) > 1 && f.t.now.Sub(near[1].At) > f.t.cfg.Recent {
		near = near[1:]
	}
	if len(near) == 0 || near[0].position == x.position {
		return
	}
	m := near[0]
	f.again, f.kept = x.Line, m.Line
	f.offset, f.line = m.Offset, m.Line
	f.from = &m.position
	f.past = append(near[1:], mark{x.position, f.t.state.Saved})
}

// handOn takes the records of the reader.
func (f *file) handOn(r *evidence.Record) error {
	f.news.span(r)
	if line := r.Cite.Line; line > 0 && line < f.again {
		f.news.count(true)
		for len(f.past) > 1 && f.past[0].Line <= line {
			f.past = f.past[1:]
		}
		f.t.cfg.Sink.Again(r, f.past[0].At)
		return nil
	}
	f.news.count(false)
	f.news.records++
	f.records++
	f.lastRecord = f.t.now
	f.t.cfg.Sink.Add(r)
	return nil
}
