package parsers

import (
	"bytes"
	"sync"
)

// A statement's fingerprint is its text with the literals, the comments and
// the layout removed, so that executions with different arguments are one
// statement:
//
//	SELECT * FROM orders WHERE id=42 AND sku='A-1' LIMIT 10, 20
//	select * from orders where id=? and sku=? limit ?
//
//	INSERT INTO t (a,b) VALUES (1,'x'),(2,'it''s')
//	insert into t (a,b) values (?+)
//
// It is made by one pass over the bytes that writes the normal form as it goes
// and, at a closing parenthesis, may take back what it wrote since the opening
// one. Placeholders of all drivers, digests of performance_schema and texts of
// pg_stat_statements come out the same as the statements they stand for. The
// fingerprint of a fingerprint is itself.

const (
	maxSQL         = 64 << 10 // what lies beyond is not looked at
	maxFingerprint = 4 << 10  // longer ones are cut, and not interned
	maxKnown       = 4096     // distinct fingerprints that are interned
	maxNesting     = 64       // deeper parentheses are not folded
)

// Fingerprint returns the normal form of a statement. The dialect is "mysql"
// (also MariaDB, TiDB), "postgresql", or empty if it is not known. A statement
// that was cut gives a prefix of the whole one's fingerprint, as far as the cut
// did not fall inside a word.
func Fingerprint(dialect, sql string) string {
	f, ok := fingerprinters.Get().(*fingerprinter)
	if !ok {
		f = newFingerprinter("")
	}
	defer fingerprinters.Put(f)
	f.setDialect(dialect)
	f.in = append(f.in[:0], sql[:min(len(sql), maxSQL+1)]...)
	return string(f.normalise(f.in))
}

var fingerprinters sync.Pool

// fingerprinter makes fingerprints without allocating for those seen before.
type fingerprinter struct {
	mysql, pg bool // neither: unknown

	known    map[string]string
	last     []byte // the statement fingerprinted last, and what it gave
	lastText string
	in       []byte            // scratch for strings
	shapes   map[string]string // fingerprints by the shape of the statement
	shape    []byte

	sqlState
}

// sqlState is the state within one statement.
type sqlState struct {
	src []byte
	pos int
	out []byte

	prev     sqlTok  // kind of the last token written
	word     sqlWord // meaning of the last token if it was a word
	quoted   bool    // the last token was a string literal
	wordAt   int     // length of out before the last word and its blank
	before   sqlTok  // kind of the token before the last word
	wordSign int     // sign before it
	wordLits bool    // the parenthesis held only literals before it
	frames   [maxNesting]sqlFrame
	depth    int
	sign     int // length of out before a unary sign that may belong to a literal, else -1
	signTok  sqlTok
	signLit  bool
	into     bool // INTO, or a table's name after it
	limit    limitState
	values   bool // a VALUES list was folded and nothing but a comma followed
	comma    int  // length of out before that comma
	bang     int  // open /*! comments
	unions   bool
	call     bool
}

type sqlFrame struct {
	kind  frameKind
	lits  bool // nothing but placeholders, commas and rows of them so far
	start int  // length of out before the parenthesis
	body  int  // length of out behind it
}

type frameKind uint8

const (
	plainFrame frameKind = iota
	inFrame              // IN (…): folded if all are literals
	rowFrame             // VALUES (…): always folded
	maybeRow             // (VALUES (…) or VALUES(column): folded if all are literals
	moreFrame            // further rows: dropped
	anyFrame             // ANY (…)
	arrayFrame           // ARRAY[…]
)

type sqlTok uint8

const (
	noTok sqlTok = iota
	operandTok
	keywordTok
	openTok
	closeTok
	opTok
	commaTok
	dotTok
	semiTok
)

type limitState uint8

const (
	noLimit     limitState = iota
	limitWord              // LIMIT was read
	limitValue             // and a value
	limitComma             // and a comma, not written yet
	limitOffset            // or OFFSET, not written yet
)

func newFingerprinter(dialect string) *fingerprinter {
	f := &fingerprinter{known: map[string]string{}}
	f.setDialect(dialect)
	return f
}

func (f *fingerprinter) setDialect(dialect string) {
	f.mysql = dialect == "mysql" || dialect == "mariadb" || dialect == "tidb"
	f.pg = dialect == "postgresql"
	f.last, f.shapes = f.last[:0], nil
}

