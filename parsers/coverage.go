package parsers

import (
	"bytes"
	"io"
	"time"
)

// How long a log is silent is evidence: three failures in a minute's log are not
// three failures in a day's. Lines without signs are passed by unread, so the
// time that a log covers is taken from its first and its last lines.

const tailSize = 64 << 10

// tailReader keeps the last bytes that went through it.
type tailReader struct {
	r    io.Reader
	tail []byte
}

func (t *tailReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	fresh := p[:n]
	if len(fresh) >= tailSize {
		t.tail = append(t.tail[:0], fresh[len(fresh)-tailSize:]...)
		return n, err
	}
	if over := len(t.tail) + len(fresh) - tailSize; over > 0 {
		t.tail = append(t.tail[:0], t.tail[over:]...)
	}
	t.tail = append(t.tail, fresh...)
	return n, err
}

// logTime returns the time of the first, or the last, log header in a text that
// states its date; zero if there is none.
func (in *Input) logTime(text []byte, last bool) time.Time {
	var h header
	var at time.Time
	clock := newClockwork(in)
	for n := 0; n < 1000 && len(text) > 0; n++ {
		line := text
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = nil
		}
		if !h.parse(bytes.TrimRight(line, "\r")) || !h.strong() || h.stamp.year == 0 && h.stamp.shape != shapeEpoch {
			continue
		}
		if t, _ := clock.resolve(&h.stamp); !t.IsZero() {
			at = t
			if !last {
				break
			}
		}
	}
	return at
}
