package parsers

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

// syntheticLog makes an application log of some size: a hundredth of the
// records are errors with a stack trace of 40 lines, a few of them Dubbo's.
func syntheticLog(size int) []byte {
	rng := rand.New(rand.NewPCG(7, 7))
	classes := []string{"c.acme.shop.order.OrderServiceImpl", "o.s.web.servlet.DispatcherServlet", "c.acme.shop.cart.CartController", "c.a.s.payment.PaymentGatewayClient"}
	messages := []string{
		"order %d placed by customer %d, total 129.90 EUR, warehouse WH-3, channel web",
		"GET /api/v1/carts/%d/items completed with status 200 for session %d in 12 ms",
		"reserved stock for sku SKU-%d quantity %d, remaining 412, took 3 ms, cache hit",
		"refresh of price list %d finished, %d entries, next run scheduled in 300 seconds",
	}
	var b bytes.Buffer
	b.Grow(size + 8192)
	for i := 0; b.Len() < size; i++ {
		head := func(level string) {
			fmt.Fprintf(&b, "2026-03-14 09:%02d:%02d.%03d %5s 4711 --- [nio-8080-exec-%d] %-40s : ", i/60000%60, i/1000%60, i%1000, level, rng.IntN(200), classes[rng.IntN(len(classes))])
		}
		if rng.IntN(100) > 0 {
			head("INFO")
			fmt.Fprintf(&b, messages[rng.IntN(len(messages))], rng.IntN(1e6), rng.IntN(1e6))
			b.WriteByte('\n')
			continue
		}
		head("ERROR")
		if rng.IntN(2) == 0 {
			b.WriteString("place order failed\norg.apache.dubbo.rpc.RpcException: Failed to invoke the method placeOrder in the service com.acme.order.OrderService. Tried 3 times of the providers [10.20.0.12:20880, 10.20.0.11:20880] (2/2) from the registry 10.20.9.5:2181 on the consumer 10.20.1.31 using the dubbo version 2.7.23. Last error is: Invoke remote method timeout. method: placeOrder, provider: dubbo://10.20.0.11:20880/com.acme.order.OrderService?application=checkout-web&side=consumer&timeout=1000, cause: org.apache.dubbo.remoting.TimeoutException: Waiting server-side response timeout by scan timer. start time: 2026-03-14 10:03:20.402, end time: 2026-03-14 10:03:21.415, client elapsed: 1 ms, server elapsed: 1012 ms, timeout: 1000 ms, request: Request [id=48213, version=2.0.2, twoway=true, event=false, broken=false, data=null], channel: /10.20.1.31:51022 -> /10.20.0.11:20880\n")
		} else {
			b.WriteString("payment refused\ncom.acme.shop.PaymentException: card declined\n")
		}
		for j := range 40 {
			fmt.Fprintf(&b, "\tat org.springframework.aop.framework.ReflectiveMethodInvocation.proceed%d(ReflectiveMethodInvocation.java:%d)\n", j, 100+j)
		}
	}
	return b.Bytes()
}

func BenchmarkAppLog(b *testing.B) {
	size := 256 << 20
	if testing.Short() {
		size = 8 << 20
	}
	data := syntheticLog(size)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		in := NewInput("app.log", bytes.NewReader(data))
		if err := Text(in, func(*evidence.Record) error { n++; return nil }); err != nil {
			b.Fatal(err)
		}
		if n == 0 {
			b.Fatal("nothing found")
		}
	}
}

// denseLog makes a log of nothing but failed Dubbo calls with their stack traces.
func denseLog(size int) []byte {
	const timeout = "org.apache.dubbo.remoting.TimeoutException: Waiting server-side response timeout by scan timer. start time: 2026-03-14 10:03:20.402, end time: 2026-03-14 10:03:21.415, client elapsed: 1 ms, server elapsed: 1012 ms, timeout: 1000 ms, request: Request [id=%d, version=2.0.2, twoway=true, event=false, broken=false, data=null], channel: /10.20.1.31:51022 -> /10.20.0.11:20880\n"
	const tried = "org.apache.dubbo.rpc.RpcException: Failed to invoke the method placeOrder in the service com.acme.order.OrderService. Tried 3 times of the providers [10.20.0.12:20880, 10.20.0.11:20880] (2/2) from the registry 10.20.9.5:2181 on the consumer 10.20.1.31 using the dubbo version 2.7.23. Last error is: Invoke remote method timeout. method: placeOrder, provider: dubbo://10.20.0.11:20880/com.acme.order.OrderService?application=checkout-web&side=consumer&timeout=1000, cause: "
	var b bytes.Buffer
	b.Grow(size + 8192)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "2026-03-14 09:%02d:%02d.%03d ERROR 4711 --- [nio-8080-exec-%d] c.acme.shop.order.OrderServiceImpl : place order failed\n", i/60000%60, i/1000%60, i%1000, i%200)
		if i%2 == 0 {
			b.WriteString(tried)
		}
		fmt.Fprintf(&b, timeout, i)
		for j := range 40 {
			fmt.Fprintf(&b, "\tat org.springframework.aop.framework.ReflectiveMethodInvocation.proceed%d(ReflectiveMethodInvocation.java:%d)\n", j, 100+j)
		}
	}
	return b.Bytes()
}

func BenchmarkDenseLog(b *testing.B) {
	data := denseLog(8 << 20)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		in := NewInput("app.log", bytes.NewReader(data))
		if err := Text(in, func(*evidence.Record) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMatcher(b *testing.B) {
	data := bytes.ReplaceAll(syntheticLog(4<<20), []byte("RpcException: Failed to"), []byte("Exception: Fail to"))
	b.SetBytes(int64(len(data)))
	m := signs()
	for b.Loop() {
		rest := data
		for {
			i := m.find(rest)
			if i < 0 {
				break
			}
			rest = rest[i+200:]
		}
	}
	b.ReportMetric(float64(len(m.literals)), "literals")
	b.ReportMetric(float64(len(m.short)), "short")
}
