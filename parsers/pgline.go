package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// pgRecord is one record of a PostgreSQL server log, whichever of its three
// forms it was written in. Its slices are borrowed from the reader.
type pgRecord struct {
	line     int       // first physical line
	time     time.Time // when it was written
	zoned    evidence.Tri
	pid      []byte
	user, db []byte
	host     []byte
	app      []byte
	severity pgSeverity
	code     []byte // SQLSTATE, where the form has it

	message, detail, context, statement, query []byte
	cut                                        bool // longer than a record may be
}

// pgSeverity is the word before the colon.
type pgSeverity int8

// The severities, then the words of lines that belong to the record above.
const (
	pgNone pgSeverity = iota
	pgDebug
	pgInfo
	pgNotice
	pgWarning
	pgLog
	pgError
	pgFatal
	pgPanic

	pgDetail
	pgHint
	pgContext
	pgStatement
	pgQuery
	pgLocation
)

// companion reports whether a line of this kind belongs to a record before it.
func (s pgSeverity) companion() bool { return s >= pgDetail }

// pgWord returns what a severity word stands for. The word is English, which is
// what nearly all servers write: lc_messages of the log is "C" in containers
// and on managed services, and messages in other languages are not understood.
func pgWord(w []byte) pgSeverity {
	switch string(w) {
	case "LOG":
		return pgLog
	case "ERROR":
		return pgError
	case "FATAL":
		return pgFatal
	case "PANIC":
		return pgPanic
	case "WARNING":
		return pgWarning
	case "NOTICE":
		return pgNotice
	case "INFO":
		return pgInfo
	case "DEBUG", "DEBUG1", "DEBUG2", "DEBUG3", "DEBUG4", "DEBUG5":
		return pgDebug
	case "DETAIL":
		return pgDetail
	case "HINT":
		return pgHint
	case "CONTEXT":
		return pgContext
	case "STATEMENT":
		return pgStatement
	case "QUERY":
		return pgQuery
	case "LOCATION", "BACKTRACE":
		return pgLocation
	}
	return pgNone
}

// pgHeader is what stands before the message of a stderr line.
type pgHeader struct {
	severity      pgSeverity
	text          []byte // message, without the two blanks
	stamp         []byte // "2026-03-14 09:12:33.123 UTC", or "1796015583.248"
	pid, user, db []byte
	host, app     []byte
	code          []byte
	pidHex        bool // pid is the hexadecimal tail of a session id (%c)
	chunk         int  // of a message that syslog split: from 1; 0 if unknown
	seq           []byte
	syslog        bool
}

// pgMaxPrefix is how far into a line the severity may stand. Prefixes with all
// escapes and a long application name stay below 300.
const pgMaxPrefix = 512

// pgSplit finds "SEVERITY:  " in a line and what is before it. It returns false
// if there is none, or what is before it cannot be a log_line_prefix.
func pgSplit(line []byte, h *pgHeader) bool {
	*h = pgHeader{}
	rest := line
	if i := pgSyslogLead(line, h); i > 0 {
		rest = line[i:]
	}
	head := rest[:min(len(rest), pgMaxPrefix)]
	for from := 0; ; {
		i := bytes.Index(head[from:], colonTwoBlanks)
		if i < 0 {
			return false
		}
		i += from
		w := i
		for w > 0 && (head[w-1] >= 'A' && head[w-1] <= 'Z' || head[w-1] >= '1' && head[w-1] <= '5' && w == i) {
			w--
		}
		if h.severity = pgWord(head[w:i]); h.severity == pgNone {
			from = i + 1
			continue
		}
		if w > 0 && (isLetter(head[w-1]) || isDigit(head[w-1])) {
			return false
		}
		h.text = rest[i+3:]
		return pgPrefix(head[:w], h)
	}
}

var colonTwoBlanks = []byte(":  ")

