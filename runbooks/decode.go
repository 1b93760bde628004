package runbooks

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/firebreak-io/firebreak/document"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// Parse reads one runbook. The error, if any, is a Problems with all that is
// wrong with its form; what it means is Lint's to judge.
func Parse(name string, text []byte) (*Book, error) {
	d := &decoder{file: document.NewFile(name, text)}
	root, problems := d.file.Load(text)
	d.problems = problems
	b := &Book{file: d.file, at: document.Place{Line: 1, Column: 1}}
	if root != nil {
		d.book(root, b)
	}
	if len(d.problems) > 0 {
		return nil, d.problems.Sorted()
	}
	return b, nil
}

// decoder turns nodes into a book, noting every problem and going on.
type decoder struct {
	file     *document.File
	problems document.Problems
}

func (d *decoder) complain(n *yaml.Node, format string, args ...any) {
	d.problems = append(d.problems, d.file.Problem(document.PlaceOf(n), format, args...))
}

// fields calls the function of each key of a mapping; a key that has none, or
// comes twice, is a problem.
func (d *decoder) fields(n *yaml.Node, what string, of map[string]func(*yaml.Node)) {
	n = document.Real(n)
	if n.Kind != yaml.MappingNode {
		d.complain(n, "%s must be a mapping", lang.T(what))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read := of[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || read == nil:
			d.complain(key, "%s has no key %q%s", lang.T(what), key.Value, document.Nearest(key.Value, keysOf(of)))
		case seen[key.Value]:
			d.complain(key, "key %q comes twice", key.Value)
		default:
			seen[key.Value] = true
			read(value)
		}
	}
}

func (d *decoder) text(n *yaml.Node) string {
	n = document.Real(n)
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		d.complain(n, "must be a text")
		return ""
	}
	return strings.TrimSpace(n.Value)
}

// list reads a text or a list of texts.
func (d *decoder) list(n *yaml.Node, each func(*yaml.Node, string)) {
	n = document.Real(n)
	if n.Kind != yaml.SequenceNode {
		each(n, d.text(n))
		return
	}
	for _, c := range n.Content {
		each(c, d.text(c))
	}
}

func (d *decoder) texts(n *yaml.Node) []string {
	var list []string
	d.list(n, func(_ *yaml.Node, s string) { list = append(list, s) })
	return list
}

// sequence reads a list of other things than texts.
func (d *decoder) sequence(n *yaml.Node, what string, each func(*yaml.Node)) {
	n = document.Real(n)
	if n.Kind != yaml.SequenceNode {
		d.complain(n, "%s must be a list", lang.T(what))
		return
	}
	for _, c := range n.Content {
		each(document.Real(c))
	}
}

func (d *decoder) kinds(n *yaml.Node) []incident.Kind {
	var list []incident.Kind
	d.list(n, func(at *yaml.Node, s string) {
		switch {
		case s == "":
		case !known(kindNames(), s):
			d.complain(at, "unknown kind of finding %q%s", s, document.Nearest(s, kindNames()))
		default:
			list = append(list, incident.Kind(s))
		}
	})
	return list
}

func (d *decoder) labels(n *yaml.Node) []incident.Label {
	var list []incident.Label
	d.list(n, func(at *yaml.Node, s string) {
		switch {
		case s == "":
		case !known(labelNames(), s):
			d.complain(at, "unknown label %q%s", s, document.Nearest(s, labelNames()))
		default:
			list = append(list, incident.Label(s))
		}
	})
	return list
}

// oneOf reads one of a few words.
func (d *decoder) oneOf(n *yaml.Node, what string, words ...string) string {
	s := d.text(n)
	if s != "" && !known(words, s) {
		d.complain(n, "%s is %s, not %q", lang.T(what), strings.Join(words, ", "), s)
	}
	return s
}

func (d *decoder) book(n *yaml.Node, b *Book) {
	d.fields(n, "a runbook", map[string]func(*yaml.Node){
		"name":  func(n *yaml.Node) { b.Name, b.at = d.text(n), document.PlaceOf(n) },
		"title": func(n *yaml.Node) { b.Title = d.text(n) },
		"about": func(n *yaml.Node) { b.About = d.text(n) },
		"steps": func(n *yaml.Node) {
			d.sequence(n, "steps", func(n *yaml.Node) { b.Steps = append(b.Steps, d.step(n)) })
		},
		"actions": func(n *yaml.Node) { b.Actions = d.templates(n) },
	})
}

