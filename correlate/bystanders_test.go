package correlate

import (
	"testing"

	"github.com/firebreak-io/firebreak/incident"
)

func amplifiedFinding(title, consumer, service, method string, calls, attempts float64) incident.Finding {
	return incident.Finding{
		Kind: incident.RetryAmplified, Subject: title, Values: map[string]float64{"calls": calls, "attempts": attempts},
		Names: map[string]string{"edge": title, "consumer": consumer, "service": service, "method": method},
	}
}

func TestBystanders(t *testing.T) {
	t.Parallel()
	pay := amplifiedFinding("shop -> Pay.charge", "shop", "Pay", "charge", 3, 6)
	payOften := amplifiedFinding("shop -> Pay.charge", "shop", "Pay", "charge", 3000, 6000)
	stock := amplifiedFinding("order -> StockService.read", "order", "com.acme.StockService", "read", 40, 120)
	own := amplifiedFinding("stock -> PriceService.of", "stock", "com.acme.PriceService", "of", 4, 12)
	busy := incident.Finding{Kind: incident.PoolHot, Names: map[string]string{"class": "StockServiceImpl", "method": "read", "pool": "workers"}}
	unnamed := incident.Finding{Kind: incident.RetryAmplified, Subject: "calls", Values: map[string]float64{"calls": 3, "attempts": 9}, Names: map[string]string{"edge": "calls"}}
	for name, c := range map[string]struct {
		findings []incident.Finding
		aside    []string
	}{
		"nothing is retried":               {[]incident.Finding{busy}, nil},
		"few beside many":                  {[]incident.Finding{pay, stock}, []string{pay.Subject}},
		"few alone":                        {[]incident.Finding{pay}, nil},
		"many and many, nothing known":     {[]incident.Finding{payOften, stock}, nil},
		"many, but of another":             {[]incident.Finding{payOften, stock, busy}, []string{pay.Subject}},
		"few, and threads show another":    {[]incident.Finding{pay, busy}, []string{pay.Subject}},
		"many, and threads show another":   {[]incident.Finding{payOften, busy}, nil},
		"few that the troubled itself has": {[]incident.Finding{own, stock, busy}, nil},
		"few of nobody in particular":      {[]incident.Finding{unnamed, stock, busy}, nil},
	} {
		q := &inquiry{e: New(Config{}), findings: c.findings}
		aside, _ := q.bystanders()
		if len(aside) != len(c.aside) {
			t.Errorf("%s: %v set aside, want %v", name, aside, c.aside)
		}
		for _, title := range c.aside {
			if !aside[title] {
				t.Errorf("%s: %s is not set aside", name, title)
			}
		}
	}
}
