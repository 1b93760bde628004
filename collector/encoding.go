package collector

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/firebreak-io/firebreak/lang"
)

// decode returns an input as UTF-8 text, or as it is if known claims its first
// bytes for a binary format. A problem says why it is neither.
//
// UTF-16 and byte-order marks are told by the first bytes. All else passes
// through while it is valid UTF-8; from the first line that is not, each line
// is looked at for itself, and is taken for GB18030 (of which GBK is a part)
// where that is what its bytes look like.
func decode(r io.Reader, known func(head []byte) bool) (text io.Reader, problem string) {
	br := bufio.NewReaderSize(r, headSize)
	head, _ := br.Peek(headSize)
	if len(head) > 0 && head[0] < ' ' && bytes.ContainsAny(head, "\x00\x01\x02") && known(head) { // mostly text inside, as in OTLP
		return br, ""
	}
	if len(head) > 0 && head[0] == 0 && !isUTF16(head, 1) { // a rotated file may begin with a hole
		if skipNULs(br) {
			return nil, lang.T("nothing but NUL bytes")
		}
		head, _ = br.Peek(headSize)
	}
	switch {
	case len(head) == 0:
		return nil, "empty"
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		br.Discard(3)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), isUTF16(head, 0):
		return transform.NewReader(br, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder()), ""
	case bytes.HasPrefix(head, []byte("\xfe\xff")), isUTF16(head, 1):
		return transform.NewReader(br, unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder()), ""
	case looksBinary(head):
		if known(head) {
			return br, ""
		}
		return nil, lang.T("not text and no known binary format")
	}
	return &decoder{r: br}, ""
}

// skipNULs discards NUL bytes; it reports whether nothing is left.
func skipNULs(br *bufio.Reader) bool {
	for {
		head, err := br.Peek(max(1, min(br.Buffered(), headSize)))
		if len(head) == 0 {
			return true
		}
		n := len(head) - len(bytes.TrimLeft(head, "\x00"))
		br.Discard(n)
		if n < len(head) {
			return false
		}
		if err != nil {
			return true
		}
	}
}

// isUTF16 reports whether every second byte, from odd (0 for little endian),
// looks like the text half of UTF-16 whose other half is mostly NUL.
func isUTF16(head []byte, odd int) bool {
	pairs := len(head) / 2
	if pairs < 4 {
		return false
	}
	text, high := 0, 0
	for i := range pairs {
		if head[2*i+odd] == 0 {
			text++
		}
		if head[2*i+1-odd] == 0 {
			high++
		}
	}
	return high*10 >= pairs*3 && text*50 <= pairs
}

// looksBinary reports whether an input is no text: too many NULs, or control
// bytes together with bytes beyond ASCII. Some control bytes in a log are
// nothing strange: web servers log what they are sent.
func looksBinary(head []byte) bool {
	nul, control, high := 0, 0, 0
	for _, b := range head {
		switch {
		case b == 0:
			nul++
			control++
		case b >= 0x80:
			high++
		case b < ' ' && b != '\t' && b != '\n' && b != '\r' && b != '\f' && b != '\b' && b != 0x1b:
			control++
		}
	}
	n := len(head)
	return nul*10 > n && n > 16 || control*20 > n && (control+high)*10 > 3*n
}

// decoder turns text of unknown encoding into UTF-8. Valid UTF-8 goes through
// with no more than one scan.
type decoder struct {
	r     io.Reader
	err   error
	carry []byte // the beginning of a character whose rest is not read yet

	slow bool   // something was not UTF-8: from there on, line by line
	in   []byte // read, not decoded
	out  []byte // decoded; from at, not returned
	at   int

	utf, gb int // lines seen that were surely UTF-8, and GB18030
}

const decodeBlock = 64 << 10

func (d *decoder) Read(p []byte) (int, error) {
	for len(p) > 0 {
		if d.at < len(d.out) {
			n := copy(p, d.out[d.at:])
			d.at += n
			return n, nil
		}
		d.out, d.at = d.out[:0], 0
		switch {
		case d.slow:
			if d.err != nil && len(d.in) == 0 {
				return 0, d.err
			}
			d.refill()
		case d.err != nil && len(d.carry) == 0:
			return 0, d.err
		case len(p) < 64: // too small to decide anything in: go by way of out
			if cap(d.out) < decodeBlock {
				d.out = make([]byte, 0, decodeBlock)
			}
			d.out = d.out[:d.pass(d.out[:4<<10])]
		default:
			if n := d.pass(p); n > 0 {
				return n, nil
			}
		}
	}
	return 0, nil
}

// pass reads into p and returns how much of it is valid UTF-8. At the first
// bytes that are not, it leaves their line to the slow way.
func (d *decoder) pass(p []byte) int {
	k := copy(p, d.carry)
	d.carry = d.carry[:0]
	n := 0
	for try := 0; n == 0 && d.err == nil; try++ {
		n, d.err = d.r.Read(p[k:])
		if try == 100 {
			d.err = io.ErrNoProgress
		}
	}
	p = p[:n+k]
	valid := validPrefix(p)
	if valid == len(p) {
		return valid
	}
	if tail := p[valid:]; d.err == nil && !utf8.FullRune(tail) {
		d.carry = append(d.carry, tail...)
		return valid
	}
	from := bytes.LastIndexByte(p[:valid], '\n') + 1
	d.in = append(d.in[:0], p[from:]...)
	d.slow = true
	return from
}

