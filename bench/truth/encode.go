package truth

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Corpus is encoded traffic. It is made once and sent many times, each time
// under other trace IDs, so that the processor time of making it does not count.
type Corpus struct {
	Requests []Request
	Truth    *Truth
}

// Request is one export request, as protobuf or JSON.
type Request struct {
	Body  []byte
	Spans int
	json  bool
	ids   []int // where trace IDs begin
	times []int // where times begin
}

// Encode makes traffic and encodes it.
func Encode(c Config, asJSON bool) (*Corpus, error) {
	x := &Corpus{}
	var err error
	x.Truth, err = Make(c, func(td ptrace.Traces) error {
		r := Request{Spans: td.SpanCount(), json: asJSON}
		var err error
		if asJSON {
			r.Body, err = (&ptrace.JSONMarshaler{}).MarshalTraces(td)
			r.ids = after(r.Body, `"traceId":"`)
			r.times = append(after(r.Body, `"startTimeUnixNano":"`), after(r.Body, `"endTimeUnixNano":"`)...)
		} else {
			r.Body, err = (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
			r.find(0, len(r.Body), 0)
		}
		x.Requests = append(x.Requests, r)
		return err
	})
	return x, err
}

// after finds where a text ends, each time that it stands in another.
func after(body []byte, text string) (list []int) {
	for at := 0; ; {
		i := bytes.Index(body[at:], []byte(text))
		if i < 0 {
			return list
		}
		at += i + len(text)
		list = append(list, at)
	}
}

// find finds the IDs and times of the spans in a message: request, resource,
// scope, span.
func (r *Request) find(from, to, depth int) {
	inner := [...]uint64{1, 2, 2}
	for from < to {
		tag, n := binary.Uvarint(r.Body[from:to])
		from += n
		switch tag & 7 {
		case 0:
			_, n = binary.Uvarint(r.Body[from:to])
			from += n
		case 1:
			if depth == len(inner) && (tag>>3 == 7 || tag>>3 == 8) {
				r.times = append(r.times, from)
			}
			from += 8
		case 5:
			from += 4
		default:
			size, n := binary.Uvarint(r.Body[from:to])
			from += n
			switch {
			case depth < len(inner) && tag>>3 == inner[depth]:
				r.find(from, from+int(size), depth+1)
			case depth == len(inner) && tag>>3 == 1:
				r.ids = append(r.ids, from)
			}
			from += int(size)
		}
	}
}

// Lap appends the request to dst with other trace IDs and later times. Lap 0 is
// the request as it was made.
func (r *Request) Lap(dst []byte, lap uint64, later time.Duration) []byte {
	base := len(dst)
	dst = append(dst, r.Body...)
	body := dst[base:]
	change := mix(lap)
	for _, at := range r.ids {
		if !r.json {
			id := body[at+8 : at+16]
			binary.LittleEndian.PutUint64(id, binary.LittleEndian.Uint64(id)^change)
			continue
		}
		var id [8]byte
		if _, err := hex.Decode(id[:], body[at+16:at+32]); err == nil {
			binary.LittleEndian.PutUint64(id[:], binary.LittleEndian.Uint64(id[:])^change)
			hex.Encode(body[at+16:], id[:])
		}
	}
	if later == 0 {
		return dst
	}
	for _, at := range r.times {
		if !r.json {
			t := body[at : at+8]
			binary.LittleEndian.PutUint64(t, binary.LittleEndian.Uint64(t)+uint64(later))
			continue
		}
		if n, err := strconv.ParseInt(string(body[at:at+19]), 10, 64); err == nil {
			strconv.AppendInt(body[at:at], n+int64(later), 10)
		}
	}
	return dst
}

// mix is the finaliser of splitmix64; it leaves 0 as it is.
func mix(h uint64) uint64 {
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}
