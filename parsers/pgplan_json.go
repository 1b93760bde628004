package parsers

import (
	"encoding/json"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// pgJSONDocument is one plan of EXPLAIN (FORMAT JSON), or of auto_explain with
// log_format = json, which puts the statement first:
//
//	{ "Query Text": "…", "Plan": { "Node Type": "Seq Scan", "Relation Name": "orders", … }, "Execution Time": 12.3 }
type pgJSONDocument struct {
	QueryText string      `json:"Query Text"`
	Plan      *pgJSONNode `json:"Plan"`
	Execution *float64    `json:"Execution Time"`
	Total     *float64    `json:"Total Runtime"` // until 9.3
}

type pgJSONNode struct {
	Type     string       `json:"Node Type"`
	Parallel bool         `json:"Parallel Aware"`
	Relation string       `json:"Relation Name"`
	Schema   string       `json:"Schema"`
	Index    string       `json:"Index Name"`
	Cost     float64      `json:"Total Cost"`
	Rows     *float64     `json:"Plan Rows"`
	Actual   *float64     `json:"Actual Rows"`
	Loops    *float64     `json:"Actual Loops"`
	Removed  *float64     `json:"Rows Removed by Filter"`
	Recheck  *float64     `json:"Rows Removed by Index Recheck"`
	Filter   string       `json:"Filter"`
	Plans    []pgJSONNode `json:"Plans"`
}

// pgPlanned is what a plan document says besides the plan.
type pgPlannedRun struct {
	query string
	total time.Duration // None if it was not executed
}

// pgJSONPlan reads one plan document.
func pgJSONPlan(b []byte, names *interner) (pgPlannedRun, []evidence.PlanNode, bool) {
	run := pgPlannedRun{total: evidence.None}
	var doc pgJSONDocument
	if err := json.Unmarshal(b, &doc); err != nil {
		return run, nil, false
	}
	run.query = doc.QueryText
	for _, ms := range []*float64{doc.Execution, doc.Total} {
		if ms != nil && *ms >= 0 && *ms < 1e12 {
			run.total = time.Duration(*ms * float64(time.Millisecond))
		}
	}
	if doc.Plan == nil {
		return run, nil, false
	}
	var nodes []evidence.PlanNode
	doc.Plan.collect(&nodes, names)
	return run, nodes, true
}

// collect appends the table accesses of a node and those below it.
func (n *pgJSONNode) collect(nodes *[]evidence.PlanNode, names *interner) {
	switch {
	case n.Type == "Bitmap Index Scan":
		if len(*nodes) > 0 {
			if last := &(*nodes)[len(*nodes)-1]; last.Key == "" && last.Access == "Bitmap Heap Scan" {
				last.Key = n.Index
			}
		}
	case n.Relation != "" && pgReadsTable([]byte(n.Type)):
		loops := int64(1)
		if n.Loops != nil {
			loops = int64(min(*n.Loops, 1e12))
		}
		times := func(v *float64) int64 {
			if v == nil {
				return evidence.None
			}
			return pgTimes(*v, loops)
		}
		node := evidence.PlanNode{
			Table: names.text(n.Relation), Access: names.text(n.Type), Key: names.text(n.Index),
			Rows: evidence.None, ActualRows: times(n.Actual), Removed: times(n.Removed),
		}
		if n.Rows != nil {
			node.Rows = pgTimes(*n.Rows, 1)
		}
		if r := times(n.Recheck); r > 0 {
			node.Removed = max(node.Removed, 0) + r
		}
		if n.Parallel {
			node.Access = "Parallel " + node.Access
		}
		if n.Filter != "" {
			node.Extra = "Filter: " + n.Filter[:min(len(n.Filter), 200)]
		}
		node.Scan = loops > 0 && pgFullScan([]byte(n.Type), n.Cost, node.Rows, node.ActualRows)
		*nodes = append(*nodes, node)
	}
	for i := range n.Plans {
		n.Plans[i].collect(nodes, names)
	}
}
