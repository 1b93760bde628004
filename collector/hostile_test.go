package collector

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestOverlappingZip holds that members which share their bytes, as those of the
// best zip bombs do, are read once.
func TestOverlappingZip(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, _ := w.Create("00000.log")
	f.Write([]byte(strings.Repeat(logText, 100)))
	w.Close()
	data := b.Bytes()
	end := bytes.LastIndex(data, []byte("PK\x05\x06"))
	at := int(binary.LittleEndian.Uint32(data[end+16:]))
	entry := data[at:end]
	bomb := bytes.Clone(data[:at])
	const n = 5000
	for i := range n {
		e := bytes.Clone(entry)
		copy(e[46:], fmt.Sprintf("%05d", i))
		bomb = append(bomb, e...)
	}
	size := len(bomb) - at
	tail := bytes.Clone(data[end:])
	binary.LittleEndian.PutUint16(tail[8:], n)
	binary.LittleEndian.PutUint16(tail[10:], n)
	binary.LittleEndian.PutUint32(tail[12:], uint32(size))
	bomb = append(bomb, tail...)

	path := write(t, t.TempDir(), "bomb.zip", bomb)
	sources, err := Collect(context.Background(), []string{path}, Options{}, none)
	if err != nil || len(sources) != 2 {
		t.Fatalf("%d sources, %v", len(sources), err)
	}
	if !strings.Contains(describe(sources), "members that share their bytes with others are not read") {
		t.Error(describe(sources))
	}
}

// TestManyBombs holds that an archive of bombs is given up after a few.
func TestManyBombs(t *testing.T) {
	var members []member
	for i := range 50 {
		members = append(members, member{fmt.Sprintf("%02d.log", i), make([]byte, 200<<10)})
	}
	for name, data := range map[string][]byte{"bombs.zip": zipped(members...), "bombs.tar.gz": gz(tarred(members...))} {
		t.Run(name, func(t *testing.T) {
			path := write(t, t.TempDir(), name, data)
			sources, _ := Collect(context.Background(), []string{path}, Options{Limits: Limits{Ratio: 20, Slack: 1 << 10}}, none)
			if len(sources) > maxBombs+2 {
				t.Errorf("%d sources:\n%s", len(sources), describe(sources))
			}
		})
	}
}

// TestHole holds that a file which begins with a huge hole is read from where
// it has data.
func TestHole(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("holes are passed by on Linux only")
	}
	const size = 1 << 40
	path := filepath.Join(t.TempDir(), "truncated.log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(logText), size); err != nil {
		t.Skip(err)
	}
	if n, err := f.Seek(0, 3); err != nil || n < size/2 {
		t.Skip("no holes here")
	}
	sources, err := Collect(context.Background(), []string{path}, Options{}, none)
	if err != nil || len(sources) != 1 || len(sources[0].Problems) > 0 || sources[0].Bytes > 1<<20 {
		t.Errorf("%v, %+v", err, sources)
	}
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	_, err = Collect(context.Background(), []string{path}, Options{}, none)
	if err == nil || !strings.Contains(err.Error(), "nothing but NUL bytes") {
		t.Error(err)
	}
}

// TestPipeWithoutWriter holds that waiting for one can be interrupted.
func TestPipeWithoutWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := mkfifo(path); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := newCollection(ctx, Options{}, none)
	c.open = func(path string) (*os.File, error) {
		cancel()
		return os.Open(path)
	}
	if _, err := c.run([]string{path}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if w, err := os.OpenFile(path, os.O_RDWR, 0); err == nil { // let the goroutine go
		w.Close()
	}
}

// TestOneProblemIsSaidOnce holds that what follows from a problem is not another.
func TestOneProblemIsSaidOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "cut.zst", zst([]byte(logText))[:5])
	_, err := Collect(context.Background(), []string{dir}, Options{}, none)
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Error(err)
	}
	for i := range 100 {
		write(t, dir, fmt.Sprintf("%d.log", i), nil)
	}
	_, err = Collect(context.Background(), []string{dir}, Options{}, none)
	if err == nil || strings.Count(err.Error(), "\n") != maxReasons+1 || !strings.HasSuffix(err.Error(), "and 81 more") {
		t.Error(err)
	}
}
