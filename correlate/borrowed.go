package correlate

import (
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// A span around DataSource.getConnection is no call of anybody: it is the time
// that a borrower waited for its pool.

const (
	borrowTimeout = 100 * time.Millisecond // what fails sooner did not wait: nobody could be connected to
	borrowLong    = time.Second            // a wait that is worth telling of though it ended well
)

// addBorrow takes in a span of a borrower that waited for long.
func (e *Engine) addBorrow(r *evidence.Record) {
	s := r.Span
	class, _, _ := strings.Cut(s.Name, ".getConnection")
	failed := s.Outcome == evidence.Failed || s.Outcome == evidence.Timeout || s.Outcome == evidence.Rejected
	if s.Duration < borrowTimeout || !failed && s.Duration < borrowLong {
		return
	}
	p := evidence.PoolSnapshot{
		Name: class, Kind: evidence.ConnectionPool, Resource: "db", Waited: s.Duration, Rejected: failed,
		Max: evidence.None, Active: evidence.None, Idle: evidence.None, Waiting: evidence.None, Size: evidence.None,
		Queued: evidence.None, Largest: evidence.None, Tasks: evidence.None, Completed: evidence.None,
	}
	switch {
	case strings.Contains(class, "Hikari"):
		p.Impl = "hikari"
	case strings.Contains(class, "Druid"):
		p.Impl = "druid"
	}
	rec := evidence.Record{Time: r.Time.Add(s.Duration), Zoned: r.Zoned, Place: r.Place, Cite: r.Cite, Trace: r.Trace, Pool: &p}
	e.keep(&rec)
	e.addPool(&rec)
}
