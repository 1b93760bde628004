package incident

// Kind is the kind of a finding. Runbook steps are answered by kinds, so they
// are a stable interface between the engine and the runbooks.
type Kind string

// Kinds about pools of workers.
const (
	PoolExhausted  Kind = "pool.exhausted"   // a worker pool refused work while full
	PoolRejected   Kind = "pool.rejected"    // callers were told that the pool is full
	PoolBusy       Kind = "pool.busy"        // a dump or gauge shows no, or hardly an, idle worker
	PoolIdle       Kind = "pool.idle"        // a dump or gauge shows most workers idle
	PoolShutdown   Kind = "pool.shutdown"    // refusals of a pool that was shutting down: not load
	PoolBurst      Kind = "pool.burst"       // refused with idle or few active workers: a burst, not fullness
	PoolFrozen     Kind = "pool.frozen"      // full, and nothing completes
	PoolSlow       Kind = "pool.slow"        // full, completes, each task holds its worker long
	PoolTooSmall   Kind = "pool.too-small"   // full, tasks are short: more arrives than it has members for
	PoolSharedLoss Kind = "pool.shared-loss" // calls of one method are refused because another holds the pool
	PoolHot        Kind = "pool.hot-method"  // one method holds most of the pool
)

// Kinds about pools of connections.
const (
	ConnExhausted   Kind = "conn.exhausted"   // borrowers gave up waiting for a connection
	ConnUnreachable Kind = "conn.unreachable" // the resource behind a connection pool cannot be reached
	ConnLeak        Kind = "conn.leak"        // a borrower keeps its connection
	ConnHeldAcross  Kind = "conn.held-across" // connections are held during something that is not SQL
	ConnLimit       Kind = "conn.limit"       // the database refuses more connections
)

// Kinds about calls and attempts.
const (
	RetryAmplified     Kind = "retry.amplified"     // attempts / calls well above 1
	RetryCeiling       Kind = "retry.ceiling"       // amplification near 1 + retries
	RetryExhausted     Kind = "retry.exhausted"     // calls failed after all their attempts
	RetrySucceeded     Kind = "retry.succeeded"     // calls that succeeded after a retry
	RetryNone          Kind = "retry.none"          // attempts / calls near 1, or no retry in evidence that would show it
	RetrySameTarget    Kind = "retry.same-target"   // all attempts went to one provider
	RetryRejection     Kind = "retry.of-rejection"  // a refusal for overload was retried at once
	RetryWrite         Kind = "retry.write"         // a method that writes is retried
	MessageRedelivered Kind = "message.redelivered" // a broker delivered messages again, in traces of their own
	RetryLayers        Kind = "retry.layers"        // retries at more than one layer: they multiply
	RetryHopeless      Kind = "retry.hopeless"      // hardly any retried call was saved by a retry
	RetryBudget        Kind = "retry.budget"        // retries are more than a tenth of the calls
	RetrySustained     Kind = "retry.sustained"     // retries go on after what began them has ended
	CallTimeout        Kind = "call.timeout"        // attempts ended by their timeout
	CallFailed         Kind = "call.failed"         // attempts failed, for no reason that the evidence names
	CallLate           Kind = "call.late"           // answers came after the caller had given up: orphaned work
	CallUnreachable    Kind = "call.unreachable"    // connections refused or reset
	CallBudget         Kind = "call.budget"         // timeout x (1 + retries) exceeds what the caller has
	CallSlow           Kind = "call.slow"           // calls take far longer than they did before
	CallSlowProvider   Kind = "call.slow-provider"  // one provider of several is slow
	TimeDB             Kind = "time.db"             // a slow method spends its time in SQL, by its spans
	TimeDownstream     Kind = "time.downstream"     // a slow method waits for calls of its own, by its spans
	TimeOwn            Kind = "time.own"            // a slow method spends its time in no call, by its spans
	ProbeSlow          Kind = "probe.slow"          // a method invoked by hand is slow
	ProbeFast          Kind = "probe.fast"          // a method invoked by hand is quick
	DuplicateWrite     Kind = "write.duplicate"     // one business key was executed more than once
	DownstreamSlow     Kind = "downstream.slow"     // outgoing calls to a peer time out or hang
	BreakerOpen        Kind = "protect.breaker"     // a breaker opened
	Limited            Kind = "protect.limited"     // a limiter or bulkhead refused
)

