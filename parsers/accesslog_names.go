package parsers

import (
	"strings"
	"time"
)

// accessRole is what a column says of a request.
type accessRole int8

const (
	roleNone      accessRole = iota
	roleTime                 // when the line was written, or the request began: see accessPlan.started
	roleStart                // when the request began
	roleClient               // address of who asked
	roleRequest              // "GET /path HTTP/1.1"
	roleVerb                 // GET
	rolePath                 // /path
	roleQuery                // what a log prints apart from the path; never kept
	roleHost                 // as the client named it
	roleStatus               // answered
	roleDuration             // of the whole request
	roleQueued               // of it, waiting
	roleUpAddr               // the next four: lists, one element a try
	roleUpStatus             //
	roleUpTime               //
	roleUpConnect            //
	roleUpHeader             //
	roleRequestID            //
	roleTrace                // traceparent, or a trace ID
	roleBackend              // upstream group, cluster, route
	rolePeer                 // service that was asked
	roleFlags                // Envoy's response flags, HAProxy's termination state
	roleAttempts             // how many tries
	roleRetries              // how many tries but the first
	roleOrdinal              // which try of its caller
	roleBytes                // of no interest, but not a status
	roleAgent                // the same: client's software, where it came from
	roleServer               // the next five: HAProxy's
	roleTimers               //
	roleCounters             //
	roleQueues               //
	roleCapture              //
	roleCreated              // when the request came, beside the time of its end
	roleTries                // Kong's list of objects
	roleGRPC                 // status of gRPC, which HTTP's does not tell
	accessRoles
)

// accessName is what a key's name says.
type accessName struct {
	role accessRole
	unit time.Duration // of a plain number; 0: to be decided by the values
}

