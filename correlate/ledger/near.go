package ledger

import "math/bits"

// What is asked for once per line of a log is mostly among what was asked for a
// moment ago. These stand in front of the maps that hold all of it: they are
// quicker, and forget.

// quickHash is a hash for tables in memory. What must not depend on how it is
// computed uses hashBytes.
func quickHash[T string | []byte](s T) uint64 {
	const k0, k1 = 0xa0761d6478bd642f, 0xe7037ed1a0b428db
	var a, b uint64
	h := uint64(len(s)) ^ k0
	for len(s) > 16 {
		h = fold(load(s)^k1, load(s[8:])^h)
		s = s[16:]
	}
	switch n := len(s); {
	case n >= 8:
		a, b = load(s), load(s[n-8:])
	case n >= 4:
		a, b = uint64(load4(s)), uint64(load4(s[n-4:]))
	case n > 0:
		a = uint64(s[0])<<16 | uint64(s[n/2])<<8 | uint64(s[n-1])
	}
	return fold(a^k1, b^h)
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func load[T string | []byte](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func load4[T string | []byte](s T) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// nearIDs remembers the numbers of a table's keys.
type nearIDs [512]struct {
	hash uint64
	id   uint32
}

// id is the number of a text in t; false if it is not near.
func (n *nearIDs) id(t *table[string], text []byte) (id uint32, slot uint64, ok bool) {
	h := quickHash(text)
	x := &n[h%uint64(len(n))]
	if x.id > 1 && x.hash == h && t.keys[x.id] == string(text) {
		return x.id, h, true
	}
	return 0, h, false
}

func (n *nearIDs) put(hash uint64, id uint32) {
	x := &n[hash%uint64(len(n))]
	x.hash, x.id = hash, id
}

// nearSums remembers the sums of a map.
type nearSums[K comparable] [256]struct {
	key K
	sum *accessSum
}

// tally counts texts, up to a number of distinct ones.
type tally struct {
	slots []tallySlot // a power of two; linear probing
	n     int
}

type tallySlot struct {
	hash  uint64
	text  string
	count int64
}

// add counts a text. It returns false if it is new and there are enough.
func (t *tally) add(text []byte, limit int) bool { return t.addSome(text, 1, limit) }

// addSome counts a text so many times.
func (t *tally) addSome(text []byte, count int64, limit int) bool {
	h := quickHash(text) | 1 // 0 is an empty slot
	if len(t.slots) > 0 {
		if x := t.find(h, text); x.hash != 0 {
			x.count += count
			return true
		}
	}
	if t.n >= limit {
		return false
	}
	if 2*t.n >= len(t.slots) {
		old := t.slots
		t.slots = make([]tallySlot, max(8, 2*len(old)))
		for _, x := range old {
			if x.hash != 0 {
				*t.find(x.hash, []byte(x.text)) = x
			}
		}
	}
	*t.find(h, text) = tallySlot{h, string(text), count}
	t.n++
	return true
}

// find is the slot of a text, or the empty one where it would stand.
func (t *tally) find(h uint64, text []byte) *tallySlot {
	mask := uint64(len(t.slots) - 1)
	for i := h >> 32 & mask; ; i = (i + 1) & mask {
		x := &t.slots[i]
		if x.hash == 0 || x.hash == h && x.text == string(text) {
			return x
		}
	}
}
