package parsers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// detectText offers a record of one text to every detector that would be
// offered it, and returns what they found.
func detectText(t testing.TB, text string) []evidence.Record {
	t.Helper()
	var found []evidence.Record
	rec := &logRecord{Level: "ERROR", Thread: "OrdersPool housekeeper", Text: []byte(text), lines: []recordLine{{0, 1}}}
	o := &logOut{in: NewInput("app.log", strings.NewReader("")), rec: rec, emit: func(r *evidence.Record) error {
		found = append(found, *r.Clone())
		return nil
	}}
	for _, sign := range detectorSigns().signs {
		if at := strings.Index(text, sign); at >= 0 {
			o.found = append(o.found, foundSign{sign, at})
		}
	}
	for _, d := range detectors() {
		if strings.HasPrefix(d.name, "dubbo") || strings.HasPrefix(d.name, "app") {
			continue
		}
		for _, s := range d.signs {
			if strings.Contains(text, s) {
				if err := d.find(rec, o); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
	}
	return found
}

// brief says what a record holds in a few words, leaving out the unknown.
func brief(r evidence.Record) string {
	switch {
	case r.Pool != nil:
		p := r.Pool
		s := "pool " + p.Impl + " " + p.Resource + " " + p.Name
		for _, n := range []struct {
			name string
			n    int
		}{{"max", p.Max}, {"active", p.Active}, {"idle", p.Idle}, {"waiting", p.Waiting}, {"size", p.Size}, {"queued", p.Queued}} {
			if n.n >= 0 {
				s += fmt.Sprintf(" %s=%d", n.name, n.n)
			}
		}
		if p.Waited >= 0 {
			s += " waited=" + p.Waited.String()
		}
		for _, f := range []struct {
			name string
			on   bool
		}{{"rejected", p.Rejected}, {"shutdown", p.Shutdown}, {"unreachable", p.Unreachable}, {"relayed", p.Relayed}} {
			if f.on {
				s += " " + f.name
			}
		}
		return s
	case r.Mark != nil:
		s := r.Mark.Kind + " [" + r.Mark.Subject + "] " + r.Mark.Text
		if r.Mark.Value != 0 {
			s += fmt.Sprintf(" value=%g", r.Mark.Value)
		}
		if r.Mark.Count != 0 {
			s += fmt.Sprintf(" count=%d", r.Mark.Count)
		}
		return s
	case r.Route != nil && r.Route.Empty:
		return "no provider " + r.Route.Service + ": " + r.Route.Message
	case r.Tries != nil:
		return fmt.Sprintf("tries %s %s attempts=%d atleast=%d succeeded=%v", r.Tries.Mode, r.Tries.Service, r.Tries.Attempts, r.Tries.AtLeast, r.Tries.Succeeded)
	case r.SQL != nil:
		return fmt.Sprintf("sql %v %q count=%d duration=%v", r.SQL.Origin, r.SQL.Text, r.SQL.Count, r.SQL.Duration)
	}
	return "?"
}

type detectCase struct{ name, text, want string } // want: one line a record

func checkDetected(t *testing.T, cases []detectCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, r := range detectText(t, c.text) {
				got = append(got, brief(r))
			}
			if g := strings.Join(got, "\n"); g != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", g, c.want)
			}
		})
	}
}

