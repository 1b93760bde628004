package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/incident"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func at() time.Time { return noon }

// breaking is a disk of which one operation fails, or that one and all after it.
type breaking struct {
	disk
	left  int  // operations until then
	dead  bool // the process was killed: nothing is done any more
	kill  bool
	plain bool // names cannot change places
}

func (b *breaking) next() error {
	if b.dead {
		return errors.New("killed")
	}
	b.left--
	if b.left != 0 {
		return nil
	}
	b.dead = b.kill
	return syscall.ENOSPC
}

func (b *breaking) Mkdir(name string) error {
	if err := b.next(); err != nil {
		return err
	}
	return b.disk.Mkdir(name)
}

func (b *breaking) Rename(from, to string) error {
	if err := b.next(); err != nil {
		return err
	}
	return b.disk.Rename(from, to)
}

func (b *breaking) Exchange(x, y string) error {
	if b.plain {
		return errors.ErrUnsupported
	}
	if err := b.next(); err != nil {
		return err
	}
	return b.disk.Exchange(x, y)
}

func (b *breaking) RemoveAll(name string) error {
	if err := b.next(); err != nil {
		return err
	}
	return b.disk.RemoveAll(name)
}

// SyncDir and Sync are only counted: a test has no power cuts.
func (b *breaking) SyncDir(string) error { return b.next() }

func (b *breaking) Create(name string) (file, error) {
	if err := b.next(); err != nil {
		return nil, err
	}
	f, err := b.disk.Create(name)
	return &breakingFile{f, b}, err
}

type breakingFile struct {
	file
	b *breaking
}

// Write writes a half before it fails.
func (f *breakingFile) Write(p []byte) (int, error) {
	if err := f.b.next(); err != nil {
		n, _ := f.file.Write(p[:len(p)/2])
		return n, err
	}
	return f.file.Write(p)
}

func (f *breakingFile) Sync() error { return f.b.next() }

func text(path, content string) File {
	return File{path, func(w io.Writer) error { _, err := io.WriteString(w, content); return err }}
}

// version is a bundle's files; versions differ in all of them.
func version(n int) (Manifest, []File) {
	m := Manifest{
		ID: "2026-03-14T10-02Z-slow-sql-order", Label: incident.SlowSQL, Certainty: incident.High, Headline: fmt.Sprint("version ", n),
		Tool: incident.Tool{Version: "test"}, Opened: noon, Updated: noon.Add(time.Duration(n) * time.Minute),
	}
	return m, []File{
		text(ReportName, fmt.Sprintf(`{"schema":"firebreak.report/v1","n":%d}`, n)), text(MarkdownName, fmt.Sprint("# ", n)),
		text("evidence/records.jsonl.gz", fmt.Sprint("records ", n)), text("evidence/firebreak-raw/var/log/a.log", fmt.Sprint("line ", n)),
	}
}

// whole returns which version of the bundle there is, -1 if there is none. It
// must be whole, and nothing else in the folder.
func whole(t *testing.T, dir string) int {
	t.Helper()
	s, err := Open(dir, Limits{}, at)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(list) {
		t.Errorf("the folder holds %d things and %d bundles: %v", len(entries), len(list), entries)
	}
	if len(list) == 0 {
		return -1
	}
	n := -2
	if _, err := fmt.Sscanf(list[0].Headline, "version %d", &n); err != nil {
		t.Fatal(err)
	}
	if len(list[0].Files) != 5 {
		t.Errorf("%d files", len(list[0].Files))
	}
	for _, f := range list[0].Files {
		data, err := os.ReadFile(filepath.Join(dir, list[0].ID, f.Path))
		sum := sha256.Sum256(data)
		if err != nil || hex.EncodeToString(sum[:]) != f.SHA256 || int64(len(data)) != f.Bytes {
			t.Errorf("%s is not what the manifest says: %v", f.Path, err)
		}
		if f.Path != readmeName && !bytes.Contains(data, []byte(fmt.Sprint(n))) {
			t.Errorf("%s is of another version: %s", f.Path, data)
		}
	}
	return n
}

