package parsers

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// ragged reads in pieces of random sizes, sometimes none.
type ragged struct {
	data []byte
	rnd  *rand.Rand
}

func (r *ragged) Read(p []byte) (int, error) {
	if len(r.data) == 0 {
		return 0, io.EOF
	}
	n := r.rnd.IntN(1 << r.rnd.IntN(20))
	n = copy(p[:min(len(p), n)], r.data)
	r.data = r.data[n:]
	if len(r.data) == 0 && r.rnd.IntN(2) == 0 {
		return n, io.EOF
	}
	return n, nil
}

type naiveLine struct {
	text string
	cut  bool
}

// naive splits a text as Lines should.
func naive(data string) []naiveLine {
	var all []naiveLine
	for len(data) > 0 {
		line, rest, _ := strings.Cut(data, "\n")
		data = rest
		cut := len(line) > maxLine+1
		if cut {
			line = line[:maxLine]
		}
		line = strings.TrimRight(line, "\r")
		if len(line) > maxLine {
			line, cut = line[:maxLine], true
		}
		all = append(all, naiveLine{strings.TrimRight(string(stripEscapes(nil, []byte(line))), "\r"), cut})
	}
	return all
}

// mixed makes a text of lines of very different lengths.
func mixed(rnd *rand.Rand) string {
	var b strings.Builder
	for range rnd.IntN(400) {
		n := rnd.IntN(1 << rnd.IntN(12))
		if rnd.IntN(150) == 0 {
			n = maxLine - 3 + rnd.IntN(6)
		}
		if rnd.IntN(300) == 0 {
			n = rnd.IntN(3 * maxLine)
		}
		line := []byte(strings.Repeat("abcdefg hijk", n/12+1)[:n])
		switch rnd.IntN(12) {
		case 0:
			line = append(line, "NEEDLE"...)
		case 1:
			line = append(line, "\x1b[31mred\x1b[0m"...)
		}
		b.Write(line)
		b.WriteString([]string{"\n", "\n", "\n", "\r\n", "\r\r\n"}[rnd.IntN(5)])
	}
	if rnd.IntN(2) == 0 {
		b.WriteString("the last one has no end")
	}
	return b.String()
}

// checkLines compares Lines with naive under a random mix of calls.
func checkLines(t *testing.T, data string, seed uint64, wrapped bool) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 2))
	want := naive(data)
	l := NewLines(&ragged{[]byte(data), rnd})
	if wrapped {
		l.SetUnwrap(func(line []byte) ([]byte, bool) { return line, false })
	}
	find := func(b []byte) int { return bytes.Index(b, []byte("NEEDLE")) }
	at := 0 // lines returned
	for {
		if rnd.IntN(3) == 0 {
			from := at
			if !l.SkipTo(find) {
				for _, w := range want[from:] {
					if strings.Contains(w.text, "NEEDLE") {
						t.Fatalf("seed %d: a needle was passed by after line %d", seed, from)
					}
				}
				return
			}
			if !l.Next() {
				t.Fatalf("seed %d: SkipTo promised a line after %d", seed, from)
			}
			at = l.Number()
			for i := from; i < at-1; i++ {
				if strings.Contains(want[i].text, "NEEDLE") {
					t.Fatalf("seed %d: needle in line %d was passed by", seed, i+1)
				}
			}
		} else {
			if !l.Next() {
				break
			}
			at++
		}
		w := want[at-1]
		if l.Number() != at || string(l.Bytes()) != w.text || l.Cut() != w.cut {
			t.Fatalf("seed %d: line %d of %d bytes (cut %v) is returned as %d of %d bytes (cut %v)",
				seed, at, len(w.text), w.cut, l.Number(), len(l.Bytes()), l.Cut())
		}
		if before := l.Before(); len(before) > 0 {
			if len(before) > 3*keepHistory || before[len(before)-1] != '\n' {
				t.Fatalf("seed %d: %d bytes before line %d", seed, len(before), at)
			}
			lines := bytes.Split(before[:len(before)-1], newline)
			for i := range lines {
				n := at - 2 - i
				got := strings.TrimRight(string(stripEscapes(nil, bytes.TrimRight(lines[len(lines)-1-i], "\r"))), "\r")
				if n < 0 || !want[n].cut && got != want[n].text {
					t.Fatalf("seed %d: %d lines before line %d: got %.80q", seed, i+1, at, got)
				}
			}
		} else if at > 1 && !w.cut && len(want[at-2].text) < 100 && !want[at-2].cut {
			t.Fatalf("seed %d: nothing before line %d", seed, at)
		}
		if rnd.IntN(4) == 0 {
			l.Unread()
			at--
		}
	}
	if at != len(want) {
		t.Fatalf("seed %d: %d of %d lines", seed, at, len(want))
	}
}

func TestLinesAgreeWithNaiveSplitting(t *testing.T) {
	for seed := range uint64(40) {
		data := mixed(rand.New(rand.NewPCG(seed, 1)))
		checkLines(t, data, seed, false)
		checkLines(t, data, seed, true)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\nb NEEDLE\n\n\x1b[1mc"), uint64(1))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		checkLines(t, string(data), seed, false)
		checkLines(t, string(data), seed, true)
	})
}