func TestDetectHikari(t *testing.T) {
	checkDetected(t, []detectCase{
		{"1.x", "java.sql.SQLException: Timeout of 5000ms encountered waiting for connection.", "pool hikari db  waited=5s rejected"},
		{"2.0", "java.sql.SQLException: Timeout after 5000ms of waiting for a connection.", "pool hikari db  waited=5s rejected"},
		{"2.7", "java.sql.SQLTransientConnectionException: OrdersPool - Connection is not available, request timed out after 501ms.", "pool hikari db OrdersPool waited=501ms rejected"},
		{"5.1", "OrdersPool - Connection is not available, request timed out after 3000ms (total=10, active=10, idle=0, waiting=0)", "pool hikari db OrdersPool active=10 idle=0 waiting=0 size=10 waited=3s rejected"},
		{"database down", "HikariPool-1 - Connection is not available, request timed out after 3000ms (total=0, active=0, idle=0, waiting=9)", "pool hikari db HikariPool-1 active=0 idle=0 waiting=9 size=0 waited=3s rejected unreachable"},
		{"name with colons", "SQLTransientConnectionException: root@jdbc:mysql://db:3306/shop - Connection is not available, request timed out after 1ms.", "pool hikari db root@jdbc:mysql://db:3306/shop waited=1ms rejected"},
		{
			"wrapped five times is one event",
			"Could not open JDBC Connection for transaction; nested exception is java.sql.SQLTransientConnectionException: P - Connection is not available, request timed out after 500ms.\norg.springframework.transaction.CannotCreateTransactionException: Could not open JDBC Connection for transaction\n\tat a.B.c(B.java:1)\nCaused by: java.sql.SQLTransientConnectionException: P - Connection is not available, request timed out after 500ms.\n\tat com.zaxxer.hikari.pool.HikariPool.createTimeoutException(HikariPool.java:664)",
			"pool hikari db P waited=500ms rejected",
		},
		{"stats of a quiet pool", "OrdersPool - Pool stats (total=10, active=2, idle=8, waiting=0)", "pool hikari db OrdersPool active=2 idle=8 waiting=0 size=10"},
		{"stats of 6.0", "OrdersPool - Pool stats (total=10/20, idle=0/5, active=10, waiting=3)", "pool hikari db OrdersPool max=20 active=10 idle=0 waiting=3 size=10"},
		{"stats at shutdown", "OrdersPool - After shutdown stats (total=0, active=0, idle=0, waiting=0)", "pool hikari db OrdersPool active=0 idle=0 waiting=0 size=0 shutdown"},
		{"clock", "P - Thread starvation or clock leap detected (housekeeper delta=1m5s204ms948µs145ns).", "host.clock-leap [P] Thread starvation or clock leap detected (housekeeper delta=1m5s204ms948µs145ns). value=65.204948145"},
		{"clock of 2.4.6", "52s6ms871μs872ns - Thread starvation or clock leap detected (housekeeper delta=HikariPool-1).", "host.clock-leap [HikariPool-1] Thread starvation or clock leap detected (housekeeper delta=HikariPool-1). value=52.006871872"},
		{
			"leak", "Connection leak detection triggered for org.postgresql.jdbc.PgConnection@5173 on thread exec-1, stack trace follows\njava.lang.Exception: Apparent connection leak detected\n\tat com.zaxxer.hikari.HikariDataSource.getConnection(HikariDataSource.java:100)\n\tat com.acme.shop.OrderDao.find(OrderDao.java:31)",
			"pool.leak [OrdersPool] org.postgresql.jdbc.PgConnection@5173 on thread exec-1 held by com.acme.shop.OrderDao.find(OrderDao.java:31)",
		},
		{
			"leak returned", "Previously reported leaked connection org.postgresql.jdbc.PgConnection@5173 on thread exec-1 was returned to the pool (unleaked)",
			"pool.leak-returned [OrdersPool] org.postgresql.jdbc.PgConnection@5173 on thread exec-1",
		},
	})
}

func TestDetectDruid(t *testing.T) {
	checkDetected(t, []detectCase{
		{
			"with the statements that hold it",
			"com.alibaba.druid.pool.GetConnectionTimeoutException: wait millis 5000, active 20, maxActive 20, creating 0, runningSqlCount 12 : select *\nfrom t_sku\nwhere id = 1\nrunningSqlCount 8 : update t_sku set n = 2\n\tat com.alibaba.druid.pool.DruidDataSource.getConnectionInternal(DruidDataSource.java:1)",
			"pool druid db  max=20 active=20 waited=5s rejected\nsql running \"select *\\nfrom t_sku\\nwhere id = 1\" count=12 duration=-1ns\nsql running \"update t_sku set n = 2\" count=8 duration=-1ns",
		},
		{"old", "GetConnectionTimeoutException: wait millis 5000, active 20, maxActive 20", "pool druid db  max=20 active=20 waited=5s rejected"},
		{"database down", "GetConnectionTimeoutException: wait millis 5000, active 0, maxActive 20, creating 1, createErrorCount 42", "pool druid db  max=20 active=0 waited=5s rejected unreachable"},
		{"waiters", "maxWaitThreadCount 100, current wait Thread count 101", "pool druid db  waiting=101 rejected"},
		{"slow", "slow sql 3012 millis. select * from t where id = ?[\"4711\"]", "sql client-slow \"select * from t where id = ?\" count=0 duration=3.012s"},
		{"look-alike", "how to find slow sql in production", ""},
	})
}

