package tui

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// poolsPage shows each pool as a gauge, with what its threads wait for and the
// groups of threads that share a stack.
func poolsPage(s *scene, at place) *page {
	if at.arg != "" {
		if p := poolsDetail(s, at, at.arg); p != nil {
			return p
		}
		return &page{none: lang.T("This is not in the report any more.")}
	}
	p := &page{lists: true, none: lang.T("Neither a pool nor a dump is in the evidence. A thread dump (jstack, goroutines) shows what threads wait for.")}
	pools, stacks := s.report.Pools, s.report.Stacks
	if len(pools)+len(stacks) == 0 {
		return p
	}
	w := s.width - 2
	p.head = []text{poolsHead(pools, stacks), nil}
	p.rows = make([]row, 0, 8*len(pools)+4*len(stacks))
	keys, groups := s.poolKeys(), s.groups()
	l := poolList{scene: s, width: w, kinds: s.fills(), named: map[string]int{}}
	for i := range pools {
		l.members = max(l.members, cells(fullness(&pools[i])))
		l.named[pools[i].Name]++
	}
	taken := map[string]bool{}
	for i := range pools {
		o := &pools[i]
		p.gap()
		l.rows(p, o, keys[i])
		if taken[o.Name] {
			continue
		}
		taken[o.Name] = true
		for _, g := range groups.byPool[o.Name] {
			groupRows(s, p, groups, g, w)
		}
	}
	others := false
	for i := range stacks {
		if taken[stacks[i].Pool] {
			continue
		}
		if !others {
			others = true
			p.title(lang.T("OTHER THREADS"))
		}
		groupRows(s, p, groups, i, w)
	}
	return p
}

// poolKeys names the report's pools.
func (s *scene) poolKeys() []string {
	return uniqueKeys(len(s.report.Pools), func(i int) string { return "pool " + s.report.Pools[i].Name })
}

func poolsHead(pools []incident.Pool, stacks []incident.StackGroup) text {
	full, threads := 0, 0
	for i := range pools {
		if isFull(&pools[i]) {
			full++
		}
	}
	for i := range stacks {
		threads += stacks[i].Threads
	}
	t := say(strong, lang.Plural(int64(len(pools)), grouped(int64(len(pools))), "pool", "pools"))
	if full > 0 {
		t = t.and(bad, ", "+lang.Sprintf("%d full", full))
	}
	if len(stacks) == 0 {
		return t
	}
	return t.and(dim, "   "+lang.Sprintf("%s, %s", lang.Plural(int64(threads), grouped(int64(threads)), "thread", "threads"),
		lang.Plural(int64(len(stacks)), grouped(int64(len(stacks))), "stack", "stacks")))
}

func isFull(o *incident.Pool) bool {
	return o.Max != nil && o.Active != nil && *o.Max > 0 && *o.Active >= *o.Max
}

// suspect reports whether a pool does not look right.
func suspect(o *incident.Pool) bool {
	return isFull(o) || o.Rejected != nil && *o.Rejected > 0 || o.Waiting != nil && *o.Waiting > 0 || o.Diagnosis != "" && o.Diagnosis != "shutting-down"
}

// state is how a pool stands: a glyph, its tone, and words.
func (s *scene) state(o *incident.Pool) (string, tone, string) {
	var words []string
	if isFull(o) {
		words = append(words, lang.T("full"))
	}
	if o.Diagnosis != "" {
		words = append(words, lang.Word(o.Diagnosis))
	}
	said := lang.Join(words)
	switch {
	case isFull(o) || o.Diagnosis == "frozen":
		return s.burning, bad, said
	case suspect(o):
		return s.unsure, warn, said
	case o.Active != nil && o.Max != nil:
		return s.healthy, good, said
	}
	return s.notYet, dim, said
}

// fullness writes how many members are busy, of how many.
func fullness(o *incident.Pool) string {
	switch {
	case o.Active != nil && o.Max != nil:
		return grouped(int64(*o.Active)) + "/" + grouped(int64(*o.Max))
	case o.Active != nil:
		return lang.Sprintf("%s busy", grouped(int64(*o.Active)))
	case o.Max != nil:
		return lang.Sprintf("of %s", grouped(int64(*o.Max)))
	}
	return ""
}

