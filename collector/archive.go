package collector

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxArchives is how deep archives may lie in archives.
const maxArchives = 2

// maxDirectory bounds the directory of a zip, which must be held in memory.
const maxDirectory = 16 << 20

// enter prepares the meta of an archive's members.
func (c *collection) enter(name string, m meta) (meta, bool) {
	if m.archives == maxArchives {
		c.unread(name, "lies %d archives deep: not read", maxArchives)
		return m, false
	}
	if m.budget == nil {
		m.budget = &budget{packed: m.packed}
	}
	m.archives++
	m.layers = 0
	m.size, m.file = 0, nil
	return m, true
}

// skippable says which members are never evidence.
func skippable(name string) bool {
	return litter(path.Base(name)) || strings.HasPrefix(name, "__MACOSX/")
}

// rawMember reports whether a member lies in the raw lines of a bundle, and
// notes once for each such folder that they are not read.
func (c *collection) rawMember(archive, member string) bool {
	i := strings.Index("/"+member, "/"+RawFolder+"/")
	if i < 0 || c.excerpt != nil {
		return false
	}
	c.problem(archive+"!"+member[:i+len(RawFolder)], rawFolderWhy)
	return true
}

// tar reads the members of a tar in their order. Links are ignored.
func (c *collection) tar(name string, r io.Reader, m meta) {
	hint := m.hint
	m, ok := c.enter(name, m)
	if !ok {
		return
	}
	tr := tar.NewReader(r)
	for members := 0; !c.stopped(); members++ {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) { // nothing is written, so any path will do
			switch {
			case c.stopped():
				c.failed(name, 0, err)
			case errors.Is(err, io.ErrUnexpectedEOF):
				c.unread(name, "archive ends early after %d members", members)
			default:
				c.unread(name, "archive is damaged after %d members: %v", members, err)
			}
			return
		}
		if (h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeGNUSparse) || skippable(h.Name) {
			continue
		}
		if c.giveUp(name, m) {
			return
		}
		member := memberName(h.Name)
		if c.rawMember(name, member) {
			continue
		}
		m.hint, m.modified, m.start = hint+"/"+member, h.ModTime, m.packed()
		c.input(name+"!"+member, tr, m)
	}
}

// zip reads the members of a zip, sorted by name.
func (c *collection) zip(name string, r io.Reader, m meta) {
	hint, file, size := m.hint, m.file, m.size
	m, ok := c.enter(name, m)
	if !ok {
		return
	}
	if file == nil {
		held, err := hold(r, c.o.Limits.Buffered)
		switch {
		case err != nil:
			c.failed(name, held.size, err)
			return
		case held.size > c.o.Limits.Buffered:
			c.unread(name, "a zip of more than %d bytes can only be read from a file of its own", c.o.Limits.Buffered)
			return
		}
		file, size = held, held.size
	}
	if n := zipDirectory(file, size); n > maxDirectory {
		c.unread(name, "its directory of %d bytes is too large to be read", n)
		return
	}
	z, err := zip.NewReader(file, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		switch {
		case c.stopped():
			c.failed(name, 0, err)
		case errors.Is(err, zip.ErrFormat) && c.troubled(name):
		case errors.Is(err, zip.ErrFormat):
			c.unread(name, "zip without a directory at its end: cut short, perhaps")
		default:
			c.unread(name, "zip: %v", err)
		}
		return
	}
	if slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == "META-INF/MANIFEST.MF" }) {
		c.problem(name, "a Java program (jar), not evidence")
		return
	}
	z.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(c.o.Limits.Window))))
	m.budget.packed = func() int64 { return size }
	overlaps := overlapping(z.File)
	slices.SortStableFunc(z.File, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range z.File {
		if c.stopped() {
			return
		}
		if !f.Mode().IsRegular() || skippable(f.Name) {
			continue
		}
		if overlaps[f] {
			c.unread(name, "members that share their bytes with others are not read")
			continue
		}
		if c.giveUp(name, m) {
			return
		}
		member := memberName(f.Name)
		if c.rawMember(name, member) {
			continue
		}
		m.hint, m.modified = hint+"/"+member, f.Modified
		c.zipMember(name+"!"+member, f, m)
	}
}

func (c *collection) zipMember(name string, f *zip.File, m meta) {
	const encrypted = 1
	if f.Flags&encrypted != 0 {
		c.unread(name, "encrypted")
		return
	}
	r, err := f.Open()
	if err != nil {
		c.unread(name, "zip: %v", err)
		return
	}
	defer func() { _ = r.Close() }() // only read
	m.packed, m.start = func() int64 { return int64(f.CompressedSize64) }, 0
	u := &unpacked{c: c, name: name, kind: "zip", r: r, budget: m.budget}
	c.input(name, u, m)
}

// overlapping finds the members of a zip whose bytes lie within those of a
// member before them, as no archiver writes them.
func overlapping(files []*zip.File) map[*zip.File]bool {
	type extent struct {
		at int64
		f  *zip.File
	}
	extents := make([]extent, 0, len(files))
	for _, f := range files {
		if at, err := f.DataOffset(); err == nil && f.CompressedSize64 > 0 {
			extents = append(extents, extent{at, f})
		}
	}
	slices.SortStableFunc(extents, func(a, b extent) int { return cmp.Compare(a.at, b.at) })
	found := map[*zip.File]bool{}
	end := int64(-1)
	for _, x := range extents {
		if x.at < end {
			found[x.f] = true
			continue
		}
		end = x.at + int64(min(x.f.CompressedSize64, 1<<62))
	}
	return found
}

// zipDirectory returns the size of a zip's directory as its end record states
// it, 0 if there is none.
func zipDirectory(r io.ReaderAt, size int64) int64 {
	tail := make([]byte, min(size, 64<<10+22+20))
	if n, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && n < len(tail) {
		return 0
	}
	i := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if i < 0 || i+16 > len(tail) {
		return 0
	}
	if n := binary.LittleEndian.Uint32(tail[i+12:]); n != 1<<32-1 {
		return int64(n)
	}
	// zip64: a locator before the end record points to the real one.
	if i < 20 || !bytes.HasPrefix(tail[i-20:], []byte("PK\x06\x07")) {
		return 0
	}
	record := make([]byte, 56)
	if _, err := r.ReadAt(record, int64(binary.LittleEndian.Uint64(tail[i-20+8:]))); err != nil {
		return 0
	}
	return int64(min(binary.LittleEndian.Uint64(record[40:]), 1<<62))
}

// held is a stream kept in memory, in pieces so that growing it copies nothing.
type held struct {
	pieces [][]byte
	size   int64
}

const pieceSize = 1 << 20

// hold reads a stream into memory, up to just beyond a limit.
func hold(r io.Reader, limit int64) (*held, error) {
	h := &held{}
	for h.size <= limit {
		piece := make([]byte, pieceSize)
		n, err := io.ReadFull(r, piece)
		h.pieces = append(h.pieces, piece[:n])
		h.size += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return h, nil
		}
		if err != nil {
			return h, err
		}
	}
	return h, nil
}

func (h *held) ReadAt(p []byte, at int64) (int, error) {
	n := 0
	for n < len(p) {
		i, off := int(at/pieceSize), int(at%pieceSize)
		if at < 0 || i >= len(h.pieces) || off >= len(h.pieces[i]) {
			return n, io.EOF
		}
		k := copy(p[n:], h.pieces[i][off:])
		n += k
		at += int64(k)
	}
	return n, nil
}
