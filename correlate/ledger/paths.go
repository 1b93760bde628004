package ledger

// pathTree sums calls by the chain of edges that led to them. Pooled over paths,
// the product of ratios would not telescope.
type pathTree struct {
	nodes []pathNode
	ids   map[pathKey]int32
	max   int
}

type pathKey struct {
	parent int32
	edge   edgeKey
}

type pathNode struct {
	parent          int32
	root            int32 // the first edge of the path; itself for that one
	edge            edgeKey
	depth           int
	calls, attempts float64
	slots           float64 // calls with the retries above folded away
	requests        float64 // calls that came from outside
	stacked         int64   // of a root: traces in which retries multiply
	leaf            bool
}

// beyond is the node of all paths past the cap.
const beyond = 1

// newPathTree makes a tree whose node 0 is the world outside.
func newPathTree(limit int) *pathTree {
	return &pathTree{nodes: []pathNode{{parent: -1}, {parent: -1, root: beyond}}, ids: map[pathKey]int32{}, max: limit}
}

// child is the node of an edge called on a path.
func (p *pathTree) child(parent int32, e edgeKey, l *Ledger) int32 {
	if parent == beyond {
		return beyond
	}
	k := pathKey{parent, e}
	if id, ok := p.ids[k]; ok {
		return id
	}
	if len(p.nodes) >= p.max || p.nodes[parent].depth >= maxLayers {
		l.lose(LostPaths, 1)
		return beyond
	}
	id := int32(len(p.nodes))
	p.nodes[parent].leaf = false
	root := p.nodes[parent].root
	if parent == 0 {
		root = id
	}
	p.nodes = append(p.nodes, pathNode{parent: parent, root: root, edge: e, depth: p.nodes[parent].depth + 1, leaf: true})
	p.ids[k] = id
	return id
}

func (p *pathTree) add(c *call, parent int32) {
	if c.path > 0 {
		n := &p.nodes[c.path]
		n.calls += c.weight * float64(c.calls)
		n.attempts += c.weight * float64(c.attempts)
		if parent == 0 {
			n.requests += c.weight * float64(c.calls)
		}
	}
}
