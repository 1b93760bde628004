package parsers

import (
	"bytes"
	"time"
)

// Times as loggers print them at the head of a line:
//
//	2026-03-14 09:12:33,123      2026-03-14T09:12:33.123+01:00   2026/03/14 09:12:33
//	14.03.2026 09:12:33          14-Mar-2026 09:12:33.123        14/Mar/2026:09:12:33 +0000
//	Mar 14, 2026 9:12:33 AM      Mar 14 09:12:33                 Sat Mar 14 09:12:33 CET 2026
//	09:12:33.123                 03-14 09:12:33.123              1773479553123

// stampShape says which of the forms a time has, so that a reader can learn
// the form that the headers of a file have.
type stampShape uint8

const (
	shapeNone     stampShape = iota
	shapeYMD                 // 2026-03-14 09:12:33
	shapeYMDFrac             // 2026-03-14 09:12:33,123
	shapeYMDZone             // with an offset
	shapeDMY                 // 14.03.2026 09:12:33
	shapeNamed               // 14-Mar-2026 09:12:33
	shapeMonth               // Mar 14, 2026 9:12:33 AM
	shapeSyslog              // Mar 14 09:12:33
	shapeWeekday             // Sat Mar 14 09:12:33 2026
	shapeClock               // 09:12:33.123
	shapeMonthDay            // 03-14 09:12:33.123
	shapeEpoch               // 1773479553123
	shapeCompact             // 20260314 09:12:33
)

// stamp is a time as it was printed, not yet placed in a zone or year.
type stamp struct {
	shape                  stampShape
	year, month, day       int // 0 where not printed
	hour, minute, sec, nan int
	zoned                  bool
	frac                   bool // a fraction was printed
	offset                 int  // seconds east of UTC, if zoned
	slashes                bool
	unix                   time.Time // of shapeEpoch
}

// digitsAt reads exactly n digits at i; -1 if they are not there.
func digitsAt(b []byte, i, n int) int {
	if i < 0 || i+n > len(b) {
		return -1
	}
	v := 0
	for _, c := range b[i : i+n] {
		if c < '0' || c > '9' {
			return -1
		}
		v = v*10 + int(c-'0')
	}
	return v
}

func digitRun(b []byte, i int) int {
	n := 0
	for i+n < len(b) && b[i+n] >= '0' && b[i+n] <= '9' {
		n++
	}
	return n
}

// readStamp reads a time at the start of b and returns how many bytes it has;
// 0 if there is none.
func readStamp(b []byte, s *stamp) int {
	*s = stamp{}
	if len(b) < 8 {
		return 0
	}
	c := b[0]
	if c >= '0' && c <= '9' {
		return s.numeric(b)
	}
	if c >= 'A' && c <= 'Z' || c >= 0x80 {
		return s.named(b)
	}
	return 0
}

func (s *stamp) numeric(b []byte) int {
	switch digitRun(b, 0) {
	case 1, 2:
		return s.twoDigits(b)
	case 4: // year
		sep := byteAt(b, 4)
		if sep != '-' && sep != '/' && sep != '.' || byteAt(b, 7) != sep {
			return 0
		}
		s.year, s.month, s.day = digitsAt(b, 0, 4), digitsAt(b, 5, 2), digitsAt(b, 8, 2)
		i := s.clockAfterDate(b, 10)
		if i == 0 {
			return 0
		}
		s.shape = shapeYMD
		return s.rest(b, i)
	case 8: // 20260314 09:12:33, 20260314T091233Z
		s.year, s.month, s.day = digitsAt(b, 0, 4), digitsAt(b, 4, 2), digitsAt(b, 6, 2)
		if i := s.clockAfterDate(b, 8); i > 0 {
			s.shape = shapeCompact
			return s.rest(b, i)
		}
	case 10, 13, 16, 19:
		return s.epoch(b)
	}
	return 0
}

