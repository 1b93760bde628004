package collector

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/parsers"
)

// What follows is for those who read files that grow, piece by piece: they must
// take an encoding, a name and a packing for what Collect takes them for.

// HintOf tells a service and an instance from the names of folders and file in a
// path.
func HintOf(path string) parsers.Hint { return hintOf(path) }

// Packing names the compression or archive of an input that begins with head;
// empty if there is none.
func Packing(head []byte) string { return packing(head) }

// Decoder turns pieces of a text into UTF-8. A piece ends at the end of a line,
// where [Decoder.Whole] says.
type Decoder struct {
	wide encoding.Encoding // of UTF-16; nil of all else
	high int               // which byte of a line end's two is not NUL
	d    decoder
	mark int // bytes of the mark that the text begins with
}

// NewDecoder makes a decoder of an input that begins with head. If that is no
// text the problem says so.
func NewDecoder(head []byte) (d *Decoder, problem string) {
	d = &Decoder{}
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		d.mark = 3
	case bytes.HasPrefix(head, []byte("\xff\xfe")), isUTF16(head, 0):
		d.wide = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case bytes.HasPrefix(head, []byte("\xfe\xff")), isUTF16(head, 1):
		d.wide, d.high = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), 1
	case packing(head) != "":
		return nil, lang.Sprintf("compressed (%s): not followed", packing(head))
	case looksBinary(head):
		return nil, lang.T("not text and no known binary format")
	}
	if d.wide != nil && (head[0]|head[1]) == 0xff {
		d.mark = 2
	}
	return d, ""
}

// Mark is how many bytes stand before the text.
func (d *Decoder) Mark() int { return d.mark }

// Whole returns how many of some bytes are whole lines. The bytes begin where a
// line does.
func (d *Decoder) Whole(raw []byte) int {
	if d.wide == nil {
		return bytes.LastIndexByte(raw, '\n') + 1
	}
	for i := len(raw)&^1 - 2; i >= 0; i -= 2 {
		if raw[i+d.high] == '\n' && raw[i+1-d.high] == 0 {
			return i + 2
		}
	}
	return 0
}

// Part returns how many of some bytes without a line end can be decoded by
// themselves.
func (d *Decoder) Part(raw []byte) int {
	if d.wide != nil {
		return len(raw) &^ 1
	}
	for n := len(raw); n > 0 && n > len(raw)-utf8.UTFMax; n-- {
		if utf8.RuneStart(raw[n-1]) {
			if !utf8.FullRune(raw[n-1:]) {
				return n - 1
			}
			break
		}
	}
	return len(raw)
}

// Ends appends to list the offsets behind each line end of some bytes.
func (d *Decoder) Ends(list []uint32, raw []byte) []uint32 {
	if d.wide != nil {
		for i := 0; i+1 < len(raw); i += 2 {
			if raw[i+d.high] == '\n' && raw[i+1-d.high] == 0 {
				list = append(list, uint32(i+2))
			}
		}
		return list
	}
	for at := 0; ; {
		i := bytes.IndexByte(raw[at:], '\n')
		if i < 0 {
			return list
		}
		at += i + 1
		list = append(list, uint32(at))
	}
}

// Decode returns a piece as UTF-8: the piece itself if it is, else bytes that
// are used again by the next call.
func (d *Decoder) Decode(raw []byte) []byte {
	if d.wide != nil {
		text, err := d.wide.NewDecoder().Bytes(raw)
		if err != nil {
			return raw
		}
		return text
	}
	if validPrefix(raw) == len(raw) {
		return raw
	}
	d.d.out = d.d.out[:0]
	d.d.lines(raw)
	return d.d.out
}
