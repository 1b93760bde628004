package parsers

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", maxLine+100)
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"one", "a", "1:a "},
		{"ended", "a\nb\n", "1:a 2:b "},
		{"crlf", "a\r\nb\r\n\r\nc", "1:a 2:b 3: 4:c "},
		{"escapes", "\x1b[31mERROR\x1b[0m x\n\x1b]0;title\x07y\n", "1:ERROR x 2:y "},
		{"too long", "a\n" + long + "\nb\n", "1:a 2:cut 3:b "},
		{"too long at the end", long, "1:cut "},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.in), iotest.HalfReader(strings.NewReader(c.in))} {
				l := NewLines(r)
				var got strings.Builder
				for l.Next() {
					text := l.Bytes()
					if l.Cut() {
						text = []byte("cut")
					}
					fmt.Fprintf(&got, "%d:%s ", l.Number(), text)
				}
				if got.String() != c.want {
					t.Errorf("got %q, want %q", got.String(), c.want)
				}
			}
		})
	}
}

func TestLinesSkipToKeepsCount(t *testing.T) {
	var text bytes.Buffer
	for i := 1; i <= 300_000; i++ {
		if i%70_001 == 0 {
			fmt.Fprintf(&text, "line %d NEEDLE here\n", i)
		} else {
			fmt.Fprintf(&text, "line %d of hay\n", i)
		}
	}
	l := NewLines(&text)
	find := func(b []byte) int { return bytes.Index(b, []byte("NEEDLE")) }
	seen := 0
	for l.SkipTo(find) && l.Next() {
		seen++
		want := fmt.Sprintf("line %d NEEDLE here", l.Number())
		if string(l.Bytes()) != want || l.Number() != seen*70_001 {
			t.Fatalf("line %d is %q", l.Number(), l.Bytes())
		}
		before := bytes.Split(bytes.TrimSuffix(l.Before(), newline), newline)
		if got, want := string(before[len(before)-1]), fmt.Sprintf("line %d of hay", l.Number()-1); got != want {
			t.Errorf("line before is %q, want %q", got, want)
		}
	}
	if seen != 4 {
		t.Errorf("found %d needles, want 4", seen)
	}
}

func TestMatcherFindsWhatIndexFinds(t *testing.T) {
	lits := []string{"EXHAUSTED", "Tried ", "timeout", "goroutine ", "No provider", "ab"}
	m := newMatcher(lits)
	for _, text := range []string{"", "x", "ab", "xxab", "pool is EXHAUSTED!", "retimeou timeout", "goroutin goroutine 1", "Trie Tried 3", strings.Repeat("z", 1000) + "No provider"} {
		want := -1
		for _, l := range lits {
			if i := strings.Index(text, l); i >= 0 && (want < 0 || i < want) {
				want = i
			}
		}
		if got := m.find([]byte(text)); got != want {
			t.Errorf("find(%q) = %d, want %d", text, got, want)
		}
	}
}
