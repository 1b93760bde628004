package runbooks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// maxColumns bounds the columns of a proposed index.
const maxColumns = 3

// index proposes an index for the statement that reads a whole table: on the
// columns that its WHERE compares with a value. It is empty if the fingerprint
// does not show them, or shows more than one table.
func (c *Case) index() string {
	for _, f := range c.of(incident.SQLScan, incident.SQLSlow, incident.SQLRunning) {
		table := strings.Trim(f.Names["table"], "`\"")
		fp := f.Names["fingerprint"]
		if table == "" {
			table = onlyTable(fp)
		}
		columns := comparedColumns(fp)
		if table == "" || !sqlName(table) || len(columns) == 0 {
			continue
		}
		name := "idx_" + table[strings.LastIndexByte(table, '.')+1:] + "_" + strings.Join(columns, "_")
		name = name[:min(len(name), 60)]
		list := strings.Join(columns, ", ")
		mysql := fmt.Sprintf("ALTER TABLE %s ADD INDEX %s (%s), ALGORITHM=INPLACE, LOCK=NONE;", table, name, list)
		pg := fmt.Sprintf("CREATE INDEX CONCURRENTLY %s ON %s (%s);", name, table, list)
		return "-- " + lang.T("a proposal: check it against the plan and the other indexes first") + "\n" + c.inDialect(f.Names["engine"], mysql, pg)
	}
	return ""
}

var (
	tableAfterFrom = regexp.MustCompile("(?i)\\b(?:from|update|into)\\s+([a-z0-9_.`\"]+)")
	comparison     = regexp.MustCompile("(?i)(?:^|[\\s(])(?:[a-z0-9_`\"]+\\.)?[`\"]?([a-z_][a-z0-9_]*)[`\"]?\\s*(=|in\\s*\\(|>=?|<=?|between\\b|like\\b)\\s*\\(*\\s*[?$:]")
	beyondWhere    = regexp.MustCompile(`(?i)\b(?:group\s+by|order\s+by|having|limit|union|returning)\b`)
)

// onlyTable returns the table of a statement that reads just one.
func onlyTable(fp string) string {
	if strings.Contains(strings.ToLower(fp), " join ") {
		return ""
	}
	found := tableAfterFrom.FindAllStringSubmatch(fp, -1)
	if len(found) != 1 {
		return ""
	}
	return strings.NewReplacer("`", "", `"`, "").Replace(found[0][1])
}

// comparedColumns returns the columns that a WHERE compares with values: those
// compared for equality first, then one compared otherwise, as an index wants
// them.
func comparedColumns(fp string) []string {
	lower := strings.ToLower(fp)
	if strings.Contains(lower, " join ") || strings.Count(lower, "select") > 1 || strings.Contains(lower, " or ") {
		return nil
	}
	i := strings.Index(lower, "where")
	if i < 0 {
		return nil
	}
	where := fp[i+len("where"):]
	if at := beyondWhere.FindStringIndex(where); at != nil {
		where = where[:at[0]]
	}
	var equal, other []string
	for _, m := range comparison.FindAllStringSubmatch(where, -1) {
		column, op := m[1], strings.ToLower(m[2])
		if !sqlName(column) || slices.Contains(equal, column) || slices.Contains(other, column) {
			continue
		}
		if op == "=" || strings.HasPrefix(op, "in") {
			equal = append(equal, column)
		} else {
			other = append(other, column)
		}
	}
	columns := append(equal, other[:min(1, len(other))]...)
	return columns[:min(maxColumns, len(columns))]
}

// inDialect returns the form for the database that is meant, or both if that is
// not known, the second as a comment.
func (c *Case) inDialect(engine, mysql, pg string) string {
	tech := techOfEngine(engine)
	if tech == "" {
		tech = c.database()
	}
	switch tech {
	case MySQL:
		return mysql
	case PostgreSQL:
		return pg
	}
	lines := strings.Split(pg, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "--") {
			lines[i] = "-- " + line
		}
	}
	return "-- MySQL, MariaDB:\n" + mysql + "\n-- PostgreSQL:\n" + strings.Join(lines, "\n")
}
