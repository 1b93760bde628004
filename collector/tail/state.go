package tail

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/lang"
)

// What survives a restart is one small file: where reading is in each file. It is
// written aside and renamed, so that it is never half written.

const (
	stateName    = "tail.json"
	stateVersion = 1
	maxPast      = 4096 // files that are gone and remembered
	maxState     = 64 << 20
)

// state is what is saved.
type state struct {
	Version int                    `json:"version"`
	Saved   time.Time              `json:"saved"`
	Files   []*saved               `json:"files"`
	Dumps   map[string][]dumpState `json:"dumps,omitempty"` // by folder

	written string // as it was written last
	dropped bool   // what was there could not be read
}

// saved is where reading is in a file.
type saved struct {
	Path  string   `json:"path"`           // by which it is cited
	Name  string   `json:"name,omitempty"` // by which it was opened, if by another
	ID    identity `json:"id"`
	Print print    `json:"print"`
	position
	Changed time.Time `json:"changed,omitzero"`
	Marks   []mark    `json:"marks,omitempty"`
	Gone    time.Time `json:"gone,omitzero"` // when its path led elsewhere and it was read
}

// load reads the state that was saved.
func (t *Tailer) load() (*state, error) {
	s := &state{Version: stateVersion, Dumps: map[string][]dumpState{}}
	if t.cfg.State == "" {
		return s, nil
	}
	if err := os.MkdirAll(t.cfg.State, 0o750); err != nil {
		return nil, lang.Errorf("state of followed files: %w", err)
	}
	path := filepath.Join(t.cfg.State, stateName)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, t.write(s)
	}
	var text []byte
	if err == nil && info.Size() > maxState {
		err = fmt.Errorf("%d bytes", info.Size())
	}
	if err == nil {
		text, err = os.ReadFile(path)
	}
	found := &state{}
	if err == nil {
		err = json.Unmarshal(text, found)
	}
	if err == nil && found.Version != stateVersion {
		err = lang.Errorf("it is of version %d, not %d", found.Version, stateVersion)
	}
	if err != nil {
		t.cfg.Log.Warn("state unreadable", "path", path, "err", err)
		_ = os.Rename(path, path+".damaged")
		s.dropped = true
		return s, t.write(s)
	}
	if found.Dumps == nil {
		found.Dumps = map[string][]dumpState{}
	}
	found.Files = slices.DeleteFunc(found.Files, func(f *saved) bool { return f == nil || f.Line < 1 || f.Offset < 0 })
	return found, nil
}

// Damaged reports whether there was a state that could not be read.
func (t *Tailer) Damaged() bool { return t.state.dropped }

// save writes the state if it has changed.
func (t *Tailer) save() {
	s := t.state
	past := slices.DeleteFunc(s.Files, func(x *saved) bool {
		return t.byID[x.ID] != nil || !x.Gone.IsZero() && t.now.Sub(x.Gone) > 7*24*time.Hour
	})
	if len(past) > maxPast {
		past = past[len(past)-maxPast:]
	}
	s.Files = past
	if t.cfg.State == "" {
		return
	}
	out := &state{Version: stateVersion, Saved: t.now, Files: slices.Clone(past), Dumps: map[string][]dumpState{}, written: s.written}
	for _, f := range t.files {
		if x := f.saved(); x != nil {
			out.Files = append(out.Files, x)
		}
	}
	for _, d := range t.dumps {
		out.Dumps[d.Dir] = d.saved()
	}
	if err := t.write(out); err != nil {
		t.cfg.Log.Error("state unsaved", "err", err)
	}
	s.written = out.written
}

// saved is what is saved of a file; nil if nothing is known of it yet.
func (f *file) saved() *saved {
	if f.counting || f.print.N == 0 {
		return nil
	}
	x := &saved{Path: f.path, ID: f.id, Print: f.print, position: f.settled, Changed: f.changed, Marks: slices.Clone(f.marks)}
	if f.opened != f.path {
		x.Name = f.opened
	}
	return x
}

