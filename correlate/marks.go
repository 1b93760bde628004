package correlate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// markKey tells marks apart: their kind, what they happened to, and whose they
// are.
type markKey struct{ kind, subject, place string }

// mark sums up marks of one kind.
type mark struct {
	key   markKey
	seen  sighting
	sum   float64
	max   float64
	maxAt cited
	text  string
	sums  map[int64]float64 // of a collector's pauses, by bucket of time
}

func (e *Engine) addMark(r *evidence.Record) {
	m := r.Mark
	k := markKey{m.Kind, memberSubject(m), cmp.Or(r.Place.Service, r.Place.Instance, folder(r.Cite.Source))}
	if strings.HasPrefix(m.Kind, "gc.") || strings.HasPrefix(m.Kind, "host.") {
		// A process or host of its own: its instances must not be averaged.
		k.place = cmp.Or(r.Place.Instance, r.Place.Service, folder(r.Cite.Source))
	}
	x := e.marks[k]
	if x == nil {
		if len(e.marks) >= maxKeys {
			e.lost++
			return
		}
		x = &mark{key: k}
		e.marks[k] = x
	}
	n := max(1, m.Count)
	x.seen.add(r, n)
	x.sum += m.Value * float64(n)
	if !r.Time.IsZero() && (m.Kind == evidence.MarkGCPause || m.Kind == evidence.MarkGCFull) {
		if x.sums == nil {
			x.sums = map[int64]float64{}
		}
		if b := r.Time.UnixNano() / int64(bucketSize); len(x.sums) < maxBuckets {
			x.sums[b] += m.Value * float64(n)
		}
	}
	c := cited{r.Time, r.Cite}
	if m.Value > x.max || m.Value == x.max && (x.maxAt.cite.Source == "" || c.compare(x.maxAt) < 0) {
		x.max, x.maxAt = m.Value, c
	}
	x.text = minNonEmpty(x.text, m.Text)
}

// marksOf lists the marks of a kind, most frequent first.
func (e *Engine) marksOf(kind string) []*mark {
	var list []*mark
	for k, m := range e.marks {
		if k.kind == kind {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b *mark) int {
		return cmp.Or(cmp.Compare(b.seen.count, a.seen.count), cmp.Compare(a.key.subject, b.key.subject), cmp.Compare(a.key.place, b.key.place))
	})
	return list
}
