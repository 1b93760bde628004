package parsers

import "strings"

// spanField is one thing that an attribute of a span may say, whatever name the
// tracer gave it.
type spanField int8

// The fields of a span.
const (
	fieldMethod spanField = iota
	fieldOldMethod
	fieldURL
	fieldPath
	fieldQueryString
	fieldRoute
	fieldHTTPStatus
	fieldMicroMethod
	fieldMicroURI
	fieldMicroStatus
	fieldMicroOutcome
	fieldMicroException
	fieldMicroClient
	fieldResend
	fieldEnvoyAttempt
	fieldGRPCAttempt
	fieldAWSAttempt
	fieldAWSHeader
	fieldAWSInvocation
	fieldTransparent
	fieldIsTimeoutRetry
	fieldPeerService
	fieldServerAddress
	fieldServerPort
	fieldPeerName
	fieldPeerNamePort
	fieldPeerAddress
	fieldPeerPort
	fieldClientAddress
	fieldCluster
	fieldFlags
	fieldRPCSystem
	fieldRPCService
	fieldRPCMethod
	fieldRPCStatus
	fieldDBSystem
	fieldDBName
	fieldDBOperation
	fieldDBTable
	fieldDBText
	fieldDBSummary
	fieldDBRows
	fieldDBBatch
	fieldDBStatus
	fieldMessaging
	fieldMessagingOperation
	fieldDestination
	fieldMessageID
	fieldPartition
	fieldOffset
	fieldDelivery
	fieldMessageBatch
	fieldErrorType
	fieldException
	fieldExceptionText
	fieldErrorFlag
	fieldStatusCode
	fieldStatusText
	fieldKind
	fieldComponent
	fieldScope
	fieldTracestate
	fieldRetries
	spanFields // their number
)

// spanNames lists, for each field, the attribute names that say it: the newest
// first, which wins where a span carries several. It is the only such table:
// OpenTelemetry's attributes, Jaeger's and Zipkin's tags go through it, and
// docs/formats.md prints it.
//
// The names are those of the semantic conventions from 2019 to 2026, of
// OpenTracing, Brave, Micrometer, Envoy and Istio, and of the libraries that
// number their attempts.
var spanNames = [spanFields][]string{
	fieldMethod:      {"http.request.method", "http.method", "http.verb"},
	fieldOldMethod:   {"http.request.method_original"},
	fieldURL:         {"url.full", "http.url"},
	fieldPath:        {"url.path", "http.target", "http.path"},
	fieldQueryString: {"url.query"},
	fieldRoute:       {"http.route", "url.template", "http.template"},
	fieldHTTPStatus:  {"http.response.status_code", "http.status_code", "http.status"},

	fieldMicroMethod:    {"method"},
	fieldMicroURI:       {"uri"},
	fieldMicroStatus:    {"status"},
	fieldMicroOutcome:   {"outcome"},
	fieldMicroException: {"exception"},
	fieldMicroClient:    {"client.name", "clientName"},

	fieldResend:         {"http.request.resend_count", "http.resend_count", "http.retry_count", "retry.count"},
	fieldEnvoyAttempt:   {"http.request.header.x-envoy-attempt-count", "http.request.header.x_envoy_attempt_count", "x-envoy-attempt-count"},
	fieldGRPCAttempt:    {"previous-rpc-attempts", "rpc.request.metadata.grpc-previous-rpc-attempts", "rpc.grpc.request.metadata.grpc-previous-rpc-attempts", "grpc.previous-rpc-attempts"},
	fieldAWSAttempt:     {"operation.attempt"},
	fieldAWSHeader:      {"http.request.header.amz-sdk-request", "http.request.header.amz_sdk_request"},
	fieldAWSInvocation:  {"http.request.header.amz-sdk-invocation-id", "http.request.header.amz_sdk_invocation_id"},
	fieldTransparent:    {"transparent-retry"},
	fieldIsTimeoutRetry: {"http.request.header.x-envoy-is-timeout-retry"},

	fieldPeerService:   {"service.peer.name", "peer.service"},
	fieldServerAddress: {"server.address"},
	fieldServerPort:    {"server.port"},
	fieldPeerName:      {"net.peer.name", "peer.hostname", "http.host"},
	fieldPeerNamePort:  {"net.peer.port"},
	fieldPeerAddress:   {"network.peer.address", "net.sock.peer.addr", "net.peer.ip", "peer.address", "upstream_address", "peer.ipv4", "peer.ipv6"},
	fieldPeerPort:      {"network.peer.port", "net.sock.peer.port", "peer.port"},
	fieldClientAddress: {"client.address", "http.client_ip"},
	fieldCluster:       {"upstream_cluster.name", "upstream_cluster"},
	fieldFlags:         {"response_flags"},

	fieldRPCSystem:  {"rpc.system.name", "rpc.system"},
	fieldRPCService: {"rpc.service"},
	fieldRPCMethod:  {"rpc.method", "grpc.method", "method.name"},
	fieldRPCStatus:  {"rpc.status_code", "rpc.response.status_code", "rpc.grpc.status_code", "rpc.connect_rpc.error_code", "grpc.status_code", "grpc.code", "rpc.error_code"},

	fieldDBSystem:    {"db.system.name", "db.system", "db.type"},
	fieldDBName:      {"db.namespace", "db.name", "db.redis.database_index", "db.mssql.instance_name", "db.instance"},
	fieldDBOperation: {"db.operation.name", "db.operation", "db.command.name"},
	fieldDBTable:     {"db.collection.name", "db.sql.table", "db.mongodb.collection", "db.cassandra.table", "db.cosmosdb.container"},
	fieldDBText:      {"db.query.text", "db.statement", "sql.query", "jdbc.query[0]"},
	fieldDBSummary:   {"db.query.summary"},
	fieldDBRows:      {"db.response.returned_rows", "jdbc.row-count"},
	fieldDBBatch:     {"db.operation.batch.size", "db.redis.num_cmd", "db.redis.pipeline_length"},
	fieldDBStatus:    {"db.response.status_code", "db.sql.state"},

	fieldMessaging:          {"messaging.system"},
	fieldMessagingOperation: {"messaging.operation.type", "messaging.operation", "messaging.operation.name"},
	fieldDestination:        {"messaging.destination.name", "messaging.destination", "message_bus.destination", "kafka.topic"},
	fieldMessageID:          {"messaging.message.id", "messaging.message_id"},
	fieldPartition:          {"messaging.destination.partition.id", "messaging.kafka.destination.partition", "messaging.kafka.source.partition", "messaging.kafka.partition"},
	fieldOffset:             {"messaging.kafka.offset", "messaging.kafka.message.offset"},
	fieldDelivery:           {"messaging.servicebus.message.delivery_count", "messaging.gcp_pubsub.message.delivery_attempt"},
	fieldMessageBatch:       {"messaging.batch.message_count"},

	fieldErrorType:     {"error.type", "error.kind"},
	fieldException:     {"exception.type", "error.object", "exception.class"},
	fieldExceptionText: {"exception.message", "error.message"},
	fieldErrorFlag:     {"error"},
	fieldStatusCode:    {"otel.status_code"},
	fieldStatusText:    {"otel.status_description"},
	fieldKind:          {"span.kind"},
	fieldComponent:     {"component"},
	fieldScope:         {"otel.scope.name", "otel.library.name"},
	fieldTracestate:    {"w3c.tracestate"},
	fieldRetries:       {"retry.attempts", "retries", "retry_attempts"},
}