// epoch reads 1773479553, 1773479553.123, 1773479553123 and finer ones.
func (s *stamp) epoch(b []byte) int {
	n := digitRun(b, 0)
	t, ok := epochTime(b[:n])
	if !ok {
		return 0
	}
	if n == 10 && byteAt(b, n) == '.' {
		f := digitRun(b, n+1)
		if f == 0 || f > 9 {
			return 0
		}
		t = t.Add(time.Duration(fractionNanos(b[n+1 : n+1+f])))
		n += 1 + f
	}
	if c := byteAt(b, n); c != ' ' && c != '\t' && c != ']' && c != '|' && c != ',' && c != 0 {
		return 0
	}
	s.shape, s.unix, s.zoned = shapeEpoch, t, true
	return n
}

// epochTime reads an epoch whose width tells its unit.
func epochTime(b []byte) (time.Time, bool) {
	var v int64
	for _, c := range b {
		if c < '0' || c > '9' || v > 1<<60/5 {
			return time.Time{}, false
		}
		v = v*10 + int64(c-'0')
	}
	var t time.Time
	switch len(b) {
	case 10:
		t = time.Unix(v, 0)
	case 13:
		t = time.UnixMilli(v)
	case 16:
		t = time.UnixMicro(v)
	case 19:
		t = time.Unix(0, v)
	default:
		return t, false
	}
	t = t.UTC()
	return t, t.Year() >= 2001 && t.Year() < 2100
}

// twoDigits reads forms that begin with a day, a month or an hour.
func (s *stamp) twoDigits(b []byte) int {
	n := digitRun(b, 0)
	first := digitsAt(b, 0, n)
	switch sep := byteAt(b, n); sep {
	case ':': // a clock alone
		if n != 2 {
			return 0
		}
		i := s.clock(b, 0)
		if i == 0 {
			return 0
		}
		s.shape = shapeClock
		return s.rest(b, i)
	case '-', '/', '.', ' ':
		if m := monthOf(b[n+1:]); m > 0 { // 14-Mar-2026, 14/Mar/2026, 14 Mar 2026
			i := n + 4
			if c := byteAt(b, i); c != sep && c != '.' {
				return 0
			}
			year := digitsAt(b, i+1, 4)
			if year < 0 {
				return 0
			}
			s.year, s.month, s.day = year, m, first
			if i = s.clockAfterDate(b, i+5); i > 0 {
				s.shape = shapeNamed
				return s.rest(b, i)
			}
			return 0
		}
		if sep == ' ' || n != 2 {
			return 0
		}
		second := digitsAt(b, 3, 2)
		if second < 0 {
			return 0
		}
		if byteAt(b, 5) == sep && digitsAt(b, 6, 4) >= 0 {
			s.day, s.month, s.year = first, second, digitsAt(b, 6, 4)
			s.slashes = sep == '/'
			if s.month > 12 {
				s.day, s.month = s.month, s.day
				s.slashes = false
			}
			if i := s.clockAfterDate(b, 10); i > 0 {
				s.shape = shapeDMY
				return s.rest(b, i)
			}
			return 0
		}
		if byteAt(b, 5) == sep && digitsAt(b, 6, 2) >= 0 && digitRun(b, 6) == 2 { // 26-03-14, 26/03/14: log4j's yy
			s.year, s.month, s.day = 2000+first, second, digitsAt(b, 6, 2)
			if i := s.clockAfterDate(b, 8); i > 0 {
				s.shape = shapeYMD
				return s.rest(b, i)
			}
			return 0
		}
		if byteAt(b, 5) == ' ' || byteAt(b, 5) == 'T' {
			s.month, s.day = first, second
			if i := s.clockAfterDate(b, 5); i > 0 {
				s.shape = shapeMonthDay
				return s.rest(b, i)
			}
		}
	}
	return 0
}

