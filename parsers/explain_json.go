package parsers

import (
	"bytes"
	"encoding/json"
	"sort"
	"strconv"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// EXPLAIN FORMAT=JSON of MySQL 5.6 and later (version 2 since 8.3), EXPLAIN and
// ANALYZE FORMAT=JSON of MariaDB, and FORMAT=TREE and EXPLAIN ANALYZE of MySQL 8:
//
//	"query_block": { "table": { "table_name": "o", "access_type": "ALL", "rows_examined_per_scan": 593709, …
//	"query_plan": { "operation": "Table scan on o", "access_type": "table", "table_name": "o", "estimated_rows": 593709.0 }
//	    -> Table scan on o  (cost=60000 rows=593709) (actual time=0.1..155 rows=600003 loops=1)

const maxPlanText = 4 << 20

func explainFormat() Format {
	return Format{
		Name:     "mysql-explain",
		Doc:      "EXPLAIN of MySQL and MariaDB as JSON or as a tree",
		Versions: "MySQL 5.6–9, MariaDB 10.1–11",
		Signs:    []string{`"query_block": {`, `"query_plan": {`, "-> Table scan on t  (cost=… rows=…)"},
		Marks:    []string{`"query_block": {`, `"query_plan": {`, "  (cost=", "(actual time="},
		Starts: func(line []byte) bool {
			return jsonPlanAt(line) >= 0 || treeLine(line) >= 0
		},
		Block: func(in *Input, emit Emit) error {
			in.Lines.Next()
			m := &mysqlClient{in: in, emit: emit, print: newFingerprinter("mysql")}
			m.time, m.zoned = stampBefore(in)
			sql := explained(in.Lines.Before())
			if jsonPlanAt(in.Lines.Bytes()) >= 0 {
				return m.jsonPlan(sql)
			}
			return m.treePlan(sql)
		},
	}
}

func jsonPlanAt(line []byte) int {
	if i := bytes.Index(line, []byte(`"query_block": {`)); i >= 0 {
		return i
	}
	return bytes.Index(line, []byte(`"query_plan": {`))
}

// jsonPlan reads a plan from its first member on; the current line has it.
func (m *mysqlClient) jsonPlan(sql []byte) error {
	start := m.in.Lines.Number()
	if q := planQuery(m.in.Lines.Before()); q != nil {
		sql = q
	}
	line := m.in.Lines.Bytes()
	rest := line[jsonPlanAt(line):]
	if bytes.Contains(rest, []byte(`{\n`)) { // -B output
		rest = unescapeBatch(rest)
	}
	text := append([]byte{'{'}, rest...)
	var s jsonScan
	done := s.scan(text)
	for done < 0 && len(text) < maxPlanText && m.in.Lines.Next() {
		from := len(text)
		text = append(append(text, '\n'), m.in.Lines.Bytes()...)
		if done = s.scan(text[from:]); done >= 0 {
			done += from
		}
	}
	if done < 0 {
		m.in.Skip(start, "plan cut off")
		return nil
	}
	var doc any
	if json.Unmarshal(text[:done+1], &doc) != nil {
		m.in.Skip(start, "plan that is not JSON")
		return nil
	}
	nodes := collectPlan(doc, nil)
	if len(nodes) == 0 {
		return nil
	}
	return m.plan(start, sql, nodes)
}

// jsonScan finds the end of an object.
type jsonScan struct {
	depth           int
	quoted, escaped bool
}

// scan returns the offset of the brace that closes the object, or -1.
func (s *jsonScan) scan(text []byte) int {
	for i, c := range text {
		switch {
		case s.escaped:
			s.escaped = false
		case s.quoted && c == '\\':
			s.escaped = true
		case c == '"':
			s.quoted = !s.quoted
		case s.quoted:
		case c == '{':
			s.depth++
		case c == '}':
			if s.depth--; s.depth == 0 {
				return i
			}
		}
	}
	return -1
}

// planQuery returns the "query" that version 2 prints above the plan.
func planQuery(before []byte) []byte {
	before = before[max(0, len(before)-16<<10):]
	i := bytes.LastIndex(before, []byte(`"query": "`))
	if i < 0 || bytes.IndexByte(before[i:], '}') > 0 {
		return nil
	}
	line, _, _ := bytes.Cut(before[i+len(`"query": `):], newline)
	var q string
	if json.Unmarshal(bytes.TrimRight(line, ", \r"), &q) != nil {
		return nil
	}
	return []byte(q)
}

// collectPlan walks a document and takes every access to a table.
func collectPlan(v any, nodes []evidence.PlanNode) []evidence.PlanNode {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			nodes = collectPlan(e, nodes)
		}
	case map[string]any:
		table, _ := v["table_name"].(string)
		access, _ := v["access_type"].(string)
		if table != "" && access != "" && len(nodes) < maxPlanNodes {
			nodes = append(nodes, jsonNode(v, table, access))
		}
		for _, k := range sortedKeys(v) {
			nodes = collectPlan(v[k], nodes)
		}
	}
	return nodes
}

