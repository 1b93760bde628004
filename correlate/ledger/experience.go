package ledger

// Experience is what ledgers have learned of how operations are called, handed
// from one to the next where spans come without an end: a few traces alone would
// not tell retries from loops. Its counts are halved when they are large, so that
// it notices when habits change. A ledger with experience concludes from more
// than its own evidence; it is used by one ledger at a time.
type Experience struct {
	loops   map[habit]*loopSum
	resends map[habit]*resends
	most    int
}

// habit is an operation as one service calls it.
type habit struct {
	caller string
	op     op
}

const (
	mostHabits = 20_000 // past it, all is forgotten
	mostTimes  = 1 << 15
)

// NewExperience has learned nothing yet.
func NewExperience() *Experience {
	return &Experience{loops: map[habit]*loopSum{}, resends: map[habit]*resends{}, most: mostHabits}
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
