package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A span as some tracer recorded it. Spans are made by the functions below, in
// the words of one instrumentation each, and written in the format of one
// exporter.
type span struct {
	trace, id, parent string // hex; parent is empty for a root
	from              *process
	scope, name       string
	kind              int // as OTLP numbers them
	start             time.Time
	dur               time.Duration
	attrs             []attr
	failed            bool
	state             string // tracestate
	flags             int
}

type attr struct {
	key   string
	value any // string, int or bool
}

// process is one instance of a service and what its clock is off.
type process struct {
	service, instance string
	lang              string
	skew              time.Duration
	ip                string
}

func java(service string, n int, ip string) *process {
	return &process{service: service, instance: fmt.Sprintf("%s-7c9f6d5b48-%05x", service, 0x1a2b3+n*0x10f1), lang: "java", ip: ip}
}

func golang(service string, n int, ip string) *process {
	p := java(service, n, ip)
	p.lang = "go"
	return p
}

// traces collects spans; IDs are numbered and mixed.
type traces struct {
	seed  uint64
	n     uint64
	spans []*span
	state string // tracestate of all spans to come
}

func hexID(n uint64) string {
	n *= 0x9e3779b97f4a7c15
	n ^= n >> 29
	n *= 0xbf58476d1ce4e5b9
	n ^= n >> 32
	return fmt.Sprintf("%016x", n|1<<60)
}

func (t *traces) id() string {
	t.n++
	return hexID(t.seed<<32 + t.n)
}

// begin makes a span of a process below another, or the root of a trace.
func (t *traces) begin(parent *span, from *process, kind int, scope, name string, at time.Time, ms int) *span {
	s := &span{id: t.id(), from: from, scope: scope, name: name, kind: kind, start: at, dur: time.Duration(ms) * time.Millisecond, state: t.state}
	if parent != nil {
		s.trace, s.parent = parent.trace, parent.id
		if parent.from != from {
			s.flags = 0x301
		} else {
			s.flags = 0x101
		}
	} else {
		s.trace, s.flags = t.id()+t.id(), 0x101
	}
	t.spans = append(t.spans, s)
	return s
}

const (
	internal = iota + 1
	serverKind
	clientKind
)

func (s *span) with(kv ...any) *span {
	for i := 0; i < len(kv); i += 2 {
		s.attrs = append(s.attrs, attr{kv[i].(string), kv[i+1]})
	}
	return s
}

func (s *span) fail(errorType string) *span {
	s.failed = true
	if errorType != "" {
		s.with("error.type", errorType)
	}
	return s
}

// at is a moment some milliseconds after the span's start.
func (s *span) at(ms int) time.Time { return s.start.Add(time.Duration(ms) * time.Millisecond) }

// tomcat is a request as the Java agent's Tomcat instrumentation records it.
func (t *traces) tomcat(parent *span, from *process, verb, route, path string, at time.Time, ms, status int) *span {
	s := t.begin(parent, from, serverKind, "io.opentelemetry.tomcat-10.0", verb+" "+route, at, ms)
	path, query, _ := strings.Cut(path, "?")
	s.with("http.request.method", verb, "url.path", path, "url.scheme", "http", "http.route", route, "http.response.status_code", status, "server.address", from.service, "server.port", 8080,
		"network.peer.address", "10.20.9.14", "network.protocol.version", "1.1", "thread.name", fmt.Sprintf("http-nio-8080-exec-%d", len(t.spans)%200+1))
	if query != "" {
		s.with("url.query", query)
	}
	if status >= 500 {
		s.fail(fmt.Sprint(status))
	}
	return s
}

// netHTTP is a request as otelhttp for Go records it.
func (t *traces) netHTTP(parent *span, from *process, verb, route, path string, at time.Time, ms, status int) *span {
	s := t.begin(parent, from, serverKind, "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp", verb+" "+route, at, ms)
	s.with("http.request.method", verb, "url.path", path, "url.scheme", "http", "http.route", route, "http.response.status_code", status, "server.address", from.service, "server.port", 8080, "network.peer.address", "10.20.9.14", "network.protocol.version", "1.1")
	s.failed = status >= 500
	return s
}

