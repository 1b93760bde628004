package parsers

import (
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

// TestLastCauseDecides reads what the agent records of a Dubbo 3.3.5 consumer: a
// description of the provider, timeouts and all, stands between the words and
// the cause.
func TestLastCauseDecides(t *testing.T) {
	provider := "DefaultServiceInstance{serviceName='shop-product', metadata={" + strings.Repeat("dubbo.endpoints=x, ", 60) + "timeout=3000}}"
	for said, want := range map[string]evidence.Outcome{
		"Failed to invoke remote method: price, provider: " + provider + ", cause: org.apache.dubbo.remoting.RemotingException: Server side(10.20.4.10,21052) thread pool is exhausted, detail msg:Thread pool is EXHAUSTED!": evidence.Rejected,
		"Invoke remote method timeout. method: price, provider: " + provider + ", cause: Timeout after 1000ms waiting for result.":                                                                                            evidence.Timeout,
		"Failed to invoke remote method: price, provider: dubbo://10.20.4.10:20880/a?timeout=1000, cause: org.apache.dubbo.remoting.RemotingException: Connection refused":                                                    evidence.Unreachable,
		"Failed to invoke remote method: price, provider: " + provider: evidence.Failed,
	} {
		if got := dubboOutcome([]byte("org.apache.dubbo.rpc.RpcException"), []byte(said)); got != want {
			t.Errorf("%s, want %s: %.60s", got, want, said)
		}
	}
	if got := dubboOutcome([]byte("com.acme.shop.OrderException"), []byte("order 7 failed, try again later")); got != evidence.BizFailed {
		t.Errorf("an exception of the business is %s", got)
	}
}
