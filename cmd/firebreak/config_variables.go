package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/document"
	"github.com/firebreak-io/firebreak/lang"
)

// serviceLink matches what Kubernetes sets in each pod for a service such as
// firebreak-web.
var serviceLink = regexp.MustCompile(`_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT|PORT_\d+_\w+)$`)

// unknownVariables complains about variables that begin like those of a section
// and are none. Others are not for serve, or are made by Kubernetes.
func (r *configReader) unknownVariables(environ []string) {
	var known, sections []string
	for _, s := range r.config.settings() {
		if s.value == nil {
			continue
		}
		known = append(known, s.variable())
		if section, _, ok := strings.Cut(s.key, "."); ok {
			sections = append(sections, "FIREBREAK_"+strings.ToUpper(section)+"_")
		}
	}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if value == "" || slices.Contains(known, name) || serviceLink.MatchString(name) ||
			!slices.ContainsFunc(sections, func(s string) bool { return strings.HasPrefix(name, s) }) {
			continue
		}
		r.problems = append(r.problems, document.Problem{File: name, Text: lang.Sprintf("there is no such variable%s: firebreak serve --help and docs/serve.md list them", document.Nearest(name, known))})
	}
}
