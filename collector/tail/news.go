package tail

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/lang"
)

// ledger counts what comes of a file.
type ledger struct {
	lines, bytes, records, skipped int64
	truncated                      int
	said                           map[string]int // records that readers tell of, by format, and those read again
	known                          map[string]int // of those, what is counted or must not be
	tally                          map[string]int // what is counted
	from, to                       time.Time
	skips                          []*skips
	notes                          []string
}

// ledger returns what is counted of a path.
func (t *Tailer) ledger(path string) *ledger {
	l := t.ledgers[path]
	if l == nil {
		l = newLedger()
		t.ledgers[path] = l
	}
	return l
}

func newLedger() *ledger {
	return &ledger{said: map[string]int{}, known: map[string]int{}, tally: map[string]int{}}
}

// count counts what readers tell of since it was called last, unless it was counted
// before a restart.
func (l *ledger) count(again bool) {
	for format, n := range l.said {
		if d := n - l.known[format]; d > 0 && !again {
			l.tally[format] += d
		}
		l.known[format] = n
	}
}

// skips are pieces that could not be understood for one reason.
type skips struct {
	why   string
	line  int // of the first
	count int
}

const (
	maxReasons = 100
	saidSkips  = 5
	maxNotes   = 5
)

// span takes in when a record happened.
func (l *ledger) span(r *evidence.Record) {
	if r.Time.IsZero() {
		return
	}
	if l.from.IsZero() || r.Time.Before(l.from) {
		l.from = r.Time
	}
	if r.Time.After(l.to) {
		l.to = r.Time
	}
}

func (l *ledger) skip(line int, why string) {
	l.skipped++
	for _, s := range l.skips {
		if s.why == why {
			s.count++
			return
		}
	}
	if len(l.skips) < maxReasons {
		l.skips = append(l.skips, &skips{why, line, 1})
	}
}

// note keeps something to be said; the latest are kept.
func (l *ledger) note(text string) {
	l.notes = slices.DeleteFunc(l.notes, func(s string) bool { return s == text })
	if l.notes = append(l.notes, text); len(l.notes) > maxNotes {
		l.notes = l.notes[1:]
	}
}

// problems says what was not read and why.
func (l *ledger) problems() []string {
	list := slices.Clone(l.notes)
	for i, s := range l.skips {
		if i == saidSkips {
			list = append(list, lang.Sprintf("and %d more reasons", len(l.skips)-saidSkips))
			break
		}
		where := ""
		if s.line > 0 {
			where = lang.Sprintf("line %d", s.line)
		}
		switch {
		case s.count > 1 && where != "":
			where += lang.Sprintf(" (and %d more)", s.count-1)
		case s.count > 1:
			where = lang.Sprintf("%d times", s.count)
		}
		if where != "" {
			where += ": "
		}
		list = append(list, where+lang.T(s.why))
	}
	return list
}

// format names the formats of the records.
func (l *ledger) format() string {
	names := slices.Collect(maps.Keys(l.said))
	names = slices.DeleteFunc(names, func(f string) bool { return l.said[f] == 0 && len(l.said) > 1 })
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(l.said[b], l.said[a]), strings.Compare(a, b))
	})
	if len(names) == 0 {
		return "text"
	}
	return strings.Join(names, ", ")
}

// tell hands on what is new of a file.
func (f *file) tell() {
	if !f.fresh && f.failed == f.said && !f.gone {
		return
	}
	f.fresh, f.said = false, f.failed
	n := collector.News{
		Path: f.path, Kind: collector.KindFile, Format: f.news.format(), Records: f.news.records, Skipped: f.news.skipped,
		Lines: int64(f.line - 1), Bytes: f.news.bytes, From: f.news.from, To: f.news.to,
		Problems: f.news.problems(), Gone: f.gone && !f.t.watched(f.path),
	}
	for _, why := range []string{f.failed, f.refused} {
		if why != "" {
			n.Problems = append([]string{why}, n.Problems...)
			n.Unread = why
		}
	}
	if f.leaving && f.t.watched(f.path) {
		f.t.watches[f.path].file.fresh = true
		return // the path is that of another file by now, which has news of its own
	}
	f.t.cfg.Sink.Source(n)
}

// watched reports whether there is a file at a path that is followed.
func (t *Tailer) watched(path string) bool {
	w := t.watches[path]
	return w != nil && w.file != nil
}