func TestDetectPools(t *testing.T) {
	checkDetected(t, []detectCase{
		{
			"dbcp2 wrapped", "java.sql.SQLException: Cannot get a connection, pool error Timeout waiting for idle object, borrowMaxWaitDuration=PT0.5S\n\tat x.Y.z(Y.java:1)\nCaused by: java.util.NoSuchElementException: Timeout waiting for idle object, borrowMaxWaitDuration=PT0.5S",
			"pool dbcp db  waited=500ms rejected",
		},
		{"dbcp1", "org.apache.commons.dbcp.SQLNestedException: Cannot get a connection, pool error Timeout waiting for idle object", "pool dbcp db  rejected"},
		{"tomcat", "PoolExhaustedException: [exec-2] Timeout: Pool empty. Unable to fetch a connection in 1 seconds, none available[size:2; busy:2; idle:0; lastwait:500].", "pool tomcat-jdbc db  active=2 idle=0 size=2 waited=500ms rejected"},
		{"tomcat no wait", "[exec-2] NoWait: Pool empty. Unable to fetch a connection, none available[7 in use].", "pool tomcat-jdbc db  active=7 idle=0 rejected"},
		{
			"c3p0", "java.sql.SQLException: An attempt by a client to checkout a Connection has timed out.\nCaused by: com.mchange.v2.resourcepool.TimeoutException: A client timed out while waiting to acquire a resource from com.mchange.v2.resourcepool.BasicResourcePool@2870 -- timeout at awaitAvailable()",
			"pool c3p0 db BasicResourcePool@2870 rejected",
		},
		{
			"jedis exhausted", "redis.clients.jedis.exceptions.JedisConnectionException: Could not get a resource from the pool\nCaused by: java.util.NoSuchElementException: Timeout waiting for idle object",
			"pool jedis redis  rejected",
		},
		{
			"jedis server down", "redis.clients.jedis.exceptions.JedisConnectionException: Could not get a resource from the pool\nCaused by: java.net.ConnectException: Connection refused (Connection refused)",
			"pool jedis redis  rejected unreachable",
		},
		{"go", "stats {MaxOpenConnections:1 OpenConnections:1 InUse:1 Idle:0 WaitCount:1 WaitDuration:200.434714ms MaxIdleClosed:0}", "pool go-sql db  max=1 active=1 idle=0 size=1"},
		{"sqlalchemy", "sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00", "pool sqlalchemy db  max=15 active=15 idle=0 size=15 waited=30s rejected"},
		{"activerecord", "could not obtain a connection from the pool within 5.000 seconds (waited 5.003 seconds); all pooled connections were in use", "pool activerecord db  waited=5.003s rejected"},
		{"npgsql", "The connection pool has been exhausted, either raise 'Max Pool Size' (currently 100) or 'Timeout'", "pool npgsql db  max=100 rejected"},
		{"go-redis", "redis: connection pool timeout", "pool go-redis redis  rejected"},
		{"httpclient", "org.apache.http.conn.ConnectionPoolTimeoutException: Timeout waiting for connection from pool", "pool httpclient http  rejected"},
		{"reactor", "Pool#acquire(Duration) has been pending for more than the configured timeout of 45000ms", "pool reactor http  waited=45s rejected"},
		{"nginx", "1024 worker_connections are not enough while connecting to upstream", "pool nginx http worker_connections max=1024 rejected"},
		{"urllib3 is benign", "Connection pool is full, discarding connection: stock. Connection pool size: 10", ""},
		{"redisson", "RedisTimeoutException: Unable to acquire connection! java.util.concurrent.CompletableFuture@1Increase connection pool size. Node source: x, command: (GET), params: [k] after 3 of 3 retry attempts", "tries redisson redis attempts=4 atleast=0 succeeded=false\npool redisson redis  rejected"},
		{"pgbouncer", "C-0x55a8: shop/shop_rw@10.20.0.7:60396 pooler error: query_wait_timeout", "pool pgbouncer db shop/shop_rw rejected"},
		{"pgbouncer twin", "C-0x55a8: shop/shop_rw@10.20.0.7:60396 closing because: query_wait_timeout (age=2s)", ""},
		{"pgbouncer limit", "C-0x55a8: (nodb)/(nouser)@10.20.0.7:1 pooler error: no more connections allowed (max_client_conn)", "pool pgbouncer db pgbouncer rejected"},
		{"pgbouncer stats", "stats: 1 xacts/s, 1 queries/s, in 9 B/s, out 20 B/s, xact 0 us, query 0 us, wait 823 us", "pool pgbouncer db pgbouncer waited=823µs"},
	})
}

