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
	edge            edgeKey
	depth           int
	calls, attempts float64
	leaf            bool
}

// beyond is the node of all paths past the cap.
const beyond = 1

// newPathTree makes a tree whose node 0 is the world outside.
func newPathTree(limit int) *pathTree {
	return &pathTree{nodes: []pathNode{{parent: -1}, {parent: -1}}, ids: map[pathKey]int32{}, max: limit}
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
	p.nodes = append(p.nodes, pathNode{parent: parent, edge: e, depth: p.nodes[parent].depth + 1, leaf: true})
	p.ids[k] = id
	return id
}

func (p *pathTree) add(c *call) {
	if c.path > 0 {
		n := &p.nodes[c.path]
		n.calls += c.weight * float64(c.calls)
		n.attempts += c.weight * float64(c.attempts)
	}
}
