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

// back gives some of it back.
func (a *account) back(n int64) {
	a.from.give(n)
	a.n -= n
}

// close gives all of it back.
func (a *account) close() {
	a.from.give(a.n)
	a.n = 0
}

// classes are the sizes of buffers, so that one that was grown is used again: they
// would be a lot of garbage. The last one holds the largest request and the byte
// that is too much.
var classes = [...]int{8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20, 4 << 20, maxRequest + 4<<10}

// perRequest is what a request takes beside its buffer: goroutines, headers.
const perRequest = 8 << 10

var buffers [len(classes)]sync.Pool

func buffer(class int) *[]byte {
	if b, ok := buffers[class].Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, classes[class])
	return &b
}

func recycle(class int, b *[]byte) { buffers[class].Put(b) }

// body is the bytes of one request, as they come.
type body struct {
	account account
	class   int
	buf     *[]byte
	n       int
}

// newBody makes room for the beginning of a request, which is said to have so
// many bytes. The word of a sender is worth 64 KiB.
func (r *Receiver) newBody(size int64) (*body, error) {
	if r.cfg.Full != nil && r.cfg.Full() {
		return nil, errNoMemory
	}
	from := &r.budget
	b := &body{account: account{from: from}}
	for classes[b.class] < 64<<10 && int64(classes[b.class]) < size {
		b.class++
	}
	if err := b.account.take(int64(classes[b.class] + perRequest)); err != nil {
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
	if b.class+1 == len(classes) {
		return nil, errTooLarge
	}
	grown, err := b.another(b.class + 1)
	if err != nil {
		return nil, err
	}
	b.replace(b.class+1, grown, copy(*grown, *b.buf))
	return (*b.buf)[b.n:], nil
}

// another pays for another buffer: both are there while one is read into the other.
func (b *body) another(class int) (*[]byte, error) {
	if err := b.account.take(int64(classes[class])); err != nil {
		return nil, err
	}
	return buffer(class), nil
}

// replace goes on with another buffer, of which n bytes are in use.
func (b *body) replace(class int, buf *[]byte, n int) {
	b.account.back(int64(len(*b.buf)))
	recycle(b.class, b.buf)
	b.class, b.buf, b.n = class, buf, n
}

func (b *body) bytes() []byte { return (*b.buf)[:b.n] }

// close gives back everything. The bytes must not be used any more.
func (b *body) close() {
	recycle(b.class, b.buf)
	b.buf = nil
	b.account.close()
}