// pgSyslogLead returns the length of what syslog put before a message:
// "Nov 30 05:13:02 db1 postgres[20167]: [3-1] ". The message may begin with
// #011, which is a TAB as syslog daemons escape it.
func pgSyslogLead(line []byte, h *pgHeader) int {
	head := line[:min(len(line), 160)]
	i := bytes.Index(head, pgIdent)
	if i < 1 {
		return 0
	}
	at := i + len(pgIdent)
	for at < len(head) && (isLetter(head[at]) || isDigit(head[at]) || head[at] == '-') { // "postgresql-15"
		at++
	}
	var pid []byte
	switch {
	case at < len(head) && head[at] == '[':
		end := bytes.IndexByte(head[at:], ']')
		if end < 2 {
			return 0
		}
		pid = head[at+1 : at+end]
		at += end + 1
		if at < len(head) && head[at] == ':' {
			at++
		}
	case at < len(head) && head[at] == ' ': // RFC 5424: "postgres 20167 - - "
		end := at + 1
		for end < len(head) && isDigit(head[end]) {
			end++
		}
		if end == at+1 || !bytes.HasPrefix(head[end:], []byte(" - -")) {
			return 0
		}
		pid = head[at+1 : end]
		at = end + len(" - -")
	default:
		return 0
	}
	if !allDigits(pid) {
		return 0
	}
	if at < len(head) && head[at] == ' ' {
		at++
	}
	h.syslog, h.pid = true, pid
	h.stamp = pgSyslogStamp(head[:i])
	if at < len(head) && head[at] == '[' { // "[3-1] "
		end := bytes.IndexByte(head[at:], ']')
		dash := bytes.LastIndexByte(head[at:at+max(end, 0)], '-')
		if end > 0 && dash > 0 {
			if n, ok := pgAtoi(head[at+dash+1 : at+end]); ok && allDigits(head[at+1:at+dash]) {
				h.seq, h.chunk = head[at+1:at+dash], n
				at += end + 1
				if at < len(head) && head[at] == ' ' {
					at++
				}
			}
		}
	}
	return at
}

var pgIdent = []byte("postgres")

// pgSyslogStamp returns the time at the head of a syslog line, as printed.
func pgSyslogStamp(b []byte) []byte {
	if len(b) > 0 && b[0] == '<' { // priority and version of RFC 5424
		if i := bytes.IndexByte(b, '>'); i > 0 {
			b = bytes.TrimPrefix(b[i+1:], []byte("1 "))
		}
	}
	if pgStampAt(b, 0) {
		if i := bytes.IndexByte(b, ' '); i > 10 {
			return b[:i]
		}
		return nil
	}
	if len(b) >= 15 && b[3] == ' ' && b[9] == ':' && b[12] == ':' {
		return b[:15]
	}
	return nil
}

// pgStampAt reports whether "2026-03-14 09:12:33" stands at an offset.
func pgStampAt(p []byte, i int) bool {
	return i+19 <= len(p) && p[i+4] == '-' && p[i+7] == '-' && p[i+13] == ':' && p[i+16] == ':' &&
		(p[i+10] == ' ' || p[i+10] == 'T') && isDigit(p[i]) && isDigit(p[i+3]) && isDigit(p[i+18])
}

// pgPrefix reads a log_line_prefix of any shape by what its parts look like. It
// returns false for what PostgreSQL cannot have written: an application's line
// that only quotes a server message.
func pgPrefix(p []byte, h *pgHeader) bool {
	whole := p
	p = bytes.TrimLeft(p, " \t<")
	if len(p) == 0 {
		return true
	}
	for i := 0; i+19 <= len(p); i++ {
		if isDigit(p[i]) && pgStampAt(p, i) {
			end := pgStampEnd(p, i)
			h.stamp = p[i:end]
			if !pgFields(p[:i], h) {
				return false
			}
			p = p[end:]
			break
		}
	}
	if h.stamp == nil || h.syslog {
		if n := pgEpochLen(p); n > 0 {
			h.stamp, p = p[:n], p[n:]
		}
	}
	if !pgFields(p, h) || pgQuoted(whole) {
		return false
	}
	return h.stamp != nil || h.pid != nil || h.user != nil || h.db != nil
}

// pgQuoted reports whether a prefix ends as the introduction of a quotation
// does, "OperationalError: " or "failed: ": a word, a colon and a blank.
func pgQuoted(p []byte) bool {
	if !bytes.HasSuffix(p, []byte(": ")) || len(p) < 3 {
		return false
	}
	i := len(p) - 2
	for i > 0 && isLetter(p[i-1]) {
		i--
	}
	return i < len(p)-2 && (i == 0 || p[i-1] == ' ' || p[i-1] == '.' || p[i-1] == ')')
}

