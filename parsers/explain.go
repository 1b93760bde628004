package parsers

import (
	"bytes"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// Plans of MySQL and MariaDB as rows, one a table access:
//
//	id  select_type  table  type  possible_keys  key  key_len  ref  rows  Extra
//	1   SIMPLE       o      ALL   NULL           NULL NULL     NULL 593709 Using where; Using filesort
//
// The columns differ by version and are found by name.

const (
	maxPlanNodes = 256
	smallScan    = 1000 // rows below which reading everything is no fault
)

// planColumns says which cell of a plan row is what; -1 where there is none.
type planColumns struct {
	table, access, possible, key, ref, rows, actual, extra, filtered int
}

func newPlanColumns(header [][]byte) *planColumns {
	c := &planColumns{-1, -1, -1, -1, -1, -1, -1, -1, -1}
	for i, h := range header {
		switch strings.ToLower(string(bytes.TrimSpace(h))) {
		case "table":
			c.table = i
		case "type":
			c.access = i
		case "possible_keys":
			c.possible = i
		case "key":
			c.key = i
		case "ref":
			c.ref = i
		case "rows":
			c.rows = i
		case "r_rows":
			c.actual = i
		case "r_filtered":
			c.filtered = i
		case "extra":
			c.extra = i
		}
	}
	return c
}

// add appends the node of one row.
func (c *planColumns) add(nodes []evidence.PlanNode, cells [][]byte, names *stringTable) []evidence.PlanNode {
	cell := func(i int) []byte {
		if i < 0 || i >= len(cells) {
			return nil
		}
		v := bytes.TrimSpace(cells[i])
		if string(v) == "NULL" {
			return nil
		}
		return v
	}
	n := evidence.PlanNode{
		Table: names.intern(cell(c.table)), Access: names.intern(cell(c.access)),
		Key: names.intern(cell(c.key)), PossibleKeys: names.intern(cell(c.possible)),
		Rows: count(cell(c.rows)), ActualRows: count(cell(c.actual)), Removed: evidence.None,
		Extra: names.intern(cell(c.extra)),
	}
	if n.Table == "" && n.Access == "" && n.Extra == "" {
		return nodes
	}
	n.Scan = mysqlScan(&n, len(cell(c.ref)) > 0)
	return append(nodes, n)
}

// mysqlScan reports whether a plan row reads a whole table or index. Derived
// tables and unions are not tables, and a small table is best read whole.
func mysqlScan(n *evidence.PlanNode, ref bool) bool {
	if strings.HasPrefix(n.Table, "<") {
		return false
	}
	rows := max(n.Rows, n.ActualRows)
	if rows >= 0 && rows < smallScan {
		return false
	}
	switch n.Access {
	case "ALL":
		return true
	case "index":
		return !ref
	}
	return false
}

// planScans says whether a plan has a full scan, given what flags said.
func planScans(nodes []evidence.PlanNode, flag evidence.Tri) evidence.Tri {
	for i := range nodes {
		if nodes[i].Scan {
			return evidence.Yes
		}
	}
	if flag == evidence.Unknown && len(nodes) > 0 {
		return evidence.No
	}
	return flag
}
