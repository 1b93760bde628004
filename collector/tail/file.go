package tail

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/parsers"
)

// file is one file that is followed, whatever it is called by now.
type file struct {
	t       *Tailer
	path    string // by which it is cited
	pattern string // that found it
	set     *Files
	id      identity

	fd      *os.File
	opened  string // where it is opened
	size    int64  // when it was last looked at
	changed time.Time
	seen    time.Time // at its path, the last time
	print   print
	last    []byte // the last bytes that were read
	leaving bool   // its path leads to another file by now, or to none
	gone    bool   // it was let go
	lost    bool   // it is nowhere to be found
	waits   bool   // too many are open
	failed  string // why it cannot be read; empty if it can
	wait    int    // polls until it is tried again

	// Where reading is: all before offset was handed to the reader, and line is
	// the number of the line there.
	offset  int64
	line    int
	chunks  []piece // that are not settled
	settled position
	again   int // records of lines before this one are handed on once more
	counted int // lines before this one were counted
	kept    int // lines before this one were handed on as they are
	marks   []mark
	past    []mark    // until when the lines came that are handed on once more
	from    *position // where reading is resumed, if that is before what is settled
	after   *file     // is read first; nil if there is none
	blank   int64     // bytes of a file that holds nothing but NULs
	turn    int       // the poll in which it could be read last

	counting bool  // lines up to target are being counted
	target   int64 // where reading begins

	dec     *collector.Decoder
	reader  *parsers.Follower
	in      *parsers.Input
	age     int // polls since the reader was made
	chosen  int // times that a format was chosen anew
	quiet   int // polls since something came
	fresh   bool
	news    *ledger // of all files that had its path
	refused string  // why it is no text
	said    string  // why it could not be read, as it was said last
	looked  int     // bytes by which a format was chosen last
	records int     // that came of it

	lastRecord time.Time // when it came
	behind     time.Time // since when there is something that was not read
}

// position is where reading can be resumed: see parsers.Follower.
type position struct {
	Offset int64 `json:"offset"`
	Line   int   `json:"line"`
	Done   int   `json:"done,omitempty"` // lines up to this one belong to what was emitted
	Broken bool  `json:"broken,omitempty"`
}

// piece is what was handed to the reader at once.
type piece struct {
	line   int // of its first byte
	offset int64
	ends   []uint32 // behind each line end
}

func newFile(t *Tailer, w *watch, id identity) *file {
	return &file{t: t, path: w.path, pattern: w.pattern, opened: w.path, set: w.set, id: id, line: 1, settled: position{Line: 1}, size: -1, news: t.ledger(w.path)}
}

// open opens the file unless it is open. It reports whether it is.
func (f *file) open() bool {
	if f.fd != nil {
		return true
	}
	if f.wait > 0 {
		return false
	}
	if f.t.open >= f.t.cfg.MaxOpen && !f.t.closeIdle() {
		f.wait = 1
		if !f.t.capped {
			f.t.capped = true
			f.t.cfg.Log.Warn("files capped", "open", f.t.open)
		}
		f.waits = true
		f.failed = lang.Sprintf("waits: %d files are open already", f.t.open) // which is logged once, not for each
		return false
	}
	fd, err := os.Open(f.opened)
	if errors.Is(err, fs.ErrNotExist) && f.leaving {
		if other, _ := f.locate(); other != nil {
			fd, err = other, nil
		}
	}
	if err == nil {
		var info fs.FileInfo
		if info, err = fd.Stat(); err == nil && identityOf(f.opened, info) != f.id {
			_ = fd.Close()
			// It was renamed since it was looked at: look for it under another name.
			if fd, err = f.locate(); err == nil && fd == nil {
				err = fs.ErrNotExist
			}
		}
	}
	f.waits = false
	if err != nil {
		f.wait = retryEvery
		f.lost = errors.Is(err, fs.ErrNotExist)
		f.fail(lang.Sprintf("%v", reason(err)))
		return false
	}
	f.failed = ""
	f.fd = fd
	f.t.open++
	return true
}

// fail says why the file is not read.
func (f *file) fail(why string) {
	if f.failed != why {
		f.failed = why
		f.t.cfg.Log.Warn("unread", "path", f.path, "why", why)
	}
}

// locate opens the file by another name in its folder.
func (f *file) locate() (*os.File, error) {
	if f.id.Dev == 0 {
		return nil, nil
	}
	dir := filepath.Dir(resolved(f.opened))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		info, err := e.Info()
		path := filepath.Join(dir, e.Name())
		if err != nil || !info.Mode().IsRegular() || identityOf(path, info) != f.id {
			continue
		}
		fd, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		if !f.print.of(fd) {
			_ = fd.Close()
			return nil, nil
		}
		f.opened = path
		return fd, nil
	}
	return nil, nil
}

