package runbooks

import (
	"strings"
	"unicode"

	"github.com/firebreak-io/firebreak/document"
	"github.com/firebreak-io/firebreak/incident"
)

// maxName bounds a value in a command: a longer one is no name.
const maxName = 300

// harmless returns a value as it may stand in a command, or false if it may not.
// For the shell it is quoted. SQL and YAML are pasted into other tools, where no
// one quoting is safe everywhere; there only names of harmless characters pass.
func harmless(s string, in Language) (string, bool) {
	if s == "" || len(s) > maxName {
		return "", false
	}
	switch in {
	case SQL:
		return s, sqlName(s)
	case YAML:
		return yamlName(s)
	}
	if oneLine(s) != s || strings.HasPrefix(s, "-") {
		return "", false // a name with control characters is no name that somebody meant
	}
	return incident.Quote(s), true
}

// ownerLine is the name of a lock's owner with the quotes that a thread dump
// writes around it: the bare name is found in longer ones too.
func (c *Case) ownerLine() string {
	for _, f := range c.of(incident.LockConvoy) {
		if owner := f.Names["owner"]; owner != "" {
			text, _ := harmless(`"`+owner+`"`, Shell)
			return text
		}
	}
	return ""
}

// sqlName reports whether a value is a number or a plain, perhaps qualified,
// identifier.
func sqlName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !letterOrDigit(c) && c != '_' && c != '.' {
			return false
		}
	}
	return s != "" && s[0] != '.'
}

func letterOrDigit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// yamlName returns a name as a YAML scalar: in single quotes, which a shell
// would not look into either, if it is more than plain.
func yamlName(s string) (string, bool) {
	plain := true
	if strings.HasPrefix(s, "-") {
		return "", false
	}
	for _, r := range s {
		switch {
		case r < 0x80 && letterOrDigit(byte(r)), r == '_', r == '.', r == '/':
		case r == '-', r == '$', r == ':', r == '@', unicode.IsLetter(r), unicode.IsDigit(r):
			plain = false
		default:
			return "", false
		}
	}
	if plain && s != "" && (s[0] < '0' || s[0] > '9') {
		return s, true
	}
	return "'" + s + "'", s != ""
}

// oneLine makes a value fit for a sentence: one line, nothing that hides.
func oneLine(s string) string {
	return document.Clip(strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))), maxName)
}
