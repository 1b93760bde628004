package parsers

import (
	"bytes"
	"errors"
	"io"
	"time"
)

const (
	maxLine     = 1 << 20   // a longer line is cut here and the rest is skipped
	readSize    = 256 << 10 // bytes asked of the reader at a time
	keepHistory = 64 << 10  // bytes kept before the current line, for Before
)

// Lines reads lines of a text of any size in bounded memory. A line is valid
// until the next call of Next, SkipTo or Peek. Line ends LF and CR LF are
// removed, as are ANSI escape sequences.
//
// An unwrapper (see SetUnwrap) may remove what a container runtime or a person
// put in front of each line, and may join physical lines; numbers are always
// those of the first physical line.
type Lines struct {
	r     io.Reader
	buf   []byte
	start int // first byte not yet returned
	end   int // end of what was read
	eof   bool
	err   error // other than io.EOF

	line   []byte
	lineAt int // offset in buf where the current line begins
	num    int // number of the current line
	next   int // number of the line at start
	cut    bool
	again  bool // Unread was called

	unwrap  func(line []byte) (text []byte, more bool)
	joined  []byte // scratch for joined physical lines
	history []byte // unwrapped lines before the current one
	time    time.Time
	source  string
	plain   []byte // scratch for lines without escapes
}

// NewLines returns a reader of the lines of r.
func NewLines(r io.Reader) *Lines {
	return &Lines{r: r, next: 1}
}

// SetUnwrap has every physical line passed through f before it is returned. If
// f reports more, the text goes on in the next physical line. It must be set
// before the first line is read.
func (l *Lines) SetUnwrap(f func(line []byte) (text []byte, more bool)) { l.unwrap = f }

// SetOrigin is for unwrappers: the time that a wrapper stated for the line just
// unwrapped (zero if none), and the stream or pod that it came from.
func (l *Lines) SetOrigin(t time.Time, source string) { l.time, l.source = t, source }

// Origin returns what the wrapper said about the current line.
func (l *Lines) Origin() (t time.Time, source string) { return l.time, l.source }

// Wrapped reports whether an unwrapper is set.
func (l *Lines) Wrapped() bool { return l.unwrap != nil }

// Next advances to the next line. It returns false at the end of the input and
// after an error.
func (l *Lines) Next() bool {
	if l.again {
		l.again = false
		return true
	}
	if l.unwrap == nil {
		return l.physical()
	}
	l.remember()
	l.joined = l.joined[:0]
	first, cut := 0, false
	for l.physical() {
		if first == 0 {
			first = l.num
		}
		text, more := l.unwrap(l.line)
		if room := maxLine - len(l.joined); len(text) > room {
			text, cut = text[:room], true
		}
		l.joined = append(l.joined, text...)
		if !more {
			break
		}
	}
	if first == 0 {
		return false
	}
	l.line, l.num, l.cut = l.joined, first, l.cut || cut
	return true
}

// remember keeps the current unwrapped line for Before.
func (l *Lines) remember() {
	if l.num == 0 {
		return
	}
	if len(l.history)+len(l.line) > 2*keepHistory {
		keep := l.history[max(0, len(l.history)-keepHistory):]
		l.history = append(l.history[:0], keep...)
	}
	l.history = append(append(l.history, l.line...), '\n')
}

// physical advances to the next physical line.
func (l *Lines) physical() bool {
	from := 0
	for {
		if i := bytes.IndexByte(l.buf[l.start+from:l.end], '\n'); i >= 0 {
			l.take(from+i, 1)
			if len(l.line) > maxLine {
				l.line, l.cut = l.line[:maxLine], true
			}
			return true
		}
		from = l.end - l.start
		if from >= maxLine {
			l.take(from, 0)
			l.line, l.cut = l.line[:min(len(l.line), maxLine)], true
			l.skipRest()
			return true
		}
		if l.eof {
			if from == 0 {
				return false
			}
			l.take(from, 0)
			return true
		}
		l.fill()
	}
}

// take makes the next n bytes, and a line end of the given width, the current line.
func (l *Lines) take(n, width int) {
	l.lineAt = l.start
	text := l.buf[l.start : l.start+n]
	l.start += n + width
	l.num = l.next
	l.next++
	l.cut = false
	for len(text) > 0 && text[len(text)-1] == '\r' {
		text = text[:len(text)-1]
	}
	if bytes.IndexByte(text, 0x1b) >= 0 {
		l.plain = stripEscapes(l.plain[:0], text)
		text = l.plain
	}
	l.line = text
}

