package tail

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// counted says what the metrics would.
func (s *stage) counted() string {
	c := s.Stats().Counts
	maps.DeleteFunc(c.Records, func(_ string, n int64) bool { return n == 0 })
	return fmt.Sprint("lines ", c.Lines, " bytes ", c.Bytes, " records ", c.Records, " skipped ", c.Skipped)
}

const nothing = "lines 0 bytes 0 records map[] skipped map[]"

// lookedBack is what a report would see that looks back so far.
func (s *stage) lookedBack() []string {
	var list []string
	for i, x := range s.again {
		if s.now.Sub(s.came[i]) <= s.cfg.Recent {
			list = append(list, x)
		}
	}
	return list
}

func TestWhatIsReadAgainIsNotCounted(t *testing.T) {
	s := newStage(t, withState)
	for i := range 20 {
		s.append("app.log", quietLine+full(i)+quietLine)
		s.polls(1)
	}
	s.polls(10)
	before := slices.Clone(s.records)
	if len(before) < 20 || s.counted() == nothing {
		t.Fatal(before, s.counted())
	}
	s.begin()
	s.polls(10)
	s.want()
	if got := s.counted(); got != nothing {
		t.Errorf("counted %s", got)
	}
	if !slices.Equal(s.again, before) {
		t.Errorf("again %q, want %q", s.again, before)
	}
	if n := s.news[s.path("app.log")]; n.Records != 0 || n.Skipped != 0 || n.Bytes != 0 || n.Format != "app-log" || n.From.IsZero() {
		t.Errorf("%+v", n)
	}
	s.append("app.log", full(42)+quietLine)
	s.polls(10)
	if got, want := s.counted(), fmt.Sprintf("lines 2 bytes %d records map[app-log:1] skipped map[]", len(full(42)+quietLine)); got != want {
		t.Errorf("counted %s, want %s", got, want)
	}
	if len(s.again) != len(before) {
		t.Errorf("%d came again", len(s.again))
	}
}

// TestSilentForLong writes after a long silence: where reading was when it began
// is the last mark before what a report looks back at.
func TestSilentForLong(t *testing.T) {
	for _, stop := range []string{"kill", "term"} {
		for after := range 24 {
			s := newStage(t, withState)
			s.write("app.log", quietLine+full(1)+quietLine)
			s.polls(5 + after)
			s.polls(800)
			var want []string
			for i := range 30 {
				s.append("app.log", full(100+i)+quietLine)
				s.polls(1)
			}
			s.polls(holdFor + saveEvery)
			want = slices.Clone(s.records[1:])
			if stop == "term" {
				s.Tailer.Close()
			}
			s.begin()
			s.polls(10)
			s.want()
			if got := s.lookedBack(); !slices.Equal(got, want) {
				t.Fatalf("%s after %d: %d came again, want %d: %q", stop, after, len(got), len(want), got)
			}
		}
	}
}

// TestSteadyLog kills at any moment: what came again came when it did, to within the
// distance of marks, and nothing of what is looked back at is missing.
func TestSteadyLog(t *testing.T) {
	s := newStage(t, withState)
	s.cfg.Recent = time.Minute
	s.begin()
	came := map[string]time.Time{}
	line := 0
	for round := range 8 {
		for range 100 + 7*round {
			s.append("app.log", full(line)+quietLine)
			came[fmt.Sprintf("app.log:%d pool %d", 2*line+1, line)] = s.now.Add(time.Second)
			line++
			s.polls(1)
		}
		s.polls(holdFor + saveEvery)
		for _, f := range s.files {
			if len(f.marks) > 10 {
				t.Errorf("%d marks", len(f.marks))
			}
		}
		s.begin()
		s.polls(3)
		seen := map[string]bool{}
		for i, r := range s.again {
			if d := s.came[i].Sub(came[r]); d < 0 || d > markEvery+time.Second {
				t.Errorf("%s came at %s, said %s", r, came[r], s.came[i])
			}
			if seen[r] {
				t.Errorf("%s came twice", r)
			}
			seen[r] = true
		}
		for r, at := range came {
			if s.now.Sub(at) <= s.cfg.Recent && !seen[r] {
				t.Errorf("%s is missing, of %s before", r, s.now.Sub(at))
			}
		}
	}
}

