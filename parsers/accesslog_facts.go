package parsers

import "bytes"

// accessFacts is what the sample values of one column have in common: how many
// of its elements are what. A value that is a list counts each of its elements.
type accessFacts struct {
	values, elems int
	multi         int // values that are lists of several
	dash          int // elements that are "-" or empty
	dashes        int // values that are nothing else
	status        int // three digits from 100 to 599; counted as whole, too
	whole         int // digits
	milli         int // digits with three decimals
	decimal       int // digits with any decimals, those with three included
	united        int // a duration with its unit
	addr          int // host:port, unix:path
	ip            int
	hex32, uuid   int
	parent        int // traceparent
	request       int // GET /path HTTP/1.1
	verb, path    int
	clock         int  // a date with a time
	epoch         int  // seconds or milliseconds since 1970
	grpc          int  // statuses of gRPC, by number or by name
	grpcFailed    bool // one of them is neither 0 nor 1, which flags are, too
	word          int  // anything else without blanks
	same          bool
	first         []byte
}

// add counts a sample value.
func (f *accessFacts) add(v []byte) {
	if f.values == 0 {
		f.first, f.same = v, true
	} else if f.same && !bytes.Equal(v, f.first) {
		f.same = false
	}
	f.values++
	if isDash(v) {
		f.elems++
		f.dash++
		f.dashes++
		return
	}
	if verb, _ := requestParts(v); verb != nil && !isClock(v) {
		f.elems++
		f.request++
		return
	}
	n := 0
	for list := v; ; n++ {
		elem, rest, _ := nextElement(list)
		f.element(elem)
		if list = rest; len(list) == 0 {
			break
		}
	}
	if n > 0 {
		f.multi++
	}
}

func (f *accessFacts) element(v []byte) {
	f.elems++
	if name := rpcStatusName(v, "grpc"); isGRPCStatus(name) {
		f.grpc++
		f.grpcFailed = f.grpcFailed || string(v) != "0" && string(v) != "1"
	}
	whole, decimals := numberShape(v)
	switch {
	case isDash(v), string(v) == "-1":
		f.dash++
	case whole == 3 && decimals < 0 && v[0] >= '1' && v[0] <= '5':
		f.status++
		f.whole++
	case (whole == 10 || whole == 13) && v[0] == '1':
		f.epoch++
		if decimals < 0 {
			f.whole++
		}
	case whole > 0 && decimals < 0:
		f.whole++
	case whole > 0:
		f.decimal++
		if decimals == 3 {
			f.milli++
		}
	case isClock(v):
		f.clock++
	case isUpstreamAddr(v):
		f.addr++
	case allHex(v, 32):
		f.hex32++
	case len(v) == 36 && v[8] == '-' && v[13] == '-' && v[18] == '-' && v[23] == '-':
		f.uuid++
	case len(v) == 55 && v[2] == '-' && v[35] == '-' && v[52] == '-':
		f.parent++
	case isIP(v):
		f.ip++
	case v[0] == '/' || bytes.HasPrefix(v, []byte("http://")) || bytes.HasPrefix(v, []byte("https://")):
		f.path++
	case isVerb(v):
		f.verb++
	case v[0] >= '0' && v[0] <= '9' && unitDuration(v) >= 0:
		f.united++
	case bytes.IndexByte(v, ' ') < 0:
		f.word++
	}
}

// only reports whether n elements are all that are not dashes, and not none.
func (f *accessFacts) only(n int) bool { return n > 0 && n+f.dash == f.elems }

// isStatus reports whether the values are statuses of requests; a few may be 0
// or the like, where none was answered.
func (f *accessFacts) isStatus() bool {
	return f.only(f.whole) && f.multi == 0 && f.status > 0 && f.status*10 >= f.whole*8
}

// numberShape returns how many digits v has before and after its point; whole
// is 0 if it is no number, decimals -1 if it has no point.
func numberShape(v []byte) (whole, decimals int) {
	decimals = -1
	for _, c := range v {
		switch {
		case c-'0' <= 9 && decimals < 0:
			whole++
		case c-'0' <= 9:
			decimals++
		case c == '.' && decimals < 0:
			decimals = 0
		default:
			return 0, -1
		}
	}
	return whole, decimals
}

func allHex(v []byte, n int) bool {
	if len(v) != n {
		return false
	}
	for _, c := range v {
		if c-'0' > 9 && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// isIP reports whether v looks like an address without a port.
func isIP(v []byte) bool {
	dots, colons := 0, 0
	for _, c := range v {
		switch {
		case c == '.':
			dots++
		case c == ':':
			colons++
		case c-'0' <= 9:
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			dots -= 8
		default:
			return false
		}
	}
	return dots == 3 && colons == 0 || colons >= 2
}

// isClock reports whether v is a date with a time of day.
func isClock(v []byte) bool {
	if len(v) < 14 {
		return false
	}
	var s stamp
	n := readStamp(v, &s)
	return n > 0 && s.month > 0 && len(bytes.TrimSpace(v[n:])) == 0
}
