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
	firstRead   = 16 << 10  // and at first: most files of a folder are small
	keepHistory = 64 << 10  // bytes kept before the current line, for Before
)

// Lines reads lines of a text of any size in bounded memory. A line is valid
// until the next call of Next or SkipTo. Line ends LF and CR LF are removed, as
// are ANSI escape sequences.
//
// An unwrapper (see SetUnwrap) may remove what a container runtime or a person
// put in front of each line, may join physical lines, and may find several in
// one; numbers are always those of the first physical line.
type Lines struct {
	r     io.Reader
	buf   []byte
	start int  // first byte not yet returned
	end   int  // end of what was read
	torn  bool // buf begins inside a line
	eof   bool
	err   error // other than io.EOF

	line   []byte
	lineAt int // offset in buf where the current line begins
	num    int // number of the current line
	next   int // number of the line at start
	cut    bool
	again  bool // Unread was called
	cuts   int  // lines that were too long, and the number of the first
	cutAt  int

	unwrap  func(line []byte) (text []byte, more bool)
	width   int    // at which the text was hard-wrapped; 0 if it was not
	joined  []byte // scratch for joined physical lines
	wide    []byte // scratch for hard-wrapped lines
	rest    []byte // further lines of the unwrapped line, to be returned first
	history []byte // unwrapped lines before the current one
	time    time.Time
	source  string
	plain   []byte // scratch for lines without escapes

	hold   int // the line from which on something is open; 0 if nothing is. See Follower
	joins  int // the line from which on physical lines are being joined; 0 if none are
	follow *Follower
}

// NewLines returns a reader of the lines of r.
func NewLines(r io.Reader) *Lines {
	return &Lines{r: r, next: 1}
}

// SetUnwrap has every physical line passed through f before it is returned. If
// f reports more, the text goes on in the next physical line; nil with more
// says that the line holds no text at all. The text may hold several lines. It
// is used before f is called again. SetUnwrap must be called before the first
// line is read.
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
	return l.unwrapped()
}

// unwrapped advances to the next line behind the wrapper.
func (l *Lines) unwrapped() bool {
	if l.num > 0 {
		l.remember()
	}
	if l.rest != nil {
		l.split(l.rest)
		return true
	}
	l.joined = l.joined[:0]
	first, cut, open := 0, false, false
	var since time.Time
	for {
		ok := l.physical()
		if ok && l.width > 0 {
			l.rejoin()
		}
		if !ok {
			if !open {
				return false
			}
			l.num, l.cut, l.joins = first, cut, 0
			l.split(l.joined)
			return true
		}
		cut = cut || l.cut
		num := l.num
		text, more := l.unwrap(l.line)
		if text == nil && more && !open {
			continue // nothing in it
		}
		if !open {
			first, since = num, l.time
			if !more {
				l.split(text)
				return true
			}
			open, l.joins = true, first
		}
		if room := maxLine - len(l.joined); len(text) > room {
			text, cut = text[:room], true
		}
		l.joined = append(l.joined, text...)
		if !more {
			l.num, l.cut, l.time, l.joins = first, cut, since, 0
			l.split(l.joined)
			return true
		}
	}
}

// split makes the first line of an unwrapped text the current line and keeps
// the rest for later.
func (l *Lines) split(text []byte) {
	l.rest = nil
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		text, l.rest = text[:i], text[i+1:]
		if len(l.rest) == 0 {
			l.rest = nil
		}
	}
	if bytes.IndexByte(text, 0x1b) >= 0 {
		text = stripEscapes(nil, text)
	}
	l.line = trimCR(text)
}

// rejoin appends to the current physical line those that a terminal broke off it.
func (l *Lines) rejoin() {
	num, cut, joined := l.num, l.cut, false
	for width := cells(l.line); width == l.width; {
		if !joined {
			l.wide, joined = append(l.wide[:0], l.line...), true
		}
		next := l.peek()
		if len(next) == 0 || !goesOn(l.wide, next) || len(l.wide) > maxLine {
			break
		}
		width = cells(next)
		l.physical()
		l.wide = append(l.wide, l.line...)
	}
	if joined {
		l.line, l.num, l.cut = l.wide, num, cut
	}
}

// peek returns the next physical line without taking it, nil if there is none
// or if it is very long. The current line is lost unless it was copied.
func (l *Lines) peek() []byte {
	for {
		if i := bytes.IndexByte(l.buf[l.start:l.end], '\n'); i >= 0 {
			return trimCR(l.buf[l.start : l.start+i])
		}
		if l.eof {
			return l.buf[l.start:l.end]
		}
		if l.end-l.start > keepHistory {
			return nil
		}
		l.fill()
	}
}

