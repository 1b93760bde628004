package parsers

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// dockerSplit is the size at which Docker splits a line into several entries.
const dockerSplit = 16 << 10

// dockerJSON reads Docker's json-file driver:
//
//	{"log":"started\n","stream":"stdout","time":"2026-03-14T09:12:33.120Z"}
func dockerJSON(lines [][]byte) peeler {
	var buf []byte
	ended := true
	peel := func(line []byte) (peeled, bool) {
		rest, ok := bytes.CutPrefix(line, []byte(`{"log":"`))
		if !ok {
			return peeled{}, false
		}
		end := endOfString(rest)
		if end < 0 || !bytes.Contains(rest[end:], []byte(`"stream":"std`)) {
			return peeled{}, false
		}
		p := peeled{}
		_, after, ok := bytes.Cut(rest[end:], []byte(`"time":"`))
		if !ok {
			return peeled{}, false
		}
		if i := bytes.IndexByte(after, '"'); i > 0 {
			p.time, _ = time.Parse(time.RFC3339Nano, string(after[:i]))
		}
		buf = unquote(buf[:0], rest[:end])
		p.text = bytes.TrimSuffix(buf, newline)
		p.more = ended && len(p.text) == len(buf) && len(buf) >= dockerSplit-8
		return p, true
	}
	if !agree(lines, 90, 1, peel) {
		return nil
	}
	// Some shippers write the same keys but without line ends.
	with := 0
	for _, line := range lines {
		if bytes.Contains(line, []byte(`\n","`)) {
			with++
		}
	}
	ended = with > 0
	return peel
}

