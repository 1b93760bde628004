package parsers

import (
	"bytes"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// What a span says of the call that it is part of: which operation, which
// request, which attempt.

// attempts fills the role of a span and its number among the attempts.
func (r *spanReader) attempts(sp *evidence.Span, name []byte) {
	s := &r.src
	sp.Retries = evidence.None
	native := sp.Protocol == "grpc" && s.grpcNative(name)
	client := sp.Kind == evidence.KindClient
	resend, numbered := s.num(fieldResend)
	numbered = numbered && resend >= 0 && resend < 1000
	envoy := (string(s.str(fieldComponent)) == "proxy" || s.set(fieldFlags) || s.set(fieldCluster)) &&
		bytes.HasPrefix(name, []byte("router ")) && bytes.HasSuffix(name, []byte(" egress"))
	previous, grpc := s.num(fieldGRPCAttempt)
	grpc = grpc && previous >= 0 && previous < 1000
	operation, aws := s.num(fieldAWSAttempt)
	aws = aws && operation >= 0 && operation < 1000
	switch {
	case native && bytes.HasPrefix(name, []byte("Attempt.")):
		sp.Attempt = evidence.RoleAttempt
	case aws && string(name) == "Attempt":
		sp.Attempt = evidence.RoleAttempt
	case envoy:
		sp.Attempt = evidence.RoleAttempt
	case native && bytes.HasPrefix(name, []byte("Sent.")):
		sp.Attempt = evidence.RoleLogical
	case native && bytes.HasPrefix(name, []byte("Recv.")):
		sp.Attempt = evidence.RoleEntry
	case client && numbered && resend > 0:
		sp.Attempt = evidence.RoleAttempt
	case sp.Kind == evidence.KindServer || sp.Kind == evidence.KindConsumer:
		sp.Attempt = evidence.RoleEntry
	}
	sp.Whole = client && (coversCalls(sp.Scope, name) || string(s.str(fieldComponent)) == "proxy" && !envoy)
	sp.Numbers = numbersResends(sp.Scope) || envoy || sp.Attempt == evidence.RoleAttempt && (grpc || aws)
	switch {
	case sp.Attempt == evidence.RoleEntry:
		r.entryOrdinal(sp, previous, grpc)
	case grpc && sp.Attempt == evidence.RoleAttempt:
		sp.Ordinal = int(previous) + 1
	case aws && operation > 0:
		sp.Ordinal = int(operation)
	case numbered:
		sp.Ordinal, sp.Numbers = int(resend)+1, true
	case grpc && previous > 0:
		sp.Ordinal, sp.Numbers = int(previous)+1, true
	default:
		if n := awsAttempt(s.str(fieldAWSHeader)); n > 0 && client {
			sp.Ordinal, sp.Numbers = n, true
		}
	}
	if s.yes(fieldTransparent) {
		sp.Reason = "transparent"
	}
	if sp.Reason == "" && s.yes(fieldIsTimeoutRetry) {
		sp.Reason = "timeout"
	}
	switch n, ok := s.num(fieldRetries); {
	case s.retryNum >= 0:
		sp.Retries = max(s.retryNum, s.retryEvs)
	case s.retryEvs > 0:
		sp.Retries = s.retryEvs
	case s.tryErrors > 0:
		sp.Retries = s.tryErrors
		if s.status == 2 {
			sp.Retries--
		}
	case ok && n >= 0 && n < 1000:
		sp.Retries = int(n)
	}
	if string(s.str(fieldFlags)) == "URX" && sp.Retries == evidence.None && !envoy { // the limit of retries was reached
		sp.Reason = "exhausted"
	}
}

// entryOrdinal takes the number of an attempt from a header that its caller or
// its proxy sent along.
func (r *spanReader) entryOrdinal(sp *evidence.Span, previous int64, grpc bool) {
	s := &r.src
	switch n, ok := s.num(fieldEnvoyAttempt); {
	case ok && n > 0 && n < 1000:
		sp.Ordinal, sp.Numbers = int(n), true
	case grpc && previous > 0:
		sp.Ordinal, sp.Numbers = int(previous)+1, true
	case awsAttempt(s.str(fieldAWSHeader)) > 0:
		sp.Ordinal, sp.Numbers = awsAttempt(s.str(fieldAWSHeader)), true
	case s.set(fieldDelivery):
		if n, ok := s.num(fieldDelivery); ok && n > 0 && n < 1000 {
			sp.Ordinal, sp.Numbers = int(n), true
		}
	}
}

// awsAttempt reads "attempt=2; max=3".
func awsAttempt(header []byte) int {
	_, rest, ok := bytes.Cut(header, []byte("attempt="))
	if !ok {
		return 0
	}
	i := 0
	for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' {
		i++
	}
	n, ok := wholeNumber(rest[:i])
	if !ok || n <= 0 || n > 1000 {
		return 0
	}
	return int(n)
}

