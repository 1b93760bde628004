package parsers

import (
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// What PgBouncer's admin console prints:
//
//	 database  |   user    | cl_active | cl_waiting | … | sv_active | sv_idle | … | maxwait | maxwait_us |  pool_mode
//	-----------+-----------+-----------+------------+---+-----------+---------+---+---------+------------+-------------
//	 shop      | shop_rw   |         2 |          2 | … |         2 |       0 | … |       0 |     984649 | transaction
//
// SHOW POOLS since 1.0 (maxwait_us since 1.8, cl_cancel_req since 1.8, split in
// two in 1.18), SHOW CLIENTS, SHOW STATS, SHOW DATABASES. Columns are told by name.
func pgbouncerConsole() Format {
	return Format{
		Name:     "pgbouncer",
		Doc:      "PgBouncer's SHOW POOLS, CLIENTS, STATS and DATABASES as psql prints them",
		Versions: "PgBouncer 1.5 to 1.24",
		Signs:    []string{" database | user | cl_active | cl_waiting | sv_active | sv_idle"},
		Marks:    []string{"cl_waiting", "avg_wait_time", "total_wait_time", "current_connections", " wait_us", "|wait_us", ",wait_us", "\twait_us", `"wait_us`},
		Starts: func(line []byte) bool {
			switch columns, _ := psqlHeader(line); pgTableKind(columns) {
			case pgbPools, pgbClients, pgbStats, pgbDatabases:
				return true
			}
			return false
		},
		Block: pgTableBlock,
	}
}

// pools reads SHOW POOLS: a row for each database and user.
func (r *pgTableReader) pools() error {
	t := r.t
	for i, row := range t.rows {
		db, user := t.get(row, t.col("database")), t.get(row, t.col("user"))
		if db == "pgbouncer" { // the console itself
			continue
		}
		p := pgbPool(db, user)
		p.Waiting = r.int(row, "cl_waiting")
		p.Active = r.int(row, "sv_active")
		p.Idle = r.sum(row, "sv_idle", "sv_used")
		p.Size = r.sum(row, "sv_active", "sv_idle", "sv_used", "sv_tested", "sv_login")
		s, us := r.int(row, "maxwait"), r.int(row, "maxwait_us")
		if s >= 0 {
			p.Waited = time.Duration(s)*time.Second + time.Duration(max(us, 0))*time.Microsecond
		}
		if err := r.sendPool(i, p); err != nil {
			return err
		}
	}
	return nil
}

// clients reads SHOW CLIENTS: a row for each connection of an application,
// counted here by database and user.
func (r *pgTableReader) clients() error {
	t := r.t
	pools := map[string]*evidence.PoolSnapshot{}
	var order []string
	first := map[string]int{}
	for i, row := range t.rows {
		db, user := t.get(row, t.col("database")), t.get(row, t.col("user"))
		if db == "pgbouncer" || db == "" {
			continue
		}
		key := db + "/" + user
		p := pools[key]
		if p == nil {
			n := pgbPool(db, user)
			n.Waiting = 0
			p = &n
			pools[key], first[key] = p, i
			order = append(order, key)
		}
		if strings.Contains(t.get(row, t.col("state")), "waiting") {
			p.Waiting++
			s, us := r.int(row, "wait"), r.int(row, "wait_us")
			if s >= 0 {
				p.Waited = max(p.Waited, time.Duration(s)*time.Second+time.Duration(max(us, 0))*time.Microsecond)
			}
		}
	}
	for _, key := range order {
		if err := r.sendPool(first[key], *pools[key]); err != nil {
			return err
		}
	}
	return nil
}

// poolStats reads SHOW STATS: avg_wait_time is what clients of a database waited
// for a server in the last period, in microseconds.
func (r *pgTableReader) poolStats() error {
	for i, row := range r.t.rows {
		db := r.t.get(row, r.t.col("database"))
		wait := r.int(row, "avg_wait_time")
		if db == "pgbouncer" || wait < 0 {
			continue
		}
		p := pgbPool(db, "")
		p.Waited = time.Duration(wait) * time.Microsecond
		if err := r.sendPool(i, p); err != nil {
			return err
		}
	}
	return nil
}

// databases reads SHOW DATABASES: how large each pool may become.
func (r *pgTableReader) databases() error {
	for i, row := range r.t.rows {
		db := r.t.get(row, r.t.col("name"))
		if db == "pgbouncer" || db == "" {
			continue
		}
		p := pgbPool(db, r.t.get(row, r.t.col("force_user")))
		p.Max, p.Size = r.int(row, "pool_size"), r.int(row, "current_connections")
		if limit := r.int(row, "max_connections"); limit > 0 && limit < p.Max {
			p.Max = limit
		}
		if err := r.sendPool(i, p); err != nil {
			return err
		}
	}
	return nil
}

// pgbPool returns a pool of which nothing is known but its name.
func pgbPool(db, user string) evidence.PoolSnapshot {
	name := db
	if user != "" {
		name += "/" + user
	}
	const none = evidence.None
	return evidence.PoolSnapshot{
		Name: name, Kind: evidence.ConnectionPool, Impl: "pgbouncer", Resource: "db",
		Max: none, Active: none, Idle: none, Waiting: none, Size: none, Queued: none, Largest: none,
		Tasks: none, Completed: none, Waited: none,
	}
}

// int reads a whole number; None if the cell is missing or holds none.
func (r *pgTableReader) int(row []string, column string) int {
	if n, ok := pgCount([]byte(r.t.get(row, r.t.col(column)))); ok && n < 1<<40 {
		return int(n)
	}
	return evidence.None
}

// sum adds up those columns that are there; None without any.
func (r *pgTableReader) sum(row []string, columns ...string) int {
	total := evidence.None
	for _, c := range columns {
		if n := r.int(row, c); n >= 0 {
			total = max(total, 0) + n
		}
	}
	return total
}

func (r *pgTableReader) sendPool(row int, p evidence.PoolSnapshot) error {
	r.pool = p
	r.record(row, time.Time{}, evidence.Unknown)
	r.rec.Pool = &r.pool
	return r.emit(&r.rec)
}
