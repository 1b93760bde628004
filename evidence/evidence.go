// Package evidence says what was observed: plain types, made by parsers and
// read by the engine that concludes. Nothing here concludes anything.
//
// A [Record] is lent. It, its payload and every byte slice and string slice
// below it may be overwritten as soon as the function it was handed to returns;
// [Record.Clone] keeps it. Strings and *[Frame] values are immutable and may be
// kept as they are.
//
// Unknown is never zero: a count that the source did not print is [None], a
// time is the zero time, a text is empty, and a yes-or-no is [Unknown].
package evidence

import "time"

// None is the value of a count, size or number that the source did not state.
const None = -1

// Tri is a yes-or-no that a source may leave out.
type Tri int8

// The values of a Tri.
const (
	Unknown Tri = iota
	Yes
	No
)

// RawFolder is the folder in a bundle of an incident with the lines that its
// records came from, for people: below it are the paths of the followed files.
const RawFolder = "firebreak-raw"

// Citation says where something was read, exactly enough to show it again.
type Citation struct {
	Source string // path inside the folder or archive, with slashes; "archive.tar.gz!member" inside one
	Line   int    // first line, from 1; 0 if the source has no lines
	Part   string // "#thread name" or a trace ID, where a line is not the answer
}

// Place is where something happened. An empty field is unknown, never "any".
type Place struct {
	Service  string // application or service name
	Instance string // host, pod or address
	Zone     string // availability zone or cell
}

// Record is one observation. Exactly one payload pointer is set.
type Record struct {
	Time   time.Time // when it happened, UTC; zero if the source gave no time
	Zoned  Tri       // Yes: the source stated the offset; No: the offset was assumed
	Place  Place     // whose observation it is
	Cite   Citation
	Thread string // thread or goroutine that wrote it, if the source says
	Trace  string // trace or request ID beside it, lower-case hex or as printed
	Logger string // logger that wrote it, of calls and routes: layers that tell of one call have different ones
	Raw    []byte // the text it came from, perhaps cut

	Attempt *Attempt      // one physical request as one side saw it
	Span    *Span         // one span of a trace
	Access  *Access       // one line of an access log
	Tries   *Tries        // a logical call seen at its end: "Tried N times"
	Route   *Route        // candidates by stage
	Pool    *PoolSnapshot // an EXHAUSTED line, a rejected task, a pool gauge
	Dump    *Dump         // a thread or goroutine dump begins or ends
	Stack   *Stack        // one thread or goroutine of one dump
	SQL     *Statement    // slow log, processlist, plan, lock wait
	Policy  *Policy       // timeout and retries as configured
	Mark    *Mark         // a time and a kind: GC pause, deploy, breaker opened
	Counter *Counter      // what a process counted of its calls
}

// Side tells which end of a call made an observation.
type Side int8

// The sides of a call.
const (
	SideUnknown Side = iota
	Consumer         // the caller's end
	Provider         // the callee's end
	Probe            // invoked by hand on the provider, past network and pool
)

// Outcome is how an attempt or a call ended.
type Outcome int8

// The outcomes. Rejected was refused before it ran; Cancelled was given up by
// its caller; Late was answered after its caller had given up.
const (
	OutcomeUnknown Outcome = iota
	OK
	Failed      // an error of the callee or of the transport
	Timeout     // the caller's wait ended
	Rejected    // refused by a full pool or a limiter
	Cancelled   // the caller withdrew
	NoProvider  // nobody to send it to
	Late        // a response arrived after the timeout
	BizFailed   // the business code answered with its own exception
	Unreachable // connection refused, closed or reset
	Redirected  // answered with another place to ask (HTTP 3xx)
	Challenged  // answered with a demand for credentials (HTTP 401, 407)
)

// Attempt is one physical request, as one side saw it.
type Attempt struct {
	TraceID         [16]byte // zero when untraced
	Span, Parent    [8]byte
	Side            Side
	Peer            Place  // the other end, as this side named it
	PeerAddr        string // host:port of the other end
	Service, Method string
	Duration        time.Duration // None if unknown
	Timeout         time.Duration // the limit it ran under; None if unknown
	Outcome         Outcome
	Ordinal         int    // from 1 if the source numbers its attempts; 0 if not
	RequestID       string // Dubbo request id or the like; joins a timeout to its late response
	Channel         string // "local -> remote" as printed
	Count           int    // how many alike this record stands for; 0 means 1
	LastOf          bool   // it is the last error inside a Tries record of the same line, so already counted there
	Error           string // class or short reason as printed
}