// close lets the descriptor and the reader go. What is open is handed on.
func (f *file) close() {
	if f.reader != nil {
		f.problem(f.reader.Close())
		f.settle()
		f.reader = nil
	}
	if f.fd != nil {
		_ = f.fd.Close() // only read
		f.fd = nil
		f.t.open--
	}
}

// closeIdle makes room for another open file.
func (t *Tailer) closeIdle() bool {
	var idle *file
	for _, f := range t.files {
		if f.fd != nil && !f.leaving && f.quiet >= holdFor && f.left() == 0 && (idle == nil || f.quiet > idle.quiet) {
			idle = f
		}
	}
	if idle == nil {
		return false
	}
	idle.close()
	return true
}

// end hands on what is left and what is open.
func (f *file) end() {
	if f.reader != nil && f.fd != nil {
		if f.half(f.t.buf) {
			f.fresh = true
		}
	}
	f.close()
}

// step reads a chunk and hands it on. It returns how many bytes there were.
func (f *file) step() int {
	if f.after.unread() {
		return 0
	}
	f.after, f.turn = nil, f.t.polls
	if f.wait > 0 || !f.look() || f.reader == nil && !f.start() {
		return 0
	}
	if len(f.marks) == 0 {
		f.mark()
	}
	raw := f.read(chunkSize)
	whole := f.dec.Whole(raw)
	if whole == 0 && len(raw) == chunkSize {
		raw = f.read(giantSize)
		if whole = f.dec.Whole(raw); whole == 0 && len(raw) == giantSize {
			whole = f.dec.Part(raw)
		}
	}
	if whole == 0 {
		return 0
	}
	f.give(raw[:whole])
	return whole
}

// look sees whether there is something to read, and makes ready for it.
func (f *file) look() bool {
	if f.fd == nil {
		info, err := os.Stat(f.opened)
		if err == nil && identityOf(f.opened, info) == f.id && info.Size() == f.size && info.ModTime().Equal(f.changed) && f.left() == 0 {
			return false
		}
		if !f.open() {
			return false
		}
	}
	info, err := f.fd.Stat()
	if err != nil {
		f.fail(lang.Sprintf("%v", reason(err)))
		return false
	}
	if size := info.Size(); size != f.size || !info.ModTime().Equal(f.changed) {
		f.size, f.changed, f.quiet, f.blank = size, info.ModTime(), 0, 0
		switch {
		case size < f.offset:
			f.restart(lang.T("truncated: it is read from its start again"))
		case !f.print.of(f.fd), !sameAt(f.fd, f.offset-int64(len(f.last)), f.last):
			f.restart(lang.T("truncated and written anew: it is read from its start again"))
		}
	} else if f.refused != "" {
		return false
	}
	if max(f.offset, f.blank) >= f.size {
		return false
	}
	return f.ready()
}

// restart begins at the start of a file that is not what it was.
func (f *file) restart(why string) {
	f.t.cfg.Log.Info("truncated", "path", f.path, "read", f.offset, "size", f.size)
	if f.reader != nil {
		f.problem(f.reader.Close())
		f.reader = nil
	}
	f.remember()
	f.news.truncated++
	f.news.note(why)
	f.offset, f.line, f.chunks, f.last, f.counting, f.from = 0, 1, nil, nil, false, nil
	f.settled, f.again, f.counted, f.kept, f.chosen, f.marks = position{Line: 1}, 0, 0, 0, 0, nil
	f.print, f.dec, f.records = print{}, nil, 0
	f.refused = ""
	f.fresh = true
}

// ready finds out what kind of text it is and where it begins, once.
func (f *file) ready() bool {
	if f.offset == 0 && f.dec == nil {
		at := skipNULs(f.fd, f.size)
		if at >= f.size {
			f.blank = at
			return false
		}
		f.print.At, f.offset = at, at
		if f.from == nil {
			f.settled.Offset = at
		}
	}
	if f.dec == nil {
		head := make([]byte, 4<<10)
		n, _ := f.fd.ReadAt(head, f.print.At)
		dec, problem := collector.NewDecoder(head[:n])
		if problem != "" {
			if f.refused != problem {
				f.refused = problem
				f.fresh = true
			}
			return false
		}
		f.refused = ""
		f.dec = dec
		if f.offset == f.print.At {
			f.offset += int64(dec.Mark())
			if f.from == nil {
				f.settled.Offset = f.offset
			}
		}
	}
	if f.print.N < printSize {
		f.print = f.print.take(f.fd, int(min(printSize, f.size-f.print.At)))
	}
	return true
}

