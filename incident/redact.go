package incident

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// Redact returns a copy of the report without what identifies machines and
// people: addresses, credentials, e-mails, phone numbers, numbers like those of
// identity cards, and literals in SQL. Each gets a name that stays the same
// through the report ("ip-1", "token-2"), numbered in the order of the report,
// so that one can still see what belongs together; ports stay. Versions, line
// numbers, counts and times are left alone, and so are loopback addresses.
//
// It goes by form. A secret that looks like a word is not found: read before
// you publish.
func Redact(r *Report) *Report {
	d := redactor{names: map[string]string{}, last: map[string]int{}}
	return rewrite(r, func(field, s string) string {
		switch field {
		case "Report.Schema", "Tool.Version", "key":
			return s
		}
		return d.redact(s)
	})
}

type redactor struct {
	names map[string]string // kind and value to pseudonym
	last  map[string]int    // number given last, by kind
}

// pseudonym returns the name of a value, the same each time.
func (d *redactor) pseudonym(kind, value string) string {
	key := kind + "\x00" + value
	if d.names[key] == "" {
		d.last[kind]++
		d.names[key] = kind + "-" + strconv.Itoa(d.last[kind])
	}
	return d.names[key]
}

// rule replaces what a pattern finds, unless it looks like something else.
type rule struct {
	kind    string
	pattern *regexp.Regexp
	mask    int // the group that is replaced; the rest of the match stays
	unless  func(d *redactor, s string, match []int) bool
	narrow  func(s string, from, to int) (int, int) // the part of a match that it is about; nil: all of it
}

var rules = []rule{
	{"token", regexp.MustCompile(`\beyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?`), 0, nil, nil},
	{"token", regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+([\w.~+/=-]{8,})`), 1, alreadyMasked, nil},
	{"cookie", regexp.MustCompile(`(?i)\b(?:set-)?cookie["']?\s*[:=]\s*["']?([^"'\n]+)`), 1, alreadyMasked, nil},
	{"secret", regexp.MustCompile(`://([^/\s:@]+:[^/\s@]+)@`), 1, nil, nil},
	{"secret", regexp.MustCompile(`\b(?:AKIA|ASIA|LTAI|AKID)[A-Za-z0-9]{12,}\b|\bgh[pousr]_[A-Za-z0-9]{20,}|\bsk-[A-Za-z0-9-]{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}`), 0, nil, nil},
	{"secret", regexp.MustCompile(`(?i)\b(?:[\w.-]*(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key(?:[_-]?(?:id|secret))?|credential|sessionid|session[_-]id|authorization|signature)|ak|sk)["']?\s*[=:]\s*["']?([^\s"',;&)\]}]+)`), 1, alreadyMasked, nil},
	{"email", regexp.MustCompile(`[A-Za-z0-9._%+-]+(?:@|%(?:25)*40|\\u0040|&#64;)[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b`), 0, nil, nil},
	{"host", regexp.MustCompile(`\bip-\d{1,3}(?:-\d{1,3}){3}(?:\.[a-z0-9-]+)*`), 0, nil, nil},
	{"ip", regexp.MustCompile(`[0-9A-Fa-f]*(?::[0-9A-Fa-f]*){2,}(?:(?:\.\d{1,3}){3})?`), 0, notIPv6, addressIn},
	{"ip", regexp.MustCompile(`\d{1,3}(?:\.\d{1,3}){3}`), 0, notIPv4, nil},
	{"user", regexp.MustCompile(`(?i)(?:\b(?:GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS) |https?://[^\s/]+|^)(?:/[^\s/?#]+)*?/(?:(?:u|users?|members?|accounts?|profiles?|customers?|people|persons?|usernames?|authors?|owners?|patients?|home|by-name)/|~)([^\s/?#"'{}&,;)]+)`), 1, notPerson, nil},
	{"id", regexp.MustCompile(`[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx]`), 0, insideNumber, nil},
	{"phone", regexp.MustCompile(`(?:\+?86[ -]?)?1[3-9]\d(?:\d{8}|[ -]\d{4}[ -]\d{4})`), 0, insideNumber, nil},
	{"phone", regexp.MustCompile(`\+[1-9]\d{0,2}[ -]?\(?\d{2,4}\)?(?:[ -]?\d{2,4}){2,3}`), 0, insideNumber, nil},
}

func (d *redactor) redact(s string) string {
	if !strings.ContainsAny(s, "0123456789@=:/&\\") {
		return s // none of the rules can match
	}
	s = maskSQL(s)
	for _, r := range rules {
		s = d.apply(r, s)
	}
	return s
}

func (d *redactor) apply(r rule, s string) string {
	var b strings.Builder
	done := 0
	for from := 0; from <= len(s); {
		m := r.pattern.FindStringSubmatchIndex(s[from:])
		if m == nil {
			break
		}
		for i := range m {
			m[i] += from
		}
		start, end := m[2*r.mask], m[2*r.mask+1]
		from = max(end, m[0]+1)
		if r.narrow != nil {
			start, end = r.narrow(s, start, end)
		}
		if r.unless != nil && r.unless(d, s, []int{start, end}) {
			continue
		}
		b.WriteString(s[done:start])
		b.WriteString(d.pseudonym(r.kind, s[start:end]))
		done = end
	}
	return b.String() + s[done:]
}

var masked = regexp.MustCompile(`^(?:token|secret|cookie|email|user|host|ip|id|phone)-\d+$`)

// alreadyMasked spares pseudonyms, and the words that only announce a secret.
func alreadyMasked(_ *redactor, s string, m []int) bool {
	value := s[m[0]:m[1]]
	switch strings.ToLower(value) {
	case "bearer", "basic", "null", "none", "true", "false", "?", "***", "******":
		return true
	}
	return masked.MatchString(value)
}

