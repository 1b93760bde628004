package incident

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/firebreak-io/firebreak/lang"
)

// IsReport reports whether an input that begins with head is a report that
// firebreak wrote, in any of its forms: by the schema of the JSON form, and in
// the others by their first words, a label and what its certainty means.
func IsReport(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	if rest, ok := bytes.CutPrefix(head, []byte("{")); ok {
		rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(`"schema"`))
		return ok && bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n:"), []byte(`"firebreak.report/`))
	}
	text := string(head[:min(len(head), 512)])
	text = collapse(colours.ReplaceAllString(text, "")) // a narrow screen breaks the lines
	return begins(text) || hasWide(text) && beginsInChinese(text)
}

// begins reports whether a text begins as a report in English does.
func begins(text string) bool {
	if strings.HasPrefix(text, severalIncidents) || strings.HasPrefix(text, "? "+nothingToJudge) ||
		strings.HasPrefix(text, "## Nothing to judge No incident") {
		return true
	}
	verdict, means, ok := strings.Cut(text, " certainty (")
	if !ok || len(verdict) > 60 {
		return false
	}
	verdict = strings.ToLower(verdict) + " "
	for _, c := range []Certainty{High, Medium, Low} {
		if !strings.HasPrefix(means, c.means()+")") || !strings.HasSuffix(verdict, " "+string(c)+" ") {
			continue
		}
		for _, l := range Labels() {
			if strings.Contains(verdict, " "+string(l)+" ") {
				return true
			}
		}
	}
	return false
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// beginsInChinese is begins for a report in Chinese, whose lines may be broken
// between any two characters.
func beginsInChinese(text string) bool {
	solid := func(s string) string { return strings.ReplaceAll(s, " ", "") }
	said := func(s string) string { return solid(lang.In(lang.Chinese, s)) }
	text = solid(text)
	if strings.HasPrefix(text, said(severalIncidents)) || strings.HasPrefix(text, "?"+said(nothingToJudge)) ||
		strings.HasPrefix(text, "##"+said("Nothing to judge")) {
		return true
	}
	for _, c := range []Certainty{High, Medium, Low} {
		verdict, _, ok := strings.Cut(text, said(c.means()))
		if !ok || len(verdict) > 120 || !strings.Contains(verdict, string(c)) {
			continue
		}
		verdict = strings.ToLower(verdict)
		for _, l := range Labels() {
			if strings.Contains(verdict, string(l)+strings.ToLower(said(string(l)))) {
				return true
			}
		}
	}
	return false
}
