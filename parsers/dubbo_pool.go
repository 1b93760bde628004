package parsers

import (
	"bytes"
	"hash/maphash"

	"github.com/firebreak-io/firebreak/evidence"
)

// The line of a full thread pool, WARN, the same words since 2.5.0:
//
//	Thread pool is EXHAUSTED! Thread Name: DubboServerHandler-10.20.0.11:20880, Pool Size: 200 (active: 200, core: 200, max: 200, largest: 200), Task: 845213 (completed: 845013), Executor status:(isShutdown:false, isTerminated:false, isTerminating:false), in dubbo://10.20.0.11:20880!
//
// One for each refused request. The exception thrown beside it has the same
// text, and since 2.5.6 the consumer is told it:
//
//	Server side(10.20.0.12,20880) thread pool is exhausted, detail msg:Thread pool is EXHAUSTED! …

const exhausted = "Thread pool is EXHAUSTED!"

// parseExhausted reads the pool's numbers from the text behind the words.
func parseExhausted(b []byte, o *logOut) (*evidence.PoolSnapshot, bool) {
	const size = ", Pool Size: "
	name := between(b[:min(len(b), 600)], "Thread Name: ", size)
	if name == nil || len(name) > 300 || bytes.IndexByte(name, '\n') >= 0 {
		return nil, false
	}
	b = b[bytes.Index(b, []byte(size))+len(size):]
	if n := bytes.IndexByte(b, '\n'); n >= 0 {
		b = b[:n]
	}
	now, n := leadingNumber(b)
	if n == 0 || !bytes.HasPrefix(b[n:], []byte(" (active: ")) {
		return nil, false
	}
	head := b[:min(len(b), 500)]
	p := &evidence.PoolSnapshot{
		Name: o.str(name), Kind: evidence.ThreadPool, Impl: "dubbo",
		Size: int(now), Active: int(numberAfter(head, "(active: ")), Max: int(numberAfter(head, " max: ")), Largest: int(numberAfter(head, " largest: ")),
		Idle: evidence.None, Waiting: evidence.None, Queued: evidence.None, Waited: evidence.None,
		Tasks: numberAfter(head, "Task: "), Completed: numberAfter(head, "(completed: "),
		Rejected: true,
		Shutdown: bytes.Contains(head, []byte("isShutdown:true")) || bytes.Contains(head, []byte("isTerminated:true")) || bytes.Contains(head, []byte("isTerminating:true")),
	}
	if p.Active < 0 {
		return nil, false
	}
	if i := bytes.Index(head, []byte(", in ")); i >= 0 {
		if k := bytes.Index(head[i:], []byte("://")); k >= 0 {
			p.Owner = o.str(hostPort(head[i+k+3:]))
		}
	}
	if p.Owner == "" { // the name ends in it
		if i := bytes.LastIndexByte(name, '-'); i >= 0 {
			p.Owner = o.str(hostPort(name[i+1:]))
		}
	}
	return p, true
}

// readDubboExhausted reads the pool's own line, on the side whose pool it is.
func readDubboExhausted(d *dubboText, off int) (bool, error) {
	found := false
	for {
		p, ok := parseExhausted(d.text[off+len(exhausted):], d.o)
		if ok {
			logged := bytes.HasSuffix(bytes.TrimRight(d.text[:off], " "), []byte("[DUBBO]"))
			if found && !logged {
				return true, nil // the same in the exception
			}
			// The exception that is thrown beside the line repeats its text.
			sum := maphash.Bytes(hashSeed, d.line(off)[:min(len(d.line(off)), 400)])
			if cut := bytes.IndexByte(d.line(off)[len(exhausted):], '!'); cut >= 0 {
				sum = maphash.Bytes(hashSeed, d.line(off)[:len(exhausted)+cut])
			}
			if logged || !d.o.recent.seen(sum) {
				d.o.recent.add(sum)
				ev := d.at(off)
				if p.Owner != "" {
					ev.Place.Instance = p.Owner
				}
				ev.Pool = p
				if err := d.o.send(ev); err != nil {
					return true, err
				}
			}
			found = true
		}
		next := bytes.Index(d.text[off+len(exhausted):], []byte(exhausted))
		if next < 0 {
			return found, nil
		}
		off += len(exhausted) + next
	}
}

var hashSeed = maphash.MakeSeed()

// recentSums remembers the last few things that were emitted.
type recentSums struct {
	sums [64]uint64
	next int
}

func (r *recentSums) add(sum uint64) {
	r.sums[r.next%len(r.sums)] = sum
	r.next++
}

func (r *recentSums) seen(sum uint64) bool {
	for i := range min(r.next, len(r.sums)) {
		if r.sums[i] == sum {
			return true
		}
	}
	return false
}

// take forgets a sum, and reports whether it was remembered.
func (r *recentSums) take(sum uint64) bool {
	for i := range min(r.next, len(r.sums)) {
		if r.sums[i] == sum {
			r.sums[i] = 0
			return true
		}
	}
	return false
}

// relayedPool finds in a consumer's message the pool line of the provider that
// refused the request.
func (d *dubboText) relayedPool(b []byte) *evidence.PoolSnapshot {
	i := bytes.Index(b, []byte(exhausted))
	if i < 0 {
		return nil
	}
	p, ok := parseExhausted(b[i+len(exhausted):], d.o)
	if !ok {
		return nil
	}
	p.Relayed = true
	return p
}

// readDubboRelayed reads a refusal that stands alone in a consumer's log.
func readDubboRelayed(d *dubboText, off int) (bool, error) {
	start := bytes.LastIndexByte(d.text[:off], '\n') + 1
	if i := bytes.LastIndex(d.text[start:off], []byte("Server side(")); i < 0 || !bytes.Contains(d.message(off)[:min(len(d.message(off)), 80)], []byte("detail msg")) {
		return false, nil
	}
	// What the message says before it (method, provider) belongs to it.
	return d.attempt(start, d.message(start), attemptContext{})
}
