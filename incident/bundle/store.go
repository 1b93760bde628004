package bundle

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firebreak-io/firebreak/lang"
)

// Limits bounds what a store keeps. The zero value of a field is no bound.
type Limits struct {
	MaxCount int
	MaxBytes int64
	MaxAge   time.Duration // since it was last updated
}

// Stats counts what a store does.
type Stats struct {
	Bundles int              // that there are
	Bytes   int64            // that they take
	Written int64            // bundles, and new versions of them
	Failed  int64            // that could not be written
	Removed map[string]int64 // because of a limit: "count", "bytes", "age"
}

// Store is a folder of bundles. It may be used by many goroutines.
type Store struct {
	dir    string
	disk   disk
	limits Limits
	now    func() time.Time

	writing sync.Mutex   // one at a time
	mu      sync.RWMutex // of what stands under the names of bundles
	statsMu sync.Mutex
	stats   Stats
}

// The names of what is not a bundle: one that is being written, one that is
// being removed, and one whose place is being taken.
const (
	newPrefix  = ".firebreak-new-"
	gonePrefix = ".firebreak-gone-"
	oldPrefix  = ".firebreak-old-"
	newName    = ".firebreak-new-manifest"
)

// maxManifest bounds what is read of a manifest.
const maxManifest = 8 << 20

// ErrNone is returned for a bundle that there is not.
var ErrNone = lang.NewError("no such bundle")

// Open opens a folder, which it makes if there is none, and removes what is left
// of writes that were cut short.
func Open(dir string, l Limits, now func() time.Time) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, disk: rootDisk{root}, limits: l, now: now, stats: Stats{Removed: map[string]int64{}}}
	if err := s.recover(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return s, nil
}

// recover finishes what was cut short, forwards or backwards.
func (s *Store) recover() error {
	list, err := s.disk.ReadDir(".")
	if err != nil {
		return err
	}
	for _, e := range list {
		name := e.Name()
		if id, ok := strings.CutPrefix(name, oldPrefix); ok {
			if _, err := s.disk.Lstat(id); errors.Is(err, fs.ErrNotExist) {
				if err := s.disk.Rename(name, id); err != nil {
					return err
				}
				continue
			}
		}
		if strings.HasPrefix(name, oldPrefix) || strings.HasPrefix(name, newPrefix) || strings.HasPrefix(name, gonePrefix) {
			if err := s.disk.RemoveAll(name); err != nil {
				return err
			}
		}
	}
	return s.disk.SyncDir(".")
}

// Put writes a bundle, in place of the one with its ID if there is one. The
// manifest's ID must be a [Name]; its list of files is made here. After an error
// the folder is as it was.
func (s *Store) Put(m Manifest, files []File) (err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	defer func() {
		s.statsMu.Lock()
		defer s.statsMu.Unlock()
		if err != nil {
			s.stats.Failed++
			err = lang.Errorf("write the bundle %s: %w", filepath.Join(s.dir, m.ID), err)
			return
		}
		s.stats.Written++
	}()
	if m.ID != Name(m.ID) {
		return fmt.Errorf("%q: %w", m.ID, fs.ErrInvalid)
	}
	temp := newPrefix + m.ID
	if err := s.disk.RemoveAll(temp); err != nil {
		return err
	}
	if err := s.fill(temp, m, files); err != nil {
		_ = s.disk.RemoveAll(temp) // what remains goes at the next start
		return err
	}
	old, err := s.install(temp, m.ID)
	if err != nil {
		_ = s.disk.RemoveAll(temp)
		return err
	}
	if err := s.disk.SyncDir("."); err != nil {
		return err
	}
	if old != "" {
		_ = s.disk.RemoveAll(old) // the same
	}
	return nil
}

// install gives a finished bundle its name. It returns what is to be removed.
func (s *Store) install(temp, id string) (old string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.disk.Lstat(id); errors.Is(err, fs.ErrNotExist) {
		return "", s.disk.Rename(temp, id)
	} else if err != nil {
		return "", err
	}
	if _, err := s.manifest(id); err != nil { // it is not ours
		return "", err
	}
	if err := s.disk.Exchange(temp, id); !errors.Is(err, errors.ErrUnsupported) {
		return temp, err
	}
	old = oldPrefix + id
	if err := s.disk.Rename(id, old); err != nil {
		return "", err
	}
	if err := s.disk.Rename(temp, id); err != nil {
		return "", errors.Join(err, s.disk.Rename(old, id))
	}
	return old, nil
}

// fill writes all files of a bundle and makes sure that they are on the disk.
func (s *Store) fill(dir string, m Manifest, files []File) error {
	m.Schema, m.Sensitive, m.Files, m.Bytes = Schema, sensitive, []FileInfo{}, 0
	if err := s.disk.Mkdir(dir); err != nil {
		return err
	}
	made := map[string]bool{dir: true}
	files = append([]File{{readmeName, func(w io.Writer) error { return readme(w, &m) }}}, files...)
	for _, f := range files {
		if !filepath.IsLocal(f.Path) || path.Clean(f.Path) != f.Path {
			return fmt.Errorf("%q: %w", f.Path, fs.ErrInvalid)
		}
		if err := s.folders(made, path.Dir(dir+"/"+f.Path)); err != nil {
			return err
		}
		info, err := s.write(dir, f, s.limits.MaxBytes-m.Bytes)
		if err != nil {
			return err
		}
		m.Bytes += info.Bytes
		m.Files = append(m.Files, info)
	}
	if _, err := s.write(dir, File{ManifestName, manifestOf(&m)}, maxManifest); err != nil {
		return err
	}
	for d := range made {
		if err := s.disk.SyncDir(d); err != nil {
			return err
		}
	}
	return nil
}

