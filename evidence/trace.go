package evidence

import "time"

// SpanKind is a span's kind as OpenTelemetry names it. It is a hint: gRPC's own
// tracing for Java marks all its spans internal.
type SpanKind int8

// The kinds of spans.
const (
	KindUnknown SpanKind = iota
	KindInternal
	KindServer
	KindClient
	KindProducer
	KindConsumer
)

// Span is one span of a trace with its attributes normalised: whatever
// generation of semantic conventions (or which tracer) named them. Record.Time
// is its start, Record.Place.Service the service that made it and
// Record.Place.Instance the process.
type Span struct {
	TraceID    [16]byte
	ID, Parent [8]byte // Parent is zero for a root
	Kind       SpanKind
	Remote     Tri    // whether the parent is in another process, where the source says
	Shared     bool   // Zipkin: shares its ID with the client's span
	Name       string // as recorded
	Scope      string // instrumentation library
	Duration   time.Duration
	Outcome    Outcome
	Status     string // the protocol's own status, as printed: "503", "DEADLINE_EXCEEDED"; empty if none
	Error      string // error.type or the exception's class
	Protocol   string // "http", "grpc", "dubbo", "rpc", "db", "redis", "messaging", "aws"; empty for a span of none of them

	Service, Method string // RPC: the interface and the bare method. HTTP: the route or masked path is Method, as "GET /cart/{id}"
	Peer            string // the other end as this side names it: peer.service or server.address[:port]
	PeerAddr        string // its network address, where that was recorded

	Ident   uint64   // hash of what makes two calls the same request (full URL, SQL with its parameters, message ID); 0 if unknown
	Ordinal int      // attempt number from 1, where the source numbers its attempts; 0 if it does not
	Numbers bool     // the instrumentation numbers resends, so that a span without a number is a first one
	Whole   bool     // the instrumentation covers a call with one span, however often the library sends it
	Attempt SpanRole // what the names and scopes say of its part in a call
	Retries int      // retries that its own events or attributes tell of; None if nothing does
	Reason  string   // "transparent", "hedge", … where the source says why it was sent again
	Weight  float64  // how many calls alike it stands for, from its sampling threshold; 0 if unknown
	Batch   int      // operations in one span (a pipeline, a batch); 0 or 1: one

	DBSystem string // "mysql", "postgresql", …
	DBName   string
	Table    string
	Query    string // statement text as recorded; empty if there was none
	Rows     int64  // rows returned; None if not recorded
}

// SpanRole is the part of a span in a logical call, where its name, scope or
// attributes say so by themselves.
type SpanRole int8

// The roles. RoleUnknown leaves it to the shape of the trace.
const (
	RoleUnknown SpanRole = iota
	RoleLogical          // covers the whole call: gRPC "Sent.…", an SDK's operation
	RoleAttempt          // covers one attempt of it: "Attempt.…", Envoy's "router … egress"
	RoleEntry            // the callee's side: "Recv.…", kinds server and consumer
)

// Access is one line of an access log: a request as the server or the proxy saw
// it. Record.Time is its end unless Started says otherwise.
type Access struct {
	Side     Side   // Provider for a server's own log; Consumer for a proxy's or client's log of what it sent
	Software string // "nginx", "envoy", "haproxy", "tomcat", "dubbo", …
	Started  bool   // Record.Time is when the request began

	Verb            []byte // HTTP method
	Path            []byte // target as printed, query included
	Host            []byte
	Client          []byte // address of who asked
	Service, Method string // Dubbo: the interface and the method

	Status   int // HTTP status answered; None if not printed
	Outcome  Outcome
	Duration time.Duration // of the whole request; None if not printed
	Queued   time.Duration // of it, waiting for a server or connection; None if not printed

	Upstreams []Upstream // the tries in order, where the log lists them
	Attempts  int        // how many there were, where it only counts them; None if not stated; 0: never sent
	Ordinal   int        // which attempt of its caller this is, from 1, where a header says; 0 if not
	Hidden    bool       // a redispatch or retry happened that the line does not count
	Backend   string     // upstream group, cluster, route
	Peer      string     // service that was asked, where the line names it
	Flags     string     // Envoy's response flags, HAProxy's termination state
	RequestID []byte     // joins lines of several hops
	Key       []byte     // business key of the request, where arguments are printed; empty if unknown
}

// Upstream is one try of a proxy.
type Upstream struct {
	Addr     string
	Status   int           // None if it gave none
	Duration time.Duration // until its answer was complete; None if not printed
	Connect  time.Duration // None if not printed
	Header   time.Duration // None if not printed
	Group    int           // from 0; another group is another location (an internal redirect), not a retry
}
