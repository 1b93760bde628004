package tail

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/lang"
)

// Between two looks, or while nobody looked, a log may be rotated more than once:
// the files between the one that was read and the one that has its name now were
// never at the path. They stand beside it under names that begin as its name does,
// and were written to later than the one that was read.

const (
	maxSiblings = 64          // that are read before a file
	clockSlack  = time.Minute // by which the clock of a file system may be behind
	namedFiles  = 3           // that are named of those that are not read
)

// sibling is a file into which a followed one may have been renamed.
type sibling struct {
	path    string
	id      identity
	changed time.Time
}

// between reads the files that had the path of a watch since another time and
// before the file that has it now: after what the file waits for, in the order in
// which they were written to last.
func (t *Tailer) between(w *watch, f *file, since time.Time) {
	real := resolved(w.path)
	entries, err := os.ReadDir(filepath.Dir(real))
	if err != nil {
		f.news.note(lang.Sprintf("files that it was rotated to meanwhile are not read: %v", reason(err)))
		f.fresh = true
		return
	}
	var found, packed []sibling
	var unread []string
	for _, e := range entries {
		if !rotatedName(filepath.Base(real), e.Name()) {
			continue
		}
		path := filepath.Join(filepath.Dir(real), e.Name())
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || info.ModTime().Before(since) || w.set.excludes(path) {
			continue
		}
		s := sibling{path, identityOf(path, info), info.ModTime()}
		switch {
		case s.id == f.id || t.byID[s.id] != nil || t.watches[path] != nil:
		case compressed(path):
			packed = append(packed, s)
		case !t.wasRead(w, s):
			found = append(found, s)
		}
	}
	slices.SortFunc(found, oldest)
	slices.SortFunc(packed, oldest)
	if f.after != nil && len(packed) > 0 { // the first is made of the one that was followed, which is open
		packed = packed[1:]
	}
	for _, s := range packed {
		unread = append(unread, filepath.Base(s.path))
	}
	for len(found) > maxSiblings {
		unread = append(unread, filepath.Base(found[0].path))
		found = found[1:]
	}
	for _, s := range found {
		x := newFile(t, w, s.id)
		x.opened, x.leaving, x.after = s.path, true, f.after
		if !x.open() && !x.waits { // now: it may be renamed again
			unread = append(unread, filepath.Base(s.path))
			continue
		}
		t.files = append(t.files, x)
		t.byID[x.id] = x
		f.after = x
	}
	if len(unread) > 0 {
		names := strings.Join(unread[:min(len(unread), namedFiles)], ", ")
		f.news.note(lang.Sprintf("rotated more than once between two looks: files that are compressed already, too many or not to be opened are not read: %d, such as %s", len(unread), names))
		f.fresh = true
		t.cfg.Log.Warn("rotated away", "path", w.path, "unread", len(unread), "such_as", names)
	}
}

// oldest orders files by when they were written to last; app.log.2 stands before
// app.log.1.
func oldest(a, b sibling) int {
	return cmp.Or(a.changed.Compare(b.changed), -strings.Compare(a.path, b.path))
}

// since returns from when on files are of interest that had the path of a file
// after it: it was the one at the path when it was seen last.
func (f *file) since() time.Time { return later(f.changed, f.seen) }

// since returns the same of a file of which only the state tells.
func (t *Tailer) since(x *saved) time.Time {
	seen := x.Gone
	if seen.IsZero() {
		seen = t.state.Saved
	}
	return later(x.Changed, seen)
}

func later(changed, seen time.Time) time.Time {
	if seen = seen.Add(-clockSlack); seen.After(changed) {
		return seen
	}
	return changed
}

// sinceAt returns from when on files are of interest that had a path at which
// nothing was followed for a while. It is zero if nothing ever was.
func (t *Tailer) sinceAt(path string) time.Time {
	var since time.Time
	for _, f := range t.files {
		if f.path == path && f.since().After(since) {
			since = f.since()
		}
	}
	for _, x := range t.state.Files {
		if x.Path == path && !x.Gone.IsZero() && t.since(x).After(since) {
			since = t.since(x)
		}
	}
	return since
}

// wasRead reports whether a file is known, or is a copy of what was read at the
// path (copytruncate): it begins with the same bytes.
func (t *Tailer) wasRead(w *watch, s sibling) bool {
	fd, err := os.Open(s.path)
	if err != nil {
		return false // which will be said
	}
	defer func() { _ = fd.Close() }() // only read
	for _, x := range t.state.Files {
		if (x.ID == s.id || x.Path == w.path) && x.Print.N > 0 && x.Print.of(fd) {
			return true
		}
	}
	return slices.ContainsFunc(t.files, func(f *file) bool {
		return f.path == w.path && f.print.N > 0 && f.print.of(fd)
	})
}

// rotatedName reports whether a name may be that of a file that had another name
// before it was rotated: app.log.1, app.log-20260314 or app-2026-03-14.log of app.log.
func rotatedName(name, other string) bool {
	if rest, ok := strings.CutPrefix(other, name); ok && rest != "" {
		switch filepath.Ext(rest) {
		case ".lck", ".lock", ".pid", ".swp", ".tmp", ".part", ".new", ".pos", ".offset":
			return false
		}
		return strings.IndexByte(".-_", rest[0]) >= 0 && !strings.HasSuffix(rest, "~")
	}
	ext := filepath.Ext(name)
	rest, ok := strings.CutPrefix(other, strings.TrimSuffix(name, ext))
	if !ok || len(rest) < 2 || strings.IndexByte(".-_", rest[0]) < 0 || rest[1] < '0' || rest[1] > '9' {
		return false
	}
	if compressed(rest) {
		rest = strings.TrimSuffix(rest, filepath.Ext(rest))
	}
	return strings.HasSuffix(rest, ext)
}

// compressed reports whether a name is that of a compressed file.
func compressed(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gz", ".zst", ".bz2", ".xz", ".zip", ".lz4", ".z":
		return true
	}
	return false
}

// resolved is where a path leads to.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// remember keeps what a file began with that was cut away: a copy of it may stand
// beside it.
func (f *file) remember() {
	if f.print.N > 0 {
		f.t.state.Files = append(f.t.state.Files, &saved{Path: f.path, Print: f.print, position: position{Line: 1}, Changed: f.changed, Gone: f.t.now})
	}
}