// numbersResends knows the instrumentations that number every resend, so that a
// span of theirs without a number is a first one.
func numbersResends(scope string) bool {
	rest, ok := strings.CutPrefix(scope, "io.opentelemetry.")
	if !ok {
		return false
	}
	return strings.HasPrefix(rest, "okhttp") || strings.HasPrefix(rest, "reactor-netty") || strings.HasPrefix(rest, "ktor") ||
		rest == "apache-httpclient-4.3" || rest == "apache-httpclient-5.2"
}

// coversCalls knows the instrumentations that stand outside the loop in which
// their library sends again: one span of theirs is one call, whatever was sent.
func coversCalls(scope string, name []byte) bool {
	if rest, ok := strings.CutPrefix(scope, "io.opentelemetry."); ok {
		return strings.HasPrefix(rest, "aws-sdk-") || strings.HasPrefix(rest, "apache-httpclient-") && !numbersResends(scope)
	}
	if rest, ok := strings.CutPrefix(scope, "opentelemetry.instrumentation."); ok { // Python
		switch rest {
		case "boto", "botocore", "redis", "requests", "urllib3":
			return true
		}
		return false
	}
	switch {
	case scope == "org.apache.dubbo": // Dubbo's own observation, a filter of the cluster
		return true
	case strings.HasSuffix(scope, "/otelaws"):
		return true
	case strings.HasSuffix(scope, "/redisotel"):
		return string(name) != "redis.dial"
	}
	return false
}

// http fills operation and identity of an HTTP request.
func (r *spanReader) http(sp *evidence.Span, name []byte) {
	s := &r.src
	verb := s.str(fieldMethod)
	if string(verb) == "_OTHER" && s.set(fieldOldMethod) {
		verb = s.str(fieldOldMethod)
	}
	if len(verb) == 0 && s.micrometer() {
		verb = s.str(fieldMicroMethod)
	}
	url, path := s.str(fieldURL), s.str(fieldPath)
	if len(url) > 0 && url[0] == '/' && len(path) == 0 {
		path, url = url, nil
	}
	route := s.str(fieldRoute)
	if len(route) == 0 && s.micrometer() {
		route = s.str(fieldMicroURI)
		if string(route) == "none" || string(route) == "UNKNOWN" {
			route = nil
		}
	}
	b := appendUpper(r.buf[:0], verb)
	switch {
	case len(route) > 0:
		b = append(appendSpace(b), route...)
	case len(path) > 0:
		b = appendMasked(appendSpace(b), path)
	case len(urlPath(url)) > 0:
		b = appendMasked(appendSpace(b), urlPath(url))
	default:
		if _, rest, ok := bytes.Cut(name, []byte(" ")); ok && len(rest) > 0 && rest[0] == '/' {
			b = append(appendSpace(b), rest...)
		}
	}
	r.buf = b
	sp.Method = r.names.of(b)

	h := hashBytes(identSeed, verb)
	switch {
	case len(url) > 0:
		scheme, rest := cutScheme(url)
		sp.Ident = hashBytes(hashBytes(h, scheme), dropUser(rest))
	case len(path) > 0:
		h = hashBytes(hashBytes(h, []byte(sp.Peer)), path)
		sp.Ident = hashBytes(h, s.str(fieldQueryString))
	}
}

func appendSpace(b []byte) []byte {
	if len(b) > 0 {
		return append(b, ' ')
	}
	return b
}

