package parsers

import (
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

const maxEdges = 20_000

// edge notes whom the thread at hand waits for, where its header says so by id:
// such dumps have no deadlock section, but all of one moment.
func (d *javaDump) edge() {
	s := &d.stack
	if s.ID == "" || s.WaitsOn.OwnerID == "" || len(d.edges) >= maxEdges {
		return
	}
	d.edges[s.ID] = evidence.Held{
		Thread: s.Name,
		Lock:   strings.TrimSpace(s.WaitsOn.Class + " " + s.WaitsOn.ID),
		Owner:  s.WaitsOn.OwnerID,
	}
}

// ownCycles reports the cycles of the edges. They are found in a dump's own
// words, as the deadlock section is, so they count as reported.
func (d *javaDump) ownCycles() {
	if len(d.info.Deadlocks) > 0 || len(d.edges) < 2 {
		return
	}
	ids := make([]string, 0, len(d.edges))
	for id := range d.edges {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	done := map[string]int{} // which walk passed the thread first
	for walk, id := range ids {
		var path []string
		for at := id; ; at = d.edges[at].Owner {
			if _, waits := d.edges[at]; !waits {
				break
			}
			if first, seen := done[at]; seen {
				if first == walk {
					d.addCycle(path[slices.Index(path, at):])
				}
				break
			}
			done[at] = walk
			path = append(path, at)
		}
	}
}

func (d *javaDump) addCycle(ids []string) {
	if len(ids) < 2 || len(d.info.Deadlocks) >= 100 {
		return
	}
	cycle := make([]evidence.Held, len(ids))
	for i, id := range ids {
		cycle[i] = d.edges[id]
		cycle[i].Owner = d.edges[ids[(i+1)%len(ids)]].Thread
	}
	d.info.Deadlocks = append(d.info.Deadlocks, cycle)
}
