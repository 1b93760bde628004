package parsers

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// pgTextPlan reads the lines of a plan as EXPLAIN prints it:
//
//	Limit  (cost=17565.95..17567.11 rows=10 width=35) (actual time=42.867..48.356 rows=10 loops=1)
//	  ->  Parallel Seq Scan on orders o  (cost=0.00..16516.00 rows=6 width=20) (actual time=4.095..36.867 rows=5 loops=3)
//	        Filter: ((sku = 'SKU-4711'::text) AND (status = 'PAID'::text))
//	        Rows Removed by Filter: 199995
//	Execution Time: 48.427 ms
//
// Row counts are per loop; since 18 they have two decimals.
type pgTextPlan struct {
	names *interner
	nodes []evidence.PlanNode // table accesses only
	lines int                 // nodes of any kind
	open  bool                // the last node is in nodes
	heap  int                 // index of the bitmap heap scan whose index comes next; -1 without
	loops int64
	total time.Duration // Execution Time; None if not printed
}

func newPGTextPlan(names *interner) *pgTextPlan {
	return &pgTextPlan{names: names, heap: -1, total: evidence.None}
}

// pgReadTextPlan reads a statement followed by its plan, as auto_explain
// prints them after "Query Text: ".
func pgReadTextPlan(b []byte, names *interner) (text []byte, nodes []evidence.PlanNode) {
	p := newPGTextPlan(names)
	rest := b
	for len(rest) > 0 {
		line, more, _ := bytes.Cut(rest, newline)
		at := len(b) - len(rest)
		if p.lines == 0 {
			if text == nil && bytes.HasPrefix(line, []byte("Query Parameters: ")) {
				text = b[:at]
			}
			if pgNodeLine(line) {
				if text == nil {
					text = b[:at]
				}
				p.line(line)
			}
		} else {
			p.line(line)
		}
		rest = more
	}
	if text == nil {
		text = b
	}
	return bytes.TrimRight(text, "\n "), p.nodes
}

// pgNodeLine reports whether a line is a node of a plan, with its costs.
func pgNodeLine(line []byte) bool {
	i := bytes.Index(line, costOpen)
	return i > 0 && bytes.Contains(line[i:], []byte("..")) && bytes.Contains(line[i:], []byte(" width="))
}

var costOpen = []byte("  (cost=")

// line reads one line of a plan; it reports whether the line was understood as
// one.
func (p *pgTextPlan) line(line []byte) bool {
	t := bytes.TrimLeft(line, " \t")
	arrow := bytes.HasPrefix(t, []byte("->  "))
	if pgNodeLine(t) || arrow {
		p.node(bytes.TrimPrefix(t, []byte("->  ")))
		return true
	}
	key, value, ok := bytes.Cut(t, []byte(":"))
	if !ok {
		return pgSubplan(t)
	}
	value = bytes.TrimLeft(value, " ")
	switch string(key) {
	case "Execution Time", "Execution time", "Total runtime":
		if d, _, ok := pgMillis(value); ok {
			p.total = d
		}
	case "Rows Removed by Filter", "Rows Removed by Index Recheck":
		if n, ok := pgCount(value); ok && p.open {
			node := &p.nodes[len(p.nodes)-1]
			node.Removed = max(node.Removed, 0) + n*max(p.loops, 1)
		}
	case "Filter":
		if p.open {
			p.nodes[len(p.nodes)-1].Extra = "Filter: " + string(value[:min(len(value), 200)])
		}
	}
	return true
}

// pgSubplan reports whether a line names a part of a plan that has no colon.
func pgSubplan(t []byte) bool {
	return bytes.HasPrefix(t, []byte("InitPlan")) || bytes.HasPrefix(t, []byte("SubPlan")) ||
		bytes.HasPrefix(t, []byte("CTE ")) || len(t) == 0
}

