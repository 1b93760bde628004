package main

import (
	"time"

	"github.com/firebreak-io/firebreak/correlate"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/parsers"
	"github.com/firebreak-io/firebreak/runbooks"
)

// drafts makes verdicts while a large input is still being read. It has an
// engine of its own, which is told everything but spans and access logs: those
// are many, and joined only at the end. So the final report does not depend on
// whether anybody looked at a draft.
type drafts struct {
	engine *correlate.Engine
	books  *runbooks.Library
	now    func() time.Time
	next   time.Time     // no draft before it
	pause  time.Duration // between drafts; doubles, so that all of them together cost little
	fresh  bool          // something was told since the last draft
	total  int64         // bytes to be read, once known
}

// draftFrom is the size of an input that is worth a draft: less is read before
// anyone could read one.
const draftFrom = 24 << 20

func newDrafts(q request, books *runbooks.Library) *drafts {
	d := &drafts{books: books, now: time.Now, pause: 700 * time.Millisecond, total: -1}
	d.engine = correlate.New(correlate.Config{Version: q.version, Fingerprint: parsers.Fingerprint})
	d.next = d.now().Add(d.pause)
	return d
}

// beside returns a sink that tells the drafts' engine too.
func (d *drafts) beside(sink func(*evidence.Record) error) func(*evidence.Record) error {
	return func(r *evidence.Record) error {
		if d.total >= draftFrom && r.Span == nil && r.Access == nil {
			d.fresh = true
			if err := d.engine.Add(r); err != nil {
				return err
			}
		}
		return sink(r)
	}
}

// due returns a draft if it is time for one, else nil.
func (d *drafts) due(total int64) *incident.Report {
	if d == nil {
		return nil
	}
	d.total = total
	now := d.now()
	if !d.fresh || now.Before(d.next) {
		return nil
	}
	r := d.engine.Report()
	if d.books.Apply(r) != nil {
		return nil
	}
	d.fresh = false
	d.pause *= 2
	d.next = d.now().Add(d.pause)
	return r
}
