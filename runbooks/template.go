package runbooks

import (
	"strings"

	"github.com/firebreak-io/firebreak/incident"
)

// part is a piece of a template: literal text, or a field.
//
//	{method}                   of the kind that names it best
//	{retry.amplified/method}   of a finding of this kind
//	{method|the method}        words to use if it is not known
//	{{                         a brace
type part struct {
	literal string
	kind    incident.Kind
	field   string
	instead string
	has     bool   // instead was given
	source  string // as written; empty for literal text
}

// parseTemplate takes a text apart. A field that is not well formed comes with
// its source and no name.
func parseTemplate(s string) []part {
	var parts []part
	add := func(literal string) {
		if literal == "" {
			return
		}
		if n := len(parts); n > 0 && parts[n-1].source == "" {
			parts[n-1].literal += literal
			return
		}
		parts = append(parts, part{literal: literal})
	}
	for {
		i := strings.IndexByte(s, '{')
		if i < 0 {
			add(s)
			return parts
		}
		add(s[:i])
		if strings.HasPrefix(s[i:], "{{") {
			add("{")
			s = s[i+2:]
			continue
		}
		end := strings.IndexByte(s[i:], '}')
		if end < 0 {
			return append(parts, part{source: s[i:]})
		}
		parts = append(parts, fieldOf(s[i:i+end+1]))
		s = s[i+end+1:]
	}
}

func fieldOf(source string) part {
	p := part{source: source}
	name := source[1 : len(source)-1]
	if i := strings.IndexByte(name, '|'); i >= 0 {
		p.instead, p.has = name[i+1:], true
		name = name[:i]
	}
	if i := strings.IndexByte(name, '/'); i >= 0 {
		p.kind, name = incident.Kind(name[:i]), name[i+1:]
	}
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.' && r != '_' {
			return part{source: source}
		}
	}
	p.field = name
	return p
}

// lookup finds the value of a field; false if nobody knows it.
type lookup func(part) (value, bool)

// value is what a field is filled with.
type value struct {
	text string
	made bool // by this package: safe in its language, with lines of its own
}

// fillWords fills a sentence. It returns false if a field is not known and no
// words were given to use instead.
func fillWords(s string, of lookup) (string, bool) {
	return fill(s, of, func(v value) (string, bool) {
		text := oneLine(v.text)
		return text, text != ""
	})
}

// fillCommand fills a command, making each value harmless in its language.
func fillCommand(s string, in Language, of lookup) (string, bool) {
	return fill(s, of, func(v value) (string, bool) {
		if v.made {
			return v.text, v.text != ""
		}
		return harmless(v.text, in)
	})
}

func fill(s string, of lookup, shown func(value) (string, bool)) (string, bool) {
	var b strings.Builder
	for _, p := range parseTemplate(s) {
		if p.source == "" {
			b.WriteString(p.literal)
			continue
		}
		text, ok := "", false
		if v, found := of(p); found {
			text, ok = shown(v)
		}
		switch {
		case ok:
			b.WriteString(text)
		case p.has:
			b.WriteString(p.instead)
		default:
			return "", false
		}
	}
	return b.String(), true
}
