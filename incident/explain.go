package incident

import (
	"github.com/firebreak-io/firebreak/lang"
)

// Explanation says what a label means, for people who meet it at night.
type Explanation struct {
	Label      Label
	Means      string
	Evidence   []string // what makes it
	Against    []string // what speaks against it
	First      []string // what to do first
	LookAlikes []LookAlike
}

// LookAlike is a label that looks the same from afar, and what tells them apart.
type LookAlike struct {
	Label Label
	Tell  string
}

// Explain returns what a label means, in the language in use; false if there is
// no such label.
func Explain(l Label) (Explanation, bool) {
	for _, e := range explanations() {
		if e.Label == l {
			return e.translated(), true
		}
	}
	return Explanation{}, false
}

func (e Explanation) translated() Explanation {
	e.Means = lang.T(e.Means)
	for _, list := range [][]string{e.Evidence, e.Against, e.First} {
		for i := range list {
			list[i] = lang.T(list[i])
		}
	}
	for i := range e.LookAlikes {
		e.LookAlikes[i].Tell = lang.T(e.LookAlikes[i].Tell)
	}
	return e
}

func explanations() []Explanation {
	return []Explanation{
		{
			Label: RetryAmplification,
			Means: "Clients send several attempts for each logical call, so the provider works for a multiple of what the business asks. It is the label where nothing slower was found below it; often it is the amplifier of another trigger.",
			Evidence: []string{
				"attempts divided by logical calls well above one on an edge, from spans, access logs with an attempt count, or both ends' rates",
				"\"Tried N times\" messages: calls that failed after all their attempts; near the ceiling of 1 + retries nearly every call exhausts them",
				"refusals of a full pool that are retried at once, often at the same provider",
			},
			Against: []string{
				"attempts equal calls: the traffic itself grew",
				"overlapping siblings in a trace with nothing that says retry: fan-out or hedging",
				"failed calls only: calls that succeed at once leave no line, so their share is unknown",
			},
			First: []string{
				"set retries to zero for the edge through dynamic configuration, reads and unkeyed writes alike",
				"then look for what made the first attempts fail: the amplifier keeps burning, but seldom began it",
			},
			LookAlikes: []LookAlike{
				{TrafficSkew, "one provider gets more than its share, but attempts equal calls over all of them"},
				{PoolStarvation, "the pool is full without any retry: arrivals times hold time exceed its members"},
				{DuplicateWrites, "the trouble is not the load but that one business key was executed twice"},
			},
		},
		{
			Label: SlowSQL,
			Means: "One statement, or a few, takes so long that the workers which wait for it are missing elsewhere.",
			Evidence: []string{
				"most busy workers stand in a driver's read below the same frame of your code",
				"slow log, processlist or pg_stat_activity show one fingerprint foremost by total time or by sessions running it",
				"the plan reads a whole table, or rows examined exceed rows returned by orders of magnitude",
			},
			Against: []string{
				"the database answered quickly throughout, by its own log: the time is lost before or after it",
				"the sessions wait for a lock: the statement is a victim of who holds it",
				"workers wait for a connection, not for an answer",
			},
			First: []string{
				"cut retries on the calls that run it, or every repair is drowned",
				"find what changed: a plan, a dropped index, statistics, the number of rows, a caller without its WHERE value",
				"do not add threads or connections: more of them make a slow database slower",
			},
			LookAlikes: []LookAlike{
				{LockContention, "statements are slow because they wait: lock time, \"Waiting for\", wait_event_type Lock"},
				{PoolStarvation, "the connection pool is too small while each statement is quick"},
				{DownstreamWait, "the socket read belongs to another service, not to a database driver"},
			},
		},
		{
			Label: PoolStarvation,
			Means: "A bounded set of workers or connections is used up, and callers are refused or wait for a member. Mostly a victim; the label when the evidence shows nothing below it, or when the pool is simply too small.",
			Evidence: []string{
				"\"Thread pool is EXHAUSTED\", rejected tasks, borrowers that gave up waiting",
				"active equals max in several snapshots; a dump without idle workers",
				"arrivals per second times hold time exceed the members (Little's law)",
			},
			Against: []string{
				"refusals with idle members, or of a pool that was shutting down",
				"one snapshot of a short burst",
			},
			First: []string{
				"save the dumps before a restart: they say what the members wait for",
				"limit or degrade the method that holds most members",
				"grow the pool only if what it waits for is not itself the bottleneck",
			},
			LookAlikes: []LookAlike{
				{SlowSQL, "the members wait for the database; then the statement is the trigger"},
				{Deadlock, "nothing completes at all and a cycle of owners is reported"},
				{GCPause, "the pool fills within each pause and drains after it"},
			},
		},
		{
			Label: LockContention,
			Means: "Threads or database sessions wait for a lock that somebody holds too long: a monitor in the process, rows or metadata in the database.",
			Evidence: []string{
				"many threads BLOCKED on, or parked for, one lock, with its owner",
				"lock wait timeouts, sessions with \"Waiting for … lock\", a blocker that is idle in its transaction",
				"statements whose lock time is most of their time",
			},
			Against: []string{
				"the owner itself waits for the database or another service: go on with what the owner waits for",
				"threads parked in an idle pool's queue: they wait for work, not for a lock",
			},
			First: []string{
				"find the owner: it is one thread or one session",
				"end an idle blocker's session; stop or postpone the DDL that waits at the head of a metadata queue",
			},
			LookAlikes: []LookAlike{
				{SlowSQL, "time is spent reading rows, not waiting for them"},
				{Deadlock, "the owners wait for each other: it never resolves"},
				{CPUSaturation, "the owner is runnable and gets no processor"},
			},
		},
		{
			Label: DownstreamWait,
			Means: "The workers wait for another service. The trouble is one hop down, and the evidence of that hop is not here or does not reach further.",
			Evidence: []string{
				"most busy workers stand in an RPC or HTTP client below one frame of your code",
				"timeouts towards one peer, late answers from it",
			},
			Against: []string{
				"the peer's own log shows quick answers: the time is lost in its queue, on the network or in the client",
				"the outgoing calls are few while incoming ones hang",
			},
			First: []string{
				"cut retries towards it, open its breaker or degrade the feature",
				"collect the same evidence from the peer and run firebreak over both",
			},
			LookAlikes: []LookAlike{
				{SlowSQL, "the read belongs to a database driver"},
				{RetryAmplification, "the peer is slow because this side asks several times"},
				{NoProvider, "calls fail at once with nobody to send them to"},
			},
		},
		{
			Label: GCPause,
			Means: "The process stood still for collections of garbage, long or often enough to break its callers' timeouts.",
			Evidence: []string{
				"pauses that exceed the timeouts, or add up to a large share of the window",
				"the heap stays full after full collections; allocation stalls; \"Thread starvation or clock leap\"",
			},
			Against: []string{
				"the log of the collector covers the window and shows little",
				"callers of other processes suffer alike",
			},
			First: []string{
				"take the instance out of traffic; save a histogram of the heap before a restart",
				"look for what began to allocate: a large result, a cache without a bound",
			},
			LookAlikes: []LookAlike{
				{CPUSaturation, "threads are runnable all the time; the collector's threads are not foremost"},
				{SlowSQL, "a large result fills the heap: the statement is the trigger of the pauses"},
			},
		},
		{
			Label: CPUSaturation,
			Means: "The processors are the bottleneck, or the container is throttled: work waits to run.",
			Evidence: []string{
				"most busy threads are runnable in code, not in a read",
				"utilisation near all cores, or a large share of throttled periods",
			},
			Against: []string{
				"runnable threads that stand in a socket read: Java calls that runnable, but it is waiting",
				"free processors in the same window",
			},
			First: []string{
				"take a profile before a restart; three dumps show the hot frame roughly",
				"shed load; raise the container's limit if it is throttled",
			},
			LookAlikes: []LookAlike{
				{GCPause, "the collector burns the processors"},
				{LockContention, "spinning on a lock burns processors without progress"},
				{RetryAmplification, "the load itself is a multiple of the business's"},
			},
		},
		{
			Label: NoProvider,
			Means: "Callers find nobody to send the call to: nothing is registered, a router left nobody, or all are forbidden or down.",
			Evidence: []string{
				"\"No provider available\" and its kin, with the candidates left after each stage of routing",
				"a registry's empty notification, a deploy, a changed rule just before",
			},
			Against: []string{
				"providers were found but refused connections or timed out",
				"only one consumer cannot find them: its own registry connection or cache",
			},
			First: []string{
				"see which stage emptied the list: registry, router by name, or health",
				"take back the rule or the deploy that came just before",
			},
			LookAlikes: []LookAlike{
				{TrafficSkew, "somebody is left, but too few"},
				{DownstreamWait, "there are providers, and they hang"},
			},
		},
		{
			Label: TrafficSkew,
			Means: "Some providers get far more than their share: routing, weights, warm-up, sticky connections or a hot key. Those burn while others idle.",
			Evidence: []string{
				"few candidates after routing where the directory has many",
				"all attempts at one provider; one pool full while its peers idle",
			},
			Against: []string{
				"all providers are equally full",
				"the evidence is of one instance only: its peers were not collected",
			},
			First: []string{
				"widen or switch off the rule that narrows",
				"take the overloaded instance's weight down rather than restarting it",
			},
			LookAlikes: []LookAlike{
				{RetryAmplification, "load is a multiple of calls on all providers"},
				{PoolStarvation, "one instance is full because it is slower, not because it gets more"},
			},
		},
		{
			Label: DuplicateWrites,
			Means: "One business operation was executed more than once, since a write was retried, redelivered or submitted twice without an idempotency key.",
			Evidence: []string{
				"the same business key executed again by another attempt of the same call",
				"duplicate-key errors that follow timeouts of a method that writes",
			},
			Against: []string{
				"the keys differ, or the second execution was refused as designed",
				"a user did it twice: two logical calls, two traces",
			},
			First: []string{
				"set retries to zero for the write at once; a timeout does not mean that it was not done",
				"list the keys that ran twice before anybody repairs data by hand",
			},
			LookAlikes: []LookAlike{
				{RetryAmplification, "reads were repeated: costly, but harmless to data"},
			},
		},
		{
			Label: Deadlock,
			Means: "Threads wait for each other in a circle, or all workers wait for tasks that only their own pool could run. It does not resolve itself. (A deadlock of database transactions is resolved by the database and shows as an error.)",
			Evidence: []string{
				"a cycle of owners in a dump, reported by the runtime or found from its locks",
				"all workers of a pool wait for results of tasks queued in the same pool",
			},
			Against: []string{
				"the threads moved between two dumps",
				"an owner that waits for something outside: slow, not dead",
			},
			First: []string{
				"save the dumps, then restart the instance with its traffic drained: nothing else frees it",
				"give nested tasks a pool of their own, or the locks one order",
			},
			LookAlikes: []LookAlike{
				{LockContention, "the owner makes progress, so the queue moves"},
				{PoolStarvation, "tasks complete, if slowly"},
			},
		},
		{
			Label: Healthy,
			Means: "The evidence covers what would show trouble, and shows none.",
			Evidence: []string{
				"idle workers, attempts near calls, quick statements, little collection, in the window asked about",
			},
			Against: []string{
				"evidence of another time or of another instance than the one that burns",
				"only one kind of evidence: a quiet log beside a full pool says nothing",
			},
			First: []string{
				"check that the window and the instance are those of the complaint",
				"look one hop up: a client may time out before it ever sends",
			},
			LookAlikes: []LookAlike{
				{Inconclusive, "nothing was seen because nothing was there to see it in"},
			},
		},
		{
			Label: Inconclusive,
			Means: "The evidence cannot tell. That is an answer: guessing costs more than collecting.",
			Evidence: []string{
				"a symptom without anything below it, or signs that contradict each other",
			},
			Against: []string{
				"none: the report says what to collect, with the command, and what each outcome would mean",
			},
			First: []string{
				"collect what the report lists first, while it still burns; then run firebreak again over all of it",
			},
			LookAlikes: []LookAlike{
				{Healthy, "there was enough to see trouble in, and it shows none"},
				{PoolStarvation, "the pool itself is shown to be too small"},
			},
		},
	}
}