// unread reports whether there is more to be read of a file. There is none of nil.
func (f *file) unread() bool {
	return f != nil && !f.gone && f.failed == "" && (f.left() > 0 || f.size < 0)
}

// left returns how many bytes are still to be read, as far as is known.
func (f *file) left() int64 {
	if f.refused != "" {
		return 0
	}
	return max(0, f.size-max(f.offset, f.blank))
}

// skipNULs returns where the text of a file begins: behind the hole that is left
// where a log was truncated while its writer went on at its old place.
func skipNULs(fd *os.File, size int64) int64 {
	at := dataAt(fd)
	buf := make([]byte, 64<<10)
	for at < size {
		n, err := fd.ReadAt(buf, at)
		text := bytes.TrimLeft(buf[:n], "\x00")
		at += int64(n - len(text))
		if len(text) > 0 {
			if at > 0 && at&1 == 1 && len(text) > 1 && text[1] == 0 { // UTF-16, big endian
				at--
			}
			return at
		}
		if err != nil {
			break
		}
	}
	return at
}

// read returns bytes from where reading is, as many as there are up to a number.
func (f *file) read(most int) []byte {
	if room := f.size - f.offset; int64(most) > room {
		most = int(room)
	}
	n, err := f.fd.ReadAt(f.t.buf[:most], f.offset)
	if err != nil && !errors.Is(err, io.EOF) {
		f.fail(lang.Sprintf("%v", reason(err)))
		f.wait = retryEvery
	}
	return f.t.buf[:n]
}

// give hands on bytes of the file: whole lines, or a part of a very long one.
func (f *file) give(raw []byte) {
	first := f.line
	ends := f.dec.Ends(nil, raw)
	if f.reader.Broken() { // the rest of the line before, which the reader passes by
		if first--; len(ends) == 0 {
			f.offset += int64(len(raw))
			return
		}
	}
	text := f.dec.Decode(raw)
	f.chunks = append(f.chunks, piece{first, f.offset, ends})
	f.offset += int64(len(raw))
	f.line = first + len(ends)
	f.last = append(f.last[:0], raw[max(0, len(raw)-lastBytes):]...)
	if f.line > f.kept {
		f.t.cfg.Sink.Raw(f.path, f.t.now, text)
		f.kept = f.line
	}
	if n := f.line - max(first, f.counted); n > 0 || len(ends) == 0 {
		f.news.lines += int64(n)
		f.news.bytes += int64(len(raw))
		if before := f.counted - first; before > 0 && n > 0 { // of lines that were counted before
			f.news.bytes -= int64(ends[before-1])
		}
		f.counted = f.line
	}
	f.quiet, f.fresh = 0, true
	if err := f.reader.Feed(text); err != nil {
		f.broke(err)
		return
	}
	f.settle()
	f.choose()
}

// half hands on a line whose end is not there. It reports whether there was one.
func (f *file) half(buf []byte) bool {
	if f.dec == nil || f.reader == nil || f.offset >= f.size || f.size-f.offset > int64(len(buf)) {
		return false
	}
	raw := f.read(len(buf))
	raw = raw[:f.dec.Part(raw)]
	if len(raw) == 0 || f.dec.Whole(raw) > 0 {
		return false
	}
	f.give(raw)
	if f.reader == nil {
		return true
	}
	f.problem(f.reader.Quiet())
	f.line++
	f.news.lines++
	f.settle()
	return true
}

// settle moves the position at which reading can be resumed.
func (f *file) settle() {
	f.news.count(f.line <= f.again)
	line, done := f.reader.Settled()
	p := position{Line: line, Done: done}
	for len(f.chunks) > 1 && f.chunks[1].line <= line && f.chunks[1].line > f.chunks[0].line {
		f.chunks = f.chunks[1:]
	}
	if len(f.chunks) == 0 || line >= f.line {
		p.Line, p.Offset, p.Broken = f.line, f.offset, f.reader.Broken()
		f.chunks = f.chunks[:0]
	} else {
		c := f.chunks[0]
		p.Offset = c.offset
		if n := min(line-c.line, len(c.ends)); n > 0 {
			p.Offset += int64(c.ends[n-1])
		}
	}
	if p.Line >= f.settled.Line {
		f.settled = p
	}
}
