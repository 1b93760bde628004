package parsers

import (
	"bytes"
	"os"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

// BenchmarkFollowed feeds a log in chunks, as one that is followed is.
func BenchmarkFollowed(b *testing.B) {
	line := []byte("2026-03-14 09:12:34.001 INFO [main] c.acme.shop.Order - order 17 is paid, and 3 more\n")
	sample, err := os.ReadFile("../testdata/incidents/slow-sql/order.log")
	if err != nil {
		sample = nil
	}
	chunk := append(bytes.Repeat(line, 3000), sample...)
	b.SetBytes(int64(len(chunk)))
	b.ReportAllocs()
	f := Follow(NewInput("app.log", nil), func(*evidence.Record) error { return nil })
	for b.Loop() {
		if err := f.Feed(chunk); err != nil {
			b.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

// FuzzFollowed feeds texts in pieces: what comes of them is what Read makes of
// all.
func FuzzFollowed(f *testing.F) {
	f.Add([]byte("2026-03-14 09:12:33.120 WARN [main] a.B - HikariPool-1 - Connection is not available, request timed out after 30000ms.\n\tat a.B.c(B.java:7)\n"), uint16(7))
	f.Add([]byte("\"main\" #1 prio=5 os_prio=0 tid=0x1 nid=0x2 runnable\n   java.lang.Thread.State: RUNNABLE\n\tat a.B.c(B.java:7)\n\n"), uint16(40))
	f.Fuzz(func(t *testing.T, data []byte, size uint16) {
		want := read("x.log", bytes.NewReader(data))
		got := readBy("x.log", nil, func(in *Input, emit Emit) error {
			f := Follow(in, emit)
			for rest := data; len(rest) > 0; {
				n := min(len(rest), int(size)+1)
				if err := f.Feed(bytes.Clone(rest[:n])); err != nil {
					return err
				}
				if line, done := f.Settled(); line < 1 || done >= line && line > 1 {
					t.Fatalf("settled at %d, %d", line, done)
				}
				rest = rest[n:]
			}
			return f.Close()
		})
		difference(t, "in pieces", sorted(want), sorted(got))
	})
}