func appendUpper(dst, b []byte) []byte {
	for _, c := range b {
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

func cutScheme(url []byte) (scheme, rest []byte) {
	if i := bytes.Index(url, []byte("://")); i >= 0 {
		return url[:i], url[i+3:]
	}
	return nil, url
}

// dropUser removes user and password in front of a host.
func dropUser(rest []byte) []byte {
	end := bytes.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if i := bytes.LastIndexByte(rest[:end], '@'); i >= 0 {
		return rest[i+1:]
	}
	return rest
}

// spanURLHost returns host and port of a URL.
func spanURLHost(url []byte) []byte {
	scheme, rest := cutScheme(url)
	if scheme == nil {
		return nil
	}
	rest = dropUser(rest)
	if i := bytes.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

// urlPath returns the path of a URL.
func urlPath(url []byte) []byte {
	scheme, rest := cutScheme(url)
	if scheme == nil {
		return nil
	}
	i := bytes.IndexAny(rest, "/?#")
	if i < 0 || rest[i] != '/' {
		if len(rest) > 0 {
			return []byte("/")
		}
		return nil
	}
	return rest[i:]
}

// appendMasked appends a path without its query and with {id} for the segments
// that name one thing of many: numbers, UUIDs, hashes.
func appendMasked(dst, path []byte) []byte {
	if i := bytes.IndexAny(path, "?#;"); i >= 0 {
		path = path[:i]
	}
	for len(path) > 0 {
		if path[0] == '/' {
			dst = append(dst, '/')
			path = path[1:]
			continue
		}
		end := bytes.IndexByte(path, '/')
		if end < 0 {
			end = len(path)
		}
		if namesOne(path[:end]) {
			dst = append(dst, "{id}"...)
		} else {
			dst = append(dst, path[:end]...)
		}
		path = path[end:]
	}
	return dst
}

// namesOne reports whether a segment of a path is an ID rather than a word.
func namesOne(seg []byte) bool {
	digits, hexes, letters, odd := 0, 0, 0, 0
	for _, c := range seg {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
			hexes++
			letters++
		case c >= 'g' && c <= 'z' || c >= 'G' && c <= 'Z':
			letters++
		case c == '@' || c == '%' || c == '=' || c == ',' || c >= 0x80:
			odd++
		}
	}
	switch {
	case digits == 0:
		return odd > 0 && len(seg) > 3 || len(seg) > 40
	case letters == 0:
		return true
	case len(seg) <= 3: // v1, v2, s3
		return false
	case letters == hexes && len(seg) >= 8: // hashes, UUIDs
		return true
	}
	return digits >= 3 || odd > 0 || len(seg) > 24
}

// rpc fills operation and identity of a remote call.
func (r *spanReader) rpc(sp *evidence.Span, name []byte) {
	s := &r.src
	service, method := s.str(fieldRPCService), s.str(fieldRPCMethod)
	if i := bytes.LastIndexByte(method, '/'); i >= 0 {
		service, method = method[:i], method[i+1:]
	}
	if len(method) == 0 {
		full := name
		if s.grpcNative(name) {
			_, full, _ = bytes.Cut(name, []byte("."))
			if bytes.IndexByte(full, '/') < 0 {
				if i := bytes.LastIndexByte(full, '.'); i > 0 {
					service, method = full[:i], full[i+1:]
				}
			}
		}
		if len(method) == 0 {
			if p := urlPath(s.str(fieldURL)); len(p) > 1 && sp.Protocol == "grpc" {
				full = p
			}
			full = bytes.TrimPrefix(full, []byte("/"))
			if i := bytes.LastIndexByte(full, '/'); i > 0 && bytes.IndexByte(full, ' ') < 0 {
				if method = full[i+1:]; len(service) == 0 {
					service = full[:i]
				}
			} else if sp.Protocol == "aws" {
				if svc, op, ok := bytes.Cut(full, []byte(".")); ok && len(service) == 0 {
					service, method = svc, op
				}
			}
		}
	}
	if i := bytes.IndexByte(method, '('); i > 0 { // Dubbo's own observation may print parameter types
		method = method[:i]
	}
	sp.Service = r.names.of(bytes.TrimPrefix(service, []byte("/")))
	sp.Method = r.names.of(method)
	if id := s.str(fieldAWSInvocation); len(id) > 0 {
		sp.Ident = hashBytes(identSeed, id)
	} else if sp.Protocol == "aws" && s.set(fieldURL) {
		sp.Ident = hashBytes(hashBytes(identSeed, s.str(fieldMethod)), s.str(fieldURL))
	}
}

// db fills operation and identity of a statement.
func (r *spanReader) db(sp *evidence.Span) {
	s := &r.src
	sp.DBSystem = r.dbSystem(s.str(fieldDBSystem))
	sp.DBName = r.names.of(s.str(fieldDBName))
	sp.Table = r.names.of(s.str(fieldDBTable))
	query := s.str(fieldDBText)
	sp.Query = r.query(query)
	if n, ok := s.num(fieldDBRows); ok && n >= 0 {
		sp.Rows = n
	}
	if n, ok := s.num(fieldDBBatch); ok && n > 0 && n < 1<<31 {
		sp.Batch = int(n)
	}
	op := s.str(fieldDBOperation)
	if rest, ok := bytes.CutPrefix(op, []byte("BATCH ")); ok {
		op = rest
		sp.Batch = max(sp.Batch, 2)
	}
	if len(op) == 0 {
		op = s.str(fieldDBSummary)
		if len(op) == 0 {
			op = firstWord(query)
		}
	}
	b := appendUpper(r.buf[:0], op[:min(len(op), 100)])
	r.buf = b
	sp.Method = r.names.of(b)
	switch {
	case len(query) == 0:
	case s.params != 0:
		sp.Ident = hashBytes(identSeed, query) ^ s.params
	case !hasPlaceholder(query):
		sp.Ident = hashBytes(hashBytes(identSeed, s.str(fieldDBName)), query)
	}
}

// dbSystem gives the systems of databases one name each.
func (r *spanReader) dbSystem(system []byte) string {
	switch string(system) {
	case "mssql", "sqlserver":
		return "microsoft.sql_server"
	case "postgres":
		return "postgresql"
	case "dynamodb":
		return "aws.dynamodb"
	case "oracle":
		return "oracle.db"
	case "sql":
		return "other_sql"
	case "cosmosdb":
		return "azure.cosmosdb"
	}
	return r.names.of(system)
}

func firstWord(query []byte) []byte {
	query = bytes.TrimLeft(query, " \t\r\n(")
	for bytes.HasPrefix(query, []byte("/*")) {
		_, rest, ok := bytes.Cut(query, []byte("*/"))
		if !ok {
			return nil
		}
		query = bytes.TrimLeft(rest, " \t\r\n(")
	}
	for i, c := range query {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '.' {
			return query[:i]
		}
	}
	return query
}

// hasPlaceholder reports whether a statement was written without its values, so
// that it does not tell one execution from another.
func hasPlaceholder(query []byte) bool {
	if bytes.IndexByte(query, '?') >= 0 || bytes.Contains(query, []byte("%s")) {
		return true
	}
	for i, c := range query[:max(0, len(query)-1)] {
		switch next := query[i+1]; {
		case c == '$' && next >= '0' && next <= '9',
			(c == ':' || c == '@') && (next >= 'a' && next <= 'z' || next >= 'A' && next <= 'Z') &&
				(i == 0 || query[i-1] == ' ' || query[i-1] == '(' || query[i-1] == '=' || query[i-1] == ','):
			return true
		}
	}
	return false
}

// messaging fills operation and identity of a message.
func (r *spanReader) messaging(sp *evidence.Span, name []byte) {
	s := &r.src
	sp.Service = r.names.of(s.str(fieldDestination))
	op := s.str(fieldMessagingOperation)
	if len(op) == 0 {
		for _, word := range []string{"send", "publish", "receive", "process", "create", "settle"} {
			if bytes.HasSuffix(name, []byte(word)) || bytes.HasPrefix(name, []byte(word)) {
				op = []byte(word)
			}
		}
	}
	if string(op) == "publish" {
		op = []byte("send")
	}
	sp.Method = r.names.of(op)
	if n, ok := s.num(fieldMessageBatch); ok && n > 0 && n < 1<<31 {
		sp.Batch = int(n)
	}
	if sp.Peer == "" {
		sp.Peer = r.names.of(s.str(fieldMessaging))
	}
	h := hashBytes(identSeed, s.str(fieldDestination))
	switch {
	case s.set(fieldMessageID):
		sp.Ident = hashBytes(h, s.str(fieldMessageID))
	case s.set(fieldOffset):
		sp.Ident = hashBytes(hashBytes(h, s.str(fieldPartition)), s.str(fieldOffset))
	}
}
