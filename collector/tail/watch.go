package tail

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/lang"
)

// watch is a path that is followed, and the file that is there now.
type watch struct {
	path    string
	pattern string // that found it
	set     *Files
	file    *file
	initial bool   // it was there when following began
	looked  bool   // it was looked at before
	problem string // why there is no file to be read
	twin    bool   // because it is read by another name
	told    string
	wait    int // polls until it is tried again
}

// match finds the paths of all sets.
func (t *Tailer) match() {
	var fresh []*watch
	for i := range t.cfg.Files {
		set := &t.cfg.Files[i]
		for _, pattern := range set.Paths {
			paths, err := filepath.Glob(pattern)
			if err != nil {
				continue // was seen to when the configuration was read
			}
			if len(paths) == 0 && !hasMeta(pattern) {
				paths = []string{filepath.Clean(pattern)} // is waited for
			}
			for _, path := range paths {
				if t.watches[path] != nil || set.excludes(path) {
					continue
				}
				w := &watch{path: path, pattern: pattern, set: set, initial: t.polls == 0}
				t.watches[path] = w
				fresh = append(fresh, w)
			}
		}
	}
	if len(fresh) == 0 {
		return
	}
	t.order = append(t.order, fresh...)
	slices.SortStableFunc(t.order, func(a, b *watch) int { return cmp.Compare(a.path, b.path) })
}

func hasMeta(pattern string) bool {
	for _, c := range pattern {
		switch c {
		case '*', '?', '[', '\\':
			return true
		}
	}
	return false
}

func (s *Files) excludes(path string) bool {
	for _, pattern := range s.Exclude {
		if ok, _ := filepath.Match(pattern, path); ok {
			return true
		}
		if ok, _ := filepath.Match(pattern, filepath.Base(path)); ok {
			return true
		}
	}
	return false
}

// look sees which file is at a path.
func (t *Tailer) look(w *watch) {
	if w.wait > 0 {
		w.wait--
		return
	}
	info, err := os.Stat(w.path)
	first := !w.looked
	w.looked = true
	if err == nil && !info.Mode().IsRegular() {
		if w.file == nil {
			w.problem = lang.T("not a regular file")
		}
		return
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			w.initial = false // what comes later is new
			t.leave(w)
			if hasMeta(w.path) || !t.named(w) {
				t.forget(w)
			} else {
				w.problem = lang.T("not there (yet)")
			}
			return
		}
		w.problem = lang.Sprintf("%v", reason(err))
		return
	}
	id := identityOf(w.path, info)
	if w.file != nil && w.file.id == id {
		w.file.seen = t.now
		return
	}
	w.problem, w.twin = "", false
	if other := t.byID[id]; other != nil {
		if other.leaving { // it was given this name
			t.leave(w)
			other.leaving = false
			w.file = other
			return
		}
		if w.file == nil && t.at(other) != "" {
			w.problem = lang.Sprintf("the same file as %s, read once", t.at(other))
			w.twin = true
			return
		}
		for _, v := range t.order { // it was renamed to this name: so its old name leads elsewhere
			if v.file == other {
				v.file = nil
			}
		}
		t.leave(w)
		w.file = other
		return
	}
	old := w.file
	t.leave(w)
	f := newFile(t, w, id)
	f.after, f.seen = old, t.now
	t.resume(f, w, w.initial && first)
	w.file = f
	t.files = append(t.files, f)
	t.byID[id] = f
}

// at is the path at which a file is followed now.
func (t *Tailer) at(f *file) string {
	for _, w := range t.order {
		if w.file == f {
			if info, err := os.Stat(w.path); err == nil && identityOf(w.path, info) == f.id {
				return w.path
			}
		}
	}
	return ""
}

// named reports whether a path was given without wildcards.
func (t *Tailer) named(w *watch) bool {
	return slices.ContainsFunc(w.set.Paths, func(p string) bool { return filepath.Clean(p) == w.path })
}

// leave says that a path leads to another file than before.
func (t *Tailer) leave(w *watch) {
	if w.file != nil {
		w.file.leaving = true
		w.file.quiet = 0
		w.file = nil
	}
}

// forget drops a path at which nothing is any more.
func (t *Tailer) forget(w *watch) {
	delete(t.watches, w.path)
	t.order = slices.DeleteFunc(slices.Clone(t.order), func(x *watch) bool { return x == w })
}

// tell says why a path is not read.
func (w *watch) tell(t *Tailer) {
	if w.problem == w.told {
		return
	}
	w.told = w.problem
	if w.problem == "" {
		return // its file has news of its own
	}
	t.cfg.Log.Warn("unfollowed", "path", w.path, "why", w.problem)
	t.cfg.Sink.Source(collector.News{Path: w.path, Kind: collector.KindFile, Format: "text", Problems: []string{w.problem}, Unread: w.problem})
}

// reason shortens an error of the file system: the path is said elsewhere.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
