package parsers

import (
	"bytes"
	"unicode/utf8"
)

// A terminal's copy breaks long lines at its width. hardWidth returns the width
// at which the lines were broken, 0 if they were not: no line may be longer,
// several must be exactly so long, and what follows nearly all of those must
// look like the rest of a line. Lines all of one length are a list.
func hardWidth(lines [][]byte) int {
	width := 0
	for _, line := range lines {
		width = max(width, cells(line))
	}
	if width < 40 || width > 400 {
		return 0
	}
	full, torn, on, short := 0, 0, 0, 0
	for i, line := range lines {
		if cells(line) != width {
			short++
			continue
		}
		if i+1 == len(lines) {
			continue
		}
		full++
		if goesOn(line, lines[i+1]) {
			on++
			if tornWord(line, lines[i+1]) {
				torn++
			}
		}
	}
	if short == 0 || on*10 < full*7 || torn == 0 || torn == 1 && (!usualWidth(width) || len(lines) > 12) {
		return 0
	}
	return width
}

// usualWidth reports whether a single line of a width may mean something: there
// always is a longest line.
func usualWidth(width int) bool {
	switch width {
	case 72, 76, 78, 79, 80, 90, 96, 100, 110, 120, 128, 132, 140, 150, 160, 180, 200:
		return true
	}
	return false
}

// cells returns how many terminal cells a line takes: wide characters take two.
func cells(line []byte) int {
	n := asciiLen(line)
	if n == len(line) {
		return n
	}
	for i := n; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		i += size
		n++
		if r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
			r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x20000) {
			n++
		}
	}
	return n
}

func asciiLen(line []byte) int {
	for i, c := range line {
		if c >= utf8.RuneSelf {
			return i
		}
	}
	return len(line)
}

// goesOn reports whether next may be the rest of a line that was broken at the
// terminal's width: it does not look like a line that begins something.
func goesOn(line, next []byte) bool {
	if bytes.LastIndexByte(line, '\t') > 0 || bytes.IndexByte(next, '\t') >= 0 {
		return false // columns: a terminal has no tabs to copy
	}
	if len(line) > 0 && line[0] == '\t' && bytes.Contains(line, []byte(" +0x")) {
		return false // a Go frame's place is whole, and the same in thousands of goroutines
	}
	if len(next) == 0 || next[0] == '"' || next[0] == '|' || next[0] == '+' || next[0] == '#' || next[0] == '>' {
		return false
	}
	if len(next) > 1 && next[0] == ' ' && next[1] == ' ' {
		return false // the next thing is indented
	}
	if beginsAlike(line, next) || beginsWithAddress(next) || isSample(line) && isSample(next) {
		return false // the next of a list
	}
	if beginsWithTime(next) && !endsInDigit(line) {
		return false
	}
	if beginsWithTime(next) && len(next) > 18 && next[0] != ':' {
		return false
	}
	s := bytes.TrimLeft(next, " ")
	for _, p := range []string{"at ", "- locked", "- waiting", "- parking", "Caused by:", "... ", "goroutine ", "java.lang.Thread.State", "created by ", "-----", "=====", "*****", "{\"", "[20"} {
		if bytes.HasPrefix(s, []byte(p)) {
			return false
		}
	}
	if len(next) > 28 && next[3] == ' ' && next[6] == ' ' && next[9] == ':' { // a syslog time
		return false
	}
	for _, level := range []string{"ERROR", "WARN", "INFO", "DEBUG", "TRACE", "FATAL"} {
		if bytes.HasPrefix(next, []byte(level)) && (len(next) == len(level) || next[len(level)] == ' ') {
			return false
		}
	}
	return true
}

// beginsAlike reports whether two lines begin with the same word: the next line
// of a list does, the rest of a broken line hardly ever.
func beginsAlike(line, next []byte) bool {
	const word = 5
	return len(line) >= word && len(next) >= word && bytes.Equal(line[:word], next[:word]) && bytes.IndexByte(line[:word], ' ') < 0
}

// beginsWithAddress reports whether a line begins with an IPv4 address, as those
// of access logs do.
func beginsWithAddress(line []byte) bool {
	dots, digits := 0, 0
	for i, c := range line[:min(len(line), len("255.255.255.255 "))] {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.' && digits > 0:
			dots, digits = dots+1, 0
		default:
			return c == ' ' && dots == 3 && digits > 0 && i > 0
		}
	}
	return false
}

// isSample reports whether a line is a whole sample of a scrape.
func isSample(line []byte) bool {
	name, kind, ok := promLine(line)
	if !ok || kind != promSample {
		return false
	}
	series, rest := promSplit(line, len(name))
	return series != nil && promNumber(rest)
}

func endsInDigit(line []byte) bool {
	return len(line) > 0 && line[len(line)-1] >= '0' && line[len(line)-1] <= '9'
}

// tornWord reports whether the break surely lies inside a word or a number. A
// capital may begin a line of its own.
func tornWord(line, next []byte) bool {
	in := func(c byte) bool {
		return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '.' || c == '_' || c == '$' || c == '(' || c == ':'
	}
	return len(line) > 0 && len(next) > 0 && in(line[len(line)-1]) && in(next[0]) &&
		(next[0] < 'A' || next[0] > 'Z')
}
