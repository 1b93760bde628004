package ledger

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Trace is an example of an edge's calls: a trace with its attempts marked.
type Trace struct {
	ID       string // hex
	Why      string // "exhausted", "most-attempts", "success-after-retry", "orphaned" or "slowest"
	Start    time.Time
	Duration time.Duration
	Spans    []TraceSpan // parents before their children, these by start
	More     int         // spans that are left out
	Cite     evidence.Citation
}

// TraceSpan is a span of a trace that is shown. Its start is moved where the
// trace proves that its host's clock was wrong.
type TraceSpan struct {
	ID, Parent            string // hex; Parent is empty for a root, and may be of a span that was not seen
	Depth                 int    // among what is shown
	Service               string
	Protocol, RPC, Method string
	Kind                  evidence.SpanKind
	Start, Duration       time.Duration // Start is since the trace's
	Outcome               evidence.Outcome
	Attempt, Of           int    // which attempt of its call it is, and of how many; 0 if it is none
	Focus                 bool   // it belongs to the call that the trace is an example of
	Sent                  string // why it was sent, if not for the first time
	Orphaned              bool   // it went on after the caller had given up
	Query                 string
	Cite                  evidence.Citation
}

// maxDrawn is how many spans of a trace are shown, and maxAncestors how many of
// them may lead to the call that is the example.
const (
	maxDrawn     = 60
	maxAncestors = 20
)

// drawing is one trace on its way to be shown. Its lists have an entry a span.
type drawing struct {
	j         *joiner
	marks     []drawnMark
	kid, next []int32 // the children of a span as a list in order of start; -1 ends
	roots     []int32
	preorder  []int32
	shift     []int64 // what to add to a start
}

// drawnMark is what is known of a span as part of a call.
type drawnMark struct {
	attempt, of int
	reason      reason
	focus       bool
}

// draw joins the trace of an example once more and shows the call's
// neighbourhood.
func (j *joiner) draw(p *pick) Trace {
	j.load(p.at)
	j.dedupe()
	j.tree.build(j.spans)
	j.units, j.calls, j.tries = j.units[:0], j.calls[:0], j.tries[:0]
	j.gather()
	j.siblings()
	j.finish()
	j.forgetWanted()
	d := &drawing{j: j, marks: make([]drawnMark, len(j.spans)), shift: make([]int64, len(j.spans))}
	d.mark(p.head)
	d.link()
	d.straighten()
	return d.show(p.head)
}

// mark notes which spans are attempts, and which belong to the call of head.
func (d *drawing) mark(head int32) {
	j := d.j
	for i := range j.calls {
		c := &j.calls[i]
		if c.unit < 0 {
			continue
		}
		focus := j.units[c.unit].head == head
		var list []*try
		of := 0
		j.each(c, func(_ int, x *try) {
			list = append(list, x)
			if x.reason.counted() {
				of++
			}
		})
		n := 0
		if c.calls == 0 && c.ordinal > of {
			n, of = c.ordinal-of, c.ordinal // the attempts before are in another trace
		}
		for k, x := range list {
			if x.reason.counted() {
				n++
			}
			alone := (k == 0 || list[k-1].client != x.client) && (k+1 == len(list) || list[k+1].client != x.client)
			at := x.entry
			if x.client >= 0 && alone {
				at = x.client
			}
			if at >= 0 {
				m := &d.marks[at]
				m.reason = x.reason
				if x.reason.counted() {
					m.attempt, m.of = n, of
				}
			}
			for _, s := range []int32{x.client, x.entry} {
				if s >= 0 && focus {
					d.marks[s].focus = true
				}
			}
		}
		for u := c.unit; u >= 0 && focus; u = j.units[u].next {
			d.marks[j.units[u].head].focus = true
		}
	}
}

// above is the parent of a span; -1 if it has none that was seen.
func (d *drawing) above(i int32) int32 {
	if p := d.j.tree.par[i]; p >= 0 && int(p) < len(d.j.spans) {
		return p
	}
	return -1
}

// link lists the children of each span, and all spans with parents first.
func (d *drawing) link() {
	n := len(d.j.spans)
	d.kid, d.next = make([]int32, n), make([]int32, n)
	for i := range n {
		d.kid[i] = -1
	}
	for i := int32(n - 1); i >= 0; i-- {
		if p := d.above(i); p >= 0 {
			d.next[i], d.kid[p] = d.kid[p], i
		} else {
			d.roots = append(d.roots, i)
		}
	}
	slices.Reverse(d.roots)
	stack := slices.Clone(d.roots)
	slices.Reverse(stack)
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		d.preorder = append(d.preorder, i)
		from := len(stack)
		for k := d.kid[i]; k >= 0; k = d.next[k] {
			stack = append(stack, k)
		}
		slices.Reverse(stack[from:])
	}
}

// straighten finds by how much the clock of each process was wrong, as far as
// the trace proves it: a callee cannot begin before it is asked, nor end after an
// answer that was waited for.
func (d *drawing) straighten() {
	spans := d.j.spans
	known := map[uint32]int64{} // by process
	for _, i := range d.preorder {
		s := &spans[i]
		p := d.above(i)
		switch {
		case p >= 0 && spans[p].place == s.place:
			d.shift[i] = d.shift[p]
			continue
		default:
			d.shift[i] = known[s.place]
		}
		if p >= 0 {
			d.fit(i, p)
		}
		known[s.place] = d.shift[i]
	}
}

