package parsers

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

func FuzzAccessLog(f *testing.F) { fuzzFormat(f, "access-log") }

// accessLines makes a log of so many lines as nginx writes it with the layout
// that most add to the combined one.
func accessLines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `10.20.3.%d - - [14/Mar/2026:09:%02d:%02d +0000] "GET /stock/item?sku=S-%d HTTP/1.1" 200 %d "https://shop.example/cart" "checkout-api/2.1 (Linux; x64) okhttp/4.12" rt=0.%03d`, i%250, i/3000%60, i/50%60, i, 100+i%900, i%400)
		if i%20 == 0 {
			fmt.Fprintf(&b, ` uct="0.001, 0.000" uht="-, 0.003" urt="0.150, 0.%03d" ua="10.20.0.12:8080, 10.20.0.13:8080" us="504, 200"`, i%250)
		} else {
			fmt.Fprintf(&b, ` uct="0.000" uht="0.003" urt="0.%03d" ua="10.20.0.%d:8080" us="200"`, i%400, 11+i%3)
		}
		fmt.Fprintf(&b, " rid=%032x\n", i)
	}
	return b.Bytes()
}

// BenchmarkAccessLogNginx reads nginx's layout with lists of upstreams. The
// records are lent to nobody.
func BenchmarkAccessLogNginx(b *testing.B) { benchAccessLog(b, accessLines(100_000)) }

// BenchmarkAccessLogs reads the samples of all servers, over and over.
func BenchmarkAccessLogs(b *testing.B) {
	logs, err := filepath.Glob("../testdata/access-log/*.log")
	if err != nil || len(logs) == 0 {
		b.Fatal(logs, err)
	}
	for _, path := range logs {
		b.Run(strings.TrimSuffix(filepath.Base(path), ".log"), func(b *testing.B) {
			data, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			benchAccessLog(b, bytes.Repeat(data, 4<<20/len(data)))
		})
	}
}

func benchAccessLog(b *testing.B, data []byte) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		err := Read(NewInput("bench", bytes.NewReader(data)), func(*evidence.Record) error {
			n++
			return nil
		})
		if err != nil || n < 1000 {
			b.Fatal(n, err)
		}
	}
}