// named reads forms that begin with a month or a weekday.
func (s *stamp) named(b []byte) int {
	i := 0
	if isWeekday(b) && len(b) > 8 {
		i = 3
		if b[i] == ',' {
			i++
		}
		if byteAt(b, i) != ' ' {
			return 0
		}
		i++
		if n := digitRun(b, i); n > 0 { // Sat, 14 Mar 2026 09:12:33 GMT
			got := s.numeric(b[i:])
			if s.shape != shapeNamed {
				return 0
			}
			return i + got
		}
	}
	month, n := monthAt(b[i:])
	if month == 0 || byteAt(b, i+n) != ' ' {
		return 0
	}
	weekday := i > 0
	i += n + 1
	for byteAt(b, i) == ' ' {
		i++
	}
	n = digitRun(b, i)
	if n < 1 || n > 2 {
		return 0
	}
	s.month, s.day = month, digitsAt(b, i, n)
	i += n
	s.shape = shapeSyslog
	if byteAt(b, i) == ',' || byteAt(b, i) == ' ' && digitRun(b, i+1) == 4 {
		for byteAt(b, i) == ',' || byteAt(b, i) == ' ' {
			i++
		}
		if s.year = digitsAt(b, i, 4); s.year < 0 {
			return 0
		}
		i += 4
		s.shape = shapeMonth
	}
	i = s.clockAfterDate(b, i)
	if i == 0 {
		return 0
	}
	if weekday && s.year == 0 { // … 09:12:33 CET 2026
		s.shape = shapeWeekday
		j := i
		for byteAt(b, j) == ' ' {
			j++
		}
		for k := 0; k < 5 && byteAt(b, j) >= 'A' && byteAt(b, j) <= 'Z'; k++ {
			j++
		}
		if isUTC(bytes.TrimSpace(b[i:j])) {
			s.zoned = true
		}
		for byteAt(b, j) == ' ' {
			j++
		}
		if y := digitsAt(b, j, 4); y > 1990 && digitRun(b, j) == 4 {
			s.year = y
			return s.valid(j + 4)
		}
		return s.valid(i)
	}
	return s.rest(b, i)
}

// clockAfterDate reads what stands between a date and its time, then the time.
func (s *stamp) clockAfterDate(b []byte, i int) int {
	switch byteAt(b, i) {
	case ' ', 'T', 't', '_', ':', ',':
	case '-':
	default:
		return 0
	}
	i++
	for byteAt(b, i) == ' ' {
		i++
	}
	return s.clock(b, i)
}

// clock reads 09:12:33, 9:12:33 and 091233 with a fraction.
func (s *stamp) clock(b []byte, i int) int {
	switch n := digitRun(b, i); n {
	case 6:
		s.hour, s.minute, s.sec = digitsAt(b, i, 2), digitsAt(b, i+2, 2), digitsAt(b, i+4, 2)
		i += 6
	case 1, 2:
		s.hour = digitsAt(b, i, n)
		i += n
		sep := byteAt(b, i)
		if sep != ':' && sep != '.' {
			return 0
		}
		s.minute = digitsAt(b, i+1, 2)
		if s.minute < 0 || byteAt(b, i+3) != sep {
			return 0
		}
		s.sec = digitsAt(b, i+4, 2)
		i += 6
	default:
		return 0
	}
	if s.sec < 0 {
		return 0
	}
	if c := byteAt(b, i); c == '.' || c == ',' || c == ':' {
		if n := digitRun(b, i+1); n > 0 && n <= 9 {
			s.nan, s.frac = fractionNanos(b[i+1:i+1+n]), true
			i += 1 + n
		}
	}
	return i
}

// fractionNanos reads the digits after a decimal point as nanoseconds.
func fractionNanos(b []byte) int {
	v := 0
	for i := range 9 {
		v *= 10
		if i < len(b) {
			v += int(b[i] - '0')
		}
	}
	return v
}

// rest reads AM or PM and an offset, and checks the fields.
func (s *stamp) rest(b []byte, i int) int {
	if s.frac && s.shape == shapeYMD {
		s.shape = shapeYMDFrac
	}
	j := i
	if byteAt(b, j) == ' ' {
		j++
	} else if bytes.HasPrefix(b[j:], narrowSpace) {
		j += len(narrowSpace)
	}
	if n, pm := meridiem(b[j:]); n > 0 {
		if s.hour %= 12; pm {
			s.hour += 12
		}
		i = j + n
	}
	if n, off, ok := zoneOffset(b[i:]); ok {
		s.zoned, s.offset = true, off
		i += n
		if s.shape == shapeYMD || s.shape == shapeYMDFrac {
			s.shape = shapeYMDZone
		}
	}
	return s.valid(i)
}

// narrowSpace stands before AM and PM since JDK 20.
var narrowSpace = []byte("\u202f")

