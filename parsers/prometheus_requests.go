package parsers

import (
	"cmp"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// Requests that are counted by how they ended, as servers, clients and proxies
// do:
//
//	http_server_requests_seconds_count{application="order",method="POST",outcome="SERVER_ERROR",status="503",uri="/orders",} 412.0
//	grpc_server_handled_total{grpc_code="DeadlineExceeded",grpc_method="Charge",grpc_service="shop.Pay",grpc_type="unary"} 37
//	istio_requests_total{reporter="source",source_workload="cart",destination_service="pay.shop.svc.cluster.local",response_code="504",response_flags="UT"} 81
//	envoy_cluster_upstream_rq_xx{envoy_response_code_class="5",envoy_cluster_name="pay"} 900
//	nginx_ingress_controller_requests{ingress="shop",exported_service="pay",status="502"} 12
//
// Micrometer, client_golang, go-grpc-prometheus, OpenTelemetry's exporter and the
// proxies each have names of their own; beside those that are listed, any family
// that is named like a count of requests and has a label with a status is read.
// What a status means is decided here, the same for all.

// promCodes are the labels that say how a request ended, the most telling first.
var promCodes = []string{
	"grpc_code", "grpc_status", "rpc_grpc_status_code", "rpc_response_status_code", "statusCode", "status_code", "http_response_status_code", "http_status_code",
	"httpStatusCode", "response_code", "http_status", "envoy_response_code", "envoy_response_code_class", "code", "status", "response_status",
	"outcome", "result", "kind", "classification",
}

var (
	promVerbs  = []string{"http_request_method", "http_method", "request_method", "method", "verb"}
	promRoutes = []string{"http_route", "uri", "route", "routeId", "path", "handler", "endpoint", "url_template", "url", "api"}
	promPeers  = []string{
		"clientName", "client_name", "server_address", "net_peer_name", "http_host", "grpc_target", "target", "client", "peer", "host", "upstream", "server",
	}
)

// promRequestFamilies adds families that count requests by how they ended.
func promRequestFamilies(m map[string]*promFamily) {
	type names []string
	counts := func(impl string, side evidence.Side, name []string, method string, list names) {
		for _, n := range list {
			m[n] = &promFamily{impl: impl, field: promCoded, name: name, method: method, side: side}
		}
	}
	// timed are summaries and histograms, by the unit of their sums.
	timed := func(impl string, side evidence.Side, name []string, method string, list names) {
		for _, n := range list {
			counts(impl, side, name, method, names{n + "_count"})
			m[n+"_sum"] = &promFamily{impl: impl, field: promTook, name: name, method: method, side: side}
		}
	}
	server, client := evidence.Provider, evidence.Consumer
	timed("micrometer", server, nil, "", names{"http_server_requests_seconds", "http_server_requests", "http_server_requests_milliseconds"})
	timed("micrometer", client, promPeers, "", names{"http_client_requests_seconds", "http_client_requests", "http_client_requests_milliseconds"})
	timed("spring-gateway", client, []string{"routeId", "routeUri"}, "", names{"spring_cloud_gateway_requests_seconds", "gateway_requests_seconds"})
	counts("feign", client, []string{"client", "host"}, "", names{"feign_Client_http_response_code_total"})
	timed("opentelemetry", server, nil, "", names{"http_server_request_duration_seconds", "http_server_duration_milliseconds", "http_server_duration"})
	timed("opentelemetry", client, promPeers, "", names{"http_client_request_duration_seconds", "http_client_duration_milliseconds", "http_client_duration"})
	timed("opentelemetry", server, []string{"rpc_service"}, "rpc_method", names{"rpc_server_duration_milliseconds", "rpc_server_duration", "rpc_server_duration_seconds", "rpc_server_call_duration_seconds"})
	timed("opentelemetry", client, []string{"rpc_service"}, "rpc_method", names{"rpc_client_duration_milliseconds", "rpc_client_duration", "rpc_client_duration_seconds", "rpc_client_call_duration_seconds"})
	counts("client_golang", server, nil, "", names{"http_requests_total", "http_requests_received_total"})
	timed("client_golang", server, nil, "", names{"http_request_duration_seconds", "request_duration_seconds", "http_request_duration_milliseconds"})
	counts("go-grpc-prometheus", server, []string{"grpc_service"}, "grpc_method", names{"grpc_server_handled_total"})
	counts("go-grpc-prometheus", client, []string{"grpc_service"}, "grpc_method", names{"grpc_client_handled_total"})
	timed("grpc-spring", server, []string{"service"}, "method", names{"grpc_server_processing_duration_seconds"})
	timed("grpc-spring", client, []string{"service"}, "method", names{"grpc_client_processing_duration_seconds"})
	timed("grpc", server, nil, "grpc_method", names{"grpc_server_call_duration_seconds"})
	counts("istio", client, []string{"destination_service_name", "destination_workload", "destination_service"}, "", names{"istio_requests_total"})
	for _, n := range []string{"envoy_cluster_upstream_rq_xx", "envoy_cluster_external_upstream_rq_xx"} {
		m[n] = &promFamily{impl: "envoy", field: promCoded, name: []string{"envoy_cluster_name", "cluster_name"}, side: client}
	}
	counts("nginx-ingress", client, []string{"exported_service", "service", "ingress"}, "", names{"nginx_ingress_controller_requests"})
	counts("nginx-vts", client, []string{"upstream"}, "", names{"nginx_vts_upstream_requests_total"})
	counts("traefik", client, []string{"exported_service", "service"}, "", names{"traefik_service_requests_total", "traefik_backend_requests_total"})
	counts("haproxy", client, []string{"proxy", "backend"}, "", names{"haproxy_backend_http_responses_total"})
	counts("kong", client, []string{"service"}, "route", names{"kong_http_requests_total", "kong_http_status"})
	counts("apisix", client, []string{"service", "matched_uri", "route"}, "", names{"apisix_http_status"})
	counts("linkerd-proxy", client, []string{"dst_service", "dst_deployment", "authority"}, "", names{"response_total"})
	timed("resilience4j-circuitbreaker", client, []string{"name"}, "", names{"resilience4j_circuitbreaker_calls_seconds"})
	counts("resilience4j-timelimiter", client, []string{"name"}, "", names{"resilience4j_timelimiter_calls_total"})
	m["resilience4j_circuitbreaker_not_permitted_calls_total"] = &promFamily{impl: "resilience4j-circuitbreaker", field: promOverflow, name: []string{"name"}, side: client}

	for _, side := range []evidence.Side{server, client} {
		for field, list := range map[promField]names{
			promOverflow:    {"limit_total", "limit"},
			promFailedParts: {"unknown_failed_total", "failed_network_total", "failed_service_unavailable_total", "failed_codec_total", "network_failed_total", "service_unavailable_failed_total", "codec_failed_total"},
		} {
			for _, n := range list {
				m["dubbo_"+side.String()+"_requests_"+n] = &promFamily{impl: "dubbo", field: field, name: []string{"interface"}, method: "method", side: side}
			}
		}
	}
}

// promGenericEnds end the names of families that count requests, whoever named them.
var promGenericEnds = []string{"_requests_total", "_request_total", "_handled_total", "_responses_total", "_request_duration_seconds_count", "_requests_seconds_count", "_rpc_duration_seconds_count"}

// promOwn begin the names of families that count what a process does for its own
// monitoring, or what is none of an application's traffic.
var promOwn = []string{"promhttp_", "prometheus_", "scrape_", "kubelet_", "apiserver_", "etcd_", "rest_client_", "workqueue_", "net_conntrack_", "otelcol_", "grpc_"}

// promUnlisted is what a family counts that is not listed, but named as one that
// counts requests.
func promUnlisted(name []byte) *promFamily {
	for _, end := range promGenericEnds {
		if len(name) <= len(end) || string(name[len(name)-len(end):]) != end {
			continue
		}
		s := string(name)
		for _, own := range promOwn {
			if strings.HasPrefix(s, own) {
				return nil
			}
		}
		side := evidence.Provider
		for _, word := range []string{"client", "upstream", "outgoing", "outbound", "backend", "downstream_call"} {
			if strings.Contains(s, word) {
				side = evidence.Consumer
			}
		}
		f := &promFamily{impl: strings.TrimSuffix(strings.TrimSuffix(s, "_count"), "_total"), field: promCoded, side: side, unlisted: true}
		if side == evidence.Consumer {
			f.name = promPeers
		}
		return f
	}
	return nil
}

// promEnded is how the requests of a series ended; false if it does not say.
func promEnded(labels promLabelSet) (evidence.Outcome, bool) {
	for _, key := range promCodes {
		v := labels[key]
		if v == "" || v == "UNKNOWN" && key == "outcome" {
			continue
		}
		if o := promStatus(key, v); o != evidence.OutcomeUnknown {
			return promRefined(o, labels), true
		}
	}
	if e := cmp.Or(labels["exception"], labels["error"], labels["error_type"]); e != "" {
		return promRefined(promStatus("exception", e), labels), true
	}
	return evidence.OutcomeUnknown, false
}

// promRefined looks at what else tells of a request: an HTTP status of 200 around
// a gRPC status, and who was waited for in vain.
func promRefined(o evidence.Outcome, labels promLabelSet) evidence.Outcome {
	if o == evidence.OK {
		if g := grpcAnswered([]byte(labels["grpc_response_status"])); g != evidence.OutcomeUnknown {
			return g
		}
	}
	if o == evidence.Failed || o == evidence.Unreachable {
		e := strings.ToLower(labels["exception"] + labels["error_type"] + labels["error"])
		if strings.Contains(e, "timeout") || strings.Contains(e, "timedout") || strings.Contains(labels["response_flags"], "UT") {
			return evidence.Timeout
		}
	}
	return o
}

// promStatus reads a status as a label has it: 503, 5xx, 5 (of a class),
// SERVER_ERROR, DeadlineExceeded, failed.
func promStatus(key, v string) evidence.Outcome {
	n, digits := 0, 0
	for digits < len(v) && digits < 4 && v[digits] >= '0' && v[digits] <= '9' {
		n = n*10 + int(v[digits]-'0')
		digits++
	}
	rpc := strings.Contains(key, "grpc") || strings.Contains(key, "rpc_")
	switch {
	case rpc || digits == 0 && isGRPCStatus([]byte(v)):
		if o := grpcAnswered([]byte(v)); o != evidence.OutcomeUnknown {
			return o
		}
		return evidence.OK
	case digits == 3 && digits == len(v):
		return evidence.StatusOutcome(n)
	case digits == 1 && (len(v) == 1 && strings.Contains(key, "class") || strings.EqualFold(v[1:], "xx")):
		return evidence.StatusOutcome(n * 100)
	case digits == 1 && len(v) == 1 && n == 0:
		return evidence.Unreachable // no answer at all
	case digits > 0:
		return evidence.OutcomeUnknown
	}
	switch strings.ToLower(v) {
	case "success", "successful", "succeeded", "ok", "informational", "redirection", "none":
		return evidence.OK
	case "client_error":
		if key == "outcome" {
			return evidence.BizFailed
		}
		return evidence.Unreachable // Micrometer's status where there was no answer
	case "io_error":
		return evidence.Unreachable
	case "timeout", "timed_out":
		return evidence.Timeout
	case "server_error", "error", "failed", "failure", "internal_server_error", "fail":
		return evidence.Failed
	case "service_unavailable", "bad_gateway":
		return evidence.Failed
	case "gateway_timeout":
		return evidence.Timeout
	case "rejected", "not_permitted", "too_many_requests":
		return evidence.Rejected
	case "ignored", "unknown", "cancelled", "canceled", "bad_request", "not_found", "unauthorized", "forbidden", "conflict":
		return evidence.BizFailed
	}
	if key == "exception" {
		return evidence.Failed
	}
	return evidence.OutcomeUnknown
}

// promProbe reports a route that monitors ask, not users.
func promProbe(route string) bool {
	for _, p := range []string{"/actuator", "/metrics", "/health", "/ready", "/live", "/ping", "/status", "/-/"} {
		if strings.HasPrefix(route, p) {
			return true
		}
	}
	return false
}

// request adds a series that counts requests by how they ended.
func (r *promReader) request(g *promGroup, labels promLabelSet, v float64) {
	ended, ok := promEnded(labels)
	if !ok {
		return
	}
	if g.family.impl == "envoy" {
		g.coded += v // its attempts have a counter of their own, as a rule
	} else {
		g.add(promAttempts, v)
	}
	failed, late, refused := 0.0, 0.0, 0.0
	switch ended {
	case evidence.Failed, evidence.Unreachable, evidence.NoProvider:
		failed = v
	case evidence.Timeout:
		failed, late = v, v
	case evidence.Rejected:
		refused = v
	}
	g.add(promFailedParts, failed)
	if g.family.impl != "envoy" {
		g.add(promTimeouts, late)
	}
	if refused > 0 {
		g.add(promOverflow, refused)
	}
}

// named tells the callee, the method and the side of a series that counts
// requests.
func (g *promGroup) named(labels promLabelSet) (own bool) {
	f := g.family
	g.side = f.side
	if f.field != promCoded && f.field != promTook {
		return true
	}
	route := labels.first(promRoutes)
	if promProbe(route) {
		return false
	}
	if f.method == "" && f.impl != "envoy" {
		verb := labels.first(promVerbs)
		g.method = strings.TrimSpace(verb + " " + route)
	}
	if f.impl == "istio" {
		g.place.Service = cmp.Or(labels["source_workload"], labels["source_app"], g.place.Service)
		if labels["reporter"] == "destination" || labels["reporter"] == "waypoint" {
			g.side = evidence.Provider
			g.place.Service = cmp.Or(g.name, g.place.Service)
		}
		g.method = ""
	}
	if f.impl == "linkerd-proxy" {
		if labels["classification"] == "" {
			return false
		}
		if labels["direction"] == "inbound" {
			g.side = evidence.Provider
		}
	}
	return true
}

// promUnit is how many microseconds one of a family's unit is.
func promUnit(family string) float64 {
	if strings.Contains(family, "milliseconds") || strings.HasPrefix(family, "http_server_duration_sum") || strings.HasPrefix(family, "http_client_duration_sum") ||
		strings.HasPrefix(family, "rpc_server_duration_sum") || strings.HasPrefix(family, "rpc_client_duration_sum") {
		return 1e3
	}
	return 1e6
}
