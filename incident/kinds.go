package incident

import (
	"github.com/firebreak-io/firebreak/lang"
)

// KindDoc says what a kind of finding means.
type KindDoc struct {
	Kind Kind
	Doc  string
}

// Kinds lists all kinds of findings in the order of the documentation, in the
// language in use.
func Kinds() []KindDoc {
	list := kinds()
	for i := range list {
		list[i].Doc = lang.T(list[i].Doc)
	}
	return list
}

func kinds() []KindDoc {
	return []KindDoc{
		{PoolExhausted, "a worker pool refused work while full"},
		{PoolRejected, "callers were told that the pool is full"},
		{PoolBusy, "a dump or gauge shows no, or hardly an, idle worker"},
		{PoolIdle, "a dump or gauge shows most workers idle"},
		{PoolShutdown, "refusals of a pool that was shutting down: not load"},
		{PoolBurst, "refused with idle or few active workers: a burst, not fullness"},
		{PoolFrozen, "full, and nothing completes"},
		{PoolSlow, "full, completes, each task holds its worker long"},
		{PoolTooSmall, "full, tasks are short: more arrives than it has members for"},
		{PoolSharedLoss, "calls of one method are refused because another holds the pool"},
		{PoolHot, "one method holds most of the pool"},
		{ConnExhausted, "borrowers gave up waiting for a connection"},
		{ConnUnreachable, "the resource behind a connection pool cannot be reached"},
		{ConnLeak, "a borrower keeps its connection"},
		{ConnHeldAcross, "connections are held during something that is not SQL"},
		{ConnLimit, "the database refuses more connections"},
		{RetryAmplified, "attempts / calls well above 1"},
		{RetryCeiling, "amplification near 1 + retries"},
		{RetryExhausted, "calls failed after all their attempts"},
		{RetrySucceeded, "calls that succeeded after a retry"},
		{RetryNone, "attempts / calls near 1, or no retry in evidence that would show it"},
		{RetrySameTarget, "all attempts went to one provider"},
		{RetryRejection, "a refusal for overload was retried at once"},
		{RetryWrite, "a method that writes is retried"},
		{MessageRedelivered, "a broker delivered messages again: no caller retried"},
		{RetryLayers, "retries at more than one layer: they multiply"},
		{RetryHopeless, "hardly any retried call was saved by a retry"},
		{RetryBudget, "retries are more than a tenth of the calls"},
		{RetrySustained, "retries go on after what began them has ended"},
		{CallTimeout, "attempts ended by their timeout"},
		{CallFailed, "attempts failed, for no reason that the evidence names"},
		{CallLate, "answers came after the caller had given up: orphaned work"},
		{CallUnreachable, "connections refused or reset"},
		{CallBudget, "timeout x (1 + retries) exceeds what the caller has"},
		{CallSlow, "calls take far longer than they did before"},
		{CallSlowProvider, "one provider of several is slow"},
		{TimeDB, "a slow method spends its time in SQL, by its spans"},
		{TimeDownstream, "a slow method waits for calls of its own, by its spans"},
		{TimeOwn, "a slow method spends its time in no call, by its spans"},
		{ProbeSlow, "a method invoked by hand is slow"},
		{ProbeFast, "a method invoked by hand is quick"},
		{DuplicateWrite, "one business key was executed more than once"},
		{DownstreamSlow, "outgoing calls to a peer time out or hang"},
		{BreakerOpen, "a breaker opened"},
		{Limited, "a limiter or bulkhead refused"},
		{StackDBRead, "busy threads wait for a database's answer"},
		{StackDBPool, "busy threads wait for a database connection"},
		{StackRedis, "busy threads wait for Redis"},
		{StackHTTP, "busy threads wait for an HTTP answer"},
		{StackRPC, "busy threads wait for an RPC answer"},
		{StackMQ, "busy threads wait for a message broker"},
		{StackLock, "busy threads wait for a lock"},
		{StackCondition, "busy threads wait for a condition or a future"},
		{StackDisk, "busy threads wait for a disk"},
		{StackDNS, "busy threads resolve names"},
		{StackLogging, "busy threads wait to write a log"},
		{StackClassInit, "busy threads wait for a class to be initialised"},
		{StackGC, "threads stand still for the collector"},
		{StackCPU, "busy threads really run"},
		{StackOther, "busy threads wait for something that was not recognised"},
		{StackIdle, "request pools are idle in the dumps"},
		{LockConvoy, "many threads wait for one lock, with its owner"},
		{LockDeadlock, "a cycle of owners"},
		{SelfStarved, "all workers wait for tasks of their own pool"},
		{DumpStale, "a dump is older or younger than the trouble"},
		{DumpCut, "stacks were cut by their producer, deciding frames may be missing"},
		{DumpPartial, "a dump is incomplete"},
		{SQLSlow, "slow executions of a statement"},
		{SQLScan, "a statement or plan reads a whole table"},
		{SQLRunning, "many sessions run one statement now"},
		{SQLLockWait, "sessions wait for locks in the database"},
		{SQLMetaLock, "sessions wait for a metadata lock"},
		{SQLDeadlock, "the database resolved a deadlock"},
		{SQLIdleTrx, "a session idles inside a transaction"},
		{SQLFast, "the database answered quickly throughout"},
		{SQLCallRate, "a statement's rate rose while its cost did not"},
		{RouteNone, "calls found no provider"},
		{RouteEmptied, "a router left nobody"},
		{RouteNarrow, "routing left few of many"},
		{RouteWide, "routing left enough candidates"},
		{RouteSkew, "one of several providers gets far more than its share"},
		{RouteGrey, "tag routing sends traffic across its lane"},
		{GCPauses, "pauses long or frequent enough to matter"},
		{GCQuiet, "the collector paused little over the window"},
		{HeapFull, "the heap stays full after full collections"},
		{ClockLeap, "the clock leapt, or the process did not run for a while"},
		{CPUBusy, "processors saturated"},
		{CPUFree, "processors not the bottleneck"},
		{Throttled, "the container was throttled"},
		{Deployed, "started or stopped within the window"},
		{AppErrors, "exceptions that explain nothing by themselves"},
		{OutOfMemory, "the process ran out of memory"},
	}
}
