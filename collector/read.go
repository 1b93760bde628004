package collector

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/firebreak-io/firebreak/parsers"
)

// meta is what is known of an input besides its bytes.
type meta struct {
	hint     string // path that may name a service
	modified time.Time
	size     int64       // packed; 0 if unknown
	file     io.ReaderAt // the input itself, if it can be read at random; nil if not
	archives int         // archives around it
	layers   int         // compressions around it, within its archive

	packed func() int64 // bytes consumed of the innermost packed stream
	start  int64        // packed bytes consumed before this input began
	budget *budget      // of the outermost archive; nil outside any
}

// file reads one file found, or standard input.
func (c *collection) file(f found) {
	m := meta{hint: f.hint, modified: f.modified, size: f.size}
	var r io.Reader
	if f.path == "" {
		p := startPump(c.ctx, c.o.Stdin)
		defer p.stop()
		r = p
	} else {
		file, err := c.openFound(f)
		if err != nil {
			if !c.stopped() {
				c.unread(f.name, "%v", reason(err))
			}
			return
		}
		defer func() { _ = file.Close() }() // only read
		r = file
		if f.info.Mode().IsRegular() {
			c.progress.Bytes += skipHole(file)
			m.file = &meterAt{c: c, r: file}
		} else {
			p := startPump(c.ctx, file)
			defer p.stop()
			r = p
		}
	}
	raw := &meter{c: c, r: r}
	m.packed = func() int64 { return raw.n }
	c.input(f.name, raw, m)
}

// openFound opens a file. Opening a named pipe waits for someone to write to it,
// so that is done in a goroutine of its own, which the end of the context leaves.
func (c *collection) openFound(f found) (*os.File, error) {
	if f.info.Mode().IsRegular() {
		return c.open(f.path)
	}
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened, 1)
	go func() {
		file, err := c.open(f.path)
		done <- opened{file, err}
	}()
	select {
	case o := <-done:
		return o.file, o.err
	case <-c.ctx.Done():
		return nil, c.ctx.Err()
	}
}

// skipHole passes by the hole that a file begins with, and returns its size. A
// log that was truncated while its writer went on at its old place begins with
// one, which may be as large as the log ever was.
func skipHole(file *os.File) int64 {
	const seekData = 3
	switch runtime.GOOS {
	case "linux", "freebsd":
	default:
		return 0
	}
	n, err := file.Seek(0, seekData)
	if errors.Is(err, syscall.ENXIO) { // nothing but a hole
		n, err = file.Seek(0, io.SeekEnd)
		n = max(0, n-headSize)
	}
	if err == nil && n > 0 { // not all of it, so that what begins with NULs is known to
		n = max(0, n-headSize)
		_, err = file.Seek(n, io.SeekStart)
	}
	if err != nil {
		n, _ = file.Seek(0, io.SeekStart)
	}
	return n
}

const headSize = 4 << 10

// input reads anything: it looks at the first bytes and unpacks or parses.
func (c *collection) input(name string, r io.Reader, m meta) {
	if c.stopped() {
		return
	}
	br := bufio.NewReaderSize(r, 64<<10)
	head, err := br.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		c.failed(name, 0, err)
		return
	}
	switch kind := packing(head); kind {
	case "":
		c.text(name, br, m)
	case "tar":
		c.tar(name, br, m)
	case "zip":
		c.zip(name, br, m)
	case "7z", "rar", "lz4":
		c.unread(name, "%s archives are not read", kind)
	default:
		c.unpack(name, kind, br, m)
	}
}

// text parses an unpacked input.
func (c *collection) text(name string, br *bufio.Reader, m meta) {
	if c.looks(name, br, m) {
		return
	}
	if c.o.Foreign != nil {
		head, _ := br.Peek(headSize) // an error will come again
		if why := c.o.Foreign(head); why != "" {
			c.problem(name, "%s", why)
			return
		}
	}
	leaf := &leaf{c: c, name: name, r: br, packed: m.packed, start: m.start, budget: m.budget}
	text, problem := decode(leaf, func(head []byte) bool { return known(name, head) })
	if c.stopped() {
		return
	}
	if problem != "" {
		c.consequence(name, "%s", problem)
		return
	}
	c.parsed = true
	rd := &reading{c: c, src: c.source(name), copy: c.copies.reader(name, text)}
	in := parsers.NewInput(name, rd.copy)
	in.Hint = hintOf(m.hint)
	in.Hint.Modified = m.modified
	in.Hint.Zone = c.o.Zone
	in.Hint.AccessFormat = c.o.AccessFormat
	in.Skip = rd.skip
	err := rd.parse(in)
	rd.finish(in, leaf.n)
	c.finishCopy(rd.copy, !rd.src.From.IsZero())
	if err != nil && c.sinkErr == nil {
		c.failed(name, leaf.n, err)
	}
}