// Tries is a logical call of which only the end was seen.
type Tries struct {
	Service, Method string
	Attempts        int      // physical attempts made; None if not stated (then at least Failed+1)
	AtLeast         int      // lower bound of attempts where Attempts is None
	Providers       []string // distinct addresses that failed, as printed; not in order
	Failed          int      // P of (P/Q): distinct addresses that failed; None if not stated
	Candidates      int      // Q of (P/Q): invokers left after routing for the last attempt; None if not stated
	Succeeded       bool     // "Although retry … was successful"
	Outcome         Outcome  // of the last attempt
	Timeout         time.Duration
	Elapsed         time.Duration // of the whole call; None if not stated
	Each            []Try         // the attempts in order, where the source lists them (Dubbo profiler)
	Mode            string        // failover, failfast, failback, forking, broadcast, "http", "redisson", …
	Side            Side          // whose record it is
	RetriesSetting  int           // configured retries where that was printed (dubbo-go); None if not
}

// Try is one attempt inside a Tries record.
type Try struct {
	Addr     string
	Offset   time.Duration // from the start of the call
	Duration time.Duration
}

// Stage is one step of choosing a provider.
type Stage struct {
	Name  string // "directory", "valid", a router's name, "after-route", "tried"
	Count int
}

// Route is what was left after each stage of choosing a provider.
type Route struct {
	Service, Method string
	Stages          []Stage  // in order
	Empty           bool     // nothing was left: the call found no provider
	Culprit         string   // the router whose own output was empty, if printed
	Message         string   // the router's reason, as printed
	Addresses       []string // those named, perhaps only a few
	Registry        string
}

// PoolKind tells what a pool holds.
type PoolKind int8

// The kinds of pools.
const (
	PoolUnknown    PoolKind = iota
	ThreadPool              // workers
	ConnectionPool          // connections to a database, cache or HTTP peer
)

// PoolSnapshot is what was printed of a pool; None where the source did not say.
type PoolSnapshot struct {
	Name                       string // "DubboServerHandler-10.0.1.21:20880", "HikariPool-1", …
	Kind                       PoolKind
	Impl                       string // "dubbo", "jdk", "hikari", "druid", "dbcp", "tomcat-jdbc", "c3p0", "jedis", "http", "go-sql", …
	Resource                   string // "db", "redis", "http", "" for workers
	Owner                      string // address of the process that owns it, if printed (host:port)
	Max, Active, Idle, Waiting int
	Size                       int // members now, busy or not
	Queued                     int // as printed; derived from Tasks elsewhere
	Largest                    int
	Tasks, Completed           int64
	Rejected                   bool          // printed because a task was refused or a borrower gave up
	Relayed                    bool          // read at the other end of a call (a consumer that was told of it)
	Shutdown                   bool          // the pool was shutting down: a refusal says nothing about load
	Waited                     time.Duration // how long the borrower waited; None if not stated
	Unreachable                bool          // the resource behind the pool refuses connections (total=0, connect errors)
	Leak                       bool          // a borrower was reported as keeping its member
	Holders                    []string      // SQL or code that holds members, as printed (Druid runningSqlCount)
	Service, Method            string        // of the request that met it, if printed
}

// Dump says that a thread dump begins (Closing false) or has been read (Closing true).
type Dump struct {
	ID        string // unique within the source: its ordinal, from "1"
	Runtime   Runtime
	Format    string // "hotspot", "threadinfo", "dump-to-file", "goroutine", …
	Version   string // runtime version, as printed
	PID       string
	Closing   bool
	Threads   int      // threads read; at the close
	Declared  int      // threads that the dump says it has; None if it does not
	Truncated bool     // began or ended in the middle
	Partial   bool     // a selection (Arthas thread -n): no shares may be computed
	NoState   bool     // the format prints no thread states
	MaxFrames int      // depth at which this format cuts stacks; None if it does not
	Virtual   bool     // the process runs virtual threads that this dump cannot show
	Rejection bool     // written because a pool refused work (Dubbo_JStack.log)
	Deadlocks [][]Held // cycles that the runtime itself reported
	Ignored   int      // lines inside it that were not understood
	HeapFull  float64  // old generation used, 0…1; None if not printed
}

// Held is one member of a reported deadlock.
type Held struct {
	Thread string // who waits
	Lock   string // for what: class and identity, as printed
	Owner  string // who holds it
}

// Runtime is the kind of process that a dump came from.
type Runtime int8