// send is an HTTP request as a client's instrumentation records it; status 0 is
// one without an answer, which failed by an error of the given type.
func (t *traces) send(parent *span, scope, verb, url string, at time.Time, ms, status int, failure string) *span {
	s := t.begin(parent, parent.from, clientKind, scope, verb, at, ms)
	rest := url[strings.Index(url, "://")+3:]
	host, _, _ := strings.Cut(rest, "/")
	port := 80
	if strings.HasPrefix(url, "https") {
		port = 443
	}
	if h, p, ok := strings.Cut(host, ":"); ok {
		host = h
		if n, err := strconv.Atoi(p); err == nil {
			port = n
		}
	}
	s.with("http.request.method", verb, "url.full", url, "server.address", host, "server.port", port)
	if status > 0 {
		s.with("http.response.status_code", status, "network.protocol.version", "1.1")
	}
	switch {
	case failure != "":
		s.fail(failure)
	case status >= 400:
		s.fail(fmt.Sprint(status))
	}
	return s
}

const (
	okhttp     = "io.opentelemetry.okhttp-3.0"
	apacheHTTP = "io.opentelemetry.apache-httpclient-5.0"
	otelHTTP   = "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	dubboScope = "io.opentelemetry.apache-dubbo-2.7"
	grpcScope  = "go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	jdbcScope  = "io.opentelemetry.jdbc"
)

// dubboSend is one attempt of a Dubbo consumer, dubboRecv its provider's side,
// as the Java agent records them.
func (t *traces) dubboSend(parent *span, service, method, host string, at time.Time, ms int, failure string) *span {
	s := t.begin(parent, parent.from, clientKind, dubboScope, service+"/"+method, at, ms)
	s.with("rpc.system", "apache_dubbo", "rpc.service", service, "rpc.method", method, "server.address", host, "server.port", 20880, "network.peer.address", host, "network.peer.port", 20880)
	if failure != "" {
		s.fail("")
		s.with("exception.type", failure)
	}
	return s
}

func (t *traces) dubboRecv(parent *span, from *process, service, method string, at time.Time, ms int, failed bool) *span {
	s := t.begin(parent, from, serverKind, dubboScope, service+"/"+method, at, ms)
	s.failed = failed
	return s.with("rpc.system", "apache_dubbo", "rpc.service", service, "rpc.method", method, "network.peer.address", "10.20.9.30", "network.peer.port", 51022, "thread.name", fmt.Sprintf("DubboServerHandler-%s:20880-thread-%d", from.ip, len(t.spans)%200+1))
}

// grpcSend and grpcRecv are what otelgrpc records: a client span for each attempt.
func (t *traces) grpcSend(parent *span, service, method, host string, at time.Time, ms, code int) *span {
	s := t.begin(parent, parent.from, clientKind, grpcScope, service+"/"+method, at, ms)
	s.failed = code != 0
	return s.with("rpc.system", "grpc", "rpc.service", service, "rpc.method", method, "server.address", host, "server.port", 9090, "rpc.grpc.status_code", code)
}

func (t *traces) grpcRecv(parent *span, from *process, service, method string, at time.Time, ms, code int) *span {
	s := t.begin(parent, from, serverKind, grpcScope, service+"/"+method, at, ms)
	s.failed = code != 0 && code != 5
	return s.with("rpc.system", "grpc", "rpc.service", service, "rpc.method", method, "server.address", from.ip, "server.port", 9090, "network.peer.address", "10.20.9.30", "rpc.grpc.status_code", code)
}

// mysql is a statement as the Java agent's JDBC instrumentation records it, with
// its literals replaced.
func (t *traces) mysql(parent *span, table, statement string, at time.Time, ms int) *span {
	verb, _, _ := strings.Cut(statement, " ")
	s := t.begin(parent, parent.from, clientKind, jdbcScope, verb+" shop."+table, at, ms)
	return s.with("db.system", "mysql", "db.name", "shop", "db.user", "app", "db.statement", statement, "db.operation", verb, "db.sql.table", table, "server.address", "mysql.shop", "server.port", 3306, "db.connection_string", "mysql://mysql.shop:3306", "thread.id", 60+len(t.spans)%200)
}

// postgres is one as newer conventions name it.
func (t *traces) postgres(parent *span, table, statement string, at time.Time, ms int) *span {
	verb, _, _ := strings.Cut(statement, " ")
	s := t.begin(parent, parent.from, clientKind, "github.com/XSAM/otelsql", verb+" "+table, at, ms)
	return s.with("db.system.name", "postgresql", "db.namespace", "shop", "db.query.text", statement, "db.operation.name", verb, "db.collection.name", table, "server.address", "pg.shop", "server.port", 5432)
}