// insideNumber reports whether a match is only part of a longer number, word or
// amount.
func insideNumber(_ *redactor, s string, m []int) bool {
	if m[0] > 0 && (isWordByte(s[m[0]-1]) || s[m[0]-1] == '.' || s[m[0]-1] == ',') && s[m[0]-1] < 0x80 {
		return true
	}
	if m[1] < len(s) && s[m[1]] < 0x80 {
		if isWordByte(s[m[1]]) {
			return true
		}
		if s[m[1]] == '.' || s[m[1]] == ',' {
			return m[1]+1 < len(s) && isDigit(s[m[1]+1])
		}
	}
	return false
}

// versionBefore tells a four-part version from an address by the words before.
var versionBefore = regexp.MustCompile(`(?i)(?:\b(?:version|ver|release|build|jdk|jre|jvm|java|driver|connector|vm)\b["']?[\s:=(/_-]*|\bv)$`)

// versionAfter does so by what follows: a file of that version, a build number.
var versionAfter = regexp.MustCompile(`^(?:\+\w|\.(?:jar|war|so|dll|rpm|deb|zip|tgz|tar|RELEASE|Final|GA)\b|-(?:SNAPSHOT|RELEASE|GA|beta|alpha|rc|jre|jdk)\b)`)

func notIPv4(_ *redactor, s string, m []int) bool {
	addr, err := netip.ParseAddr(s[m[0]:m[1]])
	if err != nil || addr.IsLoopback() || addr.As4()[0] == 0 {
		return true
	}
	if m[0] > 0 && (isDigit(s[m[0]-1]) || s[m[0]-1] == '.') ||
		m[1] < len(s) && (isDigit(s[m[1]]) || s[m[1]] == '.' && m[1]+1 < len(s) && isDigit(s[m[1]+1])) {
		return true // five parts or more: a version or an OID
	}
	return versionBefore.MatchString(s[max(0, m[0]-24):m[0]]) || versionAfter.MatchString(s[m[1]:])
}

// addressIn is the IPv6 address in a run of groups: what stands before it with a
// colon may be a word, a colon may belong to the sentence, and a port may follow
// as one group more.
func addressIn(s string, from, to int) (int, int) {
	text := s[from:to]
	start, end := 0, len(text)
	if from > 0 && isWordByte(s[from-1]) {
		start = strings.IndexByte(text, ':')
	}
	if strings.HasPrefix(text[start:], ":") && !strings.HasPrefix(text[start:], "::") {
		start++
	}
	if strings.HasSuffix(text, ":") && !strings.HasSuffix(text, "::") {
		end--
	}
	if start >= end {
		return from, to
	}
	if strings.Count(text[start:end], ":") == 8 && !strings.Contains(text[start:end], "::") {
		end = start + strings.LastIndexByte(text[start:end], ':')
	}
	return from + start, from + end
}

// notPerson spares what stands behind /users/ and is no name: an operation, a
// pseudonym, a file of a program.
func notPerson(d *redactor, s string, m []int) bool {
	name := s[m[0]:m[1]]
	switch strings.ToLower(name) {
	case "me", "self", "current", "login", "logout", "register", "signup", "signin", "search", "list", "new", "all", "info", "batch", "count", "detail", "details", "query",
		"page", "create", "update", "delete", "save", "check", "export", "import", "status", "settings", "*", "other", "get", "add", "find", "balance", "orders", "order":
		return true
	}
	for _, ext := range []string{".go", ".java", ".kt", ".scala", ".py", ".js", ".ts", ".rb", ".php", ".cs", ".log", ".gz", ".txt", ".json"} {
		if i := strings.Index(name, ext); i > 0 && (i+len(ext) == len(name) || name[i+len(ext)] == ':') {
			return true
		}
	}
	return alreadyMasked(d, s, m)
}

func notIPv6(_ *redactor, s string, m []int) bool {
	text := s[m[0]:m[1]]
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.IsLoopback() || addr.IsUnspecified() {
		return true
	}
	if m[0] > 0 && isWordByte(s[m[0]-1]) || m[1] < len(s) && isWordByte(s[m[1]]) {
		return true
	}
	// "a::b" may be a name of some language; an address has digits or many parts.
	return !strings.ContainsAny(text, "0123456789") && strings.Count(text, ":") < 4
}

// sqlShape finds where a statement begins inside a text.
var sqlShape = regexp.MustCompile(`(?is)\b(?:select\s.*?\sfrom|insert\s+(?:ignore\s+)?into|update\s.*?\sset|delete\s+from|replace\s+into)\b`)

var (
	sqlText   = regexp.MustCompile(`([=<>(,\s])'(?:[^'\\]|\\.|'')*'|([=<>]\s*|(?i:\blike|\band|\bbetween)\s+)"(?:[^"\\]|\\.)*"`)
	sqlNumber = regexp.MustCompile(`(?i)([=<>]\s*|\b(?:like|between|and|limit|offset)\s+)-?(?:0x[0-9a-f]+|\d+(?:\.\d+)?)\b`)
	sqlList   = regexp.MustCompile(`(?i)\b(in|values)\s*\(\s*(?:-?\d[\d.]*|\?)(?:\s*,\s*(?:-?\d[\d.]*|\?))*\s*\)`)
)

// maskSQL replaces the literals of a statement by question marks. A report's
// fingerprints have none; commands and sentences may.
func maskSQL(s string) string {
	at := sqlShape.FindStringIndex(s)
	if at == nil {
		return s
	}
	sql := sqlText.ReplaceAllString(s[at[0]:], "${1}${2}?")
	sql = sqlNumber.ReplaceAllString(sql, "${1}?")
	return s[:at[0]] + sqlList.ReplaceAllString(sql, "$1 (?)")
}
