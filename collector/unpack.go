package collector

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"io"
	"strconv"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/firebreak-io/firebreak/lang"
)

// budget is what the outermost archive of an input has used up.
type budget struct {
	unpacked  int64 // bytes that decompressors made, passed by or not
	delivered int64 // bytes that reached parsers
	packed    func() int64
	bombs     int  // members that alone unpacked to too much
	spent     bool // nothing more of it is read
}

// maxBombs is how many members of an archive may unpack to too much before it
// is given up: each of them costs time.
const maxBombs = 8

// giveUp notes once that the rest of an archive is not read.
func (c *collection) giveUp(name string, m meta) bool {
	b := m.budget
	if b.bombs < maxBombs && b.unpacked <= c.o.Limits.Unpacked {
		return b.spent
	}
	if !b.spent {
		b.spent = true
		c.unread(name, "unpacks to far more than it should: the rest of it is not read")
	}
	return true
}

// packing names the compression or archive whose content begins with head;
// empty for none. Names of files say nothing: content decides.
func packing(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b, 8}):
		return "gzip"
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}),
		len(head) > 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18}): // a skippable frame
		return "zstd"
	case len(head) > 10 && bytes.HasPrefix(head, []byte("BZh")) && head[3] >= '1' && head[3] <= '9' &&
		(string(head[4:10]) == "\x31\x41\x59\x26\x53\x59" || string(head[4:10]) == "\x17\x72\x45\x38\x50\x90"):
		return "bzip2"
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return "xz"
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return "zip"
	case isTar(head):
		return "tar"
	case bytes.HasPrefix(head, []byte("7z\xbc\xaf\x27\x1c")):
		return "7z"
	case bytes.HasPrefix(head, []byte("Rar!\x1a\x07")):
		return "rar"
	case bytes.HasPrefix(head, []byte{0x04, 0x22, 0x4d, 0x18}):
		return "lz4"
	}
	return ""
}

// isTar checks the checksum of a first tar header, of any of its dialects.
func isTar(head []byte) bool {
	if len(head) < 512 || head[0] == 0 {
		return false
	}
	field := bytes.Trim(head[148:156], " \x00")
	want, err := strconv.ParseInt(string(field), 8, 64)
	if err != nil {
		return false
	}
	sum := int64(8 * ' ')
	for i, b := range head[:512] {
		if i < 148 || i >= 156 {
			sum += int64(b)
		}
	}
	return sum == want
}

// maxLayers bounds how often one input may be compressed in a row.
const maxLayers = 3

// unpack reads what a compressed stream contains.
func (c *collection) unpack(name, kind string, r *bufio.Reader, m meta) {
	if m.layers == maxLayers {
		c.unread(name, "compressed more than %d times over", maxLayers)
		return
	}
	in := &counter{r: r}
	inner, done, err := c.decompressor(kind, in)
	if err != nil {
		switch {
		case c.stopped():
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			c.unread(name, "%s data ends within its header", kind)
		default:
			c.unread(name, "%s: %v", kind, err)
		}
		return
	}
	defer done()
	if m.budget == nil {
		m.budget = &budget{packed: m.packed}
	}
	m.layers++
	m.file, m.size = nil, 0
	m.packed, m.start = func() int64 { return in.n }, 0
	c.input(name, &unpacked{c: c, name: name, kind: kind, r: inner, budget: m.budget}, m)
}

// decompressor opens a compressed stream. Its memory is bounded by the window.
func (c *collection) decompressor(kind string, r *counter) (io.Reader, func(), error) {
	switch kind {
	case "gzip":
		z, err := gzip.NewReader(r)
		return z, func() {}, err
	case "zstd":
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(uint64(c.o.Limits.Window)))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	case "bzip2":
		return bzip2.NewReader(r), func() {}, nil
	default:
		head, _ := r.r.Peek(64)
		if need := xzWindow(head); need > c.o.Limits.Window {
			return nil, nil, lang.Errorf("needs a window of %d bytes, more than %d", need, c.o.Limits.Window)
		}
		z, err := xz.ReaderConfig{DictCap: 1 << 16}.NewReader(r)
		return z, func() {}, err
	}
}

// xzWindow returns the dictionary size that the first block of an xz stream
// asks for, 0 if it cannot be told: the LZMA2 filter is number 0x21 with one
// byte of properties, and comes last of at most four.
func xzWindow(head []byte) int64 {
	if len(head) < 18 {
		return 0
	}
	block := head[12:]
	block = block[:min(len(block), 4*(int(block[0])+1))]
	i := bytes.LastIndex(block, []byte{0x21, 0x01})
	if i < 0 || i+2 >= len(block) {
		return 0
	}
	bits := int64(block[i+2] & 0x3f)
	if bits >= 40 {
		return 1<<32 - 1
	}
	return (2 | bits&1) << (bits/2 + 11)
}

// counter counts what a decompressor consumes.
type counter struct {
	r *bufio.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *counter) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// unpacked reads decompressed data: damage becomes a problem and the end of the
// data, and so does more of it than an archive may hold.
type unpacked struct {
	c          *collection
	name, kind string
	r          io.Reader
	n          int64
	budget     *budget
	ended      bool
}

func (u *unpacked) Read(p []byte) (int, error) {
	if u.ended {
		return 0, io.EOF
	}
	n, err := u.r.Read(p)
	u.n += int64(n)
	u.budget.unpacked += int64(n)
	if limit := u.c.o.Limits.Unpacked; u.budget.unpacked > limit && err == nil {
		u.ended = true
		u.c.unread(u.name, "unpacks to more than %d bytes: the rest is not read", limit)
		return n, io.EOF
	}
	if err == nil || u.c.stopped() {
		return n, err
	}
	u.ended = true
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		u.c.unread(u.name, "compressed data ends early after %d bytes", u.n)
	case errors.Is(err, io.EOF):
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		u.c.unread(u.name, "its compression window is larger than %d bytes", u.c.o.Limits.Window)
	case u.n > 0 && (errors.Is(err, gzip.ErrHeader) || errors.Is(err, zstd.ErrMagicMismatch)):
		u.c.problem(u.name, "what follows the compressed data after %d bytes is not %s: ignored", u.n, u.kind)
	default:
		u.c.unread(u.name, "compressed data is damaged after %d bytes: %v", u.n, err)
	}
	return n, io.EOF
}