func TestDetectThreadPools(t *testing.T) {
	pool := "java.util.concurrent.ThreadPoolExecutor@5c03[%s, pool size = 8, active threads = 8, queued tasks = 100, completed tasks = 4711]"
	running, stopping := fmt.Sprintf(pool, "Running"), fmt.Sprintf(pool, "Shutting down")
	full := "pool jdk  ThreadPoolExecutor@5c03 active=8 size=8 queued=100 rejected"
	checkDetected(t, []detectCase{
		{"jdk", "java.util.concurrent.RejectedExecutionException: Task java.util.concurrent.FutureTask@1[Not completed, task = a.B$$Lambda@2[x]] rejected from " + running, full},
		{"spring", "TaskRejectedException: Executor [" + running + "] did not accept task: a.B@1; nested exception is java.util.concurrent.RejectedExecutionException: Task a rejected from " + running, full},
		{"shutting down is a deployment", "RejectedExecutionException: Task a rejected from " + stopping, full + " shutdown"},
		{"gauge", "pool state: " + running, strings.TrimSuffix(full, " rejected")},
		{"jetty", "QueuedThreadPool[qtp12]@1f2{STARTED,8<=200<=200,i=0,r=8,t=59999ms,q=1024}[ReservedThreadExecutor@3{}] rejected org.eclipse.jetty.io.ManagedSelector@4", "pool jetty  qtp12 max=200 active=200 idle=0 size=200 queued=1024 rejected"},
		{"connector", "All threads (200) are currently busy, waiting. Increase maxThreads (200) or check the servlet status", "pool tomcat   max=200 active=200 idle=0 size=200"},
		{"netty at shutdown", "java.util.concurrent.RejectedExecutionException: event executor terminated", "pool netty   rejected shutdown"},
		{"dubbo's own is left to it", "java.util.concurrent.RejectedExecutionException: Thread pool is EXHAUSTED! Thread Name: x", ""},
		{"httpd", "AH00484: server reached MaxRequestWorkers setting, consider raising the MaxRequestWorkers setting", "pool httpd  httpd idle=0 rejected"},
		{"php", "WARNING: [pool www] server reached pm.max_children setting (50), consider raising it", "pool php-fpm  www max=50 active=50 idle=0 size=50 rejected"},
		{"stuck", "Thread [http-nio-8080-exec-7] (id=[71]) has been active for [61,204] milliseconds (since [3/14/26, 9:12 AM]) to serve the same request for [http://shop/order?x=1] and may be stuck (configured threshold for this StuckThreadDetectionValve is [60] seconds).", "server.stuck [http://shop/order] http-nio-8080-exec-7 value=61.204"},
		{"stuck in German", "Thread [exec-7] (id=[71]) has been active for [61.204] milliseconds (since [14.03.26]) to serve the same request for [http://shop/o] and may be stuck", "server.stuck [http://shop/o] exec-7 value=61.204"},
	})
}

