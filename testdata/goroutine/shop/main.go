// Command shop is a small service in trouble: its database pool is empty, a
// mutex has a queue, channels have no reader. It dumps its own goroutines in
// every form that a Go program can. See ../README.md for how it is run.
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"syscall"
	"time"
)

// slowDriver is a database driver whose server never answers.
type slowDriver struct{ addr string }

func (d slowDriver) Open(string) (driver.Conn, error) {
	c, err := net.Dial("tcp", d.addr)
	return &slowConn{c}, err
}

type slowConn struct{ net.Conn }

func (c *slowConn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("unused") }
func (c *slowConn) Begin() (driver.Tx, error)           { return nil, errors.New("unused") }
func (c *slowConn) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	return nil, c.readPacket()
}

func (c *slowConn) readPacket() error {
	_, err := io.ReadFull(c.Conn, make([]byte, 4))
	return err
}

// Repo reads orders.
type Repo struct{ db *sql.DB }

func (r *Repo) FindOpenOrders(ctx context.Context) error {
	rows, err := r.db.QueryContext(ctx, "SELECT * FROM orders WHERE status = 'OPEN'")
	if err != nil {
		return err
	}
	return rows.Close()
}

// Cache is guarded by one lock, which its refresh keeps.
type Cache[K comparable, V any] struct {
	mu    sync.Mutex
	rw    sync.RWMutex
	items map[K]V
}

func (c *Cache[K, V]) Get(k K) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.items[k]
}

func (c *Cache[K, V]) Refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	time.Sleep(time.Hour)
}

func (c *Cache[K, V]) Peek(k K) V {
	c.rw.RLock()
	defer c.rw.RUnlock()
	return c.items[k]
}

func deep(n int, stop chan bool) int {
	if n == 0 {
		<-stop
		return 0
	}
	return deep(n-1, stop) + 1
}

func start(n int, route string, f func()) {
	for range n {
		go pprof.Do(context.Background(), pprof.Labels("route", route), func(context.Context) { f() })
	}
}

func trouble() {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			if _, err := silent.Accept(); err != nil {
				return
			}
		}
	}()
	sql.Register("slow", slowDriver{silent.Addr().String()})
	db, err := sql.Open("slow", "")
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(2)
	repo := &Repo{db}
	start(8, "/orders", func() { _ = repo.FindOpenOrders(context.Background()) })

	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { select {} }))
	start(3, "/price [v2] \"x]y\"", func() {
		resp, err := http.Get(slow.URL)
		if err == nil {
			_ = resp.Body.Close()
		}
	})

	cache := &Cache[string, int]{items: map[string]int{}}
	go cache.Refresh()
	cache.rw.Lock()
	time.Sleep(50 * time.Millisecond)
	for range 5 {
		go func() { cache.Get("sku-1") }()
		go func() { cache.Peek("sku-1") }()
	}

	jobs, done := make(chan int), make(chan int)
	for range 4 {
		go func() { jobs <- 1 }()
		go func() {
			for range done {
			}
		}()
	}
	var none chan int
	go func() { <-none }()
	go func() { none <- 1 }()
	var wg sync.WaitGroup
	wg.Add(1)
	go func() { wg.Wait() }()
	go func() { runtime.LockOSThread(); <-done }()
	go deep(200, make(chan bool))
	cond := sync.NewCond(&sync.Mutex{})
	go func() { cond.L.Lock(); cond.Wait() }()
}

func main() {
	mode, dir := os.Args[1], os.Args[2]
	if mode == "deadlock" {
		c := make(chan int)
		var mu sync.Mutex
		mu.Lock()
		go func() { mu.Lock() }()
		<-c
	}
	trouble()
	time.Sleep(300 * time.Millisecond)
	switch mode {
	case "profiles":
		for _, p := range []struct {
			name  string
			debug int
		}{{"debug2.txt", 2}, {"debug1.txt", 1}, {"debug0.pb.gz", 0}} {
			f, err := os.Create(filepath.Join(dir, p.name))
			if err != nil {
				panic(err)
			}
			_ = pprof.Lookup("goroutine").WriteTo(f, p.debug)
			_ = f.Close()
		}
	case "minutes":
		runtime.GC() // the collector notes since when a goroutine waits
		time.Sleep(125 * time.Second)
		_ = pprof.Lookup("goroutine").WriteTo(os.Stdout, 2)
	case "stack":
		fmt.Printf("2026/03/14 10:20:31 recovered: boom\n%s", debug.Stack())
	case "panic":
		var m map[string]int
		m["x"] = 1
	case "quit":
		_ = syscall.Kill(os.Getpid(), syscall.SIGQUIT)
		time.Sleep(time.Second)
	}
}
