package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// Connection pools whose borrowers gave up, other than HikariCP and Druid:
//
//	java.sql.SQLException: Cannot get a connection, pool error Timeout waiting for idle object, borrowMaxWaitDuration=PT0.5S
//	PoolExhaustedException: [exec-2] Timeout: Pool empty. Unable to fetch a connection in 1 seconds, none available[size:2; busy:2; idle:0; lastwait:1000].
//	An attempt by a client to checkout a Connection has timed out.
//	QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00
//
// commons-pool stands under several kinds of clients, and a Jedis pool says the
// same words when its server is down: the root of the error decides.
func connectionPools() detector {
	rules := []rule{
		{sign: "Timeout waiting for idle object", find: commonsPool},
		{sign: "NoSuchElementException: Pool exhausted", find: commonsPool},
		{sign: "Could not get a resource from the pool", find: commonsPool},
		{sign: "Could not get a resource since the pool is exhausted", find: commonsPool},
		{sign: "Cannot create PoolableConnectionFactory", find: dbcpUnreachable},
		{sign: "Unable to fetch a connection", find: tomcatJDBC},
		{sign: "Connection has been abandoned PooledConnection[", find: abandoned},
		{sign: "marked suspect, possibly abandoned", find: abandoned},
		{sign: "A client timed out while waiting to acquire a resource from ", last: true, find: c3p0Timeout},
		{sign: "An attempt by a client to checkout a Connection has timed out", find: c3p0Timeout},
		{sign: "Connections could not be acquired from the underlying database", find: c3p0Unreachable},
		{sign: "Overdue resource check-out stack trace", find: c3p0Overdue},
		{sign: "couldn't obtain SQL connection within ", find: viburTimeout},
		{sign: "SQL query execution from pool ", find: viburSlow},
		{sign: "MaxOpenConnections", find: goSQL},
		{sign: "QueuePool limit of size ", find: sqlAlchemy},
	}
	for _, p := range plainPools {
		rules = append(rules, rule{sign: p.sign, find: p.find})
	}
	return messages("connection-pool", "Exhausted connection pools: DBCP, Tomcat JDBC, c3p0, Vibur, Jedis, Go, Python, Ruby, .NET, Node, Rust and application servers", rules)
}

// plainPool is a message that says little more than that a borrower gave up:
// its literal, whose it is, and the keys of the numbers that it has.
type plainPool struct {
	sign, impl, resource         string
	max, active, waited, waiters string
}

var plainPools = []plainPool{
	{sign: "could not obtain a connection from the pool within ", impl: "activerecord", resource: "db", waited: "(waited "},
	{sign: "could not obtain a database connection within ", impl: "activerecord", resource: "db", waited: "within "},
	{sign: "prior to obtaining a connection from the pool", impl: "ado.net", resource: "db"},
	{sign: "The connection pool has been exhausted, either raise", impl: "npgsql", resource: "db", max: "(currently "},
	{sign: "Timeout acquiring a connection. The pool is probably full", impl: "knex", resource: "db"},
	{sign: "timeout exceeded when trying to connect", impl: "node-postgres", resource: "db"},
	{sign: "SequelizeConnectionAcquireTimeoutError", impl: "sequelize", resource: "db"},
	{sign: "Timed out fetching a new connection from the connection pool", impl: "prisma", resource: "db", max: "connection limit: "},
	{sign: "pool timed out while waiting for an open connection", impl: "sqlx", resource: "db"},
	{sign: "Timeout occurred while waiting for a slot to become available", impl: "deadpool", resource: "db"},
	{sign: "couldn't get a connection after ", impl: "psycopg", resource: "db", waited: "after "},
	{sign: "PoolError: connection pool exhausted", impl: "psycopg2", resource: "db"},
	{sign: "Failed getting connection; pool exhausted", impl: "mysql-connector", resource: "db"},
	{sign: "connection not available and request was dropped from queue after ", impl: "ecto", resource: "db", waited: "after "},
	{sign: "No managed connections available within configured blocking timeout", impl: "ironjacamar", resource: "db"},
	{sign: "Acquisition timeout while waiting for new connection", impl: "agroal", resource: "db"},
	{sign: "Connection acquisition timed out after ", impl: "r2dbc", resource: "db", waited: "after "},
	{sign: "No resources currently available in pool ", impl: "weblogic", resource: "db"},
	{sign: "ConnectionWaitTimeoutException", impl: "websphere", resource: "db"},
	{sign: "In-use connections equal max-pool-size", impl: "glassfish", resource: "db"},
	{sign: "All connections in the Universal Connection Pool are in use", impl: "ucp", resource: "db"},
	{sign: "at maximum connection count (", impl: "proxool", resource: "db", active: "count (", max: "/"},
	{sign: "Timed out waiting for a free available connection", impl: "bonecp", resource: "db"},
	{sign: "Timeout waiting for a pooled item after ", impl: "mongo", resource: "db", waited: "after "},
	{sign: "out while checking out a connection from connection pool", impl: "mongo", resource: "db", max: "maxPoolSize: ", waited: "wait duration: "},
	{sign: "Too many threads are already waiting for a connection", impl: "mongo", resource: "db"},
	{sign: "redis: connection pool timeout", impl: "go-redis", resource: "redis"},
	{sign: "Unable to acquire connection! ", impl: "redisson", resource: "redis"},
	{sign: "Request queue size exceeded: ", impl: "lettuce", resource: "redis", waiters: "exceeded: "},
	{sign: "ConnectionPoolTimeoutException", impl: "httpclient", resource: "http"},
	{sign: "Timeout waiting for connection from pool", impl: "httpclient", resource: "http"},
	{sign: "ConnectionRequestTimeoutException", impl: "httpclient5", resource: "http"},
	{sign: "DeadlineTimeoutException: Timeout deadline: ", impl: "httpclient5", resource: "http", waited: "actual: "},
	{sign: "Acquire operation took longer then configured maximum time", impl: "netty", resource: "http"},
	{sign: "Too many outstanding acquire operations", impl: "netty", resource: "http"},
	{sign: "Pool#acquire(Duration) has been pending for more than", impl: "reactor", resource: "http", waited: "timeout of "},
	{sign: "Pending acquire queue has reached its maximum size of ", impl: "reactor", resource: "http", waiters: "size of "},
	{sign: "Timeout waiting to lease connection", impl: "httpclient", resource: "http"},
	{sign: " worker_connections are not enough", impl: "nginx", resource: "http"},
}

