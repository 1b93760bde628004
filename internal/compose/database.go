package main

import (
	"fmt"
	"strings"
	"time"
)

// table prints rows as the mysql client does.
func table(f files, file string, head []string, rows [][]string) {
	width := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row {
			width[i] = max(width[i], len(cell))
		}
	}
	border := "+"
	for _, w := range width {
		border += strings.Repeat("-", w+2) + "+"
	}
	line := func(row []string) {
		for i, cell := range row {
			f.printf(file, "| %-*s ", width[i], cell)
		}
		f.printf(file, "|\n")
	}
	f.printf(file, "%s\n", border)
	line(head)
	f.printf(file, "%s\n", border)
	for _, row := range rows {
		line(row)
	}
	f.printf(file, "%s\n%d rows in set (0.00 sec)\n\n", border, len(rows))
}

// batch prints rows as the mysql client does with -B.
func batch(f files, file string, head []string, rows [][]string) {
	f.printf(file, "%s\n", strings.Join(head, "\t"))
	for _, row := range rows {
		f.printf(file, "%s\n", strings.Join(row, "\t"))
	}
}

var processlist = []string{"Id", "User", "Host", "db", "Command", "Time", "State", "Info"}

// session is one row of a processlist.
func session(id int, host, command string, seconds int, state, info string) []string {
	return []string{fmt.Sprint(id), "app", fmt.Sprintf("%s:%d", host, 40000+id), "shop", command, fmt.Sprint(seconds), state, info}
}

var explainHead = []string{"id", "select_type", "table", "partitions", "type", "possible_keys", "key", "key_len", "ref", "rows", "filtered", "Extra"}

// explain prints a plan of one table.
func explain(f files, file, statement, tab, typ, key string, rows int, extra string) {
	f.printf(file, "mysql> EXPLAIN %s;\n", statement)
	keyLen := "NULL"
	if key != "NULL" {
		keyLen = "8"
	}
	table(f, file, explainHead, [][]string{{"1", "SIMPLE", tab, "NULL", typ, key, key, keyLen, "NULL", fmt.Sprint(rows), "10.00", extra}})
}

// slowLog writes a slow log of MySQL 8.0 or MariaDB.
type slowLog struct {
	f       files
	file    string
	mariadb bool
	n       int
}

func mysqlSlow(f files, file string) *slowLog {
	f.printf(file, "/usr/sbin/mysqld, Version: 8.0.36 (MySQL Community Server - GPL). started with:\nTcp port: 3306  Unix socket: /var/lib/mysql/mysql.sock\nTime                 Id Command    Argument\n")
	return &slowLog{f: f, file: file}
}

func mariadbSlow(f files, file string) *slowLog {
	f.printf(file, "/usr/sbin/mariadbd, Version: 10.6.16-MariaDB-log (MariaDB Server). started with:\nTcp port: 3306  Unix socket: /run/mysqld/mysqld.sock\nTime\t\t    Id Command\tArgument\n")
	return &slowLog{f: f, file: file, mariadb: true}
}

// add writes one statement that began at a time.
func (s *slowLog) add(start time.Time, seconds, lock float64, sent, examined int, statement string) {
	s.n++
	if s.mariadb {
		s.f.printf(s.file, "# Time: %s\n# User@Host: app[app] @  [10.20.1.21]\n# Thread_id: %d  Schema: shop  QC_hit: No\n# Query_time: %f  Lock_time: %f  Rows_sent: %d  Rows_examined: %d\n# Rows_affected: 0  Bytes_sent: %d\nSET timestamp=%d;\n%s;\n",
			start.Format("060102 15:04:05"), 70+s.n%40, seconds, lock, sent, examined, 60+sent*20, start.Unix(), statement)
		return
	}
	end := start.Add(time.Duration(seconds * float64(time.Second)))
	s.f.printf(s.file, "# Time: %s\n# User@Host: app[app] @  [10.20.1.21]  Id: %5d\n# Query_time: %f  Lock_time: %f Rows_sent: %d  Rows_examined: %d\nSET timestamp=%d;\n%s;\n",
		end.Format("2006-01-02T15:04:05.000000Z"), 70+s.n%40, seconds, lock, sent, examined, start.Unix(), statement)
}