// known reports whether a whole format claims an input that begins so.
func known(name string, head []byte) bool {
	for _, f := range parsers.Formats() {
		if f.Parse != nil && f.Sniff(name, head) > parsers.Maybe {
			return true
		}
	}
	return false
}

// failed notes an error that ended the reading of an input.
func (c *collection) failed(name string, n int64, err error) {
	switch {
	case c.ctx.Err() != nil && errors.Is(err, c.ctx.Err()):
		c.unread(name, "%s", c.interrupted())
	case errors.Is(err, io.ErrUnexpectedEOF):
		c.unread(name, "ends early after %d bytes", n)
	default:
		c.unread(name, "%v after %d bytes", reason(err), n)
	}
}

// meter counts what is read from disk and stops reading when the context ends.
type meter struct {
	c *collection
	r io.Reader
	n int64
}

func (m *meter) Read(p []byte) (int, error) {
	if err := m.c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.r.Read(p)
	m.n += int64(n)
	m.c.advance(n)
	return n, err
}

// meterAt is meter for reading at random.
type meterAt struct {
	c *collection
	r io.ReaderAt
}

func (m *meterAt) ReadAt(p []byte, at int64) (int, error) {
	if err := m.c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.r.ReadAt(p, at)
	m.c.advance(n)
	return n, err
}

// leaf is the reader below a parser. It holds the input to its limits, and
// turns what goes wrong into a problem and the end of the input, so that what
// could be read counts.
type leaf struct {
	c      *collection
	name   string
	r      io.Reader
	n      int64
	packed func() int64
	start  int64 // packed bytes consumed before it
	budget *budget
	ended  bool
}

func (l *leaf) Read(p []byte) (int, error) {
	if l.ended {
		return 0, io.EOF
	}
	n, err := l.r.Read(p)
	l.n += int64(n)
	if b := l.budget; b != nil {
		b.delivered += int64(n)
		lim := l.c.o.Limits
		switch {
		case l.n > lim.Slack+lim.Ratio*(l.packed()-l.start):
			l.c.unread(l.name, "unpacks to more than %d times its packed size: stopped after %d bytes", lim.Ratio, l.n)
			b.delivered -= l.n // it alone is to blame
			b.bombs++
			l.ended = true
			return n, io.EOF
		case b.delivered > lim.Slack+lim.Ratio*b.packed():
			l.c.unread(l.name, "its archive unpacks to more than %d times its packed size: stopped after %d bytes", lim.Ratio, l.n)
			l.ended = true
			return n, io.EOF
		}
	}
	if err == nil || err == io.EOF || l.c.stopped() {
		return n, err
	}
	l.ended = true
	l.c.failed(l.name, l.n, err)
	return n, io.EOF
}

// pump reads in a goroutine of its own, so that a read that waits for ever does
// not keep a cancelled collection from ending.
type pump struct {
	ctx   context.Context
	full  chan chunk
	empty chan []byte
	done  chan struct{}
	now   chunk
}

type chunk struct {
	buf, data []byte
	err       error
}

func startPump(ctx context.Context, r io.Reader) *pump {
	p := &pump{ctx: ctx, full: make(chan chunk, 1), empty: make(chan []byte, 2), done: make(chan struct{})}
	p.empty <- make([]byte, 256<<10)
	p.empty <- make([]byte, 256<<10)
	go func() {
		for {
			var buf []byte
			select {
			case buf = <-p.empty:
			case <-p.done:
				return
			}
			n, err := r.Read(buf)
			select {
			case p.full <- chunk{buf, buf[:n], err}:
			case <-p.done:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return p
}

func (p *pump) stop() { close(p.done) }

func (p *pump) Read(b []byte) (int, error) {
	for len(p.now.data) == 0 {
		if p.now.err != nil {
			return 0, p.now.err
		}
		if p.now.buf != nil {
			p.empty <- p.now.buf
			p.now.buf = nil
		}
		select {
		case p.now = <-p.full:
		case <-p.ctx.Done():
			return 0, p.ctx.Err()
		}
	}
	n := copy(b, p.now.data)
	p.now.data = p.now.data[n:]
	return n, nil
}

// memberName makes a name from an archive fit to be shown and cited.
func memberName(raw string) string {
	name := strings.TrimPrefix(toUTF8(raw), "./")
	var b strings.Builder
	for _, r := range name {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			fmt.Fprintf(&b, "\\x%02x", r)
		} else {
			b.WriteRune(r)
		}
		if b.Len() > 1024 {
			b.WriteString("…")
			break
		}
	}
	return b.String()
}
