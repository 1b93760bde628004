package correlate

import (
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// Stacks of dubbo-go 3.3.1, as lab/dubbogo printed them, shortened.
func TestClassifyDubboGo(t *testing.T) {
	const (
		filterInvoker = "dubbo.apache.org/dubbo-go/v3/protocol/protocolwrapper.(*FilterInvoker).Invoke"
		proxyInvoker  = "dubbo.apache.org/dubbo-go/v3/proxy/proxy_factory.(*ProxyInvoker).Invoke"
	)
	for _, c := range []struct {
		name      string
		createdBy string
		frames    []string
		kind      incident.WaitKind
		entry     string
		pool      string
	}{
		{
			name: "a handler behind the user's own filter waits for a connection",
			frames: []string{
				"database/sql.(*DB).conn", "database/sql.(*DB).QueryRowContext", "main.(*store).stock", "main.(*SkuService).GetSkuStock", "reflect.Value.Call",
				proxyInvoker, filterInvoker, "main.countReceived.Invoke", filterInvoker, "dubbo.apache.org/dubbo-go/v3/protocol/triple.(*Server).handleServiceWithInfo.func1",
			},
			kind: incident.WaitDBPool, entry: "main.(*SkuService).GetSkuStock", pool: "dubbo handlers",
		},
		{
			name:      "the goroutine that carries a triple request",
			createdBy: "dubbo.apache.org/dubbo-go/v3/protocol/triple/triple_protocol.(*duplexHTTPCall).ensureRequestMade.func1",
			frames: []string{
				"golang.org/x/net/http2.(*ClientConn).roundTrip", "net/http.(*Client).Do",
				"dubbo.apache.org/dubbo-go/v3/protocol/triple/triple_protocol.(*duplexHTTPCall).makeRequest",
			},
			kind: incident.WaitRPC, pool: "dubbo requests",
		},
		{
			name:   "a plain HTTP request stays one",
			frames: []string{"golang.org/x/net/http2.(*ClientConn).roundTrip", "net/http.(*Client).Do", "main.quote", "dubbo.apache.org/dubbo-go/v3/protocol/triple.(*Server).x"},
			kind:   incident.WaitHTTP, entry: "main.quote", pool: "main.quote",
		},
	} {
		s := &evidence.Stack{Detail: "select", CreatedBy: c.createdBy}
		for _, fn := range c.frames {
			s.Frames = append(s.Frames, &evidence.Frame{Func: fn})
		}
		v := classifyGo(s)
		entry := ""
		if v.entry != nil {
			entry = v.entry.Func
		}
		if pool := goPool(s, v.entry); v.kind != c.kind || entry != c.entry || pool != c.pool {
			t.Errorf("%s: %v, entry %q, pool %q; want %v, %q, %q", c.name, v.kind, entry, pool, c.kind, c.entry, c.pool)
		}
	}
}

func TestSplitGenericFunc(t *testing.T) {
	for fn, want := range map[string][2]string{
		"main.runConsumer.serve[...].func15":   {"main.runConsumer", "serve[...].func15"},
		"shop/cache.(*Cache[...]).Get":         {"shop/cache.(*Cache[...])", "Get"},
		"com.acme.shop.StockService.find":      {"com.acme.shop.StockService", "find"},
		"main.(*Cache[...]).Get.func1":         {"main.(*Cache[...]).Get", "func1"},
		"github.com/acme/shop/slices.Map[...]": {"github.com/acme/shop/slices", "Map[...]"},
	} {
		class, method := splitFunc(fn)
		if class != want[0] || method != want[1] {
			t.Errorf("%s: %q and %q; want %q", fn, class, method, want)
		}
	}
}