// fit moves callee i into the time of the caller's span p if it lies where it
// cannot have been.
func (d *drawing) fit(i, p int32) {
	t := &d.j.tree
	s, c := &t.spans[i], &t.spans[p]
	asked := t.roles[p] == roleCall || t.roles[p] == roleAttempt || t.roles[p] == roleLogical
	if t.roles[i] != roleEntry || !asked || c.kind == evidence.KindProducer || s.start == 0 || c.start == 0 {
		return
	}
	from, to := moved(c.start, d.shift[p]), moved(c.end(), d.shift[p])
	start := moved(s.start, d.shift[i])
	early := start < from
	late := !gaveUp(c) && (start > to || s.dur <= c.dur && start > to-s.dur)
	if !early && !late {
		return
	}
	several := t.firstEntry[p] != i || t.nextEntry[i] >= 0
	switch {
	case s.dur > c.dur || several && early:
		start = from
	case several:
		start = to - s.dur
	default:
		start = from + (c.dur-s.dur)/2
	}
	d.shift[i] = start - s.start
}

// moved adds a shift to a time, within what can be said.
func moved(t, shift int64) int64 {
	if shift > 0 && t > math.MaxInt64-shift {
		return math.MaxInt64
	}
	return max(0, t+shift)
}

// begin is when a span began; one without a time began with its parent.
func (d *drawing) begin(i int32) int64 {
	for steps := 0; steps < maxLayers && i >= 0; steps++ {
		if s := &d.j.spans[i]; s.start != 0 {
			return moved(s.start, d.shift[i])
		}
		i = d.above(i)
	}
	return 0
}

// orphaned reports whether a span went on after the callee's span that it is
// part of was no longer waited for, by that process's own clock.
func (d *drawing) orphaned(i int32) bool {
	t := &d.j.tree
	s := &t.spans[i]
	at := i
	for steps := 0; at >= 0 && steps < maxLayers && t.roles[at] != roleEntry; steps++ {
		at = d.above(at)
	}
	if at < 0 || t.roles[at] != roleEntry || t.spans[at].place != s.place {
		return false
	}
	g := d.j.wanted(at, 0)
	return g >= 0 && s.dur > 0 && s.end()-t.spans[at].start > g
}

// show puts the call's neighbourhood in order.
func (d *drawing) show(head int32) Trace {
	j := d.j
	first, last := int64(math.MaxInt64), int64(0)
	for i := range j.spans {
		if b := d.begin(int32(i)); b != 0 {
			first, last = min(first, b), max(last, moved(b, j.spans[i].dur))
		}
	}
	h := &j.spans[head]
	out := Trace{ID: hex.EncodeToString(h.trace[:]), Cite: evidence.Citation{Source: j.l.sources.keys[h.source], Line: int(h.line)}}
	if last == 0 {
		first = 0
	} else {
		out.Start, out.Duration = time.Unix(0, first).UTC(), duration(last-first)
	}
	kept := d.choose(head)
	out.More = len(j.spans) - len(kept)
	for _, k := range d.nested(kept) {
		out.Spans = append(out.Spans, d.span(k.span, k.depth, first))
	}
	return out
}

func (d *drawing) span(i int32, depth int, first int64) TraceSpan {
	j := d.j
	s, m := &j.spans[i], &d.marks[i]
	o := &j.l.ops.keys[s.op]
	x := TraceSpan{
		ID: fmt.Sprintf("%016x", s.id), Depth: depth, Service: j.l.places.keys[s.place].service, Protocol: o.protocol, RPC: o.service, Method: o.method,
		Kind: s.kind, Duration: duration(s.dur), Outcome: s.outcome, Attempt: m.attempt, Of: m.of, Focus: m.focus, Sent: m.reason.sent(),
		Orphaned: d.orphaned(i), Query: j.l.queries.keys[s.query], Cite: evidence.Citation{Source: j.l.sources.keys[s.source], Line: int(s.line)},
	}
	if b := d.begin(i); b != 0 {
		x.Start = duration(b - first)
	}
	switch p := d.above(i); {
	case p >= 0:
		x.Parent = fmt.Sprintf("%016x", j.spans[p].id)
	case s.parent != 0 && s.parent != s.id:
		x.Parent = fmt.Sprintf("%016x", s.parent)
	}
	return x
}

// sent names a reason other than the first.
func (r reason) sent() string {
	return [...]string{"", "retry", "hedge", "transparent", "proxy-retry", "redirect", "challenge"}[min(r, byAuth)]
}

// nestedSpan is a span and how deep it stands.
type nestedSpan struct {
	span  int32
	depth int
}

// nested puts the spans that are kept in the order of drawing.
func (d *drawing) nested(kept map[int32]bool) []nestedSpan {
	below := map[int32][]int32{}
	for _, i := range d.preorder {
		if kept[i] {
			p := d.above(i)
			if !kept[p] {
				p = -1
			}
			below[p] = append(below[p], i)
		}
	}
	for _, list := range below {
		slices.SortFunc(list, func(a, b int32) int { return cmp.Or(cmp.Compare(d.begin(a), d.begin(b)), cmp.Compare(a, b)) })
	}
	var out, stack []nestedSpan
	push := func(p int32, depth int) {
		for _, i := range slices.Backward(below[p]) {
			stack = append(stack, nestedSpan{i, depth})
		}
	}
	push(-1, 0)
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		out = append(out, x)
		push(x.span, x.depth+1)
	}
	return out
}
