package tail

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash/fnv"
	"io"
)

// identity tells a file from all others that are there at the same time.
type identity struct {
	Dev uint64 `json:"dev"`
	Ino uint64 `json:"ino"`
}

func nameIdentity(path string) identity {
	h := fnv.New64a()
	_, _ = io.WriteString(h, path)
	return identity{0, h.Sum64()}
}

// print is what a file begins with: inodes are used again, and a file may be
// written anew.
type print struct {
	At  int64  `json:"at,omitempty"` // where its text begins
	N   int    `json:"n"`            // bytes
	Sum string `json:"sum"`
}

const printSize = 1 << 10

// take looks at a file and returns its print.
func (p print) take(r io.ReaderAt, n int) print {
	buf := make([]byte, n)
	n, _ = io.ReadFull(io.NewSectionReader(r, p.At, int64(n)), buf)
	sum := sha256.Sum256(buf[:n])
	return print{p.At, n, hex.EncodeToString(sum[:12])}
}

// of reports whether a file still begins so.
func (p print) of(r io.ReaderAt) bool { return p.N == 0 || p.take(r, p.N) == p }

// lastBytes are the last that were read: they must still stand where they stood.
const lastBytes = 64

func sameAt(r io.ReaderAt, at int64, want []byte) bool {
	if len(want) == 0 {
		return true
	}
	buf := make([]byte, len(want))
	n, _ := r.ReadAt(buf, at)
	return n == len(want) && bytes.Equal(buf, want)
}
