package parsers

// sqlWord is what a bare word means to the fingerprint.
type sqlWord uint8

const (
	plainWord       sqlWord = iota // an identifier or a function
	keywordWord                    // a blank follows it, and a sign behind it is unary
	inWord                         // IN
	valuesWord                     // VALUES of an insert
	maybeValuesWord                // VALUES where it may be a function
	limitWordW                     // LIMIT
	offsetWord                     // OFFSET
	unionWord                      // UNION
	nullWord                       // NULL, TRUE, FALSE
	isWord                         // IS
	notWord                        // NOT
	typeWord                       // DATE, INTERVAL …: part of the literal that follows
	anyWord                        // ANY, SOME, ALL
	arrayWord                      // ARRAY
	intoWord                       // INTO
	callWord                       // CALL
	useWord                        // USE
)

// classify tells what a word in lower case means.
func classify(w []byte) sqlWord {
	if len(w) < 2 || len(w) > 13 {
		if string(w) == "sql_calc_found_rows" {
			return keywordWord
		}
		return plainWord
	}
	switch string(w) {
	case "select", "from", "where", "and", "or", "on", "as", "by", "set", "having",
		"group", "order", "join", "inner", "outer", "cross", "natural", "using", "when",
		"then", "else", "case", "end", "between", "like", "ilike", "rlike", "regexp",
		"similar", "exists", "distinct", "distinctrow", "returning", "return", "with",
		"recursive", "except", "intersect", "minus", "escape", "div", "mod", "xor",
		"over", "partition", "window", "filter", "within", "asc", "desc", "insert",
		"update", "delete", "conflict", "do", "lateral", "materialized", "for",
		"straight_join", "high_priority", "sql_no_cache", "low_priority", "delayed",
		"ignore", "collate", "rows", "range", "fetch", "top", "sounds", "default",
		"explain", "analyze", "binary":
		return keywordWord
	case "in":
		return inWord
	case "values", "value":
		return valuesWord
	case "limit":
		return limitWordW
	case "offset":
		return offsetWord
	case "union":
		return unionWord
	case "null", "true", "false":
		return nullWord
	case "is":
		return isWord
	case "not":
		return notWord
	case "date", "time", "timestamp", "timestamptz", "interval", "datetime":
		return typeWord
	case "any", "some", "all":
		return anyWord
	case "array":
		return arrayWord
	case "into":
		return intoWord
	case "call":
		return callWord
	case "use":
		return useWord
	}
	return plainWord
}

// writeWord writes a bare word. It returns false where the rest of the
// statement says no more.
func (s *sqlState) writeWord(w []byte) bool {
	at, before, word := len(s.out), s.prev, s.word
	s.blank()
	start := len(s.out)
	s.out = appendLower(s.out, w)
	class := plainWord
	if s.prev != dotTok && (s.peek(0) != '.' || s.peek(1) == '.') {
		class = classify(s.out[start:])
	}
	switch class {
	case nullWord:
		if word != isWord && word != notWord {
			s.out = s.out[:at]
			s.placeholder(false)
			return true
		}
	case offsetWord:
		if s.limit == limitValue {
			s.out = s.out[:at]
			s.limit = limitOffset
			return true
		}
		class = keywordWord
	case useWord:
		if before == noTok {
			s.out = append(s.out[:start], "use ?"...)
			return false
		}
		class = plainWord
	case callWord:
		s.call = before == noTok
		class = keywordWord
	case valuesWord:
		switch before {
		case opTok, commaTok, keywordTok:
			class = plainWord
		case openTok:
			class = maybeValuesWord
		}
	case unionWord:
		s.unions = true
	}
	if s.limit != noLimit {
		text := s.out[start:]
		if s.limit == limitComma || s.limit == limitOffset { // held back, and needed after all
			text = append([]byte(nil), text...)
			s.out = s.out[:at]
			s.flushLimit()
			s.blank()
			s.out = append(s.out, text...)
		}
		s.limit = noLimit
	}
	into := s.into && (before == dotTok || word == intoWord)
	s.wordSign, s.wordLits = s.sign, s.onlyLits()
	s.notLiteral()
	s.wordAt, s.before, s.word, s.into = at, before, class, into
	s.prev = operandTok
	switch class {
	case keywordWord, inWord, valuesWord, maybeValuesWord, isWord, notWord, unionWord:
		s.prev = keywordTok
	case limitWordW:
		s.prev, s.limit = keywordTok, limitWord
	case anyWord: // SELECT ALL, UNION ALL
		if before == keywordTok {
			s.prev = keywordTok
		}
	case intoWord:
		s.prev, s.into = keywordTok, true
	case nullWord:
	}
	return true
}

// writeName writes a quoted identifier. The quotes stay unless the name is
// one that would be read the same without them.
func (s *sqlState) writeName(name []byte, quote byte) {
	s.flushLimit()
	before, word := s.prev, s.word
	s.blank()
	into := s.into && (before == dotTok || word == intoWord)
	s.notLiteral()
	if plainName(name) {
		s.out = append(s.out, name...)
	} else {
		s.out = append(s.out, quote)
		s.out = append(s.out, name...)
		s.out = append(s.out, quote)
	}
	s.prev, s.word, s.into = operandTok, plainWord, into
}

func plainName(name []byte) bool {
	if len(name) == 0 || sqlClass[name[0]] != letterByte {
		return false
	}
	for _, c := range name {
		if c >= 0x80 || c == '$' || c >= 'A' && c <= 'Z' || sqlClass[c] != letterByte && sqlClass[c] != digitByte {
			return false
		}
	}
	return classify(name) == plainWord
}

func appendLower(dst, word []byte) []byte {
	n := len(dst)
	dst = append(dst, word...)
	for i := n; i < len(dst); i++ {
		dst[i] = lowerByte[dst[i]]
	}
	return dst
}

var lowerByte = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if i >= 'A' && i <= 'Z' {
			t[i] = byte(i) + 'a' - 'A'
		}
	}
	return t
}()
