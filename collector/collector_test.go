package collector

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

const logText = "2026-03-14 09:12:33.120 INFO  [main] c.a.shop.Order - started\n"

func write(t testing.TB, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func gz(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func zst(data []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(data, nil)
}

func xzed(data []byte) []byte {
	var b bytes.Buffer
	w, _ := xz.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

type member struct {
	name string
	data []byte
}

func tarred(members ...member) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		w.WriteHeader(&tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.data)), Typeflag: tar.TypeReg})
		w.Write(m.data)
	}
	w.WriteHeader(&tar.Header{Name: "link", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink})
	w.Close()
	return b.Bytes()
}

func zipped(members ...member) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		f, _ := w.Create(m.name)
		f.Write(m.data)
	}
	w.Close()
	return b.Bytes()
}

// describe renders sources as the table tests compare them.
func describe(sources []Source) string {
	var b strings.Builder
	for _, s := range sources {
		fmt.Fprintf(&b, "%s %d", s.Path, s.Bytes)
		for _, p := range s.Problems {
			fmt.Fprintf(&b, " [%s]", p)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func none(*evidence.Record) error { return nil }

func TestCollect(t *testing.T) {
	text := []byte(logText)
	big := bytes.Repeat(text, 100)
	half := gz(big)
	half = half[:len(half)-20]
	utf16le, _ := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().Bytes([]byte("a\r\nb\r\n"))
	deep := tarred(member{"c.tar", tarred(member{"b.tar", tarred(member{"a.log", text})}, member{"d.log", text})})
	small := Limits{Slack: 1000, Ratio: 5}
	for _, c := range []struct {
		name    string
		data    []byte
		limits  Limits
		want    string
		nothing bool
	}{
		{name: "plain.log", data: text, want: "plain.log 62\n"},
		{name: "empty", data: nil, want: "empty 0 [empty]\n", nothing: true},
		{name: "nul", data: make([]byte, 9000), want: "nul 0 [nothing but NUL bytes]\n", nothing: true},
		{name: "hole.log", data: append(make([]byte, 9000), text...), want: "hole.log 9062\n"},
		{name: "program", data: []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00>\x00\x01"), want: "program 0 [not text and no known binary format]\n", nothing: true},
		{name: "wide.log", data: utf16le, want: "wide.log 14\n"},
		{name: "by-content-not-name.txt", data: gz(text), want: "by-content-not-name.txt 62\n"},
		{name: "two.gz", data: append(gz(text), gz(text)...), want: "two.gz 124\n"},
		{name: "a.zst", data: zst(text), want: "a.zst 62\n"},
		{name: "a.xz", data: xzed(text), want: "a.xz 62\n"},
		{name: "half.gz", data: half, want: "half.gz 4190 [compressed data ends early after 4190 bytes]\n"},
		{name: "start.gz", data: gz(text)[:5], want: "start.gz 0 [gzip data ends within its header]\n", nothing: true},
		{name: "tail.gz", data: append(gz(text), "a tail that is longer"...), want: "tail.gz 62 [what follows the compressed data after 62 bytes is not gzip: ignored]\n"},
		{name: "a.tgz", data: gz(tarred(member{"x/app.log", text}, member{"y.log.gz", gz(text)})), want: "a.tgz!x/app.log 62\na.tgz!y.log.gz 62\n"},
		{name: "a.tar.zst", data: zst(tarred(member{"../../etc/passwd", text}, member{"/abs", text}, member{"a\x1b[31mb", text})), want: "a.tar.zst!../../etc/passwd 62\na.tar.zst!/abs 62\na.tar.zst!a\\x1b[31mb 62\n"},
		{name: "a.zip", data: zipped(member{"b.log", text}, member{"a.zip", zipped(member{"in.log", text})}, member{"__MACOSX/._b.log", text}), want: "a.zip!a.zip!in.log 62\na.zip!b.log 62\n"},
		{name: "lib.jar", data: zipped(member{"META-INF/MANIFEST.MF", text}), want: "lib.jar 0 [a Java program (jar), not evidence]\n", nothing: true},
		{name: "cut.zip", data: zipped(member{"b.log", text})[:100], want: "cut.zip 0 [zip without a directory at its end: cut short, perhaps]\n", nothing: true},
		{name: "cut.tar", data: tarred(member{"a.log", text}, member{"b.log", big})[:3000], want: "cut.tar 0 [archive ends early after 2 members]\ncut.tar!a.log 62\ncut.tar!b.log 1464 [ends early after 1464 bytes]\n"},
		{name: "deep.tar", data: deep, want: "deep.tar!c.tar!b.tar 0 [lies 2 archives deep: not read]\ndeep.tar!c.tar!d.log 62\n"},
		{name: "bomb.tgz", limits: small, data: gz(tarred(member{"a", text}, member{"bomb", make([]byte, 1<<20)}, member{"z.log", text})), want: "bomb.tgz!a 62\nbomb.tgz!bomb 0 [unpacks to more than 5 times its packed size: stopped after 4096 bytes]\nbomb.tgz!z.log 62\n"},
		{name: "bomb.zip", limits: small, data: zipped(member{"a.log", text}, member{"bomb", bytes.Repeat([]byte("a\n"), 1<<20)}, member{"z.log", text}), want: "bomb.zip!a.log 62\nbomb.zip!bomb 32768 [unpacks to more than 5 times its packed size: stopped after 32768 bytes]\nbomb.zip!z.log 62\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, c.name, c.data)
			sources, err := Collect(t.Context(), []string{dir}, Options{Limits: c.limits}, none)
			if errors.Is(err, ErrNothingRead) != c.nothing || err != nil && !c.nothing {
				t.Errorf("error %v", err)
			}
			got := describe(sources)
			if got != c.want {
				t.Errorf("got:\n%swant:\n%s", got, c.want)
			}
		})
	}
}

func TestCollectFolders(t *testing.T) {
	dir := t.TempDir()
	a := write(t, dir, "in/a.log", []byte(logText))
	write(t, dir, "in/b/c.log", []byte(logText))
	out := write(t, dir, "in/report.md", []byte("# report\n"))
	os.Symlink(a, filepath.Join(dir, "in", "b", "link.log"))
	os.Symlink(filepath.Join(dir, "in"), filepath.Join(dir, "linked"))
	os.Mkdir(filepath.Join(dir, "none"), 0o755)
	sources, err := Collect(t.Context(), []string{filepath.Join(dir, "linked"), a, a, filepath.Join(dir, "gone"), filepath.Join(dir, "none")}, Options{Exclude: []string{out}}, none)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(describe(sources), filepath.ToSlash(dir)+"/", "")
	want := `gone 0 [no such file or directory]
in/a.log 62
linked/a.log 0 [the same file as in/a.log, read once]
linked/b/c.log 62
linked/b/link.log 0 [the same file as in/a.log, read once]
none 0 [no files in it]
`
	if got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	_, err = Collect(t.Context(), []string{filepath.Join(dir, "none"), filepath.Join(dir, "gone")}, Options{}, none)
	if !errors.Is(err, ErrNothingRead) || !strings.Contains(err.Error(), "gone: no such file") {
		t.Errorf("error %v", err)
	}
}

func TestCollectGoesOnAfterDeniedFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.log", []byte(logText))
	write(t, dir, "b.log", []byte(logText))
	c := newCollection(t.Context(), Options{}, none)
	c.open = func(path string) (*os.File, error) {
		if strings.HasSuffix(path, "a.log") {
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
		}
		return os.Open(path)
	}
	sources, err := c.run([]string{dir})
	if got, want := describe(sources), "a.log 0 [permission denied]\nb.log 62\n"; got != want || err != nil {
		t.Errorf("got %s %v, want %s", got, err, want)
	}
}

func TestCollectEndsWithItsContext(t *testing.T) {
	r, w := io.Pipe() // a terminal on which nobody types
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		w.Write([]byte(logText))
		cancel()
	}()
	sources, err := Collect(ctx, []string{"-"}, Options{Stdin: r}, none)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if got := describe(sources); !strings.Contains(got, "interrupted: ") {
		t.Errorf("sources: %s", got)
	}
}

func TestDecode(t *testing.T) {
	gbk, _ := simplifiedchinese.GBK.NewEncoder().Bytes([]byte("超时:连接池已满\n服务异常\n"))
	utf16, _ := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewEncoder().Bytes([]byte("timeout 超时\r\n"))
	ascii := strings.Repeat(logText, 50_000)
	for _, c := range []struct{ name, in, want string }{
		{"ascii", ascii, ascii},
		{"utf-8", ascii + strings.Repeat("超时 ", 50_000), ascii + strings.Repeat("超时 ", 50_000)},
		{"bom", "\xef\xbb\xbfa", "a"},
		{"gbk late", ascii + string(gbk) + ascii, ascii + "超时:连接池已满\n服务异常\n" + ascii},
		{"gbk and utf-8", string(gbk) + "超时\n" + string(gbk), "超时:连接池已满\n服务异常\n超时\n超时:连接池已满\n服务异常\n"},
		{"utf-16 without a mark", string(utf16), "timeout 超时\r\n"},
		{"utf-8 cut in a character", "超时\n超\xe6\x97\n连接\n", "超时\n超\xe6\x97\n连接\n"},
		{"latin-1", "r\xe9sum\xe9 \xe9t\xe9\n", "r\xe9sum\xe9 \xe9t\xe9\n"},
		{"control bytes", "GET /a\x00\x01\x16 400 " + logText, "GET /a\x00\x01\x16 400 " + logText},
		{"end in a character", "a\n\xe8", "a\n\xe8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.in), oneByte{strings.NewReader(c.in)}} {
				text, problem := decode(r, func([]byte) bool { return false })
				if problem != "" {
					t.Fatal(problem)
				}
				got, err := io.ReadAll(text)
				if err != nil || string(got) != c.want {
					t.Errorf("got %d bytes %.100q, want %d bytes, error %v", len(got), got, len(c.want), err)
				}
			}
		})
	}
}