// poolList is what the rows of all pools have in common.
type poolList struct {
	*scene
	width   int
	members int                 // columns of the widest count
	kinds   []incident.WaitKind // of all pools
	named   map[string]int      // how many pools have a name
}

// rows shows a pool: its name, its gauge, its numbers, and what its threads
// wait for.
func (s *poolList) rows(p *page, o *incident.Pool, key string) {
	w := s.width
	r := row{key: key, cites: o.Citations, copy: o.Name, alarm: suspect(o)}
	r.links = []link{{name: o.Name, to: place{screen: onPools, arg: key}}}
	for _, f := range s.ofPool(o.Name) {
		if r.find == "" {
			r.find = f.ID
		}
		r.links = append(r.links, toFinding(f))
	}
	glyph, tn, said := s.state(o)
	tail := ""
	if s.named[o.Name] > 1 && len(o.Citations) > 0 { // which of them
		tail = "  " + path.Dir(o.Citations[0].Source)
	}
	name := middle(o.Name, max(8, w-cells(glyph)-1-cells(said)-2-cells(tail)), s.ellipsis)
	line := text{{tn, glyph + " "}, {strong, name}}
	if tail != "" {
		line = line.and(dim, tail)
	}
	if said != "" {
		line = line.and(tn, "  "+said)
	}
	r.line = line
	p.rows = append(p.rows, r)

	more := r
	more.find, more.alarm = "", false
	first := say(plain, "  "+padLeft(fullness(o), s.members)+" ")
	gauge := max(6, min(24, w/5))
	switch {
	case o.Active != nil && o.Max != nil && *o.Max > 0:
		first = first.with(s.gauge(float64(*o.Active)/float64(*o.Max), gauge, tn))
	default:
		first = first.and(plain, strings.Repeat(" ", gauge))
	}
	numbers := say(plain, lang.Join(poolNumbers(o)))
	if first.cells()+2+numbers.cells() <= w {
		more.line = first.and(plain, "  ").with(numbers)
		p.rows = append(p.rows, more)
	} else {
		more.line = first
		p.rows = append(p.rows, more)
		p.thing(more, say(plain, "  "), w, numbers)
	}
	if len(o.ByWaitKind) > 0 {
		waitBar(s.scene, p, more, o.ByWaitKind, s.kinds, w)
	}
}

// poolNumbers are the numbers of a pool besides its fullness.
func poolNumbers(o *incident.Pool) []string {
	var list []string
	if o.Rejected != nil {
		list = append(list, lang.Sprintf("%s rejected", grouped(*o.Rejected)))
	}
	if o.Waiting != nil {
		list = append(list, lang.Sprintf("%s waiting for a member", grouped(int64(*o.Waiting))))
	}
	if o.Queued != nil {
		list = append(list, lang.Sprintf("%s queued", grouped(int64(*o.Queued))))
	}
	if o.HoldSeconds != nil {
		list = append(list, lang.Sprintf("each held %s", seconds(*o.HoldSeconds)))
	}
	if o.CompletedPerSecond != nil {
		list = append(list, lang.Sprintf("completes %s/s", number(*o.CompletedPerSecond)))
	}
	return list
}

// fills are the wait kinds of the report, the most frequent first: so that one
// fill of a bar means one kind on all screens.
func (s *scene) fills() []incident.WaitKind {
	sum := map[string]int{}
	for i := range s.report.Pools {
		for k, n := range s.report.Pools[i].ByWaitKind {
			sum[k] += n
		}
	}
	for i := range s.report.Stacks {
		sum[string(s.report.Stacks[i].WaitKind)] += s.report.Stacks[i].Threads
	}
	names := sortedKeys(sum)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(sum[b], sum[a]) })
	list := make([]incident.WaitKind, len(names))
	for i, n := range names {
		list[i] = incident.WaitKind(n)
	}
	return list
}

// waitTone colours a wait kind; its word always stands beside.
func waitTone(k incident.WaitKind) tone {
	switch k {
	case incident.WaitDBRead, incident.WaitDBPool, incident.WaitRedis, incident.WaitMQ, incident.WaitDisk:
		return info
	case incident.WaitLock, incident.WaitCondition, incident.WaitClassInit, incident.WaitLogging:
		return warn
	case incident.WaitRPC, incident.WaitHTTP, incident.WaitDNS:
		return hurt
	case incident.WaitCPU, incident.WaitGC:
		return bad
	case incident.WaitIdle:
		return good
	}
	return plain
}

