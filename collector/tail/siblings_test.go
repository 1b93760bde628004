package tail

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// dated writes a file as it would be some seconds after the stage's time.
func (s *stage) dated(name, text string, after time.Duration) {
	s.t.Helper()
	s.write(name, text)
	at := s.now.Add(after)
	if err := os.Chtimes(s.path(name), at, at); err != nil {
		s.t.Fatal(err)
	}
}

// rotations renames app.log as logrotate does, so often, and leaves a new one each
// time.
func (s *stage) rotations(first, n int) {
	for i := range n {
		for k := 40; k > 0; k-- {
			if from := s.path(fmt.Sprintf("app.log.%d", k)); exists(from) {
				s.rename(fmt.Sprintf("app.log.%d", k), fmt.Sprintf("app.log.%d", k+1))
			}
		}
		s.rename("app.log", "app.log.1")
		s.dated("app.log", full(first+i)+quietLine, time.Duration(i+1)*10*time.Millisecond)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestRotatedThriceBetweenTwoLooks(t *testing.T) {
	s := newStage(t, withState)
	s.cfg.Files[0].Paths = []string{s.path("app.log")}
	s.begin()
	s.dated("app.log.1", full(90)+quietLine, -time.Hour) // read by nobody, and not since the last look
	s.dated("app.log", full(1)+quietLine, 0)
	s.polls(2)
	s.rotations(2, 3)
	s.polls(12)
	s.want("app.log:1 pool 1", "app.log:1 pool 2", "app.log:1 pool 3", "app.log:1 pool 4")
	if n := s.news[s.path("app.log")]; len(n.Problems) > 0 || n.Records != 4 {
		t.Errorf("%+v", n)
	}
	if len(s.files) != 1 || s.open != 1 {
		t.Errorf("%d files, %d open", len(s.files), s.open)
	}
	s.rotations(5, 3) // those that were read are known
	s.polls(12)
	s.want("app.log:1 pool 5", "app.log:1 pool 6", "app.log:1 pool 7")
}

func TestRotatedWhereNothingIsForALook(t *testing.T) {
	s := newStage(t, withState)
	s.dated("app.log", full(1)+quietLine, 0)
	s.polls(2)
	s.rotations(2, 1)
	s.rename("app.log", "app.log.0")
	s.polls(12)
	s.rename("app.log.0", "app.log") // which rotations renames again
	s.rotations(3, 1)
	s.polls(12)
	s.want("app.log:1 pool 1", "app.log:1 pool 2", "app.log:1 pool 3")
}

func TestRotatedSixTimesWhileDown(t *testing.T) {
	for _, start := range []bool{false, true} {
		s := newStage(t, withState)
		s.cfg.Files[0].Paths = []string{s.path("app.log")}
		s.cfg.Files[0].Start = start
		s.begin()
		s.polls(1)
		s.dated("app.log.1", full(90)+quietLine, -time.Hour)
		s.dated("app.log", full(1)+quietLine, 0)
		s.polls(10)
		s.want("app.log:1 pool 1")
		s.begin() // it was killed
		s.append("app.log", full(2)+quietLine)
		s.rotations(3, 6)
		s.polls(12)
		want := []string{"app.log:3 pool 2"}
		for i := range 6 {
			want = append(want, fmt.Sprintf("app.log:1 pool %d", 3+i))
		}
		s.want(want...)
		s.begin()
		s.polls(12)
		s.want()
	}
}

func TestRotatedFilesThatAreNotRead(t *testing.T) {
	s := newStage(t, withState)
	s.cfg.Files[0].Paths = []string{s.path("app.log")}
	s.begin()
	s.dated("app.log", full(1)+quietLine, 0)
	s.polls(2)
	s.rename("app.log", "app.log.3")
	s.dated("app.log.3.gz", "of the one before", 0)
	s.dated("app.log.2.gz", "of another", time.Second)
	s.dated("app-error.log", full(80)+quietLine, time.Second)
	s.dated("app.log.lck", full(81)+quietLine, time.Second)
	for i := range maxSiblings + 2 {
		s.dated(fmt.Sprintf("app-2026-03-14.%d.log", 100+i), full(100+i)+quietLine, time.Second+time.Duration(i)*time.Millisecond)
	}
	s.dated("app.log", full(2)+quietLine, 2*time.Second)
	s.polls(12)
	if got := strings.Join(s.records, " "); len(s.records) != maxSiblings+2 || strings.Contains(got, "pool 101 ") || !strings.Contains(got, "pool 102 ") || strings.Contains(got, "pool 8") {
		t.Errorf("%d: %s", len(s.records), got)
	}
	n := s.news[s.path("app.log")]
	if got := strings.Join(n.Problems, "; "); !strings.Contains(got, "not read: 3, such as app.log.2.gz, app-2026-03-14.100.log, app-2026-03-14.101.log") {
		t.Errorf("%q", got)
	}
}

func TestCopyOfWhatWasReadIsNotReadAgain(t *testing.T) {
	s := newStage(t, withState)
	s.cfg.Files[0].Paths = []string{s.path("app.log")}
	s.begin()
	s.dated("app.log", full(1)+quietLine, 0)
	s.polls(6)
	s.dated("app.log.1", full(1)+quietLine, time.Second) // copytruncate
	s.dated("app.log", full(2), time.Second)
	s.polls(12)
	s.want("app.log:1 pool 1", "app.log:1 pool 2")
	s.rename("app.log", "app.log.0")
	s.dated("app.log", full(3)+quietLine, 2*time.Second)
	s.polls(12)
	s.want("app.log:1 pool 3")
	s.begin()
	s.dated("app.log.2", full(2), 3*time.Second)
	s.rename("app.log", "app.log.x")
	s.dated("app.log", full(4)+quietLine, 4*time.Second)
	s.polls(12)
	s.want("app.log:1 pool 4")
}

func TestRotatedNames(t *testing.T) {
	for other, want := range map[string]bool{
		"app.log.1": true, "app.log-20260314": true, "app.log.2026-03-14.gz": true, "app.log_old": true, "app.log.bak": true,
		"app-2026-03-14.log": true, "app.3.log": true, "app-2026-03-14.1.log.gz": true,
		"app.log": false, "app.logger": false, "app.log~": false, "app.log.lck": false, "app-error.log": false, "app2.log": false, "other.log.1": false, "app-2026.txt": false,
	} {
		if got := rotatedName("app.log", other); got != want {
			t.Errorf("%s: %v", other, got)
		}
	}
}

func TestRefusedFilesAreNoLag(t *testing.T) {
	s := newStage(t, withState)
	s.cfg.MaxOpen = 2
	s.begin()
	s.write("a.log", "\x1f\x8b\x08\x00"+strings.Repeat("\x81\xfe\x93", 999))
	s.write("b.log", "")
	if err := os.Truncate(s.path("b.log"), 1<<30); err != nil {
		t.Fatal(err)
	}
	s.polls(3)
	if x := s.Stats().States[0]; x.LagBytes != 0 || x.Up {
		t.Errorf("%+v", x)
	}
	os.Remove(s.path("a.log"))
	for i := range 8 {
		s.write(fmt.Sprintf("c%d.log", i), full(i)+quietLine)
	}
	s.polls(globEvery)
	if x := s.Stats().States[0]; !x.Up {
		t.Errorf("those that wait for others count as down: %+v", x)
	}
	s.polls(30)
	if x := s.Stats().States[0]; !x.Up || x.LagBytes != 0 || len(s.records) != 8 {
		t.Errorf("%+v %v", x, s.records)
	}
	s.append("b.log", full(9)+quietLine)
	s.polls(12)
	if len(s.records) != 9 {
		t.Errorf("behind a hole: %v", s.records)
	}
}