// Kinds about threads.
const (
	StackDBRead    Kind = "stack.db-read"
	StackDBPool    Kind = "stack.db-pool"
	StackRedis     Kind = "stack.redis"
	StackHTTP      Kind = "stack.http"
	StackRPC       Kind = "stack.rpc"
	StackMQ        Kind = "stack.mq"
	StackLock      Kind = "stack.lock"
	StackCondition Kind = "stack.condition"
	StackDisk      Kind = "stack.disk"
	StackDNS       Kind = "stack.dns"
	StackLogging   Kind = "stack.logging"
	StackClassInit Kind = "stack.class-init"
	StackGC        Kind = "stack.gc"
	StackCPU       Kind = "stack.cpu"
	StackOther     Kind = "stack.other"
	StackIdle      Kind = "stack.idle"     // request pools are idle in the dumps
	LockConvoy     Kind = "lock.convoy"    // many threads wait for one lock, with its owner
	LockDeadlock   Kind = "lock.deadlock"  // a cycle of owners
	SelfStarved    Kind = "pool.self-wait" // all workers wait for tasks of their own pool
	DumpStale      Kind = "dump.stale"     // a dump is older or younger than the trouble
	DumpCut        Kind = "dump.cut"       // stacks were cut by their producer, deciding frames may be missing
	DumpPartial    Kind = "dump.partial"   // a dump is incomplete
)

// Kinds about databases.
const (
	SQLSlow     Kind = "sql.slow"      // slow executions of a statement
	SQLScan     Kind = "sql.scan"      // a statement or plan reads a whole table
	SQLRunning  Kind = "sql.running"   // many sessions run one statement now
	SQLLockWait Kind = "sql.lock-wait" // sessions wait for locks in the database
	SQLMetaLock Kind = "sql.meta-lock" // sessions wait for a metadata lock
	SQLDeadlock Kind = "sql.deadlock"  // the database resolved a deadlock
	SQLIdleTrx  Kind = "sql.idle-trx"  // a session idles inside a transaction
	SQLFast     Kind = "sql.fast"      // the database answered quickly throughout
	SQLCallRate Kind = "sql.call-rate" // a statement's rate rose while its cost did not
)

// Kinds about routing.
const (
	RouteNone    Kind = "route.no-provider" // calls found no provider
	RouteEmptied Kind = "route.emptied"     // a router left nobody
	RouteNarrow  Kind = "route.narrow"      // routing left few of many
	RouteWide    Kind = "route.wide"        // routing left enough candidates
	RouteSkew    Kind = "route.skew"        // one of several providers gets far more than its share
	RouteGrey    Kind = "route.grey"        // tag routing sends traffic across its lane
)

// Kinds about the runtime and the host.
const (
	GCPauses    Kind = "gc.pauses"    // pauses long or frequent enough to matter
	GCQuiet     Kind = "gc.quiet"     // the collector paused little over the window
	HeapFull    Kind = "gc.heap-full" // the heap stays full after full collections
	ClockLeap   Kind = "host.clock-leap"
	CPUBusy     Kind = "cpu.busy" // processors saturated
	CPUFree     Kind = "cpu.free" // processors not the bottleneck
	Throttled   Kind = "cpu.throttled"
	Deployed    Kind = "deploy"     // started or stopped within the window
	AppErrors   Kind = "app.errors" // exceptions that explain nothing by themselves
	OutOfMemory Kind = "jvm.oom"
)
