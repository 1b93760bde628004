package tui

import (
	"path"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// stackGroups are the report's groups of threads, to be found by pool and key.
type stackGroups struct {
	list   []incident.StackGroup
	keys   []string
	byPool map[string][]int
	kind   int // columns of the longest wait kind
	runs   statements
	owners map[[2]string]*incident.Finding // convoys by pool and lock
	inside map[string]int                  // groups by the owners that are in them
	code   map[[2]string]int               // groups by pool and frame, where an owner is sought by its code
}

// groups returns the report's groups of threads. They are indexed once.
func (s *scene) groups() *stackGroups {
	g := s.stacks
	if g.byPool != nil {
		return g
	}
	*g = stackGroups{list: s.report.Stacks, byPool: map[string][]int{}, runs: s.statements(), owners: map[[2]string]*incident.Finding{}}
	g.keys = uniqueKeys(len(g.list), func(i int) string {
		o := &g.list[i]
		return "stack " + o.Pool + " " + string(o.WaitKind) + " " + frameOf(o)
	})
	seen := map[incident.WaitKind]bool{}
	for i := range g.list {
		o := &g.list[i]
		g.byPool[o.Pool] = append(g.byPool[o.Pool], i)
		if !seen[o.WaitKind] {
			seen[o.WaitKind] = true
			g.kind = max(g.kind, min(20, cells(lang.Word(string(o.WaitKind)))))
		}
	}
	for i := range s.report.Findings {
		if f := &s.report.Findings[i]; f.Kind == incident.LockConvoy && f.Names["owner"] != "" {
			k := [2]string{f.Names["pool"], f.Names["lock"]}
			if g.owners[k] == nil {
				g.owners[k] = f
			}
		}
	}
	g.findOwners()
	return g
}

// findOwners looks for the groups in which the owners of locks are.
func (g *stackGroups) findOwners() {
	wanted := map[string]bool{}
	codes := map[[2]string]bool{}
	for _, f := range g.owners {
		wanted[f.Names["owner"]] = true
		codes[[2]string{f.Names["pool"], f.Names["owner_at"]}] = true
	}
	for i := range g.list {
		if o := g.list[i].Owner; o != "" {
			wanted[o] = true
		}
	}
	if len(wanted) == 0 {
		return
	}
	g.inside, g.code = map[string]int{}, map[[2]string]int{}
	for i := range g.list {
		o := &g.list[i]
		if k := [2]string{o.Pool, o.AppFrame}; o.AppFrame != "" && codes[k] {
			if _, ok := g.code[k]; !ok {
				g.code[k] = i
			}
		}
		for _, c := range o.Citations {
			name := threadOf(c)
			if name == "" || !wanted[name] {
				continue
			}
			if _, ok := g.inside[name]; !ok {
				g.inside[name] = i
			}
		}
	}
}

// threadOf is the thread that a citation names.
func threadOf(c evidence.Citation) string {
	name, _ := strings.CutPrefix(c.Part, "#")
	return name
}

// frameOf names a group by the user's own code, else by what its threads are in.
func frameOf(o *incident.StackGroup) string {
	if o.AppFrame != "" || len(o.Top) == 0 {
		return o.AppFrame
	}
	return o.Top[0]
}

// owner returns who holds what a group waits for, and the group that the owner
// is in, -1 if that is not known.
func (g *stackGroups) owner(i int) (string, int) {
	o := &g.list[i]
	name, at := o.Owner, ""
	if f := g.owners[[2]string{o.Pool, o.Lock}]; name == "" && f != nil && o.Lock != "" && o.WaitKind == incident.WaitLock {
		name, at = f.Names["owner"], f.Names["owner_at"]
	}
	if name == "" {
		return "", -1
	}
	if j, ok := g.inside[name]; ok {
		return name, j
	}
	if j, ok := g.code[[2]string{o.Pool, at}]; ok && j != i {
		return name, j
	}
	return name, -1
}

// links are where a group leads: to itself in full, to the owner of its lock, to
// its statements.
func (g *stackGroups) links(s *scene, i int) []link {
	o := &g.list[i]
	runs := g.runs.of(o)
	list := make([]link, 1, 2+len(runs))
	list[0] = link{name: frameOf(o), to: place{screen: onPools, arg: g.keys[i]}}
	if name, at := g.owner(i); at >= 0 {
		list = append(list, link{name: name, to: place{screen: onPools, arg: g.keys[at]}})
	}
	for _, q := range runs {
		list = append(list, link{name: s.report.SQL[q].Fingerprint, to: place{screen: onSQL, key: sqlKey(&s.report.SQL[q])}})
	}
	return list
}

// groupRows shows a group of threads: how many, what they wait for, where; and
// below it their state, lock and owner. The lines are made when they are seen.
func groupRows(s *scene, p *page, g *stackGroups, i, w int) {
	o := &g.list[i]
	r := row{
		key: g.keys[i], cites: o.Citations, copy: frameOf(o), links: g.links(s, i),
		alarm: o.WaitKind == incident.WaitLock || o.State == "BLOCKED",
	}
	const count = 8 // columns
	kind := g.kind + 1
	if w < 60 {
		kind = 0 // stands in the second line
	}
	room := w - count - kind
	r.draw = func() text {
		frame := frameOf(o)
		if frame == "" {
			frame = lang.T("no frames")
		}
		t := say(strong, padLeft(grouped(int64(o.Threads)), count-1)+" ")
		if kind > 0 {
			t = t.and(waitTone(o.WaitKind), pad(lang.Word(string(o.WaitKind)), kind, s.ellipsis))
		}
		return t.and(plain, shortFrame(frame, room, s.ellipsis))
	}
	p.rows = append(p.rows, r)
	r.alarm = false
	second := func(draw func() text) {
		r.draw = draw
		p.rows = append(p.rows, r)
	}
	indent := text{{plain, strings.Repeat(" ", count+kind)}}
	if kind == 0 {
		indent = indent.and(waitTone(o.WaitKind), lang.Word(string(o.WaitKind))+" ")
	}
	name, _ := g.owner(i)
	whole := func() string {
		list := []string{stands(o, room-indent[1:].cells(), s.ellipsis), onLock(o), heldBy(name)}
		return lang.Join(slices.DeleteFunc(list, func(s string) bool { return s == "" }))
	}
	locked := o.Lock != "" || name != ""
	// One line says it all where there is room; a wide list does not measure first.
	one := w >= 100 || locked && indent[1:].cells()+cells(whole()) <= room
	if kind == 0 || o.State != "" || o.Dumps > 1 || one && locked {
		second(func() text {
			said := stands(o, room-indent[1:].cells(), s.ellipsis)
			if one {
				said = whole()
			}
			return indent.with(say(dim, middle(said, room, s.ellipsis)))
		})
	}
	if one {
		return
	}
	if o.Lock != "" {
		second(func() text { return text{indent[0], {dim, middle(onLock(o), room, s.ellipsis)}} })
	}
	if name != "" {
		second(func() text { return text{indent[0], {dim, middle(heldBy(name), room, s.ellipsis)}} })
	}
}

// stands says how a group's threads stand: their state, and in which dump or how
// many.
func stands(o *incident.StackGroup, room int, ellipsis string) string {
	var list []string
	if o.State != "" {
		list = append(list, o.State)
	}
	switch {
	case o.Dumps > 1:
		list = append(list, lang.Sprintf("in %d dumps", o.Dumps))
	case len(o.Citations) > 0:
		list = append(list, lang.Sprintf("in %s", middle(path.Base(o.Citations[0].Source), min(28, max(8, room-cells(o.State)-5)), ellipsis)))
	}
	return lang.Join(list)
}

func onLock(o *incident.StackGroup) string {
	if o.Lock == "" {
		return ""
	}
	return lang.Sprintf("on %s", o.Lock)
}

func heldBy(owner string) string {
	if owner == "" {
		return ""
	}
	return lang.Sprintf("held by %s", owner)
}

// shortFrame writes a frame in n columns: the file is left out before the name
// is cut, the line is kept.
func shortFrame(frame string, n int, ellipsis string) string {
	if cells(frame) <= n {
		return frame
	}
	name, line := function(frame), ""
	if i := strings.LastIndexByte(frame, ':'); i > len(name) && strings.HasSuffix(frame, ")") {
		line = frame[i : len(frame)-1]
	}
	return middle(name+line, n, ellipsis)
}

// function is a frame without the place in its file.
func function(frame string) string {
	if !strings.HasSuffix(frame, ")") {
		return frame
	}
	if i := strings.LastIndexByte(frame, '('); i > 0 {
		return frame[:i]
	}
	return frame
}

// stackDetail is one group of threads.
func stackDetail(s *scene, key string) *page {
	g := s.groups()
	i := slices.Index(g.keys, key)
	if i < 0 {
		return nil
	}
	o := &g.list[i]
	p := &page{}
	w := s.width - 2
	p.thing(row{key: key, cites: o.Citations, copy: frameOf(o), links: toLines(o.Citations, 1)},
		say(waitTone(o.WaitKind), s.bullet+" "), w,
		say(strong, lang.Plural(int64(o.Threads), grouped(int64(o.Threads)), "thread", "threads")+"  ").and(waitTone(o.WaitKind), lang.Word(string(o.WaitKind))+" ").with(s.seen(o.Citations, 1)))
	if m := meaning(incident.Kind("stack." + string(o.WaitKind))); m != "" {
		p.para(nil, w, say(dim, m))
	}
	p.gap()
	p.facts(s, w, stackFacts(s, g, i))
	frames(s, p, o, w)
	if list := g.runs.of(o); len(list) > 0 {
		p.title(lang.T("ITS STATEMENTS"))
		for _, q := range list {
			f := &s.report.SQL[q]
			r := row{key: "leads to " + sqlKey(f), cites: f.Citations, copy: f.Fingerprint, links: []link{{name: f.Fingerprint, to: place{screen: onSQL, key: sqlKey(f)}}}}
			p.thing(r, say(info, s.right+" "), w, say(plain, clamp(f.Fingerprint, 4*w)+" ").with(s.seen(f.Citations, 1)))
		}
	}
	p.citedLines(s, w, lang.T("WHOLE STACKS, DUMP BY DUMP"), s.stacksOf(o))
	p.tell(s, w, lang.T("FINDINGS"), s.ofGroup(o))
	return p
}

// stackFacts is what is known of a group besides its frames.
func stackFacts(s *scene, g *stackGroups, i int) []fact {
	o := &g.list[i]
	seen := o.Citations[:min(1, len(o.Citations))]
	var list []fact
	if o.Pool != "" {
		f := fact{name: lang.T("pool"), value: o.Pool, cites: seen}
		if k := slices.IndexFunc(s.report.Pools, func(p incident.Pool) bool { return p.Name == o.Pool }); k >= 0 {
			f.links = []link{{name: o.Pool, to: place{screen: onPools, arg: s.poolKeys()[k]}}}
		}
		list = append(list, f)
	}
	if o.AppFrame != "" {
		list = append(list, fact{name: lang.T("at"), value: o.AppFrame, cites: seen})
	}
	if o.State != "" {
		list = append(list, fact{name: lang.T("state"), value: o.State, cites: seen})
	}
	if o.Lock != "" {
		list = append(list, fact{name: lang.T("lock"), value: o.Lock, cites: seen})
	}
	if name, at := g.owner(i); name != "" {
		f := fact{name: lang.T("held by"), value: name, tone: warn}
		if at >= 0 {
			f.links = []link{{name: lang.Sprintf("owner %s", name), to: place{screen: onPools, arg: g.keys[at]}}}
		}
		c := g.owners[[2]string{o.Pool, o.Lock}]
		if c != nil {
			f.cites = c.Citations[:min(1, len(c.Citations))]
			for _, at := range c.Citations {
				if threadOf(at) == name {
					f.cites = []evidence.Citation{at}
				}
			}
		}
		list = append(list, f)
		if c != nil && c.Names["owner_at"] != "" {
			list = append(list, fact{name: lang.T("who is at"), value: c.Names["owner_at"], cites: f.cites, links: f.links})
		}
	}
	if o.Dumps > 0 {
		list = append(list, fact{name: lang.T("dumps"), value: grouped(int64(o.Dumps)), cites: seen})
	}
	return list
}

// frames lists the frames of a group, the innermost first; the user's own code
// stands out.
func frames(s *scene, p *page, o *incident.StackGroup, w int) {
	if len(o.Top) == 0 {
		return
	}
	p.title(lang.T("FRAMES THAT TELL, INNERMOST FIRST"))
	own := function(o.AppFrame)
	for i, f := range o.Top {
		r := row{key: "frame " + number(float64(i)), copy: f, cites: o.Citations[:min(1, len(o.Citations))]}
		r.links = toLines(r.cites, 1)
		r.line = text{{dim, "  "}, {plain, shortFrame(f, w-2, s.ellipsis)}}
		if f == own {
			r.line = text{{accent, s.right + " "}, {strong, shortFrame(o.AppFrame, w-cells(s.right)-1, s.ellipsis)}}
		}
		p.rows = append(p.rows, r)
	}
}

// ofGroup returns the findings about a group of threads.
func (s *scene) ofGroup(o *incident.StackGroup) []*incident.Finding {
	return s.about(func(f *incident.Finding) bool {
		switch {
		case f.Kind == incident.LockDeadlock:
			return slices.ContainsFunc(f.Citations, func(c evidence.Citation) bool { return slices.Contains(o.Citations, c) })
		case f.Names["pool"] != o.Pool:
			return false
		case string(f.Kind) == "stack."+string(o.WaitKind):
			return f.Names["app_frame"] == "" || f.Names["app_frame"] == o.AppFrame
		case f.Kind == incident.LockConvoy:
			return f.Names["lock"] == o.Lock && o.Lock != "" || o.AppFrame != "" && f.Names["owner_at"] == o.AppFrame
		}
		return false
	})
}

// stacksOf are the places of a group's stacks: its own, and those that findings
// name of the same code in other dumps.
func (s *scene) stacksOf(o *incident.StackGroup) []evidence.Citation {
	list := slices.Clone(o.Citations)
	for _, f := range s.ofGroup(o) {
		if f.Names["app_frame"] != o.AppFrame || f.Kind == incident.LockDeadlock {
			continue
		}
		for _, c := range f.Citations {
			if !slices.Contains(list, c) && c.Part != "" && !slices.ContainsFunc(list, func(o evidence.Citation) bool { return o.Source == c.Source }) {
				list = append(list, c) // a dump that the group itself does not cite
			}
		}
	}
	return list
}

// statements finds the SQL that threads run by the code that they are in.
type statements struct {
	byFrame  map[string][]int // function of the DAO
	byMethod map[string][]int // "Class.method"
}

func (s *scene) statements() statements {
	m := statements{byFrame: map[string][]int{}, byMethod: map[string][]int{}}
	for i := range s.report.SQL {
		f := &s.report.SQL[i]
		if f.DAOFrame != "" {
			k := function(f.DAOFrame)
			m.byFrame[k] = append(m.byFrame[k], i)
		}
		if f.Method != "" {
			k := lastTwo(f.Method)
			m.byMethod[k] = append(m.byMethod[k], i)
		}
	}
	return m
}

// of returns the statements that a group's threads wait for, or would run once
// they had a connection.
func (m statements) of(o *incident.StackGroup) []int {
	if len(m.byFrame)+len(m.byMethod) == 0 || o.WaitKind != incident.WaitDBRead && o.WaitKind != incident.WaitDBPool {
		return nil
	}
	var list []int
	add := func(found []int) {
		for _, i := range found {
			if !slices.Contains(list, i) {
				list = append(list, i)
			}
		}
	}
	look := func(frame string) {
		frame = function(frame)
		add(m.byFrame[frame])
		add(m.byMethod[lastTwo(frame)])
	}
	look(o.AppFrame)
	for _, f := range o.Top {
		look(f)
	}
	return list
}

// lastTwo returns "Class.method" of a qualified name.
func lastTwo(name string) string {
	i := strings.LastIndexByte(name, '.')
	if i <= 0 {
		return name
	}
	if j := strings.LastIndexAny(name[:i], "./"); j >= 0 {
		return name[j+1:]
	}
	return name
}