// accessNames knows keys in their canonical form (see accessKey): nginx's
// variables and what people abbreviate them to, and the names that Envoy,
// Istio, Traefik, Kong, Caddy and others give by default.
var accessNames = map[string]accessName{
	"time": {roleTime, 0}, "timelocal": {roleTime, 0}, "timeiso8601": {roleTime, 0}, "timestamp": {roleTime, 0}, "ts": {roleTime, 0}, "msec": {roleTime, 0},
	"datetime": {roleTime, 0}, "date": {roleTime, 0}, "logtime": {roleTime, 0}, "requesttimestamp": {roleTime, 0}, "accesstime": {roleTime, 0},
	"starttime": {roleStart, 0}, "startutc": {roleStart, 0}, "startlocal": {roleStart, 0}, "startedat": {roleStart, 0},

	"remoteaddr": {roleClient, 0}, "clientip": {roleClient, 0}, "client": {roleClient, 0}, "remoteip": {roleClient, 0}, "clientaddr": {roleClient, 0},
	"clienthost": {roleClient, 0}, "remotehost": {roleClient, 0}, "ip": {roleClient, 0}, "downstreamremoteaddress": {roleClient, 0}, "ci": {roleClient, 0}, "remote": {roleClient, 0},

	"request": {roleRequest, 0}, "req": {roleRequest, 0}, "requestline": {roleRequest, 0}, "r": {roleRequest, 0},
	"requestmethod": {roleVerb, 0}, "method": {roleVerb, 0}, "verb": {roleVerb, 0}, "httpmethod": {roleVerb, 0}, "reqmethod": {roleVerb, 0}, "m": {roleVerb, 0},
	"requesturi": {rolePath, 0}, "uri": {rolePath, 0}, "path": {rolePath, 0}, "requestpath": {rolePath, 0}, "url": {rolePath, 0}, "u": {rolePath, 0}, "requrl": {rolePath, 0},
	"requesturl": {rolePath, 0}, "documenturi": {rolePath, 0}, "httppath": {rolePath, 0}, "urlpath": {rolePath, 0}, "originalpath": {rolePath, 0}, "httpurl": {rolePath, 0},
	"args": {roleQuery, 0}, "querystring": {roleQuery, 0}, "query": {roleQuery, 0},
	"host": {roleHost, 0}, "httphost": {roleHost, 0}, "servername": {roleHost, 0}, "vhost": {roleHost, 0}, "domain": {roleHost, 0}, "authority": {roleHost, 0}, "requesthost": {roleHost, 0}, "requestauthority": {roleHost, 0},

	"status": {roleStatus, 0}, "code": {roleStatus, 0}, "statuscode": {roleStatus, 0}, "responsecode": {roleStatus, 0}, "httpstatus": {roleStatus, 0}, "st": {roleStatus, 0}, "s": {roleStatus, 0},
	"downstreamstatus": {roleStatus, 0}, "responsestatus": {roleStatus, 0}, "respcode": {roleStatus, 0}, "httpstatuscode": {roleStatus, 0}, "httpresponsestatuscode": {roleStatus, 0}, "sc": {roleStatus, 0}, "respstatus": {roleStatus, 0},

	"requesttime": {roleDuration, 0}, "rt": {roleDuration, 0}, "reqtime": {roleDuration, 0}, "duration": {roleDuration, 0}, "totaltime": {roleDuration, 0}, "latency": {roleDuration, 0}, "elapsed": {roleDuration, 0},
	"processtime": {roleDuration, 0}, "cost": {roleDuration, 0}, "took": {roleDuration, 0}, "reqt": {roleDuration, 0}, "timetaken": {roleDuration, 0}, "elapsedtime": {roleDuration, 0}, "processingtime": {roleDuration, 0},
	"durationms": {roleDuration, time.Millisecond}, "latencyms": {roleDuration, time.Millisecond}, "elapsedms": {roleDuration, time.Millisecond}, "requesttimems": {roleDuration, time.Millisecond}, "costms": {roleDuration, time.Millisecond},
	"durationus": {roleDuration, time.Microsecond}, "latencyus": {roleDuration, time.Microsecond}, "durationns": {roleDuration, 1}, "latencyns": {roleDuration, 1},
	"durationseconds": {roleDuration, time.Second}, "durations": {roleDuration, time.Second}, "latencys": {roleDuration, time.Second}, "ta": {roleDuration, time.Millisecond},
	"latenciesrequest": {roleDuration, time.Millisecond}, "latenciesproxy": {roleUpTime, time.Millisecond}, "upstreamservicetime": {roleUpTime, time.Millisecond}, "tw": {roleQueued, time.Millisecond},

	"upstreamaddr": {roleUpAddr, 0}, "upsaddr": {roleUpAddr, 0}, "upaddr": {roleUpAddr, 0}, "ua": {roleUpAddr, 0}, "upstream": {roleUpAddr, 0}, "upstreamhost": {roleUpAddr, 0}, "backendaddr": {roleUpAddr, 0}, "up": {roleUpAddr, 0},
	"upstreamip": {roleUpAddr, 0}, "upstreamserver": {roleUpAddr, 0}, "backend": {roleUpAddr, 0}, "us": {roleUpStatus, 0}, "uaddr": {roleUpAddr, 0}, "upsip": {roleUpAddr, 0}, "serviceaddr": {roleUpAddr, 0}, "uadd": {roleUpAddr, 0}, "upshost": {roleUpAddr, 0}, "proxyto": {roleUpAddr, 0}, "toaddr": {roleUpAddr, 0},
	"upstreamstatus": {roleUpStatus, 0}, "upsstatus": {roleUpStatus, 0}, "upstatus": {roleUpStatus, 0}, "ust": {roleUpStatus, 0}, "backendstatus": {roleUpStatus, 0}, "ustatus": {roleUpStatus, 0}, "originstatus": {roleUpStatus, 0}, "upscode": {roleUpStatus, 0}, "ucode": {roleUpStatus, 0}, "upst": {roleUpStatus, 0},
	"upstreamresponsetime": {roleUpTime, 0}, "urt": {roleUpTime, 0}, "upstreamtime": {roleUpTime, 0}, "upsrt": {roleUpTime, 0}, "uprt": {roleUpTime, 0}, "upstreamrt": {roleUpTime, 0}, "upsresptime": {roleUpTime, 0}, "upsresponsetime": {roleUpTime, 0}, "upstreamresptime": {roleUpTime, 0}, "upresptime": {roleUpTime, 0}, "uresptime": {roleUpTime, 0}, "originduration": {roleUpTime, 0}, "uptime": {roleUpTime, 0}, "backendtime": {roleUpTime, 0}, "upresponsetime": {roleUpTime, 0}, "ut": {roleUpTime, 0},
	"upstreamconnecttime": {roleUpConnect, 0}, "uct": {roleUpConnect, 0}, "upsconnecttime": {roleUpConnect, 0}, "ucontime": {roleUpConnect, 0}, "upct": {roleUpConnect, 0}, "upconnecttime": {roleUpConnect, 0}, "upsct": {roleUpConnect, 0}, "uconn": {roleUpConnect, 0},
	"upstreamheadertime": {roleUpHeader, 0}, "uht": {roleUpHeader, 0}, "upsheadertime": {roleUpHeader, 0}, "upht": {roleUpHeader, 0}, "upheadertime": {roleUpHeader, 0}, "upsht": {roleUpHeader, 0},

	"requestid": {roleRequestID, 0}, "rid": {roleRequestID, 0}, "reqid": {roleRequestID, 0}, "xrequestid": {roleRequestID, 0}, "httpxrequestid": {roleRequestID, 0}, "uniqueid": {roleRequestID, 0}, "requestxrequestid": {roleRequestID, 0}, "kongrequestid": {roleRequestID, 0}, "correlationid": {roleRequestID, 0}, "xcorrelationid": {roleRequestID, 0},
	"traceid": {roleTrace, 0}, "traceparent": {roleTrace, 0}, "httptraceparent": {roleTrace, 0}, "requesttraceparent": {roleTrace, 0}, "xb3traceid": {roleTrace, 0}, "httpxb3traceid": {roleTrace, 0}, "trace": {roleTrace, 0}, "xtraceid": {roleTrace, 0}, "httpxtraceid": {roleTrace, 0}, "oteltraceid": {roleTrace, 0}, "opentelemetrytraceid": {roleTrace, 0}, "tid": {roleTrace, 0},

	"proxyupstreamname": {roleBackend, 0}, "upstreamname": {roleBackend, 0}, "proxyhost": {roleBackend, 0}, "upstreamcluster": {roleBackend, 0}, "routename": {roleBackend, 0}, "routername": {roleBackend, 0}, "servicename": {rolePeer, 0}, "servicehost": {roleAgent, 0}, "tries": {roleTries, 0}, "be": {roleBackend, 0}, "proxyname": {roleBackend, 0}, "ups": {roleBackend, 0},
	"gs":            {roleGRPC, 0},
	"responseflags": {roleFlags, 0}, "responseflagslong": {roleFlags, 0}, "tsc": {roleFlags, 0},
	"upstreamrequestattemptcount": {roleAttempts, 0}, "attemptcount": {roleAttempts, 0}, "attempts": {roleAttempts, 0}, "upstreamattempts": {roleAttempts, 0},
	"retryattempts": {roleRetries, 0}, "retries": {roleRetries, 0}, "rc": {roleRetries, 0},
	"xenvoyattemptcount": {roleOrdinal, 0}, "requestxenvoyattemptcount": {roleOrdinal, 0},

	"bytes": {roleBytes, 0}, "bytessent": {roleBytes, 0}, "bodybytessent": {roleBytes, 0}, "size": {roleBytes, 0}, "requestlength": {roleBytes, 0}, "reqlen": {roleBytes, 0}, "bytesreceived": {roleBytes, 0}, "bs": {roleBytes, 0}, "bbs": {roleBytes, 0}, "rl": {roleBytes, 0}, "length": {roleBytes, 0},
	"responsesize": {roleBytes, 0}, "requestsize": {roleBytes, 0}, "upstreamresponselength": {roleBytes, 0}, "upslen": {roleBytes, 0}, "ul": {roleBytes, 0}, "contentlength": {roleBytes, 0}, "downstreamcontentsize": {roleBytes, 0}, "upstreambytessent": {roleBytes, 0}, "upstreambytesreceived": {roleBytes, 0}, "connection": {roleBytes, 0}, "connectionrequests": {roleBytes, 0}, "port": {roleBytes, 0}, "serverport": {roleBytes, 0}, "pid": {roleBytes, 0},
	"httpuseragent": {roleAgent, 0}, "useragent": {roleAgent, 0}, "agent": {roleAgent, 0}, "httpreferer": {roleAgent, 0}, "referer": {roleAgent, 0}, "referrer": {roleAgent, 0}, "ref": {roleAgent, 0},
	"xff": {roleAgent, 0}, "httpxforwardedfor": {roleAgent, 0}, "xforwardedfor": {roleAgent, 0}, "user": {roleAgent, 0}, "remoteuser": {roleAgent, 0}, "protocol": {roleAgent, 0}, "serverprotocol": {roleAgent, 0}, "scheme": {roleAgent, 0},
}

