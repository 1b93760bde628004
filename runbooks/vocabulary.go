package runbooks

import (
	"maps"
	"slices"

	"github.com/firebreak-io/firebreak/incident"
)

func known(words []string, word string) bool { return slices.Contains(words, word) }

func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func first[T any](list []T) T {
	var none T
	if len(list) == 0 {
		return none
	}
	return list[0]
}

func kindNames() []string {
	var list []string
	for _, k := range incident.Kinds() {
		list = append(list, string(k.Kind))
	}
	return list
}

func labelNames() []string {
	var list []string
	for _, l := range incident.Labels() {
		list = append(list, string(l))
	}
	return list
}

func phaseNames() []string {
	var list []string
	for _, p := range phases {
		list = append(list, string(p))
	}
	return list
}