// pgStampEnd returns where a timestamp ends, its fraction and zone included.
func pgStampEnd(p []byte, i int) int {
	i += 19
	if i < len(p) && (p[i] == '.' || p[i] == ',') {
		j := i + 1
		for j < len(p) && isDigit(p[j]) {
			j++
		}
		if j > i+1 {
			i = j
		}
	}
	j := i
	if j < len(p) && p[j] == ' ' {
		j++
	}
	switch {
	case j < len(p) && (p[j] == '+' || p[j] == '-') && j+2 < len(p) && isDigit(p[j+1]) && isDigit(p[j+2]):
		k := j + 3
		if k < len(p) && p[k] == ':' && k+2 < len(p) && isDigit(p[k+1]) && isDigit(p[k+2]) && !(k+3 < len(p) && isDigit(p[k+3])) {
			return k + 3
		}
		for k < len(p) && isDigit(p[k]) && k < j+5 {
			k++
		}
		return k
	case j < len(p) && p[j] >= 'A' && p[j] <= 'Z':
		k := j
		for k < len(p) && (p[k] >= 'A' && p[k] <= 'Z') {
			k++
		}
		if k-j <= 5 && (k == len(p) || !isLetter(p[k]) && p[k] != '_') {
			return k
		}
	}
	return i
}

// pgEpochLen returns the length of "1796015583.248" at the start of p, or 0.
func pgEpochLen(p []byte) int {
	n := 0
	for n < len(p) && isDigit(p[n]) {
		n++
	}
	if n != 10 || n+4 > len(p) || p[n] != '.' {
		return 0
	}
	for n++; n < len(p) && isDigit(p[n]); n++ {
	}
	return n
}

// pgFields takes pid, user, database, host and SQLSTATE out of a piece of a
// prefix. It returns false on a word that belongs to an application's log.
func pgFields(p []byte, h *pgHeader) bool {
	for i := 0; i < len(p); {
		c := p[i]
		if !pgWordByte(c) || c == '-' {
			if c == '[' && bytes.HasPrefix(p[i:], []byte("[unknown]")) {
				if j := i + len("[unknown]"); j < len(p) && p[j] == '@' {
					i = j + 1
					n := pgWordLen(p[i:])
					h.db = pgKnown(p[i : i+n])
					i += n
					continue
				}
				i += len("[unknown]")
				continue
			}
			i++
			continue
		}
		n := pgWordLen(p[i:])
		w := bytes.TrimRight(p[i:i+n], "-")
		after := byte(0)
		if i+n < len(p) {
			after = p[i+n]
		}
		before := byte(' ')
		if i > 0 {
			before = p[i-1]
		}
		switch {
		case after == '=':
			v := pgValue(p[i+n+1:])
			if !pgKey(w, v, h) {
				return false
			}
			i += n + 1 + len(v)
			continue
		case after == '@':
			d := p[i+n+1:]
			dn := pgWordLen(d)
			if bytes.HasPrefix(d, []byte("[unknown]")) {
				dn = len("[unknown]")
			}
			h.user, h.db = pgKnown(w), pgKnown(d[:dn])
			i += n + 1 + dn
			if i < len(p) && p[i] == '/' { // "user@db/app"
				app := pgValue(p[i+1:])
				h.app = pgKnown(app)
				i += 1 + len(app)
			}
			continue
		case after == '(' && pgPort(p[i+n:]): // %r
			if h.host == nil {
				h.host = w
			}
			i += n + bytes.IndexByte(p[i+n:], ')')
			continue
		case isDigit(w[0]) && h.pid == nil && pgPid(w, before, after, h):
		case bytes.IndexByte(w, '.') > 0 && h.host == nil && pgIP(w):
			h.host = w
		case len(w) == 5 && h.code == nil && pgSQLState(w):
			h.code = w
		case pgLogWord(w):
			return false
		}
		i += n
	}
	return true
}

// pgPid takes a token of digits as a process id if it stands where prefixes
// have it: in brackets, between colons, or alone between blanks.
func pgPid(w []byte, before, after byte, h *pgHeader) bool {
	d := 0
	for d < len(w) && isDigit(w[d]) {
		d++
	}
	switch {
	case d == len(w) && len(w) <= 8:
		h.pid, h.pidHex = w, false
		return true
	case before == '[' && d > 0 && d < len(w) && w[d] == '-': // "[20275-1]"
		h.pid, h.pidHex = w[:d], false
		return true
	}
	dot := bytes.IndexByte(w, '.')
	if dot >= 6 && len(w)-dot-1 >= 1 && pgHex(w[:dot]) && pgHex(w[dot+1:]) && !pgIP(w) { // %c
		h.pid, h.pidHex = w[dot+1:], true
		return true
	}
	return false
}

