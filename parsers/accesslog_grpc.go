package parsers

import (
	"bytes"
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// A gRPC call that fails is answered with HTTP 200 all the same: what became of
// it stands in a trailer, which proxies print where they are told to.
//
//	{"path":"/shop.Pay/Charge","response_code":200,"grpc_status":"Unavailable","response_flags":"-"}
//	… "POST /shop.Pay/Charge HTTP/2.0" 200 0 … grpc_status=14
//
// Envoy's %GRPC_STATUS% writes names in any of three spellings or numbers, nginx's
// $sent_http_grpc_status and $upstream_trailer_grpc_status write numbers.

// grpcKey reports whether a key in its canonical form names a gRPC status.
func grpcKey(key string) bool {
	return strings.Contains(key, "grpc") && (strings.Contains(key, "status") || strings.Contains(key, "code")) &&
		!strings.Contains(key, "message") && !strings.Contains(key, "detail")
}

// grpcAnswered returns what a gRPC status says; OutcomeUnknown if it is none, or
// says that all is well.
func grpcAnswered(v []byte) evidence.Outcome {
	if i := bytes.LastIndexAny(v, ", "); i >= 0 && i+1 < len(v) { // of the last try
		v = v[i+1:]
	}
	if isDash(v) {
		return evidence.OutcomeUnknown
	}
	name := rpcStatusName(v, "grpc")
	if !isGRPCStatus(name) {
		return evidence.OutcomeUnknown
	}
	if o := rpcOutcome(name, nil); o != evidence.OK {
		return o
	}
	return evidence.OutcomeUnknown
}

// isGRPCStatus reports whether v is the name of a status: DEADLINE_EXCEEDED,
// DeadlineExceeded or deadline_exceeded.
func isGRPCStatus(v []byte) bool {
	var buf, want [32]byte
	plain := func(buf []byte, s string) []byte {
		for i := range min(len(s), cap(buf)) {
			if s[i] != '_' && s[i] != '-' {
				buf = append(buf, s[i]|0x20)
			}
		}
		return buf
	}
	key := plain(buf[:0], string(v))
	if string(key) == "canceled" {
		return true
	}
	for _, name := range grpcStatus {
		if bytes.Equal(key, plain(want[:0], name)) {
			return true
		}
	}
	return false
}
