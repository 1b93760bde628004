package truth

import (
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Shape is how a client library shows the attempts of a call.
type Shape string

// The shapes that are made.
const (
	Entry    Shape = "entry"         // a request that comes from outside
	Numbered Shape = "numbered"      // siblings that carry the number of their resend: OkHttp under the Java agent
	Plain    Shape = "plain"         // siblings of one URL: otelhttp below a client that retries
	Call     Shape = "container"     // a span of the call above those of its attempts: grpc-go's own tracing
	Shared   Shape = "shared"        // one client span, and a proxy that sends again: Envoy
	Told     Shape = "server-number" // the same, and the server records the attempt's number from a header
	Rootless Shape = "rootless"      // each attempt in a trace of its own
	Once     Shape = "once"          // statements of a database
)

// layer is one edge of the shop and how it fails.
type layer struct {
	caller, callee string
	shape          Shape
	most           int     // attempts of a call
	fail           float64 // share of the attempts that fail of themselves
}

var (
	toOrder   = layer{"web", "order", Numbered, 3, 0.05}
	toStock   = layer{"order", "stock", Call, 4, 0.10}
	toPrice   = layer{"order", "price", Plain, 3, 0.10}
	toPayment = layer{"order", "payment", Shared, 3, 0.05}
	toBank    = layer{"payment", "bank", Told, 3, 0.15}
	toVendor  = layer{"courier", "vendor", Rootless, 3, 0.20}
)

const (
	okhttp   = "io.opentelemetry.okhttp-3.0"
	tomcat   = "io.opentelemetry.tomcat-10.0"
	jdbc     = "io.opentelemetry.jdbc"
	otelhttp = "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	grpcGo   = "grpc-go"
	ms       = time.Millisecond
)

// checkout makes one: a request to web, which asks order, which reads its
// database and asks stock, price and payment; one in eight is followed by a
// courier's call of a vendor.
func (m *maker) checkout(at time.Time) {
	m.begin()
	web := "web" + m.family
	e := m.edge("", web, "http", Entry)
	e.Calls, e.Initial = e.Calls+1, e.Initial+1
	root := m.served(web, tomcat, "/checkout", pcommon.SpanID{}, at, 0)
	took, ok := m.call(toOrder, root.SpanID(), at.Add(ms), m.placeOrder)
	answer(root, ok)
	if !ok {
		e.Failed++
	}
	root.SetEndTimestamp(pcommon.NewTimestampFromTime(at.Add(took + 2*ms)))
	if m.n%8 == 0 {
		m.rootless(toVendor, at)
	}
}

// placeOrder is what order does for a request.
func (m *maker) placeOrder(server pcommon.SpanID, at time.Time) (time.Duration, bool) {
	from := at
	for _, q := range []struct{ verb, text string }{
		{"SELECT", "SELECT id, status, total FROM t_order WHERE customer_id = ? AND status = ?"},
		{"INSERT", "INSERT INTO t_order (customer_id, sku, quantity, total) VALUES (?, ?, ?, ?)"},
	} {
		at = at.Add(m.statement(server, at, q.verb, q.text))
	}
	for _, l := range []layer{toStock, toPrice, toPayment} {
		below := m.nothing
		if l.callee == "payment" {
			below = func(server pcommon.SpanID, at time.Time) (time.Duration, bool) {
				return m.call(toBank, server, at, m.nothing)
			}
		}
		took, ok := m.call(l, server, at, below)
		at = at.Add(took)
		if !ok {
			return at.Sub(from), false
		}
	}
	return at.Sub(from), true
}

func (m *maker) nothing(pcommon.SpanID, time.Time) (time.Duration, bool) {
	return 2*ms + time.Duration(m.r.IntN(20))*ms, true
}

// statement is one of order's database.
func (m *maker) statement(server pcommon.SpanID, at time.Time, verb, text string) time.Duration {
	took := ms + time.Duration(m.r.IntN(5))*ms
	s := m.add("order"+m.family, jdbc, ptrace.SpanKindClient, verb+" shop.t_order", server, at, took)
	a := s.Attributes()
	a.PutStr("db.system.name", "mysql")
	a.PutStr("db.namespace", "shop")
	a.PutStr("db.query.text", text)
	a.PutStr("db.operation.name", verb)
	a.PutStr("db.collection.name", "t_order")
	a.PutStr("server.address", "mysql"+m.family)
	a.PutInt("server.port", 3306)
	m.thread(a)
	e := m.edge("order"+m.family, "mysql/shop", "db", Once)
	e.Calls, e.Initial = e.Calls+1, e.Initial+1
	return took
}

func (m *maker) thread(a pcommon.Map) {
	n := m.n % 200
	a.PutInt("thread.id", int64(60+n))
	a.PutStr("thread.name", fmt.Sprintf("http-nio-8080-exec-%d", n+1))
}

// served is the span of a service that serves a request.
func (m *maker) served(service, scope, route string, parent pcommon.SpanID, at time.Time, took time.Duration) ptrace.Span {
	s := m.add(service, scope, ptrace.SpanKindServer, "POST "+route, parent, at, took)
	a := s.Attributes()
	a.PutStr("http.request.method", "POST")
	a.PutStr("url.path", fmt.Sprintf("%s/%d", route, m.n))
	a.PutStr("url.scheme", "http")
	a.PutStr("http.route", route)
	a.PutStr("server.address", service)
	a.PutInt("server.port", 8080)
	a.PutStr("network.peer.address", fmt.Sprintf("10.20.%d.%d", m.n%4, m.n%250))
	a.PutStr("network.protocol.version", "1.1")
	a.PutStr("user_agent.original", "okhttp/4.12.0")
	m.thread(a)
	return s
}

// sent is the span of a service that sends a request over HTTP.
func (m *maker) sent(l layer, scope string, parent pcommon.SpanID, at time.Time) ptrace.Span {
	callee := l.callee + m.family
	s := m.add(l.caller+m.family, scope, ptrace.SpanKindClient, "POST", parent, at, 0)
	a := s.Attributes()
	a.PutStr("http.request.method", "POST")
	a.PutStr("url.full", fmt.Sprintf("http://%s:8080/%s/%d", callee, l.callee, m.n))
	a.PutStr("server.address", callee)
	a.PutInt("server.port", 8080)
	a.PutStr("network.protocol.version", "1.1")
	m.thread(a)
	return s
}

// answer records how a request over HTTP ended.
func answer(s ptrace.Span, ok bool) {
	if ok {
		s.Attributes().PutInt("http.response.status_code", 200)
		return
	}
	s.Attributes().PutInt("http.response.status_code", 503)
	s.Attributes().PutStr("error.type", "503")
	s.Status().SetCode(ptrace.StatusCodeError)
}

func until(s ptrace.Span, at time.Time) { s.SetEndTimestamp(pcommon.NewTimestampFromTime(at)) }

// call makes one logical call: as many attempts as it takes, or the layer
// allows. Below is what the callee does for each.
func (m *maker) call(l layer, parent pcommon.SpanID, from time.Time, below func(pcommon.SpanID, time.Time) (time.Duration, bool)) (time.Duration, bool) {
	protocol := "http"
	if l.shape == Call {
		protocol = "grpc"
	}
	e := m.edge(l.caller+m.family, l.callee+m.family, protocol, l.shape)
	e.Calls++
	var one ptrace.Span
	at := from
	switch l.shape {
	case Shared, Told:
		one = m.sent(l, "io.opentelemetry.jdk-http-client", parent, at)
	case Call:
		one = m.add(l.caller+m.family, grpcGo, ptrace.SpanKindClient, "Sent.shop.v1."+l.callee+".Do", parent, at, 0)
	}
	for n := 1; ; n++ {
		switch {
		case n == 1:
			e.Initial++
		case l.shape == Shared, l.shape == Told:
			e.Proxied++
		default:
			e.Retries++
		}
		own, ok := m.attempt(l, parent, one, n, &at, below)
		ok = ok && own
		if ok || n == l.most {
			switch l.shape {
			case Shared, Told:
				answer(one, ok)
				until(one, at)
			case Call:
				status(one, ok)
				until(one, at)
			}
			if !ok {
				e.Failed++
			}
			return at.Sub(from), ok
		}
		at = at.Add(time.Duration(10+m.r.IntN(30)) * ms) // the back-off
	}
}

// attempt makes one attempt of a call; at moves to its end.
func (m *maker) attempt(l layer, parent pcommon.SpanID, one ptrace.Span, n int, at *time.Time, below func(pcommon.SpanID, time.Time) (time.Duration, bool)) (own, ok bool) {
	own = m.r.Float64() >= l.fail
	callee := l.callee + m.family
	var client, server ptrace.Span
	began := *at
	switch l.shape {
	case Numbered:
		client = m.sent(l, okhttp, parent, began)
		if n > 1 {
			client.Attributes().PutInt("http.request.resend_count", int64(n-1))
		}
		server = m.served(callee, tomcat, "/"+l.callee, client.SpanID(), began.Add(ms), 0)
	case Plain:
		client = m.sent(l, otelhttp, parent, began)
		server = m.served(callee, otelhttp, "/"+l.callee, client.SpanID(), began.Add(ms), 0)
	case Call:
		client = m.add(l.caller+m.family, grpcGo, ptrace.SpanKindInternal, "Attempt.shop.v1."+l.callee+".Do", one.SpanID(), began, 0)
		client.Attributes().PutInt("previous-rpc-attempts", int64(n-1))
		client.Attributes().PutBool("transparent-retry", false)
		server = m.add(callee, grpcGo, ptrace.SpanKindServer, "Recv.shop.v1."+l.callee+".Do", client.SpanID(), began.Add(ms), 0)
	default: // Shared, Told
		server = m.served(callee, tomcat, "/"+l.callee, one.SpanID(), began.Add(ms), 0)
		if l.shape == Told {
			server.Attributes().PutEmptySlice("http.request.header.x-envoy-attempt-count").AppendEmpty().SetStr(fmt.Sprint(n))
		}
	}
	took, ok := 3*ms, true
	if own {
		took, ok = below(server.SpanID(), began.Add(2*ms))
	}
	end := began.Add(took + 3*ms)
	until(server, end)
	*at = end.Add(ms)
	if l.shape == Call {
		status(server, own && ok)
		status(client, own && ok)
		until(client, *at)
		return own, ok
	}
	answer(server, own && ok)
	if l.shape == Numbered || l.shape == Plain {
		answer(client, own && ok)
		until(client, *at)
	}
	return own, ok
}

// status records how an RPC ended, as grpc-go does.
func status(s ptrace.Span, ok bool) {
	if ok {
		s.Status().SetCode(ptrace.StatusCodeOk)
		return
	}
	s.Status().SetCode(ptrace.StatusCodeError)
	s.Status().SetMessage("upstream connect error or disconnect/reset before headers")
}

// rootless makes a call of somebody who sends no spans; each attempt begins a
// trace, as it does where nothing is active when the call is made.
func (m *maker) rootless(l layer, at time.Time) {
	e := m.edge(l.caller+m.family, l.callee+m.family, "http", l.shape)
	e.Calls++
	e.Initial++
	for n := 1; ; n++ {
		m.begin()
		s := m.sent(l, okhttp, pcommon.SpanID{}, at)
		if n > 1 {
			e.Retries++
			s.Attributes().PutInt("http.request.resend_count", int64(n-1))
		}
		ok := m.r.Float64() >= l.fail
		answer(s, ok)
		until(s, at.Add(20*ms))
		if ok {
			return
		}
		if n == l.most {
			e.Failed++
			return
		}
		at = at.Add(50 * ms)
	}
}
