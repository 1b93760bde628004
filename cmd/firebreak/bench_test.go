package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkReportAccessLog makes a report of an nginx access log of 100 MB: from
// the file to the findings. Its requests all have IDs of their own, every tenth
// was tried more than once.
func BenchmarkReportAccessLog(b *testing.B) {
	path := filepath.Join(b.TempDir(), "access.log")
	size := writeAccessLog(b, path, 100_000_000)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		report, _, err := analyse(b.Context(), request{paths: []string{path}}, func(progress) {})
		if err != nil || len(report.Sources) != 1 || report.Sources[0].Skipped > 0 || report.Sources[0].Bytes != size {
			b.Fatal(err, report)
		}
	}
}

// writeAccessLog writes a log of at least so many bytes.
func writeAccessLog(b *testing.B, path string, size int64) (written int64) {
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for i := 0; written < size; i++ {
		status, addr, statuses, took := 200, fmt.Sprintf("10.20.0.%d:8080", 11+i%4), "200", fmt.Sprintf("0.0%02d", 10+i%90)
		switch {
		case i%33 == 0:
			status, addr, statuses, took = 504, "10.20.0.11:8080, 10.20.0.12:8080, 10.20.0.13:8080", "504, 504, 504", "1.000, 1.000, 1.000"
		case i%14 == 0:
			addr, statuses, took = "10.20.0.11:8080, 10.20.0.12:8080", "502, 200", "0.001, "+took
		}
		n, err := fmt.Fprintf(w, `10.1.%d.%d - - [14/Mar/2026:10:%02d:%02d +0000] "GET /stock/SKU%d?warehouse=north HTTP/1.1" %d %d "-" "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36" rt=%s rid=%032x us="%s" st="%s" ut="%s" uc="0.000" host=shop.example`+"\n",
			i%250, i%200, i/2000/60%60, i/2000%60, i%5000, status, i%9000, took[max(0, len(took)-5):], uint64(i+1)*0x9e3779b97f4a7c15, addr, statuses, took)
		if err != nil {
			b.Fatal(err)
		}
		written += int64(n)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return written
}