type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }

// TestUnread holds apart what leaves evidence unread and what is only passed by.
func TestUnread(t *testing.T) {
	dir := t.TempDir()
	whole := gz(bytes.Repeat([]byte(logText), 100))
	for name, data := range map[string][]byte{
		"cut.gz": whole[:len(whole)-20], "empty.log": nil, "nul.bin": make([]byte, 100), "own.txt": []byte("OURS\n"),
		"rest.gz": append(gz([]byte(logText)), "what follows is of no kind"...), "whole.log": []byte(logText), "z.7z": []byte("7z\xbc\xaf\x27\x1c rest"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	foreign := func(head []byte) string {
		if bytes.HasPrefix(head, []byte("OURS")) {
			return "ours"
		}
		return ""
	}
	sources, err := Collect(t.Context(), []string{dir}, Options{Foreign: foreign}, none)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources {
		want := s.Path == "cut.gz" || s.Path == "z.7z"
		if (s.Unread != "") != want {
			t.Errorf("%s: unread %q, problems %q", s.Path, s.Unread, s.Problems)
		}
		if s.Path == "own.txt" && (s.Bytes > 0 || !slices.Equal(s.Problems, []string{"ours"})) {
			t.Errorf("what is foreign was read: %+v", s)
		}
	}
}
