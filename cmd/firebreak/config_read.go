package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v4"

	"github.com/firebreak-io/firebreak/document"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// maxConfig bounds a configuration file.
const maxConfig = 1 << 20

// configReader fills a configuration from the file, the environment and the
// flags, the later over the earlier, and remembers where each key came from so
// that what is wrong with it can be shown.
type configReader struct {
	config   *config
	file     *document.File
	problems document.Problems
	origins  map[string]func(text string) document.Problem // by key
	told     map[string]bool                               // keys of which something else was said: misspelt, or no value
}

// configOrigins are where a configuration comes from.
type configOrigins struct {
	file     string // empty: none
	env      func(string) string
	environ  func() []string // NAME=value; may be nil
	flags    *pflag.FlagSet
	checking bool // by --check
}

// readConfig reads the configuration of serve.
func readConfig(from configOrigins) (*config, error) {
	name := from.file
	r := &configReader{config: defaultConfig(), origins: map[string]func(string) document.Problem{}, told: map[string]bool{}}
	if name != "" {
		text, err := os.ReadFile(name)
		if err == nil && len(text) > maxConfig {
			err = lang.Errorf("%s is larger than 1 MiB: no configuration", name)
		}
		if err != nil {
			return nil, failed(lang.Errorf("read the configuration: %w", err), insteadOf(name))
		}
		r.readFile(name, text)
	}
	r.readEnvironment(from.env)
	if from.environ != nil {
		r.unknownVariables(from.environ())
	}
	r.readFlags(from.flags)
	r.config.deriveLimits(func(key string) bool { return r.origins[key] != nil })
	for _, bad := range r.config.Validate() {
		r.invalid(bad)
	}
	if len(r.problems) == 0 {
		return r.config, nil
	}
	r.problems = r.problems.Sorted()
	return nil, &usageError{r.problems.Error(), r.try(name, from.checking)}
}

// try is what to type next when something is wrong.
func (r *configReader) try(name string, checking bool) string {
	if !checking && name != "" {
		return "firebreak serve --check --config " + incident.Quote(name)
	}
	for _, p := range r.problems {
		if p.File == name && p.Line > 0 {
			return fmt.Sprintf("${EDITOR:-vi} +%d %s", p.Line, incident.Quote(name))
		}
	}
	return "firebreak serve --help"
}

// insteadOf is what to type next when there is no such file.
func insteadOf(name string) string {
	const usual = "firebreak.yaml"
	if _, err := os.Stat(usual); err == nil && filepath.Clean(name) != usual {
		return "firebreak serve --config " + usual
	}
	return "ls -l " + incident.Quote(filepath.Dir(name))
}

// invalid notes what is wrong with a value where it came from.
func (r *configReader) invalid(bad invalid) {
	if r.told[bad.key] {
		return
	}
	at := r.origins[bad.key]
	for key := bad.key; at == nil && key != ""; at = r.origins[key] { // missing: its section will do
		key = key[:max(0, strings.LastIndexByte(key, '.'))]
	}
	if at == nil { // nothing set it
		name := bad.key
		for _, s := range r.config.settings() {
			if s.key == bad.key {
				name += " (--" + s.flagName() + ")"
			}
		}
		r.problems = append(r.problems, document.Problem{File: name, Text: bad.text})
		return
	}
	r.problems = append(r.problems, at(bad.text))
}

// readFlags takes the flags that were given.
func (r *configReader) readFlags(flags *pflag.FlagSet) {
	for _, s := range r.config.settings() {
		if s.value == nil {
			continue
		}
		if f := flags.Lookup(s.flagName()); f != nil && f.Changed {
			r.set(s, "--"+s.flagName(), f.Value.String())
		}
	}
}

// readEnvironment takes the variables that are set and not empty.
func (r *configReader) readEnvironment(env func(string) string) {
	for _, s := range r.config.settings() {
		if s.value == nil {
			continue
		}
		if text := env(s.variable()); text != "" {
			r.set(s, s.variable(), text)
		}
	}
}

// set takes a value that a flag or a variable gives.
func (r *configReader) set(s setting, from, text string) {
	origin := func(why string) document.Problem { return document.Problem{File: from, Text: why} }
	r.origins[s.key] = origin
	if err := s.value.Set(text); err != nil {
		r.told[s.key] = true
		r.problems = append(r.problems, origin(err.Error()))
	}
}

