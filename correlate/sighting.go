package correlate

import (
	"cmp"
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

const (
	keepCites  = 4
	bucketSize = 10 * time.Second
	maxBuckets = 20_000
)

// sighting is how often, when and where one thing was seen. It does not depend
// on the order of what it is told.
type sighting struct {
	count   int
	span    span
	cites   []cited // the earliest few, in order
	buckets map[int64]int
}

type cited struct {
	at   time.Time
	cite evidence.Citation
}

func (a cited) compare(b cited) int {
	if a.at.IsZero() != b.at.IsZero() { // known times first
		if a.at.IsZero() {
			return 1
		}
		return -1
	}
	return cmp.Or(a.at.Compare(b.at), compareCites(a.cite, b.cite))
}

func compareCites(a, b evidence.Citation) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Part, b.Part))
}

// add notes that r showed the thing n times.
func (s *sighting) add(r *evidence.Record, n int) {
	s.note(r.Time, r.Cite, n)
}

func (s *sighting) note(at time.Time, cite evidence.Citation, n int) {
	s.count += n
	s.span.add(at)
	s.citeAt(cited{at, cite})
	if at.IsZero() {
		return
	}
	if s.buckets == nil {
		s.buckets = map[int64]int{}
	}
	b := at.UnixNano() / int64(bucketSize)
	if _, ok := s.buckets[b]; ok || len(s.buckets) < maxBuckets {
		s.buckets[b] += n
	}
}

func (s *sighting) citeAt(c cited) {
	if len(s.cites) == keepCites && s.cites[keepCites-1].compare(c) <= 0 {
		return
	}
	i, found := slices.BinarySearchFunc(s.cites, c, cited.compare)
	if found {
		return
	}
	s.cites = slices.Insert(s.cites, i, c)
	s.cites = s.cites[:min(len(s.cites), keepCites)]
}

// compareFirst orders what is alike in all else by where it was seen first.
func compareFirst(a, b *sighting) int {
	if len(a.cites) == 0 || len(b.cites) == 0 {
		return cmp.Compare(len(a.cites), len(b.cites))
	}
	return a.cites[0].compare(b.cites[0])
}

// merge adds what another sighting saw.
func (s *sighting) merge(o *sighting) {
	s.count += o.count
	s.span.add(o.span.first)
	s.span.add(o.span.last)
	for _, c := range o.cites {
		s.citeAt(c)
	}
	for b, n := range o.buckets {
		if s.buckets == nil {
			s.buckets = map[int64]int{}
		}
		s.buckets[b] += n
	}
}

func (s *sighting) citations() []evidence.Citation {
	list := make([]evidence.Citation, len(s.cites))
	for i, c := range s.cites {
		list[i] = c.cite
	}
	return list
}

// perMinute is the rate over the time in which it was seen, at least a minute.
func (s *sighting) perMinute() float64 {
	return float64(s.count) / max(1, s.span.seconds()/60)
}

// citeUnion joins citations of several sightings, ordered, at most n; those that
// were never set are left out.
func citeUnion(n int, lists ...[]evidence.Citation) []evidence.Citation {
	var all []evidence.Citation
	for _, l := range lists {
		for _, c := range l {
			if c != (evidence.Citation{}) && !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all[:min(n, len(all))]
}
