package parsers

import (
	"encoding/binary"
	"math"
	"strconv"
)

// protoField is one field of a message: a number in v, or a text or message in b.
type protoField struct {
	num, wire int
	v         uint64
	b         []byte
}

// protoMessage goes through the fields of a message.
type protoMessage struct {
	b    []byte
	torn bool // it is not well formed
}

// next reads the next field. It returns false at the end of the message, and
// where it is broken.
func (m *protoMessage) next(f *protoField) bool {
	if len(m.b) == 0 || m.torn {
		return false
	}
	tag := uint64(m.b[0])
	width := 1
	if tag >= 0x80 {
		tag, width = binary.Uvarint(m.b)
	}
	if width <= 0 || tag>>3 == 0 {
		m.torn = true
		return false
	}
	b := m.b[width:]
	f.num, f.wire, f.v, f.b = int(tag>>3), int(tag&7), 0, nil
	switch f.wire {
	case 2:
		size, width := protoShort(b)
		if width == 0 {
			var long uint64
			if long, width = binary.Uvarint(b); width <= 0 || long > uint64(len(b)) {
				m.torn = true
				return false
			}
			size = int(long)
		}
		if size > len(b)-width {
			m.torn = true
			return false
		}
		f.b = b[width : width+size]
		m.b = b[width+size:]
		return true
	case 0:
		if len(b) > 0 && b[0] < 0x80 {
			f.v, width = uint64(b[0]), 1
		} else {
			f.v, width = binary.Uvarint(b)
		}
	case 1:
		if width = 8; len(b) >= 8 {
			f.v = binary.LittleEndian.Uint64(b)
		}
	case 5:
		if width = 4; len(b) >= 4 {
			f.v = uint64(binary.LittleEndian.Uint32(b))
		}
	default:
		width = 0
	}
	if width <= 0 || width > len(b) {
		m.torn = true
		return false
	}
	m.b = b[width:]
	return true
}

// protoValue is a decoded AnyValue, as far as it is a scalar; of a list, the
// first element.
type protoValue struct {
	kind byte // 's' text, 'i' integer, 'b' boolean, 'm' members (in text), 0 none
	n    int64
	text []byte
}

// protoAny decodes an AnyValue.
func protoAny(b []byte, depth int) (v protoValue) {
	var f protoField
	for m := (protoMessage{b: b}); m.next(&f); {
		switch f.num {
		case 1, 7: // text, bytes
			v = protoValue{kind: 's', text: f.b}
		case 2:
			v = protoValue{kind: 'b', n: int64(f.v & 1)}
		case 3:
			v = protoValue{kind: 'i', n: int64(f.v)}
		case 4:
			v = protoValue{kind: 'i', n: int64(math.Float64frombits(f.v))}
		case 5:
			var first protoField
			list := protoMessage{b: f.b}
			if list.next(&first) && first.num == 1 && depth < 6 {
				v = protoAny(first.b, depth+1)
			}
		case 6:
			v = protoValue{kind: 'm', text: f.b}
		}
	}
	return v
}

// str returns a scalar as text; nil if it is none.
func (v protoValue) str() []byte {
	switch v.kind {
	case 's':
		return v.text
	case 'i':
		return strconv.AppendInt(nil, v.n, 10)
	case 'b':
		return strconv.AppendBool(nil, v.n != 0)
	}
	return nil
}

// protoShort reads a length of one or two bytes.
func protoShort(b []byte) (n, width int) {
	switch {
	case len(b) > 0 && b[0] < 0x80:
		return int(b[0]), 1
	case len(b) > 1 && b[1] < 0x80:
		return int(b[0]&0x7f) | int(b[1])<<7, 2
	}
	return 0, 0
}

// protoPair takes apart a message of two texts or messages in fields 1 and 2, as
// attributes are, written in either order. It says no to any other.
func protoPair(b []byte) (one, two []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n, width := protoShort(b[1:])
	at := 1 + width + n
	if width == 0 || at+1 >= len(b) {
		return nil, nil, false
	}
	x := b[1+width : at]
	m, width := protoShort(b[at+1:])
	if width == 0 || at+1+width+m != len(b) {
		return nil, nil, false
	}
	y := b[at+1+width:]
	switch {
	case b[0] == 0x0a && b[at] == 0x12:
		return x, y, true
	case b[0] == 0x12 && b[at] == 0x0a:
		return y, x, true
	}
	return nil, nil, false
}

// protoScalar decodes an AnyValue that is a text, a number or a boolean and
// nothing else. It says no to any other.
func protoScalar(b []byte) (v protoValue, ok bool) {
	if len(b) < 2 {
		return v, false
	}
	switch b[0] {
	case 0x0a:
		n, width := protoShort(b[1:])
		return protoValue{kind: 's', text: b[min(1+width, len(b)):]}, width > 0 && 1+width+n == len(b)
	case 0x10:
		return protoValue{kind: 'b', n: int64(b[1])}, len(b) == 2 && b[1] < 2
	case 0x18:
		n, width := binary.Uvarint(b[1:])
		return protoValue{kind: 'i', n: int64(n)}, width > 0 && 1+width == len(b)
	}
	return v, false
}
