package ledger

import (
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// Basis says what kind of evidence an account rests on.
type Basis string

// The bases. Accounts of one edge on two bases stand side by side; adding them
// would count the same attempts twice.
const (
	FromSpans  Basis = "spans"
	FromAccess Basis = "access-logs"
)

// Book is the ledger, closed: sums and lists, most important first. Unknown
// numbers are [evidence.None]. Durations are sums or moments as said; an average
// or a share is never summed. Counts of calls and attempts are adjusted by
// sampling weights where spans state them, and are whole numbers otherwise.
type Book struct {
	Edges      []Edge          // by attempts beyond calls, then attempts
	Paths      []Path          // by amplification, then attempts at the leaf
	Entries    []Entry         // by requests
	Methods    []Method        // where providers' time went, by total time
	Statements []Statement     // by total time
	Hops       []Hop           // callers' calls against arrivals, from access logs
	Duplicates []DuplicateWork // business keys that were executed more than once
	Arrivals   []Arrivals      // requests per provider and per caller, from access logs

	Spans     int64   // spans taken in
	SpansKept int64   // of them, kept
	Share     float64 // share of the traces that was kept: 1, or a power of a half when memory bounded it
	Traces    int64
	// Stacked counts traces in which a call was retried inside an attempt of a
	// call that was retried, too: there retries multiply.
	Stacked int64
	// Weighted and Unweighted count calls whose spans state a sampling weight and
	// calls whose do not. Where both are above 0 the counts mix populations.
	Weighted, Unweighted int64
	// NoProvider counts attempts of which no provider's span was seen, NoConsumer
	// those whose span names a parent that was not seen.
	NoProvider, NoConsumer int64
	Lines                  int64 // access-log lines taken in
	Losses                 map[Loss]int64
}

// Latency sums up a set of durations. Quantiles are within 4.4 %, Max is exact.
type Latency struct {
	Count                    int64
	Mean, P50, P95, P99, Max time.Duration
}

// Edge is one caller's use of one operation of one callee, on one basis.
type Edge struct {
	Caller   string // service; empty if the caller is outside or unknown
	Callee   string // service; empty if unknown
	Protocol string // "http", "dubbo", …
	Service  string // RPC interface; empty for others
	Method   string // bare method, HTTP verb and route, or database operation
	Basis    Basis

	// None stands for what an access log does not tell: a server's own log knows
	// no calls, a plain proxy's no attempts.
	//
	// Calls are logical calls, Attempts the physical requests that count towards
	// amplification: first sends, retries and a proxy's retries. Hedges and the
	// like are apart, see Physical.
	Calls, Attempts float64
	// Amplification is Attempts / Calls, a ratio of sums. None if Calls is 0 or if
	// only one end was seen and nothing there joins attempts (see OneSided).
	Amplification float64
	// Exact says that nothing of it rests on inference: no call of several attempts
	// was joined by it, of its attempts no more than the ends of a capture were lost,
	// and it does not collapse.
	Exact bool
	// OneSided is "consumer" or "provider" if only that side's evidence exists.
	OneSided string

	Retries float64 // Attempts - first sends
	// RetryShare is Retries / Calls; a retry budget is commonly 0.1. None if unknown.
	RetryShare float64
	Proxied    float64 // of Retries, those that a proxy below the client made
	// Attempts sent for other reasons, not in Attempts.
	Hedges, Transparent, Redirects, Challenges float64
	Hidden                                     float64 // of Attempts, those known only by the numbers of others

	// Collapsed counts the calls that were seen as one span around whatever the
	// client's library sent for it. They count as one attempt each, the least that
	// there was.
	Collapsed float64

	ByAttempts map[int]float64 // calls by their number of attempts; 64 stands for 64 and more
	// Earlier is calls of so many attempts that another ledger has counted, of which
	// this one knows a later attempt: they are in ByAttempts here, and to be taken
	// from there.
	Earlier   map[int]float64
	Ceiling   int     // the largest number of attempts of one call: the observed limit
	Retried   int64   // calls that were retried
	AtCeiling float64 // share of the retried calls that used up the ceiling; None if none was retried

	// ByEvidence counts calls by how their attempts were joined; of a group that is
	// ambiguous only the first. Joined sums to Calls.
	ByEvidence map[string]int64
	Joined     Joined
	// Ambiguous counts groups of siblings that may be retries or a loop. They are
	// counted as single calls.
	Ambiguous int64
	// Repeats counts, in logs that tell neither attempts nor request IDs, requests
	// of one client for the same target soon after one of its own that failed. They
	// may be retries, and are in no other number.
	Repeats int64

	// Slots are logical calls with the retries above folded away; Inherited is
	// calls / slots, Cumulative attempts / slots, over traces whose ancestry is
	// complete, and SlotAttempts are those attempts. None without such traces.
	Slots, Inherited, Cumulative, SlotAttempts float64

	Fates    Fates
	Outcomes map[evidence.Outcome]int64 // of attempts, hedges and the rest included

	// Provider time. Server is all that was seen; of it, Orphaned was worked after
	// the caller had given up (a lower bound, by durations), Superseded by attempts
	// whose answer was not used, Failed by the last attempts of calls that failed.
	// No second is in two of them.
	Server, Orphaned, Superseded, Failed time.Duration
	Wasted                               float64 // share of Server in the three; None if Server is 0
	Orphans                              int64   // attempts at which the provider went on working for nobody
	DeadOnArrival                        int64   // attempts that reached the provider after their caller had given up, beyond the skew bound

	Attempt Latency // per attempt, as the caller saw it, or the provider where the caller was not seen
	Call    Latency // per logical call, first send to last answer
	Gap     Latency // between one attempt's end and the next one's start
	// Durations and Gaps are what Attempt and Gap sum up.
	Durations, Gaps *Histogram

	Timeout       time.Duration // commonest duration of attempts that timed out; None if none did
	TimeoutCount  int64         // attempts of that duration
	NoBackoff     int64         // retries sent at once after a failure that was not a timeout
	AfterTerminal int64         // retries after an error that a retry does not mend
	// SameProvider is the share of retried calls all whose attempts went to one
	// provider: their retries could not help. None if providers are unknown.
	SameProvider float64

	Windows   []Window   // equal intervals, in order of time
	Providers []Provider // by attempts
	Examples  []Example  // the worst calls
	Worst     Worst      // the worst of each kind, by span
	Traces    []Trace    // a few of the foremost edges' calls, drawn
	picks     *picks
	// First is when the first call began, Last when the last one ended.
	First, Last time.Time
}

// Joined is calls by how sure it is which attempts are theirs.
type Joined struct {
	Exact     float64 // nothing was guessed
	Inferred  float64 // siblings that look like one call
	Ambiguous float64 // of groups that may be retries or a loop, counted as single calls
}

func (y *Joined) add(e Evidence, doubted bool, calls float64) {
	switch {
	case e == Ambiguous, e == Single && doubted:
		y.Ambiguous += calls
	case e == Inferred:
		y.Inferred += calls
	default:
		y.Exact += calls
	}
}

// Physical is all requests put on the wire.
func (e *Edge) Physical() float64 {
	return e.Attempts + e.Hedges + e.Transparent + e.Redirects + e.Challenges
}

// Collapses reports whether so many calls hide their attempts that Attempts is
// no more than a lower bound, and an Amplification near 1 says nothing.
func (e *Edge) Collapses() bool { return e.Collapsed*lossyFrom > e.Calls }

// Window is an interval of an edge's life. Counts are not weighted.
type Window struct {
	From                      time.Time
	Width                     time.Duration
	Calls, Attempts, Failures int64         // calls by their start, attempts and failures by theirs
	Mean                      time.Duration // of the attempts; None if there were none
}

// Provider is one process or address that attempts went to. Counts are not
// weighted.
type Provider struct {
	Name               string
	Attempts, Failures int64
	Busy               time.Duration // its own time where its spans were seen, else its callers'
	P50, P95, Max      time.Duration
}

// Example is a call worth looking at.
type Example struct {
	Trace    string // hex
	Attempts int
	Duration time.Duration
	Cite     evidence.Citation
}

// Path is a chain of edges from where requests enter to where no further calls
// are made, retries multiplying on the way.
type Path struct {
	Layers []Layer
	Roots  float64 // requests that entered
	Leaf   float64 // attempts at the last edge
	// Load is Leaf / Roots: the product of all fan-outs and amplifications.
	Load float64
	// Amplification is the product of the layers' amplifications alone.
	Amplification float64
	// Front is the proxy in front of the path, as its access log tells: spans begin
	// behind it. It is found by its route and by its attempts, of which there must
	// be as many as Roots within a tenth. WithFront is the product of both
	// amplifications; nil and None if no log fits.
	Front     *Edge
	WithFront float64
	// In and Out are Roots and Leaf per second of the time covered; None if the
	// time covered is under a second.
	In, Out float64
}

// Layer is one edge of a path, counted on that path only.
type Layer struct {
	Caller, Callee, Protocol, Service, Method string
	Calls, Attempts                           float64
	FanOut                                    float64 // calls per attempt of the layer before; 1 for the first
	Amplification                             float64
}

// Method is an operation as its provider ran it: where its time went along the
// critical path, in the provider's own clock.
type Method struct {
	Service  string // the provider's name
	Protocol string
	RPC      string // interface
	Method   string
	Latency  Latency
	Total    time.Duration // its spans' durations; Own and the Waits sum to it, apart from what was beyond the cap
	Own      time.Duration // in no call
	Waits    []Wait        // by time
	// ByKind sums the waits by kind: "db", "redis", "http", "rpc", "messaging", "other".
	ByKind   map[string]time.Duration
	Examples []Example // the slowest runs
	// First is when the first run of half a second or more began, Last when the
	// last one ended; zero if there was none.
	First, Last time.Time
}

// Wait is what a method waited for, one statement or operation.
type Wait struct {
	Kind, Callee, What string
	Query              string // statement, if recorded
	Count              int64
	Total              time.Duration
}

// Statement is a statement as spans recorded it, without literals if the Config
// removes them.
type Statement struct {
	Query    string
	Database string // "mysql/shop"
	Count    int64
	Failures int64
	Total    time.Duration
	P95, Max time.Duration
	Callers  map[string]int64 // "service method" → executions
	Examples []Example        // the slowest
}

// Hop compares what one log's requests asked for with what arrived behind it.
type Hop struct {
	Caller, Callee string // the two logs' services
	Method         string // route or RPC method
	// Calls are the caller's requests and Arrivals what the callee received, both
	// counted in the time that both logs cover. Joined says by request ID; else
	// they are two counts over one window.
	Calls, Arrivals int64
	Amplification   float64 // Arrivals / Calls; None if Calls is 0
	Joined          bool
	Attempts        int64         // what the caller's log itself tells of its attempts; None if it does not
	ByArrivals      map[int]int64 // calls by arrivals, where joined
	From, To        time.Time     // the time common to both logs
	// Unmatched counts what could not be compared, by reason.
	Unmatched map[string]int64
	Cite      evidence.Citation // an example: the call with the most arrivals
}

// DuplicateWork is a method that ran more than once for one business key. For a
// read that may only mean that the key is popular: Regular tells.
type DuplicateWork struct {
	Callee, Service, Method string
	Keys                    int64         // keys executed more than once within Config.KeyWindow
	AllKeys                 int64         // all keys seen of this method
	Executions              int64         // of the keys executed more than once
	Most                    int           // executions of one key
	Gap, Median             time.Duration // shortest and median time between two executions of one key
	// Regular is the share of those gaps within a fifth of the median: retries
	// after a timeout come at one distance, popular keys at any.
	Regular float64
	// Overlaps counts executions that began while the one before, of the same key,
	// went on.
	Overlaps int64
	// Share is the share of keys that were looked at: 1, or less where memory
	// bounded it; counts are of that share.
	Share float64
	Cites []evidence.Citation // the executions of the key with the most
}

// Arrivals is what one provider received, from access logs, by who asked.
type Arrivals struct {
	Callee, Instance, Method string
	Count, Failures          int64
	Latency                  Latency
	Callers                  map[string]int64 // addresses of who asked, without ports
	Windows                  []Window
	First, Last              time.Time
	Cite                     evidence.Citation // one of the worst requests
}
