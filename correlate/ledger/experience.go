package ledger

// Experience is what ledgers have learned of how operations are called, handed
// from one to the next where spans come without an end: a few traces alone would
// not tell retries from loops. Its counts are halved when they are large, so that
// it notices when habits change. A ledger with experience concludes from more
// than its own evidence; it is used by one ledger at a time.
type Experience struct {
	loops   map[habit]*loopSum
	resends map[habit]*resends
	callees map[acquaintance]string // as calleeKey has it; empty if several answered
	most    int
}

// habit is an operation as one service calls it.
type habit struct {
	caller string
	op     op
}

// acquaintance is a calleeKey with names in place of numbers.
type acquaintance struct {
	caller string
	op     op
	peer   peer
	callee string
	kind   uint8
}

const (
	mostHabits = 20_000 // past it, all is forgotten
	mostTimes  = 1 << 15
)

// NewExperience has learned nothing yet.
func NewExperience() *Experience {
	return &Experience{loops: map[habit]*loopSum{}, resends: map[habit]*resends{}, callees: map[acquaintance]string{}, most: mostHabits}
}

// recall adds what this ledger has learned to what is known, and takes over the sums.
func (j *joiner) recall() {
	x := j.cfg.Experience
	if x == nil {
		return
	}
	if len(x.loops)+len(x.resends) > x.most {
		clear(x.loops)
		clear(x.resends)
	}
	known := func(k loopKey) habit { return habit{j.nameList[k.caller], j.l.ops.keys[k.op]} }
	for k, s := range j.loops {
		h := known(k)
		sum := x.loops[h]
		if sum == nil {
			sum = &loopSum{}
			x.loops[h] = sum
		}
		sum.add(s)
		*s = *sum
	}
	for k, s := range j.resends {
		h := known(k)
		sum := x.resends[h]
		if sum == nil {
			sum = &resends{}
			x.resends[h] = sum
		}
		sum.add(s)
		*s = *sum
	}
	j.introduce(x)
}

// introduce adds to what is known who answers whom. An address may have passed
// to another service: what was seen last holds.
func (j *joiner) introduce(x *Experience) {
	if len(x.callees) > 4*x.most {
		clear(x.callees)
	}
	for k, id := range j.callees {
		a, name := j.acquaintance(k), ""
		switch {
		case k.kind == clientsSeen:
			name = k.callee
		case id != severalCallees:
			name = j.nameList[id]
		}
		if had, ok := x.callees[a]; ok && k.kind == byOp && had != name {
			name = ""
		}
		x.callees[a] = name
	}
}

func (j *joiner) acquaintance(k calleeKey) acquaintance {
	return acquaintance{j.nameList[k.place], j.l.ops.keys[k.op], j.l.peers.keys[k.peer], k.callee, k.kind}
}

// known is which callee is known by a key, from these spans or those before.
func (j *joiner) known(k calleeKey) (callee uint32, ok bool) {
	if id, ok := j.callees[k]; ok {
		return id, id != severalCallees
	}
	if j.cfg.Experience == nil {
		return 0, false
	}
	name := j.cfg.Experience.callees[j.acquaintance(k)]
	if name == "" {
		return 0, false
	}
	return j.name(name), true
}

func (s *loopSum) add(o *loopSum) {
	s.candidates += o.candidates
	s.wentOn += o.wentOn
	s.stopped += o.stopped
	s.singles += o.singles
	for i, n := range o.lengths {
		s.lengths[i] += n
	}
	s.longest = max(s.longest, o.longest)
	if s.candidates+s.singles < mostTimes {
		return
	}
	s.candidates /= 2
	s.wentOn /= 2
	s.stopped /= 2
	s.singles /= 2
	for i := range s.lengths {
		s.lengths[i] /= 2
	}
}

func (r *resends) add(o *resends) {
	r.retry += o.retry
	r.redirect += o.redirect
	r.auth += o.auth
	r.same += o.same
	r.mixed += o.mixed
	if r.retry+r.redirect+r.auth+r.same+r.mixed < mostTimes {
		return
	}
	r.retry /= 2
	r.redirect /= 2
	r.auth /= 2
	r.same /= 2
	r.mixed /= 2
}
