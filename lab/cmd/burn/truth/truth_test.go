package truth

import (
	"strings"
	"testing"
)

// shop is a consumer and two providers whose numbers agree.
func shop() map[string]Counters {
	return map[string]Counters{
		"order": {Edges: map[string]Edge{"SkuService.getSkuStock": {
			Calls: 100, Attempts: 280, OK: 10, Failed: 90,
			ByAttempts: map[string]int64{"1": 10, "3": 90},
			Outcomes:   map[string]int64{"ok": 10, "timeout": 200, "rejected": 60, "unreached": 10},
		}}},
		"product-1": {Methods: map[string]Method{"SkuService.getSkuStock": {Received: 110, Executions: 110, Orphaned: 80}}, Rejected: 60},
		"product-2": {Methods: map[string]Method{"getSkuStock": {Received: 100, Executions: 99}}},
	}
}

func TestDeriveAddsUpByEdge(t *testing.T) {
	list := Derive(shop())
	if len(list) != 1 {
		t.Fatalf("%d edges", len(list))
	}
	e := list[0]
	if e.Amplification != 2.8 || e.Received != 210 || e.ReceivedBy["product-2"] != 100 || e.Executions != 209 || e.Orphaned != 80 {
		t.Errorf("%+v", e)
	}
}

func TestCheckNamesBothNumbers(t *testing.T) {
	if err := Check(shop()); err != nil {
		t.Errorf("numbers that agree: %v", err)
	}
	for _, c := range []struct {
		name   string
		change func(map[string]Counters)
		says   []string
	}{
		{"a provider lost ten", func(all map[string]Counters) {
			all["product-2"].Methods["getSkuStock"] = Method{Received: 90}
		}, []string{"280 attempts", "received 200"}},
		{"a provider made up fifteen", func(all map[string]Counters) {
			all["product-2"].Methods["getSkuStock"] = Method{Received: 115}
		}, []string{"280 attempts", "received 225"}},
		{"a pool forgot a dozen refusals", func(all map[string]Counters) {
			c := all["product-1"]
			c.Rejected = 48
			all["product-1"] = c
		}, []string{"280 attempts", "refused 48"}},
		{"attempts differ from their sum", func(all map[string]Counters) {
			all["order"].Edges["SkuService.getSkuStock"].ByAttempts["3"] = 91
		}, []string{"280 attempts", "283"}},
		{"a call has not ended", func(all map[string]Counters) {
			e := all["order"].Edges["SkuService.getSkuStock"]
			e.Failed--
			all["order"].Edges["SkuService.getSkuStock"] = e
		}, []string{"100 calls", "99 ended"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := shop()
			c.change(all)
			err := Check(all)
			if err == nil {
				t.Fatal("not seen")
			}
			for _, s := range c.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%q does not say %q", err, s)
				}
			}
		})
	}
}

func TestCheckAllowsWhatIsStillQueued(t *testing.T) {
	all := shop()
	all["product-2"].Methods["getSkuStock"] = Method{Received: 90}
	c := all["product-2"]
	c.Pool = &Pool{Max: 40, Queued: 10}
	all["product-2"] = c
	if err := Check(all); err != nil {
		t.Error(err)
	}
}

func TestParseKnowsBothShapes(t *testing.T) {
	for _, data := range []string{
		`{"name":"x","edges":{"com.acme.shop.SkuService.price":{"calls":3,"attempts":9}},"methods":{"SkuService.price":{"received":7}}}`,
		`{"consumers":{"SkuService.price":{"calls":3,"attempts":9}},"providers":{"com.acme.shop.SkuService.price":{"received":7}}}`,
	} {
		c, err := Parse([]byte(data))
		if err != nil || c.Edges["SkuService.price"].Attempts != 9 || c.Methods["SkuService.price"].Received != 7 {
			t.Errorf("%s: %+v, %v", data, c, err)
		}
	}
}

func TestSinceSubtracts(t *testing.T) {
	before, after := shop()["order"], shop()["order"]
	after.Edges["SkuService.getSkuStock"] = Edge{
		Calls: 150, Attempts: 400, OK: 10, Failed: 140,
		Outcomes: map[string]int64{"ok": 10, "timeout": 320, "rejected": 60, "unreached": 10},
	}
	e := after.Since(before).Edges["SkuService.getSkuStock"]
	if e.Calls != 50 || e.Attempts != 120 || e.Failed != 50 || e.Outcomes["timeout"] != 120 {
		t.Errorf("%+v", e)
	}
	if _, there := e.Outcomes["ok"]; there {
		t.Error("an outcome that did not happen stands there")
	}
}
