package ledger

// appendRoute appends an HTTP target with its query and whatever names one thing
// removed: numbers, UUIDs, hexadecimal and other long mixed identifiers become
// {id}, so that a route stands for all its requests.
func appendRoute(dst []byte, path []byte) []byte {
	path = withoutOrigin(path)
	segments := 0
	for i := 0; i < len(path); {
		if path[i] == '?' || path[i] == '#' || path[i] == ';' {
			break
		}
		if path[i] == '/' {
			dst = append(dst, '/')
			i++
			continue
		}
		n, seen := i, uint64(0)
		for n < len(path) {
			c := routeBytes[path[n]]
			if c&segmentEnd != 0 {
				break
			}
			seen += c
			n++
		}
		digits, hexes, letters := int(seen&0x1fffff), int(seen>>21&0x1fffff), int(seen>>42)
		switch {
		case segments >= maxSegments:
			return append(dst, "{more}"...)
		case isID(n-i, digits, hexes, letters):
			dst = append(dst, "{id}"...)
		default:
			dst = append(dst, path[i:min(n, i+maxSegment)]...)
		}
		segments++
		i = n
	}
	return dst
}

// routeBytes says of each byte what it counts as in a segment: a digit, a letter
// and what hexadecimal numbers and UUIDs are made of, in 21 bits each, which a
// line's length does not exceed; or that it ends the segment.
var routeBytes = func() (t [256]uint64) {
	for c := range t {
		switch {
		case c == '/' || c == '?' || c == '#' || c == ';':
			t[c] = segmentEnd
		case c >= '0' && c <= '9':
			t[c] = 1 | 1<<21
		case c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
			t[c] = 1<<21 | 1<<42
		case c >= 'g' && c <= 'z' || c >= 'G' && c <= 'Z':
			t[c] = 1 << 42
		case c == '-':
			t[c] = 1 << 21
		}
	}
	return t
}()

const segmentEnd = 1 << 63

const (
	maxSegments = 12
	maxSegment  = 64
)

// withoutOrigin removes "http://host" of an absolute target.
func withoutOrigin(path []byte) []byte {
	if len(path) < 8 || path[0] == '/' {
		return path
	}
	for i := 0; i+2 < len(path) && i < 8; i++ {
		if path[i] == ':' && path[i+1] == '/' && path[i+2] == '/' {
			for n := i + 3; n < len(path); n++ {
				if path[n] == '/' {
					return path[n:]
				}
			}
			return path[len(path):]
		}
	}
	return path
}

// isID reports whether a path segment of n bytes names one thing: all digits
// (with what separates them), a long hexadecimal number, or letters and digits
// mixed as keys are ("SKU-10023", but not "v2" or "oauth2").
func isID(n, digits, hexes, letters int) bool {
	switch {
	case digits == 0:
		return false
	case letters == 0:
		return true
	case hexes == n && n >= 8:
		return true
	}
	return digits >= 3 || n >= 20 && digits >= 2
}
