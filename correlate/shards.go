package correlate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// A table may be split into many that are alike but for a number at the end of
// their name: orders_0001 … orders_0063, log_202603. Statements that differ in
// nothing else are one statement, on orders_*.

const fewShards = 3 // fewer may be tables of their own

// shardSet is what was told of as one.
type shardSet struct {
	name        string // orders_*
	first, last string
	n           int
}

// joinShards joins statements on tables that are shards of one.
func (e *Engine) joinShards() {
	groups := map[string][]string{}
	for _, fp := range sortedKeys(e.sql) {
		if masked, names := maskShards(fp); len(names) > 0 {
			groups[masked] = append(groups[masked], fp)
		}
	}
	for _, masked := range sortedKeys(groups) {
		list := groups[masked]
		if len(list) < fewShards && e.sql[masked] == nil {
			continue
		}
		sum := e.statement(masked)
		if sum == nil {
			continue
		}
		for _, fp := range list {
			s := e.sql[fp]
			sum.engine = minNonEmpty(sum.engine, s.engine)
			sum.byClient = sum.byClient || s.byClient
			if s.fullScan == evidence.Yes || sum.fullScan == evidence.Unknown {
				sum.fullScan = s.fullScan
			}
			_, names := maskShards(fp)
			sum.absorb(s)
			sum.read(s)
			if base := shardBase(s.table); base != "" {
				s.table = base + "*"
			}
			sum.table = minNonEmpty(sum.table, cmp.Or(s.table, shardBase(names[0])+"*"))
			e.noteShards(names)
			delete(e.sql, fp)
		}
		if base := shardBase(sum.table); base != "" {
			sum.table = base + "*"
		}
	}
}

func (e *Engine) noteShards(names []string) {
	for _, name := range names {
		masked := shardBase(name) + "*"
		i := slices.IndexFunc(e.shards, func(s shardSet) bool { return s.name == masked })
		if i < 0 {
			e.shards = append(e.shards, shardSet{name: masked, first: name, last: name})
			i = len(e.shards) - 1
		}
		s := &e.shards[i]
		s.first, s.last, s.n = min(s.first, name), max(s.last, name), s.n+1
	}
}

// sayShards says which tables were told of as one.
func (e *Engine) sayShards() []incident.Source {
	if len(e.shards) == 0 {
		return nil
	}
	slices.SortFunc(e.shards, func(a, b shardSet) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.name, b.name)) })
	out := incident.Source{Path: "(statements)"}
	for _, s := range e.shards[:min(len(e.shards), 5)] {
		out.Problems = append(out.Problems, lang.Sprintf("statements on %s … %s, alike but for the table's number, are told of as one on %s", s.first, s.last, s.name))
	}
	return []incident.Source{out}
}

// read takes over what another statement examined, if that was more.
func (s *statement) read(o *statement) {
	if o.rowsMax > s.rowsMax || o.rowsMax == s.rowsMax && o.rowsMax >= 0 && o.rowsAt.compare(s.rowsAt) < 0 {
		s.rowsMax, s.rowsSent, s.rowsAt = o.rowsMax, o.rowsSent, o.rowsAt
	}
	if o.scanAt.cite.Source != "" {
		s.planned(o.scanRows, o.scanAt, o.table)
	}
	if o.scanSeen.cite.Source != "" && (s.scanSeen.cite.Source == "" || o.scanSeen.compare(s.scanSeen) < 0) {
		s.scanSeen = o.scanSeen
	}
	s.edged += o.edged
}

// shardBase is a table's name up to its number: "orders_" of "orders_0001";
// empty if it has none.
func shardBase(table string) string {
	table = strings.Trim(table, "`\"")
	stem := strings.TrimRight(table, "0123456789")
	digits := len(table) - len(stem)
	if digits == 0 || digits > 8 || len(stem) < 2 || stem[len(stem)-1] != '_' && digits < 2 {
		return ""
	}
	return stem
}

// maskShards replaces the numbers of tables by a star, and returns the tables
// whose numbers it replaced.
func maskShards(fp string) (masked string, names []string) {
	words := strings.Fields(fp)
	for i, w := range words[:max(0, len(words)-1)] {
		switch strings.ToLower(w) {
		case "from", "join", "into", "update", "table":
			name := tableName(words[i+1])
			if shardBase(name) != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return fp, nil
	}
	masked = fp
	for _, name := range names {
		masked = replaceWord(masked, name, shardBase(name)+"*")
	}
	return masked, names
}

// tableName is a table without its schema, quotes and what follows its name.
func tableName(word string) string {
	if i := strings.IndexAny(word, "(,;"); i >= 0 {
		word = word[:i]
	}
	word = word[strings.LastIndexByte(word, '.')+1:]
	return strings.Trim(word, "`\"")
}

// replaceWord replaces a name wherever it stands by itself.
func replaceWord(text, name, by string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, name)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		end := i + len(name)
		b.WriteString(text[:i])
		if i > 0 && wordByte(text[i-1]) || end < len(text) && wordByte(text[end]) {
			b.WriteString(name)
		} else {
			b.WriteString(by)
		}
		text = text[end:]
	}
}
