package stack

import (
	"net"
	"sync"
	"time"
)

// Delay is a TCP proxy that hands every piece on later: a database in another
// region. Each connection keeps its order; many pieces may be under way at once.
type Delay struct {
	l    net.Listener
	to   string
	each time.Duration // one way

	mu     sync.Mutex
	conns  map[net.Conn]bool
	closed bool
}

func startDelay(addr, to string, each time.Duration) (*Delay, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	d := &Delay{l: l, to: to, each: each, conns: map[net.Conn]bool{}}
	go d.serve()
	return d, nil
}

func (d *Delay) serve() {
	for {
		in, err := d.l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", d.to)
		if err != nil || !d.keep(in, out) {
			_ = in.Close()
			continue
		}
		var both sync.WaitGroup
		both.Go(func() { d.pump(in, out) })
		both.Go(func() { d.pump(out, in) })
		go func() {
			both.Wait()
			d.forget(in, out)
		}()
	}
}

func (d *Delay) keep(conns ...net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	for _, c := range conns {
		d.conns[c] = true
	}
	return true
}

type piece struct {
	due  time.Time
	data []byte
}

func (d *Delay) pump(from, to net.Conn) {
	pieces := make(chan piece, 256)
	go func() {
		defer close(pieces)
		buf := make([]byte, 32<<10)
		for {
			n, err := from.Read(buf)
			if n > 0 {
				pieces <- piece{time.Now().Add(d.each), append([]byte(nil), buf[:n]...)}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.data); err != nil {
			_ = from.Close()
			break
		}
	}
	// What comes the other way may still be under way.
	if t, ok := to.(*net.TCPConn); ok {
		_ = t.CloseWrite()
	}
	for range pieces { // let the reader end
	}
}

func (d *Delay) forget(conns ...net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
		delete(d.conns, c)
	}
}

func (d *Delay) close() {
	_ = d.l.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for c := range d.conns {
		_ = c.Close()
	}
}
