package tail

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/lang"
)

// Dumps is a folder into which dumps are dropped, by a pool that is exhausted, a
// script or a person. Each is read whole, once, when it has not changed for two
// looks. What is older than a report looks back is left alone at the start.
type Dumps struct {
	Dir      string
	Patterns []string // globs of names, with or without what a compression adds; none: all
	Service  string   // whose they are; empty: their names tell
}

const (
	maxDumps    = 4096      // that are remembered of a folder
	maxDumpSize = 1 << 30   // of one that is read
	maxDumpRaw  = 16 << 20  // of one that is handed on as it is
	dumpsAtOnce = 256 << 20 // bytes of dumps that are read in one poll
)

// dumpFolder is what is known of a folder.
type dumpFolder struct {
	*Dumps
	known   map[string]dumpState // by name: what was read
	waiting map[string]dumpState // by name: what may still be written to
	recall  map[string]bool      // by name: what was read before the restart
	since   time.Time            // what was changed before is left alone
	begun   bool
	problem string
	told    string
	link    string    // a symbolic link, of which it was said that none is followed
	last    time.Time // of the last record
	behind  int64     // bytes that wait
	ledger  *ledger
}

// dumpState tells whether a dump is the one that was read.
type dumpState struct {
	Name    string    `json:"name"`
	ID      identity  `json:"id"`
	Size    int64     `json:"size"`
	Changed time.Time `json:"changed"`
	Read    time.Time `json:"read,omitzero"`   // when it was; zero if it was left alone
	Again   bool      `json:"again,omitempty"` // another one of its name was read before
}

func newDumpFolder(d *Dumps, s *state) *dumpFolder {
	f := &dumpFolder{Dumps: d, known: map[string]dumpState{}, waiting: map[string]dumpState{}, recall: map[string]bool{}, since: s.Saved, ledger: newLedger()}
	for _, x := range s.Dumps[d.Dir] {
		f.known[x.Name] = x
		f.recall[x.Name] = !x.Read.IsZero()
	}
	return f
}

// saved is what is remembered: the latest, if there are too many.
func (d *dumpFolder) saved() []dumpState {
	list := make([]dumpState, 0, len(d.known))
	for _, x := range d.known {
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b dumpState) int {
		return cmp.Or(a.Changed.Compare(b.Changed), strings.Compare(a.Name, b.Name))
	})
	return list[max(0, len(list)-maxDumps):]
}

// wants reports whether a name is that of a dump.
func (d *dumpFolder) wants(name string) bool {
	if name[0] == '.' || strings.HasSuffix(name, "~") {
		return false
	}
	switch filepath.Ext(name) {
	case ".tmp", ".part", ".partial", ".filepart", ".swp", ".new", ".crdownload", ".lock":
		return false
	}
	if len(d.Patterns) == 0 {
		return true
	}
	plain := name
	switch ext := filepath.Ext(name); ext {
	case ".gz", ".zst", ".bz2", ".xz":
		plain = strings.TrimSuffix(name, ext)
	}
	return slices.ContainsFunc(d.Patterns, func(p string) bool {
		whole, _ := path.Match(p, name)
		inside, _ := path.Match(p, plain)
		return whole || inside
	})
}