// node reads "Index Scan using t_pkey on t  (cost=… rows=… width=…) (actual … rows=… loops=…)".
func (p *pgTextPlan) node(t []byte) {
	p.lines++
	p.open, p.loops = false, 1
	name, numbers := t, []byte(nil)
	if i := bytes.Index(t, []byte("  (")); i >= 0 {
		name, numbers = t[:i], t[i:]
	}
	access, target, _ := bytes.Cut(name, []byte(" on "))
	access, index, _ := bytes.Cut(access, []byte(" using "))
	if string(access) == "Bitmap Index Scan" {
		if p.heap >= 0 {
			h := &p.nodes[p.heap]
			if h.Key == "" {
				h.Key = p.names.of(target)
			}
		}
		return
	}
	if !pgReadsTable(access) || len(target) == 0 {
		return
	}
	table, _, _ := bytes.Cut(target, []byte(" "))
	n := evidence.PlanNode{
		Table: p.names.of(pgUnquote(table)), Access: p.names.of(access), Key: p.names.of(index),
		Rows: evidence.None, ActualRows: evidence.None, Removed: evidence.None,
	}
	cost := 0.0
	estimate, actual, _ := bytes.Cut(numbers, []byte("(actual "))
	if _, c, ok := bytes.Cut(estimate, []byte("..")); ok {
		cost = pgFloat(c)
	}
	if v, ok := pgAfter(estimate, "rows="); ok {
		n.Rows = v
	}
	if v, ok := pgAfter(actual, "loops="); ok {
		p.loops = v
	}
	if v, ok := pgFloatAfter(actual, "rows="); ok {
		n.ActualRows = pgTimes(v, p.loops)
	}
	never := bytes.Contains(numbers, []byte("never executed"))
	n.Scan = !never && pgFullScan(access, cost, n.Rows, n.ActualRows)
	p.nodes = append(p.nodes, n)
	p.open = true
	p.heap = -1
	if string(access) == "Bitmap Heap Scan" || string(access) == "Parallel Bitmap Heap Scan" {
		p.heap = len(p.nodes) - 1
	}
}

// pgReadsTable reports whether a node of a plan reads a table.
func pgReadsTable(access []byte) bool {
	if !bytes.HasSuffix(access, []byte("Scan")) && !bytes.HasSuffix(access, []byte("Backward")) &&
		!bytes.HasPrefix(access, []byte("Custom Scan")) {
		return false
	}
	for _, not := range [...]string{"Function Scan", "Values Scan", "CTE Scan", "WorkTable Scan", "Subquery Scan", "Table Function Scan", "Named Tuplestore Scan"} {
		if string(access) == not {
			return false
		}
	}
	return true
}

// pgFullScan reports whether a node reads the whole of a table that is large
// enough for it to matter. The rows that a plan names are those left after the
// filter, so that without execution only the cost tells the size: reading ten
// thousand short rows costs some 200.
func pgFullScan(access []byte, cost float64, rows, actual int64) bool {
	if !bytes.HasSuffix(access, []byte("Seq Scan")) {
		return false
	}
	return cost >= pgSmallCost || rows >= pgSmallRows || actual >= pgSmallRows || cost == 0 && rows < 0
}

const (
	pgSmallCost = 150
	pgSmallRows = 1000
)

func pgUnquote(b []byte) []byte {
	if len(b) > 1 && b[0] == '"' && b[len(b)-1] == '"' {
		return b[1 : len(b)-1]
	}
	return b
}

// pgCount reads a whole number, which since 18 may have decimals.
func pgCount(b []byte) (int64, bool) {
	f := pgFloat(b)
	if len(b) == 0 || !isDigit(b[0]) || f > math.MaxInt64/2 {
		return 0, false
	}
	return int64(f), true
}

// pgFloat reads the number at the start of b; 0 if there is none.
func pgFloat(b []byte) float64 {
	n := 0
	for n < len(b) && n < 40 && (isDigit(b[n]) || b[n] == '.' || b[n] == 'e' || b[n] == '+') {
		n++
	}
	f, err := strconv.ParseFloat(string(b[:n]), 64)
	if err != nil {
		return 0
	}
	return f
}

func pgAfter(b []byte, key string) (int64, bool) {
	if i := bytes.Index(b, []byte(key)); i >= 0 {
		return pgCount(b[i+len(key):])
	}
	return 0, false
}

func pgFloatAfter(b []byte, key string) (float64, bool) {
	if i := bytes.Index(b, []byte(key)); i >= 0 && i+len(key) < len(b) && isDigit(b[i+len(key)]) {
		return pgFloat(b[i+len(key):]), true
	}
	return 0, false
}

// pgTimes returns rows per loop times loops.
func pgTimes(rows float64, loops int64) int64 {
	f := rows * float64(max(loops, 0))
	if f > math.MaxInt64/2 {
		return evidence.None
	}
	return int64(math.Round(f))
}
