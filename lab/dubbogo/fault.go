package main

import (
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// fault is what was turned on by POST /fault.
type fault struct {
	Kind   string        `json:"kind"`
	Method string        `json:"method,omitempty"`
	For    time.Duration `json:"for_ns,omitempty"`
	KB     int           `json:"kb,omitempty"`
	Keep   int           `json:"keep,omitempty"`
}

// faults acts inside the provider's methods.
type faults struct {
	now  atomic.Pointer[fault]
	lock sync.Mutex // of the fault sync

	kept   sync.Mutex
	blocks [][]byte
	next   int
}

// set turns on what the query of POST /fault says.
func (f *faults) set(q url.Values) (*fault, error) {
	n := func(key string) (int, error) {
		if q.Get(key) == "" {
			return 0, nil
		}
		return strconv.Atoi(q.Get(key))
	}
	ms, err := n("ms")
	if err != nil {
		return nil, fmt.Errorf("ms: %w", err)
	}
	kb, err := n("kb")
	if err != nil {
		return nil, fmt.Errorf("kb: %w", err)
	}
	keep, err := n("keep")
	if err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	v := &fault{Kind: q.Get("kind"), Method: q.Get("method"), For: time.Duration(ms) * time.Millisecond, KB: kb, Keep: keep}
	switch v.Kind {
	case "none":
		v = nil
	case "slow", "sync", "cpu", "alloc":
		if v.Method == "" {
			v.Method = "price"
		}
	default:
		return nil, fmt.Errorf("kind %q: want slow, sync, cpu, alloc or none", v.Kind)
	}
	f.now.Store(v)
	if v == nil {
		f.kept.Lock()
		f.blocks, f.next = nil, 0
		f.kept.Unlock()
	}
	return v, nil
}

// act does what the fault does to a call of method.
func (f *faults) act(method string) {
	v := f.now.Load()
	if v == nil || v.Method != method && v.Method != "*" {
		return
	}
	switch v.Kind {
	case "slow":
		time.Sleep(v.For)
	case "sync":
		f.holdLock(v.For)
	case "cpu":
		burn(v.For)
	case "alloc":
		f.allocate(v.KB, v.Keep)
	}
}

func (f *faults) holdLock(d time.Duration) {
	f.lock.Lock()
	defer f.lock.Unlock()
	time.Sleep(d)
}

// burn keeps one processor busy for d.
func burn(d time.Duration) {
	x := uint64(88172645463325252)
	for end := time.Now().Add(d); time.Now().Before(end); {
		for range 10000 {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
	}
	burned.Store(x)
}

var burned atomic.Uint64

// allocate makes garbage, and keeps the last few blocks of it.
func (f *faults) allocate(kb, keep int) {
	b := make([]byte, kb<<10)
	for i := 0; i < len(b); i += 4096 {
		b[i] = byte(i)
	}
	if keep <= 0 {
		return
	}
	f.kept.Lock()
	defer f.kept.Unlock()
	if len(f.blocks) < keep {
		f.blocks = append(f.blocks, b)
		return
	}
	f.blocks[f.next%keep] = b
	f.next++
}
