package parsers

import (
	"bytes"
	"strconv"
)

// markQuoted reads mail and Markdown quoting, however deep: "> > text".
func markQuoted(lines [][]byte) peeler {
	peel := func(line []byte) (peeled, bool) {
		if len(line) == 0 || line[0] != '>' {
			return peeled{}, false
		}
		for len(line) > 0 && line[0] == '>' {
			line = bytes.TrimPrefix(line[1:], []byte(" "))
		}
		return peeled{text: line}, true
	}
	if !agree(lines, 90, 3, peel) {
		return nil
	}
	return peel
}

var fence = []byte("```")

// fenced blanks the lines that fence code in Markdown. One is enough, for
// nothing is lost by it.
func fenced(lines [][]byte) peeler {
	peel := func(line []byte) (peeled, bool) {
		rest, ok := bytes.CutPrefix(bytes.TrimLeft(line, " "), fence)
		return peeled{}, ok && len(rest) < 20 && bytes.IndexByte(bytes.TrimSpace(rest), ' ') < 0
	}
	for _, line := range lines {
		if _, ok := peel(line); ok {
			return peel
		}
	}
	return nil
}

// backticked reads lines that each stand in backticks.
func backticked(lines [][]byte) peeler {
	peel := func(line []byte) (peeled, bool) {
		s := bytes.TrimSpace(line)
		if len(s) < 3 || s[0] != '`' || s[len(s)-1] != '`' || s[1] == '`' {
			return peeled{}, false
		}
		return peeled{text: s[1 : len(s)-1]}, true
	}
	if !agree(lines, 90, 3, peel) {
		return nil
	}
	return peel
}

// numbered reads lines with their numbers before them, as cat -n, nl, editors
// and code viewers print them:
//
//	   123	text
//	123: text
//	123 | text
//
// The numbers must go up by one, for a log may well begin with a number.
func numbered(lines [][]byte) peeler {
	for _, separator := range []string{"\t", ": ", ":", "|", " | ", "  ", " "} {
		peel := func(line []byte) (peeled, bool) {
			_, text, ok := lineNumber(line, separator)
			return peeled{text: text}, ok
		}
		if !agree(lines, 95, 5, peel) {
			continue
		}
		last, steps, all := 0, 0, 0
		rule := false
		for _, line := range lines {
			n, text, ok := lineNumber(line, separator)
			if ok {
				all++
				if n == last+1 || all == 1 {
					steps++
				}
				last = n
			}
			rule = rule || bytes.Contains(text, []byte("-+-")) || bytes.HasPrefix(line, []byte("-")) ||
				separator == "\t" && bytes.IndexByte(line, '\t') != 6 && bytes.Count(line, []byte("\t")) > 2
		}
		// A table's own numbers stand in its first column, before others.
		if steps*100 >= all*90 && !rule {
			return peel
		}
	}
	return nil
}

func lineNumber(line []byte, separator string) (n int, text []byte, ok bool) {
	s := bytes.TrimLeft(line, " ")
	digits := 0
	for digits < len(s) && digits < 9 && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	if digits == 0 {
		return 0, nil, false
	}
	n, _ = strconv.Atoi(string(s[:digits]))
	rest := s[digits:]
	if text, ok = bytes.CutPrefix(rest, []byte(separator)); ok {
		return n, text, true
	}
	// An empty line may have lost the separator's spaces.
	return n, nil, string(bytes.TrimSpace([]byte(separator))) == string(rest)
}

// grepped reads what grep prints of several files, with numbers or without:
//
//	logs/order.log:123:text
//	logs/order.log-124-text of the context
func grepped(lines [][]byte) peeler {
	peel := func(line []byte) (peeled, bool) {
		if string(line) == "--" {
			return peeled{drop: true}, true
		}
		// The name ends where a separator and perhaps a number follow.
		for i := 1; i < len(line) && i < 300; i++ {
			c := line[i]
			if c == ' ' || c == '\t' || c == '"' || c == '=' || c == '(' || c == '[' {
				break
			}
			if c != ':' && c != '-' || !isFileName(line[:i]) {
				continue
			}
			rest := line[i+1:]
			digits := 0
			for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
				digits++
			}
			if digits > 0 && digits < len(rest) && rest[digits] == c && (c == ':' || digits < 8) {
				return peeled{text: rest[digits+1:], source: string(line[:i])}, true
			}
			if c == ':' {
				return peeled{text: rest, source: string(line[:i])}, true
			}
		}
		return peeled{}, false
	}
	if !agree(lines, 95, 3, peel) {
		return nil
	}
	return peel
}

// isFileName reports whether a word is surely the name of a log file.
func isFileName(word []byte) bool {
	dot := bytes.LastIndexByte(word, '.')
	if dot <= 0 || bytes.Contains(word, []byte("://")) {
		return false
	}
	for dot > 0 && len(word)-dot <= 4 && len(bytes.Trim(word[dot+1:], "0123456789")) == 0 { // app.log.1
		word = word[:dot]
		dot = bytes.LastIndexByte(word, '.')
	}
	if dot <= 0 {
		return false
	}
	switch string(bytes.ToLower(word[dot+1:])) {
	case "log", "txt", "out", "err", "gz", "zst", "dump", "trace", "jstack":
		return true
	}
	return false
}
