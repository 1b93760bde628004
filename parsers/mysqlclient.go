package parsers

import (
	"bytes"
	"slices"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Results of the mysql client that say what the database did, each known by
// its columns:
//
//	| Id | User | Host | db | Command | Time | State | Info |     SHOW PROCESSLIST
//	| id | select_type | table | type | key | rows | Extra |      EXPLAIN
//	| Variable_name | Value |                                     SHOW STATUS

// mysqlResult is one kind of result.
type mysqlResult struct {
	needs [][]string // any of these sets of columns
	make  func(m *mysqlClient, t *sqlTable) resultRows
}

// resultRows takes the rows of one result.
type resultRows interface {
	row(t *sqlTable) error
	done() error
}

var mysqlResults = []mysqlResult{
	{[][]string{
		{"command", "time", "state"},
		{"command", "time", "info"},
		{"processlist_command", "processlist_time"},
		{"conn_id", "current_statement"},
		{"thd_id", "current_statement"},
	}, newProcesslist},
	{[][]string{{"select_type", "table", "rows"}, {"select_type", "table", "extra"}}, newExplainRows},
	{[][]string{{"query_time", "sql_text", "start_time"}}, newSlowLogRows},
	{[][]string{{"trx_id", "trx_state"}}, newTrxRows},
	{[][]string{{"waiting_pid", "blocking_pid"}}, newLockWaitRows},
	{[][]string{{"digest_text", "count_star"}}, newDigestRows},
	{[][]string{{"variable_name", "value"}, {"variable_name", "variable_value"}}, newStatusRows},
}

// textColumns may hold statements, with line ends and bars.
var textColumns = map[string]bool{
	"info": true, "processlist_info": true, "current_statement": true, "info_binary": true, "sql_text": true,
	"trx_query": true, "waiting_query": true, "blocking_query": true, "digest_text": true, "last_statement": true,
	"query_sample_text": true,
}

// resultColumns are the columns by which a key of \G output is known where its
// indent was lost, and the first of which begin a row.
var resultColumns = func() map[string]bool {
	all := map[string]bool{}
	for _, n := range []string{
		"id", "user", "host", "db", "command", "time", "state", "info", "progress", "time_ms", "rows_sent", "rows_examined",
		"thd_id", "conn_id", "pid", "program_name", "select_type", "table", "partitions", "possible_keys", "key", "key_len", "ref",
		"rows", "r_rows", "filtered", "r_filtered", "extra", "variable_name", "value", "schema_name", "digest", "start_time",
		"user_host", "query_time", "lock_time", "thread_id", "name", "wait_started", "trx_id", "trx_state", "trx_started",
		"trx_mysql_thread_id", "trx_query", "blocking_pid", "waiting_pid", "blocking_query", "waiting_query", "count_star",
		"processlist_id", "processlist_user", "processlist_host", "processlist_db", "processlist_command", "processlist_time",
		"processlist_state", "processlist_info", "query_id",
	} {
		all[n] = true
	}
	return all
}()

func mysqlClientFormat() Format {
	return Format{
		Name:     "mysql-client",
		Doc:      "Results as the mysql client and its like print them: SHOW PROCESSLIST, EXPLAIN, lock waits, digests, SHOW STATUS",
		Versions: "mysql and mariadb clients of MySQL 5.0–9 and MariaDB 5.5–11 (table, -B, \\G), CSV exports, Markdown",
		Signs:    []string{"| Id | User | … | Command | Time | State | Info |", "| id | select_type | table | …", "*** 1. row ***"},
		Marks: []string{
			"| Command ", "| COMMAND ", "|Command|", "|COMMAND|", "\tCommand\t", "\tCOMMAND\t", ",Command,", ",COMMAND,", `"Command"`, `"COMMAND"`,
			"| command ", "\tcommand\t", ",command,", "PROCESSLIST_COMMAND", "processlist_command", "current_statement",
			"select_type", "sql_text", "trx_state", "TRX_STATE", "blocking_pid", "DIGEST_TEXT", "digest_text",
			"Variable_name", "VARIABLE_NAME", verticalMark,
		},
		Starts: func(line []byte) bool {
			if _, ok := verticalRow(line); ok {
				return true
			}
			var t sqlTable
			return len(line) < 8<<10 && readTableHeader(line, &t) && findResult(t.columns) != nil
		},
		Block: func(in *Input, emit Emit) error {
			m := &mysqlClient{in: in, emit: emit}
			return m.read()
		},
	}
}

func findResult(columns []string) *mysqlResult {
	for i := range mysqlResults {
		for _, set := range mysqlResults[i].needs {
			all := true
			for _, c := range set {
				all = all && slices.Contains(columns, c)
			}
			if all {
				return &mysqlResults[i]
			}
		}
	}
	return nil
}

// mysqlClient reads one result.
type mysqlClient struct {
	in    *Input
	emit  Emit
	names stringTable
	print *fingerprinter
	rec   evidence.Record
	time  time.Time
	zoned evidence.Tri
}

func (m *mysqlClient) read() error {
	t := &sqlTable{in: m.in}
	m.print = newFingerprinter("mysql")
	m.in.Lines.Next()
	line := m.in.Lines.Bytes()
	m.time, m.zoned = stampBefore(m.in)
	if at, ok := verticalRow(line); ok {
		t.shape = verticalShape
		t.prefix = newLinePrefix(line[:at])
		m.in.Lines.Unread()
		return m.vertical(t)
	}
	if !readTableHeader(line, t) {
		return nil
	}
	t.header, _ = t.prefix.strip(line)
	t.header = bytes.Clone(t.header)
	return m.horizontal(t)
}

func (m *mysqlClient) horizontal(t *sqlTable) error {
	result := findResult(t.columns)
	if result == nil {
		return nil
	}
	t.setText(keysOf(textColumns)...)
	rows := result.make(m, t)
	for {
		ok, again := t.row()
		if !ok {
			return rows.done()
		}
		if again {
			if s, is := rows.(*statusRows); is && !s.full() { // one SHOW STATUS after another
				continue
			}
			if err := rows.done(); err != nil {
				return err
			}
			rows = result.make(m, t)
			continue
		}
		if t.shape == tabShape {
			for i := max(t.text[0], 0); i <= t.text[1] && i < len(t.cells); i++ {
				t.cells[i] = unescapeBatch(t.cells[i])
			}
		}
		if err := rows.row(t); err != nil {
			return err
		}
	}
}

func (m *mysqlClient) vertical(t *sqlTable) error {
	var rows resultRows
	for t.vertical(func(key string) bool { return resultColumns[key] }) {
		if rows == nil {
			result := findResult(t.columns)
			if result == nil {
				m.in.Skip(t.line, "result of an unknown query")
				continue
			}
			rows = result.make(m, t)
		}
		if err := rows.row(t); err != nil {
			return err
		}
	}
	if rows == nil {
		return nil
	}
	return rows.done()
}

// record prepares a record about the row at hand.
func (m *mysqlClient) record(line int) *evidence.Record {
	m.rec = evidence.Record{Time: m.time, Zoned: m.zoned, Place: m.in.place(), Cite: m.in.cite(line)}
	return &m.rec
}

func keysOf(set map[string]bool) []string {
	var keys []string
	for k := range set {
		keys = append(keys, k)
	}
	return keys
}

// stampBefore returns the time that stands just above a block: a wrapper's,
// or a short line such as "=== 2026-03-14 09:12:33 ===" or the output of date.
func stampBefore(in *Input) (time.Time, evidence.Tri) {
	if t, zoned := blockTime(in, nil); !t.IsZero() {
		return t, zoned
	}
	before := in.Lines.Before()
	for range 4 {
		before = bytes.TrimRight(before, "\r\n")
		i := bytes.LastIndexByte(before, '\n')
		line := before[i+1:]
		before = before[:i+1]
		if len(line) > 0 && len(line) < 80 {
			for at := range line {
				if at > 0 && wordByte(line[at-1]) {
					continue
				}
				var st stamp
				if readStamp(line[at:], &st) > 0 && st.shape != shapeEpoch && st.shape != shapeClock && st.shape != shapeMonthDay {
					return newClockwork(in).resolve(&st)
				}
			}
		}
		if i < 0 {
			break
		}
	}
	return time.Time{}, evidence.Unknown
}
