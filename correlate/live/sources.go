package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// SourceNews is what the reader of one source (a followed file, a dump, an
// endpoint that is scraped) knows of it now. Its numbers are of all that was read
// of it since this process began.
type SourceNews struct {
	Path     string // as the records of it cite it
	Format   string // the formats that gave records, the most frequent first; "text" if none did
	Records  int64
	Skipped  int64     // pieces that could not be understood
	Lines    int64     // the number of the last line that was read, counted as citations count; 0 if it has no lines
	Bytes    int64     // read, after unpacking
	From, To time.Time // of its first and last line or record; zero if unknown
	Problems []string  // what was not read and why, for people, with the places
	Unread   string    // the problem that leaves evidence unread; empty if all of it was read
	Gone     bool      // nothing more will come of it
}

// maxSources bounds the sources that are known by name, maxProblems what is kept
// to be said of one.
const (
	maxSources  = 1000
	maxProblems = 20
)

// sourceBook holds the last news of each source.
type sourceBook struct {
	byPath map[string]*sourceKept
	folded int // sources that were too many to be known by name
}

type sourceKept struct {
	SourceNews
	at time.Time // of the news
}

// Source says what is known of a source. Each news replaces those before it; the
// path alone says which source it is. The engine keeps none of its slices.
func (e *Engine) Source(n SourceNews) {
	n.Problems = slices.Clone(n.Problems[:min(len(n.Problems), maxProblems)])
	now := e.cfg.Now()
	e.rawMu.Lock()
	e.raw.numbered(now, &n)
	e.rawMu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	b := &e.sources
	if b.byPath == nil {
		b.byPath = map[string]*sourceKept{}
	}
	if b.byPath[n.Path] == nil && len(b.byPath) >= maxSources && !b.forgetOne() {
		b.folded++
		return
	}
	b.byPath[n.Path] = &sourceKept{n, now}
}

// forgetOne makes room: the source that has been gone for longest.
func (b *sourceBook) forgetOne() bool {
	var oldest *sourceKept
	for _, s := range b.byPath {
		if s.Gone && (oldest == nil || s.at.Before(oldest.at)) {
			oldest = s
		}
	}
	if oldest == nil {
		return false
	}
	delete(b.byPath, oldest.Path)
	return true
}

// expire forgets the sources that had gone before a time.
func (b *sourceBook) expire(before time.Time) {
	for path, s := range b.byPath {
		if s.Gone && s.at.Before(before) {
			delete(b.byPath, path)
		}
	}
}

// Sources returns the last news of each source, by path.
func (e *Engine) Sources() []SourceNews {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := make([]SourceNews, 0, len(e.sources.byPath))
	for _, s := range e.sources.byPath {
		list = append(list, s.SourceNews)
	}
	slices.SortFunc(list, func(a, b SourceNews) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

// listed makes the sources of a report: how many of the records that it was made
// of came from each, and what their readers say of them. What was dropped for want of
// room, or set aside as old, is said.
func listed(list []remembered, dropped, old map[string]int, news []SourceNews, share float64) []incident.Source {
	byPath := map[string]*incident.Source{}
	get := func(path string) *incident.Source {
		s := byPath[path]
		if s == nil {
			s = &incident.Source{Path: path, Problems: []string{}}
			byPath[path] = s
		}
		return s
	}
	get(Source).Format = "otlp-proto"
	for i := range news {
		n := &news[i]
		s := get(n.Path)
		s.Format, s.Skipped, s.Bytes, s.From, s.To, s.Unread = n.Format, int(n.Skipped), n.Bytes, n.From, n.To, n.Unread
		s.Problems = append(s.Problems, n.Problems...)
	}
	last := get(Source)
	for _, x := range list {
		if x.rec.Cite.Source != last.Path {
			last = get(x.rec.Cite.Source)
		}
		last.Records++
		if at := x.rec.Time; !at.IsZero() {
			if last.From.IsZero() || at.Before(last.From) {
				last.From = at
			}
			if at.After(last.To) {
				last.To = at
			}
		}
	}
	if share < 1 {
		s := get(Source)
		s.Problems = append(s.Problems, lang.Sprintf("one trace in %d was kept to bound memory, chosen by its ID: shares hold, counts are of those", int(1/share+0.5)))
	}
	for path, n := range dropped {
		s := get(path)
		s.Skipped += n
		s.Problems = append(s.Problems, lang.Sprintf("%d observations were dropped because a store was full", n))
	}
	for path, n := range old {
		s := get(path)
		s.Problems = append(s.Problems, lang.Sprintf("%d observations are of another time than what burns now, by what they say: not looked at", n))
	}
	sources := make([]incident.Source, 0, len(byPath))
	for _, s := range byPath {
		if s.Path == Source && s.Records == 0 && len(byPath) > 1 && len(s.Problems) == 0 {
			continue // nothing came that way
		}
		sources = append(sources, *s)
	}
	slices.SortFunc(sources, func(a, b incident.Source) int { return cmp.Compare(a.Path, b.Path) })
	return sources
}