// of returns the fingerprint of a statement as an interned string.
func (f *fingerprinter) of(sql []byte) string {
	if len(sql) == 0 {
		return ""
	}
	if len(f.last) > 0 && bytes.Equal(sql, f.last) {
		return f.lastText
	}
	if len(sql) < maxShape && !f.pg {
		var ok bool
		if f.shape, ok = sqlShape(f.shape[:0], sql); ok {
			if text, ok := f.shapes[string(f.shape)]; ok {
				return text
			}
			text := f.intern(f.normalise(sql))
			if len(f.shapes) < maxKnown {
				if f.shapes == nil {
					f.shapes = map[string]string{}
				}
				f.shapes[string(f.shape)] = text
			}
			return text
		}
	}
	text := f.intern(f.normalise(sql))
	if len(sql) <= maxSQL {
		f.last, f.lastText = append(f.last[:0], sql...), text
	}
	return text
}

func (f *fingerprinter) intern(text []byte) string {
	if s, ok := f.known[string(text)]; ok {
		return s
	}
	s := string(text)
	if len(f.known) < maxKnown && len(s) < maxFingerprint {
		f.known[s] = s
	}
	return s
}

// normalise returns the fingerprint; it is valid until the next call.
func (f *fingerprinter) normalise(sql []byte) []byte {
	cut := len(sql) > maxSQL
	if cut {
		sql = sql[:maxSQL]
	}
	s := &f.sqlState
	s.src, s.pos, s.out = sql, 0, s.out[:0]
	s.prev, s.word, s.quoted, s.before = noTok, plainWord, false, noTok
	s.depth, s.sign, s.into, s.limit, s.values, s.bang = 0, -1, false, noLimit, false, 0
	s.unions, s.call = false, false
	for s.pos < len(s.src) && len(s.out) < 2*maxSQL {
		if !f.token() {
			break
		}
	}
	s.finish()
	out := s.out
	for len(out) > 0 && (out[len(out)-1] == ';' || out[len(out)-1] == ' ') {
		out = out[:len(out)-1]
	}
	if s.unions {
		out = foldUnions(out)
	}
	if len(out) > maxFingerprint {
		out = cutText(out, maxFingerprint)
	}
	return out
}

// cutText cuts text to at most n bytes, not within a character.
func cutText(text []byte, n int) []byte {
	if len(text) <= n {
		return text
	}
	for n > 0 && text[n]&0xc0 == 0x80 {
		n--
	}
	return text[:n]
}

// finish closes what a cut left open, as far as the folding goes.
func (s *sqlState) finish() {
	s.flushLimit()
	for i := range min(s.depth, maxNesting) {
		fr := &s.frames[i]
		switch {
		case fr.kind == rowFrame && len(s.out) > fr.body,
			(fr.kind == inFrame || fr.kind == maybeRow || fr.kind == arrayFrame) && fr.lits && len(s.out) > fr.body && s.out[fr.body] != ',':
			s.out = append(s.out[:fr.body], "?+"...)
			return
		case fr.kind == moreFrame:
			s.out = s.out[:fr.start]
			return
		}
	}
	if s.values && s.prev == commaTok {
		s.out = s.out[:s.comma]
	}
}

// notLiteral notes that a token other than a literal was met.
func (s *sqlState) notLiteral() {
	if s.depth > 0 && s.depth <= maxNesting {
		s.frames[s.depth-1].lits = false
	}
	s.sign = -1
	s.values = false
	s.quoted = false
}

// onlyLits reports whether the open parenthesis holds nothing but literals.
func (s *sqlState) onlyLits() bool {
	return s.depth > 0 && s.depth <= maxNesting && s.frames[s.depth-1].lits
}

// restoreLits takes back notLiteral for a token that belongs to a literal.
func (s *sqlState) restoreLits(lits bool) {
	if lits && s.depth > 0 && s.depth <= maxNesting {
		s.frames[s.depth-1].lits = true
	}
}

// flushLimit writes what was held back behind LIMIT ?.
func (s *sqlState) flushLimit() {
	switch s.limit {
	case limitComma:
		s.out = append(s.out, ',')
		s.prev, s.word = commaTok, plainWord
	case limitOffset:
		s.out = append(s.out, " offset"...)
		s.prev, s.word = keywordTok, plainWord
	}
	s.limit = noLimit
}

// blank writes the blank that stands before a word.
func (s *sqlState) blank() {
	switch s.prev {
	case operandTok, keywordTok, closeTok, semiTok:
		s.out = append(s.out, ' ')
	}
}

