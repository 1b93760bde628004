package otlp

import (
	"sync"
	"sync/atomic"
)

// budget bounds the bytes of all requests that are being read: what of them is
// unpacked, and what unpacking takes.
type budget struct {
	limit int64
	used  atomic.Int64
}

func (b *budget) take(n int64) bool {
	if b.used.Add(n) > b.limit {
		b.used.Add(-n)
		return false
	}
	return true
}

func (b *budget) give(n int64) { b.used.Add(-n) }

// account is what one request has taken of a budget.
type account struct {
	from *budget
	n    int64
}

// take takes more, or says that there is no room.
func (a *account) take(n int64) error {
	if !a.from.take(n) {
		return errNoRoom
	}
	a.n += n
	return nil
}

// close gives all of it back.
func (a *account) close() {
	a.from.give(a.n)
	a.n = 0
}

// Buffers come in classes of 8 KiB, 16 KiB, ..., 32 MiB, so that one that was
// grown can be used again. Those of more than 1 MiB are left to the collector of
// garbage.
const (
	smallest   = 8 << 10
	classes    = 13
	keptClass  = 7
	perRequest = 8 << 10 // beside its buffer: goroutines, headers
)

var buffers [keptClass + 1]sync.Pool

func buffer(class int) *[]byte {
	if class <= keptClass {
		if b, ok := buffers[class].Get().(*[]byte); ok {
			return b
		}
	}
	b := make([]byte, smallest<<class)
	return &b
}

func recycle(class int, b *[]byte) {
	if class <= keptClass {
		buffers[class].Put(b)
	}
}

// body is the bytes of one request, as they come.
type body struct {
	account account
	class   int
	buf     *[]byte
	n       int
}

// newBody makes room for the beginning of a request, which is said to have so
// many bytes. The word of a sender is worth 64 KiB.
func newBody(from *budget, size int64) (*body, error) {
	b := &body{account: account{from: from}}
	for b.class < 3 && smallest<<b.class < size {
		b.class++
	}
	if err := b.account.take(smallest<<b.class + perRequest); err != nil {
		return nil, err
	}
	b.buf = buffer(b.class)
	return b, nil
}

// space is where the next bytes go; there is some.
func (b *body) space() ([]byte, error) {
	if b.n < len(*b.buf) {
		return (*b.buf)[b.n:], nil
	}
	if b.class+1 == classes {
		return nil, errTooLarge
	}
	// Both are there while one is copied into the other.
	if err := b.account.take(int64(smallest << (b.class + 1))); err != nil {
		return nil, err
	}
	grown := buffer(b.class + 1)
	copy(*grown, *b.buf)
	b.account.n -= int64(len(*b.buf))
	b.account.from.give(int64(len(*b.buf)))
	recycle(b.class, b.buf)
	b.buf, b.class = grown, b.class+1
	return (*b.buf)[b.n:], nil
}

func (b *body) bytes() []byte { return (*b.buf)[:b.n] }

// close gives back everything. The bytes must not be used any more.
func (b *body) close() {
	recycle(b.class, b.buf)
	b.buf = nil
	b.account.close()
}
