package parsers

import "encoding/base64"

// traceID reads a trace's ID as any tracer writes it: 32 or 16 hexadecimal
// digits of either case, fewer where leading zeros were lost, perhaps behind
// 0x; or base64, which is what plain protobuf-JSON makes of its bytes.
func traceID(b []byte) (id [16]byte) {
	readID(id[:], b)
	return id
}

// spanID reads a span's ID in the same spellings.
func spanID(b []byte) (id [8]byte) {
	readID(id[:], b)
	return id
}

// readID fills id from the right. What is not an ID leaves it zero.
func readID(id, b []byte) {
	if len(b) > 2 && b[0] == '0' && (b[1] == 'x' || b[1] == 'X') {
		b = b[2:]
	}
	if len(b) <= 2*len(id) && fromHex(id, b) {
		return
	}
	clear(id)
	var buf [24]byte
	for len(b) > 0 && b[len(b)-1] == '=' {
		b = b[:len(b)-1]
	}
	if base64.RawStdEncoding.DecodedLen(len(b)) != len(id) {
		return
	}
	n, err := base64.RawStdEncoding.Decode(buf[:], b)
	if err != nil {
		if n, err = base64.RawURLEncoding.Decode(buf[:], b); err != nil {
			return
		}
	}
	if n == len(id) {
		copy(id, buf[:n])
	}
}

func fromHex(id, b []byte) bool {
	at := len(id) - (len(b)+1)/2
	high := len(b)%2 == 0
	for _, c := range b {
		d := hexDigits[c]
		if d < 0 {
			return false
		}
		if high {
			id[at] = byte(d) << 4
		} else {
			id[at] |= byte(d)
			at++
		}
		high = !high
	}
	return len(b) > 0
}

var hexDigits = func() (t [256]int8) {
	for i := range t {
		t[i] = int8(hexDigit(byte(i)))
	}
	return t
}()
