package parsers

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// OTLP as protobuf: one export request (its bytes are those of TracesData), or
// what the Collector's file exporter writes with format: proto, requests one
// after the other with their lengths in four bytes, big-endian. With
// compression: zstd it compresses each request, JSON or protobuf, and writes it
// with its length in the same way, so that zstd -d does not understand the file:
//
//	00 00 0c 51 | 0a ce 18 0a 2e 0a 1c 0a 0c service.name …
//	00 00 03 02 | 28 b5 2f fd …
//
// One resource's spans are in memory at a time.
func otlpProtoFormat() Format {
	return Format{
		Name:     "otlp-proto",
		Doc:      "Traces and logs in OTLP's protobuf: requests, and the Collector's file exporter with format: proto or compression: zstd",
		Versions: "OTLP 0.9 to 1.11, Collector 0.165; held to pdata 1.71",
		Signs:    []string{"length in four bytes, then protobuf or zstd", "protobuf that begins with a resource's attributes"},
		Sniff:    sniffOTLPProto,
		Parse:    parseOTLPProto,
	}
}

const (
	maxOTLPFrame   = 256 << 20 // a longer frame is damage
	maxOTLPElement = 64 << 20  // bytes of one resource's spans
)

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

func sniffOTLPProto(_ string, head []byte) Match {
	if isResourceSpans(head) {
		return Sure
	}
	if framedOTLP(head) {
		return Sure
	}
	return No
}

// framedOTLP reports whether a text begins with a length and a request.
func framedOTLP(head []byte) bool {
	if len(head) < 12 {
		return false
	}
	n := binary.BigEndian.Uint32(head)
	payload := head[4:]
	if n < 8 || n > maxOTLPFrame {
		return false
	}
	return bytes.HasPrefix(payload, zstdMagic) || isResourceSpans(payload[:min(len(payload), int(n))]) ||
		head[0] < 0x10 && bytes.HasPrefix(payload, []byte(`{"resource`))
}

// isResourceSpans looks at the head of a message whose first field is one of a
// request: the spans of a resource. The fields may come in any order; pdata
// writes the last ones first.
func isResourceSpans(head []byte) bool {
	if len(head) < 12 || head[0] != 0x0a || !hasControl(head) {
		return false
	}
	inner := 0
	whole := walkProto(head, 1, func(field, wire int, body []byte) bool {
		if field != 1 || wire != 2 {
			return false
		}
		return walkProto(body, 1, func(field, wire int, body []byte) bool {
			inner++
			switch {
			case wire != 2:
				return false
			case field == 3: // schema URL
				return printable(body)
			case field == 1: // resource: attributes, their lost count, entities
				return len(body) == 0 || walkProto(body, 1, func(field, wire int, _ []byte) bool {
					return field == 1 && wire == 2 || field == 2 && wire == 0 || field == 3 && wire == 2
				})
			}
			return (field == 2 || field == 1000) && walkProto(body, 1, func(field, wire int, body []byte) bool {
				switch {
				case wire != 2 || field < 1 || field > 3:
					return false
				case field == 3:
					return printable(body)
				}
				return walkProto(body, 0, func(field, wire int, _ []byte) bool { return field < 32 && wire != 3 && wire != 4 })
			})
		})
	})
	return whole && inner > 0
}

// walkProto calls f for each field of a message that may be cut: field and wire
// type, and what there is of the payload if that is a text or a message. It
// reports whether all of it is well formed, with so many fields at least.
func walkProto(b []byte, least int, f func(field, wire int, body []byte) bool) bool {
	for n := 0; len(b) > 0; n++ {
		tag, width := binary.Uvarint(b)
		if width == 0 {
			return true // cut
		}
		if width < 0 || tag>>3 == 0 || tag>>3 > 1<<20 {
			return false
		}
		b = b[width:]
		field, wire := int(tag>>3), int(tag&7)
		var body []byte
		switch wire {
		case 0:
			_, width = binary.Uvarint(b)
			if width < 0 {
				return false
			}
			b = b[width:]
			if width == 0 {
				b = nil
			}
		case 1:
			b = b[min(len(b), 8):]
		case 5:
			b = b[min(len(b), 4):]
		case 2:
			size, width := binary.Uvarint(b)
			if width < 0 || size > maxOTLPFrame {
				return false
			}
			if width == 0 {
				return true
			}
			b = b[width:]
			body = b[:min(uint64(len(b)), size)]
			b = b[len(body):]
		default:
			return false
		}
		if !f(field, wire, body) {
			return false
		}
		least--
	}
	return least <= 0
}