// pgKey takes "user=%u" and its like. It returns false for keys that only
// structured application logs have.
func pgKey(k, v []byte, h *pgHeader) bool {
	val := pgKnown(bytes.Trim(v, `"`))
	switch string(k) {
	case "user", "usr", "u", "username":
		h.user = val
	case "db", "database", "dbname", "d", "datname":
		h.db = val
	case "app", "a", "application", "appname", "application_name":
		h.app = val
	case "client", "host", "h", "remote", "r", "ip", "client_addr":
		if i := bytes.IndexByte(val, '('); i > 0 {
			val = val[:i]
		}
		h.host = val
	case "pid", "p":
		if allDigits(val) {
			h.pid = val
		}
	case "sql_error_code", "state", "sqlstate", "e":
		h.code = val
	case "level", "lvl", "msg", "error", "err", "severity":
		return false
	}
	return true
}

// pgValue returns the value at the start of b: to a comma, a bracket or a
// blank. An application's name may hold blanks, which end it here only if a
// key, or nothing, follows.
func pgValue(b []byte) []byte {
	if len(b) > 0 && b[0] == '"' {
		if i := bytes.IndexByte(b[1:], '"'); i >= 0 {
			return b[:i+2]
		}
	}
	for i, c := range b {
		switch c {
		case ',', ']', ';', '|':
			if c == ']' && bytes.HasPrefix(b, []byte("[unknown]")) && i < len("[unknown]") {
				continue
			}
			return b[:i]
		case ' ':
			return b[:i]
		}
	}
	return b
}

func pgKnown(b []byte) []byte {
	if len(b) == 0 || string(b) == "[unknown]" || string(b) == "[local]" {
		return nil
	}
	return b
}

// pgLogWord reports whether a word is a level or a logger's word, which no
// log_line_prefix escape prints.
func pgLogWord(w []byte) bool {
	switch string(w) {
	case "ERROR", "WARN", "WARNING", "INFO", "DEBUG", "TRACE", "FATAL", "SEVERE", "CRITICAL",
		"error", "warn", "warning", "info", "debug", "fatal", "psql", "Exception", "exception",
		"DETAIL", "HINT", "CONTEXT", "STATEMENT", "QUERY", "LOG":
		return true
	}
	return bytes.HasSuffix(w, []byte("Exception")) || bytes.HasSuffix(w, []byte("Error"))
}

func pgPort(p []byte) bool { // "(58382)"
	i := 1
	for i < len(p) && isDigit(p[i]) {
		i++
	}
	return i > 1 && i < len(p) && p[i] == ')'
}

// sqlState reports whether w looks like a SQLSTATE with a class that errors have.
func pgSQLState(w []byte) bool {
	digits := 0
	for _, c := range w {
		switch {
		case isDigit(c):
			digits++
		case c < 'A' || c > 'Z':
			return false
		}
	}
	return digits >= 2 && (isDigit(w[0]) || w[0] == 'X' || w[0] == 'F' || w[0] == 'H' || w[0] == 'P')
}

func pgIP(w []byte) bool {
	dots, digits := 0, 0
	for _, c := range w {
		switch {
		case c == '.':
			dots++
		case isDigit(c):
			digits++
		default:
			return false
		}
	}
	return dots == 3 && digits >= 4
}

// pgWordByte says what the fields of a prefix are made of.
func pgWordByte(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '_' || c == '-' || c == '.' || c >= 0x80
}

func pgWordLen(b []byte) int {
	n := 0
	for n < len(b) && pgWordByte(b[n]) {
		n++
	}
	return n
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func pgHex(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return len(b) > 0
}

// atoi reads a number of at most nine digits.
func pgAtoi(b []byte) (int, bool) {
	if len(b) == 0 || len(b) > 9 || !allDigits(b) {
		return 0, false
	}
	n := 0
	for _, c := range b {
		n = 10*n + int(c-'0')
	}
	return n, true
}
