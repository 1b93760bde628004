package incident

import (
	"github.com/firebreak-io/firebreak/lang"
)

// maxSources is how many sources a report for people lists; JSON has them all.
const maxSources = 60

// shownSources chooses the sources that a person is shown, in their order: those
// with evidence before those with problems before the others; and says in a
// sentence what the rest is, empty if there is none.
func shownSources(all []Source) (shown []Source, more string) {
	if len(all) <= maxSources {
		return all, ""
	}
	rank := func(s *Source) int {
		switch {
		case s.Records > 0:
			return 0
		case len(s.Problems) > 0:
			return 1
		}
		return 2
	}
	var of, room [3]int
	for i := range all {
		of[rank(&all[i])]++
	}
	left := maxSources
	for i, n := range of {
		room[i] = min(n, left)
		left -= room[i]
	}
	rest, troubled := 0, 0
	var bytes int64
	for i := range all {
		k := rank(&all[i])
		if room[k] > 0 {
			room[k]--
			shown = append(shown, all[i])
			continue
		}
		rest++
		bytes += all[i].Bytes
		if len(all[i].Problems) > 0 {
			troubled++
		}
	}
	more = lang.Sprintf("and %s more, %s", grouped(rest), byteSize(bytes))
	if troubled > 0 {
		more += lang.Sprintf(", %d of them with problems", troubled)
	}
	return shown, lang.Sprintf("%s; --format json lists them all", more)
}