func manifestOf(m *Manifest) func(io.Writer) error {
	return func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(m)
	}
}

// folders makes a folder and those above it, once each.
func (s *Store) folders(made map[string]bool, dir string) error {
	if made[dir] {
		return nil
	}
	if err := s.folders(made, path.Dir(dir)); err != nil {
		return err
	}
	made[dir] = true
	return s.disk.Mkdir(dir)
}

// write writes one file.
func (s *Store) write(dir string, f File, room int64) (FileInfo, error) {
	to, err := s.disk.Create(dir + "/" + f.Path)
	if err != nil {
		return FileInfo{}, err
	}
	w := &counted{w: to, hash: sha256.New(), room: room, bounded: s.limits.MaxBytes > 0}
	err = f.Write(w)
	if err == nil {
		err = to.Sync()
	}
	err = errors.Join(err, to.Close())
	return FileInfo{f.Path, w.n, hex.EncodeToString(w.hash.Sum(nil))}, err
}

// counted counts and sums what is written, and ends it where it is too much.
type counted struct {
	w       io.Writer
	hash    hash.Hash
	n, room int64
	bounded bool
}

var errTooLarge = lang.NewError("it would take more than all bundles may (incidents.max_bytes)")

func (c *counted) Write(p []byte) (int, error) {
	if c.bounded && c.n+int64(len(p)) > c.room {
		return 0, errTooLarge
	}
	n, err := c.w.Write(p)
	c.n += int64(n)
	_, _ = c.hash.Write(p[:n]) // never fails
	return n, err
}

// Amend changes what a bundle's manifest says, but for its files.
func (s *Store) Amend(id string, change func(*Manifest)) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.manifest(id)
	if err != nil {
		return err
	}
	files, bytes := m.Files, m.Bytes
	change(&m)
	m.ID, m.Files, m.Bytes = id, files, bytes
	temp := id + "/" + newName
	if err := s.disk.RemoveAll(temp); err != nil {
		return err
	}
	if _, err := s.write(id, File{newName, manifestOf(&m)}, maxManifest); err != nil {
		return errors.Join(err, s.disk.RemoveAll(temp))
	}
	if err := s.disk.Rename(temp, id+"/"+ManifestName); err != nil {
		return err
	}
	return s.disk.SyncDir(id)
}

// manifest reads the manifest of a bundle; ErrNone if it is none.
func (s *Store) manifest(id string) (Manifest, error) {
	var m Manifest
	if id != Name(id) {
		return m, ErrNone
	}
	info, err := s.disk.Lstat(id)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return m, ErrNone
	}
	if err != nil {
		return m, err
	}
	f, err := s.disk.Open(id + "/" + ManifestName)
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrNone, err)
	}
	defer func() { _ = f.Close() }() // only read
	if err := json.NewDecoder(io.LimitReader(f, maxManifest)).Decode(&m); err != nil {
		return m, fmt.Errorf("%w: %s: %w", ErrNone, ManifestName, err)
	}
	if !strings.HasPrefix(m.Schema, "firebreak.bundle/") || m.ID != id {
		return m, ErrNone
	}
	return m, nil
}

// Get returns the manifest of a bundle; ErrNone if there is none of that ID.
func (s *Store) Get(id string) (Manifest, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.manifest(id)
}

// List returns the manifests of all bundles, the latest first.
func (s *Store) List() ([]Manifest, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.list()
}

func (s *Store) list() ([]Manifest, error) {
	entries, err := s.disk.ReadDir(".")
	if err != nil {
		return nil, err
	}
	list := []Manifest{}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if m, err := s.manifest(e.Name()); err == nil { // what is none is not ours
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b Manifest) int {
		return cmp.Or(b.Opened.Compare(a.Opened), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// Prune removes bundles beyond the limits, the ones that were updated longest
// ago first, but none that keep names. It returns the IDs of those.
func (s *Store) Prune(keep map[string]bool) (removed []string, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.list()
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b Manifest) int { return b.Updated.Compare(a.Updated) })
	count, bytes := 0, int64(0)
	var errs []error
	now := s.now()
	for _, m := range list {
		over := ""
		switch {
		case s.limits.MaxAge > 0 && now.Sub(m.Updated) > s.limits.MaxAge:
			over = "age"
		case s.limits.MaxCount > 0 && count >= s.limits.MaxCount:
			over = "count"
		case s.limits.MaxBytes > 0 && bytes+m.Bytes > s.limits.MaxBytes:
			over = "bytes"
		}
		if over == "" || keep[m.ID] {
			count++
			bytes += m.Bytes
			continue
		}
		gone := gonePrefix + m.ID
		if err := s.disk.Rename(m.ID, gone); err != nil {
			errs = append(errs, err)
			continue
		}
		s.statsMu.Lock()
		s.stats.Removed[over]++
		s.statsMu.Unlock()
		removed = append(removed, m.ID)
		errs = append(errs, s.disk.RemoveAll(gone))
	}
	s.statsMu.Lock()
	s.stats.Bundles, s.stats.Bytes = count, bytes
	s.statsMu.Unlock()
	return removed, errors.Join(errs...)
}

// Stats says what the store has done, and what there was when it last pruned.
func (s *Store) Stats() Stats {
	s.statsMu.Lock()
	defer s.statsMu.Unlock()
	st := s.stats
	st.Removed = maps.Clone(st.Removed)
	return st
}
