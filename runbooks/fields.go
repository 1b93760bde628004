package runbooks

import (
	"slices"

	"github.com/firebreak-io/firebreak/incident"
)

// Fields that this package makes itself.
const (
	fieldOverride   = "override"      // Dubbo's dynamic configuration with retries off for the amplified methods
	fieldLimit      = "limit"         // Dubbo's dynamic configuration that limits the method that holds the pool
	fieldIndex      = "index"         // an index for the statement that scans
	fieldKill       = "kill"          // looks at the session that holds a lock, and how to end it as a comment
	fieldKnobs      = "knobs"         // where retries are configured that the override does not reach, as words
	fieldRisk       = "override_risk" // what to mind when the override is published, as words
	fieldEdges      = "edges"         // the amplified methods, as words
	fieldHolder     = "holder"        // the session that holds a lock, or a candidate, as words
	fieldHop        = "hop"           // what the workers wait for, as words
	fieldLimitWords = "limit_words"   // how much of the pool the limit leaves, as words
	fieldOwnerLine  = "owner_line"    // the name of a lock's owner as a thread dump has it, in quotes
)

// made are the fields above, with the language of those that are commands.
var made = map[string]Language{fieldOverride: YAML, fieldLimit: YAML, fieldIndex: SQL, fieldKill: SQL, fieldKnobs: "", fieldRisk: "", fieldEdges: "", fieldHolder: "", fieldHop: "", fieldLimitWords: "", fieldOwnerLine: Shell}

// common are fields that every finding has.
var common = []string{"subject", "text", "count"}

var (
	edgeKinds = []incident.Kind{
		incident.RetryAmplified, incident.RetryCeiling, incident.RetryExhausted, incident.CallTimeout, incident.PoolRejected, incident.CallLate,
		incident.RetryHopeless, incident.CallFailed, incident.CallSlow, incident.CallBudget, incident.RetryBudget, incident.RetrySustained,
		incident.RetryWrite, incident.RetryRejection, incident.RetrySameTarget, incident.RetrySucceeded, incident.RetryNone, incident.MessageRedelivered, incident.CallUnreachable, incident.RouteWide,
	}
	stackKinds = []incident.Kind{
		incident.StackDBRead, incident.StackDBPool, incident.StackRPC, incident.StackHTTP, incident.StackLock, incident.StackRedis, incident.StackMQ, incident.StackDNS,
		incident.StackDisk, incident.StackLogging, incident.StackClassInit, incident.StackCondition, incident.StackCPU, incident.StackGC, incident.StackOther,
	}
	workerKinds    = []incident.Kind{incident.PoolExhausted, incident.PoolRejected, incident.PoolBusy, incident.PoolSlow, incident.PoolFrozen, incident.PoolTooSmall, incident.PoolBurst, incident.PoolShutdown, incident.PoolIdle}
	connKinds      = []incident.Kind{incident.ConnExhausted, incident.ConnUnreachable, incident.ConnLeak}
	statementKinds = []incident.Kind{incident.SQLScan, incident.SQLRunning, incident.SQLSlow, incident.SQLLockWait, incident.SQLMetaLock}
	routeKinds     = []incident.Kind{incident.RouteNone, incident.RouteEmptied, incident.RouteNarrow, incident.RouteGrey, incident.RouteWide, incident.RouteSkew}
	timeKinds      = []incident.Kind{incident.TimeDB, incident.TimeDownstream, incident.TimeOwn}
	peerKinds      = []incident.Kind{incident.DownstreamSlow, incident.BreakerOpen, incident.Limited, incident.Deployed, incident.ConnLeak, incident.OutOfMemory}
)

func union(lists ...[]incident.Kind) []incident.Kind {
	var all []incident.Kind
	for _, l := range lists {
		for _, k := range l {
			if !slices.Contains(all, k) {
				all = append(all, k)
			}
		}
	}
	return all
}