func hasControl(b []byte) bool {
	for _, c := range b {
		if c < 8 {
			return true
		}
	}
	return false
}

func parseOTLPProto(in *Input, emit Emit) error {
	p := &otlpProto{in: in, r: newSpanReader(in, emit)}
	defer p.close()
	err := p.read()
	for _, logs := range []*logFeed{p.logs, p.docLogs()} {
		if logs != nil {
			if e := logs.close(); err == nil {
				err = e
			}
		}
	}
	return err
}

// docLogs is the text of the log records of requests in JSON, nil if there are none.
func (p *otlpProto) docLogs() *logFeed {
	if p.docs == nil {
		return nil
	}
	return p.docs.logs
}

// read reads all requests.
func (p *otlpProto) read() error {
	in := p.in
	br := bufio.NewReaderSize(in.Reader, 64<<10)
	head, _ := br.Peek(sniffSize)
	if isResourceSpans(head) {
		return p.message(br, -1)
	}
	for {
		var length [4]byte
		switch _, err := io.ReadFull(br, length[:]); {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			in.Skip(0, otlpCut)
			return nil
		case err != nil:
			return err
		}
		n := binary.BigEndian.Uint32(length[:])
		if n > maxOTLPFrame {
			in.Skip(0, "OTLP frame without a plausible length: the rest is not read")
			return nil
		}
		if err := p.frame(br, int64(n)); err != nil {
			if errors.Is(err, errOTLPCut) {
				return nil
			}
			return err
		}
	}
}

const otlpCut = "OTLP protobuf ends in the middle"

var errOTLPCut = errors.New("cut")

// otlpProto reads requests.
type otlpProto struct {
	in     *Input
	r      *spanReader
	names  nameCache
	buf    []byte
	zstd   *zstd.Decoder
	plain  []byte
	packed []byte

	res  [resourceFields]resValue
	log  otlpLog
	logs *logFeed  // nil until there are log records
	docs *spanJSON // of requests in JSON; nil until there is one
}

func (p *otlpProto) close() {
	if p.zstd != nil {
		p.zstd.Close()
	}
}

// frame reads one request of n bytes, compressed or not.
func (p *otlpProto) frame(br *bufio.Reader, n int64) error {
	head, _ := br.Peek(int(min(n, 12)))
	switch {
	case bytes.HasPrefix(head, zstdMagic):
		return p.compressed(br, n)
	case len(head) > 0 && head[0] == '{':
		return p.document(io.LimitReader(br, n))
	}
	return p.message(br, n)
}

// compressed unpacks a request.
func (p *otlpProto) compressed(br *bufio.Reader, n int64) error {
	var err error
	p.packed, err = readInto(p.packed[:0], br, n)
	if err != nil {
		return p.cut(err)
	}
	if p.zstd == nil {
		p.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxOTLPFrame))
		if err != nil {
			return err
		}
	}
	p.plain, err = p.zstd.DecodeAll(p.packed, p.plain[:0])
	if err != nil {
		p.in.Skip(0, "OTLP request that cannot be decompressed")
		return nil
	}
	if len(p.plain) > 0 && p.plain[0] == '{' {
		return p.document(bytes.NewReader(p.plain))
	}
	return p.message(bufio.NewReader(bytes.NewReader(p.plain)), int64(len(p.plain)))
}

// document reads a request in JSON.
func (p *otlpProto) document(r io.Reader) error {
	p.r.noLines = true
	if p.docs == nil {
		p.docs = &spanJSON{r: p.r, j: newJSONStream(r, func(_ int, why string) { p.in.Skip(0, why) })}
	} else {
		p.docs.j.reset(r)
	}
	return p.docs.read()
}

