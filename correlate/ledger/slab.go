package ledger

// slab keeps things of one size by numbers from 1, in pieces that are not moved,
// and uses the places of those that are gone again.
type slab[T any] struct {
	pieces [][]T
	made   uint32   // numbers that were given out so far
	free   []uint32 // of those, the ones that were given back
}

// used is how many things are kept.
func (s *slab[T]) used() int { return int(s.made) - len(s.free) }

// take gives out a number. What stands there is left from before.
func (s *slab[T]) take() uint32 {
	if n := len(s.free); n > 0 {
		k := s.free[n-1]
		s.free = s.free[:n-1]
		return k
	}
	s.made++
	if int(s.made/chunk) == len(s.pieces) {
		s.pieces = append(s.pieces, make([]T, chunk))
	}
	return s.made
}

// at is the thing of a number.
func (s *slab[T]) at(n uint32) *T { return &s.pieces[n/chunk][n%chunk] }

// give gives a number back.
func (s *slab[T]) give(n uint32) { s.free = append(s.free, n) }

// sparse reports whether most of the memory is for nothing.
func (s *slab[T]) sparse() bool { return s.made > 16*chunk && s.used() < int(s.made)/8 }