// skipRest drops what is left of a line that was too long. The part that is
// kept moves to a scratch buffer of its own, for the read buffer is needed.
func (l *Lines) skipRest() {
	l.plain = append(l.plain[:0], l.line...)
	l.line = l.plain
	for {
		if i := bytes.IndexByte(l.buf[l.start:l.end], '\n'); i >= 0 {
			l.start += i + 1
			l.lineAt = l.start
			return
		}
		l.start, l.end = 0, 0
		l.lineAt = 0
		if l.eof {
			return
		}
		l.fill()
	}
}

// fill reads more, keeping what has not been returned and some history.
func (l *Lines) fill() {
	keep := max(0, l.start-keepHistory)
	if keep > 0 && (len(l.buf)-l.end < readSize) {
		copy(l.buf, l.buf[keep:l.end])
		l.start -= keep
		l.lineAt = max(0, l.lineAt-keep)
		l.end -= keep
	}
	if len(l.buf)-l.end < readSize {
		grown := make([]byte, 2*len(l.buf)+2*readSize)
		copy(grown, l.buf[:l.end])
		l.buf = grown
	}
	for range 100 {
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		if err != nil {
			l.eof = true
			if !errors.Is(err, io.EOF) {
				l.err = err
			}
			return
		}
		if n > 0 {
			return
		}
	}
	l.eof, l.err = true, io.ErrNoProgress
}

// Bytes returns the current line.
func (l *Lines) Bytes() []byte { return l.line }

// Number returns the number of the current line, from 1.
func (l *Lines) Number() int { return l.num }

// Cut reports whether the current line was longer than a line may be.
func (l *Lines) Cut() bool { return l.cut }

// Unread makes Next return the current line once more.
func (l *Lines) Unread() { l.again = true }

// Err returns the error that ended reading; nil at the end of the input.
func (l *Lines) Err() error { return l.err }

// SkipTo passes by whole lines in which find finds nothing. find returns the
// offset in a block of whole lines of something of interest, or -1. It returns
// false when there is nothing more; after true, Next returns the line of
// interest. With an unwrapper, and after Unread, nothing is skipped.
func (l *Lines) SkipTo(find func(block []byte) int) bool {
	if l.again {
		return true
	}
	if l.unwrap != nil {
		if !l.Next() {
			return false
		}
		l.again = true
		return true
	}
	for {
		block := l.buf[l.start:l.end]
		whole := len(block)
		if !l.eof {
			whole = bytes.LastIndexByte(block, '\n') + 1
		}
		if at := find(block[:whole]); at >= 0 {
			lineStart := bytes.LastIndexByte(block[:at], '\n') + 1
			l.next += bytes.Count(block[:lineStart], newline)
			l.start += lineStart
			return true
		}
		l.next += bytes.Count(block[:whole], newline)
		l.start += whole
		if l.eof {
			return false
		}
		if l.end-l.start >= maxLine { // one line too long for the buffer: let Next cut it
			return true
		}
		l.fill()
	}
}

// Before returns the text just before the current line: whole lines with their
// ends, at most some 64 KiB, perhaps none.
func (l *Lines) Before() []byte {
	if l.unwrap != nil {
		return l.history
	}
	text := l.buf[max(0, l.lineAt-keepHistory):l.lineAt]
	if l.lineAt > keepHistory { // begins inside a line
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	return text
}

var newline = []byte{'\n'}

// stripEscapes appends text to dst without ANSI escape sequences.
func stripEscapes(dst, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		if text[i] != 0x1b {
			dst = append(dst, text[i])
			continue
		}
		i++
		if i >= len(text) {
			break
		}
		switch text[i] {
		case '[': // CSI: parameters, then one final byte
			for i++; i < len(text) && (text[i] < 0x40 || text[i] > 0x7e); i++ {
			}
		case ']': // OSC: to BEL or ESC \
			for i++; i < len(text) && text[i] != 0x07; i++ {
				if text[i] == 0x1b {
					i++
					break
				}
			}
		}
	}
	return dst
}
