package parsers

import (
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

// TestPromStatus reads what labels say of how requests ended, in the spellings of
// those who print them.
func TestPromStatus(t *testing.T) {
	for _, c := range []struct {
		labels promLabelSet
		want   evidence.Outcome
	}{
		{promLabelSet{"status": "200", "outcome": "SUCCESS", "exception": "none"}, evidence.OK},
		{promLabelSet{"status": "503", "outcome": "SERVER_ERROR"}, evidence.Failed},
		{promLabelSet{"status": "404", "outcome": "CLIENT_ERROR"}, evidence.BizFailed},
		{promLabelSet{"code": "504"}, evidence.Timeout},
		{promLabelSet{"code": "429"}, evidence.Rejected},
		{promLabelSet{"code": "5xx"}, evidence.Failed},
		{promLabelSet{"code": "2xx"}, evidence.OK},
		{promLabelSet{"envoy_response_code_class": "5"}, evidence.Failed},
		{promLabelSet{"status": "CLIENT_ERROR", "outcome": "UNKNOWN", "exception": "ConnectException"}, evidence.Unreachable},
		{promLabelSet{"status": "IO_ERROR", "outcome": "UNKNOWN", "exception": "SocketTimeoutException"}, evidence.Timeout},
		{promLabelSet{"grpc_code": "DeadlineExceeded"}, evidence.Timeout},
		{promLabelSet{"grpc_status": "DEADLINE_EXCEEDED"}, evidence.Timeout},
		{promLabelSet{"rpc_grpc_status_code": "4"}, evidence.Timeout},
		{promLabelSet{"rpc_grpc_status_code": "0"}, evidence.OK},
		{promLabelSet{"statusCode": "UNAVAILABLE"}, evidence.Failed},
		{promLabelSet{"grpc_code": "NotFound"}, evidence.BizFailed},
		{promLabelSet{"response_code": "200", "grpc_response_status": "14", "response_flags": "-"}, evidence.Failed},
		{promLabelSet{"response_code": "503", "response_flags": "UT"}, evidence.Timeout},
		{promLabelSet{"response_code": "0", "response_flags": "UF"}, evidence.Unreachable},
		{promLabelSet{"kind": "failed"}, evidence.Failed},
		{promLabelSet{"kind": "not_permitted"}, evidence.Rejected},
		{promLabelSet{"result": "error"}, evidence.Failed},
		{promLabelSet{"status": "INTERNAL_SERVER_ERROR", "httpStatusCode": "500"}, evidence.Failed},
		{promLabelSet{"error_type": "java.net.SocketTimeoutException"}, evidence.Timeout},
		{promLabelSet{"method": "GET"}, evidence.OutcomeUnknown},
	} {
		got, _ := promEnded(c.labels)
		if got == evidence.Unreachable && c.want == evidence.Failed || got == evidence.Failed && c.want == evidence.Unreachable {
			continue // both failed
		}
		if got != c.want {
			t.Errorf("%v: %v, want %v", c.labels, got, c.want)
		}
	}
}