func jsonNode(v map[string]any, table, access string) evidence.PlanNode {
	n := evidence.PlanNode{Table: table, Access: access, Rows: evidence.None, ActualRows: evidence.None, Removed: evidence.None}
	switch access {
	case "table":
		n.Access = "ALL"
	case "index":
		if kind, ok := v["index_access_type"].(string); ok {
			switch kind {
			case "index_scan":
			case "index_range_scan":
				n.Access = "range"
			default:
				n.Access = "ref"
			}
		}
	}
	n.Key, _ = v["key"].(string)
	if n.Key == "" {
		n.Key, _ = v["index_name"].(string)
	}
	if keys, ok := v["possible_keys"].([]any); ok {
		var names []string
		for _, k := range keys {
			if s, ok := k.(string); ok {
				names = append(names, s)
			}
		}
		n.PossibleKeys = strings.Join(names, ",")
	}
	for _, k := range []string{"rows_examined_per_scan", "rows", "estimated_rows"} {
		if rows, ok := planNumber(v[k]); ok {
			n.Rows = int64(rows)
			break
		}
	}
	for _, k := range [][2]string{{"r_rows", "r_loops"}, {"actual_rows", "actual_loops"}} {
		rows, ok := planNumber(v[k[0]])
		loops, ok2 := planNumber(v[k[1]])
		if ok && ok2 && rows*loops < 1<<60 {
			n.ActualRows = int64(rows * loops)
		}
	}
	if c, ok := v["attached_condition"].(string); ok && c != "" {
		n.Extra = "Using where"
	}
	_, ref := v["ref"]
	n.Scan = mysqlScan(&n, ref)
	return n
}

func planNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, v >= 0 && v < 1<<60
	case string:
		f, err := strconv.ParseFloat(v, 64)
		return f, err == nil && f >= 0 && f < 1<<60
	}
	return 0, false
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// treeLine returns where "-> " stands in a line of a tree, -1 if it is none.
// PostgreSQL's plans have two blanks behind the arrow, and widths.
func treeLine(line []byte) int {
	i := bytes.Index(line, []byte("-> "))
	if i < 0 || i+3 >= len(line) || line[i+3] == ' ' || bytes.Contains(line, []byte(" width=")) {
		return -1
	}
	head := bytes.TrimLeft(bytes.TrimPrefix(bytes.TrimLeft(line[:i], "| "), []byte("EXPLAIN:")), " ")
	if len(head) > 0 {
		return -1
	}
	if bytes.Contains(line, []byte("(cost=")) || bytes.Contains(line, []byte("(actual time=")) {
		return i
	}
	return -1
}

// treePlan reads the lines of a tree; the current line is the first.
func (m *mysqlClient) treePlan(sql []byte) error {
	start := m.in.Lines.Number()
	var nodes []evidence.PlanNode
	line := m.in.Lines.Bytes()
	if bytes.Contains(line, []byte(`\n`)) { // -B output
		for _, l := range bytes.Split(unescapeBatch(line), newline) {
			nodes = m.treeNode(nodes, l)
		}
	} else {
		for {
			nodes = m.treeNode(nodes, line)
			if !m.in.Lines.Next() {
				break
			}
			line = m.in.Lines.Bytes()
			if t := bytes.TrimLeft(line, " |"); !bytes.HasPrefix(t, []byte("-> ")) {
				m.in.Lines.Unread()
				break
			}
		}
	}
	if len(nodes) == 0 {
		return nil
	}
	return m.plan(start, sql, nodes)
}

var treeAccess = []struct{ words, access string }{
	{"Table scan on ", "ALL"},
	{"Covering index scan on ", "index"},
	{"Index scan on ", "index"},
	{"Covering index lookup on ", "ref"},
	{"Index lookup on ", "ref"},
	{"Single-row index lookup on ", "eq_ref"},
	{"Single-row covering index lookup on ", "eq_ref"},
	{"Covering index range scan on ", "range"},
	{"Index range scan on ", "range"},
	{"Full-text index search on ", "fulltext"},
}

// treeNode adds the node of one line, if it reads a table.
func (m *mysqlClient) treeNode(nodes []evidence.PlanNode, line []byte) []evidence.PlanNode {
	i := bytes.Index(line, []byte("-> "))
	if i < 0 || len(nodes) >= maxPlanNodes {
		return nodes
	}
	op := line[i+3:]
	for _, a := range treeAccess {
		if !bytes.HasPrefix(op, []byte(a.words)) {
			continue
		}
		words := bytes.Fields(op[len(a.words):])
		if len(words) == 0 {
			return nodes
		}
		n := evidence.PlanNode{Table: m.names.intern(words[0]), Access: a.access, Rows: evidence.None, ActualRows: evidence.None, Removed: evidence.None}
		if len(words) > 2 && string(words[1]) == "using" {
			n.Key = m.names.intern(words[2])
		}
		estimate, actual := op, []byte(nil)
		if j := bytes.Index(op, []byte("(actual time=")); j >= 0 {
			estimate, actual = op[:j], op[j:]
		}
		if rows, ok := valueAfter(estimate, "rows="); ok {
			n.Rows = int64(rows)
		}
		if rows, ok := valueAfter(actual, "rows="); ok {
			n.ActualRows = int64(rows)
			if loops, ok := valueAfter(actual, "loops="); ok && rows*loops < 1<<60 {
				n.ActualRows = int64(rows * loops)
			}
		}
		n.Scan = mysqlScan(&n, false)
		return append(nodes, n)
	}
	return nodes
}

// valueAfter reads a number such as 593709 or 994e+3 behind a key.
func valueAfter(b []byte, key string) (float64, bool) {
	i := bytes.Index(b, []byte(key))
	if i < 0 {
		return 0, false
	}
	v := b[i+len(key):]
	if j := bytes.IndexAny(v, " )"); j >= 0 {
		v = v[:j]
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return f, err == nil && f >= 0 && f < 1<<60
}
