package parsers

import (
	"bytes"

	"github.com/firebreak-io/firebreak/evidence"
)

// Outgoing calls that timed out, other than Dubbo's:
//
//	feign.RetryableException: Read timed out executing GET http://stock-service/stock/4711
//	I/O error on GET request for "http://stock:8080/stock": Read timed out; nested exception is java.net.SocketTimeoutException: Read timed out
//	Get "http://stock:8080/x": context deadline exceeded (Client.Timeout exceeded while awaiting headers)
//	io.grpc.StatusRuntimeException: DEADLINE_EXCEEDED: deadline exceeded after 0.99s. [closed=[], open=[[remote_addr=stock/10.20.0.5:8080]]]
//	rpc timeout: timeout=800ms, to=acme.stock, method=BatchGet, location=kitex.rpcTimeoutMW, remote=10.20.0.5:8888: context deadline exceeded
//
// The same SocketTimeoutException under a JDBC driver is the database's, and
// one while reading a request from a caller is not an outgoing call at all.
func outgoingCalls() detector {
	return messages("outgoing-call", "Timeouts of HTTP clients (JDK, Feign, RestTemplate, OkHttp, Apache, Netty, Go, Python, .NET) and gRPC statuses", []rule{
		{sign: "RESOURCE_EXHAUSTED", find: grpcLimited},
		{sign: "code = ResourceExhausted", find: grpcLimited},
		{sign: "rpc timeout: timeout=", find: kitexTimeout},
		{sign: "get connection error: ", find: kitexRefused},
		{sign: "request over limit: ", find: overloaded("kitex")},
		{sign: "Reached server's max_concurrency=", find: overloaded("brpc")},
		{sign: "reached server's max_concurrency=", find: overloaded("brpc")},
		{sign: "DEADLINE_EXCEEDED", find: callTimeout},
		{sign: "code = DeadlineExceeded", find: callTimeout},
		{sign: "StatusRuntimeException: UNAVAILABLE", find: callTimeout},
		{sign: "code = Unavailable", find: callTimeout},
		{sign: "Client.Timeout exceeded while ", find: callTimeout},
		{sign: "\": context deadline exceeded", find: callTimeout}, // net/http under a deadline of the caller's
		{sign: "Client.Timeout or context cancellation ", find: callTimeout},
		{sign: ": i/o timeout", find: callTimeout},
		{sign: "configured HttpClient.Timeout of ", find: callTimeout},
		{sign: "HttpTimeoutException", find: callTimeout},
		{sign: "HttpConnectTimeoutException", find: callTimeout},
		{sign: "ReadTimeoutException", find: callTimeout},
		{sign: "ConnectTimeoutException", find: callTimeout},
		{sign: "SocketTimeoutException", find: callTimeout},
		{sign: "Read timed out", find: callTimeout},
		{sign: "onnect timed out", find: callTimeout},
		{sign: "Did not observe any item or terminal signal within ", find: callTimeout},
		{sign: "Max retries exceeded with url: ", find: callTimeout},
		{sign: "ESOCKETTIMEDOUT", find: callTimeout},
		{sign: "connect ETIMEDOUT ", find: callTimeout},
	})
}

// kitexTimeout reads what Kitex says since its first version; the callee's name
// stands beside it.
func kitexTimeout(o *logOut, text []byte, at int) (bool, error) {
	line := rest(text, at)
	peer := snippet(upTo(past(line, "to="), ", "), maxText)
	if peer == "" {
		return false, nil
	}
	return o.mark(at, slow(peer, line))
}

func kitexRefused(o *logOut, text []byte, at int) (bool, error) {
	line := rest(text, at)
	if !has(line, "dial ", "refused", "i/o timeout") {
		return false, nil
	}
	return o.mark(at, slow(peerOf(line), line))
}

func callTimeout(o *logOut, text []byte, at int) (bool, error) {
	if ownedElsewhere(text) || retold(before(text, at)) {
		return false, nil
	}
	from, to := lineOf(text, at)
	reason := text[at:to]
	if at-from < maxText {
		reason = text[from:to]
	}
	return o.mark(at, slow(peerOf(text), reason))
}

// retold reports whether an error is only told of by an event of a breaker or a
// retry, whose call goes on or fails in a record of its own.
func retold(head []byte) bool {
	return has(head, "ast attempt failed with exception '", "Last exception was: '", "' recorded an error: '")
}

// ownedElsewhere reports whether a timeout belongs to a database driver, to
// Redis, to a registry or to Dubbo, which other families read, or to the
// reading of a request from a caller.
func ownedElsewhere(text []byte) bool {
	return jdbcDriver(text) || has(text,
		"redis.clients.jedis", "io.lettuce", "org.redisson", "RedisCommandTimeout", "RedisConnection",
		"com.alibaba.dubbo", "org.apache.dubbo", "Waiting server-side response timeout", "dubbo version: ", "org.apache.zookeeper", "com.alibaba.nacos",
		"ClientAbortException", "fillReadBuffer", "Http11InputBuffer", "ConnectionPoolTimeoutException", "go-sql-driver", "pgconn")
}

// jdbcDriver reports whether a database driver's code or errors stand in text.
func jdbcDriver(text []byte) bool {
	return has(text, "com.mysql.", "org.postgresql.", "org.mariadb.", "oracle.jdbc", "oracle.net", "com.microsoft.sqlserver",
		"CommunicationsException", "PSQLException", "com.alibaba.druid", "com.zaxxer.hikari", "com.clickhouse", "dm.jdbc")
}

// peerOf finds the host that a failed call went to, or else the client that
// made it. Only the text of messages is searched, not the stack's frames.
func peerOf(text []byte) string {
	for _, line := range bytes.Split(text[:min(len(text), 64<<10)], newline) {
		if bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("at ")) {
			continue
		}
		for _, opening := range [...]string{
			"http://", "https://", "remote_addr=", "host='", "failed to connect to ", "timed out: ", "onnect to ", "dial tcp ", "connect ETIMEDOUT ", "request to ",
		} {
			if host := hostAt(past(line, opening)); host != "" {
				return host
			}
		}
	}
	return ""
}

// hostAt reads "stock:8080", "stock/10.20.0.5:8080" (the name is taken) or
// "10.20.0.5:8080" at the start of text.
func hostAt(text []byte) string {
	n, dots := 0, false
	for n < len(text) && n < 128 && (text[n] == '.' || text[n] == '-' || text[n] == '_' || text[n] == ':' || text[n] == '[' || text[n] == ']' ||
		text[n] >= '0' && text[n] <= '9' || text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z') {
		dots = dots || text[n] == '.' || text[n] == ':' || text[n] == '-' || text[n] >= '0' && text[n] <= '9'
		n++
	}
	host := bytes.TrimRight(text[:n], ":.")
	if bytes.HasPrefix(host, []byte(":")) || len(host) < 2 {
		return ""
	}
	// A single word is a host only where the text goes on as after a host.
	if !dots && n < len(text) && bytes.IndexByte([]byte("/ '\"?,)]"), text[n]) < 0 {
		return ""
	}
	return string(host)
}

func grpcLimited(o *logOut, text []byte, at int) (bool, error) {
	line := rest(text, at)
	if has(line, "larger than max", "exceeds maximum size", "message too large") {
		return false, nil
	}
	return o.mark(at, evidence.Mark{Kind: evidence.MarkRateLimited, Subject: peerOf(text), Text: snippet(line, maxText)})
}