func (p plainPool) find(o *logOut, text []byte, at int) (bool, error) {
	from, to := lineOf(text, at)
	// The numbers may stand on the next line.
	if i := bytes.IndexByte(text[min(to+1, len(text)):], '\n'); i >= 0 && i < 200 {
		to += 1 + i
	}
	line := text[at:to]
	s := newPool(p.impl, p.resource)
	s.Rejected = true
	if p.max != "" {
		s.Max = countAfter(line, p.max)
	}
	if p.active != "" {
		s.Active = countAfter(line, p.active)
	}
	if p.waiters != "" {
		s.Waiting = countAfter(line, p.waiters)
	}
	if p.waited != "" {
		s.Waited = span(past(line, p.waited))
	}
	switch p.impl {
	case "nginx":
		head := text[from:at]
		if n := bytes.LastIndexByte(head, ' '); plain(head[n+1:]) >= 0 {
			s.Max = int(plain(head[n+1:]))
		}
		s.Name = "worker_connections"
	case "weblogic":
		s.Name = snippet(upTo(line[len(p.sign):], " ,"), maxText)
	case "redisson":
		if tries := redissonTries(text[at:]); tries != nil {
			if _, err := o.tries(at, *tries); err != nil {
				return true, err
			}
		}
	}
	return o.pool(at, s)
}

// commonsPool decides by the root of an error whose words several clients share.
func commonsPool(o *logOut, text []byte, at int) (bool, error) {
	var p evidence.PoolSnapshot
	switch {
	case has(text, "redis.clients.jedis", "Could not get a resource"):
		p = newPool("jedis", "redis")
	case has(text, "io.lettuce", "data.redis", "edisConnectionF"):
		p = newPool("lettuce", "redis")
	case has(text, "dbcp", "Cannot get a connection", "JDBC", "java.sql."):
		p = newPool("dbcp", "db")
	default:
		p = newPool("commons-pool", "")
		p.Kind = evidence.ConnectionPool
	}
	root := text[at:]
	exhausted := has(text, "Timeout waiting for idle object", "Pool exhausted", "the pool is exhausted")
	p.Rejected = true
	p.Unreachable = !exhausted && (unreachable(root) || has(root, "Read timed out", "JedisConnectionException: Failed", "Unexpected end of stream"))
	for _, key := range [...]string{"borrowMaxWaitDuration=", "maxWaitDuration=", "borrowMaxWaitMillis="} {
		value := past(root, key)
		if d := span(value); d >= 0 {
			p.Waited = d
		} else if ms := plain(value); ms >= 0 {
			p.Waited = millis(ms)
		}
	}
	p.Max = countAfter(root, "maxTotal=")
	p.Active = countAfter(root, "numActive=")
	p.Idle = countAfter(root, "numIdle=")
	return o.pool(at, p)
}