// write writes a state aside, and puts it in the place of the one before.
func (t *Tailer) write(s *state) error {
	at := s.Saved
	s.Saved = time.Time{}
	text, err := json.Marshal(s)
	s.Saved = at
	if err != nil || string(text) == s.written {
		return err
	}
	s.written = string(text)
	if text, err = json.Marshal(s); err != nil {
		return err
	}
	path := filepath.Join(t.cfg.State, stateName)
	aside, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	_, err = aside.Write(text)
	err = errors.Join(err, aside.Sync(), aside.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	if dir, err := os.Open(t.cfg.State); err == nil {
		_ = dir.Sync() // not all systems can
		_ = dir.Close()
	}
	return nil
}

// resume goes on with a file that has come into sight: where reading was, if it
// is known; else at its start, or at its end if it was there when following
// began.
func (t *Tailer) resume(f *file, w *watch, initial bool) {
	since := t.sinceAt(w.path)
	if f.after != nil {
		since = f.after.since()
	}
	rotated := !since.IsZero()
	x := t.known(f)
	for _, y := range slices.Clone(t.state.Files) {
		switch {
		case y == x || y.Path != w.path || t.byID[y.ID] != nil || y.ID == identity{}:
		case y.Gone.IsZero():
			if from := t.since(y); !rotated || from.Before(since) {
				since = from
			}
			rotated = true
			t.finish(f, w, y)
		case y.ID != f.id && initial && t.now.Sub(y.Gone) <= t.cfg.Recent: // reports look back at it
			t.finish(f, w, y)
		}
	}
	if x != nil {
		t.taken(x)
		f.goOn(x)
		if initial || x.Gone.IsZero() { // else this process has read it
			f.recall(x)
		}
		return
	}
	if rotated {
		t.between(w, f, since)
	}
	if initial && !w.set.Start && !rotated {
		f.counting = true
	}
}

// known finds what was saved of a file.
func (t *Tailer) known(f *file) *saved {
	for i, x := range t.state.Files {
		if x.ID != f.id {
			continue
		}
		fd, err := os.Open(f.opened)
		if err != nil {
			return x // it will be seen when it can be opened
		}
		same := x.Print.of(fd)
		_ = fd.Close()
		if same {
			return x
		}
		if x.Path == f.path && x.Gone.IsZero() {
			return nil // it was rotated, or written anew
		}
		t.state.Files = slices.Delete(t.state.Files, i, i+1) // its inode is used again
		return nil
	}
	return nil
}

// taken drops what was saved of a file that is followed again.
func (t *Tailer) taken(x *saved) {
	t.state.Files = slices.DeleteFunc(t.state.Files, func(y *saved) bool { return y == x })
}

// goOn takes up what was saved.
func (f *file) goOn(x *saved) {
	f.print, f.settled, f.marks = x.Print, x.position, x.Marks
	f.offset, f.line = x.Offset, x.Line
	f.counted, f.kept = x.Line, x.Line
}

// finish reads a file to its end that had the path of another one when the state
// was saved: it was rotated meanwhile, or not long before.
func (t *Tailer) finish(f *file, w *watch, x *saved) {
	t.taken(x)
	old := newFile(t, w, x.ID)
	old.goOn(x)
	old.recall(x)
	if x.Name != "" {
		old.opened = x.Name
	}
	fd, err := old.locate()
	if (err != nil || fd == nil) && !x.Gone.IsZero() {
		return // all of it was read
	}
	if err != nil || fd == nil {
		t.cfg.Log.Warn("rotated away", "path", w.path, "read", x.Offset)
		f.news.note(lang.T("what was written to it before it was rotated is gone: nobody followed it then"))
		f.fresh = true
		return
	}
	_ = fd.Close()
	old.leaving = true
	t.byID[old.id] = old
	t.files = append(t.files, old)
	old.after, f.after = f.after, old
}
