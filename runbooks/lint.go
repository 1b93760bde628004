package runbooks

import (
	"slices"

	"github.com/firebreak-io/firebreak/document"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// Lint returns everything that makes a runbook contradict itself: names missing
// or used twice, answers that lead nowhere, steps that nothing leads to, loops
// without an exit, questions that no evidence can answer, fields that no
// finding has. Unknown kinds, labels and keys were refused when it was parsed.
func (b *Book) Lint() document.Problems {
	l := linter{book: b, ids: map[string]*Step{}}
	l.names()
	for i := range b.Steps {
		l.step(&b.Steps[i])
	}
	l.ways()
	for i := range b.Actions {
		l.template(&b.Actions[i], nil)
	}
	return l.problems.Sorted()
}

type linter struct {
	book     *Book
	ids      map[string]*Step
	problems document.Problems
}

func (l *linter) complain(at document.Place, format string, args ...any) {
	l.problems = append(l.problems, l.book.file.Problem(at, format, args...))
}

func (l *linter) names() {
	b := l.book
	if !plainName(b.Name) {
		l.complain(b.at, "a runbook needs a name of lower-case letters, digits and dashes, not %q", b.Name)
	}
	if len(b.Steps) == 0 {
		l.complain(b.at, "a runbook needs steps")
	}
	for i := range b.Steps {
		s := &b.Steps[i]
		switch {
		case !plainName(s.ID):
			l.complain(s.at, "a step needs an id of lower-case letters, digits and dashes, not %q", s.ID)
		case s.ID == endWord:
			l.complain(s.at, "%q means the end of a walk: name the step otherwise", endWord)
		case l.ids[s.ID] != nil:
			l.complain(s.at, "step %q stands on line %d already", s.ID, l.ids[s.ID].at.Line)
		default:
			l.ids[s.ID] = s
		}
	}
}

func plainName(s string) bool {
	for _, r := range s {
		if r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && s[0] != '-'
}

func (l *linter) step(s *Step) {
	if s.Ask == "" {
		l.complain(s.at, "step %q asks nothing", s.ID)
	}
	switch {
	case s.ByHand && (len(s.Yes) > 0 || len(s.No) > 0 || s.DecidedBy != ByPresence):
		l.complain(s.at, "step %q is answered by hand, so kinds of findings cannot answer it", s.ID)
	case !s.ByHand && len(s.Yes) == 0 && len(s.No) == 0:
		l.complain(s.at, "step %q has no answers: give kinds under yes or no, or say by_hand: true", s.ID)
	}
	for _, k := range s.Yes {
		if slices.Contains(s.No, k) {
			l.complain(s.at, "step %q takes %s for yes and for no", s.ID, k)
		}
	}
	for _, a := range answers {
		next, ok := s.Next[a]
		switch {
		case !ok:
			l.complain(s.at, "step %q does not say where %q leads", s.ID, a)
		case next.Then != "" && l.ids[next.Then] == nil:
			l.complain(next.at, "step %q leads to an unknown step %q%s", s.ID, next.Then, document.Nearest(next.Then, keysOf(l.ids)))
		}
	}
	if s.DecidedBy == ByVerdict && s.Next[incident.Yes].Conclude == "" {
		l.complain(s.at, "step %q is decided by the verdict, so yes must conclude a label", s.ID)
	}
	for i := range s.Actions {
		l.template(&s.Actions[i], s)
	}
}

// ways checks that every step can be reached, that an end can be reached from
// it, and that no way ends without a conclusion.
func (l *linter) ways() {
	if len(l.book.Steps) == 0 {
		return
	}
	reached := l.reach()
	exits := l.withExit()
	for i := range l.book.Steps {
		s := &l.book.Steps[i]
		if l.ids[s.ID] != s {
			continue // complained about already
		}
		if !reached[s.ID] {
			l.complain(s.at, "no answer leads to step %q", s.ID)
		}
		if !exits[s.ID] {
			l.complain(s.at, "from step %q no answers lead to an end: a loop without an exit", s.ID)
		}
	}
}

// reach returns the steps that a walk can come to, and complains about ways
// that end without a label.
func (l *linter) reach() map[string]bool {
	type visit struct {
		id      string
		settled bool // a label has been concluded on the way
	}
	reached, seen, open := map[string]bool{}, map[visit]bool{}, map[string]bool{}
	queue := []visit{{l.book.Steps[0].ID, false}}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		s := l.ids[v.id]
		if seen[v] || s == nil {
			continue
		}
		seen[v], reached[v.id] = true, true
		for _, a := range answers {
			next, ok := s.Next[a]
			settled := v.settled || next.Conclude != ""
			switch {
			case !ok:
			case next.Then != "":
				queue = append(queue, visit{next.Then, settled})
			case !settled && !open[s.ID]:
				open[s.ID] = true
				l.complain(next.at, "step %q can end the walk without a label: conclude one", s.ID)
			}
		}
	}
	return reached
}

// withExit returns the steps from which an end can be reached. What leads
// nowhere is a problem of its own and counts as an end.
func (l *linter) withExit() map[string]bool {
	exits := map[string]bool{}
	for changed := true; changed; {
		changed = false
		for id, s := range l.ids {
			exit := len(s.Next) == 0
			for _, next := range s.Next {
				exit = exit || next.Then == "" || l.ids[next.Then] == nil || exits[next.Then]
			}
			if exit && !exits[id] {
				exits[id], changed = true, true
			}
		}
	}
	return exits
}

func (l *linter) template(t *Template, s *Step) {
	if t.Phase == "" {
		l.complain(t.at, "an action needs a phase: one of %v", phaseNames())
	}
	if t.What == "" {
		l.complain(t.at, "an action needs to say what to do")
	}
	if s == nil && len(t.When.Answers) > 0 {
		l.complain(t.at, "an action that stands under no step has no answer to go by")
	}
	check := func(text string, in Language) {
		for _, p := range parseTemplate(text) {
			if why := wrong(p, t, in); why != "" {
				l.complain(l.book.file.Find(t.at, p.source), "%s", why)
			}
		}
	}
	check(t.Command, t.Language)
	if t.Language == Shell {
		if source := quotedField(t.Command); source != "" {
			l.complain(l.book.file.Find(t.at, source), "field %s stands in quotes: it brings its own", source)
		}
	}
	for _, text := range slices.Concat([]string{t.What}, t.Why, t.Risk) {
		check(text, "")
	}
}

// wrong says what is wrong with a field of a text in a language; the language
// of sentences is empty.
func wrong(p part, t *Template, in Language) string {
	switch {
	case p.source == "":
		return ""
	case p.field == "":
		return lang.T("a field is {name}, {kind/name} or {name|words instead}; write {{ for a brace")
	case p.kind != "" && !known(kindNames(), string(p.kind)):
		return lang.Sprintf("unknown kind of finding %q%s", string(p.kind), document.Nearest(string(p.kind), kindNames()))
	case p.kind != "" && !provides(p.kind, p.field):
		return lang.Sprintf("no finding of kind %s has a field %q%s", p.kind, p.field, document.Nearest(p.field, fieldNames()))
	case p.kind == "" && !anyProvides(p.field) && (t.ForEach == "" || !provides(t.ForEach, p.field)):
		return lang.Sprintf("no finding has a field %q%s", p.field, document.Nearest(p.field, fieldNames()))
	}
	if language, ok := made[p.field]; ok && p.kind == "" && language != in {
		use := string(language)
		if use == "" {
			use = lang.T("sentences")
		}
		return lang.Sprintf("field %q cannot stand here: it is for %s", p.field, use)
	}
	return ""
}

// quotedField returns a field of a shell command that stands in quotes, where
// the quoting of its value would end them; empty if there is none.
func quotedField(command string) string {
	quote := rune(0)
	for _, p := range parseTemplate(command) {
		if p.source != "" {
			if quote != 0 {
				return p.source
			}
			continue
		}
		escaped := false
		for _, r := range p.literal {
			switch {
			case escaped:
				escaped = false
			case r == '\\' && quote != '\'':
				escaped = true
			case quote == 0 && (r == '\'' || r == '"'):
				quote = r
			case r == quote:
				quote = 0
			}
		}
	}
	return ""
}