// waitBar draws what the threads of a pool wait for, with a legend.
func waitBar(s *scene, p *page, r row, by map[string]int, kinds []incident.WaitKind, w int) {
	parts := make([]part, len(kinds))
	whole := 0
	var legend text
	for i, k := range kinds {
		n := by[string(k)]
		parts[i] = part{n: n, tone: waitTone(k), name: string(k)}
		whole += n
		if n > 0 {
			legend = legend.and(waitTone(k), s.kinds[i%len(s.kinds)]+" ").and(plain, lang.Word(string(k))+" "+grouped(int64(n))+"  ")
		}
	}
	bar := max(6, min(40, w-2))
	if wide := w - 4 - legend.cells(); wide >= 12 {
		bar = min(40, wide)
		r.line = text{{plain, "  "}}.with(s.stacked(parts, whole, bar)).and(plain, "  ").with(legend)
		p.rows = append(p.rows, r)
		return
	}
	r.line = text{{plain, "  "}}.with(s.stacked(parts, whole, bar))
	p.rows = append(p.rows, r)
	p.thing(r, say(plain, "  "), w, legend)
}

// ofPool returns the findings about a pool.
func (s *scene) ofPool(name string) []*incident.Finding {
	return s.about(func(f *incident.Finding) bool {
		return f.Subject == name || f.Names["pool"] == name
	})
}

// poolsDetail is one pool, or one group of threads, with all that is known of
// it.
func poolsDetail(s *scene, _ place, key string) *page {
	if strings.HasPrefix(key, "stack ") {
		return stackDetail(s, key)
	}
	if i := slices.Index(s.poolKeys(), key); i >= 0 {
		return poolDetail(s, &s.report.Pools[i], key)
	}
	return nil
}

func poolDetail(s *scene, o *incident.Pool, key string) *page {
	p := &page{}
	w := s.width - 2
	glyph, tn, said := s.state(o)
	about := s.ofPool(o.Name)
	p.thing(row{key: key, cites: o.Citations, copy: o.Name, links: toLines(o.Citations, 1)}, say(tn, glyph+" "), w, say(strong, o.Name+"  ").and(tn, said))
	if k, ok := map[string]incident.Kind{
		"frozen": incident.PoolFrozen, "slow": incident.PoolSlow, "too-small": incident.PoolTooSmall, "shutting-down": incident.PoolShutdown,
	}[o.Diagnosis]; ok {
		p.para(nil, w, say(dim, lang.Word(o.Diagnosis)+": "+meaning(k)))
	}
	p.gap()
	if o.Active != nil && o.Max != nil && *o.Max > 0 {
		p.add(s.gauge(float64(*o.Active)/float64(*o.Max), max(6, min(40, w-10)), tn).and(plain, " "+fullness(o)))
	}
	p.facts(s, w, poolFacts(o, about))
	little(s, p, o, w)
	if len(o.ByWaitKind) > 0 {
		waitTable(s, p, o, about, w)
	}
	p.tell(s, w, lang.T("FINDINGS"), about)
	p.citedLines(s, w, lang.T("SEEN IN"), o.Citations)
	return p
}

// poolFacts are the numbers of a pool, each with where it was seen.
func poolFacts(o *incident.Pool, about []*incident.Finding) []fact {
	var list []fact
	add := func(name, value string, tn tone, cites []evidence.Citation) {
		list = append(list, fact{name: name, value: value, tone: tn, cites: cites})
	}
	count := func(name, key string, n *int, alarm bool) {
		if n == nil {
			return
		}
		tn := plain
		if alarm && *n > 0 {
			tn = bad
		}
		add(name, grouped(int64(*n)), tn, citeNumber(about, key, float64(*n), o.Citations))
	}
	if o.Kind != "" {
		add(lang.T("kind"), lang.Word(o.Kind), plain, o.Citations[:min(1, len(o.Citations))])
	}
	if o.Owner != "" {
		add(lang.T("of"), o.Owner, plain, o.Citations[:min(1, len(o.Citations))])
	}
	count(lang.T("members"), "pool.max", o.Max, false)
	count(lang.T("busy"), "pool.active", o.Active, isFull(o))
	count(lang.T("idle"), "pool.idle", o.Idle, false)
	count(lang.T("queued"), "pool.queued", o.Queued, false)
	count(lang.T("waiting"), "pool.waiting", o.Waiting, true)
	if o.Rejected != nil {
		tn := plain
		if *o.Rejected > 0 {
			tn = bad
		}
		add(lang.T("rejected"), grouped(*o.Rejected), tn, citeNumber(about, "pool.rejected", float64(*o.Rejected), o.Citations))
	}
	if o.CompletedPerSecond != nil {
		add(lang.T("completed"), number(*o.CompletedPerSecond)+"/s", plain, citeNumber(about, "pool.completed_per_s", *o.CompletedPerSecond, o.Citations))
	}
	if o.HoldSeconds != nil {
		add(lang.T("held"), seconds(*o.HoldSeconds), plain, citeNumber(about, "pool.hold_s", *o.HoldSeconds, o.Citations))
	}
	return list
}