// placeholder writes a literal or a parameter.
func (s *sqlState) placeholder(quoted bool) {
	if quoted && s.quoted && s.prev == operandTok && s.sign < 0 && s.limit == limitValue {
		return // adjacent strings are one, also behind LIMIT
	}
	switch s.limit {
	case limitComma, limitOffset:
		s.limit = limitValue // another may follow: LIMIT 1, 2 OFFSET 3
		s.sign = -1
		return
	case limitWord:
		s.limit = limitValue
	case limitValue:
		s.limit = noLimit
	}
	if quoted && s.word == typeWord && s.prev == operandTok { // DATE '…'
		s.out, s.prev, s.sign = s.out[:s.wordAt], s.before, s.wordSign
		s.restoreLits(s.wordLits)
	}
	if s.sign >= 0 {
		s.out, s.prev = s.out[:s.sign], s.signTok
		s.restoreLits(s.signLit)
		s.sign = -1
	}
	if quoted && s.quoted && s.prev == operandTok {
		return // adjacent strings are one
	}
	s.blank()
	s.out = append(s.out, '?')
	s.prev, s.word, s.quoted = operandTok, plainWord, quoted
	s.into, s.values = false, false
}

// operator writes an operator of one or more bytes.
func (s *sqlState) operator(op []byte) {
	unary := len(op) == 1 && (op[0] == '-' || op[0] == '+')
	if !unary || s.limit != limitWord { // LIMIT -1 is LIMIT ?
		s.flushLimit()
	}
	signTok, lits := s.prev, s.onlyLits()
	switch s.prev {
	case operandTok, closeTok, dotTok:
		unary = false
	}
	sign, at := s.sign, len(s.out)
	s.notLiteral()
	switch { // the sign may turn out to be a literal's
	case unary && sign >= 0: // one sign after another
		s.sign = sign
	case unary:
		s.sign, s.signTok, s.signLit = at, signTok, lits
	}
	switch s.prev {
	case keywordTok, opTok, semiTok:
		s.out = append(s.out, ' ')
	}
	s.out = append(s.out, op...)
	s.prev, s.word, s.into = opTok, plainWord, false
}

// open writes an opening parenthesis or bracket. It returns false where the
// rest of the statement says no more: behind CALL p.
func (s *sqlState) open(c byte) bool {
	s.flushLimit()
	if s.call && c == '(' {
		return false
	}
	fr := sqlFrame{start: len(s.out), lits: true}
	row := s.prev == openTok || s.prev == commaTok
	switch {
	case s.word == inWord && c == '(':
		fr.kind = inFrame
	case s.word == valuesWord && c == '(':
		fr.kind = rowFrame
	case s.word == maybeValuesWord && c == '(':
		fr.kind = maybeRow
	case s.word == anyWord && c == '(':
		fr.kind = anyFrame
	case s.word == arrayWord && c == '[':
		fr.kind = arrayFrame
	case s.values && s.prev == commaTok && c == '(':
		fr.kind, fr.start = moreFrame, s.comma
	}
	values := s.values
	if !row {
		s.notLiteral()
	}
	s.sign, s.values, s.quoted = -1, values && fr.kind == moreFrame, false
	if s.prev == keywordTok || s.prev == semiTok || s.into && s.prev == operandTok && c == '(' {
		s.out = append(s.out, ' ')
	}
	s.out = append(s.out, c)
	fr.body = len(s.out)
	if s.depth < maxNesting {
		s.frames[s.depth] = fr
	}
	s.depth++
	s.prev, s.word, s.into = openTok, plainWord, false
	return true
}

// close writes a closing parenthesis or bracket and folds what it closes.
func (s *sqlState) close(c byte) {
	s.flushLimit()
	s.sign, s.values, s.quoted, s.into = -1, false, false, false
	var fr sqlFrame
	if s.depth > 0 {
		s.depth--
		if s.depth < maxNesting {
			fr = s.frames[s.depth]
		}
	}
	body := len(s.out) > fr.body
	switch fr.kind {
	case rowFrame:
		s.out = append(s.out[:fr.body], "?+"...)
		s.values = true
	case moreFrame:
		s.out = s.out[:fr.start]
		s.prev, s.word, s.values = closeTok, plainWord, true
		return
	case inFrame, arrayFrame, maybeRow:
		if fr.lits && body {
			s.out = append(s.out[:fr.body], "?+"...)
			s.values = fr.kind == maybeRow
		}
	case anyFrame:
		if bytes.HasPrefix(s.out[fr.body:], []byte("array[")) {
			s.out = append(s.out[:fr.body], '?')
		}
	}
	if !fr.lits && s.depth > 0 && s.depth <= maxNesting {
		s.frames[s.depth-1].lits = false
	}
	s.out = append(s.out, c)
	s.prev, s.word = closeTok, plainWord
}

// separator writes a comma.
func (s *sqlState) separator() {
	if s.limit == limitValue {
		s.limit = limitComma
		return
	}
	s.flushLimit()
	s.comma = len(s.out)
	s.values = s.values && s.prev == closeTok
	s.out = append(s.out, ',')
	s.prev, s.word, s.sign, s.quoted, s.into = commaTok, plainWord, -1, false, false
}
