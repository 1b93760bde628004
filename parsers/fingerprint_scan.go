package parsers

import "bytes"

// Classes of bytes in SQL.
const (
	otherByte uint8 = iota
	spaceByte
	letterByte // may begin a word; so may every byte that is not ASCII
	digitByte
	dollarByte // may continue a word
)

var sqlClass = func() (t [256]uint8) {
	for i := range t {
		switch c := byte(i); {
		case c <= ' ' || c == 0x7f:
			t[i] = spaceByte
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c >= 0x80:
			t[i] = letterByte
		case c >= '0' && c <= '9':
			t[i] = digitByte
		case c == '$':
			t[i] = dollarByte
		}
	}
	return t
}()

// peek returns the byte n places further on, or 0.
func (s *sqlState) peek(n int) byte {
	if s.pos+n < len(s.src) {
		return s.src[s.pos+n]
	}
	return 0
}

func wordByte(c byte) bool { return sqlClass[c] >= letterByte }

// afterOperand reports whether the last token could stand left of an operator.
func (s *sqlState) afterOperand() bool {
	return s.prev == operandTok || s.prev == closeTok
}

// token reads one token. It returns false where nothing more is to be read.
func (f *fingerprinter) token() bool {
	s := &f.sqlState
	c := s.src[s.pos]
	switch sqlClass[c] {
	case spaceByte:
		s.pos++
		return true
	case letterByte:
		return f.wordToken()
	case digitByte:
		f.number()
		return true
	}
	switch c {
	case '\'':
		s.pos++
		f.quotedText('\'', !f.pg)
		s.placeholder(true)
	case '"':
		f.doubleQuoted()
	case '`':
		s.pos++
		from := s.pos
		f.quotedText('`', false)
		quote := byte('`')
		s.writeName(s.inner(from, '`'), quote)
	case '(', '[':
		s.pos++
		return s.open(c)
	case ')', ']':
		s.pos++
		s.close(c)
	case ',':
		s.pos++
		s.separator()
	case ';':
		s.pos++
		s.flushLimit()
		s.notLiteral()
		if s.prev != semiTok && s.prev != noTok {
			s.out = append(s.out, ';')
			s.prev, s.word, s.into = semiTok, plainWord, false
		}
	case '.':
		f.dot()
	case '?':
		s.pos++
		if s.peek(0) == '+' && (s.pos+1 >= len(s.src) || s.src[s.pos+1] == ')' || s.src[s.pos+1] == ']') {
			s.pos++
			s.placeholder(false)
			s.out = append(s.out, '+')
			break
		}
		s.placeholder(false)
	default:
		f.special(c)
	}
	return true
}

// wordToken reads a bare word, or a literal that begins with one: N'…', X'…'.
func (f *fingerprinter) wordToken() bool {
	s := &f.sqlState
	from := s.pos
	i := from + 1
	for i < len(s.src) && sqlClass[s.src[i]] >= letterByte {
		i++
	}
	s.pos = i
	w := s.src[from:i]
	if i < len(s.src) && (s.src[i] == '\'' || s.src[i] == '"' && f.mysql) {
		quote := s.src[i]
		switch {
		case len(w) == 1 && (w[0]|0x20 == 'e'):
			s.pos++
			f.quotedText(quote, true)
			s.placeholder(true)
			return true
		case len(w) == 1 && (w[0]|0x20 == 'n' || w[0]|0x20 == 'x' || w[0]|0x20 == 'b'),
			len(w) > 1 && w[0] == '_' && !f.pg:
			s.pos++
			f.quotedText(quote, !f.pg)
			s.placeholder(true)
			return true
		}
	}
	if len(w) == 1 && w[0]|0x20 == 'u' && s.peek(0) == '&' && s.peek(1) == '\'' {
		s.pos += 2
		f.quotedText('\'', false)
		s.placeholder(true)
		return true
	}
	return s.writeWord(w)
}

