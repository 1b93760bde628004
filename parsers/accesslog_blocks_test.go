package parsers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/firebreak-io/firebreak/evidence"
)

// accessRecords reads an access log in blocks of a size with the help of so many
// goroutines, and returns all that it says, in order.
func accessRecords(t *testing.T, r io.Reader, size, workers int) parsed {
	t.Helper()
	var p parsed
	in := NewInput("logs/access-20260314.log", r)
	in.text = text
	in.Skip = func(line int, why string) { p.skips = append(p.skips, fmt.Sprintf("line %d: %s", line, why)) }
	p.err = accessLogBy(in, func(r *evidence.Record) error {
		record, err := json.Marshal(r)
		p.records = append(p.records, string(record))
		return err
	}, size, workers)
	p.records = append(p.records, fmt.Sprint(in.Tally))
	return p
}

// Wherever the borders of the blocks lie and whoever parses them, the same
// records come out, in the same order.
func TestAccessLogBlocks(t *testing.T) {
	inputs := map[string][]byte{}
	logs, err := filepath.Glob("../testdata/access-log/*.log")
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	var all []byte
	for _, path := range logs {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		inputs[filepath.Base(path)] = data
		all = append(all, data...)
	}
	dump, err := os.ReadFile("../testdata/jstack/jdk-17-jcmd.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := accessLines(60)
	inputs["all.log"] = all
	inputs["pasted.log"] = bytes.Join([][]byte{
		lines[:len(lines)/3], []byte("2026-03-14 09:12:33.123 ERROR [http-1] c.a.shop.Pay - Thread pool is EXHAUSTED! Pool Size: 200\n\tat com.acme.A.b(A.java:1)\n"),
		lines[len(lines)/3 : len(lines)/2], dump, lines[len(lines)/2:], []byte("\n\nno line of any log\n\x1b[31m"), lines[:200],
		[]byte("10.20.3.9 - - [14/Mar/2026:09:1"), []byte("\n"), bytes.Repeat([]byte("x"), 3000), []byte("\n"), lines, []byte("10.20.3.9"),
	}, nil)
	inputs["crlf.log"] = bytes.ReplaceAll(lines, []byte("\n"), []byte("\r\n"))
	inputs["undated.log"] = []byte(strings.Repeat("09:12:33 GET /pay 200 0.003\n23:59:59 GET /pay 200 0.003\n00:00:01 GET /pay 503 0.003\n", 50))
	for name, text := range inputs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := accessRecords(t, bytes.NewReader(text), accessBlockSize, 0)
			if len(want.records) < 3 && name != "undated.log" {
				t.Fatal("nothing is read")
			}
			for _, size := range []int{1, 100, 333, 1000, 4096} {
				for workers := 1; workers <= 2; workers++ {
					same(t, fmt.Sprintf("blocks of %d, %d helpers", size, workers), want, accessRecords(t, bytes.NewReader(text), size, workers))
				}
			}
			same(t, "read one byte at a time", want, accessRecords(t, iotest.OneByteReader(bytes.NewReader(text)), 500, 1))
		})
	}
}

// A line that is longer than a block may be ends the work in blocks, and nothing else.
func TestAccessLogBlocksLongLine(t *testing.T) {
	lines := accessLines(50)
	text := bytes.Join([][]byte{lines, bytes.Repeat([]byte("x"), 2*maxBlockLine), []byte("\n"), lines}, nil)
	want := accessRecords(t, bytes.NewReader(text), accessBlockSize, 0)
	same(t, "in blocks", want, accessRecords(t, bytes.NewReader(text), 4096, 2))
	if len(want.records) != 101 {
		t.Error(len(want.records), "records")
	}
}

// What goes wrong below comes out after what was read until then; what goes
// wrong above ends reading.
func TestAccessLogBlocksErrors(t *testing.T) {
	broken := errors.New("broken")
	lines := accessLines(500)
	got := accessRecords(t, io.MultiReader(bytes.NewReader(lines), iotest.ErrReader(broken)), 4096, 2)
	if !errors.Is(got.err, broken) {
		t.Error(got.err)
	}
	in := NewInput("access.log", bytes.NewReader(lines))
	in.text = text
	n := 0
	err := accessLogBy(in, func(r *evidence.Record) error {
		if n++; n == 100 {
			return broken
		}
		return nil
	}, 4096, 2)
	if !errors.Is(err, broken) || n != 100 {
		t.Error(n, err)
	}
}