// fields says which kinds of findings provide a field, the one that names it
// best first. A test holds it to what the engine really gives.
var fields = map[string][]incident.Kind{
	// Names.
	"edge":        edgeKinds,
	"consumer":    union(edgeKinds, routeKinds),
	"protocol":    edgeKinds,
	"service":     union(edgeKinds, routeKinds, []incident.Kind{incident.ProbeSlow, incident.ProbeFast, incident.CallSlowProvider, incident.DuplicateWrite}, timeKinds, workerKinds, connKinds),
	"method":      union(edgeKinds, []incident.Kind{incident.PoolHot}, stackKinds, []incident.Kind{incident.LockConvoy, incident.ProbeSlow, incident.ProbeFast, incident.PoolSharedLoss, incident.CallSlowProvider, incident.DuplicateWrite}, timeKinds, routeKinds),
	"class":       union([]incident.Kind{incident.PoolHot}, stackKinds, []incident.Kind{incident.LockConvoy}),
	"pool":        union(workerKinds, stackKinds, []incident.Kind{incident.PoolHot, incident.SelfStarved, incident.LockConvoy, incident.StackIdle, incident.RouteSkew}, connKinds),
	"owner":       union(workerKinds, []incident.Kind{incident.LockConvoy}),
	"resource":    connKinds,
	"process":     union([]incident.Kind{incident.PoolBusy}, stackKinds),
	"app_frame":   union(stackKinds, []incident.Kind{incident.LockConvoy, incident.ConnHeldAcross}),
	"lock":        {incident.LockConvoy},
	"owner_kind":  {incident.LockConvoy},
	"owner_at":    {incident.LockConvoy},
	"hot":         {incident.PoolSharedLoss},
	"router":      routeKinds,
	"fingerprint": statementKinds,
	"table":       statementKinds,
	"engine":      statementKinds,
	"blocker":     {incident.SQLLockWait},
	"object":      {incident.SQLLockWait},
	"statement":   {incident.SQLLockWait},
	"session":     {incident.SQLIdleTrx, incident.SQLMetaLock},
	"ddl":         {incident.SQLMetaLock},
	"key":         {incident.DuplicateWrite},
	"peer":        union(peerKinds, timeKinds),
	"query":       timeKinds,
	"provider":    {incident.CallSlowProvider},
	"kind":        {incident.ConnHeldAcross},
	"connections": {incident.StackDBPool},

	// Numbers.
	"calls":                edgeKinds,
	"attempts":             edgeKinds,
	"amplification":        union(edgeKinds, []incident.Kind{incident.RetryLayers}),
	"peak.amplification":   edgeKinds,
	"orphaned_s":           edgeKinds,
	"layers":               {incident.RetryLayers},
	"load.in_per_s":        {incident.RetryLayers},
	"load.out_per_s":       {incident.RetryLayers},
	"calls.retried":        {incident.RetryHopeless},
	"calls.saved":          {incident.RetryHopeless},
	"provider.p50_ms":      {incident.CallSlowProvider},
	"budget_ms":            {incident.CallBudget},
	"needs_ms":             {incident.CallBudget},
	"sustained_s":          {incident.RetrySustained},
	"failed.share":         {incident.CallFailed, incident.CallTimeout},
	"errors.peak_10s":      {incident.AppErrors},
	"mean_s":               {incident.CallSlow},
	"mean_before_s":        {incident.CallSlow},
	"time.share":           timeKinds,
	"method.p95_s":         timeKinds,
	"ceiling":              edgeKinds,
	"timeout_ms":           edgeKinds,
	"rejected":             {incident.PoolSharedLoss},
	"probe_ms":             {incident.ProbeSlow, incident.ProbeFast, incident.PoolSharedLoss},
	"pool.max":             union(workerKinds, stackKinds, []incident.Kind{incident.PoolHot}, connKinds),
	"pool.active":          union(workerKinds, stackKinds, connKinds, []incident.Kind{incident.StackIdle}),
	"pool.idle":            union(workerKinds, connKinds, []incident.Kind{incident.StackIdle}),
	"pool.queued":          union(workerKinds, connKinds),
	"pool.waiting":         union(connKinds, workerKinds),
	"pool.rejected":        union(workerKinds, connKinds),
	"pool.waited_s":        connKinds,
	"pool.completed_per_s": {incident.PoolSlow, incident.PoolTooSmall, incident.PoolFrozen},
	"pool.hold_s":          {incident.PoolSlow, incident.PoolTooSmall},
	"window_s":             {incident.PoolSlow, incident.PoolTooSmall, incident.PoolFrozen},
	"threads":              union(stackKinds, []incident.Kind{incident.LockConvoy, incident.PoolHot, incident.ConnHeldAcross, incident.LockDeadlock}),
	"threads.least":        stackKinds,
	"dumps":                union(stackKinds, []incident.Kind{incident.LockConvoy}),
	"sql.running":          {incident.SQLRunning, incident.SQLLockWait},
	"sql.waiting":          {incident.SQLLockWait},
	"sql.longest_s":        {incident.SQLRunning, incident.SQLLockWait},
	"sql.count":            {incident.SQLSlow, incident.SQLLockWait, incident.SQLFast},
	"sql.total_s":          {incident.SQLSlow, incident.SQLLockWait},
	"sql.p95_s":            {incident.SQLSlow, incident.SQLLockWait},
	"sql.max_s":            {incident.SQLSlow, incident.SQLLockWait},
	"sql.rows_examined":    {incident.SQLScan, incident.SQLSlow, incident.SQLLockWait},
	"sql.deadlocks":        {incident.SQLDeadlock},
	"writes.duplicate":     {incident.DuplicateWrite},
	"writes.retried":       {incident.DuplicateWrite},
	"candidates.first":     routeKinds,
	"candidates.last":      routeKinds,
	"tasks":                {incident.RouteSkew},
	"tasks.others":         {incident.RouteSkew},
	"gc.share":             {incident.GCPauses, incident.GCQuiet},
	"gc.worst_share":       {incident.GCPauses, incident.GCQuiet},
	"gc.longest_s":         {incident.GCPauses, incident.GCQuiet},
	"gc.pauses":            {incident.GCPauses, incident.GCQuiet},
	"gc.full":              {incident.GCPauses, incident.GCQuiet},
	"heap.full":            {incident.HeapFull},
	"cpu.busy":             {incident.CPUBusy, incident.CPUFree},
	"cpu.throttled":        {incident.Throttled},
	"pause_s":              {incident.ClockLeap},
	"gap_s":                {incident.DumpStale},
}

// provides reports whether findings of a kind have a field.
func provides(k incident.Kind, field string) bool {
	return known(common, field) || slices.Contains(fields[field], k)
}

// anyProvides reports whether a field can be found without naming a kind.
func anyProvides(field string) bool {
	_, ok := made[field]
	return ok || fields[field] != nil
}

func fieldNames() []string { return append(keysOf(fields), keysOf(made)...) }
