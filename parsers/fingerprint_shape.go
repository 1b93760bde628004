package parsers

import "bytes"

// Statements of one program differ in their literals and in nothing else. The
// shape of a statement is its text with each '…' and each number reduced to a
// sign, found without knowing more of SQL; equal shapes have equal
// fingerprints, so that only the first of each needs to be tokenised.

const maxShape = 2 << 10

// Classes of bytes to the shape.
const (
	shapeCopy  uint8 = iota
	shapeQuote       // begins a string
	shapeDigit
	shapeCheck // may begin a comment
	shapeStop  // the tokeniser must see it
)

var shapeClass = func() (t [256]uint8) {
	for _, c := range []byte("0123456789") {
		t[c] = shapeDigit
	}
	t['\''] = shapeQuote
	for _, c := range []byte("/-") {
		t[c] = shapeCheck
	}
	for _, c := range []byte("\"`#\\$%") {
		t[c] = shapeStop
	}
	for c := range t { // no program writes control bytes into its SQL
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
			t[c] = shapeStop
		}
	}
	return t
}()

// shape appends the shape of a MySQL statement to dst; false if it has
// something that only the tokeniser understands.
func sqlShape(dst, sql []byte) ([]byte, bool) {
	from := 0 // what is not copied yet
	for i := 0; i < len(sql); {
		switch shapeClass[sql[i]] {
		case shapeCopy:
			i++
		case shapeStop:
			return dst, false
		case shapeCheck:
			if i+1 < len(sql) && (sql[i+1] == '*' || sql[i+1] == '-') {
				return dst, false
			}
			i++
		case shapeQuote:
			if i > 0 && wordByte(sql[i-1]) {
				return dst, false // X'…'
			}
			dst = append(append(dst, sql[from:i]...), '\'')
			for {
				end := bytes.IndexByte(sql[i+1:], '\'')
				if end < 0 || bytes.IndexByte(sql[i+1:i+1+end], '\\') >= 0 {
					return dst, false
				}
				i += end + 2
				if i >= len(sql) || sql[i] != '\'' { // '' is a quote inside
					break
				}
			}
			from = i
		default:
			if i > 0 && (wordByte(sql[i-1]) || bytes.IndexByte([]byte(".@:%"), sql[i-1]) >= 0) { // part of a name
				for i++; i < len(sql) && shapeClass[sql[i]] == shapeDigit; i++ {
				}
				continue
			}
			j := i
			for j > 0 && sql[j-1] <= ' ' {
				j--
			}
			if j < i && j > 0 && bytes.IndexByte([]byte(".@:%"), sql[j-1]) >= 0 {
				return dst, false // part of a name, with a blank inside
			}
			at, points := i, 0
			for i++; i < len(sql) && (shapeClass[sql[i]] == shapeDigit || sql[i] == '.'); i++ {
				if sql[i] == '.' {
					points++
				}
			}
			if points > 1 {
				return dst, false // 1..2, 1.2.3: no number that a program writes
			}
			if i < len(sql) && wordByte(sql[i]) || sql[i-1] == '.' {
				continue // 2fa, 0x1f, 1e5
			}
			dst = append(append(dst, sql[from:at]...), '0')
			from = i
		}
		if len(dst) > maxShape {
			return dst, false
		}
	}
	return append(dst, sql[from:]...), true
}
