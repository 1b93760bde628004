package parsers

import (
	"bytes"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// A large access log is taken apart by several goroutines. The bytes on their
// way to Lines are cut into blocks of whole lines, and each block is parsed by
// whoever is free. The records are lent by one goroutine and in the order of the
// lines, and what a line says does not depend on those before it (see
// accessParser): so the same comes out as from one line after the other. Lines
// that fit no layout are left to accessReader, which knows what came before.

const (
	accessBlockSize  = 128 << 10   // what is read ahead stays in the second cache
	maxBlockLine     = 2 * maxLine // without a line end for so long, blocks are given up
	maxAccessWorkers = 3           // beside the one that reads, which is the slowest then
)

// accessBlocks stands between an input and its Lines.
type accessBlocks struct {
	r     io.Reader
	err   error          // that reading ended with
	size  int            // of a block
	depth int            // blocks that are read ahead
	rest  []byte         // of the last block: the beginning of a line
	queue []*accessBlock // in order; the first holds the current line
	first int            // number of the first line of the queue
	given int            // blocks of the queue that were handed to Lines whole
	free  []*accessBlock
	off   bool // no more blocks are parsed

	lines, known int // of the blocks that are through

	layouts atomic.Pointer[[]*accessLayout]
	parser  accessParser // of the goroutine that reads
	tasks   chan *accessBlock
	workers sync.WaitGroup
}

// accessBlock is some whole lines of the input.
type accessBlock struct {
	data  []byte
	given int                 // bytes that were handed to Lines
	lines []accessLine        // what they say, once it is parsed
	tries []evidence.Upstream // of all its lines

	taken atomic.Bool   // somebody parses it
	done  chan struct{} // somebody has
	ready bool          // known to the goroutine that reads
	raw   bool          // nobody will
	panic any
}

// accessLine is what one line says.
type accessLine struct {
	text   extent // without its end
	end    int32  // offset behind its end
	known  bool   // else accessReader has to look at it
	zoned  evidence.Tri
	time   time.Time
	access evidence.Access
}

// newAccessBlocks starts so many goroutines beside the caller's, and has Lines
// read through it.
func newAccessBlocks(in *Input, layouts []*accessLayout, size, workers int) *accessBlocks {
	a := &accessBlocks{r: in.Lines.r, size: size, depth: 2*workers + 2, first: 1, tasks: make(chan *accessBlock, 64)}
	a.publish(layouts)
	in.Lines.r = a
	a.parser = newAccessParser(in)
	a.parser.alone = true
	for range workers {
		p := newAccessParser(in)
		p.alone = true
		a.workers.Go(func() {
			for b := range a.tasks {
				if b.taken.CompareAndSwap(false, true) {
					b.parse(&p, *a.layouts.Load())
					b.done <- struct{}{}
				}
			}
		})
	}
	return a
}

// accessWorkers is how many goroutines may help with a log.
func accessWorkers() int { return min(runtime.GOMAXPROCS(0)-1, maxAccessWorkers) }

func (a *accessBlocks) stop() {
	close(a.tasks)
	a.workers.Wait()
}

// publish makes layouts known to all. Layouts are only ever added at the end.
func (a *accessBlocks) publish(layouts []*accessLayout) {
	layouts = layouts[:len(layouts):len(layouts)]
	a.layouts.Store(&layouts)
}

// Read hands out the bytes for Lines.
func (a *accessBlocks) Read(p []byte) (int, error) {
	for {
		for a.given < len(a.queue) {
			b := a.queue[a.given]
			if b.given < len(b.data) {
				n := copy(p, b.data[b.given:])
				b.given += n
				return n, nil
			}
			if b.raw && a.given == 0 {
				a.drop()
			} else {
				a.given++
			}
		}
		if !a.more() {
			return 0, a.err
		}
	}
}

// more reads one more block and has it parsed. It returns false at the end.
func (a *accessBlocks) more() bool {
	if a.err != nil {
		return false
	}
	b := a.fresh()
	data, whole := append(b.data[:0], a.rest...), 0
	for size := a.size; whole == 0 && a.err == nil; size += a.size {
		data = a.fill(data, size)
		whole = bytes.LastIndexByte(data, '\n') + 1
		if whole == 0 && len(data) > maxBlockLine {
			a.off, whole = true, len(data)
		}
	}
	if a.err != nil {
		whole = len(data)
	}
	a.rest = append(a.rest[:0], data[whole:]...)
	b.data, b.given, b.ready, b.raw = data[:whole], 0, false, a.off
	if whole == 0 {
		return false
	}
	a.queue = append(a.queue, b)
	if !b.raw {
		b.taken.Store(false)
		select {
		case a.tasks <- b:
		default: // they have enough to do
		}
	}
	return true
}

// fresh is a block to be filled.
func (a *accessBlocks) fresh() *accessBlock {
	if n := len(a.free); n > 0 {
		b := a.free[n-1]
		a.free = a.free[:n-1]
		return b
	}
	return &accessBlock{done: make(chan struct{}, 1)}
}

// fill reads until there are so many bytes, or no more.
func (a *accessBlocks) fill(data []byte, size int) []byte {
	data = slices.Grow(data, max(0, size-len(data)))
	for idle := 0; len(data) < size && a.err == nil; idle++ {
		n, err := a.r.Read(data[len(data):size])
		data, a.err = data[:len(data)+n], err
		if n > 0 {
			idle = 0
		} else if idle == 100 && err == nil {
			a.err = io.ErrNoProgress
		}
	}
	return data
}

// at finds a line by its number. It returns nil if the line was not parsed.
func (a *accessBlocks) at(number int) (b *accessBlock, i int) {
	for len(a.queue) > 0 && !a.queue[0].raw {
		b := a.queue[0]
		if !b.ready {
			for len(a.queue) < a.depth && a.more() {
				continue
			}
			a.wait(b)
		}
		if i := number - a.first; i < len(b.lines) {
			return b, i
		}
		a.pass()
	}
	return nil, 0
}

// wait returns when a block is parsed, and parses what it can until then.
func (a *accessBlocks) wait(b *accessBlock) {
	for _, x := range a.queue {
		if len(b.done) > 0 {
			break
		}
		if !x.raw && x.taken.CompareAndSwap(false, true) {
			x.parse(&a.parser, *a.layouts.Load())
			x.done <- struct{}{}
		}
	}
	<-b.done
	b.ready = true
	if b.panic != nil {
		panic(b.panic)
	}
}

// pass goes on from the first block to the next.
func (a *accessBlocks) pass() {
	b := a.queue[0]
	a.first += len(b.lines)
	for i := range b.lines {
		if b.lines[i].known {
			a.known++
		}
	}
	if a.lines += len(b.lines); a.lines > 10_000 && a.known*2 < a.lines {
		a.off = true // not worth it
	}
	a.drop()
}

// drop lets the first block go.
func (a *accessBlocks) drop() {
	b := a.queue[0]
	a.queue = append(a.queue[:0], a.queue[1:]...)
	a.given = max(0, a.given-1)
	if cap(b.data) <= 2*a.size {
		a.free = append(a.free, b)
	}
}

// parse takes the lines of a block apart.
func (b *accessBlock) parse(p *accessParser, layouts []*accessLayout) {
	defer func() { b.panic = recover() }()
	p.adopt(layouts)
	b.tries = b.tries[:0]
	escapes := bytes.IndexByte(b.data, 0x1b) >= 0
	n := 0
	for at := 0; at < len(b.data); n++ {
		if n == len(b.lines) {
			b.lines = append(b.lines, accessLine{})
		}
		x := &b.lines[n]
		end := bytes.IndexByte(b.data[at:], '\n')
		next := at + end + 1
		if end < 0 {
			end, next = len(b.data)-at, len(b.data)
		}
		line := trimCR(b.data[at : at+end])
		x.text, x.end = extent{int32(at), int32(at + len(line))}, int32(next)
		x.known = len(line) > 0 && end < maxLine && !(escapes && bytes.IndexByte(line, 0x1b) >= 0) && b.read(p, line, x)
		at = next
	}
	b.lines = b.lines[:n]
}

// read takes a line apart, if that can be done without knowing those before it.
func (b *accessBlock) read(p *accessParser, line []byte, x *accessLine) bool {
	l, _ := p.layoutOf(line)
	if l == nil {
		return false
	}
	p.path = nil // its bytes are kept
	p.refused = false
	x.time, x.zoned = p.read(l, line, &x.access)
	if x.time.IsZero() || p.refused {
		return false
	}
	if u := x.access.Upstreams; len(u) > 0 {
		n := len(b.tries)
		b.tries = append(b.tries, u...)
		x.access.Upstreams = b.tries[n:len(b.tries):len(b.tries)]
	}
	return true
}
