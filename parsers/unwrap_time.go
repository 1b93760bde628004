package parsers

import (
	"bytes"
	"time"
)

// syslog reads what journalctl prints and syslog daemons write, with the time
// in any of journalctl's short forms:
//
//	Mar 14 09:12:33 shop-1 order[123]: started
//	2026-03-14T09:12:33+0800 shop-1 order[123]: started
//
// Lines of a message after its first are indented by journalctl.
func syslog(lines [][]byte, modified time.Time) peeler {
	indent := 0
	peel := func(line []byte) (peeled, bool) {
		t, rest, ok := syslogTime(line, modified)
		if !ok {
			if n := len(line) - len(bytes.TrimLeft(line, " ")); indent > 0 && n >= indent {
				return peeled{text: line[indent:]}, true
			}
			return peeled{}, false
		}
		host, rest, ok := bytes.Cut(rest, []byte(" "))
		if !ok || len(host) == 0 || len(host) > 255 || bytes.ContainsAny(host, "[]():=\"") {
			return peeled{}, false
		}
		tag, text, ok := bytes.Cut(rest, []byte(":"))
		if !ok || len(tag) == 0 || len(tag) > 128 || bytes.ContainsAny(tag, " \"=") && !bytes.HasSuffix(tag, []byte("]")) {
			return peeled{}, false
		}
		if len(text) > 0 && text[0] != ' ' {
			return peeled{}, false
		}
		text = bytes.TrimPrefix(text, []byte(" "))
		indent = len(line) - len(text)
		return peeled{text: text, time: t, source: string(host)}, true
	}
	if !agree(lines, 60, 2, peel) {
		return nil
	}
	return peel
}

// syslogTime reads one of the time forms and the space after it.
func syslogTime(line []byte, modified time.Time) (t time.Time, rest []byte, ok bool) {
	if len(line) > 21 && line[10] == 'T' && line[0] >= '0' && line[0] <= '9' {
		stamp, rest, _ := bytes.Cut(line, []byte(" "))
		for _, layout := range []string{"2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07:00"} {
			if t, err := time.Parse(layout, string(stamp)); err == nil { // a fraction is read without being named
				return t.UTC(), rest, true
			}
		}
		return t, nil, false
	}
	if len(line) < 16 || line[3] != ' ' || line[6] != ' ' && line[14] != ' ' {
		return t, nil, false
	}
	if len(line) > 27 && line[4] == '2' && line[8] == '-' { // short-full: Sat 2026-03-14 09:12:33 CST
		t, err := time.Parse(time.DateTime, string(line[4:23]))
		_, rest, found := bytes.Cut(line[24:], []byte(" "))
		return t, rest, err == nil && found
	}
	end := 15
	if line[15] == '.' {
		for end = 16; end < len(line) && line[end] >= '0' && line[end] <= '9'; end++ {
		}
	}
	t, err := time.Parse("Jan _2 15:04:05", string(line[:end]))
	if err != nil || end >= len(line) || line[end] != ' ' {
		return t, nil, false
	}
	if modified.IsZero() {
		return time.Time{}, line[end+1:], true // which year nobody knows
	}
	t = t.AddDate(modified.Year()-t.Year(), 0, 0)
	if t.After(modified.AddDate(0, 0, 2)) {
		t = t.AddDate(-1, 0, 0)
	}
	return t, line[end+1:], true
}

// stamped reads lines that something else put a time before: kubectl and docker
// logs --timestamps, a CI system's log.
//
//	2026-03-14T09:12:33.120456789Z 2026-03-14 17:12:33.120 INFO [main] started
//	2026-03-14T09:12:33.120456789Z 	at com.acme.shop.Order.create(Order.java:64)
//	[2026-03-14T09:12:33.120Z] started
//
// An application's own layout may begin with just such a time. It is a wrapper
// only if something behind it shows that: a second time, or lines that no
// application begins with a time of their own.
func stamped(lines [][]byte) peeler {
	if !agree(lines, 95, 2, wrapStamp) {
		return nil
	}
	again, trace := 0, 0
	for _, line := range lines {
		p, ok := wrapStamp(line)
		switch {
		case !ok:
		case beginsWithTime(p.text):
			again++
		case isTrace(p.text):
			trace++
		}
	}
	if again*10 >= len(lines)*3 || trace > 0 {
		return wrapStamp
	}
	return nil
}

func wrapStamp(line []byte) (peeled, bool) {
	s := bytes.TrimPrefix(line, []byte("["))
	if len(s) < 20 || s[4] != '-' || s[10] != 'T' || s[13] != ':' {
		return peeled{}, false
	}
	word, text, found := bytes.Cut(s, []byte(" "))
	if len(s) < len(line) {
		if !bytes.HasSuffix(word, []byte("]")) {
			return peeled{}, false
		}
		word = word[:len(word)-1]
	}
	if len(word) > 40 {
		return peeled{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, string(word))
	if err != nil {
		return peeled{}, false
	}
	// GitLab: 00O is a stream and its number, with + if the line goes on from the last.
	if found && len(text) >= 4 && (text[2] == 'O' || text[2] == 'E') && text[0] == '0' && (text[3] == ' ' || text[3] == '+') {
		text = text[4:]
	}
	return peeled{text: text, time: t.UTC()}, true
}

// beginsWithTime reports whether a line begins as log lines do.
func beginsWithTime(s []byte) bool {
	s = bytes.TrimLeft(s, "[")
	if bytes.HasPrefix(s, []byte(`{"`)) || bytes.HasPrefix(s, []byte("time=")) || bytes.HasPrefix(s, []byte("ts=")) {
		return true
	}
	shape := func(pattern string) bool {
		if len(s) < len(pattern) {
			return false
		}
		for i := range pattern {
			if pattern[i] == '0' && (s[i] < '0' || s[i] > '9') || pattern[i] == '-' && s[i] != '-' && s[i] != '/' ||
				pattern[i] == ':' && s[i] != ':' {
				return false
			}
		}
		return true
	}
	return shape("0000-00-00") || shape("00:00:00") || len(s) > 5 && bytes.IndexByte([]byte("IWEF"), s[0]) >= 0 && shape("X0000 00:00")
}

// isTrace reports whether a line is part of a stack trace or a dump.
func isTrace(s []byte) bool {
	for _, p := range []string{"\tat ", "    at ", "Caused by: ", "\t... ", "   java.lang.Thread.State:", "\t- ", "goroutine ", "Traceback "} {
		if bytes.HasPrefix(s, []byte(p)) {
			return true
		}
	}
	return false
}
