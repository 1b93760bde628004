package correlate

import (
	"fmt"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// TestDuplicatesFollowTheirOwnRetries has writes of one service that ran twice
// beside the retries of another, of itself, and of one above it.
func TestDuplicatesFollowTheirOwnRetries(t *testing.T) {
	for _, c := range []struct {
		retried, consumer string
		label             incident.Label
		chain             int
	}{
		{"com.acme.shop.CouponService.listCoupons", "web", incident.RetryAmplification, 1},
		{"com.acme.shop.StockService.deduct", "order", incident.DuplicateWrites, 2},
		{"com.acme.shop.OrderService.placeOrder", "web", incident.DuplicateWrites, 2}, // and shop-order calls the stock
	} {
		e := New(Config{})
		add := func(r *evidence.Record) {
			t.Helper()
			if err := e.Add(r); err != nil {
				t.Fatal(err)
			}
		}
		service, method := c.retried[:len(c.retried)-len(methodOf(c.retried))-1], methodOf(c.retried)
		tries := func(consumer, service, method string, i, attempts int) *evidence.Record {
			return &evidence.Record{
				Time: failedAt.Add(time.Duration(i) * time.Second), Zoned: evidence.Yes, Place: evidence.Place{Service: consumer}, Cite: evidence.Citation{Source: consumer + "/app.log", Line: i + 1},
				Tries: &evidence.Tries{Service: service, Method: method, Attempts: attempts, Failed: evidence.None, Candidates: evidence.None, Outcome: evidence.Timeout, Timeout: time.Second, Elapsed: evidence.None, RetriesSetting: evidence.None, Side: evidence.Consumer},
			}
		}
		for i := range 120 {
			add(tries(c.consumer, service, method, i, 3))
			if i < 5 && c.consumer == "web" {
				add(tries("shop-order", "com.acme.shop.StockService", "deduct", i, 1))
			}
		}
		for i := range 40 {
			for k := range 2 {
				add(&evidence.Record{
					Time: failedAt.Add(time.Duration(i)*3*time.Second + time.Duration(k)*1020*time.Millisecond), Zoned: evidence.Yes, Place: evidence.Place{Service: "stock", Instance: "stock-1"}, Cite: evidence.Citation{Source: "stock/access.log", Line: 2*i + k + 1},
					Access: &evidence.Access{Side: evidence.Provider, Software: "dubbo", Service: "com.acme.shop.StockService", Method: "deduct", Status: evidence.None, Outcome: evidence.OK, Duration: 1500 * time.Millisecond, Queued: evidence.None, Attempts: evidence.None, Key: fmt.Append(nil, i)},
				})
			}
		}
		in := e.Report().Incidents[0]
		if in.Label != c.label || len(in.Chain) != c.chain {
			t.Errorf("retries of %s: %s", c.retried, in.Headline)
		}
	}
}

func methodOf(s string) string {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '.' {
			return s[i+1:]
		}
	}
	return s
}