func TestDetectCallsAndDatabases(t *testing.T) {
	checkDetected(t, []detectCase{
		{"feign", "feign.RetryableException: Read timed out executing GET http://stock-service/stock/1\nCaused by: java.net.SocketTimeoutException: Read timed out", "downstream.slow [stock-service] Caused by: java.net.SocketTimeoutException: Read timed out"},
		{"rest template", "I/O error on GET request for \"http://stock:8080/stock\": connect timed out", "downstream.slow [stock:8080] I/O error on GET request for \"http://stock:8080/stock\": connect timed out"},
		{"go", "Get \"http://stock:8080/x\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)", "downstream.slow [stock:8080] Get \"http://stock:8080/x\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"},
		{"go under a caller's deadline", "Post \"http://pay:8080/charge\": context deadline exceeded", "downstream.slow [pay:8080] Post \"http://pay:8080/charge\": context deadline exceeded"},
		{"grpc", "io.grpc.StatusRuntimeException: DEADLINE_EXCEEDED: deadline exceeded after 0.99s. [closed=[], open=[[remote_addr=stock/10.20.0.5:8080]]]", "downstream.slow [stock] io.grpc.StatusRuntimeException: DEADLINE_EXCEEDED: deadline exceeded after 0.99s. [closed=[], open=[[remote_addr=stock/10.20.0.5:8080]]]"},
		{"grpc limit", "StatusRuntimeException: RESOURCE_EXHAUSTED: too many requests", "limiter.rejected [] RESOURCE_EXHAUSTED: too many requests"},
		{"grpc size", "StatusRuntimeException: RESOURCE_EXHAUSTED: gRPC message exceeds maximum size 4194304", ""},
		{"socket of a driver", "com.mysql.cj.jdbc.exceptions.CommunicationsException: Communications link failure\nCaused by: java.net.SocketTimeoutException: Read timed out", "db.lost [] Communications link failure"},
		{"request of a caller", "java.net.SocketTimeoutException: null\n\tat org.apache.tomcat.util.net.NioEndpoint$NioSocketWrapper.fillReadBuffer(NioEndpoint.java:1)", ""},
		{"1040", "Error 1040 (08004): Too many connections", "db.too-many-conns [] Too many connections"},
		{"1205", "### Error updating database.\n### SQL: UPDATE t_stock SET n = n - ? WHERE id = ?\n### Cause: MySQLTransactionRollbackException: Lock wait timeout exceeded; try restarting transaction", "db.lock-timeout [UPDATE t_stock SET n = n - ? WHERE id = ?] Lock wait timeout exceeded; try restarting transaction"},
		{"1213", "Deadlock found when trying to get lock; try restarting transaction", "db.deadlock [] Deadlock found when trying to get lock; try restarting transaction"},
		{"1062", "SQLIntegrityConstraintViolationException: Duplicate entry 'A-1' for key 't_order.uk_no'", "db.duplicate-key [t_order.uk_no] Duplicate entry 'A-1' for key 't_order.uk_no'"},
		{"23505", "ERROR: duplicate key value violates unique constraint \"uk_no\"\n  Detail: Key (no)=(1) already exists.", "db.duplicate-key [uk_no] duplicate key value violates unique constraint \"uk_no\""},
		{"57014", "ERROR: canceling statement due to statement timeout", "db.statement-timeout [] canceling statement due to statement timeout"},
		{"pgx", "failed to connect to `host=db`:\n\t10.20.0.5:5432 (db): server error: FATAL: sorry, too many clients already (SQLSTATE 53300)", "db.too-many-conns [] too many clients already (SQLSTATE 53300)"},
		{"nginx", "*1 upstream timed out (110: Connection timed out) while reading response header from upstream, client: 10.20.0.1, server: , request: \"GET /pay HTTP/1.1\", upstream: \"http://10.20.0.12:8080/pay\"", "downstream.slow [10.20.0.12:8080] upstream timed out (110: Connection timed out) while reading response header from upstream"},
		{"nginx twin", "*15 upstream server temporarily disabled while connecting to upstream, client: 10.20.0.1, upstream: \"http://10.20.0.19:8080/bad\"", ""},
		{"nginx limit", "*23 limiting requests, excess: 0.993 by zone \"z\", client: 10.20.0.1", "limiter.rejected [z] limiting requests"},
	})
}