// readFile takes what the file says.
func (r *configReader) readFile(name string, text []byte) {
	r.file = document.NewFile(name, text)
	if !slices.ContainsFunc(r.file.Lines, func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "" && !strings.HasPrefix(line, "#")
	}) {
		return
	}
	root, problems := r.file.Load(text)
	r.problems = problems
	if root == nil || document.Real(root).Tag == "!!null" { // nothing in it
		return
	}
	r.section(root, "", "", r.config.settings())
}

func (r *configReader) complain(n *yaml.Node, format string, args ...any) {
	r.problems = append(r.problems, r.file.Problem(document.PlaceOf(n), format, args...))
}

// remember notes where the file sets a key.
func (r *configReader) remember(key string, n *yaml.Node) {
	r.origins[key] = func(why string) document.Problem { return r.file.Problem(document.PlaceOf(n), "%s", why) }
}

// section reads a mapping. The settings have keys that begin with prefix; what
// is remembered of them begins with at, which differs inside lists.
func (r *configReader) section(n *yaml.Node, at, prefix string, settings []setting) {
	n = document.Real(n)
	what := strings.TrimSuffix(at, ".")
	if what == "" {
		what = lang.T("the configuration")
	}
	if n.Kind != yaml.MappingNode {
		r.complain(n, "%s must be a mapping%s: %s", what, r.list(n, what), strings.Join(keysBelow(prefix, settings), ", "))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], document.Real(n.Content[i+1])
		known := keysBelow(prefix, settings)
		switch {
		case key.Kind != yaml.ScalarNode || !slices.Contains(known, key.Value):
			if meant := document.Closest(key.Value, known); meant != "" {
				r.told[at+meant] = true
			}
			r.complain(key, "%s has no key %q%s: it has %s", what, key.Value, document.Nearest(key.Value, known), strings.Join(known, ", "))
			continue
		case seen[key.Value]:
			r.complain(key, "key %q comes twice", key.Value)
			continue
		}
		seen[key.Value] = true
		if value.Tag == "!!null" { // named and left empty: the default
			continue
		}
		r.remember(at+key.Value, value)
		here := prefix + key.Value
		j := slices.IndexFunc(settings, func(s setting) bool { return s.key == here })
		switch {
		case j < 0:
			r.section(value, at+key.Value+".", here+".", settings)
		case settings[j].item != nil:
			r.items(value, at+key.Value, settings[j])
		default:
			r.value(value, at+key.Value, settings[j])
		}
	}
}

// list is a hint at the list that was meant, where a section is given as one.
func (r *configReader) list(n *yaml.Node, section string) string {
	if n.Kind != yaml.SequenceNode {
		return ""
	}
	var lists []string
	for _, s := range r.config.settings() {
		if s.item != nil {
			lists = append(lists, s.key)
		}
	}
	return document.Nearest(section, lists)
}

// keysBelow are the keys and sections right below a prefix, in order.
func keysBelow(prefix string, settings []setting) []string {
	var list []string
	for _, s := range settings {
		if rest, ok := strings.CutPrefix(s.key, prefix); ok {
			name, _, _ := strings.Cut(rest, ".")
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// items reads a list of mappings.
func (r *configReader) items(n *yaml.Node, key string, s setting) {
	if n.Kind != yaml.SequenceNode {
		r.complain(n, "%s must be a list", key)
		return
	}
	for i, c := range n.Content {
		at := key + "[" + strconv.Itoa(i) + "]"
		r.remember(at, c)
		r.section(c, at+".", "", s.item())
	}
}

// value reads one value.
func (r *configReader) value(n *yaml.Node, key string, s setting) {
	if list, ok := s.value.(textsValue); ok && n.Kind == yaml.SequenceNode {
		all := []string{}
		for _, c := range n.Content {
			if c = document.Real(c); c.Kind != yaml.ScalarNode || c.Tag == "!!null" {
				r.complain(c, "%s must be a list of texts", key)
				return
			}
			all = append(all, c.Value)
		}
		*list.to = all
		return
	} else if ok && n.Kind == yaml.ScalarNode {
		*list.to = []string{n.Value}
		return
	}
	if n.Kind != yaml.ScalarNode {
		r.complain(n, "%s must be one value, not a list or mapping", key)
		return
	}
	if err := s.value.Set(n.Value); err != nil {
		r.told[key] = true
		r.complain(n, "%s: %s", key, err.Error())
	}
}
