package parsers

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/firebreak-io/firebreak/evidence"
)

// followed feeds an input in pieces of up to so many bytes.
func followed(data []byte, rng *rand.Rand, most int) func(*Input, Emit) error {
	return func(in *Input, emit Emit) error {
		f := Follow(in, emit)
		for rest := data; len(rest) > 0; {
			n := min(len(rest), 1+rng.IntN(most))
			if err := f.Feed(bytes.Clone(rest[:n])); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return f.Close()
	}
}

// texts are the samples that somebody may append to: texts in UTF-8.
func texts(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	paths := fixtures(t)
	more, _ := filepath.Glob("../testdata/incidents/*/*")
	for _, path := range append(paths, more...) {
		data, err := os.ReadFile(path)
		if err != nil || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 || len(data) > 2<<20 {
			continue
		}
		all[path] = data
	}
	if len(all) < 100 {
		t.Fatalf("%d samples", len(all))
	}
	return all
}

func sorted(p parsed) []string {
	list := slices.Clone(p.records)
	slices.Sort(list)
	return list
}

// TestFollowedGivesWhatReadGives feeds every sample in pieces.
func TestFollowedGivesWhatReadGives(t *testing.T) {
	for path, data := range texts(t) {
		t.Run(strings.TrimPrefix(path, "../testdata/"), func(t *testing.T) {
			name := filepath.Base(path)
			want := read(name, bytes.NewReader(data))
			for seed, most := range []int{64, 4096, 1 << 20} {
				rng := rand.New(rand.NewPCG(uint64(seed), 1))
				got := readBy(name, nil, followed(data, rng, most))
				if fmt.Sprint(got.err) != fmt.Sprint(want.err) {
					t.Fatalf("pieces of %d: %v, not %v", most, got.err, want.err)
				}
				difference(t, fmt.Sprintf("pieces of %d", most), sorted(want), sorted(got))
			}
		})
	}
}

// difference reports the records of one list that the other does not have.
func difference(t *testing.T, how string, want, got []string) {
	t.Helper()
	missing, extra := without(want, got), without(got, want)
	if len(missing)+len(extra) == 0 {
		return
	}
	show := func(list []string) string { return strings.Join(list[:min(len(list), 3)], "\n\t") }
	t.Errorf("%s: %d of %d missing:\n\t%s\n%d too many:\n\t%s", how, len(missing), len(want), show(missing), len(extra), show(extra))
}

// without returns what list has and the other has not, as often as it has not.
func without(list, other []string) []string {
	n := map[string]int{}
	for _, s := range other {
		n[s]++
	}
	var left []string
	for _, s := range list {
		if n[s]--; n[s] < 0 {
			left = append(left, s)
		}
	}
	return left
}

// TestResumedLosesNothing ends a follower somewhere without a word and goes on
// with another where the first had settled. Records are cited at lines, so what
// was lost, or moved, shows.
func TestResumedLosesNothing(t *testing.T) {
	for path, data := range texts(t) {
		if strings.Contains(path, "/firebreak-records/") {
			continue // written at once, and each line refers to names of those before
		}
		t.Run(strings.TrimPrefix(path, "../testdata/"), func(t *testing.T) {
			name := filepath.Base(path)
			want := read(name, bytes.NewReader(data))
			rng := rand.New(rand.NewPCG(7, uint64(len(data))))
			ends := []int{0}
			for i, c := range data {
				if c == '\n' {
					ends = append(ends, i+1)
				}
			}
			for range 4 {
				at := rng.IntN(len(ends))
				got := readBy(name, nil, func(in *Input, emit Emit) error {
					f := Follow(in, emit)
					for i := 0; i < at; {
						n := min(at, i+1+rng.IntN(40))
						if err := f.Feed(bytes.Clone(data[ends[i]:ends[n]])); err != nil {
							return err
						}
						i = n
					}
					line, done := f.Settled()
					f.mute = true // it is killed
					if err := f.Close(); err != nil {
						return err
					}
					again := NewInput(in.Name, nil)
					again.Hint, again.Skip = in.Hint, in.Skip
					before := NewInput(in.Name, bytes.NewReader(data[:ends[line-1]]))
					if err := Read(before, func(*evidence.Record) error { return nil }); err != nil {
						return err
					}
					again.dumps, again.snapshots = before.dumps, before.snapshots
					f = Follow(again, emit)
					if line > 1 {
						head := data[:min(len(data), Conclusive)]
						head = head[:bytes.LastIndexByte(head, '\n')+1]
						if err := f.Resume(bytes.Clone(head), line, done, data[ends[done]:ends[line-1]]); err != nil {
							return err
						}
						f.in.dumps, f.in.snapshots = before.dumps, before.snapshots
					}
					if err := f.Feed(bytes.Clone(data[ends[line-1]:])); err != nil {
						return err
					}
					return f.Close()
				})
				if missing := without(want.records, got.records); len(missing) > 0 {
					t.Errorf("killed at line %d of %d: %d of %d missing:\n\t%s\ngot\n\t%s", at, len(ends), len(missing), len(want.records),
						strings.Join(missing[:min(len(missing), 3)], "\n\t"), strings.Join(got.records[:min(len(got.records), 6)], "\n\t"))
				}
			}
		})
	}
}