func TestDetectBreakersAndRetries(t *testing.T) {
	checkDetected(t, []detectCase{
		{"state", "2026-03-14T09:12:33.123+01:00[Europe/Berlin]: CircuitBreaker 'stock' changed state from CLOSED to OPEN", "breaker.state [stock] CLOSED to OPEN"},
		{"open", "CallNotPermittedException: CircuitBreaker 'stock' is OPEN and does not permit further calls", "breaker.open [stock] OPEN"},
		{"bulkhead", "BulkheadFullException: Bulkhead 'stock' is full and does not permit further calls", "bulkhead.full [stock] BulkheadFullException: Bulkhead 'stock' is full and does not permit further calls"},
		{"retry in between", "Retry 'stock', waiting PT0.5S until attempt '2'. Last attempt failed with exception 'x'.", ""},
		{"retry ended", "Retry 'stock' recorded a failed retry attempt. Number of retry attempts: '3'. Giving up. Last exception was: 'x'.", "tries resilience4j stock attempts=3 atleast=0 succeeded=false"},
		{"retry helped", "Retry 'stock' recorded a successful retry attempt. Number of retry attempts: '1', Last exception was: 'x'.", "tries resilience4j stock attempts=2 atleast=0 succeeded=true"},
		{"hystrix", "HystrixRuntimeException: StockClient#get(String) timed-out and no fallback available.", "downstream.slow [StockClient#get(String)] timed-out"},
		{"hystrix queue", "HystrixRuntimeException: GetStock could not be queued for execution and fallback failed.", "bulkhead.full [GetStock] could not be queued for execution"},
		{"sentinel", "com.alibaba.csp.sentinel.slots.block.flow.FlowException", "limiter.rejected [sentinel] FlowException"},
		{"sentinel-block.log", "2026-03-14 09:12:33|1|GET:/a,b,FlowException,default,origin,17|3,0", "limiter.rejected [GET:/a,b] FlowException count=3"},
		{"rocketmq", "Send [3] times, still failed, cost [9012]ms, Topic: T_ORDER, BrokersSent: [broker-a, broker-b]", "tries rocketmq T_ORDER attempts=3 atleast=0 succeeded=false"},
		{"flow control", "[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 206ms, size of queue: 5", "limiter.rejected [rocketmq broker] [TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 206ms, size of queue: 5"},
		{"last attempt", "call http://stock:8080/s failed, attempt 3/3, giving up", "tries generic stock:8080 attempts=-1 atleast=3 succeeded=false"},
		{"not the last", "call failed, attempt 2/3", ""},
		{"login is no call", "login failed (attempt 3 of 3)", ""},
		{"reactor", "Retries exhausted: 3/3", "tries reactor  attempts=4 atleast=0 succeeded=false"},
		{"oom", "java.lang.OutOfMemoryError: Java heap space", "jvm.oom [Java heap space] java.lang.OutOfMemoryError: Java heap space"},
		{"flag is no oom", "VM flags: -XX:+HeapDumpOnOutOfMemoryError", ""},
		{"started", "Started OrderApplication in 12.345 seconds (JVM running for 13.2)", "deploy [OrderApplication] started"},
	})
}

func TestSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1m5s204ms948µs145ns": time.Minute + 5*time.Second + 204*time.Millisecond + 948*time.Microsecond + 145,
		"PT0.499967968S":      499967968, "PT1M2.5S": 62*time.Second + 500*time.Millisecond,
		"1 second(s)": time.Second, "200.434714ms": 200434714, "x": evidence.None, "": evidence.None, "12": evidence.None,
	} {
		if got := span([]byte(text)); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
