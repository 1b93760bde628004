package collector

import "testing"

func TestHintOf(t *testing.T) {
	for _, c := range []struct{ path, service, instance string }{
		{"provider/app.log", "provider", ""},
		{"incident/order-service/logs/error.log", "order-service", ""},
		{"order-service-7d9f8b6c5-x2x4z/app.log", "order-service", "order-service-7d9f8b6c5-x2x4z"},
		{"order-service/10.20.3.14/app.log", "order-service", "10.20.3.14"},
		{"x1/order-service.log", "order-service", ""},
		{"logs/order-provider-10.20.0.11.log", "order-provider", "10.20.0.11"},
		{"logs/order-provider-10.20.0.11.log.1.gz", "order-provider", "10.20.0.11"},
		{"tmp/jstack-product-1.txt", "product", ""},
		{"tmp/jstack_1.txt", "", ""},
		{"data/ip-10-20-3-14/stdout.log", "", "10.20.3.14"},
		{"logs/order.2026-03-14.0.log", "order", ""},
		{"evidence/20260314-0912/gc.log", "", ""},
		{"order-1/app.log", "order", "order-1"},
		{"pods/shop_order-7d9f8b6c5-x2x4z_0f0c1d2e-3b4a-5c6d-7e8f-9a0b1c2d3e4f/app/0.log", "order", "order-7d9f8b6c5-x2x4z"},
		{"logs/mysql-slow.log", "", ""},
		{"logs/user-server.log", "user-server", ""},
		{"Dubbo_JStack.log.2026-03-14_09_12_33", "", ""},
		{"stdin", "", ""},
		{"", "", ""},
		{"a.tgz/inventory/app.log", "inventory", ""},
	} {
		h := hintOf(c.path)
		if h.Service != c.service || h.Instance != c.instance {
			t.Errorf("%s: %q %q, want %q %q", c.path, h.Service, h.Instance, c.service, c.instance)
		}
	}
}
