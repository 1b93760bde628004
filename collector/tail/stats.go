package tail

import (
	"maps"

	"github.com/firebreak-io/firebreak/collector"
)

// Stats is what a Tailer counts, and how what it follows stands.
type Stats struct {
	collector.Counts
	States []collector.State
}

func newCounts() collector.Counts {
	return collector.Counts{Records: map[string]int64{}, Skipped: map[collector.FormatReason]int64{}}
}

// maxLedgers bounds the paths that are counted apart.
const maxLedgers = 4096

// Stats returns what was counted until now. Nobody changes it any more.
func (t *Tailer) Stats() Stats {
	s := Stats{Counts: t.past}
	s.Records, s.Skipped = maps.Clone(s.Records), maps.Clone(s.Skipped)
	for _, l := range t.ledgers {
		l.addTo(&s.Counts)
	}
	states := map[string]*collector.State{}
	for i := range t.cfg.Files {
		for _, p := range t.cfg.Files[i].Paths {
			if states[p] == nil {
				s.States = append(s.States, collector.State{Source: p, Kind: collector.KindFile})
			}
			states[p] = nil
		}
	}
	for i := range s.States {
		states[s.States[i].Source] = &s.States[i]
	}
	for _, w := range t.order {
		x := states[w.pattern]
		if w.file != nil {
			x.Up = true
			w.file.addTo(x)
		}
	}
	for _, w := range t.order {
		f := w.file
		if f == nil && w.problem != "" && !w.twin || f != nil && (f.failed != "" && !f.waits || f.refused != "") {
			states[w.pattern].Up = false
		}
	}
	for _, f := range t.files {
		if f.leaving && states[f.pattern] != nil {
			f.addTo(states[f.pattern])
		}
	}
	for _, d := range t.dumps {
		d.ledger.addTo(&s.Counts)
		s.States = append(s.States, collector.State{Source: d.Dir, Kind: collector.KindDump, Up: d.problem == "", LagBytes: d.behind, Last: d.last})
	}
	return s
}

func (f *file) addTo(x *collector.State) {
	if behind := f.left(); behind > 0 {
		x.LagBytes += behind
		x.Lag = max(x.Lag, f.t.now.Sub(f.behind))
	}
	if f.lastRecord.After(x.Last) {
		x.Last = f.lastRecord
	}
}

func (l *ledger) addTo(s *collector.Counts) {
	s.Lines += l.lines
	s.Bytes += l.bytes
	for format, n := range l.tally {
		if n > 0 {
			s.Records[format] += int64(n)
		}
	}
	format := l.format()
	for _, x := range l.skips {
		s.Skipped[collector.FormatReason{Format: format, Reason: x.why}] += int64(x.count)
	}
}

// fold adds up what was counted of paths that nobody follows any more.
func (t *Tailer) fold() {
	if len(t.ledgers) <= maxLedgers {
		return
	}
	used := map[string]bool{}
	for _, f := range t.files {
		used[f.path] = true
	}
	for path, l := range t.ledgers {
		if !used[path] {
			l.addTo(&t.past)
			delete(t.ledgers, path)
		}
	}
}
