package tail

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/parsers"
)

// TestRotatedGivesWhatIsThere writes each log in pieces, renames it at random
// lines, looks at random moments, and kills the tailer in half of the runs. What
// each of the files holds must come, under the numbers of its lines.
func TestRotatedGivesWhatIsThere(t *testing.T) {
	for path, data := range corpus(t) {
		if !strings.HasSuffix(path, ".log") || bytes.Count(data, []byte("\n")) < 40 {
			continue
		}
		t.Run(strings.TrimPrefix(path, "../../testdata/"), func(t *testing.T) {
			rotated(t, path, data, len(data)%2 == 0)
		})
	}
}

func rotated(t *testing.T, path string, data []byte, kills bool) {
	rng := rand.New(rand.NewPCG(9, uint64(len(data))))
	name := filepath.Base(path)
	s := newStage(t, withState)
	s.cfg.Files[0].Paths = []string{s.path(name)}
	s.cfg.Recent = 1 // nothing is read again
	s.begin()
	s.sink.keep = text
	var got, want []string
	lines := bytes.SplitAfter(data, []byte("\n"))
	var written []byte
	generation, last := 0, 0
	rotate := func() {
		in := parsers.NewInput(s.path(name), bytes.NewReader(written))
		in.Hint = newFile(s.Tailer, &watch{path: s.path(name), set: &s.cfg.Files[0]}, identity{}).hint()
		in.Hint.Modified = time.Now()
		if err := parsers.Read(in, func(r *evidence.Record) error {
			// How long a collector's log was seen is told in parts, which a kill moves.
			if !kills || r.Mark == nil || r.Mark.Kind != evidence.MarkGCObserved {
				want = append(want, text(r))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		written = nil
	}
	s.write(name, "")
	s.polls(1)
	for at := 0; at < len(lines); {
		n := min(len(lines)-at, 1+rng.IntN(30))
		piece := bytes.Join(lines[at:at+n], nil)
		s.append(name, string(piece))
		written = append(written, piece...)
		at += n
		if rng.IntN(3) > 0 {
			s.polls(1)
		}
		if at-last > len(lines)/4 && rng.IntN(3) == 0 {
			if kills {
				s.polls(saveEvery) // it must know of this file at all
				got = append(got, s.records...)
				s.begin()
				s.sink.keep = text
			}
			rotate()
			generation++
			last = at
			s.rename(name, fmt.Sprintf("%s.%d", name, generation))
			s.write(name, "")
			if !kills {
				s.polls(1)
			}
		}
	}
	s.polls(halfFor + 5)
	rotate()
	s.Tailer.Close()
	got = append(got, s.records...)
	if missing := without(want, got); len(missing) > 0 {
		t.Errorf("kills %v, %d rotations: %d of %d missing, such as\n%s", kills, generation, len(missing), len(want), missing[0])
	}
	if extra := without(got, want); !kills && len(extra) > 0 {
		t.Errorf("%d too many, such as\n%s", len(extra), extra[0])
	}
}