// drop looks at a folder, and reads what has come and is whole.
func (t *Tailer) drop(d *dumpFolder) {
	entries, err := os.ReadDir(d.Dir)
	if d.problem = ""; err != nil {
		d.problem = lang.Sprintf("%v", reason(err))
		if errors.Is(err, fs.ErrNotExist) {
			d.problem = lang.T("not there (yet)")
		}
		return
	}
	if d.since.IsZero() {
		d.since = t.now
	}
	if !d.begun {
		d.begun = true
		if back := t.now.Add(-t.cfg.Recent); back.Before(d.since) {
			d.since = back
		}
	}
	there := map[string]bool{}
	left := int64(dumpsAtOnce)
	d.behind = 0
	for _, e := range entries {
		if !d.wants(e.Name()) {
			continue
		}
		full := filepath.Join(d.Dir, e.Name())
		info, err := os.Lstat(full) // a link may lead anywhere
		if err == nil && info.Mode()&fs.ModeSymlink != 0 && d.link == "" {
			d.link = e.Name()
			t.cfg.Log.Warn("unread", "path", full, "why", "symbolic link")
			t.cfg.Sink.Source(collector.News{
				Path: d.Dir, Kind: collector.KindDump, Format: "text",
				Problems: []string{lang.Sprintf("symbolic links in it are not followed, such as %s", d.link)},
			})
		}
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			continue
		}
		there[e.Name()] = true
		x := dumpState{Name: e.Name(), ID: identityOf(full, info), Size: info.Size(), Changed: info.ModTime().UTC()}
		was, read := d.known[x.Name]
		switch {
		case read && was.ID == x.ID && was.Size == x.Size:
			if !d.recall[x.Name] {
				continue
			}
			if t.now.Sub(was.Read) <= t.cfg.Recent { // what a report looks back at
				if left <= 0 || !t.cfg.Sink.Room() {
					continue
				}
				left -= x.Size
				t.readDump(d, full, was, true)
			}
			delete(d.recall, x.Name)
			continue
		case x.Changed.Before(d.since):
			d.known[x.Name] = x
			continue
		case d.waiting[x.Name] != x:
			d.waiting[x.Name] = x
			d.behind += x.Size
			continue
		case left <= 0 || !t.cfg.Sink.Room():
			d.behind += x.Size
			continue
		}
		delete(d.waiting, x.Name)
		left -= x.Size
		x.Read, x.Again = t.now.UTC(), read
		t.readDump(d, full, x, false)
		d.known[x.Name] = x
	}
	for name := range d.waiting {
		if !there[name] {
			delete(d.waiting, name)
		}
	}
	for name := range d.known {
		if !there[name] {
			delete(d.known, name)
		}
	}
}

// readDump reads a dump as any other input. Where another dump of its name was
// read before, it is cited by a name of its own. One that was read before the
// restart is not counted again.
func (t *Tailer) readDump(d *dumpFolder, full string, x dumpState, again bool) {
	cited := filepath.ToSlash(filepath.Clean(full))
	if x.Again {
		cited += "@" + x.Changed.Format(time.RFC3339)
	}
	if x.Size > maxDumpSize {
		why := lang.Sprintf("larger than %d MiB: not read", maxDumpSize>>20)
		t.cfg.Sink.Source(collector.News{Path: cited, Kind: collector.KindDump, Format: "text", Problems: []string{why}, Unread: why, Gone: true})
		return
	}
	t.rawDump(full, cited, x)
	original := filepath.ToSlash(filepath.Clean(full))
	sources, err := collector.Collect(context.Background(), []string{full}, collector.Options{Zone: t.cfg.Zone}, func(r *evidence.Record) error {
		if rest, ok := strings.CutPrefix(r.Cite.Source, original); ok {
			r.Cite.Source = cited + rest
		}
		if d.Service != "" {
			r.Place.Service = d.Service
		}
		if again {
			t.cfg.Sink.Again(r, x.Read)
			return nil
		}
		d.last = t.now
		t.cfg.Sink.Add(r)
		return nil
	})
	if err != nil && len(sources) == 0 {
		t.cfg.Log.Warn("unread", "path", full, "err", err)
	}
	for i := range sources {
		s := &sources[i]
		rest := strings.TrimPrefix(s.Path, original)
		t.cfg.Sink.Source(collector.News{
			Path: cited + rest, Kind: collector.KindDump, Format: s.Format, Records: int64(s.Records), Skipped: int64(s.Skipped), Bytes: s.Bytes,
			From: s.From, To: s.To, Problems: s.Problems, Unread: s.Unread, Gone: true,
		})
		if again {
			continue
		}
		d.ledger.skipped += int64(s.Skipped)
		d.ledger.bytes += s.Bytes
		if s.Records > 0 {
			first, _, _ := strings.Cut(s.Format, ", ")
			d.ledger.tally[first] += s.Records
		}
	}
}

// rawDump hands on a dump as it is, if it is a text of a size that can be kept.
func (t *Tailer) rawDump(full, cited string, x dumpState) {
	if x.Size > maxDumpRaw {
		return
	}
	data, err := os.ReadFile(full)
	if err != nil || bytes.IndexByte(data[:min(len(data), 4<<10)], 0) >= 0 {
		return
	}
	dec, problem := collector.NewDecoder(data[:min(len(data), 4<<10)])
	if problem != "" {
		return
	}
	t.cfg.Sink.Raw(cited, t.now, dec.Decode(data[dec.Mark():]))
}
