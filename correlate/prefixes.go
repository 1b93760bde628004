package correlate

import "strings"

// prefixes finds the first rule whose prefix a function name begins with. Rules
// are kept by the first two elements of their prefix, so that a look-up compares
// a few strings however long the table is.
type prefixes[T any] struct {
	by map[string][]entry[T]
}

type entry[T any] struct {
	prefix string
	value  T
}

// add appends rules; among the rules of one package earlier ones win, and those
// that name two elements or more win over those that name one.
func (p *prefixes[T]) add(value T, list string) {
	if p.by == nil {
		p.by = map[string][]entry[T]{}
	}
	for _, prefix := range strings.Fields(list) {
		k := packageKey(prefix)
		p.by[k] = append(p.by[k], entry[T]{prefix, value})
	}
}

// find looks a function up.
func (p *prefixes[T]) find(fn string) (value T, ok bool) {
	e, ok := p.match(fn)
	return e.value, ok
}

func (p *prefixes[T]) match(fn string) (found entry[T], ok bool) {
	k := packageKey(fn)
	for {
		for _, e := range p.by[k] {
			if strings.HasPrefix(fn, e.prefix) {
				return e, true
			}
		}
		i := strings.IndexByte(k, '.')
		if i < 0 {
			return found, false
		}
		k = k[:i]
	}
}

// packageKey is the first two complete elements of a dotted name: what stands
// before its second dot, or before its only one.
func packageKey(name string) string {
	i := strings.IndexByte(name, '.')
	if i < 0 {
		return name
	}
	if j := strings.IndexByte(name[i+1:], '.'); j >= 0 {
		return name[:i+1+j]
	}
	return name[:i]
}

func newPrefixes(rules []leafRule) *prefixes[leaf] {
	p := &prefixes[leaf]{}
	for _, r := range rules {
		p.add(r.leaf, r.prefixes)
	}
	return p
}