// endOfString returns the offset of the quote that ends a JSON string, or -1.
func endOfString(s []byte) int {
	for i := 0; ; {
		q := bytes.IndexByte(s[i:], '"')
		if q < 0 {
			return -1
		}
		i += q
		slashes := 0
		for slashes < i && s[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
		i++
	}
}

// unquote appends what the inside of a JSON string stands for.
func unquote(dst, s []byte) []byte {
	for len(s) > 0 {
		i := bytes.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		c := s[i+1]
		s = s[i+2:]
		switch c {
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case 'b', 'f':
			dst = append(dst, ' ')
		case 'u':
			r, n := hex4(s)
			s = s[n:]
			if utf16.IsSurrogate(r) && len(s) > 5 && s[0] == '\\' && s[1] == 'u' {
				if low, n := hex4(s[2:]); n == 4 {
					r = utf16.DecodeRune(r, low)
					s = s[6:]
				}
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func hex4(s []byte) (rune, int) {
	if len(s) < 4 {
		return utf8.RuneError, 0
	}
	v, err := strconv.ParseUint(string(s[:4]), 16, 32)
	if err != nil {
		return utf8.RuneError, 0
	}
	return rune(v), 4
}

// cri reads the files of containerd and CRI-O:
//
//	2026-03-14T09:12:33.120456789Z stdout F started
func cri(lines [][]byte) peeler {
	peel := func(line []byte) (peeled, bool) {
		stamp, rest, ok := bytes.Cut(line, []byte(" std"))
		if !ok || len(stamp) < 20 || len(stamp) > 40 || len(rest) < 5 ||
			!bytes.HasPrefix(rest, []byte("out ")) && !bytes.HasPrefix(rest, []byte("err ")) {
			return peeled{}, false
		}
		t, err := time.Parse(time.RFC3339Nano, string(stamp))
		if err != nil {
			return peeled{}, false
		}
		tag, text, _ := bytes.Cut(rest[4:], []byte(" "))
		if len(tag) == 0 || tag[0] != 'F' && tag[0] != 'P' || len(tag) > 1 && tag[1] != ':' {
			return peeled{}, false
		}
		return peeled{text: text, more: tag[0] == 'P', time: t}, true
	}
	if !agree(lines, 90, 1, peel) {
		return nil
	}
	return peel
}

// podPrefix reads kubectl logs --prefix:
//
//	[pod/order-7d9f8b6c5-x2x4z/app] started
func podPrefix(lines [][]byte) peeler {
	peel := func(line []byte) (peeled, bool) {
		rest, ok := bytes.CutPrefix(line, []byte("[pod/"))
		if !ok {
			return peeled{}, false
		}
		end := bytes.IndexByte(rest, ']')
		if end < 0 || bytes.IndexByte(rest[:end], ' ') >= 0 {
			return peeled{}, false
		}
		pod, _, _ := bytes.Cut(rest[:end], []byte("/"))
		return peeled{text: bytes.TrimPrefix(rest[end+1:], []byte(" ")), source: string(pod)}, true
	}
	if !agree(lines, 90, 1, peel) {
		return nil
	}
	return peel
}

// stern reads stern's lines, pod then container; with a namespace before them
// where there are several:
//
//	order-7d9f8b6c5-x2x4z app started
func stern(lines [][]byte) peeler {
	peel := func(line []byte) (peeled, bool) {
		if bytes.HasPrefix(line, []byte("+ ")) || bytes.HasPrefix(line, []byte("- ")) {
			return peeled{drop: true}, bytes.Contains(line, []byte(" › "))
		}
		for words := 0; words < 2; words++ {
			pod, rest, _ := bytes.Cut(line, []byte(" "))
			if isPod(pod) {
				container, text, _ := bytes.Cut(rest, []byte(" "))
				if !isName(container) {
					return peeled{}, false
				}
				return peeled{text: text, source: string(pod)}, true
			}
			if !isName(pod) {
				break
			}
			line = rest
		}
		return peeled{}, false
	}
	if !agree(lines, 95, 3, peel) {
		return nil
	}
	return peel
}

// isName reports whether a word could be the name of a Kubernetes object.
func isName(word []byte) bool {
	for _, c := range word {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' {
			return false
		}
	}
	return len(word) > 0 && len(word) < 254 && word[0] != '-' && (word[0] < '0' || word[0] > '9')
}

// isPod reports whether a word ends as pod names do: a replica set's hash and a
// random part, or a stateful set's ordinal.
func isPod(word []byte) bool {
	i := bytes.LastIndexByte(word, '-')
	if i <= 0 || !isName(word) {
		return false
	}
	tail := word[i+1:]
	if _, err := strconv.ParseUint(string(tail), 10, 16); err == nil {
		return true
	}
	if len(tail) != 5 || !isRandom(tail) {
		return false
	}
	j := bytes.LastIndexByte(word[:i], '-')
	hash := word[j+1 : i]
	return j > 0 && len(hash) >= 6 && len(hash) <= 10 && isRandom(hash) || bytes.ContainsAny(tail, "0123456789")
}

// isRandom reports whether a word is of the letters that Kubernetes draws from.
func isRandom(word []byte) bool {
	for _, c := range word {
		if bytes.IndexByte([]byte("bcdfghjklmnpqrstvwxz2456789"), c) < 0 {
			return false
		}
	}
	return len(word) > 0
}

// compose reads docker compose and docker service logs:
//
//	order-1  | started
func compose(lines [][]byte) peeler {
	column := -1
	names := map[string]bool{}
	peel := func(line []byte) (peeled, bool) {
		bar := bytes.IndexByte(line, '|')
		if bar < 3 || line[bar-1] != ' ' {
			return peeled{}, false
		}
		name := bytes.TrimRight(line[:bar], " ")
		c := name[:min(1, len(name))]
		if len(c) == 0 || (c[0]|0x20 < 'a' || c[0]|0x20 > 'z') || bytes.ContainsAny(name, " \t:=[]{}()\"'") {
			return peeled{}, false
		}
		rest := line[bar+1:]
		if len(rest) > 0 && rest[0] != ' ' {
			return peeled{}, false
		}
		if column < 0 {
			column = bar
		}
		if bar != column && !bytes.ContainsRune(name, '@') {
			return peeled{}, false
		}
		if len(names) < 100 {
			names[string(name)] = true
		}
		return peeled{text: bytes.TrimPrefix(rest, []byte(" ")), source: string(name)}, true
	}
	if !agree(lines, 95, 3, peel) || len(names)*3 > len(lines) {
		return nil
	}
	return peel
}

// journalJSON reads journalctl -o json: an object a line with MESSAGE and
// __REALTIME_TIMESTAMP among its keys.
func journalJSON(lines [][]byte) peeler {
	peel := func(line []byte) (peeled, bool) {
		if len(line) == 0 || line[0] != '{' || !bytes.Contains(line, []byte(`"__REALTIME_TIMESTAMP"`)) {
			return peeled{}, false
		}
		var entry struct {
			Message any    `json:"MESSAGE"`
			Time    string `json:"__REALTIME_TIMESTAMP"`
			Host    string `json:"_HOSTNAME"`
		}
		if json.Unmarshal(line, &entry) != nil {
			return peeled{}, false
		}
		p := peeled{source: entry.Host, time: micros(entry.Time)}
		switch m := entry.Message.(type) {
		case string:
			p.text = []byte(m)
		case []any: // bytes, where the text was not UTF-8
			for _, b := range m {
				if v, ok := b.(float64); ok {
					p.text = append(p.text, byte(v))
				}
			}
		default:
			p.drop = true
		}
		return p, true
	}
	if !agree(lines, 90, 1, peel) {
		return nil
	}
	return peel
}

// micros reads microseconds since 1970; zero if they are not a number.
func micros(s string) time.Time {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMicro(v).UTC()
}

// journalExport reads journalctl -o export: KEY=value lines, a blank one after
// each entry. Text that is not plain stands as KEY, a length of eight bytes and
// the bytes.
func journalExport(lines [][]byte) peeler {
	found := 0
	for _, line := range lines {
		if bytes.HasPrefix(line, []byte("__REALTIME_TIMESTAMP=")) || bytes.HasPrefix(line, []byte("MESSAGE=")) {
			found++
		}
	}
	if found < 2 || !bytes.HasPrefix(lines[0], []byte("__")) {
		return nil
	}
	var at time.Time
	var host string
	raw, first := false, false
	return func(line []byte) (peeled, bool) {
		key, value, ok := bytes.Cut(line, []byte("="))
		isKey := ok && len(key) > 0 && len(bytes.Trim(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")) == 0
		switch {
		case raw && (isKey || len(line) == 0):
			raw = false
		case raw:
			if first && len(line) >= 8 {
				line = line[8:]
			}
			first = false
			return peeled{text: line, time: at, source: host}, true
		}
		switch {
		case string(line) == "MESSAGE":
			raw, first = true, true
		case !isKey:
		case string(key) == "__REALTIME_TIMESTAMP":
			at = micros(string(value))
		case string(key) == "_HOSTNAME":
			host = string(value)
		case string(key) == "MESSAGE":
			return peeled{text: value, time: at, source: host}, true
		}
		return peeled{drop: true}, true
	}
}
