package tail

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/evidence"
)

// sink keeps what it is given.
type sink struct {
	full    bool
	records []string // path:line of what it is
	again   []string
	came    []time.Time // when those of again did
	raw     map[string]string
	news    map[string]collector.News
	keep    func(r *evidence.Record) string
}

func (s *sink) Room() bool { return !s.full }

func (s *sink) Add(r *evidence.Record) { s.records = append(s.records, s.keep(r)) }

func (s *sink) Again(r *evidence.Record, came time.Time) {
	s.again = append(s.again, s.keep(r))
	s.came = append(s.came, came)
}

func (s *sink) Raw(path string, _ time.Time, text []byte) { s.raw[path] += string(text) }

func (s *sink) Source(n collector.News) { s.news[n.Path] = n }

// stage is a folder, a tailer and its clock.
type stage struct {
	t   *testing.T
	dir string
	cfg Config
	*sink
	*Tailer
	now time.Time
}

func newStage(t *testing.T, change func(*Config)) *stage {
	t.Helper()
	s := &stage{t: t, dir: t.TempDir(), now: time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)}
	s.cfg = Config{Files: []Files{{Paths: []string{filepath.Join(s.dir, "*.log")}, Service: "order"}}, Zone: time.UTC, Recent: 5 * time.Minute}
	if change != nil {
		change(&s.cfg)
	}
	s.begin()
	return s
}

