package parsers

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMatcherAgainstIndex(t *testing.T) {
	sets := [][]string{
		{"abab", "babab", "aaaab", "cab"},
		{"# Time: ", " WAITING", "Thread pool is EXHAUSTED!", "Full thread dump"},
		{"ab", "abcabc", "bcabca", "c"},
		{"aabb"},
		{"abcabcabc", "babababab", "cccccccc", "aabbccaabbcc", "abcabcabcabc", "bb"},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, set := range sets {
		m := newMatcher(set)
		for range 300 {
			text := make([]byte, rng.IntN(5000))
			alphabet := []byte("abc\n")
			if strings.Contains(set[0], "Time") {
				alphabet = []byte("aeiTW #:\n")
			}
			for i := range text {
				text[i] = alphabet[rng.IntN(len(alphabet))]
			}
			for range rng.IntN(4) {
				lit := set[rng.IntN(len(set))]
				if len(text) > len(lit) {
					copy(text[rng.IntN(len(text)-len(lit)+1):], lit)
				}
			}
			text = text[:len(text):len(text)]
			first := -1
			counts := make([]int, len(set))
			for i, lit := range set {
				for at := 0; at < len(text); at++ {
					if !bytes.HasPrefix(text[at:], []byte(lit)) {
						continue
					}
					counts[i]++
					if first < 0 || at < first {
						first = at
					}
				}
			}
			got := m.find(text)
			if (got < 0) != (first < 0) || got >= 0 && bytes.IndexByte(text[first:got], '\n') >= 0 {
				t.Fatalf("%q: find gives %d, the first is at %d", set, got, first)
			}
			m.each(text, func(lit, off int) {
				if !bytes.HasPrefix(text[off:], []byte(set[lit])) {
					t.Fatalf("%q at %d is not there", set[lit], off)
				}
				counts[lit]--
			})
			for i, n := range counts {
				if n != 0 {
					t.Fatalf("%q: %d of %q missed or repeated", set, n, set[i])
				}
			}
		}
	}
}

// What is looked for in every line must be long; one short literal costs as much
// as all the others.
func TestLiteralsAreLong(t *testing.T) {
	for _, s := range signs().short {
		if string(s.literal) != "dubbo>" {
			t.Errorf("%q is shorter than %d bytes", s.literal, windowSize)
		}
	}
	for _, lit := range signs().literals {
		if bytes.IndexByte(lit, '\n') >= 0 {
			t.Errorf("%q holds a line end", lit)
		}
	}
}

// A format is asked about the lines that hold a mark of its own: if it starts at
// a line of its samples that has another's mark only, it lacks one.
func TestMarksStandInFirstLines(t *testing.T) {
	for _, path := range fixtures(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range bytes.Split(data, newline) {
			line = trimCR(line)
			wanted := blockMarks().in(line)
			for i, f := range blockFormats() {
				if filepath.Base(filepath.Dir(path)) == f.Name && wanted != 0 && wanted&(1<<i) == 0 && f.Starts(line) {
					t.Errorf("%s:%d: %s starts at %.120q, which has marks, but none of its own", path, n+1, f.Name, line)
				}
			}
		}
	}
}