// remember keeps the current unwrapped line for Before.
func (l *Lines) remember() {
	if len(l.history)+len(l.line) > 2*keepHistory {
		keep := l.history[max(0, len(l.history)-keepHistory):]
		keep = keep[bytes.IndexByte(keep, '\n')+1:]
		l.history = append(l.history[:0], keep...)
	}
	if len(l.line) <= keepHistory {
		l.history = append(append(l.history, l.line...), '\n')
	} else {
		l.history = l.history[:0]
	}
}

// physical advances to the next physical line.
func (l *Lines) physical() bool {
	from := 0
	for {
		if i := bytes.IndexByte(l.buf[l.start+from:l.end], '\n'); i >= 0 {
			l.take(from+i, 1)
			return true
		}
		from = l.end - l.start
		if from > maxLine+1 { // with its CR: see take
			l.take(from, 0)
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

// pass goes on from the current line to one some lines and bytes farther, which
// somebody else has read.
func (l *Lines) pass(n, lines int) {
	for l.end-l.start < n && !l.eof {
		n -= l.end - l.start
		l.start = l.end
		l.fill()
	}
	l.start = min(l.start+n, l.end)
	l.num += lines
	l.next += lines
}

// take makes the next n bytes, and a line end of the given width, the current
// line. What it cuts must not depend on how much had been read.
func (l *Lines) take(n, width int) {
	l.lineAt = l.start
	text := l.buf[l.start : l.start+n]
	l.start += n + width
	l.num = l.next
	l.next++
	l.cut = n > maxLine+1
	if l.cut {
		text = text[:maxLine]
	}
	text = trimCR(text)
	if len(text) > maxLine {
		text, l.cut = text[:maxLine], true
	}
	if l.cut {
		if l.cuts == 0 {
			l.cutAt = l.num
		}
		l.cuts++
	}
	if bytes.IndexByte(text, 0x1b) >= 0 {
		l.plain = trimCR(stripEscapes(l.plain[:0], text))
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
			break
		}
		l.start, l.end = 0, 0
		if l.eof {
			break
		}
		l.fill()
	}
	// What stood before the line is gone, too.
	l.end = copy(l.buf, l.buf[l.start:l.end])
	l.start, l.lineAt, l.torn = 0, 0, false
}

// fill reads more, keeping what has not been returned and some history.
func (l *Lines) fill() {
	keep := max(0, l.start-keepHistory)
	if keep > 0 && len(l.buf)-l.end < readSize {
		l.torn = l.buf[keep-1] != '\n'
		copy(l.buf, l.buf[keep:l.end])
		l.start -= keep
		l.lineAt = max(0, l.lineAt-keep)
		l.end -= keep
	}
	switch room := len(l.buf) - l.end; {
	case l.buf == nil:
		l.buf = make([]byte, firstRead)
	case room < readSize && (room == 0 || len(l.buf) > readSize):
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
// interest, or one that is too long to have been searched. After Unread,
// nothing is skipped.
func (l *Lines) SkipTo(find func(block []byte) int) bool {
	if l.again {
		return true
	}
	if l.unwrap != nil {
		for l.unwrapped() {
			if find(l.line) >= 0 {
				l.again = true
				return true
			}
		}
		return false
	}
	for {
		block := l.buf[l.start:l.end]
		whole := len(block)
		if !l.eof {
			whole = bytes.LastIndexByte(block, '\n') + 1
		}
		if whole > 0 {
			if at := find(block[:whole]); at >= 0 {
				lineStart := bytes.LastIndexByte(block[:at], '\n') + 1
				l.next += bytes.Count(block[:lineStart], newline)
				l.start += lineStart
				return true
			}
		}
		l.next += bytes.Count(block[:whole], newline)
		l.start += whole
		if l.eof {
			return false
		}
		if l.end-l.start > maxLine+1 { // one line too long for the buffer: let Next cut it
			return true
		}
		l.fill()
	}
}

// Before returns the text just before the current line: whole lines with their
// ends, at most some 64 KiB, perhaps none. Wrappers are removed from it; escape
// sequences may be left.
func (l *Lines) Before() []byte {
	if l.unwrap != nil {
		return l.history
	}
	if l.cut {
		return nil // it may have pushed out what stood before it
	}
	from := max(0, l.lineAt-keepHistory)
	text := l.buf[from:l.lineAt]
	if from > 0 || l.torn { // begins inside a line, perhaps
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	return text
}

func trimCR(text []byte) []byte {
	for len(text) > 0 && text[len(text)-1] == '\r' {
		text = text[:len(text)-1]
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
