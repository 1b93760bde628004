package parsers

import (
	"bytes"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// parseJavaFrame reads what follows "at " in a stack:
//
//	java.lang.Thread.run(java.base@17.0.15/Thread.java:840)          HotSpot, 9+
//	java.base@17.0.15/java.lang.Thread.run(Thread.java:840)          StackTraceElement, 9+
//	app.jar//com.acme.shop.Price.calc(Price.java:20)                 named class loader
//	com.acme.shop.Job$$Lambda$12/0x00000008000c0840.run(Unknown Source)
//
// It returns false if there is no method and position in it.
func parseJavaFrame(text []byte) (evidence.Frame, bool) {
	if bytes.IndexByte(text, '&') >= 0 {
		text = unescapeHTML(text)
	}
	open := bytes.IndexByte(text, '(')
	if open <= 0 || bytes.IndexByte(text[:open], '.') <= 0 {
		return evidence.Frame{}, false
	}
	if bytes.IndexByte(text[:open], ' ') >= 0 { // prose
		return evidence.Frame{}, false
	}
	end := bytes.LastIndexByte(text, ')')
	if end < open {
		return evidence.Frame{}, false
	}
	f := evidence.Frame{Func: javaFunc(string(text[:open]))}
	f.File, f.Line, f.Native = javaPosition(string(text[open+1 : end]))
	return f, true
}

// javaPosition reads "File.java:12", "java.base@17/File.java:12", "Native Method",
// "Unknown Source", "<generated>" or "File.java".
func javaPosition(loc string) (file string, line int, native bool) {
	if i := strings.LastIndexByte(loc, '/'); i >= 0 {
		loc = loc[i+1:]
	}
	switch loc {
	case "Native Method":
		return "", 0, true
	case "Unknown Source", "<generated>", "":
		return "", 0, false
	}
	colon := strings.LastIndexByte(loc, ':')
	if colon < 0 {
		return loc, 0, false
	}
	digits := loc[colon+1:]
	if strings.HasPrefix(digits, "-") { // debuggers: -1 is native
		return loc[:colon], 0, true
	}
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' || line > 1<<24 {
			return loc, 0, false
		}
		line = 10*line + int(c-'0')
	}
	return loc[:colon], line, false
}

// javaFunc removes from "loader/module@version/class.method" what stands before
// the class, and the numbers and hashes that differ from one run to the next.
func javaFunc(s string) string {
	for i := strings.IndexByte(s, '/'); i >= 0; i = strings.IndexByte(s, '/') {
		rest := s[i+1:]
		if n := hexRun(rest); n > 0 && (n == len(rest) || rest[n] == '.') { // hidden class: X/0x00007f….m
			s = s[:i] + rest[n:]
			continue
		}
		s = rest
	}
	if strings.IndexByte(s, '$') < 0 && !strings.Contains(s, "Accessor") {
		return s
	}
	for _, g := range generatedNames {
		s = g.strip(s)
	}
	return s
}

// generatedName is a part of a class name after which numbers or hashes follow.
type generatedName struct {
	mark string
	more string // characters that may follow the mark before and between the digits
	hash bool   // lower-case hexadecimal or any letters and digits, not only decimal
}

var generatedNames = []generatedName{
	{mark: "$$Lambda", more: "$"},
	{mark: "jdk.proxy"},
	{mark: "$Proxy"},
	{mark: "MethodAccessor"},
	{mark: "ConstructorAccessor"},
	{mark: "SerializationConstructorAccessor"},
	{mark: "CGLIB", more: "$", hash: true},
	{mark: "$HibernateProxy", more: "$", hash: true},
	{mark: "$ByteBuddy", more: "$", hash: true},
	{mark: "$MockitoMock", more: "$", hash: true},
	{mark: "$auxiliary", more: "$", hash: true},
	{mark: "_$$_jvst", more: "_", hash: true},
	{mark: "_$$_javassist", more: "_", hash: true},
	{mark: "$$_WeldClientProxy", more: "_", hash: true},
	{mark: "$$_Weld$", more: "_$", hash: true},
	{mark: "LambdaForm$MH"},
	{mark: "LambdaForm$DMH"},
}

// strip removes the variable part behind the mark, up to the next dot or dollar.
func (g generatedName) strip(s string) string {
	i := strings.Index(s, g.mark)
	if i < 0 {
		return s
	}
	from := i + len(g.mark)
	to := from
	for to < len(s) {
		c := s[to]
		variable := c >= '0' && c <= '9' || strings.IndexByte(g.more, c) >= 0 ||
			g.hash && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z')
		if !variable {
			break
		}
		to++
	}
	if to < len(s) && s[to] != '.' && s[to] != '$' && s[to] != '/' {
		return s // part of a longer word
	}
	return s[:from] + s[to:]
}

// hexRun returns how many bytes at the start of s are a number: decimal, or
// hexadecimal behind 0x.
func hexRun(s string) int {
	n := 0
	hex := strings.HasPrefix(s, "0x")
	if hex {
		n = 2
	}
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || hex && (s[n] >= 'a' && s[n] <= 'f' || s[n] >= 'A' && s[n] <= 'F')) {
		n++
	}
	return n
}

var htmlEntities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#34;", `"`, "&#39;", "'", "&apos;", "'", "&amp;", "&", "&nbsp;", " ")

// unescapeHTML undoes what copying from a web page's source does to a dump.
func unescapeHTML(text []byte) []byte {
	if bytes.IndexByte(text, ';') < 0 {
		return text
	}
	return []byte(htmlEntities.Replace(string(text)))
}
