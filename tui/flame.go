package tui

import (
	"cmp"
	"math"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// between the parts of the flame's place: its pool, and the frames that the
// engineer went into. No text of a report has it.
const flameSep = "\x1f"

// node is a frame under those that called it.
type node struct {
	name     string
	path     string
	threads  int
	kinds    map[incident.WaitKind]int
	group    int // the largest that goes through it
	most     int // its threads
	children []*node
	byName   map[string]*node
}

func (n *node) add(name string, group int, o *incident.StackGroup) *node {
	c := n.byName[name]
	if c == nil {
		c = &node{name: name, path: n.path + flameSep + name, group: group}
		if n.byName == nil {
			n.byName = map[string]*node{}
		}
		n.byName[name] = c
		n.children = append(n.children, c)
	}
	c.count(group, o)
	return c
}

func (n *node) count(group int, o *incident.StackGroup) {
	n.threads += o.Threads
	if n.kinds == nil {
		n.kinds = map[incident.WaitKind]int{}
	}
	n.kinds[o.WaitKind] += o.Threads
	if o.Threads > n.most {
		n.group, n.most = group, o.Threads
	}
}

// kind is what all of its threads wait for; false if they differ.
func (n *node) kind() (incident.WaitKind, bool) {
	for k := range n.kinds {
		return k, len(n.kinds) == 1
	}
	return "", false
}

// parts are its threads by what they wait for, in the order that fills have.
func (n *node) parts(kinds []incident.WaitKind) []part {
	list := make([]part, len(kinds))
	for i, k := range kinds {
		list[i] = part{n: n.kinds[k], tone: waitTone(k), name: string(k)}
	}
	return list
}

// flameOf builds the tree of a pool's frames, of all pools' if pool is empty.
func flameOf(s *scene, pool string) *node {
	root := &node{name: pool, path: pool}
	for i := range s.report.Stacks {
		o := &s.report.Stacks[i]
		if pool != "" && o.Pool != pool {
			continue
		}
		at := root
		at.count(i, o)
		if pool == "" && o.Pool != "" {
			at = at.add(o.Pool, i, o)
		}
		for _, f := range slices.Backward(o.Top) {
			at = at.add(f, i, o)
		}
	}
	return root
}

// flamePage draws the frames of a pool under each other, the callers first, each
// as wide as it has threads and below those that it was called by.
func flamePage(s *scene, at place) *page {
	p := &page{none: lang.T("There are no stacks in the evidence. A thread dump (jstack, goroutines) has them.")}
	pool, rest, into := strings.Cut(at.arg, flameSep)
	root := flameOf(s, pool)
	if root.threads == 0 {
		return p
	}
	w := s.width - 2
	trail := pool
	if pool == "" {
		trail = lang.T("all pools")
	}
	if into {
		for name := range strings.SplitSeq(rest, flameSep) {
			next := root.byName[name]
			if next == nil {
				break
			}
			root = next
			trail += " " + s.right + " " + name
		}
	}
	p.head = []text{
		{{strong, lang.Plural(int64(root.threads), grouped(int64(root.threads)), "thread", "threads")}, {dim, "  " + lang.T("width is threads; the frames that tell, callers first")}},
		{{dim, middle(trail, w, s.ellipsis)}},
		nil,
	}
	f := flame{scene: s, page: p, width: w, whole: root.threads, bar: max(8, min(60, w*2/5)), keys: s.groups().keys, order: s.fills()}
	if w < 60 {
		f.bar = max(6, w/3)
	}
	name := root.name
	if name == "" {
		name = trail
	}
	f.draw(root, name, 0, 0)
	return p
}

// flame lays a tree out.
type flame struct {
	*scene
	page       *page
	width, bar int
	whole      int // threads that the whole width stands for
	keys       []string
	order      []incident.WaitKind // of fills
}

// draw adds a frame that begins at a number of threads, and those that it calls.
func (f *flame) draw(n *node, name string, depth, from int) {
	o := &f.report.Stacks[n.group]
	r := row{key: "frame " + n.path, copy: n.name, cites: append([]evidence.Citation(nil), o.Citations...)}
	if len(n.children) > 0 && depth > 0 {
		r.links = append(r.links, link{name: n.name, to: place{screen: onFlame, arg: n.path}})
	}
	r.links = append(r.links, link{name: frameOf(o), to: place{screen: onPools, arg: f.keys[n.group]}})
	at := from // where it begins; from moves on below
	r.draw = func() text {
		scale := float64(f.bar) / float64(f.whole)
		a := min(f.bar-1, int(math.Round(float64(at)*scale)))
		b := min(f.bar, max(a+1, int(math.Round(float64(at+n.threads)*scale))))
		t := say(plain, padLeft(grouped(int64(n.threads)), 5)+padLeft(share(n.threads, f.whole), 6)+"  "+strings.Repeat(" ", a))
		t = t.with(f.stacked(n.parts(f.order), n.threads, b-a))
		word := ""
		if kind, pure := n.kind(); pure && len(n.children) == 0 {
			word = "  " + lang.Word(string(kind))
		}
		room := f.width - 13 - f.bar - 1
		indent := min(depth, max(0, room/6))
		return t.and(plain, strings.Repeat(" ", f.bar-b+1+indent)+middle(name, room-indent-cells(word), f.ellipsis)).and(dim, word)
	}
	f.page.rows = append(f.page.rows, r)
	slices.SortStableFunc(n.children, func(a, b *node) int { return cmp.Compare(b.threads, a.threads) })
	for _, c := range n.children {
		f.draw(c, c.name, depth+1, from)
		from += c.threads
	}
}

// flamePool is the pool of a thing of the pools' screen; none if it has no
// threads.
func (s *scene) flamePool(key string) string {
	g := s.groups()
	if i := slices.Index(s.poolKeys(), key); i >= 0 {
		if name := s.report.Pools[i].Name; len(g.byPool[name]) > 0 {
			return name
		}
	}
	if i := slices.Index(g.keys, key); i >= 0 {
		return g.list[i].Pool
	}
	return ""
}

// flameBindings are the keys of the flame.
func flameBindings() []binding {
	return []binding{
		{id: "flame", keys: []string{"v"}, does: lang.Mark("show the frames of the chosen pool as a flame, and back"), tip: lang.Mark("flame"), on: []screenID{onPools, onFlame}, do: (*Model).flame},
	}
}

// flame opens the flame of the pool that the cursor is on, or goes back from it.
func (m *Model) flame() tea.Cmd {
	if m.here().screen == onFlame {
		return m.back()
	}
	key := m.here().arg
	if key == "" {
		m.current() // brings the cursor onto a thing
		key = m.here().key
	}
	m.push(place{screen: onFlame, arg: m.scene.flamePool(key)})
	return nil
}
