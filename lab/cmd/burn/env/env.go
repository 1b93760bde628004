// Package env is the ground the lab stands on: a work folder, a block of ports on
// loopback, and processes that are started, watched and stopped by their pid. It
// never looks for a process by name, and what it started does not outlive it: every
// process has a group of its own, and the kernel kills it if the driver dies.
package env

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// Host is where everything listens.
const Host = "127.0.0.1"

// blockSize is how many ports one lab uses, and blocks how many places are tried.
const (
	blockSize = 200
	blocks    = 10
)

// Env is one lab's work folder, ports and processes.
type Env struct {
	Dir   string // absolute
	Base  int    // first port of the block
	procs []*Process
}

// New takes a work folder, creating it, and the first block of ports from base
// on in which nobody listens.
func New(dir string, base int) (*Env, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for i := range blocks {
		at := base + i*blockSize
		if free(at, at+blockSize) {
			return &Env{Dir: dir, Base: at}, nil
		}
	}
	return nil, fmt.Errorf("no block of %d free ports from %d on; choose another with -base-port", blockSize, base)
}

func free(from, to int) bool {
	for port := from; port < to; port++ {
		l, err := net.Listen("tcp", Addr(port))
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}

// Port is the n-th port of the block.
func (e *Env) Port(n int) int { return e.Base + n }

// Addr is the address of a port.
func Addr(port int) string { return net.JoinHostPort(Host, strconv.Itoa(port)) }

// Folder makes and returns a folder below the work folder.
func (e *Env) Folder(names ...string) (string, error) {
	dir := filepath.Join(append([]string{e.Dir}, names...)...)
	return dir, os.MkdirAll(dir, 0o755)
}

// Close stops what still runs, the youngest first.
func (e *Env) Close() error {
	var errs []error
	for i := len(e.procs) - 1; i >= 0; i-- {
		errs = append(errs, e.procs[i].Stop())
	}
	e.procs = nil
	return errors.Join(errs...)
}
