package parsers

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// rule finds one message by a literal that stands in it. find is called with
// the offset of the literal's first (or, if last is set, last) occurrence in the
// record's text; it returns false for what only looks like the message.
type rule struct {
	sign string
	last bool
	find func(o *logOut, text []byte, at int) (bool, error)
}

// messages makes a detector of rules of which the first that applies to a record
// is the only one: an error that was wrapped several times is one event.
func messages(name, doc string, rules []rule) detector {
	d := detector{name: name, doc: doc}
	for _, r := range rules {
		d.signs = append(d.signs, r.sign)
	}
	d.find = func(r *logRecord, o *logOut) error {
		for _, rule := range rules {
			at := o.offset(rule.sign)
			if at < 0 {
				continue
			}
			if rule.last {
				at = bytes.LastIndex(r.Text, []byte(rule.sign))
			}
			if done, err := rule.find(o, r.Text, at); done || err != nil {
				return err
			}
		}
		return nil
	}
	return d
}

func (o *logOut) mark(at int, m evidence.Mark) (bool, error) {
	ev := o.at(at)
	ev.Mark = &m
	return true, o.send(ev)
}

func (o *logOut) pool(at int, p evidence.PoolSnapshot) (bool, error) {
	ev := o.at(at)
	p.Relayed = p.Relayed || relayed(o.rec.Text, at)
	ev.Pool = &p
	return true, o.send(ev)
}

func (o *logOut) tries(at int, t evidence.Tries) (bool, error) {
	ev := o.at(at)
	ev.Tries = &t
	return true, o.send(ev)
}

func (o *logOut) sql(at int, s evidence.Statement) (bool, error) {
	ev := o.at(at)
	ev.SQL = &s
	return true, o.send(ev)
}

// newPool returns a snapshot that knows nothing yet.
func newPool(impl, resource string) evidence.PoolSnapshot {
	p := evidence.PoolSnapshot{
		Kind: evidence.ThreadPool, Impl: impl, Resource: resource,
		Max: evidence.None, Active: evidence.None, Idle: evidence.None, Waiting: evidence.None,
		Size: evidence.None, Queued: evidence.None, Largest: evidence.None,
		Tasks: evidence.None, Completed: evidence.None, Waited: evidence.None,
	}
	if resource != "" {
		p.Kind = evidence.ConnectionPool
	}
	return p
}

// newTries returns a logical call of which only the number of attempts is known.
func newTries(mode string, attempts int) evidence.Tries {
	return evidence.Tries{
		Mode: mode, Attempts: attempts, Failed: evidence.None, Candidates: evidence.None,
		Timeout: evidence.None, Elapsed: evidence.None, RetriesSetting: evidence.None,
		Side: evidence.Consumer, Outcome: evidence.Failed,
	}
}

// newStatement returns a statement of which only the text is known.
func newStatement(origin evidence.SQLOrigin, text []byte) evidence.Statement {
	s := evidence.Statement{
		Origin: origin, Text: snippet(text, maxStatement), Duration: evidence.None, LockTime: evidence.None,
		RowsExamined: evidence.None, RowsSent: evidence.None, TrxAge: evidence.None,
	}
	s.Truncated = len(text) > maxStatement
	s.Fingerprint = Fingerprint("", s.Text)
	return s
}

const (
	maxStatement = 8 << 10 // bytes of SQL text kept of one statement
	maxText      = 200     // bytes of a mark's text
)

// relayed reports whether a message at an offset stands in text that a callee
// had sent back: then its pool is the callee's.
func relayed(text []byte, at int) bool {
	head := text[:min(at, len(text))]
	return bytes.Contains(head, []byte("RemotingException: ")) ||
		bytes.Contains(head, []byte("Failed to invoke remote method")) ||
		bytes.Contains(head, []byte("org.apache.dubbo.rpc.RpcException: java."))
}

// has reports whether one of the literals stands in text.
func has(text []byte, literals ...string) bool {
	for _, l := range literals {
		if bytes.Contains(text, []byte(l)) {
			return true
		}
	}
	return false
}

