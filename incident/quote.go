package incident

import "strings"

// Quote returns s as one word of a POSIX shell, for filling a name that was
// read from a log into a command that somebody will paste. Plain names stay as
// they are. Control characters, which could run a command when pasted or
// disguise it, are removed rather than quoted, and so are those that reorder
// text. Inside an option's value ("--pid=" + Quote(x)) it is as safe as alone;
// alone, a leading dash is protected with "./".
func Quote(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r == '\uFFFD' || hides(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if strings.HasPrefix(s, "-") {
		s = "./" + s
	}
	if s != "" && strings.IndexFunc(s, needsQuote) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// needsQuote reports whether a shell may read a rune as more than itself.
func needsQuote(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("_-./:@%+,", r)
}
