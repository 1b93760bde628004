package ledger

// line is what is kept of an access-log line to match it with others.
type line struct {
	id      uint64 // request ID, business key, or client and target
	target  uint64 // full path or method, so that equal lines are equal requests
	start   int64  // ns; 0 if unknown
	dur     int64
	server  uint32
	method  uint32
	source  uint32
	line    int32
	tries   int16 // attempts that the line tells; -1 if none
	caller  bool  // the caller's own log, or a proxy's
	failed  bool
	left    bool // its caller went away
	endless bool // its duration is not known
}

// bag keeps lines, whole groups of one ID at a time: when it is full, half of
// the IDs are let go by their hash, so that what is left does not depend on the
// order of arrival.
type bag struct {
	lines []line
	max   int
	half  int
	lost  int64
}

func (b *bag) add(x *line) {
	mask := uint64(1)<<b.half - 1
	if x.id&mask != 0 {
		b.lost++
		return
	}
	if n := len(b.lines); n == cap(b.lines) {
		size := max(1024, 2*n)
		if n >= 1<<16 {
			size = b.max + 1 // costs nothing until it is used; doubling would copy
		}
		b.lines = append(make([]line, 0, size), b.lines...)
	}
	b.lines = append(b.lines, *x)
	for len(b.lines) > b.max && b.half < 32 {
		b.half++
		mask = uint64(1)<<b.half - 1
		n := 0
		for _, y := range b.lines {
			if y.id&mask == 0 {
				b.lines[n] = y
				n++
			}
		}
		b.lost += int64(len(b.lines) - n)
		b.lines = b.lines[:n]
	}
}

func (b *bag) share() float64 { return 1 / float64(uint64(1)<<b.half) }

func hashBytes(h uint64, s []byte) uint64 {
	for len(s) >= 8 {
		w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		h = (h ^ w) * 0x9e3779b97f4a7c15
		h ^= h >> 32
		s = s[8:]
	}
	for _, c := range s {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return mix(h ^ uint64(len(s)))
}