// begin starts a tailer, as after a kill if there was one.
func (s *stage) begin() {
	s.t.Helper()
	s.sink = &sink{raw: map[string]string{}, news: map[string]collector.News{}}
	s.sink.keep = func(r *evidence.Record) string {
		what := "?"
		switch {
		case r.Pool != nil:
			what = fmt.Sprint("pool ", r.Pool.Active)
		case r.Access != nil:
			what = fmt.Sprint("access ", r.Access.Status)
		case r.Stack != nil:
			what = "stack " + r.Stack.Name
		case r.Dump != nil:
			what = "dump"
		}
		return fmt.Sprintf("%s:%d %s", filepath.Base(r.Cite.Source), r.Cite.Line, what)
	}
	cfg := s.cfg
	cfg.Sink = s.sink
	t, err := New(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Tailer = t
}

func (s *stage) path(name string) string { return filepath.Join(s.dir, name) }

func (s *stage) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) append(name, text string) {
	s.t.Helper()
	f, err := os.OpenFile(s.path(name), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err == nil {
		_, err = f.WriteString(text)
		err = joined(err, f.Close())
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func joined(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func (s *stage) rename(from, to string) {
	s.t.Helper()
	if err := os.Rename(s.path(from), s.path(to)); err != nil {
		s.t.Fatal(err)
	}
}

// polls looks some times, a second apart.
func (s *stage) polls(n int) {
	for range n {
		s.now = s.now.Add(time.Second)
		s.Poll(s.now)
	}
}

func (s *stage) want(records ...string) {
	s.t.Helper()
	if got, want := strings.Join(s.records, "\n"), strings.Join(records, "\n"); got != want {
		s.t.Errorf("got\n%s\nwant\n%s\nnews %+v", got, want, s.news)
	}
	s.records = nil
}

// full is a line of a pool that is exhausted, so many busy.
func full(active int) string {
	return fmt.Sprintf("2026-03-14 09:12:33.120 WARN [main] o.a.d.c.t.s.AbortPolicyWithReport -  [DUBBO] Thread pool is EXHAUSTED! Thread Name: DubboServerHandler-10.20.3.17:20880, Pool Size: %d (active: %d, core: 200, max: 200, largest: 200), Task: 5120 (completed: 4920), Executor status:(isShutdown:false, isTerminated:false, isTerminating:false), in dubbo://10.20.3.17:20880!, dubbo version: 3.2.9\n", active, active)
}

const quietLine = "2026-03-14 09:12:34.001 INFO [main] c.acme.shop.Order - order 17 is paid\n"

func TestFromTheEnd(t *testing.T) {
	s := newStage(t, nil)
	s.write("app.log", quietLine+full(1)+quietLine)
	s.polls(6)
	s.want()
	s.append("app.log", quietLine+full(2)+quietLine)
	s.polls(1)
	s.want("app.log:5 pool 2")
	if n := s.news[s.path("app.log")]; n.Lines != 6 || n.Records != 1 || n.Format != "app-log" || n.Unread != "" {
		t.Errorf("%+v", n)
	}
	if got := s.raw[s.path("app.log")]; got != quietLine+full(2)+quietLine {
		t.Errorf("raw %q", got)
	}
}

func TestNewFilesBeginAtTheStart(t *testing.T) {
	s := newStage(t, nil)
	s.polls(1)
	s.write("late.log", full(1)+quietLine)
	s.polls(globEvery + holdFor + chooseBy)
	s.want("late.log:1 pool 1")
}

func TestHeldBackUntilQuiet(t *testing.T) {
	s := newStage(t, func(c *Config) { c.Files[0].Start = true })
	s.write("app.log", quietLine+full(1))
	s.polls(holdFor - 1)
	s.want()
	s.polls(2)
	s.want("app.log:2 pool 1")
	s.append("app.log", "java.lang.IllegalStateException\n\tat com.acme.Shop.pay(Shop.java:7)\n"+quietLine)
	s.polls(10)
	s.want()
}

func TestRotation(t *testing.T) {
	s := newStage(t, func(c *Config) { c.Files[0].Start = true })
	s.write("app.log", quietLine+full(1)+quietLine)
	s.polls(9)
	s.want("app.log:2 pool 1")
	s.append("app.log", full(2)+quietLine)
	s.rename("app.log", "app.log.1")
	s.append("app.log.1", full(3)+quietLine)
	s.write("app.log", full(4)+quietLine)
	s.polls(1)
	s.append("app.log.1", full(5)+quietLine) // its writer has not noticed yet
	s.polls(9)
	s.want("app.log:4 pool 2", "app.log:6 pool 3", "app.log:8 pool 5", "app.log:1 pool 4")
	if len(s.files) != 1 || s.open != 1 {
		t.Errorf("%d files, %d open", len(s.files), s.open)
	}
	if n := s.news[s.path("app.log")]; n.Records != 5 || n.Lines != 2 {
		t.Errorf("%+v", n)
	}
}

func TestRotatedInsideTheGlob(t *testing.T) {
	s := newStage(t, func(c *Config) {
		c.Files[0].Paths = []string{filepath.Join(filepath.Dir(c.Files[0].Paths[0]), "app.log*")}
	})
	s.write("app.log", quietLine)
	s.polls(1)
	for i := range 4 {
		s.append("app.log", full(i)+quietLine)
		s.polls(20)
		for n := i; n > 0; n-- {
			s.rename(fmt.Sprintf("app.log.%d", n), fmt.Sprintf("app.log.%d", n+1))
		}
		s.rename("app.log", "app.log.1")
		s.write("app.log", quietLine)
		s.polls(20)
	}
	s.want("app.log:2 pool 0", "app.log:2 pool 1", "app.log:2 pool 2", "app.log:2 pool 3")
}

func TestCopyTruncate(t *testing.T) {
	s := newStage(t, func(c *Config) { c.Files[0].Start = true })
	s.write("app.log", quietLine+full(1)+quietLine)
	s.polls(9)
	s.write("app.log", full(2)+quietLine) // shorter
	s.polls(9)
	s.write("app.log", full(3)+strings.Repeat(quietLine, 9)) // longer than it was
	s.polls(9)
	s.want("app.log:2 pool 1", "app.log:1 pool 2", "app.log:1 pool 3")
	if n := s.news[s.path("app.log")]; !strings.Contains(strings.Join(n.Problems, "\n"), "truncated") || n.Unread != "" {
		t.Errorf("%+v", n)
	}
}

func TestHole(t *testing.T) {
	s := newStage(t, func(c *Config) { c.Files[0].Start = true })
	s.write("app.log", strings.Repeat(quietLine, 2000)+full(1)+quietLine)
	s.polls(9)
	s.want("app.log:2001 pool 1")
	// A writer that does not append goes on at its old place.
	f, err := os.OpenFile(s.path("app.log"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	end, _ := f.Seek(0, 2)
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(quietLine+full(2)+quietLine), end); err != nil {
		t.Fatal(err)
	}
	f.Close()
	s.polls(9)
	s.want("app.log:2 pool 2")
}

func TestDeletedAndBack(t *testing.T) {
	s := newStage(t, func(c *Config) {
		c.Files[0].Paths = []string{filepath.Join(filepath.Dir(c.Files[0].Paths[0]), "app.log")}
	})
	s.polls(3)
	if n := s.news[s.path("app.log")]; !strings.Contains(n.Unread, "not there") {
		t.Errorf("%+v", n)
	}
	s.write("app.log", full(1)+quietLine)
	s.polls(9)
	os.Remove(s.path("app.log"))
	s.polls(9)
	if s.open != 0 {
		t.Errorf("%d open", s.open)
	}
	s.write("app.log", full(2)+quietLine)
	s.polls(9)
	s.want("app.log:1 pool 1", "app.log:1 pool 2")
	if n := s.news[s.path("app.log")]; n.Unread != "" || n.Gone {
		t.Errorf("%+v", n)
	}
}

func TestSwitchedLink(t *testing.T) {
	s := newStage(t, func(c *Config) { c.Files[0].Start = true })
	s.write("0.txt", full(1)+quietLine)
	s.write("1.txt", full(2)+quietLine)
	if err := os.Symlink("0.txt", s.path("pod.log")); err != nil {
		t.Skip(err)
	}
	s.polls(9)
	s.append("0.txt", full(3)+quietLine)
	os.Remove(s.path("pod.log"))
	os.Symlink("1.txt", s.path("pod.log"))
	s.polls(9)
	s.want("pod.log:1 pool 1", "pod.log:3 pool 3", "pod.log:1 pool 2")
}

func TestOneFileByTwoNames(t *testing.T) {
	s := newStage(t, func(c *Config) { c.Files[0].Start = true })
	s.write("app.log", full(1)+quietLine)
	if err := os.Symlink("app.log", s.path("b.log")); err != nil {
		t.Skip(err)
	}
	s.polls(9)
	s.want("app.log:1 pool 1")
	if n := s.news[s.path("b.log")]; !strings.Contains(n.Unread, "the same file as") {
		t.Errorf("%+v", n)
	}
}

func TestHalfLines(t *testing.T) {
	s := newStage(t, func(c *Config) { c.Files[0].Start = true })
	line := full(1)
	s.write("app.log", quietLine+quietLine+line[:50])
	s.polls(8)
	s.append("app.log", line[50:len(line)-1])
	s.polls(halfFor - 1)
	s.want()
	s.polls(3)
	s.want("app.log:3 pool 1")
	s.append("app.log", " and the rest of it\n"+quietLine+full(2)+quietLine)
	s.polls(3)
	s.want("app.log:5 pool 2")
}

func TestLongLines(t *testing.T) {
	s := newStage(t, func(c *Config) { c.Files[0].Start = true })
	s.write("app.log", quietLine+strings.Repeat("x", 5<<20))
	s.polls(3)
	s.append("app.log", strings.Repeat("y", 3<<20)+"\n"+full(1)+quietLine)
	s.polls(9)
	s.want("app.log:3 pool 1")
	if n := s.news[s.path("app.log")]; n.Lines != 4 || n.Skipped == 0 {
		t.Errorf("%+v", n)
	}
}

func TestEncodings(t *testing.T) {
	s := newStage(t, func(c *Config) { c.Files[0].Start = true })
	wide := func(text string, big bool) string {
		var b strings.Builder
		for _, c := range []byte(text) {
			if big {
				b.WriteString("\x00" + string([]byte{c}))
			} else {
				b.WriteString(string([]byte{c}) + "\x00")
			}
		}
		return b.String()
	}
	s.write("crlf.log", strings.ReplaceAll(quietLine+full(1)+quietLine, "\n", "\r\n"))
	s.write("gbk.log", "2026-03-14 09:12:33.120 WARN [main] a.B - \xd6\xd0\xce\xc4\xc8\xd5\xd6\xbe\n"+full(2)+quietLine)
	s.write("le.log", "\xff\xfe"+wide(quietLine+full(3)+quietLine, false))
	s.write("be.log", "\xfe\xff"+wide(quietLine+full(4)+quietLine, true))
	s.polls(9)
	s.append("le.log", wide(full(5)+quietLine, false))
	s.append("be.log", wide(full(6)+quietLine, true))
	s.polls(2)
	s.want("be.log:2 pool 4", "crlf.log:2 pool 1", "gbk.log:2 pool 2", "le.log:2 pool 3", "be.log:4 pool 6", "le.log:4 pool 5")
	if got := s.raw[s.path("gbk.log")]; !strings.Contains(got, "中文日志") {
		t.Errorf("%q", got)
	}
}

func TestNotText(t *testing.T) {
	s := newStage(t, func(c *Config) { c.Files[0].Start = true })
	s.write("old.log", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03abc")
	s.polls(2)
	if n := s.news[s.path("old.log")]; !strings.Contains(n.Unread, "compressed") {
		t.Errorf("%+v", n)
	}
}

func TestNoRoom(t *testing.T) {
	s := newStage(t, func(c *Config) { c.Files[0].Start = true })
	s.full = true
	s.write("app.log", full(1)+quietLine)
	s.polls(9)
	s.want()
	s.full = false
	s.polls(9)
	s.want("app.log:1 pool 1")
}

func TestTooManyFiles(t *testing.T) {
	s := newStage(t, func(c *Config) { c.Files[0].Start, c.MaxOpen = true, 2 })
	for i := range 5 {
		s.write(fmt.Sprintf("%d.log", i), full(i)+quietLine)
	}
	s.polls(60)
	if s.open > 2 {
		t.Errorf("%d open", s.open)
	}
	s.want("0.log:1 pool 0", "1.log:1 pool 1", "2.log:1 pool 2", "3.log:1 pool 3", "4.log:1 pool 4")
	for i := range 5 {
		s.append(fmt.Sprintf("%d.log", i), full(10+i)+quietLine)
	}
	s.polls(60)
	if len(s.records) != 5 {
		t.Errorf("%v", s.records)
	}
	for path, n := range s.news {
		if n.Unread != "" {
			t.Errorf("%s: %+v", path, n)
		}
	}
}

func TestAccessLogKeepsItsColumns(t *testing.T) {
	s := newStage(t, nil)
	line := func(i int) string {
		return fmt.Sprintf("10.20.0.9 - - [14/Mar/2026:09:12:%02d +0000] \"GET /pay HTTP/1.1\" 200 12 \"-\" \"checkout/2.1\" rt=0.405\n", i%60)
	}
	var all strings.Builder
	for i := range 500 {
		all.WriteString(line(i))
	}
	s.write("access.log", all.String())
	s.polls(2)
	s.append("access.log", line(1))
	s.polls(1)
	s.want("access.log:501 access 200")
	s.append("access.log", line(2)+line(3))
	s.polls(1)
	s.want("access.log:502 access 200", "access.log:503 access 200")
}

func TestFormatSeenLater(t *testing.T) {
	s := newStage(t, nil)
	s.polls(1)
	s.write("access.log", "starting up\n")
	s.polls(20)
	var want []string
	for i := range 30 {
		s.append("access.log", fmt.Sprintf("10.20.0.9 - - [14/Mar/2026:09:12:%02d +0000] \"GET /pay HTTP/1.1\" 200 12 \"-\" \"checkout/2.1\" rt=0.405\n", i))
		want = append(want, fmt.Sprintf("access.log:%d access 200", i+2))
		s.polls(2)
	}
	s.want(want...)
	if n := s.news[s.path("access.log")]; n.Lines != 31 || n.Format != "access-log" {
		t.Errorf("%+v", n)
	}
	if raw := s.raw[s.path("access.log")]; strings.Count(raw, "\n") != 31 {
		t.Errorf("%d lines kept", strings.Count(raw, "\n"))
	}
}