func meridiem(b []byte) (n int, pm bool) {
	switch {
	case bytes.HasPrefix(b, []byte("AM")):
		return 2, false
	case bytes.HasPrefix(b, []byte("PM")):
		return 2, true
	case bytes.HasPrefix(b, []byte("上午")):
		return len("上午"), false
	case bytes.HasPrefix(b, []byte("下午")):
		return len("下午"), true
	}
	return 0, false
}

// zoneOffset reads Z, +01:00, +0100, +01, " +0000", " UTC" and " GMT". An offset of
// two digits counts only where nothing follows it that would make it another thing.
func zoneOffset(b []byte) (n, offset int, ok bool) {
	i := 0
	if byteAt(b, 0) == ' ' {
		i = 1
	}
	switch c := byteAt(b, i); c {
	case 'Z':
		if i == 0 {
			return 1, 0, true
		}
	case 'U', 'G':
		if len(b) >= i+3 && isUTC(b[i:i+3]) && !isASCIILetter(byteAt(b, i+3)) {
			return i + 3, 0, true
		}
	case '+', '-':
		h := digitsAt(b, i+1, 2)
		if h < 0 || h > 18 {
			return 0, 0, false
		}
		m, end := 0, i+3
		if byteAt(b, end) == ':' && digitsAt(b, end+1, 2) >= 0 {
			m, end = digitsAt(b, end+1, 2), end+3
		} else if v := digitsAt(b, end, 2); v >= 0 {
			m, end = v, end+2
		} else if i > 0 {
			return 0, 0, false
		}
		if byteAt(b, end) >= '0' && byteAt(b, end) <= '9' {
			return 0, 0, false
		}
		offset = h*3600 + m*60
		if c == '-' {
			offset = -offset
		}
		return end, offset, true
	}
	return 0, 0, false
}

func isUTC(b []byte) bool { return string(b) == "UTC" || string(b) == "GMT" }

func (s *stamp) valid(n int) int {
	if s.hour > 24 || s.minute > 59 || s.sec > 60 || s.minute < 0 || s.hour < 0 {
		return 0
	}
	if s.shape != shapeClock && (s.month < 1 || s.month > 12 || s.day < 1 || s.day > 31) {
		return 0
	}
	return n
}

// monthOf returns the month whose English abbreviation b begins with, or 0.
func monthOf(b []byte) int {
	if len(b) < 3 {
		return 0
	}
	for i := range 12 {
		if m := monthNames[3*i : 3*i+3]; b[0] == m[0] && b[1]|0x20 == m[1] && b[2]|0x20 == m[2] {
			return i + 1
		}
	}
	return 0
}

// monthAt is monthOf for months that may be written out, or in Chinese.
func monthAt(b []byte) (month, n int) {
	if month = monthOf(b); month > 0 {
		n = 3
		for n < 10 && isASCIILetter(byteAt(b, n)) {
			n++
		}
		if n > 3 && !longMonth(month, b[:n]) {
			return 0, 0
		}
		if byteAt(b, n) == '.' {
			n++
		}
		return month, n
	}
	if len(b) > 0 && b[0] >= 0x80 {
		for i := len(chineseMonths) - 1; i >= 0; i-- {
			if m := chineseMonths[i]; bytes.HasPrefix(b, []byte(m)) {
				return i + 1, len(m)
			}
		}
	}
	return 0, 0
}

func longMonth(month int, b []byte) bool {
	return string(b) == time.Month(month).String() || string(b) == "Sept"
}

const monthNames = "JanFebMarAprMayJunJulAugSepOctNovDec"

var chineseMonths = []string{
	"一月", "二月", "三月", "四月", "五月", "六月", "七月", "八月", "九月", "十月", "十一月", "十二月",
}

func isWeekday(b []byte) bool {
	if len(b) < 3 {
		return false
	}
	switch string(b[:3]) {
	case "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun":
		return true
	}
	return false
}

func isASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// byteAt returns the byte at i, or 0 beyond the end.
func byteAt(b []byte, i int) byte {
	if i < 0 || i >= len(b) {
		return 0
	}
	return b[i]
}