// The runtimes.
const (
	RuntimeUnknown Runtime = iota
	JVM
	Go
)

// State is a thread's state as its runtime names it.
type State int8

// The states. Go's wait reasons map onto them; Stack.Detail has the words.
const (
	StateUnknown State = iota
	StateNew
	StateRunnable
	StateBlocked
	StateWaiting
	StateTimedWaiting
	StateTerminated
)

// Frame is one line of a stack. Frames are shared and immutable.
type Frame struct {
	Func   string // "com.acme.shop.Price.calc", "database/sql.(*DB).conn": module, loader and hashes removed
	File   string // "Price.java", "/src/order/order.go"; empty if unknown
	Line   int    // 0 if unknown
	Native bool
}

// Lock is a monitor, synchronizer or other thing a thread waits for or holds.
type Lock struct {
	ID      string // identity within the dump, as printed
	Class   string
	Owner   string // thread that holds it, if the source says
	OwnerID string
	Waiters int `json:",omitempty"` // threads that wait for it, as the source counted them (Arthas); 0 if it did not
}

// Stack is one thread or goroutine of one dump, or Count of them alike.
type Stack struct {
	Dump      string // Dump.ID within the same source
	Runtime   Runtime
	Name      string // thread name; for goroutines empty
	ID        string // Java thread id or goroutine id
	NativeID  string // operating-system thread id, decimal
	Container string // thread container, where the dump groups by it
	State     State
	Detail    string   // "parking", "on object monitor", "IO wait, 3 minutes" …
	Frames    []*Frame // innermost first
	Cut       bool     // the source printed fewer frames than there were
	CreatedBy string   // Go: the function that started it
	WaitsOn   Lock     // zero if it waits for nothing that was named
	Holds     []Lock   // monitors and synchronizers held (not the one released by Object.wait)
	Working   Tri      // holds its own pool worker lock: a task is running. Unknown if synchronizers were not printed
	Count     int      // threads that this record stands for; at least 1
	CPU       time.Duration
	Elapsed   time.Duration
	Waited    time.Duration // how long the runtime says it has waited (Go minutes); None if not said
	Virtual   bool
	Carrier   bool // a carrier whose mounted virtual thread is reported apart
	System    bool // VM, compiler, GC or runtime thread: not the application's
	Partial   bool // its text was cut
	Labels    map[string]string
}

// SQLOrigin tells what kind of evidence a Statement is.
type SQLOrigin int8

// The origins.
const (
	SQLUnknown  SQLOrigin = iota
	SlowLog               // finished, with its duration
	Running               // seen running: processlist, pg_stat_activity, Druid's running list
	PlanOnly              // EXPLAIN without execution
	LockWait              // waits for a lock, perhaps with its blocker
	Deadlock              // part of a deadlock that the database resolved
	ClientSlow            // slow as the client measured it (Druid StatFilter, ORM)
	Digest                // aggregated counters
	IdleSession           // a session that runs nothing (Sleep, idle in transaction)
)

// Statement is one SQL observation.
type Statement struct {
	Origin       SQLOrigin
	Engine       string // "mysql", "mariadb", "postgresql", "" if unknown
	Text         string // as read, perhaps cut
	Fingerprint  string // literals removed; empty if there was no text
	Truncated    bool   // Text was cut by its source
	Session      string // connection or process id
	User, Host   string
	DB           string
	Command      string        // processlist Command, PostgreSQL state
	State        string        // processlist State, PostgreSQL wait event "Type|event"
	Duration     time.Duration // of one execution; the average in a Digest
	LockTime     time.Duration
	RowsExamined int64
	RowsSent     int64
	Count        int64 // executions this record stands for (log_slow_rate_limit, digests); 0 means 1
	FullScan     Tri
	Plan         []PlanNode
	Waits        *LockEdge
	InTrx        Tri           // session has an open transaction
	TrxAge       time.Duration // None if unknown
	Snapshot     int           // ordinal of the processlist or activity snapshot within its source, from 1; 0 if it is not one
}

// PlanNode is one table access of a plan.
type PlanNode struct {
	Table        string
	Access       string // MySQL type or PostgreSQL node: "ALL", "ref", "Seq Scan", …
	Key          string // index used; empty if none
	PossibleKeys string
	Rows         int64 // estimated rows; None if not stated
	ActualRows   int64 // rows really read, loops included; None if not stated
	Removed      int64 // rows read and thrown away; None if not stated
	Scan         bool  // reads the whole table or index
	Extra        string
}

