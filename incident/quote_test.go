package incident

import (
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "''",
		"plain-name_1.2":           "plain-name_1.2",
		"com.acme.Sku":             "com.acme.Sku",
		"10.20.1.21:20880":         "10.20.1.21:20880",
		"a b":                      "'a b'",
		"it's":                     `'it'\''s'`,
		"$(id)":                    "'$(id)'",
		"`id`":                     "'`id`'",
		"a;b|c&d>e<f":              "'a;b|c&d>e<f'",
		"*":                        "'*'",
		"~root":                    "'~root'",
		"!!":                       "'!!'",
		"#c":                       "'#c'",
		"a=b":                      "'a=b'",
		"-rf":                      "./-rf",
		"--output=/etc/passwd":     "'./--output=/etc/passwd'",
		"a\nrm -rf /\n":            "'arm -rf /'",
		"\x1b[31mred":              "'[31mred'",
		"\u202egpj":                "gpj",
		"a\x00b":                   "ab",
		"\xff'":                    `''\'''`,
		"支付":                       "'支付'",
		"\x00-n":                   "./-n",
		"{a,b}":                    "'{a,b}'",
		`back\slash`:               `'back\slash'`,
		"com.acme.Sku$Inner.do(I)": "'com.acme.Sku$Inner.do(I)'",
	} {
		if got := Quote(in); got != want {
			t.Errorf("Quote(%q) = %s, want %s", in, got, want)
		}
	}
}

// TestQuoteInAShell lets a real shell read hostile names.
func TestQuoteInAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	for _, name := range []string{hostile, "$(id)", "`id`", "a'b\"c", "'; id; '", "a\\", "~", "*", "{a,b}", "a b  c", "!x", "\\'", "%s%n"} {
		out, err := exec.Command(sh, "-c", "printf '%s' "+Quote(name)).Output()
		if err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if want := unquoted(name); string(out) != want {
			t.Errorf("the shell read %q as %q, want %q", name, out, want)
		}
	}
}

// unquoted is what Quote promises the shell will read.
func unquoted(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r == utf8.RuneError || hides(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}