func dbcpUnreachable(o *logOut, text []byte, at int) (bool, error) {
	p := newPool("dbcp", "db")
	p.Rejected, p.Unreachable = true, true
	return o.pool(at, p)
}

// tomcatJDBC reads whole seconds where the wait was shorter, so lastwait, in
// milliseconds, is taken.
func tomcatJDBC(o *logOut, text []byte, at int) (bool, error) {
	line := rest(text, at)
	p := newPool("tomcat-jdbc", "db")
	p.Size = countAfter(line, "size:")
	p.Active = countAfter(line, "busy:")
	p.Idle = countAfter(line, "idle:")
	p.Waited = millis(int64(countAfter(line, "lastwait:")))
	if bytes.Contains(line, []byte(" in use]")) {
		p.Active, p.Idle = countAfter(line, "none available["), 0
	}
	p.Rejected = true
	return o.pool(at, p)
}

func abandoned(o *logOut, text []byte, at int) (bool, error) {
	return o.mark(at, leak("", enclosed(text[at:], "PooledConnection[", "]"), appFrame(text, at)))
}

func c3p0Timeout(o *logOut, text []byte, at int) (bool, error) {
	p := newPool("c3p0", "db")
	p.Name = poolClass(upTo(past(text, "acquire a resource from "), " "))
	p.Rejected = true
	return o.pool(at, p)
}

func c3p0Unreachable(o *logOut, text []byte, at int) (bool, error) {
	p := newPool("c3p0", "db")
	p.Rejected, p.Unreachable = true, true
	return o.pool(at, p)
}

func c3p0Overdue(o *logOut, text []byte, at int) (bool, error) {
	return o.mark(at, leak("", []byte("overdue resource"), appFrame(text, at)))
}

func viburTimeout(o *logOut, text []byte, at int) (bool, error) {
	p := newPool("vibur", "db")
	p.Name = snippet(upTo(past(before(text, at), "Pool "), ","), maxText)
	p.Waited = span(past(text[at:], "within "))
	p.Rejected = true
	return o.pool(at, p)
}

func viburSlow(o *logOut, text []byte, at int) (bool, error) {
	d := span(past(rest(text, at), " took "))
	_, to := lineOf(text, at)
	if d < 0 || to >= len(text) {
		return false, nil
	}
	sql := text[to+1:]
	if i := bytes.Index(sql, []byte("\n\tat ")); i >= 0 {
		sql = sql[:i]
	}
	if i := bytes.Index(sql, []byte("\n-- Parameters")); i >= 0 {
		sql = sql[:i]
	}
	s := newStatement(evidence.ClientSlow, bytes.TrimPrefix(sql, []byte("-- ")))
	s.Duration = d
	return o.sql(at, s)
}

// goSQL reads database/sql's DBStats, as %+v or as JSON. Its waits are counted
// since the start, so they are no gauge.
func goSQL(o *logOut, text []byte, at int) (bool, error) {
	get := func(key string) int {
		value := bytes.TrimLeft(past(text[at:], key), "\": ")
		return int(plain(value))
	}
	p := newPool("go-sql", "db")
	p.Max = get("MaxOpenConnections")
	p.Size = get("\"OpenConnections")
	if p.Size < 0 {
		p.Size = get(" OpenConnections")
	}
	p.Active = get("InUse")
	p.Idle = get("Idle")
	if p.Max < 0 || p.Active < 0 {
		return false, nil
	}
	if p.Max == 0 { // unlimited
		p.Max = evidence.None
	}
	return o.pool(at, p)
}

// sqlAlchemy reads the overflow that is in use, which is all of it by then.
func sqlAlchemy(o *logOut, text []byte, at int) (bool, error) {
	line := rest(text, at)
	p := newPool("sqlalchemy", "db")
	size, overflow := countAfter(line, "of size "), countAfter(line, "overflow ")
	if size < 0 {
		return false, nil
	}
	p.Max = size + max(0, overflow)
	p.Active, p.Size, p.Idle, p.Rejected = p.Max, p.Max, 0, true
	if f, n := decimal(past(line, ", timeout ")); n > 0 {
		p.Waited = millis(int64(f * 1000))
	}
	return o.pool(at, p)
}
