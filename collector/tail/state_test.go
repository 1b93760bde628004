package tail

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/parsers"
)

func withState(c *Config) {
	c.Files[0].Start = true
	c.State = filepath.Join(filepath.Dir(c.Files[0].Paths[0]), "state")
}

func TestKilledAndBack(t *testing.T) {
	s := newStage(t, withState)
	s.write("app.log", quietLine+full(1)+quietLine)
	s.polls(10)
	s.want("app.log:2 pool 1")
	s.append("app.log", full(2)+quietLine)
	s.polls(saveEvery)
	s.append("app.log", full(3)+quietLine)
	s.polls(1) // not saved
	s.want("app.log:4 pool 2", "app.log:6 pool 3")
	s.begin() // it was killed
	s.append("app.log", full(4)+quietLine)
	s.polls(10)
	s.want("app.log:6 pool 3", "app.log:8 pool 4")
	if got := strings.Join(s.again, ", "); got != "app.log:2 pool 1, app.log:4 pool 2" {
		t.Errorf("again: %s", got)
	}
	if n := s.news[s.path("app.log")]; n.Records != 2 || n.Lines != 9 {
		t.Errorf("%+v", n)
	}
}

func TestRotatedWhileDown(t *testing.T) {
	s := newStage(t, withState)
	s.write("app.log", quietLine+full(1)+quietLine)
	s.polls(10)
	s.begin()
	s.append("app.log", full(2)+quietLine)
	s.rename("app.log", "app-2026-03-14.1")
	s.write("app.log", full(3)+quietLine)
	s.polls(10)
	s.want("app.log:4 pool 2", "app.log:1 pool 3")
	s.begin()
	os.Remove(s.path("app.log"))
	s.write("other", "") // takes the inode, perhaps
	s.write("app.log", full(4)+quietLine)
	s.polls(10)
	s.want("app.log:1 pool 4")
}

func TestHalfLineOverARestart(t *testing.T) {
	s := newStage(t, withState)
	line := full(1)
	s.write("app.log", quietLine+line[:len(line)-1])
	s.polls(30)
	s.want("app.log:2 pool 1")
	s.begin()
	s.append("app.log", " and its end\n"+full(2)+quietLine)
	s.polls(10)
	s.want("app.log:3 pool 2")
}

func TestDamagedState(t *testing.T) {
	for _, text := range []string{"", "{", `{"version":7}`, `{"version":1,"files":[null,{"line":-3}]}`, "\x00\x00\x00"} {
		s := newStage(t, withState)
		s.write("app.log", full(1)+quietLine)
		s.polls(10)
		s.want("app.log:1 pool 1")
		s.write("state/tail.json", text)
		s.begin()
		s.polls(10)
		s.want("app.log:1 pool 1")
		if s.Damaged() != !strings.Contains(text, "version\":1") {
			t.Errorf("%q: damaged %v", text, s.Damaged())
		}
	}
}

// corpus are logs that somebody may write to, in pieces of lines.
func corpus(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	paths, err := filepath.Glob("../../testdata/*/*")
	if err != nil {
		t.Fatal(err)
	}
	more, _ := filepath.Glob("../../testdata/incidents/*/*")
	for _, path := range append(paths, more...) {
		data, err := os.ReadFile(path)
		if err != nil || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 || len(data) > 300<<10 || len(data) == 0 || data[len(data)-1] != '\n' {
			continue
		}
		if strings.HasSuffix(path, ".golden.json") || strings.HasSuffix(path, ".md") || strings.HasSuffix(path, ".go") {
			continue
		}
		all[path] = data
	}
	if len(all) < 100 {
		t.Fatalf("%d samples", len(all))
	}
	return all
}

// text says all of a record but which dump it is of, which is counted per reading.
func text(r *evidence.Record) string {
	c := r.Clone()
	c.Raw, c.Cite.Source = nil, ""
	if c.Dump != nil {
		c.Dump.ID = ""
	}
	if c.Stack != nil {
		c.Stack.Dump = ""
	}
	b, err := json.Marshal(c)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// TestFollowedGivesWhatIsThere appends each sample bit by bit, looks at it at
// random moments, rotates it at random lines and kills the tailer now and then.
// Nothing of what is there may be missing. Without kills and rotations, nothing may
// be there twice.
func TestFollowedGivesWhatIsThere(t *testing.T) {
	for path, data := range corpus(t) {
		t.Run(strings.TrimPrefix(path, "../../testdata/"), func(t *testing.T) {
			followed(t, path, data, false)
			if len(data)%3 == 0 {
				followed(t, path, data, true)
			}
		})
	}
}

func followed(t *testing.T, path string, data []byte, kills bool) {
	rng := rand.New(rand.NewPCG(4, uint64(len(data))))
	name := filepath.Base(path)
	s := newStage(t, withState)
	s.cfg.Files[0].Paths = []string{s.path(name)}
	s.cfg.Recent = 1 // nothing is read again
	if !kills {
		s.cfg.State = ""
	}
	s.begin()
	s.sink.keep = text
	var got []string
	s.write(name, string(data[:min(len(data), 70<<10)])) // enough to know what it is
	for at := min(len(data), 70<<10); at < len(data); {
		n := min(len(data)-at, 1+rng.IntN(9000))
		s.append(name, string(data[at:at+n]))
		at += n
		if rng.IntN(3) > 0 {
			s.polls(1 + rng.IntN(2))
		}
		if kills && rng.IntN(6) == 0 {
			got = append(got, s.records...)
			s.begin()
			s.sink.keep = text
		}
	}
	s.polls(halfFor + 5)
	s.Tailer.Close()
	got = append(got, s.records...)
	var want []string
	in := parsers.NewInput(s.path(name), bytes.NewReader(data))
	for _, f := range s.files {
		in.Hint = f.hint()
	}
	if err := parsers.Read(in, func(r *evidence.Record) error {
		want = append(want, text(r))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	missing := without(want, got)
	if len(missing) > 0 {
		t.Errorf("kills %v: %d of %d missing, such as\n%s\ngot %d", kills, len(missing), len(want), missing[0], len(got))
	}
	if extra := without(got, want); !kills && len(extra) > 0 {
		t.Errorf("%d too many, such as\n%s", len(extra), extra[0])
	}
}

func without(list, other []string) []string {
	n := map[string]int{}
	for _, s := range other {
		n[s]++
	}
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { n[s]--; return n[s] >= 0 })
}
