package parsers

import (
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

// TestGRPCAnswered reads gRPC statuses as proxies spell them.
func TestGRPCAnswered(t *testing.T) {
	for status, want := range map[string]evidence.Outcome{
		"0": evidence.OutcomeUnknown, "OK": evidence.OutcomeUnknown, "-": evidence.OutcomeUnknown, "200": evidence.OutcomeUnknown, "wrong": evidence.OutcomeUnknown,
		"14": evidence.Failed, "Unavailable": evidence.Failed, "UNAVAILABLE": evidence.Failed, "4": evidence.Timeout, "DeadlineExceeded": evidence.Timeout,
		"DEADLINE_EXCEEDED": evidence.Timeout, "1": evidence.Cancelled, "Canceled": evidence.Cancelled, "8": evidence.Rejected, "5": evidence.BizFailed, "14, 14": evidence.Failed,
	} {
		if got := grpcAnswered([]byte(status)); got != want {
			t.Errorf("%s: %v, want %v", status, got, want)
		}
	}
	for key, want := range map[string]bool{"grpcstatus": true, "upstreamtrailergrpcstatus": true, "grpccode": true, "grpcmessage": false, "status": false} {
		if name, _ := accessNameOf(key); (name.role == roleGRPC) != want {
			t.Errorf("%s is column %v", key, name.role)
		}
	}
}
