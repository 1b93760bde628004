package ledger

import (
	"cmp"
	"slices"
)

// Entry is where requests come in: the first call of their traces, by what was
// called. Calls whose ancestry was not seen whole are in none.
type Entry struct {
	Callee, Protocol, Service, Method string
	Rest                              bool    // all of what was on paths beyond the cap: nothing else is known of it
	Requests                          float64 // the first calls
	Stacked                           int64   // traces in which a call was retried inside an attempt of a retried call
	Reach                             []Reach // by callee's name
}

// Reach is what requests of one entry asked of one service, its own included.
// Attempts / Intended is by how much retries multiplied on the way there.
type Reach struct {
	Callee             string
	Attempts, Intended float64 // Intended are calls with the retries above folded away
}

// reachKey names an entry as its requests' first call does, whoever made it.
type reachKey struct {
	callee, op uint32
	nameless   int32 // the node, of those that are no calls
}

// writeEntries sums the tree of paths by where its requests came in. Stacked of
// traces whose ancestry was not seen whole stands by an entry without a name.
func (j *joiner) writeEntries(b *Book) {
	sums := map[reachKey]*Entry{}
	at := map[*Entry]map[uint32]int{}
	nodes := j.paths.nodes
	for i := range nodes {
		n := &nodes[i]
		root := &nodes[n.root]
		k := reachKey{root.edge.callee, root.edge.op, 0}
		if n.root <= beyond {
			k.nameless = n.root + 1
		}
		if n.attempts == 0 && n.slots == 0 && n.stacked == 0 {
			continue
		}
		e := sums[k]
		if e == nil {
			e = &Entry{Rest: n.root == beyond}
			if n.root > beyond {
				o := j.l.ops.keys[root.edge.op]
				e.Callee, e.Protocol, e.Service, e.Method = j.nameList[root.edge.callee], o.protocol, o.service, o.method
			}
			sums[k], at[e] = e, map[uint32]int{}
		}
		e.Stacked += n.stacked
		e.Requests += n.requests
		if i == 0 {
			continue
		}
		place, ok := at[e][n.edge.callee]
		if !ok {
			place = len(e.Reach)
			at[e][n.edge.callee] = place
			e.Reach = append(e.Reach, Reach{Callee: j.nameList[n.edge.callee]})
		}
		r := &e.Reach[place]
		r.Attempts += n.attempts
		r.Intended += n.slots
	}
	for _, e := range sums {
		slices.SortFunc(e.Reach, func(x, y Reach) int { return cmp.Compare(x.Callee, y.Callee) })
		b.Entries = append(b.Entries, *e)
	}
	slices.SortFunc(b.Entries, func(x, y Entry) int {
		return cmp.Or(cmp.Compare(y.Requests, x.Requests), cmp.Compare(x.Callee, y.Callee), cmp.Compare(x.Protocol, y.Protocol),
			cmp.Compare(x.Service, y.Service), cmp.Compare(x.Method, y.Method))
	})
}
