package incident

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds one text of a report, in bytes; the middle of a longer one is
// left out. Commands are never cut: half a command is worse than none.
const maxText = 8 << 10

// Sanitize makes every text of a report safe to show: what it says was read
// from files that anybody may have written. Control characters become visible
// ("␛", "␊"), characters that reorder or hide text become their escapes
// ("\u202e"), bytes that are not UTF-8 become "\xff". Only commands keep
// their newlines. The writers of this package do the same by themselves; it is
// exported for screens. Doing it twice changes nothing.
func Sanitize(r *Report) {
	*r = *sanitized(r)
}

func sanitized(r *Report) *Report {
	return rewrite(r, func(field, s string) string {
		if isCommand(field) {
			lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
			for i, line := range lines {
				lines[i] = Visible(line)
			}
			return strings.Join(lines, "\n")
		}
		return cutMiddle(Visible(s), maxText)
	})
}

func isCommand(field string) bool { return field == "Action.Command" || field == "Missing.Command" }

// Visible returns s with every character that a terminal, a browser or an eye
// would not take as plain text replaced by something that can be seen.
func Visible(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\t':
			b.WriteByte(' ')
		case r < 0x20:
			b.WriteRune(0x2400 + r) // the control pictures
		case r == 0x7f:
			b.WriteRune('␡')
		case hides(r):
			if r > 0xffff {
				fmt.Fprintf(&b, `\U%08x`, r)
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// hides reports whether a rune controls how others are shown: C1 controls,
// format characters (bidi, zero width, tags), line and paragraph separators.
func hides(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Cs) ||
		r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef || // variation selectors
		r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 // fillers: letters that show nothing
}

// cutMiddle shortens s to about n bytes at rune borders.
func cutMiddle(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head, tail := n*2/3-8, len(s)-n/3
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + " … " + s[tail:]
}
