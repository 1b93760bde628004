// Package cited checks, for tests, that a report on paper says where each of its
// numbers comes from.
package cited

import (
	"regexp"
	"strings"
)

var (
	citation  = regexp.MustCompile(`\[[^][]*[^][ ]\]`)
	dateTimes = regexp.MustCompile(`\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|UTC[+-]\d+(:\d\d)?`)
	ids       = regexp.MustCompile(`\bf\d+\b|^\s*\d+\. |\bstep \d+ of \d+\b`)
)

// Bare returns a text without what may have digits and is not a number that
// was observed: citations, times, finding IDs and list numbers.
func Bare(s string) string {
	return ids.ReplaceAllString(dateTimes.ReplaceAllString(citation.ReplaceAllString(s, ""), ""), "")
}

// Has reports whether a text has a citation.
func Has(s string) bool { return citation.MatchString(s) }

// Uncited returns the paragraphs of a text report (a line and those indented
// more deeply after it) that have a number and yet no citation. Lines for which
// skip is true, such as commands, are passed over; so is what follows a line
// beginning with "configVersion:" and is indented as commands are.
func Uncited(report string, skip func(line string) bool) []string {
	var list []string
	for _, p := range paragraphs(report, skip) {
		if strings.ContainsAny(Bare(p), "0123456789") && !Has(p) {
			list = append(list, p)
		}
	}
	return list
}

func paragraphs(report string, skip func(string) bool) []string {
	var list []string
	depth := 0
	command := false
	for line := range strings.Lines(report) {
		trimmed := strings.TrimLeft(line, " ")
		indent := len(line) - len(trimmed)
		if strings.HasPrefix(trimmed, "firebreak ") && strings.Contains(line, "report of") {
			continue // the footer: a version and a time
		}
		if skip(line) || command && indent >= 6 || strings.HasPrefix(trimmed, "configVersion:") {
			command = strings.HasPrefix(trimmed, "configVersion:") || command
			continue
		}
		command = false
		if len(list) == 0 || trimmed == "\n" || indent <= depth && indent > 0 {
			list = append(list, "")
			depth = indent
		}
		list[len(list)-1] += line
	}
	return list
}
