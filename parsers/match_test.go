package parsers

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestMatcherAgainstIndex(t *testing.T) {
	sets := [][]string{
		{"abab", "babab", "aaaab", "cab"},
		{"# Time: ", " WAITING", "Thread pool is EXHAUSTED!", "Full thread dump"},
		{"ab", "abcabc", "bcabca", "c"},
		{"aabb"},
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
