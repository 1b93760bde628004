package parsers

import (
	"bytes"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Statements that the application itself found slow:
//
//	SlowQuery: 1012 milliseconds. SQL: 'HikariProxyPreparedStatement@1f wrapping com.mysql.cj.jdbc.ClientPreparedStatement: select …'   (Hibernate 5.4.5 and later)
//	Slow query took 1012 milliseconds [select …]                                                                                        (Hibernate 6)
//	2026/06/18 14:20:01 /src/dao/stock.go:44 SLOW SQL >= 200ms⏎[3120.331ms] [rows:1] SELECT …                                           (GORM 2)
//	#1781763601123 | took 3012ms | statement | connection 3| url jdbc:p6spy:…⏎select … where id = ?⏎select … where id = 7;                (P6Spy)
//
// Druid's are with Druid. P6Spy prints every statement, of which only the slow
// are wanted.
func slowStatements() detector {
	return messages("slow-statement", "Slow statements as Hibernate, GORM and P6Spy log them", []rule{
		{sign: "SlowQuery: ", find: slowHibernate("SlowQuery: ", " milliseconds. SQL: '", "'")},
		{sign: "Slow query took ", find: slowHibernate("Slow query took ", " milliseconds [", "]")},
		{sign: "SLOW SQL >= ", find: slowGORM},
		{sign: "ms | statement | connection ", find: slowP6Spy},
	})
}

// slowFloor is how long a statement runs at least that a log of all statements
// gives as slow.
const slowFloor = 500 * time.Millisecond

func slowHibernate(head, unit, end string) func(o *logOut, text []byte, at int) (bool, error) {
	return func(o *logOut, text []byte, at int) (bool, error) {
		body := text[at+len(head):]
		ms := plain(body)
		i := bytes.Index(body[:min(len(body), 60)], []byte(unit))
		if ms < 0 || i < 0 {
			return false, nil
		}
		sql := body[i+len(unit):]
		if j := bytes.LastIndex(sql, []byte(end)); j >= 0 {
			sql = sql[:j]
		}
		// A pool's wrapper and the driver's class stand before the statement.
		if j := bytes.Index(sql[:min(len(sql), 300)], []byte("Statement: ")); j >= 0 {
			sql = sql[j+len("Statement: "):]
		}
		return o.slowStatement(at, sql, time.Duration(ms)*time.Millisecond)
	}
}

func slowGORM(o *logOut, text []byte, at int) (bool, error) {
	body := text[at:]
	i := bytes.Index(body, []byte("ms] [rows:"))
	if i < 0 {
		return false, nil
	}
	open := bytes.LastIndexByte(body[:i], '[')
	shut := bytes.IndexByte(body[i+len("ms] "):], ']')
	if open < 0 || shut < 0 {
		return false, nil
	}
	took, err := time.ParseDuration(string(body[open+1 : i+len("ms")]))
	if err != nil {
		return false, nil
	}
	return o.slowStatement(at, rest(body, i+len("ms] ")+shut+1), took)
}

func slowP6Spy(o *logOut, text []byte, at int) (bool, error) {
	open := bytes.LastIndex(text[:at], []byte("| took "))
	if open < 0 {
		return false, nil
	}
	ms := plain(text[open+len("| took "):])
	i := bytes.IndexByte(text[at:], '\n')
	if ms < 0 || i < 0 {
		return false, nil
	}
	took := time.Duration(ms) * time.Millisecond
	if took < slowFloor {
		return true, nil
	}
	return o.slowStatement(at, rest(text, at+i+1), took)
}

func (o *logOut) slowStatement(at int, sql []byte, took time.Duration) (bool, error) {
	sql = bytes.TrimSpace(sql)
	if len(sql) == 0 {
		return false, nil
	}
	s := newStatement(evidence.ClientSlow, sql)
	s.Duration = took
	return o.sql(at, s)
}