// TestWholeOrNotThere has each operation of the file system fail in turn, or the
// process be killed at it, while a bundle is written for the first time and while
// it takes the place of another.
func TestWholeOrNotThere(t *testing.T) {
	for _, mode := range []struct{ kill, plain bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		for _, before := range []int{-1, 1} {
			t.Run(fmt.Sprintf("killed=%v,exchange=%v,there=%v", mode.kill, !mode.plain, before > 0), func(t *testing.T) {
				for n := 1; ; n++ {
					dir := t.TempDir()
					s, err := Open(dir, Limits{}, at)
					if err != nil {
						t.Fatal(err)
					}
					real := s.disk
					s.disk = &breaking{disk: real, left: -1}
					if before > 0 {
						if err := s.Put(version(before)); err != nil {
							t.Fatal(err)
						}
					}
					b := &breaking{disk: real, left: n, kill: mode.kill, plain: mode.plain}
					s.disk = b
					failure := s.Put(version(2))
					got := whole(t, dir)
					switch {
					case got != before && got != 2:
						t.Fatalf("operation %d: version %d is there", n, got)
					case failure == nil && got != 2:
						t.Fatalf("operation %d: it was written and is not there", n)
					case failure != nil && !mode.kill && !errors.Is(failure, syscall.ENOSPC):
						t.Fatalf("operation %d: %v", n, failure)
					}
					if st := s.Stats(); (st.Failed > 0) != (failure != nil) {
						t.Fatalf("%+v after %v", st, failure)
					}
					if b.left > 0 { // none failed
						if n < 20 {
							t.Fatalf("only %d operations", n)
						}
						break
					}
				}
			})
		}
	}
}

func TestAmendIsAtOnce(t *testing.T) {
	for n := 1; ; n++ {
		dir := t.TempDir()
		s, err := Open(dir, Limits{}, at)
		if err != nil {
			t.Fatal(err)
		}
		m, files := version(1)
		if err := s.Put(m, files); err != nil {
			t.Fatal(err)
		}
		b := &breaking{disk: s.disk, left: n, kill: n%2 == 0}
		s.disk = b
		failure := s.Amend(m.ID, func(m *Manifest) { m.Closed, m.ID, m.Files = noon, "x", nil })
		if got := whole(t, dir); got != 1 {
			t.Fatalf("operation %d: %d", n, got)
		}
		s, err = Open(dir, Limits{}, at)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Get(m.ID)
		if err != nil || failure == nil && got.Closed.IsZero() {
			t.Fatalf("operation %d: %+v, %v", n, got, err)
		}
		if b.left > 0 {
			break
		}
	}
}

func TestWhatIsNotOursIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	outside := t.TempDir()
	for _, name := range []string{"notes", "2026-03-14T10-02Z-slow-sql-order"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	mine := filepath.Join(dir, "2026-03-14T10-02Z-slow-sql-order", "mine.txt")
	if err := os.WriteFile(mine, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := Open(outside, Limits{}, at)
	if err != nil {
		t.Fatal(err)
	}
	m, files := version(1)
	m.ID = "linked"
	if err := other.Put(m, files); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "linked"), filepath.Join(dir, "linked")); err != nil {
		t.Skip(err)
	}
	s, err := Open(dir, Limits{MaxCount: 1}, at)
	if err != nil {
		t.Fatal(err)
	}
	m, files = version(2)
	if err := s.Put(m, files); !errors.Is(err, ErrNone) {
		t.Errorf("a folder that is no bundle was taken for one: %v", err)
	}
	if _, err := s.Prune(nil); err != nil {
		t.Error(err)
	}
	if list, err := s.List(); err != nil || len(list) != 0 {
		t.Errorf("%d bundles, %v", len(list), err)
	}
	for _, id := range []string{"linked", "../" + filepath.Base(outside) + "/linked", "notes", "", ".", "..", "notes/../linked"} {
		if _, err := s.Open(id); !errors.Is(err, ErrNone) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
	// A link inside a bundle leads nowhere.
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(outside, "linked", ReportName)
	if err := errors.Join(os.Remove(report), os.Symlink(filepath.Join(outside, "secret"), report)); err != nil {
		t.Fatal(err)
	}
	if o, err := other.Open("linked"); err == nil {
		t.Errorf("a link was opened: %+v", o)
	}
}

