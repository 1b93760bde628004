package collector

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

func BenchmarkCollect(b *testing.B) {
	const size = 256 << 20
	dir := b.TempDir()
	block := bytes.Repeat([]byte(logText), size/8/len(logText))
	path := write(b, dir, "big.log", bytes.Repeat(block, 8))
	b.SetBytes(int64(8 * len(block)))
	for b.Loop() {
		if _, err := Collect(b.Context(), []string{path}, Options{}, none); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for name, text := range map[string]string{"ascii": logText, "utf-8": logText[:40] + "超时:连接池已满 " + logText} {
		b.Run(name, func(b *testing.B) {
			data := bytes.Repeat([]byte(text), 32<<20/len(text))
			buf := make([]byte, 256<<10)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				r, _ := decode(bytes.NewReader(data), func([]byte) bool { return false })
				for {
					if _, err := r.Read(buf); err != nil {
						break
					}
				}
			}
		})
	}
}

// endless gives one byte over and over.
type endless struct {
	c    byte
	left int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), e.left))
	for i := range p[:n] {
		p[i] = e.c
	}
	e.left -= int64(n)
	return n, nil
}

// peak runs f and returns the most memory that the heap took meanwhile.
func peak(f func()) uint64 {
	done, out := make(chan bool), make(chan uint64)
	runtime.GC()
	go func() {
		most := uint64(0)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse+m.StackInuse)
			select {
			case <-done:
				out <- most
				return
			case <-tick.C:
			}
		}
	}()
	f()
	done <- true
	return <-out
}

func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() || os.Getenv("FIREBREAK_SLOW_TESTS") == "" {
		t.Skip("reads gigabytes; set FIREBREAK_SLOW_TESTS to run it")
	}
	dir := t.TempDir()
	bomb := dir + "/bomb.gz"
	f, err := os.Create(bomb)
	if err != nil {
		t.Fatal(err)
	}
	z, _ := gzip.NewWriterLevel(f, 1)
	io.Copy(z, &endless{'a', 512 << 20})
	z.Close()
	f.Close()
	for _, c := range []struct {
		name string
		in   io.Reader
		want string // in the description
	}{
		{"one line of a gibibyte", &endless{'a', 1 << 30}, "stdin 1073741824\n"},
		{"one line that is not UTF-8", &endless{0xb0, 128 << 20}, "stdin 134217728\n"},
		{"empty lines", &endless{'\n', 256 << 20}, "stdin 268435456\n"},
		{"a bomb", nil, "stopped after"},
	} {
		t.Run(c.name, func(t *testing.T) {
			paths := []string{"-"}
			if c.in == nil {
				paths = []string{bomb}
			}
			var got string
			most := peak(func() {
				sources, _ := Collect(t.Context(), paths, Options{Stdin: c.in}, none)
				got = describe(sources)
			})
			t.Logf("%d MiB: %s", most>>20, got)
			if most > 100<<20 {
				t.Errorf("%d MiB of memory", most>>20)
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
