package parsers

import (
	"bytes"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// Plans as EXPLAIN prints them through psql, or as pasted without its header,
// as text or JSON (see pgplan.go and pgplan_json.go for the plans themselves):
//
//	                         QUERY PLAN
//	------------------------------------------------------------
//	 Seq Scan on orders  (cost=0.00..16516.00 rows=6 width=20)
//	   Filter: (sku = 'SKU-4711'::text)
//	(2 rows)
func postgresqlExplain() Format {
	return Format{
		Name:     "postgresql-explain",
		Doc:      "PostgreSQL plans: EXPLAIN and EXPLAIN ANALYZE as text or JSON",
		Versions: "PostgreSQL 9.0 to 18",
		Signs:    []string{"QUERY PLAN", "Seq Scan on orders  (cost=0.00..16516.00 rows=6 width=20)"},
		Marks:    []string{"QUERY PLAN", "  (cost=", `"Plan": {`, `"Plan":{"Node Type"`},
		Starts: func(line []byte) bool {
			return pgPlanHeader(line) || pgPlanOpens(line) ||
				pgNodeLine(line) && !bytes.Contains(line, []byte(":  "))
		},
		Block: func(in *Input, emit Emit) error {
			e := &pgExplain{in: in, text: newPGTextPlan(&interner{})}
			return e.block(emit)
		},
	}
}

func pgPlanHeader(line []byte) bool {
	return string(bytes.Trim(line, " |│")) == "QUERY PLAN"
}

func pgPlanOpens(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(line, " \t|[{"), []byte(`"Plan":`))
}

type pgExplain struct {
	in   *Input
	text *pgTextPlan
	json []byte
	raw  []byte
}

func (e *pgExplain) block(emit Emit) error {
	in := e.in
	query := pgEchoed(in.Lines.Before())
	if !in.Lines.Next() {
		return nil
	}
	first := in.Lines.Number()
	table := pgPlanHeader(in.Lines.Bytes())
	if !table {
		in.Lines.Unread()
	}
	depth, isJSON, seen := 0, false, false
	for in.Lines.Next() {
		line := pgPlanCell(in.Lines.Bytes())
		if psqlFooter(line) {
			break
		}
		t := bytes.TrimLeft(line, " \t")
		if !seen {
			if table && (psqlRule(line) || len(t) == 0) {
				continue
			}
			seen = true
			if pgPlanOpens(t) {
				isJSON = true
				if t[0] == '"' { // the outer brace was on the line before
					e.json, depth = append(e.json, '{'), 1
				}
			} else if t[0] == '[' || t[0] == '{' {
				isJSON = true
			}
		}
		if isJSON {
			if len(e.json)+len(line) > pgMaxRecord {
				in.Skip(first, "postgresql plan: too long")
				break
			}
			e.json = append(append(e.json, line...), '\n')
			before := depth
			depth = pgDepth(line, depth)
			if depth <= 0 && (before > 0 || bytes.ContainsAny(line, "]}")) {
				break
			}
			continue
		}
		if !table && !e.belongs(line, t) {
			in.Lines.Unread()
			break
		}
		e.text.line(line)
		if len(e.raw) < pgMaxRaw {
			e.raw = append(append(e.raw, line...), '\n')
		}
	}
	s := pgNewStatement(evidence.PlanOnly)
	nodes, total := e.text.nodes, e.text.total
	if isJSON {
		// A list of plans is read as its first; one that began inside has its
		// own closing brackets after it.
		body := bytes.TrimLeft(e.json, " \t\n[")
		if end := bytes.LastIndexByte(body, '}'); end >= 0 {
			body = body[:end+1]
		}
		run, found, ok := pgJSONPlan(body, e.text.names)
		if !ok {
			in.Skip(first, "postgresql plan: JSON cut or of another kind")
			return nil
		}
		nodes, total, e.raw = found, run.total, e.json
		if run.query != "" {
			query = run.query
		}
	} else if e.text.lines == 0 && len(nodes) == 0 {
		return nil
	}
	s.Text, s.Fingerprint, s.Duration = query, pgFingerprint(query), total
	pgSetPlan(&s, nodes)
	return emit(&evidence.Record{
		Place: in.place(), Cite: in.cite(first), Raw: e.raw[:min(len(e.raw), pgMaxRaw)], SQL: &s,
	})
}

// belongs reports whether a line goes on with a plan that has no frame. A
// second plan begins with a node that is not indented.
func (e *pgExplain) belongs(line, t []byte) bool {
	if e.text.lines == 0 {
		return true
	}
	if len(t) == 0 {
		return false
	}
	if pgNodeLine(t) {
		return bytes.HasPrefix(t, []byte("->"))
	}
	if len(line) > len(t) {
		return true
	}
	for _, p := range [...]string{
		"Planning", "Execution", "Total runtime", "JIT:", "Trigger ", "Settings:", "Query Identifier", "Buffers:", "InitPlan", "SubPlan", "Filter:", "Rows Removed",
	} {
		if bytes.HasPrefix(t, []byte(p)) {
			return true
		}
	}
	return false
}

// pgPlanCell takes a line of a plan out of psql's frame: the bars of a border,
// and the + at the end of a line that goes on.
func pgPlanCell(line []byte) []byte {
	if len(line) > 1 && line[0] == '|' && line[len(line)-1] == '|' {
		line = line[1 : len(line)-1]
	}
	line = bytes.TrimRight(line, " ")
	if !psqlRule(line) && len(line) > 1 && line[len(line)-1] == '+' {
		line = bytes.TrimRight(line[:len(line)-1], " ")
	}
	return line
}

// pgDepth adds up the braces of a line outside strings.
func pgDepth(line []byte, depth int) int {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"':
			_, rest, ok := jsonString(line[i:])
			if !ok {
				return depth
			}
			i = len(line) - len(rest) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
	}
	return depth
}

// pgEchoed returns the statement that was explained, if it stands just above
// its plan: "shop=# explain (analyze, buffers) select …;".
func pgEchoed(before []byte) string {
	before = bytes.TrimRight(before[max(0, len(before)-4<<10):], " \n")
	i := bytes.LastIndex(bytes.ToLower(before), []byte("explain "))
	if i < 0 || len(bytes.ToLower(before)) != len(before) {
		return ""
	}
	text := string(before[i+len("explain "):])
	if strings.Contains(text, " rows)") || strings.Contains(text, "\n\n") || strings.Contains(text, "(cost=") {
		return ""
	}
	for {
		text = strings.TrimLeft(text, " \n")
		lower := strings.ToLower(text)
		switch {
		case strings.HasPrefix(text, "("):
			end := strings.IndexByte(text, ')')
			if end < 0 {
				return ""
			}
			text = text[end+1:]
		case strings.HasPrefix(lower, "analyze "), strings.HasPrefix(lower, "verbose "):
			text = text[len("analyze "):]
		default:
			return strings.TrimRight(text, " ;\n")
		}
	}
}
