package main

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/lang"
)

// said is what the configuration is, key by key, and what its sources match now,
// as --check shows it.
func (c *config) said() string {
	var b strings.Builder
	values := map[string]string{}
	for _, s := range c.settings() {
		if s.value != nil {
			values[s.key] = s.value.String()
		}
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&b, "%s: %s\n", key, values[key])
	}
	c.saySources(&b)
	return b.String()
}

// saySources lists the sources, each with what there is of it.
func (c *config) saySources(b *strings.Builder) {
	t := tailConfig(c, nil, nil)
	for i := range t.Files {
		set := &t.Files[i]
		for _, pattern := range set.Paths {
			fmt.Fprintf(b, "logs[%d]: %s%s: %s\n", i, pattern, ofService(set.Service), matching(len(set.Matching(pattern))))
		}
	}
	for i := range t.Dumps {
		d := &t.Dumps[i]
		names, err := d.Matching()
		there := matching(len(names))
		if err != nil {
			there = unread(err)
		}
		what := d.Dir
		if len(d.Patterns) > 0 {
			what += " " + strings.Join(d.Patterns, ", ")
		}
		fmt.Fprintf(b, "dumps[%d]: %s%s: %s\n", i, what, ofService(d.Service), there)
	}
	for i, s := range c.Scrape {
		at := s.URL
		if u, err := url.Parse(at); err == nil {
			at = u.Redacted()
		}
		fmt.Fprintf(b, "scrape[%d]: %s%s: %s\n", i, at, ofService(s.Service), lang.Sprintf("%s, every %s", s.Kind, spanOfTime(s.Every)))
	}
}

func ofService(name string) string {
	if name == "" {
		return ""
	}
	return lang.Sprintf(" of %s", name)
}

func matching(n int) string {
	switch n {
	case 0:
		return lang.T("no file matches now")
	case 1:
		return lang.T("1 file matches now")
	}
	return lang.Sprintf("%d files match now", n)
}