// LockEdge says which session waits for which.
type LockEdge struct {
	Blocker      string // session id of the holder; empty if unknown
	BlockerText  string // its statement, the last one if it is idle
	BlockerState string // "Sleep", "idle in transaction", …
	Object       string // table, index or relation
	Mode         string
	Waited       time.Duration
}

// Policy is a timeout and a number of retries as configured somewhere.
type Policy struct {
	Service, Method string // empty: applies to all
	Side            Side
	Timeout         time.Duration // None if not stated
	Retries         int           // None if not stated
	Cluster         string        // failover, failfast, …
	Threads, Queues int           // None if not stated
	LoadBalance     string
	Application     string // the consumer's or provider's own name, if the same text gives it
}

// Counter is what a process counted of the calls over one edge. A number is None
// where it was not counted.
type Counter struct {
	Impl            string // "envoy", "grpc", "dubbo", "linkerd", "resilience4j"
	Side            Side
	Service, Method string // of the callee, as the source names it; perhaps a cluster or a target
	Calls           int64  // logical calls
	Attempts        int64  // requests sent for them, or received
	Retries         int64  // of the attempts, or, where those are unknown, calls that were retried at least once
	Failed          int64
	Timeouts        int64
	RetriesRefused  int64     // retries that a budget or a limit forbade
	Overflow        int64     // attempts that a full queue or pool refused
	Took            int64     `json:",omitempty"` // microseconds that all of them took together; 0 or None if not said
	Delta           bool      // since the reading before, not since the process started
	Began           time.Time `json:",omitzero"` // when the process began to count; zero if it does not say
}

// Mark is a thing that happened at a time, with a kind from the list in this
// package and, where it has one, a value in the unit its kind states.
type Mark struct {
	Kind    string
	Subject string // what it happened to: a breaker's name, a table, a collector
	Text    string // short, as printed
	Value   float64
	Count   int // how many alike; 0 means 1
}

// LongestOnly is the Subject of a pause of which only the longest was kept, as by
// a gauge: it may be one that a log tells of too, and adds nothing to a sum.
const LongestOnly = "the longest of some minutes"

// The kinds of marks.
const (
	MarkGCPause         = "gc.pause"             // Value: seconds the application stood still
	MarkGCFull          = "gc.full"              // Value: seconds
	MarkHeapFull        = "gc.heap-full"         // Value: share used after a full collection, 0…1
	MarkAllocStall      = "gc.stall"             // Value: seconds one thread waited for memory
	MarkGCObserved      = "gc.observed"          // Value: seconds of GC log covered; Text: collector
	MarkClockLeap       = "host.clock-leap"      // Value: seconds; Hikari "Thread starvation or clock leap"
	MarkOOM             = "jvm.oom"              // OutOfMemoryError
	MarkCPU             = "host.cpu"             // Value: busy share of all cores, 0…1
	MarkThrottled       = "host.throttled"       // Value: share of periods throttled, 0…1
	MarkTooManyConns    = "db.too-many-conns"    // the database refuses connections
	MarkLockTimeout     = "db.lock-timeout"      // lock wait timeout exceeded
	MarkDBDeadlock      = "db.deadlock"          // the database resolved a deadlock
	MarkDuplicateKey    = "db.duplicate-key"     // Subject: the key; a write arrived twice
	MarkStatementKilled = "db.statement-timeout" // a statement was cancelled for its time
	MarkDBLost          = "db.lost"              // connection to the database lost or refused
	MarkBreakerOpen     = "breaker.open"
	MarkBreakerState    = "breaker.state"      // Text: "CLOSED to OPEN"
	MarkBulkheadFull    = "bulkhead.full"      // Subject: its name
	MarkRateLimited     = "limiter.rejected"   // Subject: resource
	MarkLeak            = "pool.leak"          // Subject: pool; a borrower kept its member
	MarkLeakReturned    = "pool.leak-returned" // the member came back after all; Text: the member, as the leak's Text begins
	MarkDeploy          = "deploy"             // started, stopped, shutting down
	MarkDumpFailed      = "dump.failed"        // a dump could not be written
	MarkStuck           = "server.stuck"       // Value: seconds one request has run
	MarkDownstream      = "downstream.slow"    // Subject: peer; an outgoing call timed out (not Dubbo)
	MarkAppError        = "app.error"          // an error or exception that nothing else explains; Subject: class
	MarkLogLevel        = "log.records"        // Count records of level Subject were seen
	MarkReplay          = "app.duplicate"      // Subject: business key executed again
)