func TestDownForLong(t *testing.T) {
	s := newStage(t, withState)
	s.write("app.log", full(1)+quietLine)
	s.polls(20)
	s.now = s.now.Add(time.Hour)
	s.begin()
	s.append("app.log", full(2)+quietLine)
	s.polls(10)
	s.want("app.log:3 pool 2")
	if len(s.again) > 0 {
		t.Errorf("again %q", s.again)
	}
}

func TestRotatedBeforeTheRestart(t *testing.T) {
	s := newStage(t, withState)
	s.write("app.log", full(1)+quietLine)
	s.polls(10)
	s.append("app.log", full(2)+quietLine)
	s.polls(1)
	s.rename("app.log", "app.log.1")
	s.write("app.log", full(3)+quietLine)
	s.polls(20)
	for range 3 {
		s.begin()
		s.polls(20)
		s.want()
		if got := strings.Join(s.lookedBack(), ", "); got != "app.log:1 pool 1, app.log:3 pool 2, app.log:1 pool 3" || s.counted() != nothing {
			t.Errorf("again %s; %s", got, s.counted())
		}
	}
	os.Remove(s.path("app.log.1"))
	s.begin()
	s.polls(20)
	if got := strings.Join(s.lookedBack(), ", "); got != "app.log:1 pool 3" || len(s.news[s.path("app.log")].Problems) > 0 {
		t.Errorf("again %s %+v", got, s.news)
	}
}

func TestDumpsAreReadAgain(t *testing.T) {
	s := newStage(t, withDumps)
	os.Mkdir(s.path("dumps"), 0o755)
	s.polls(1)
	s.fresh("dumps/a.jstack", threads)
	s.polls(saveEvery)
	s.fresh("dumps/a.jstack", threads+"\n") // another one of the same name
	s.polls(saveEvery)
	news := s.news
	one := "a.jstack@" + s.Tailer.dumps[0].known["a.jstack"].Changed.Format(time.RFC3339)
	want := strings.Join([]string{one + ":2 dump", one + ":4 stack main", one + ":2 dump"}, ", ")
	for range 3 {
		s.begin()
		s.full = true
		s.polls(2)
		s.full = false
		s.polls(saveEvery)
		s.want()
		if got := strings.Join(s.again, ", "); got != want || s.counted() != nothing {
			t.Errorf("again %s, want %s; %s", got, want, s.counted())
		}
		for _, came := range s.came {
			if d := s.now.Sub(came); d < 7*time.Second || d > time.Minute {
				t.Errorf("came %s ago", d)
			}
		}
		for path, n := range s.news {
			if was := news[path]; n.Records != was.Records || n.Bytes != was.Bytes {
				t.Errorf("%+v, was %+v", n, was)
			}
		}
	}
	s.now = s.now.Add(s.cfg.Recent)
	s.begin()
	s.polls(saveEvery)
	s.want()
	if len(s.again) > 0 {
		t.Errorf("again %q", s.again)
	}
}

func TestWrittenWhileDown(t *testing.T) {
	s := newStage(t, withState)
	s.write("app.log", quietLine+full(1)+quietLine)
	s.polls(10)
	s.begin()
	more := full(2) + quietLine + full(3) + quietLine
	s.append("app.log", more)
	s.polls(10)
	s.want("app.log:4 pool 2", "app.log:6 pool 3")
	if got, want := s.counted(), fmt.Sprintf("lines 4 bytes %d records map[app-log:2] skipped map[]", len(more)); got != want || len(s.again) != 1 {
		t.Errorf("counted %s, want %s; again %q", got, want, s.again)
	}
}

// TestSilentIsCountedOnce has a file closed that says nothing, and opened again.
func TestSilentIsCountedOnce(t *testing.T) {
	s := newStage(t, withState)
	s.write("app.log", full(1)+full(2)+quietLine)
	s.polls(2 * idleFor)
	s.append("app.log", full(3)+quietLine)
	s.polls(10)
	if got := s.Stats().Records["app-log"]; got != 3 {
		t.Errorf("%d records, want 3", got)
	}
}
