package live

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// rawPiece is how much of one file is kept and let go at a time.
const rawPiece = 64 << 10

// maxRawPaths bounds the files of which bytes are kept.
const maxRawPaths = 1000

// rawRing holds the latest bytes of the files that are followed, for bundles.
// When they are too many, the oldest of the file that has the most are let go, so
// that one file that floods does not push out the others.
type rawRing struct {
	files map[string]*rawFile
	bytes int
	max   int
}

// rawFile is what is kept of one file: what was handed over last, without a gap.
type rawFile struct {
	pieces []rawBytes // may be none
	bytes  int
	last   time.Time // when the last of it came
	lines  int64     // line ends that were let go
	cut    bool      // bytes were let go, so that it may begin in the middle of a line
	counts []counting
}

// counting is how lines were numbered up to a time: citations say so many more
// than there were line ends. It changes when a file is rotated and begins again.
type counting struct {
	until time.Time
	more  int64
}

// maxCountings bounds the countings of one file.
const maxCountings = 100

type rawBytes struct {
	at    time.Time // when the last of it came
	data  []byte
	lines int64 // line ends in it
}

// RawFile is a copy of the latest bytes of a file, whole lines.
type RawFile struct {
	Path     string
	From, To time.Time // when the first and the last of it came
	Data     []byte
	Before   int64 // lines that were handed over before those of Data
	Handed   int64 // lines that were handed over in all
	Cut      bool  // there was more before it

	lines  int64 // of Data
	counts []counting
}

// Line is the number in Data, from 1, of a line that a record cites which came at
// a time; 0 if it is not there.
func (f *RawFile) Line(cited int, at time.Time) int {
	if cited <= 0 || len(f.counts) == 0 {
		return 0
	}
	c := f.counts[len(f.counts)-1]
	for _, x := range f.counts {
		if !at.After(x.until) {
			c = x
			break
		}
	}
	n := int64(cited) - c.more - f.Before
	if n < 1 || n > f.lines {
		return 0
	}
	return int(n)
}

// numbered hears which number the last line has that was handed over of a file.
// What is gone when it is first heard of, as dumps are, was read from its
// beginning to its end.
func (r *rawRing) numbered(now time.Time, news *SourceNews) {
	f := r.files[news.Path]
	if f == nil || news.Lines <= 0 && !news.Gone {
		return
	}
	c := counting{until: now}
	if news.Lines > 0 {
		c.more = news.Lines - f.handed()
	}
	if n := len(f.counts); n > 0 && f.counts[n-1].more == c.more {
		f.counts[n-1].until = now
		return
	}
	if len(f.counts) == maxCountings {
		f.counts = slices.Delete(f.counts, 0, 1)
	}
	f.counts = append(f.counts, c)
}

// handed is how many line ends were handed over.
func (f *rawFile) handed() int64 {
	n := f.lines
	for _, p := range f.pieces {
		n += p.lines
	}
	return n
}

// Raw keeps a copy of bytes that were read of a file at a time, for bundles of
// evidence. Bytes of one path follow each other without a gap, none twice.
func (e *Engine) Raw(path string, at time.Time, chunk []byte) {
	if len(chunk) == 0 || e.cfg.MaxRawBytes < 0 {
		return
	}
	e.rawMu.Lock()
	defer e.rawMu.Unlock()
	e.raw.add(path, at, chunk)
}

// RawFiles returns what is kept of each file that came since a time, by path.
func (e *Engine) RawFiles(since time.Time) []RawFile {
	e.rawMu.Lock()
	defer e.rawMu.Unlock()
	list := make([]RawFile, 0, len(e.raw.files))
	for path, f := range e.raw.files {
		if r := f.since(since); len(r.Data) > 0 {
			r.Path = path
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b RawFile) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

func (r *rawRing) add(path string, at time.Time, chunk []byte) {
	if r.files == nil {
		r.files = map[string]*rawFile{}
	}
	f := r.files[path]
	if f == nil {
		if len(r.files) >= maxRawPaths {
			r.drop(r.stalest())
		}
		f = &rawFile{}
		r.files[path] = f
	}
	f.last = at
	r.bytes += len(chunk)
	f.bytes += len(chunk)
	for len(chunk) > 0 {
		n := len(f.pieces)
		if n == 0 || len(f.pieces[n-1].data) == rawPiece {
			f.pieces = append(f.pieces, rawBytes{})
			n++
		}
		p := &f.pieces[n-1]
		k := min(len(chunk), rawPiece-len(p.data))
		p.data = append(p.data, chunk[:k]...)
		p.lines += int64(bytes.Count(chunk[:k], newline))
		p.at = at
		chunk = chunk[k:]
	}
	for r.bytes > r.max {
		r.letGo(r.largest())
	}
}

// largest is the file with the most bytes.
func (r *rawRing) largest() string {
	most, name := -1, ""
	for path, f := range r.files {
		if f.bytes > most || f.bytes == most && path < name {
			most, name = f.bytes, path
		}
	}
	return name
}

// stalest is the file of which nothing has come for longest.
func (r *rawRing) stalest() string {
	var at time.Time
	name := ""
	for path, f := range r.files {
		if name == "" || f.last.Before(at) {
			at, name = f.last, path
		}
	}
	return name
}

// letGo drops the oldest piece of a file.
func (r *rawRing) letGo(path string) {
	f := r.files[path]
	p := f.pieces[0]
	f.pieces[0] = rawBytes{}
	f.pieces = f.pieces[1:]
	f.bytes -= len(p.data)
	r.bytes -= len(p.data)
	f.lines += p.lines
	f.cut = true
}

func (r *rawRing) drop(path string) {
	if f := r.files[path]; f != nil {
		r.bytes -= f.bytes
		delete(r.files, path)
	}
}

// expire lets go what came before a time, but of each file the last piece for
// ten times as long: a log that says little says it for longer.
func (r *rawRing) expire(before, long time.Time) {
	for path, f := range r.files {
		for len(f.pieces) > 1 && f.pieces[0].at.Before(before) {
			r.letGo(path)
		}
		if f.last.Before(long) {
			r.drop(path)
		}
	}
}

var newline = []byte{'\n'}

// since copies the pieces that came since a time, from their first whole line.
func (f *rawFile) since(t time.Time) RawFile {
	r := RawFile{Before: f.lines, Cut: f.cut, Handed: f.handed(), counts: slices.Clone(f.counts)}
	for _, p := range f.pieces {
		if len(r.Data) == 0 && p.at.Before(t) {
			r.Before += p.lines
			r.Cut = true
			continue
		}
		if r.From.IsZero() {
			r.From = p.at
		}
		r.To = p.at
		r.Data = append(r.Data, p.data...)
	}
	if i := bytes.IndexByte(r.Data, '\n'); r.Cut && i >= 0 {
		r.Before++
		r.Data = r.Data[i+1:]
	}
	r.lines = int64(bytes.Count(r.Data, newline))
	if n := len(r.Data); n > 0 && r.Data[n-1] != '\n' {
		r.lines++
	}
	return r
}