func (d *decoder) step(n *yaml.Node) Step {
	s := Step{at: document.PlaceOf(n)}
	d.fields(n, "a step", map[string]func(*yaml.Node){
		"id":   func(n *yaml.Node) { s.ID, s.at = d.text(n), document.PlaceOf(n) },
		"ask":  func(n *yaml.Node) { s.Ask = d.text(n) },
		"body": func(n *yaml.Node) { s.Body = d.text(n) },
		"yes":  func(n *yaml.Node) { s.Yes = d.kinds(n) },
		"no":   func(n *yaml.Node) { s.No = d.kinds(n) },
		"show": func(n *yaml.Node) { s.Show = d.kinds(n) },
		"decided_by": func(n *yaml.Node) {
			s.DecidedBy = Decider(d.oneOf(n, "what a step is decided by", string(ByTrigger), string(ByChain), string(ByVerdict)))
		},
		"by_hand": func(n *yaml.Node) { s.ByHand = d.oneOf(n, "by_hand", "true", "false") == "true" },
		"next":    func(n *yaml.Node) { s.Next = d.nexts(n) },
		"actions": func(n *yaml.Node) { s.Actions = d.templates(n) },
	})
	return s
}

// nexts reads where each answer leads, or where all of them do.
func (d *decoder) nexts(n *yaml.Node) map[incident.Answer]Next {
	n = document.Real(n)
	all := map[incident.Answer]Next{}
	whatever := func(next Next) {
		for _, a := range answers {
			if _, ok := all[a]; !ok {
				all[a] = next
			}
		}
	}
	if n.Kind == yaml.ScalarNode || has(n, "conclude") {
		whatever(d.next(n))
		return all
	}
	var otherwise *Next
	d.fields(n, "next", map[string]func(*yaml.Node){
		"yes":     func(n *yaml.Node) { all[incident.Yes] = d.next(n) },
		"no":      func(n *yaml.Node) { all[incident.No] = d.next(n) },
		"unknown": func(n *yaml.Node) { all[incident.DontKnow] = d.next(n) },
		"else":    func(n *yaml.Node) { x := d.next(n); otherwise = &x },
	})
	if otherwise != nil {
		whatever(*otherwise)
	}
	return all
}

// endWord is what stands for the end of a walk.
const endWord = "end"

// next reads a step's ID, "end", or {conclude: LABEL, then: STEP}.
func (d *decoder) next(n *yaml.Node) Next {
	n = document.Real(n)
	next := Next{at: document.PlaceOf(n)}
	step := func(n *yaml.Node) {
		next.Then, next.at = d.text(n), document.PlaceOf(n)
		if next.Then == endWord {
			next.Then = ""
		}
	}
	if n.Kind == yaml.ScalarNode {
		step(n)
		return next
	}
	d.fields(n, "where an answer leads", map[string]func(*yaml.Node){
		"conclude": func(n *yaml.Node) { next.Conclude = first(d.labels(n)) },
		"then":     step,
	})
	return next
}

func has(n *yaml.Node, key string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Kind == yaml.MappingNode
		}
	}
	return false
}

func (d *decoder) templates(n *yaml.Node) []Template {
	var list []Template
	d.sequence(n, "actions", func(n *yaml.Node) { list = append(list, d.template(n)) })
	return list
}

func (d *decoder) template(n *yaml.Node) Template {
	t := Template{at: document.PlaceOf(n), Language: Shell}
	d.fields(n, "an action", map[string]func(*yaml.Node){
		"phase":    func(n *yaml.Node) { t.Phase = Phase(d.oneOf(n, "a phase", phaseNames()...)) },
		"when":     func(n *yaml.Node) { t.When = d.when(n) },
		"for_each": func(n *yaml.Node) { t.ForEach = first(d.kinds(n)) },
		"what":     func(n *yaml.Node) { t.What = d.text(n) },
		"command":  func(n *yaml.Node) { t.Command = d.text(n) },
		"language": func(n *yaml.Node) {
			t.Language = Language(d.oneOf(n, "a command's language", string(Shell), string(SQL), string(YAML)))
		},
		"why":   func(n *yaml.Node) { t.Why = d.texts(n) },
		"risk":  func(n *yaml.Node) { t.Risk = d.texts(n) },
		"label": func(n *yaml.Node) { t.Label = first(d.labels(n)) },
	})
	return t
}

func (d *decoder) when(n *yaml.Node) When {
	var w When
	d.fields(n, "when", map[string]func(*yaml.Node){
		"answer": func(n *yaml.Node) {
			d.list(n, func(at *yaml.Node, _ string) {
				w.Answers = append(w.Answers, incident.Answer(d.oneOf(at, "an answer", "yes", "no", "unknown")))
			})
		},
		"label":    func(n *yaml.Node) { w.Labels = d.labels(n) },
		"verdict":  func(n *yaml.Node) { w.Verdict = d.labels(n) },
		"kind":     func(n *yaml.Node) { w.Kinds = d.kinds(n) },
		"not":      func(n *yaml.Node) { w.Not = d.kinds(n) },
		"tech":     func(n *yaml.Node) { w.Tech = d.techs(n) },
		"not_tech": func(n *yaml.Node) { w.NotTech = d.techs(n) },
	})
	return w
}

func (d *decoder) techs(n *yaml.Node) []Tech {
	var list []Tech
	d.list(n, func(at *yaml.Node, _ string) { list = append(list, Tech(d.oneOf(at, "a technology", techs...))) })
	return list
}