// unreachable reports whether an exception's text names a peer that could not
// be connected to, rather than a pool that was used up.
func unreachable(text []byte) bool {
	return has(text, "Connection refused", "connection refused", "Communications link failure", "Too many connections",
		"UnknownHostException", "ConnectException", "Failed connecting to", "Failed to connect to", "NoRouteToHostException",
		"Connection reset", "too many clients already", "connection attempt failed", "connect timed out", "Connect timed out",
		"remaining connection slots")
}

// lineOf returns the bounds of the line of text that holds an offset.
func lineOf(text []byte, at int) (from, to int) {
	from = bytes.LastIndexByte(text[:at], '\n') + 1
	to = len(text)
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		to = at + i
	}
	return from, to
}

// rest returns what follows an offset on its line.
func rest(text []byte, at int) []byte {
	at = min(at, len(text))
	_, to := lineOf(text, at)
	return text[at:to]
}

// before returns what stands before an offset on its line.
func before(text []byte, at int) []byte {
	from, _ := lineOf(text, at)
	return text[from:at]
}

// past returns what follows a literal, up to the line's end; nil if it is not there.
func past(text []byte, literal string) []byte {
	i := bytes.Index(text, []byte(literal))
	if i < 0 {
		return nil
	}
	return rest(text, i+len(literal))
}

// upTo returns text as far as the first of the bytes in stops.
func upTo(text []byte, stops string) []byte {
	if i := bytes.IndexAny(text, stops); i >= 0 {
		return text[:i]
	}
	return text
}

// enclosed returns what stands between two literals on one line.
func enclosed(text []byte, open, closing string) []byte {
	t := past(text, open)
	if i := bytes.Index(t, []byte(closing)); i >= 0 {
		return t[:i]
	}
	return nil
}

// grouped reads the whole number at the start of text, which may be grouped by
// commas, dots, apostrophes or blanks of a locale; None if there is none.
func grouped(text []byte) int64 {
	n, digits := int64(0), 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c >= '0' && c <= '9':
			if n > (1<<62)/10 {
				return evidence.None
			}
			n = n*10 + int64(c-'0')
			digits++
		case digits > 0 && (c == ',' || c == '.' || c == '\'') && threeDigits(text[i+1:]):
		case digits > 0 && bytes.HasPrefix(text[i:], []byte("\u00a0")) && threeDigits(text[i+2:]):
			i++
		case digits > 0 && bytes.HasPrefix(text[i:], []byte("\u202f")) && threeDigits(text[i+3:]):
			i += 2
		default:
			i = len(text)
		}
	}
	if digits == 0 {
		return evidence.None
	}
	return n
}

func threeDigits(text []byte) bool {
	digits := 0
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		digits++
	}
	return digits == 3
}

// plain reads the whole number at the start of text, without any grouping.
func plain(text []byte) int64 {
	return grouped(upTo(text, ",.'\u00a0\u202f"))
}

// countAfter returns the whole number after a key, on any line; None if it is not there.
func countAfter(text []byte, key string) int {
	return int(plain(past(text, key)))
}

// decimal reads a number with an optional fraction, whose mark may be a point
// or a comma, and returns how many bytes it took (0: there is none).
func decimal(text []byte) (float64, int) {
	n := 0
	for n < len(text) && n < 40 && (text[n] >= '0' && text[n] <= '9' ||
		n > 0 && n+1 < len(text) && (text[n] == '.' || text[n] == ',') && text[n+1] >= '0' && text[n+1] <= '9') {
		n++
	}
	if n == 0 {
		return 0, 0
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(string(text[:n]), ",", "."), 64)
	if err != nil {
		return 0, 0
	}
	return f, n
}

