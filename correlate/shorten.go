package correlate

import (
	"strings"
	"unicode/utf8"
)

// The headline's share of one link, in characters.
const briefLong = 105

// brief is a finding's text in a few words for the headline: what is said
// besides is left out first, and the names that matter are kept.
func brief(text string) string { return shorten(text, briefLong) }

// shorten returns a text in at most n characters: without the packages of its
// names, then without what stands in brackets, then without its last clauses,
// and only if its first clause alone is too long, without its middle.
func shorten(text string, n int) string {
	fits := func(s string) bool { return utf8.RuneCountInString(s) <= n }
	if fits(text) {
		return text
	}
	text = shortNames(text)
	for !fits(text) {
		less, ok := withoutAside(text)
		if !ok {
			break
		}
		text = less
	}
	for !fits(text) {
		i := lastClause(text)
		if i < n/3 {
			break
		}
		text = text[:i]
	}
	if !fits(text) {
		text = withoutMiddle(text, n)
	}
	return text
}

// shortNames drops the packages and the places of the names in a text:
// "com.acme.shop.StockDao.find(StockDao.java:27)" is "StockDao.find".
func shortNames(text string) string {
	words := strings.Split(text, " ")
	for i, w := range words {
		name := strings.TrimRight(w, ",;")
		j := strings.IndexByte(name, '(')
		if j > 0 && strings.Count(name[:j], ".") >= 2 && strings.Count(name, "(") == 1 && strings.HasSuffix(name, ")") {
			class, method := splitFunc(name[:j])
			words[i] = simpleClass(class) + "." + method + w[len(name):]
		}
	}
	return strings.Join(words, " ")
}

// withoutAside drops the last remark in brackets of its own; false if there is
// none. Brackets within a name or a statement are part of it.
func withoutAside(text string) (string, bool) {
	for _, b := range []struct{ open, end string }{{" (", ")"}, {"（", "）"}} {
		i := strings.LastIndex(text, b.open)
		if i < 0 {
			continue
		}
		deep := 0
		for j, r := range text[i:] {
			switch r {
			case '(', '（':
				deep++
			case ')', '）':
				if deep--; deep == 0 {
					return text[:i] + text[i+j+len(b.end):], true
				}
			}
		}
	}
	return text, false
}

// lastClause is where the last clause of a text begins, or -1.
func lastClause(text string) int {
	at := -1
	for _, mark := range []string{"; ", ", ", ": ", "；", "，", "："} {
		at = max(at, strings.LastIndex(text, mark))
	}
	return at
}

// withoutMiddle keeps whole words of both ends of a text, since names stand at
// either: the last word first, then as many as fit from the front.
func withoutMiddle(text string, n int) string {
	words := strings.Fields(text)
	long := func(s string) int { return utf8.RuneCountInString(s) }
	if len(words) < 3 || long(words[0])+long(words[len(words)-1])+3 > n {
		return clip(text, n)
	}
	head, tail := words[0], words[len(words)-1]
	for _, w := range words[1 : len(words)-1] {
		if long(head)+long(w)+long(tail)+4 > n {
			break
		}
		head += " " + w
	}
	return strings.TrimRight(head, ",;:") + " … " + tail
}

// statementBrief is a statement in few words: without its list of columns where
// that would push out the table.
func statementBrief(statement string) string {
	const columns = 40
	if i := strings.Index(statement, " from "); i > columns && strings.HasPrefix(statement, "select ") && utf8.RuneCountInString(statement) > briefLong {
		statement = "select …" + statement[i:]
	}
	return clip(statement, briefLong)
}

// changeBrief is a change of a table in few words: what it is and of what,
// without the type and the options.
func changeBrief(ddl string) string {
	const long, telling = 60, 6 // alter table NAME add column NAME
	if words := strings.Fields(ddl); utf8.RuneCountInString(ddl) > long && len(words) > telling {
		ddl = strings.TrimRight(strings.Join(words[:telling], " "), ",;(")
	}
	return clip(ddl, briefLong)
}
