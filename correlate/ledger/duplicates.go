package ledger

import (
	"cmp"
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// maxDuplicateCites bounds the executions of one key that are cited.
const maxDuplicateCites = 8

type duplicateSum struct {
	overlaps              int64
	keys, all, executions int64
	most                  int
	gaps                  []int64
	cites                 []evidence.Citation
}

// duplicates finds business keys that one method executed more than once.
func (a *accessLog) duplicates(b *Book) {
	lines := a.keys.lines
	slices.SortFunc(lines, func(x, y line) int {
		if x.id != y.id {
			return cmp.Compare(x.id, y.id)
		}
		return a.compareLines(&x, &y)
	})
	sums := map[uint32]*duplicateSum{}
	callees := map[uint32][]string{}
	eachRun(lines, func(x, y *line) bool { return x.id == y.id }, func(run []line) {
		s := sums[run[0].method]
		if s == nil {
			s = &duplicateSum{}
			sums[run[0].method] = s
		}
		s.all++
		again := false
		for i := 0; i < len(run); {
			n := i + 1
			for n < len(run) && run[n].start != 0 && run[n-1].start != 0 && run[n].start-run[n-1].start <= int64(a.cfg.KeyWindow) {
				s.gaps = append(s.gaps, run[n].start-run[n-1].start)
				if run[n].start < run[n-1].start+run[n-1].dur {
					s.overlaps++
				}
				n++
			}
			if n-i > 1 {
				again = true
				s.executions += int64(n - i)
				a.worstKey(s, run[i:n])
				if names := callees[run[i].method]; len(names) < 64 {
					callees[run[i].method] = append(names, a.servers.keys[run[i].server])
				}
			}
			i = n
		}
		if again {
			s.keys++
		}
	})
	for method, s := range sums {
		if s.keys == 0 {
			continue
		}
		slices.Sort(s.gaps)
		d := DuplicateWork{
			Callee: joined(callees[method]), Method: a.methods.keys[method], Keys: s.keys, AllKeys: s.all, Executions: s.executions, Most: s.most,
			Gap: duration(s.gaps[0]), Median: duration(s.gaps[len(s.gaps)/2]), Overlaps: s.overlaps, Share: a.keys.share(), Cites: s.cites,
		}
		near := 0
		for _, g := range s.gaps {
			if abs(g-int64(d.Median)) <= int64(d.Median/5) {
				near++
			}
		}
		d.Regular = float64(near) / float64(len(s.gaps))
		for k, e := range a.arrivals {
			if k.method == method && e.method != "" {
				d.Service, d.Method = e.service, e.method
				break
			}
		}
		b.Duplicates = append(b.Duplicates, d)
	}
	slices.SortFunc(b.Duplicates, func(x, y DuplicateWork) int {
		return cmp.Or(cmp.Compare(y.Executions-y.Keys, x.Executions-x.Keys), cmp.Compare(x.Service, y.Service), cmp.Compare(x.Method, y.Method))
	})
}

func (a *accessLog) worstKey(s *duplicateSum, run []line) {
	if len(run) <= s.most {
		return
	}
	s.most, s.cites = len(run), s.cites[:0]
	for _, x := range run[:min(len(run), maxDuplicateCites)] {
		s.cites = append(s.cites, evidence.Citation{Source: a.sources.keys[x.source], Line: int(x.line)})
	}
}

// countRepeats counts, where neither attempts nor request IDs were logged, the
// requests that a client made again soon after the same one had failed.
func (a *accessLog) countRepeats() {
	lines := a.repeats.lines
	slices.SortFunc(lines, func(x, y line) int {
		if x.id != y.id {
			return cmp.Compare(x.id, y.id)
		}
		return a.compareLines(&x, &y)
	})
	again := map[arrivalKey]int64{}
	eachRun(lines, func(x, y *line) bool { return x.id == y.id }, func(run []line) {
		for i := 1; i < len(run); i++ {
			prev, x := &run[i-1], &run[i]
			gap := x.start - prev.start - prev.dur
			if prev.failed && gap >= -int64(time.Second) && gap <= int64(a.cfg.MaxGap) {
				again[arrivalKey{server: x.server, method: x.method}]++
			}
		}
	})
	// They are told of the server, whichever of its processes was asked.
	for k, n := range again {
		var first *accessSum
		name := ""
		for at, e := range a.arrivals {
			if at.server != k.server || at.method != k.method {
				continue
			}
			if i := a.instances.keys[at.instance]; first == nil || i < name {
				first, name = e, i
			}
		}
		if first != nil {
			first.repeats += n << a.repeats.half
		}
	}
}