// validPrefix returns the length of the longest prefix that is valid UTF-8.
func validPrefix(p []byte) int {
	i := 0
	for {
		i += asciiPrefix(p[i:])
		if i == len(p) {
			return i
		}
		for i < len(p) && p[i] >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(p[i:])
			if r == utf8.RuneError && n == 1 {
				return i
			}
			i += n
		}
	}
}

// asciiPrefix returns the length of the longest prefix that is ASCII.
func asciiPrefix(p []byte) int {
	const high = 0x8080808080808080
	i := 0
	for ; i+32 <= len(p); i += 32 {
		q := p[i : i+32 : i+32]
		if (binary.LittleEndian.Uint64(q)|binary.LittleEndian.Uint64(q[8:])|
			binary.LittleEndian.Uint64(q[16:])|binary.LittleEndian.Uint64(q[24:]))&high != 0 {
			break
		}
	}
	for ; i < len(p) && p[i] < utf8.RuneSelf; i++ {
	}
	return i
}

// refill decodes the next whole lines, or a piece of a very long one.
func (d *decoder) refill() {
	end := bytes.LastIndexByte(d.in, '\n') + 1
	for end == 0 && d.err == nil && len(d.in) < decodeBlock {
		n := len(d.in)
		d.in = slices.Grow(d.in, decodeBlock)
		k, err := d.r.Read(d.in[n : n+decodeBlock])
		d.in, d.err = d.in[:n+k], err
		if i := bytes.LastIndexByte(d.in[n:], '\n'); i >= 0 {
			end = n + i + 1
		}
	}
	if end == 0 {
		end = len(d.in)
		if d.err == nil { // keep a character whole: cut after an ASCII byte if there is one near
			for i := end; i > max(0, end-64); i-- {
				if d.in[i-1] < 0x30 {
					end = i
					break
				}
			}
		}
	}
	d.lines(d.in[:end])
	d.in = d.in[:copy(d.in, d.in[end:])]
}

// lines appends decoded lines to out.
func (d *decoder) lines(block []byte) {
	if utf8.Valid(block) {
		d.out = append(d.out, block...)
		return
	}
	for len(block) > 0 {
		end := bytes.IndexByte(block, '\n') + 1
		if end == 0 {
			end = len(block)
		}
		d.line(block[:end])
		block = block[end:]
	}
}

func (d *decoder) line(line []byte) {
	chars, bad := utfCount(line)
	if bad == 0 {
		if chars > 0 {
			d.utf++
		}
		d.out = append(d.out, line...)
		return
	}
	common, rare, wrong := gbCount(line)
	isGB := wrong == 0 && common > rare
	if chars > bad || d.utf > d.gb && bad <= 3 { // a text cut inside a character, say
		isGB = false
	} else if d.gb > d.utf {
		isGB = wrong == 0 || common > 2*wrong
	}
	if !isGB {
		d.out = append(d.out, line...)
		return
	}
	d.gb++
	out, err := simplifiedchinese.GB18030.NewDecoder().Bytes(line)
	if err != nil {
		out = line
	}
	d.out = append(d.out, out...)
}

// utfCount counts the characters beyond ASCII that are valid UTF-8, and the
// bytes that are not.
func utfCount(line []byte) (chars, bad int) {
	for i := 0; i < len(line); {
		if line[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(line[i:])
		if r == utf8.RuneError && n == 1 {
			bad++
		} else {
			chars++
		}
		i += n
	}
	return chars, bad
}

// gbCount counts the characters of GB18030 in a line: those of the common
// GB2312, rarer ones, and bytes that are none. One cut at the end is forgiven.
func gbCount(line []byte) (common, rare, wrong int) {
	line = bytes.TrimRight(line, "\r\n")
	in := func(i int, from, to byte) bool { return i < len(line) && line[i] >= from && line[i] <= to }
	for i := 0; i < len(line); {
		switch {
		case line[i] < 0x80:
			i++
		case i+1 == len(line):
			return common, rare, wrong
		case in(i, 0xa1, 0xf7) && in(i+1, 0xa1, 0xfe):
			common++
			i += 2
		case in(i, 0x81, 0xfe) && (in(i+1, 0x40, 0x7e) || in(i+1, 0x80, 0xfe)):
			rare++
			i += 2
		case in(i, 0x81, 0xfe) && in(i+1, 0x30, 0x39) && in(i+2, 0x81, 0xfe) && in(i+3, 0x30, 0x39):
			rare++
			i += 4
		default:
			wrong++
			i++
		}
	}
	return common, rare, wrong
}

// toUTF8 decodes a short text, such as a name in an archive.
func toUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	d := &decoder{}
	d.line([]byte(s))
	return string(bytes.ToValidUTF8(d.out, []byte("\ufffd")))
}