// accessNameOf returns what a key in its canonical form says: one that is known,
// or one that is made of the words that are.
func accessNameOf(key string) (accessName, bool) {
	if name, ok := accessNames[key]; ok {
		return name, true
	}
	if grpcKey(key) {
		return accessName{roleGRPC, 0}, true
	}
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(key, w) {
				return true
			}
		}
		return false
	}
	if !has("upstream", "backend", "proxyto") || has("byte", "length", "size", "local") {
		return accessName{}, false
	}
	switch timed := has("time", "duration", "latency", "took", "ms"); {
	case has("status", "code"):
		return accessName{roleUpStatus, 0}, true
	case timed && has("connect"):
		return accessName{roleUpConnect, 0}, true
	case timed && has("header"):
		return accessName{roleUpHeader, 0}, true
	case timed && has("response", "resp", "total", "upstreamtime", "duration", "latency"):
		return accessName{roleUpTime, 0}, true
	case has("addr", "host", "ip", "server") && !timed:
		return accessName{roleUpAddr, 0}, true
	}
	return accessName{}, false
}

// knownKey reports whether a key as printed is one that logs use.
func knownKey(key []byte) bool {
	if string(key) == "unix" {
		return false
	}
	_, ok := accessNameOf(accessKey(key))
	return ok
}
