package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// dubboText is a record's text as the Dubbo readers see it.
type dubboText struct {
	r    *logRecord
	o    *logOut
	text []byte // the record's text

	host    []byte // current host
	version []byte
}

// envelope reads what Dubbo's loggers put behind a message:
//
//	, dubbo version: 3.2.16, current host: 10.20.1.31, error code: 0-1. This may be caused by …, go to … to find instructions.
//
// It stands behind the last line of the message and before the stack trace.
func (d *dubboText) envelope() {
	const start = ", dubbo version: "
	i := bytes.Index(d.text, []byte(start))
	if i < 0 {
		return
	}
	rest := d.text[i+len(start):]
	if n := bytes.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	const host = ", current host: "
	j := bytes.Index(rest, []byte(host))
	if j < 0 {
		return
	}
	d.version = rest[:j]
	h := rest[j+len(host):]
	n := 0
	for n < len(h) && h[n] != ',' && h[n] != ' ' {
		n++
	}
	d.host = h[:n]
}

// at prepares a record whose place is what the message says of it.
func (d *dubboText) at(off int) *evidence.Record {
	ev := d.o.at(off)
	if ev.Place.Instance == "" && len(d.host) > 0 {
		ev.Place.Instance = d.o.str(d.host)
	}
	return ev
}

// message returns the text from off to the first line of a stack trace.
func (d *dubboText) message(off int) []byte {
	b := d.text[off:]
	for i := 0; ; {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			return b
		}
		i += n + 1
		line := bytes.TrimLeft(b[i:], " \t")
		if bytes.HasPrefix(line, []byte("at ")) || bytes.HasPrefix(line, []byte("Caused by:")) || bytes.HasPrefix(line, []byte("... ")) {
			return b[:i-1]
		}
	}
}

// line returns the rest of the line that begins at off.
func (d *dubboText) line(off int) []byte {
	b := d.text[off:]
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return b[:i]
	}
	return b
}

// mark emits a mark.
func (d *dubboText) mark(off int, kind, subject string) (bool, error) {
	ev := d.at(off)
	text := bytes.TrimSpace(d.line(bytes.LastIndexByte(d.text[:off], '\n') + 1))
	ev.Mark = &evidence.Mark{Kind: kind, Subject: subject, Text: string(text[:min(len(text), 160)])}
	return true, d.o.send(ev)
}

// between returns what stands between two texts; nil if one of them is missing.
func between(b []byte, start, end string) []byte {
	i := bytes.Index(b, []byte(start))
	if i < 0 {
		return nil
	}
	b = b[i+len(start):]
	if i = bytes.Index(b, []byte(end)); i < 0 {
		return nil
	}
	return b[:i]
}

// numberAfter returns the number that follows a text; None if there is none.
func numberAfter(b []byte, key string) int64 {
	i := bytes.Index(b, []byte(key))
	if i < 0 {
		return evidence.None
	}
	n, _ := leadingNumber(b[i+len(key):])
	return n
}

// leadingNumber reads the number that b begins with, and its width.
func leadingNumber(b []byte) (int64, int) {
	n := digitRun(b, 0)
	if n == 0 || n > 18 {
		return evidence.None, 0
	}
	var v int64
	for _, c := range b[:n] {
		v = v*10 + int64(c-'0')
	}
	return v, n
}

// millisAfter returns the milliseconds that follow a text; None if there are none.
func millisAfter(b []byte, key string) time.Duration {
	return asMillis(numberAfter(b, key))
}

func asMillis(n int64) time.Duration {
	if n < 0 || n > 1e12 {
		return evidence.None
	}
	return time.Duration(n) * time.Millisecond
}

// dubboName reports whether b can be a method's, service's or application's name.
func dubboName(b []byte) bool {
	if len(b) == 0 || len(b) > 300 {
		return false
	}
	for _, c := range b {
		if c <= ' ' || c == '"' || c == '\'' || c == '+' || c == '{' || c == '<' || c == '%' {
			return false
		}
	}
	return true
}

// interfaceOf removes group, version and protocol from a service key:
// [group/]interface[:version[:protocol]].
func interfaceOf(key []byte) []byte {
	if i := bytes.LastIndexByte(key, '/'); i >= 0 {
		key = key[i+1:]
	}
	if i := bytes.IndexByte(key, ':'); i >= 0 {
		key = key[:i]
	}
	return bytes.TrimRight(key, ".,")
}

// hostPort cuts an address out of a text that begins with one, perhaps after a
// host name and a slash; nil if it has no port.
func hostPort(b []byte) []byte {
	if i := bytes.IndexByte(b, '/'); i >= 0 && i < 80 && !bytes.ContainsAny(b[:i], ", :") {
		b = b[i+1:] // /10.20.0.11:20880, order-1/10.20.0.11:20880
	}
	n := 0
	for n < len(b) && (isASCIILetter(b[n]) || b[n] >= '0' && b[n] <= '9' || b[n] == '.' || b[n] == '-' || b[n] == ':' || b[n] == '[' || b[n] == ']' || b[n] == '_') {
		n++
	}
	b = bytes.TrimRight(b[:n], ".:-]")
	colon := bytes.LastIndexByte(b, ':')
	if colon <= 0 || digitRun(b, colon+1) != len(b)-colon-1 || colon == len(b)-1 {
		return nil
	}
	return b
}

// hostOf removes the port of an address.
func hostOf(addr string) string {
	for i := len(addr) - 1; i > 0; i-- {
		if addr[i] == ':' {
			return addr[:i]
		}
	}
	return addr
}

func failedOutcome(o evidence.Outcome) evidence.Outcome {
	if o == evidence.OutcomeUnknown {
		return evidence.Failed
	}
	return o
}