// span reads a duration written as numbers with units, such as "1m5s204ms948µs",
// "PT0.5S", "200.43ms" or "3 seconds"; None if it is none.
func span(text []byte) time.Duration {
	text = bytes.TrimPrefix(text, []byte("PT"))
	total, some := time.Duration(0), false
	for {
		f, n := decimal(text)
		if n == 0 {
			break
		}
		unit, width := unitOf(bytes.TrimLeft(text[n:], " "))
		if width == 0 || f > 1e9 {
			break
		}
		total += time.Duration(f * float64(unit))
		some = true
		text = bytes.TrimLeft(text[n:], " ")[width:]
	}
	if !some {
		return evidence.None
	}
	return total
}

// unitOf reads a unit of time; longer names of a unit come before shorter ones.
func unitOf(text []byte) (time.Duration, int) {
	for _, u := range [...]struct {
		name string
		unit time.Duration
	}{
		{"milliseconds", time.Millisecond},
		{"millisecond(s)", time.Millisecond},
		{"millisecond", time.Millisecond},
		{"MILLISECONDS", time.Millisecond},
		{"millis", time.Millisecond},
		{"ms", time.Millisecond},
		{"second(s)", time.Second},
		{"seconds", time.Second},
		{"SECONDS", time.Second},
		{"second", time.Second},
		{"secs", time.Second},
		{"minute(s)", time.Minute},
		{"minutes", time.Minute},
		{"minute", time.Minute},
		{"MINUTES", time.Minute},
		{"ns", time.Nanosecond},
		{"us", time.Microsecond},
		{"\u00b5s", time.Microsecond},
		{"\u03bcs", time.Microsecond},
		{"d", 24 * time.Hour},
		{"h", time.Hour},
		{"H", time.Hour},
		{"m", time.Minute},
		{"M", time.Minute},
		{"s", time.Second},
		{"S", time.Second},
	} {
		if bytes.HasPrefix(text, []byte(u.name)) {
			return u.unit, len(u.name)
		}
	}
	return 0, 0
}

// millis turns a number of milliseconds into a duration, None into None.
func millis(n int64) time.Duration {
	if n < 0 || n > 1<<40 {
		return evidence.None
	}
	return time.Duration(n) * time.Millisecond
}

// snippet copies text, cut to a length at a rune's edge.
func snippet(text []byte, limit int) string {
	text = bytes.TrimSpace(text)
	if len(text) > limit {
		for limit > 0 && text[limit]&0xc0 == 0x80 {
			limit--
		}
		text = text[:limit]
	}
	return strings.ToValidUTF8(string(text), "\ufffd")
}

// appFrame returns the first frame after an offset that is not of the JDK, a
// pool, a driver or a common framework: the user's own code, as far as one can tell.
func appFrame(text []byte, at int) string {
	for _, line := range bytes.Split(text[min(at, len(text)):], newline) {
		frame, ok := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), []byte("at "))
		if !ok {
			continue
		}
		name := frame
		if i := bytes.LastIndexByte(upTo(frame, "("), '/'); i >= 0 {
			name = frame[i+1:]
		}
		if !libraryFrame(name) {
			return snippet(name, maxText)
		}
	}
	return ""
}

func libraryFrame(name []byte) bool {
	for _, p := range [...]string{
		"java.", "javax.", "jdk.", "sun.", "com.sun.", "jakarta.", "kotlin.", "scala.", "com.zaxxer.", "com.alibaba.druid.", "com.mchange.",
		"org.apache.", "com.alibaba.dubbo.", "org.springframework.", "org.hibernate.", "org.mybatis.", "com.mysql.", "org.postgresql.",
		"org.mariadb.", "oracle.", "com.microsoft.", "org.eclipse.", "io.netty.", "redis.clients.", "io.lettuce.", "com.baomidou.",
		"com.github.pagehelper.", "org.vibur.", "io.undertow.", "org.jboss.", "com.p6spy.", "reactor.", "net.sf.cglib.", "org.jooq.",
	} {
		if bytes.HasPrefix(name, []byte(p)) {
			return true
		}
	}
	return has(name, "$$EnhancerBy", "$$FastClassBy", "$$SpringCGLIB", "$Proxy")
}