// number reads a number, or a word that begins with digits.
func (f *fingerprinter) number() {
	s := &f.sqlState
	from := s.pos
	i := from
	if s.prev == dotTok { // a name such as db.2fa
		for i < len(s.src) && wordByte(s.src[i]) {
			i++
		}
		s.pos = i
		s.writeWord(s.src[from:i])
		return
	}
	for i < len(s.src) && sqlClass[s.src[i]] == digitByte {
		i++
	}
	if i == from+1 && s.src[from] == '0' && i < len(s.src) && (s.src[i]|0x20 == 'x' || s.src[i]|0x20 == 'b') {
		for i++; i < len(s.src) && isHex(s.src[i]); i++ {
		}
	} else {
		if i < len(s.src) && s.src[i] == '.' && !bytes.HasPrefix(s.src[i:], []byte("..")) {
			for i++; i < len(s.src) && sqlClass[s.src[i]] == digitByte; i++ {
			}
		}
		if i+1 < len(s.src) && s.src[i]|0x20 == 'e' {
			j := i + 1
			if s.src[j] == '+' || s.src[j] == '-' {
				j++
			}
			if j < len(s.src) && sqlClass[s.src[j]] == digitByte {
				for i = j; i < len(s.src) && sqlClass[s.src[i]] == digitByte; i++ {
				}
			}
		}
	}
	if i < len(s.src) && sqlClass[s.src[i]] == letterByte { // a name such as 2fa_tokens
		for i < len(s.src) && wordByte(s.src[i]) {
			i++
		}
		s.pos = i
		s.writeWord(s.src[from:i])
		return
	}
	s.pos = i
	s.placeholder(false)
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// dot reads a point: of a qualified name, of a number, or the "..." of a digest.
func (f *fingerprinter) dot() {
	s := &f.sqlState
	if s.peek(1) == '.' && s.peek(2) == '.' {
		s.pos += 3
		s.placeholder(false)
		return
	}
	if !s.afterOperand() && s.prev != dotTok && sqlClass[s.peek(1)] == digitByte {
		s.pos++
		for s.pos < len(s.src) && (sqlClass[s.src[s.pos]] == digitByte || s.src[s.pos]|0x20 == 'e') {
			s.pos++
		}
		s.placeholder(false)
		return
	}
	s.pos++
	s.flushLimit()
	into := s.into
	s.notLiteral()
	s.out = append(s.out, '.')
	s.prev, s.word, s.into = dotTok, plainWord, into
}

// quotedText moves behind the closing quote, or to the end if there is none.
func (f *fingerprinter) quotedText(quote byte, escapes bool) {
	s := &f.sqlState
	for s.pos < len(s.src) {
		i := bytes.IndexByte(s.src[s.pos:], quote)
		if i < 0 {
			s.pos = len(s.src)
			return
		}
		end := s.pos + i
		if escapes {
			if e := bytes.IndexByte(s.src[s.pos:end], '\\'); e >= 0 {
				s.pos = min(s.pos+e+2, len(s.src))
				continue
			}
		}
		if end+1 < len(s.src) && s.src[end+1] == quote {
			s.pos = end + 2
			continue
		}
		s.pos = end + 1
		return
	}
}

// inner returns the text since from without its closing quote.
func (s *sqlState) inner(from int, quote byte) []byte {
	text := s.src[from:s.pos]
	quotes := 0
	for quotes < len(text) && text[len(text)-1-quotes] == quote {
		quotes++
	}
	if quotes%2 == 1 {
		text = text[:len(text)-1]
	}
	return text
}

// doubleQuoted reads what is an identifier in PostgreSQL and mostly a literal
// in MySQL: where it touches a point or follows FROM, it is a name there too.
func (f *fingerprinter) doubleQuoted() {
	s := &f.sqlState
	s.pos++
	from := s.pos
	f.quotedText('"', !f.pg)
	name := s.inner(from, '"')
	if f.pg {
		s.writeName(name, '"')
		return
	}
	isName := s.prev == dotTok || s.peek(0) == '.' || s.into && s.word == intoWord
	if !isName && s.prev == keywordTok && s.wordAt < len(s.out) {
		switch string(bytes.TrimLeft(s.out[s.wordAt:], " ")) {
		case "from", "join", "update":
			isName = true
		}
	}
	if isName && bytes.IndexByte(name, '`') < 0 {
		s.writeName(name, '`')
		return
	}
	s.placeholder(true)
}

// special reads comments, operators and the placeholders that begin with one.
func (f *fingerprinter) special(c byte) {
	s := &f.sqlState
	next := s.peek(1)
	switch c {
	case '/':
		if next == '*' {
			f.comment()
			return
		}
	case '*':
		if next == '/' && s.bang > 0 {
			s.bang--
			s.pos += 2
			return
		}
		if !s.afterOperand() && s.prev != opTok {
			s.pos++
			s.flushLimit()
			s.notLiteral()
			s.blank()
			s.out = append(s.out, '*')
			s.prev, s.word, s.into = operandTok, plainWord, false
			return
		}
	case '-':
		if next == '-' && (f.pg || s.pos+2 >= len(s.src) || sqlClass[s.src[s.pos+2]] == spaceByte) {
			s.toLineEnd()
			return
		}
	case '#':
		if next == '{' {
			s.braced()
			return
		}
		if f.mysql || !f.pg && next != '>' && next != '-' {
			s.toLineEnd()
			return
		}
	case '$':
		switch {
		case next == '{':
			s.braced()
			return
		case sqlClass[next] == digitByte:
			s.pos++
			s.digits()
			s.placeholder(false)
			return
		case !f.mysql && f.dollarQuoted():
			return
		}
	case ':':
		if next != ':' && next != '=' && wordByte(next) && (!s.afterOperand() || s.limit >= limitComma || sqlClass[s.src[max(0, s.pos-1)]] == spaceByte) {
			s.pos++
			for s.pos < len(s.src) && (wordByte(s.src[s.pos]) || s.src[s.pos] == '.') {
				s.pos++
			}
			s.placeholder(false)
			return
		}
	case '@':
		if f.variable() {
			return
		}
	case '%':
		if next == '(' {
			if i := bytes.IndexByte(s.src[s.pos:min(len(s.src), s.pos+80)], ')'); i > 0 {
				s.pos += i + 1
				if wordByte(s.peek(0)) {
					s.pos++
				}
				s.placeholder(false)
				return
			}
		}
		if (next == 's' || next == 'd') && !wordByte(s.peek(2)) && !s.afterOperand() {
			s.pos += 2
			s.placeholder(false)
			return
		}
	}
	n := 1
	for _, op := range longOperators {
		if op[0] == c && bytes.HasPrefix(s.src[s.pos:], op) {
			n = len(op)
			break
		}
	}
	op := s.src[s.pos : s.pos+n]
	s.pos += n
	s.operator(op)
}

// longOperators are those of several bytes, longest first.
var longOperators = [][]byte{
	[]byte("!~~*"), []byte("<=>"), []byte("->>"), []byte("#>>"), []byte("!~*"), []byte("!~~"), []byte("~~*"),
	[]byte("||/"), []byte("->"), []byte("#>"), []byte("<="), []byte(">="), []byte("<>"), []byte("!="), []byte("||"),
	[]byte("&&"), []byte("::"), []byte(":="), []byte("<<"), []byte(">>"), []byte("=>"), []byte("@>"), []byte("<@"),
	[]byte("@@"), []byte("~*"), []byte("!~"), []byte("~~"), []byte("#-"),
}

// variable reads @name, @@name and @p0. It returns false if it is an operator.
func (f *fingerprinter) variable() bool {
	s := &f.sqlState
	n := 1
	if s.peek(1) == '@' {
		n = 2
	}
	if c := s.peek(n); !wordByte(c) && c != '`' || f.pg && n == 2 {
		return false
	}
	from := s.pos
	if s.peek(n) == '`' {
		s.pos += n + 1
		f.quotedText('`', false)
	} else {
		for s.pos += n; s.pos < len(s.src) && wordByte(s.src[s.pos]); s.pos++ {
		}
	}
	text := s.src[from:s.pos]
	if n == 1 && len(text) > 2 && text[1]|0x20 == 'p' && allDigits(text[2:]) {
		s.placeholder(false)
		return true
	}
	s.flushLimit()
	s.notLiteral()
	s.blank()
	s.out = appendLower(s.out, text)
	s.prev, s.word, s.into = operandTok, plainWord, false
	return true
}

func (s *sqlState) digits() {
	for s.pos < len(s.src) && sqlClass[s.src[s.pos]] == digitByte {
		s.pos++
	}
}

// braced reads #{name} and ${name} of SQL mappers.
func (s *sqlState) braced() {
	if i := bytes.IndexByte(s.src[s.pos:], '}'); i >= 0 {
		s.pos += i + 1
	} else {
		s.pos = len(s.src)
	}
	s.placeholder(false)
}

// dollarQuoted reads $tag$…$tag$. It returns false if there is none.
func (f *fingerprinter) dollarQuoted() bool {
	s := &f.sqlState
	i := s.pos + 1
	for i < len(s.src) && i-s.pos < 64 && (sqlClass[s.src[i]] == letterByte || sqlClass[s.src[i]] == digitByte) {
		i++
	}
	if i >= len(s.src) || s.src[i] != '$' {
		return false
	}
	tag := s.src[s.pos : i+1]
	if end := bytes.Index(s.src[i+1:], tag); end >= 0 {
		s.pos = i + 1 + end + len(tag)
	} else {
		s.pos = len(s.src)
	}
	s.placeholder(true)
	return true
}

func (s *sqlState) toLineEnd() {
	if i := bytes.IndexByte(s.src[s.pos:], '\n'); i >= 0 {
		s.pos += i + 1
	} else {
		s.pos = len(s.src)
	}
}

// comment passes by a comment, but reads the content of /*!NNNNN … */.
func (f *fingerprinter) comment() {
	s := &f.sqlState
	rest := s.src[s.pos:]
	if !f.pg && (bytes.HasPrefix(rest, []byte("/*!")) || bytes.HasPrefix(rest, []byte("/*M!"))) {
		s.pos += bytes.IndexByte(rest, '!') + 1
		s.digits()
		s.bang++
		return
	}
	if s.prev != noTok && bytes.HasPrefix(rest, repeatMark[1:]) {
		s.pos += len(repeatMark) - 1
		s.flushLimit()
		s.notLiteral()
		s.out = append(s.out, repeatMark...)
		s.prev, s.word = operandTok, plainWord
		return
	}
	depth, i := 1, 2
	for depth > 0 {
		end := bytes.Index(rest[i:], []byte("*/"))
		if end < 0 {
			s.pos = len(s.src)
			return
		}
		if f.pg {
			depth += bytes.Count(rest[i:i+end], []byte("/*"))
		}
		i += end + 2
		depth--
	}
	s.pos += i
}

// repeatMark stands behind a SELECT that is repeated in a UNION.
var repeatMark = []byte(" /*repeat union all*/")

// foldUnions reduces equal neighbours in a chain of UNIONs to one.
func foldUnions(text []byte) []byte {
	const union, all = " union ", "all "
	out := make([]byte, 0, len(text)+len(repeatMark))
	var last []byte // the part before, without what surrounds the union
	for {
		i := bytes.Index(text, []byte(union))
		part, link := text, 0
		if i >= 0 {
			part, link = text[:i], len(union)
			if bytes.HasPrefix(text[i+link:], []byte(all)) {
				link += len(all)
			}
		}
		core := part[:balanced(part)]
		core = bytes.TrimSuffix(core, repeatMark)
		if last != nil && bytes.Equal(core, last) {
			// Take back the union that was written, and mark what it repeats.
			out = bytes.TrimSuffix(bytes.TrimSuffix(out, []byte(all)), []byte(union))
			if !bytes.HasSuffix(out, []byte(" union")) {
				if !bytes.HasSuffix(out, repeatMark) {
					out = append(out, repeatMark...)
				}
				out = append(out, bytes.TrimPrefix(part[len(core):], repeatMark)...)
			}
		} else {
			out = append(out, part...)
		}
		if i < 0 {
			return out
		}
		last = bytes.TrimSuffix(part, repeatMark)
		last = last[opened(last):]
		out = append(out, text[i:i+link]...)
		text = text[i+link:]
	}
}

// balanced returns where the first parenthesis is closed that was not opened.
func balanced(text []byte) int {
	depth := 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return len(text)
}

// opened returns the place behind the last parenthesis that was not closed.
func opened(text []byte) int {
	depth := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth < 0 {
				return i + 1
			}
		}
	}
	return 0
}
