package ledger

import (
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// role is the part of a span in a logical call.
type role uint8

// The roles.
const (
	roleOther   role = iota // a link, kept so that ancestry survives
	roleEntry               // the callee's side
	roleCall                // the caller's side: one attempt, or a call seen as one
	roleLogical             // the caller's side of a whole call, with its attempts below
	roleAttempt             // one attempt below a roleLogical
	roleMissing             // a parent that was not seen
)

// maxClimb is through how many wrappers a call site is looked for.
const maxClimb = 8

// tree is one trace, rebuilt for every trace in the same memory. Spans are named
// by their index; parents that were not seen have indices past the last span.
type tree struct {
	j     *joiner
	spans []span
	roles []role
	par   []int32 // parent; -1 for a root
	up    []int32 // the nearest ancestor that is no wrapper; -1 if there is none
	wrap  []uint32
	holds []int32 // for an attempt: the logical span it belongs to, else -1

	// Entries of a client span, and attempts of a logical one, as lists in order
	// of start: first, then next; -1 ends.
	firstEntry, nextEntry     []int32
	firstAttempt, nextAttempt []int32

	slots []int32 // open-addressing index from span ID to 1 + span
	mask  uint64
	ghost []uint64 // IDs of the missing parents
	huge  bool
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	return s[:n]
}

// build reads the shape of one trace, whose spans are in order of start.
func (t *tree) build(spans []span) {
	t.spans = spans
	n := len(spans)
	t.huge = n > t.j.cfg.MaxTraceSpans
	size := 4
	for size < 3*n {
		size *= 2
	}
	t.slots = grow(t.slots, size)
	clear(t.slots)
	t.mask = uint64(size - 1)
	t.ghost = t.ghost[:0]
	t.par = grow(t.par, n)
	for i := range spans {
		t.insert(int32(i))
	}
	for i := range spans {
		t.par[i] = t.parent(int32(i))
	}
	t.breakCycles()
	all := n + len(t.ghost)
	t.roles, t.up, t.wrap, t.holds = grow(t.roles, all), grow(t.up, all), grow(t.wrap, all), grow(t.holds, all)
	t.firstEntry, t.nextEntry = grow(t.firstEntry, all), grow(t.nextEntry, all)
	t.firstAttempt, t.nextAttempt = grow(t.firstAttempt, all), grow(t.nextAttempt, all)
	for i := range all {
		t.firstEntry[i], t.nextEntry[i], t.firstAttempt[i], t.nextAttempt[i] = -1, -1, -1, -1
		t.up[i], t.holds[i], t.wrap[i] = -1, -1, 0
		if i >= n {
			t.roles[i] = roleMissing
		} else {
			t.roles[i] = t.role(int32(i))
		}
	}
	t.climb()
	t.contain()
	t.enter()
}

func (t *tree) insert(i int32) {
	at := mix(t.spans[i].id) & t.mask
	for t.slots[at] != 0 {
		at = (at + 1) & t.mask
	}
	t.slots[at] = i + 1
}

// find returns the span or missing parent of an ID. Where two spans share it,
// it is the caller's side if client is set, else the callee's.
func (t *tree) find(id uint64, client bool) int32 {
	found := int32(-1)
	for at := mix(id) & t.mask; t.slots[at] != 0; at = (at + 1) & t.mask {
		i := t.slots[at] - 1
		if int(i) >= len(t.spans) {
			if t.ghost[int(i)-len(t.spans)] == id {
				return i
			}
			continue
		}
		if t.spans[i].id != id {
			continue
		}
		if found < 0 || t.spans[i].serverSide() != client {
			found = i
		}
	}
	return found
}

func (t *tree) parent(i int32) int32 {
	s := &t.spans[i]
	if s.flags&flagShared != 0 || s.serverSide() {
		if p := t.find(s.id, true); p >= 0 && p != i && int(p) < len(t.spans) && !t.spans[p].serverSide() {
			return p
		}
	}
	if s.parent == 0 {
		return -1
	}
	if s.parent == s.id {
		return -1 // its own parent: a damaged span
	}
	if p := t.find(s.parent, s.serverSide()); p >= 0 {
		return p
	}
	ghost := int32(len(t.spans) + len(t.ghost))
	t.ghost = append(t.ghost, s.parent)
	at := mix(s.parent) & t.mask
	for t.slots[at] != 0 {
		at = (at + 1) & t.mask
	}
	t.slots[at] = ghost + 1
	return ghost
}

// breakCycles makes roots of spans that are their own ancestors, which only
// damaged traces have.
func (t *tree) breakCycles() {
	n := len(t.spans)
	t.up = grow(t.up, n)
	clear(t.up)
	for i := range n {
		mark := int32(i) + 1
		for at := int32(i); at >= 0 && int(at) < n && t.up[at] == 0; {
			t.up[at] = mark
			p := t.par[at]
			if p >= 0 && int(p) < n && t.up[p] == mark {
				t.par[at] = -1
			}
			at = t.par[at]
		}
	}
}

// role reads what a span says of itself; the kind is a hint.
func (t *tree) role(i int32) role {
	s := &t.spans[i]
	switch s.attempt {
	case evidence.RoleEntry:
		return roleEntry
	case evidence.RoleLogical:
		return roleLogical
	case evidence.RoleAttempt:
		return roleAttempt
	}
	if s.serverSide() {
		return roleEntry
	}
	if s.clientSide() {
		return roleCall
	}
	o := &t.j.l.ops.keys[s.op]
	if o.protocol != "" && s.peer != 0 && s.flags&flagRemote == 0 {
		return roleCall
	}
	if s.flags&flagRemote != 0 {
		return roleEntry
	}
	if p := t.par[i]; p >= 0 && int(p) < len(t.spans) {
		a, b := t.service(p), t.service(i)
		if a != "" && b != "" && a != b {
			return roleEntry
		}
	}
	return roleOther
}

func (t *tree) service(i int32) string { return t.j.l.places.keys[t.spans[i].place].service }

// climb finds for each span the nearest ancestor that is no wrapper.
func (t *tree) climb() {
	for i := range t.spans {
		p := t.par[i]
		if p >= 0 && int(p) < len(t.spans) && t.roles[p] == roleOther {
			t.wrap[i] = t.spans[p].op
		}
		for steps := 0; p >= 0 && int(p) < len(t.spans) && t.roles[p] == roleOther && steps < maxClimb; steps++ {
			if t.par[p] == -1 {
				break // a root of its own kind is where the work began
			}
			p = t.par[p]
		}
		t.up[i] = p
	}
}

// family reports whether spans of these protocols may be one call at two depths.
func family(above, below string) bool {
	if above == below {
		return true
	}
	rpc := func(p string) bool { return p == "grpc" || p == "dubbo" || p == "rpc" }
	switch {
	case rpc(above) && rpc(below):
		return true
	case below == "http":
		return rpc(above) || above == "aws" || above == "db"
	}
	return below == "" || above == ""
}

// contain puts attempts below the logical calls that they serve.
func (t *tree) contain() {
	for i := range t.spans {
		if r := t.roles[i]; r != roleCall && r != roleAttempt && r != roleLogical {
			continue
		}
		p := t.up[i]
		if p < 0 || int(p) >= len(t.spans) {
			continue
		}
		if r := t.roles[p]; r != roleCall && r != roleAttempt && r != roleLogical {
			continue
		}
		if family(t.protocol(p), t.protocol(int32(i))) && t.service(p) == t.service(int32(i)) {
			t.holds[i] = p
		}
	}
	// A container holds what is like it; what is unlike it was called by it.
	for i := len(t.spans) - 1; i >= 0; i-- {
		if p := t.holds[i]; p >= 0 {
			t.nextAttempt[i], t.firstAttempt[p] = t.firstAttempt[p], int32(i)
		}
	}
	for i := range t.spans {
		if t.firstAttempt[i] >= 0 {
			t.settle(int32(i))
		}
	}
	for i := range t.spans {
		to := t.up[i]
		for t.passedBy(to) {
			to = t.up[to]
		}
		for at := int32(i); at != to && t.up[at] != to; { // all on the way lead there: nobody walks it twice
			at, t.up[at] = t.up[at], to
		}
	}
	for i := range t.spans {
		switch {
		case t.holds[i] >= 0:
			t.roles[i] = roleAttempt
		case t.firstAttempt[i] >= 0:
			t.roles[i] = roleLogical
		case t.roles[i] == roleAttempt || t.roles[i] == roleLogical:
			t.roles[i] = roleCall // alone: what it belongs to was not seen
		}
	}
}

// passedBy reports whether a span is no call and no operation: what it made was
// made by the one above it.
func (t *tree) passedBy(p int32) bool {
	return p >= 0 && int(p) < len(t.spans) && t.roles[p] == roleOther && t.up[p] >= 0
}

// settle decides which of the spans below a client span are its attempts: those
// that ask for the same thing. If it is no more than a wrapper around calls that
// went on after a success, none are.
func (t *tree) settle(p int32) {
	explicit, failed := true, true
	last := int32(-1)
	for c := t.firstAttempt[p]; c >= 0; {
		next := t.nextAttempt[c]
		s := &t.spans[c]
		if s.attempt != evidence.RoleAttempt && !t.sameRequest(p, c) {
			t.holds[c], t.nextAttempt[c] = -1, -1
			if last < 0 {
				t.firstAttempt[p] = next
			} else {
				t.nextAttempt[last] = next
			}
			c = next
			continue
		}
		explicit = explicit && s.attempt == evidence.RoleAttempt
		if next >= 0 {
			failed = failed && s.class != isOK
		}
		last, c = c, next
	}
	if explicit || failed || t.spans[p].attempt == evidence.RoleLogical {
		return
	}
	for c := t.firstAttempt[p]; c >= 0; {
		next := t.nextAttempt[c]
		t.holds[c], t.nextAttempt[c] = -1, -1
		c = next
	}
	t.firstAttempt[p] = -1
	t.roles[p] = roleOther
}

// sameRequest reports whether span c, below client span p, asks for what p asks
// for: the same operation, or p's request as the transport below carries it.
func (t *tree) sameRequest(p, c int32) bool {
	a, b := &t.spans[p], &t.spans[c]
	if a.op == b.op || a.attempt == evidence.RoleLogical {
		return true
	}
	x, y := &t.j.l.ops.keys[a.op], &t.j.l.ops.keys[b.op]
	switch {
	case x.protocol != y.protocol:
		return true // what is no family was not held
	case x.protocol == "http":
		verb := func(m string) string { v, _, _ := strings.Cut(m, " "); return v }
		bare := !strings.Contains(x.method, " ") || !strings.Contains(y.method, " ")
		return verb(x.method) == verb(y.method) && (bare || a.ident != 0 && a.ident == b.ident)
	case x.protocol == "db":
		return a.query != 0 && a.query == b.query || x.db == y.db && x.method == "" || y.method == ""
	}
	return x.method == y.method && (x.service == "" || y.service == "")
}

func (t *tree) protocol(i int32) string { return t.j.l.ops.keys[t.spans[i].op].protocol }

// enter hangs the callee's spans on the caller's.
func (t *tree) enter() {
	for i := len(t.spans) - 1; i >= 0; i-- {
		if t.roles[i] != roleEntry {
			continue
		}
		p := t.up[i]
		if p < 0 {
			continue
		}
		switch t.roles[p] {
		case roleCall, roleAttempt, roleLogical, roleMissing:
			t.nextEntry[i], t.firstEntry[p] = t.firstEntry[p], int32(i)
		}
	}
}