func TestLimits(t *testing.T) {
	dir := t.TempDir()
	now := noon
	s, err := Open(dir, Limits{MaxCount: 3, MaxBytes: 10_000, MaxAge: 10 * time.Hour}, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	put := func(n, size int) error {
		m, files := version(n)
		m.ID = fmt.Sprint("b", n)
		return s.Put(m, append(files, text("evidence/big", strings.Repeat("x", size))))
	}
	names := func() string {
		if _, err := s.Prune(map[string]bool{"b1": true}); err != nil {
			t.Fatal(err)
		}
		list, err := s.List()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range list {
			names = append(names, m.ID)
		}
		return strings.Join(names, " ")
	}
	for n := 1; n <= 5; n++ {
		if err := put(n, 100); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(); got != "b1 b3 b4 b5" { // b1 is open
		t.Errorf("by count: %s", got)
	}
	if err := put(6, 8000); err != nil {
		t.Fatal(err)
	}
	if got := names(); got != "b1 b5 b6" {
		t.Errorf("by bytes: %s", got)
	}
	err = put(7, 20_000)
	if !errors.Is(err, errTooLarge) || !strings.Contains(err.Error(), "incidents.max_bytes") {
		t.Errorf("a bundle that is too large: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 3 {
		t.Errorf("%d things are left", len(entries))
	}
	now = noon.Add(11 * time.Hour)
	if got := names(); got != "b1" {
		t.Errorf("by age: %s", got)
	}
	if st := s.Stats(); st.Bundles != 1 || st.Written != 6 || st.Failed != 1 || fmt.Sprint(st.Removed) != "map[age:2 bytes:2 count:1]" || st.Bytes == 0 {
		t.Errorf("%+v", st)
	}
}

func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		"2026-03-01T10-02Z-slow-sql-order": "2026-03-01T10-02Z-slow-sql-order", "../../etc/passwd": "etc-passwd", "": "incident", "...": "incident",
		"a b/c\x00d\u202ee": "a-b-c-d-e", "订单": "incident", strings.Repeat("x", 500): strings.Repeat("x", maxName), ".hidden": "hidden", "a.": "a",
	} {
		got := Name(text)
		if got != want || Name(got) != got {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	taken := map[string]bool{}
	for _, c := range [][2]string{
		{"/var/log/shop/order.log", "raw/var/log/shop/order.log"},
		{"/var/log/shop/order.log", "raw/var/log/shop/order.log-2"},
		{"../../x", "raw/x"},
		{`C:\logs\a b.log`, "raw/C/logs/a-b.log"},
		{"http://10.20.1.5:6060/debug/pprof/goroutine?debug=2", "raw/http/10.20.1.5-6060/debug/pprof/goroutine-debug-2"},
		{"/1/2/3/4/5/6/7/8/9/a", "raw/3/4/5/6/7/8/9/a"},
		{"/", "raw/unnamed"},
		{"/var/log", "raw/var/log-2"},
		{"/x/y", "raw-2/x/y"},
	} {
		if got := RawName("raw", c[0], taken); got != c[1] {
			t.Errorf("%s is %s, want %s", c[0], got, c[1])
		}
	}
}

func TestOwnFilesAreKnown(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Limits{}, at)
	if err != nil {
		t.Fatal(err)
	}
	m, files := version(1)
	if err := s.Put(m, files); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{ManifestName: true, readmeName: true, MarkdownName: false, ReportName: false} {
		data, err := os.ReadFile(filepath.Join(dir, m.ID, name))
		if err != nil || IsOwn(data) != want {
			t.Errorf("%s: %v, %v", name, IsOwn(data), err)
		}
	}
	if IsOwn(nil) || IsOwn([]byte("{")) || IsOwn([]byte(`{"schema":"other"}`)) {
		t.Error("something else is taken for a manifest")
	}
}