// little says what the numbers mean together.
func little(s *scene, p *page, o *incident.Pool, w int) {
	if o.CompletedPerSecond == nil || o.Active == nil {
		return
	}
	rate, busy := *o.CompletedPerSecond, grouped(int64(*o.Active))
	switch {
	case rate == 0:
		p.gap()
		p.para(nil, w, say(bad, s.burning+" "+lang.Sprintf("%s are busy and none completes: whatever they wait for does not come.", busy)))
	case o.HoldSeconds != nil:
		p.gap()
		p.para(nil, w, say(plain, lang.Sprintf("Little's law: %s busy / %s completed a second = %s each. One more request a second takes %s more members.",
			busy, number(rate), seconds(*o.HoldSeconds), number(*o.HoldSeconds))))
	}
}

// waitTable lists what the threads of a pool wait for; Enter goes to the
// largest group that does.
func waitTable(s *scene, p *page, o *incident.Pool, about []*incident.Finding, w int) {
	p.title(lang.T("WHAT ITS THREADS WAIT FOR"))
	kinds := s.fills()
	groups := s.groups()
	whole, col := 0, 0
	for k, n := range o.ByWaitKind {
		whole += n
		col = max(col, cells(lang.Word(k)))
	}
	mine := slices.DeleteFunc(slices.Clone(kinds), func(k incident.WaitKind) bool { return o.ByWaitKind[string(k)] <= 0 })
	slices.SortStableFunc(mine, func(a, b incident.WaitKind) int {
		return cmp.Compare(o.ByWaitKind[string(b)], o.ByWaitKind[string(a)])
	})
	for _, k := range mine {
		n := o.ByWaitKind[string(k)]
		r := row{key: "wait " + string(k)}
		for _, f := range about {
			if string(f.Kind) == "stack."+string(k) {
				r.find, r.cites = f.ID, f.Citations
				r.links = append(r.links, toFinding(f))
			}
		}
		for _, g := range groups.byPool[o.Name] {
			if sg := &s.report.Stacks[g]; sg.WaitKind == k {
				r.links = append([]link{{name: frameOf(sg), to: place{screen: onPools, arg: groups.keys[g]}}}, r.links...)
				if len(r.cites) == 0 {
					r.cites = sg.Citations
				}
				break
			}
		}
		if len(r.cites) == 0 {
			r.cites = o.Citations
		}
		fill := s.kinds[slices.Index(kinds, k)%len(s.kinds)]
		bar := max(4, min(24, w-col-16))
		long := max(1, int(float64(n)/float64(whole)*float64(bar)+0.5))
		r.line = text{{plain, pad(lang.Word(string(k)), col, s.ellipsis) + padLeft(grouped(int64(n)), 6) + padLeft(share(n, whole), 6) + "  "}, {waitTone(k), strings.Repeat(fill, long)}}
		if len(r.cites) > 0 {
			seen := text{{plain, strings.Repeat(" ", bar-long) + "  "}}.with(s.seen(r.cites[:1], 1))
			if r.line.cells()+seen.cells() <= w {
				r.line = r.line.with(seen)
			}
		}
		p.rows = append(p.rows, r)
	}
}

// share writes a part of a whole in percent.
func share(n, whole int) string {
	if whole <= 0 {
		return ""
	}
	return number(math.Round(float64(n)*100/float64(whole))) + " %"
}