// message reads the fields of a request of n bytes, or up to the end of the
// input if n is negative, one resource at a time.
func (p *otlpProto) message(br *bufio.Reader, n int64) error {
	left := n
	for left != 0 {
		tag, err := readVarint(br, &left)
		if err != nil {
			if n < 0 && errors.Is(err, io.EOF) {
				return nil
			}
			return p.cut(err)
		}
		if tag&7 != 2 || tag>>3 == 0 || tag>>3 > 1000 {
			return p.damaged(br, left)
		}
		size, err := readVarint(br, &left)
		if err != nil {
			return p.cut(err)
		}
		if size > maxOTLPFrame || left >= 0 && int64(size) > left {
			return p.damaged(br, left)
		}
		if left > 0 {
			left -= int64(size)
		}
		if tag != 0x0a || size > maxOTLPElement {
			if tag == 0x0a {
				p.in.Skip(0, "OTLP resource of more than 64 MiB")
			}
			if _, err := br.Discard(int(size)); err != nil {
				return p.cut(err)
			}
			continue
		}
		p.buf = binary.AppendUvarint(append(p.buf[:0], 0x0a), size)
		at := len(p.buf)
		p.buf, err = readInto(p.buf, br, int64(size))
		if err != nil {
			return p.cut(err)
		}
		if err := p.resource(p.buf, p.buf[at:]); err != nil {
			return err
		}
	}
	return nil
}

// damaged passes by the rest of a request.
func (p *otlpProto) damaged(br *bufio.Reader, left int64) error {
	p.in.Skip(0, "OTLP protobuf is broken")
	if left < 0 {
		return nil
	}
	_, err := io.CopyN(io.Discard, br, left)
	if err != nil {
		return p.cut(err)
	}
	return nil
}

// cut notes that the input ends inside a request.
func (p *otlpProto) cut(err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	p.in.Skip(0, otlpCut)
	return errOTLPCut
}

func readVarint(br *bufio.Reader, left *int64) (uint64, error) {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		if *left == 0 {
			return 0, io.ErrUnexpectedEOF
		}
		c, err := br.ReadByte()
		if err != nil {
			if shift > 0 && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		if *left > 0 {
			*left--
		}
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v, nil
		}
	}
	return 0, nil // no tag and no length either
}

// readInto appends n bytes of r, growing as they come.
func readInto(dst []byte, r io.Reader, n int64) ([]byte, error) {
	const step = 1 << 20
	for n > 0 {
		k := int(min(n, step))
		if cap(dst)-len(dst) < k {
			grown := make([]byte, len(dst), max(2*cap(dst), len(dst)+k))
			copy(grown, dst)
			dst = grown
		}
		m, err := io.ReadFull(r, dst[len(dst):len(dst)+k])
		dst = dst[:len(dst)+m]
		if err != nil {
			return dst, err
		}
		n -= int64(k)
	}
	return dst, nil
}

// signal tells what one resource's message is about, which the outer messages
// do not say: a span has its times in fields 7 and 8, a log record in 1 and 11,
// a metric none.
func signal(b []byte) string {
	kind := ""
	walkProto(b, 0, func(_, _ int, body []byte) bool { // the request
		return walkProto(body, 0, func(field, _ int, body []byte) bool { // a resource's
			return field != 2 || walkProto(body, 0, func(field, _ int, body []byte) bool { // a scope's
				if field != 2 {
					return true
				}
				named := false
				walkProto(body, 0, func(field, wire int, _ []byte) bool {
					switch {
					case wire == 1 && (field == 7 || field == 8):
						kind = "spans"
					case wire == 1 && (field == 1 || field == 11):
						kind = "otlp-logs"
					case wire == 2 && field == 1:
						named = true
					}
					return kind == ""
				})
				if kind == "" && named {
					kind = "otlp-metrics"
				}
				return false // one is enough
			})
		})
	})
	return kind
}

func printable(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
