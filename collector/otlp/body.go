package otlp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// Why a request is not taken.
var (
	errNoRoom   = errors.New("firebreak has no room for more requests now")
	errNoMemory = errors.New("firebreak has no memory for more requests now")
	errTooLarge = errors.New("the request is larger than 20 MiB")
	errEncoding = errors.New("the request is compressed in a way that is not read here: use gzip, zstd, snappy, deflate or none")
	errPacked   = errors.New("the request cannot be decompressed")
)

// What decompressing takes, beside what comes out of it.
const (
	gzipMemory = 48 << 10
	zstdMemory = 512 << 10
)

// windows are those that zstd's decoders are made for: small ones, those of encoders
// that stream, and that of a frame that is the largest request in one piece.
var windows = [...]uint64{1 << 20, 8 << 20, maxRequest + 1}

// encodings are what requests may be compressed by, in the words of HTTP's
// Content-Encoding and of grpc-encoding.
const encodings = "gzip, zstd, snappy, deflate"

// fill reads a request's body, of at most maxRequest bytes once unpacked. Each
// piece is paid for before it is read, so that neither many bodies nor one that
// unpacks to much spend what there is not.
func (b *body) fill(from io.Reader, encoding string) error {
	switch encoding {
	case "", "identity":
		return b.read(from)
	case "gzip", "x-gzip":
		return b.unpack(from, gzipMemory, func(r io.Reader) (io.Reader, func(), error) {
			z, _ := gzips.Get().(*gzip.Reader)
			if z == nil {
				z = new(gzip.Reader)
			}
			return z, func() { gzips.Put(z) }, z.Reset(r)
		})
	case "deflate", "zlib": // HTTP's deflate has zlib's frame
		return b.unpack(from, gzipMemory, func(r io.Reader) (io.Reader, func(), error) {
			z, err := zlib.NewReader(r)
			return z, func() {}, err
		})
	case "zstd":
		return b.zstd(from)
	case "snappy", "x-snappy-framed":
		return b.snappy(from)
	}
	return errEncoding
}

// read reads what is not compressed, or not any more.
func (b *body) read(from io.Reader) error {
	for {
		space, err := b.space()
		if err != nil {
			return err
		}
		n, err := from.Read(space)
		b.n += n
		switch {
		case b.n > maxRequest:
			return errTooLarge
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

var (
	gzips sync.Pool
	zstds [len(windows)]sync.Pool
)

// unpack reads through a decompressor that takes some memory.
func (b *body) unpack(from io.Reader, memory int64, open func(io.Reader) (io.Reader, func(), error)) error {
	if err := b.account.take(memory); err != nil {
		return err
	}
	defer b.account.back(memory)
	source := &sourceReader{r: from}
	z, done, err := open(source)
	defer done()
	if err == nil {
		err = b.read(z)
	}
	switch {
	case source.err != nil: // it is not the packing that is at fault
		return source.err
	case err == nil, errors.Is(err, errNoRoom), errors.Is(err, errTooLarge):
		return err
	}
	return errPacked
}

// sourceReader remembers how reading failed.
type sourceReader struct {
	r   io.Reader
	err error
}

func (s *sourceReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// zstd chooses a decoder by the window that the first frame asks for: a decoder
// makes it whatever comes out. Most requests need the small one.
func (b *body) zstd(from io.Reader) error {
	br := bufio.NewReaderSize(from, 4<<10)
	head, err := br.Peek(zstd.HeaderMaxSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var h zstd.Header
	if err := h.Decode(head); err != nil {
		return errPacked
	}
	if h.HasFCS && h.FrameContentSize > maxRequest {
		return errTooLarge
	}
	need := h.WindowSize
	if h.SingleSegment {
		need = h.FrameContentSize
	}
	at := 0
	for windows[at] < need {
		if at++; at == len(windows) {
			return errPacked
		}
	}
	window, pool := windows[at], &zstds[at]
	return b.unpack(br, int64(window)+zstdMemory, func(r io.Reader) (io.Reader, func(), error) {
		z, _ := pool.Get().(*zstd.Decoder)
		if z == nil {
			z, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxRequest+1), zstd.WithDecoderMaxWindow(window))
			if err != nil {
				return nil, func() {}, err
			}
		}
		return z, func() {
			_ = z.Reset(nil) // lets go of the request
			pool.Put(z)
		}, z.Reset(r)
	})
}

var snappyFrame = []byte("\xff\x06\x00\x00sNaPpY")

// snappy reads a stream of frames or, as HTTP has it, one block. Of a block the
// beginning says how long it is.
func (b *body) snappy(from io.Reader) error {
	br := bufio.NewReaderSize(from, 4<<10)
	head, err := br.Peek(len(snappyFrame))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if bytes.Equal(head, snappyFrame) {
		return b.unpack(br, 256<<10, func(r io.Reader) (io.Reader, func(), error) {
			return snappy.NewReader(r), func() {}, nil
		})
	}
	size, err := snappy.DecodedLen(head)
	switch {
	case err != nil:
		return errPacked
	case size > maxRequest:
		return errTooLarge
	}
	if err := b.read(br); err != nil {
		return err
	}
	class := 0
	for classes[class] < size {
		class++
	}
	plain, err := b.another(class)
	if err != nil {
		return err
	}
	out, err := snappy.Decode(*plain, b.bytes())
	b.replace(class, plain, len(out))
	if err != nil {
		return errPacked
	}
	return nil
}
