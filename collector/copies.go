package collector

import (
	"bytes"
	"errors"
	"hash/maphash"
	"io"
	"path"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// Evidence is often saved twice: a log beside its compressed copy, a file in a
// folder and in the archive of that folder, a log as it was at ten and again as
// it was at eleven. What is read a second time would count twice, and look like
// requests that came again. So each input is known by sums of its blocks, and
// records of one that begins as another did are passed over for as long as the
// two are the same.
//
// Only what states times is taken for a copy wherever it lies: no two processes
// write the same log. Two replicas may well print the same plan or the same idle
// scrape; such files, and logs of a line or two, are copies only under one name.

const (
	firstBlock = 256     // bytes; blocks double until
	lastBlock  = 2 << 10 // they have this size
	surelySame = 4 << 10 // that much in common is no banner or header
	maxBlocks  = 1 << 20 // of one input: 2 GiB
	maxKnown   = 20_000  // inputs remembered
	maxAlike   = 8       // inputs that begin alike, held against a new one
)

// copies are the inputs read so far.
type copies struct {
	seed   maphash.Seed
	known  int
	byHead map[uint64][]*content // by the sum of their first block
}

func newCopies() *copies { return &copies{seed: maphash.MakeSeed(), byHead: map[uint64][]*content{}} }

// content is what is known of one input: the sums of its whole blocks, and of
// the part of a block that it ends with.
type content struct {
	name    string
	timed   bool
	blocks  []uint64
	tail    uint64
	tailLen int
	whole   bool // it was read to its end, and is not too large
}

func blockSize(i int) int { return min(firstBlock<<min(i, 16), lastBlock) }

// copyReader hands on an input and finds out how far it is the same as one that
// was read before.
type copyReader struct {
	set *copies
	r   io.Reader
	own content
	sum maphash.Hash
	n   int // bytes of the current block that were summed

	block, out []byte     // while it may be a copy: one block, and what of it was not handed on
	alike      []*content // that it has been the same as so far
	of         *content   // one of them
	same       bool       // whatever was handed on is the same
	matched    int64      // bytes that are the same
	lines      int        // whole lines of these
	err        error
}

func (s *copies) reader(name string, r io.Reader) *copyReader {
	c := &copyReader{set: s, r: r, own: content{name: name}, same: true}
	c.sum.SetSeed(s.seed)
	return c
}

func (c *copyReader) Read(p []byte) (int, error) {
	if len(c.out) == 0 && c.same && c.err == nil {
		c.next()
	}
	if len(c.out) > 0 {
		n := copy(p, c.out)
		c.out = c.out[n:]
		return n, nil
	}
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.r.Read(p)
	c.add(p[:n])
	c.ended(err)
	return n, err
}

// next reads one block and compares it.
func (c *copyReader) next() {
	i := len(c.own.blocks)
	size := blockSize(i)
	if cap(c.block) < size {
		c.block = make([]byte, size)
	}
	n, err := io.ReadFull(c.r, c.block[:size])
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	c.out, c.err = c.block[:n], err
	if i == 0 {
		head := maphash.Bytes(c.set.seed, c.out)
		for _, k := range c.set.byHead[head] {
			if k.timed && len(k.blocks) > 0 || sameName(k.name, c.own.name) {
				c.alike = append(c.alike, k)
			}
		}
	}
	c.compare(i, err != nil)
	c.add(c.out)
	c.ended(err)
}

// compare keeps those that this block is the same as, too.
func (c *copyReader) compare(i int, last bool) {
	sum := maphash.Bytes(c.set.seed, c.out)
	n := len(c.out)
	var still []*content
	var over *content // one that ends within this block, as it goes on
	for _, k := range c.alike {
		switch {
		case !last && i < len(k.blocks):
			if k.blocks[i] == sum {
				still = append(still, k)
			}
		case i < len(k.blocks), n < k.tailLen: // this one ends earlier, as a log saved before it
			if n == 0 || c.matched >= max(surelySame, int64(n)) {
				still = append(still, k)
			}
		case n > k.tailLen:
			if maphash.Bytes(c.set.seed, c.out[:k.tailLen]) == k.tail {
				over = k
			}
		case k.tail == sum:
			still = append(still, k)
		}
	}
	switch {
	case len(still) > 0:
		c.of = still[0]
		c.agree(c.out)
	case over != nil:
		c.of = over
		c.agree(c.out[:over.tailLen])
		c.same = false
	default:
		c.same = false
		if c.matched < surelySame {
			c.of, c.lines = nil, 0
		}
	}
	c.alike = still
}

func (c *copyReader) agree(b []byte) {
	c.matched += int64(len(b))
	c.lines += bytes.Count(b, []byte{'\n'})
}

// add sums up what was read.
func (c *copyReader) add(b []byte) {
	for len(b) > 0 && len(c.own.blocks) < maxBlocks {
		part := b[:min(len(b), blockSize(len(c.own.blocks))-c.n)]
		_, _ = c.sum.Write(part) // never fails
		if c.n += len(part); c.n == blockSize(len(c.own.blocks)) {
			c.own.blocks = append(c.own.blocks, c.sum.Sum64())
			c.sum.Reset()
			c.n = 0
		}
		b = b[len(part):]
	}
}

func (c *copyReader) ended(err error) {
	if errors.Is(err, io.EOF) {
		c.own.whole = len(c.own.blocks) < maxBlocks
		c.own.tail, c.own.tailLen = c.sum.Sum64(), c.n
	}
}

// repeats reports whether a record stands in the part that was read before.
func (c *copyReader) repeats(r *evidence.Record) bool {
	return c.of != nil && (c.same || r.Cite.Line > 0 && r.Cite.Line <= c.lines)
}

// finish says what is the same as in another input, and remembers one that is
// not a copy.
func (c *collection) finishCopy(r *copyReader, timed bool) {
	switch {
	case r.of == nil:
	case r.same && r.own.whole:
		c.problem(r.own.name, "the same content as %s: not counted", r.of.name)
		return
	case r.lines > 0:
		c.problem(r.own.name, "its first %d lines are the same as in %s: not counted again", r.lines, r.of.name)
	}
	if !r.own.whole || c.copies.known == maxKnown {
		return
	}
	head := r.own.tail
	if len(r.own.blocks) > 0 {
		head = r.own.blocks[0]
	}
	if list := c.copies.byHead[head]; len(list) < maxAlike {
		own := r.own
		own.timed = timed
		c.copies.byHead[head] = append(list, &own)
		c.copies.known++
	}
}

// sameName reports whether two paths name one file that was saved twice: in a
// folder and in its archive, plain and compressed.
func sameName(a, b string) bool {
	x, y := nameParts(a), nameParts(b)
	for i := 0; i < len(x) && i < len(y); i++ {
		if x[len(x)-1-i] != y[len(y)-1-i] {
			return false
		}
	}
	return true
}

// nameParts are the folders and the name of a path within its archive, without
// what compression adds to it.
func nameParts(name string) []string {
	name = name[strings.LastIndexByte(name, '!')+1:]
	switch ext := path.Ext(name); ext {
	case ".gz", ".zst", ".bz2", ".xz", ".zip", ".Z":
		name = strings.TrimSuffix(name, ext)
	}
	return strings.Split(name, "/")
}
