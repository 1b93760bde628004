package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// pgTime reads a time as PostgreSQL prints it in logs and tables:
// "2026-03-14 09:12:33.123 UTC", "… CST", "… +08", "…+05:30", or seconds since
// 1970. A zone's abbreviation other than UTC's says nothing certain (CST is
// used on three continents), so then the hint's zone is taken and the time is
// not zoned.
func pgTime(b []byte, hint Hint) (time.Time, evidence.Tri) {
	if n := pgEpochLen(b); n > 0 {
		sec, _ := pgAtoi(b[1:10])
		sec += int(b[0]-'0') * 1_000_000_000
		return time.Unix(int64(sec), int64(pgFraction(b[11:n]))).UTC(), evidence.Yes
	}
	if !pgStampAt(b, 0) {
		return pgSyslogTime(b, hint)
	}
	year, ok1 := pgAtoi(b[0:4])
	month, ok2 := pgAtoi(b[5:7])
	day, ok3 := pgAtoi(b[8:10])
	hour, ok4 := pgAtoi(b[11:13])
	minute, ok5 := pgAtoi(b[14:16])
	sec, ok6 := pgAtoi(b[17:19])
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 {
		return time.Time{}, evidence.Unknown
	}
	rest, nanos := b[19:], 0
	if len(rest) > 0 && (rest[0] == '.' || rest[0] == ',') {
		n := 1
		for n < len(rest) && isDigit(rest[n]) {
			n++
		}
		nanos = pgFraction(rest[1:n])
		rest = rest[n:]
	}
	rest = bytes.TrimLeft(rest, " ")
	at := func(loc *time.Location) time.Time {
		return time.Date(year, time.Month(month), day, hour, minute, sec, nanos, loc)
	}
	switch string(rest) {
	case "UTC", "GMT", "Z", "UCT":
		return at(time.UTC), evidence.Yes
	}
	if len(rest) >= 3 && (rest[0] == '+' || rest[0] == '-') {
		h, ok := pgAtoi(rest[1:3])
		m := 0
		if tail := bytes.TrimPrefix(rest[3:], []byte(":")); len(tail) >= 2 {
			m, _ = pgAtoi(tail[:2])
		}
		if ok && h <= 15 && m < 60 {
			offset := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
			if rest[0] == '-' {
				offset = -offset
			}
			return at(time.UTC).Add(-offset), evidence.Yes
		}
	}
	loc := hint.Zone
	if loc == nil {
		loc = time.UTC
	}
	return at(loc).UTC(), evidence.No
}

// pgSyslogTime reads "Nov 30 05:13:02", whose year is that of the file.
func pgSyslogTime(b []byte, hint Hint) (time.Time, evidence.Tri) {
	if len(b) != 15 || hint.Modified.IsZero() {
		return time.Time{}, evidence.Unknown
	}
	loc := hint.Zone
	if loc == nil {
		loc = time.UTC
	}
	t, err := time.ParseInLocation("Jan _2 15:04:05", string(b), loc)
	if err != nil {
		return time.Time{}, evidence.Unknown
	}
	t = t.AddDate(hint.Modified.In(loc).Year(), 0, 0)
	if t.After(hint.Modified.Add(48 * time.Hour)) { // written before New Year, saved after it
		t = t.AddDate(-1, 0, 0)
	}
	return t.UTC(), evidence.No
}

// pgFraction returns the nanoseconds that the digits after a point stand for.
func pgFraction(b []byte) int {
	n, digits := 0, 0
	for _, c := range b {
		if digits == 9 || !isDigit(c) {
			break
		}
		n = 10*n + int(c-'0')
		digits++
	}
	for ; digits < 9; digits++ {
		n *= 10
	}
	return n
}

// pgMillis reads "1136.206 ms" at the start of b and returns what follows.
func pgMillis(b []byte) (d time.Duration, rest []byte, ok bool) {
	i := 0
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	whole, ok := pgAtoi(b[:min(i, len(b))])
	if !ok {
		return 0, b, false
	}
	d = time.Duration(whole) * time.Millisecond
	if i < len(b) && (b[i] == '.' || b[i] == ',') {
		j := i + 1
		for j < len(b) && isDigit(b[j]) {
			j++
		}
		d += time.Duration(pgFraction(b[i+1:j]) / 1000)
		i = j
	}
	if !bytes.HasPrefix(b[i:], []byte(" ms")) {
		return 0, b, false
	}
	return d, b[i+3:], true
}