// spanParameters are the prefixes of names that carry a statement's parameters.
var spanParameters = []string{"db.query.parameter.", "db.operation.parameter.", "jdbc.params["}

// spanName is where a name stands in the table.
type spanName struct {
	field spanField
	rank  uint8 // from 0: the newest
}

// spanNameOf finds names.
var spanNameOf = func() map[string]spanName {
	m := map[string]spanName{}
	for f, names := range spanNames {
		for rank, name := range names {
			m[name] = spanName{spanField(f), uint8(rank)}
		}
	}
	return m
}()

// nameCache finds names of attributes as spanNameOf does. The same few come in
// every span: one comparison finds them where they were found last.
type nameCache [256]struct {
	name  string
	at    spanName
	known bool
}

// find returns where a name stands in the table, if it is known.
func (c *nameCache) find(name []byte) (spanName, bool) {
	if len(name) == 0 {
		return spanName{}, false
	}
	x := &c[slot(name)]
	if x.name != string(name) {
		at, known := spanNameOf[string(name)]
		if len(name) > 64 {
			return at, known
		}
		x.name, x.at, x.known = string(name), at, known
	}
	return x.at, x.known
}

// slot is a number below 256 for a text that is not empty. Like texts of
// different lengths, or that end otherwise, have different ones as a rule.
func slot(b []byte) uint8 {
	n := uint32(len(b))
	h := n*0x9e3779b1 ^ uint32(b[n-1])*0x85ebca6b ^ uint32(b[n/2])*0xc2b2ae35 ^ uint32(b[n/4*3])*0x27d4eb2f
	return uint8(h >> 24)
}

// resourceField is one thing that an attribute of a resource may say.
type resourceField int8

// The fields of a resource.
const (
	resService resourceField = iota
	resInstance
	resPod
	resHost
	resPID
	resZone
	resIP
	resourceFields // their number
)

// resourceNames lists the names that say them, as in spanNames.
var resourceNames = [resourceFields][]string{
	resService:  {"service.name", "k8s.deployment.name", "k8s.statefulset.name"},
	resInstance: {"service.instance.id"},
	resPod:      {"k8s.pod.name", "pod.name", "pod", "kubernetes.pod_name"},
	resHost:     {"host.name", "hostname", "host.hostname"},
	resPID:      {"process.pid", "pid"},
	resZone:     {"cloud.availability_zone", "cloud.zone", "availability_zone", "zone"},
	resIP:       {"ip", "host.ip"},
}

var resourceNameOf = func() map[string]spanName {
	m := map[string]spanName{}
	for f, names := range resourceNames {
		for rank, name := range names {
			m[name] = spanName{spanField(f), uint8(rank)}
		}
	}
	return m
}()

// isParameter reports whether a name carries a parameter of a statement.
func isParameter(name []byte) bool {
	if len(name) < 5 || name[0] != 'd' && name[0] != 'j' {
		return false
	}
	for _, p := range spanParameters {
		if strings.HasPrefix(string(name), p) {
			return true
		}
	}
	return false
}
