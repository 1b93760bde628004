package parsers

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// isDash reports whether a value says that there is none.
func isDash(v []byte) bool {
	return len(v) == 0 || len(v) == 1 && v[0] == '-'
}

// nextElement takes the first element off a list. group reports that the next
// element belongs to another group: " : " stands between them, not ", ".
func nextElement(list []byte) (elem, rest []byte, group bool) {
	for i := firstOf(list, ',', ' '); i < len(list); i++ { // before a colon between groups there is a blank
		switch c := list[i]; {
		case c == ',':
			rest = list[i+1:]
			for len(rest) > 0 && rest[0] == ' ' {
				rest = rest[1:]
			}
			return list[:i], rest, false
		case c == ':' && i > 0 && list[i-1] == ' ' && byteAt(list, i+1) == ' ':
			return list[:i-1], list[i+2:], true
		}
	}
	return list, nil, false
}

// firstOf returns the offset of the first of two bytes; the text's length if
// there is neither.
func firstOf(text []byte, a, b byte) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		x, y := w^uint64(a)*low, w^uint64(b)*low
		if m := ((x-low)&^x | (y-low)&^y) & high; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(text) && text[i] != a && text[i] != b {
		i++
	}
	return i
}

// accessNumber reads digits with an optional fraction as a number of units. It
// returns None for anything else.
func accessNumber(v []byte, unit time.Duration) time.Duration {
	var n int64
	i := 0
	for ; i < len(v) && i < 18 && v[i]-'0' <= 9; i++ {
		n = n*10 + int64(v[i]-'0')
	}
	if i == 0 {
		return evidence.None
	}
	if i > 6 && unit > 0 && n > int64(1<<62)/int64(unit) { // six digits of hours fit
		return evidence.None
	}
	d := time.Duration(n) * unit
	if i == len(v) {
		return d
	}
	if v[i] != '.' {
		return evidence.None
	}
	part := unit
	for i++; i < len(v); i++ {
		if v[i]-'0' > 9 {
			return evidence.None
		}
		part /= 10
		d += time.Duration(v[i]-'0') * part
	}
	return d
}

// accessDuration reads a duration: a number of units, or one that states its
// own unit.
func accessDuration(v []byte, unit time.Duration) time.Duration {
	if len(v) == 0 {
		return evidence.None
	}
	if c := v[len(v)-1]; c >= '0' && c <= '9' {
		if unit == 0 {
			return evidence.None
		}
		return accessNumber(v, unit)
	}
	return unitDuration(v)
}

// unitDuration reads "12ms", "1.5s", "350µs", "2m3.5s".
func unitDuration(v []byte) time.Duration {
	var sum time.Duration
	for len(v) > 0 {
		n := 0
		for n < len(v) && (v[n]-'0' <= 9 || v[n] == '.') {
			n++
		}
		unit, width := time.Duration(0), 0
		switch rest := bytes.TrimLeft(v[n:], " "); {
		case n == 0:
			return evidence.None
		case bytes.HasPrefix(rest, []byte("ms")):
			unit, width = time.Millisecond, 2
		case bytes.HasPrefix(rest, []byte("us")):
			unit, width = time.Microsecond, 2
		case bytes.HasPrefix(rest, []byte("ns")):
			unit, width = time.Nanosecond, 2
		case bytes.HasPrefix(rest, []byte("µs")), bytes.HasPrefix(rest, []byte("μs")):
			unit, width = time.Microsecond, len("µs")
		case len(rest) > 0 && rest[0] == 's':
			unit, width = time.Second, 1
		case len(rest) > 0 && rest[0] == 'm':
			unit, width = time.Minute, 1
		case len(rest) > 0 && rest[0] == 'h':
			unit, width = time.Hour, 1
		default:
			return evidence.None
		}
		d := accessNumber(v[:n], unit)
		if d < 0 {
			return evidence.None
		}
		sum += d
		v = bytes.TrimLeft(v[n:], " ")[width:]
	}
	return sum
}

// accessStatus reads an HTTP status; None if there is none.
func accessStatus(v []byte) int {
	if len(v) != 3 || v[0]-'0' > 9 || v[1]-'0' > 9 || v[2]-'0' > 9 {
		return evidence.None
	}
	n := int(v[0]-'0')*100 + int(v[1]-'0')*10 + int(v[2]-'0')
	if n < 100 {
		return evidence.None
	}
	return n
}

// accessCount reads a small number; None if it is none.
func accessCount(v []byte) int {
	if len(v) == 0 || len(v) > 6 {
		return evidence.None
	}
	n := 0
	for _, c := range v {
		if c-'0' > 9 {
			return evidence.None
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// requestParts takes a request line apart. A line that is no request has no verb.
func requestParts(v []byte) (verb, path []byte) {
	n := bytes.IndexByte(v, ' ')
	if n <= 0 || !isVerb(v[:n]) {
		return nil, nil
	}
	path = v[n+1:]
	if k := len(path) - len(" HTTP/1.1"); k >= 0 && string(path[k:len(path)-1]) == " HTTP/1." && path[len(path)-1] != ' ' {
		return v[:n], path[:k]
	}
	if i := bytes.LastIndexByte(path, ' '); i >= 0 && bytes.HasPrefix(path[i+1:], []byte("HTTP/")) {
		path = path[:i]
	}
	return v[:n], path
}

// isVerb reports whether v looks like an HTTP method.
func isVerb(v []byte) bool {
	if len(v) < 3 || len(v) > 17 {
		return false
	}
	for _, c := range v {
		if (c < 'A' || c > 'Z') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// isUpstreamAddr reports whether an element of $upstream_addr is the address of
// a server. The name of a group stands there when none of its servers was alive.
func isUpstreamAddr(v []byte) bool {
	if bytes.HasPrefix(v, []byte("unix:")) {
		return true
	}
	i := bytes.LastIndexByte(v, ':')
	if i <= 0 || i == len(v)-1 {
		return false
	}
	for _, c := range v[i+1:] {
		if c-'0' > 9 {
			return false
		}
	}
	return true
}
