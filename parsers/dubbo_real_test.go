package parsers

import (
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

// What Dubbo 2.7.23 and 3.3.5 printed in lab/java, shortened.

func lines(at string, messages ...string) string {
	var b strings.Builder
	for _, m := range messages {
		ms, m, _ := strings.Cut(m, " ")
		b.WriteString("2026-11-30 12:03:" + at + "." + ms + " WARN  [w-1] o.a.d.X -  [DUBBO] " + m + ", dubbo version: 2.7.23, current host: 10.20.1.31\n")
	}
	return b.String()
}

func TestDubboLateOnce(t *testing.T) {
	const (
		codec  = " The timeout response finally returned at 2026-11-30 12:03:12.808, response status is 20, response id is "
		decode = " Decode response failed: Failed to find any request match the response, response id: "
		future = " The timeout response finally returned at 2026-11-30 12:03:12.809, response status is 90"
		a, b   = ", channel: /10.20.1.31:37068 -> /10.20.0.11:20880, please check provider side for detailed result.", ", channel: /10.20.1.31:49650 -> /10.20.0.12:20880, please check provider side for detailed result."
		named  = ", channel: order-1/10.20.1.31:37068 -> sku-1/10.20.0.11:20880, please check provider side for detailed result."
	)
	for _, c := range []struct {
		name, text string
		want       string // ids of the late responses
	}{
		{"one response, three lines", lines("12", "808"+codec+"12"+a, "808"+decode+"12", "809"+future+a), "12"},
		{"and what 3.3.5 skipped of it", lines("12", "808"+codec+"-1103380066311104445"+a, "808"+decode+"-1103380066311104445", "809 Skip input stream 73", "809"+future+a), "-1103380066311104445"},
		{"two responses on a channel", lines("12", "808"+codec+"12"+a, "808"+codec+"13"+a, "809"+future+a, "811"+future+a), "12 13"},
		{"two channels", lines("12", "808"+codec+"12"+a, "808"+codec+"14"+b, "809"+future+b, "809"+future+a), "12 14"},
		{"the future's line came first", lines("12", "808"+future+a, "809"+codec+"12"+a), "?"},
		{"host names in one of them", lines("12", "808"+codec+"12"+named, "809"+future+a), "12"},
		{"only the future's lines were kept", lines("12", "808"+future+a, "809"+future+a), "? ?"},
		{"before the codec told", lines("12", "808 The timeout response finally returned at 2026-11-30 12:03:12.808, response status is 20"+a, "809"+codec+"12"+a), "? 12"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			err := Text(NewInput("order/app.log", strings.NewReader(c.text)), func(r *evidence.Record) error {
				if r.Attempt != nil && r.Attempt.Outcome == evidence.Late {
					id := r.Attempt.RequestID
					if id == "" {
						id = "?"
					}
					got = append(got, id)
				}
				return nil
			})
			if s := strings.Join(got, " "); err != nil || s != c.want {
				t.Errorf("late: %s, error %v; want %s", s, err, c.want)
			}
		})
	}
}

func TestDubboWordsInsideOthers(t *testing.T) {
	const (
		tried    = "Failed to invoke the method quote in the service a.Sku. Tried 3 times of the providers [10.20.0.11:20880] (1/1) from the registry 10.20.9.5:2181 on the consumer 10.20.1.31 using the dubbo version 3.3.5. Last error is: Failed to invoke remote method: quote, provider: dubbo://10.20.0.11:20880/a.Sku?side=consumer, cause: org.apache.dubbo.remoting.RemotingException: "
		response = "Failed to send response: Response [id=-1103380066311104445, version=2.0.2, status=20, event=false, error=null, result=AppResponse [value=null, exception=b.X: Server side(10.20.0.12,20880) thread pool is exhausted]], cause: java.io.IOException: "
		strict   = "[Serialization Security] Serialized class java.net.ConnectException is not in allow list. Current mode is `STRICT`, will disallow to deserialize it by default. Please add it into security/serialize.allowlist or follow FAQ to configure it.\n field: java.lang.Throwable.cause"
	)
	for _, c := range []struct{ name, text, outcome, why string }{
		{"the executes limit", tried + "org.apache.dubbo.rpc.RpcException: Failed to invoke method quote in provider dubbo://10.20.0.11:20880/a.Sku?executes=3&side=provider, cause: The service using threads greater than <dubbo:service executes=\"3\" /> limited.", "rejected", "executes limit"},
		{"an exception that may not be sent", tried + response + strict, "failed", "class is not in the serialization allow list"},
		{"an exception that cannot be read", tried + "com.alibaba.com.caucho.hessian.io.HessianFieldException: org.apache.dubbo.remoting.RemotingException.remoteAddress: java.net.InetSocketAddress:java.lang.ClassCastException: class java.util.HashMap cannot be cast to class java.net.InetAddress", "failed", "response could not be decoded"},
		{"a timeout of 3.3.5", strings.Replace(tried, "Failed to invoke remote method: quote", "Invoke remote method timeout. method: quote", 1) + "Timeout after 1500ms waiting for result.", "timeout", "timeout waiting for result"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got string
			text := "2026-11-30 12:03:12.808 ERROR [h-1] a.B - no quote\norg.apache.dubbo.rpc.RpcException: " + c.text + "\n\tat a.B.c(B.java:1)\n"
			err := Text(NewInput("order/app.log", strings.NewReader(text)), func(r *evidence.Record) error {
				switch {
				case r.Tries != nil:
					got += r.Tries.Outcome.String() + ": "
				case r.Attempt != nil:
					got += r.Attempt.Error
				case r.Pool != nil:
					got += "; pool " + r.Pool.Name
				}
				return nil
			})
			if want := c.outcome + ": " + c.why; err != nil || got != want {
				t.Errorf("got %s, error %v; want %s", got, err, want)
			}
		})
	}
}

func TestExceptionFilterTellsOfOneEvent(t *testing.T) {
	const (
		failed = "org.apache.dubbo.rpc.RpcException: Failed to invoke the method get in the service a.Sku. Tried 3 times of the providers [10.20.0.11:20880] (1/1) from the registry 10.20.9.5:2181 on the consumer 10.20.1.31 using the dubbo version 3.3.5. Last error is: Invoke remote method timeout. method: get, provider: dubbo://10.20.0.11:20880/a.Sku?x=1, cause: Timeout after 1000ms waiting for result."
		own    = "2026-11-30 12:03:12.808 ERROR [h-1] a.Order - no stock\n" + failed + "\n\tat a.B.c(B.java:1)\n"
		filter = "2026-11-30 12:03:12.990 ERROR [h-1] o.a.d.r.f.ExceptionFilter -  [DUBBO] Got unchecked and undeclared exception which called by 10.20.2.5. service: a.Order, method: place, exception: "
		tail   = ", dubbo version: 3.3.5, current host: 10.20.1.31, error code: 5-36. This may be caused by , go to https://dubbo.apache.org/faq/5/36 to find instructions. \n"
	)
	for _, c := range []struct {
		name, text string
		calls      int
	}{
		{"the service logged it", own + filter + failed + tail + failed + "\n\tat a.B.c(B.java:1)\n", 1},
		{"only the filter did", filter + failed + tail + failed + "\n\tat a.B.c(B.java:1)\n", 1},
		{"it is the cause of what was thrown", own + filter + "a.OrderException: no stock" + tail + "a.OrderException: no stock\n\tat a.B.c(B.java:1)\nCaused by: " + failed + "\n\t... 9 more\n", 1},
		{"another thread's", own + strings.ReplaceAll(filter, "[h-1]", "[h-2]") + failed + tail, 2},
		{"and another call that only the filter logged", own + filter + failed + tail + strings.Replace(filter, "12.990", "19.990", 1) + failed + tail, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := 0
			err := Text(NewInput("order/app.log", strings.NewReader(c.text)), func(r *evidence.Record) error {
				if r.Tries != nil {
					calls++
				}
				return nil
			})
			if err != nil || calls != c.calls {
				t.Errorf("%d calls, error %v; want %d", calls, err, c.calls)
			}
		})
	}
}

func TestDubboProfilerOf335(t *testing.T) {
	text := "2026-11-30 12:04:13.170 WARN  [h-1] o.a.d.r.p.InvokerInvocationHandler -  [DUBBO] [Dubbo-Consumer] execute service com.acme.shop.SkuService#getSkuStock cost 1015.781979 ms, this invocation almost (maybe already) timeout. Timeout: 1000ms\n" +
		"invocation context:\npath=com.acme.shop.SkuService;\ntraceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01;\nthread info: \nStart time: 13784160799070\n" +
		"+-[ Offset: 0.000000ms; Usage: 1015.781979ms, 100% ] Receive request. Client invoke begin. ServiceKey: com.acme.shop.SkuService MethodName:getSkuStock\n" +
		"  +-[ Offset: 0.413347ms; Usage: 1000.968162ms, 98% ] Invoker invoke. Target Address: 10.20.0.11:20880\n" +
		"  +-[ Offset: 1001.593820ms; Usage: 5.066808ms, 0% ] Invoker invoke. Target Address: 10.20.0.12:20880, dubbo version: 3.3.5, current host: 10.20.1.31\n" +
		"2026-11-30 12:04:14.170 WARN  [h-2] o.a.d.r.filter.ProfilerServerFilter -  [DUBBO] [Dubbo-Provider] execute service com.acme.shop.OrderService:0.0.0#stock cost 1020.284602 ms, this invocation almost (maybe already) timeout. Timeout: 1000ms\n" +
		"client: 10.20.2.5:33272\ninvocation context:\npath=com.acme.shop.OrderService;\nthread info: \nStart time: 13784164160143\n" +
		"+-[ Offset: 0.000000ms; Usage: 1020.284602ms, 100% ] Receive request. Server invoke begin.\n" +
		"  +-[ Offset: 0.214322ms; Usage: 1019.719963ms, 99% ] Receive request. Server biz impl invoke begin.\n" +
		"    +-[ Offset: 1.000000ms; Usage: 1015.781979ms, 99% ] Receive request. Client invoke begin. ServiceKey: com.acme.shop.SkuService MethodName:getSkuStock\n" +
		"      +-[ Offset: 1.413347ms; Usage: 1000.968162ms, 98% ] Invoker invoke. Target Address: 10.20.0.11:20880\n" +
		"      +-[ Offset: 1002.593820ms; Usage: 5.066808ms, 0% ] Invoker invoke. Target Address: 10.20.0.12:20880, dubbo version: 3.3.5, current host: 10.20.1.31\n"
	var got []string
	err := Text(NewInput("order/app.log", strings.NewReader(text)), func(r *evidence.Record) error {
		if r.Tries != nil {
			got = append(got, r.Tries.Service+"."+r.Tries.Method+" "+strings.Repeat("x", r.Tries.Attempts)+" "+r.Trace)
		}
		if r.Attempt != nil {
			got = append(got, "served "+r.Attempt.Service+"."+r.Attempt.Method+" "+r.Attempt.Outcome.String())
		}
		return nil
	})
	want := "com.acme.shop.SkuService.getSkuStock xx 4bf92f3577b34da6a3ce929d0e0e4736; served com.acme.shop.OrderService.stock late; com.acme.shop.SkuService.getSkuStock xx "
	if s := strings.Join(got, "; "); err != nil || s != want {
		t.Errorf("got %s, error %v\nwant %s", s, err, want)
	}
}

func TestDubboRouterThatPassedOn(t *testing.T) {
	const node = "(Input: 2) (Current Node Output: 0) (Chain Node Output: 0) Router message: "
	tree := "[ Parent (Input: 2) (Current Node Output: 2) (Chain Node Output: 0) ] Input: 10.20.0.11:20880,10.20.0.12:20880 -> Chain Node Output: Empty\n" +
		"  [ TagStateRouter " + node + "Disable Tag Router. Reason: tagRouterRule is invalid or disabled ] Current Node Output: Empty\n" +
		"    [ AppScriptStateRouter " + node + "Directly return from script router. Reason: Invokers from previous router is empty or script is not enabled. Script rule is: null ] Current Node Output: Empty\n"
	for _, c := range []struct{ name, text string }{
		{"logged", "2026-11-30 12:03:12.808 WARN  [h-1] o.a.d.X -  [DUBBO] No provider available after route for the service a.Sku from registry 10.20.9.5 on the consumer 10.20.1.31 using the dubbo version 3.3.5. Router snapshot is below: \n" + tree},
		{"asked for", "1773483632009 - No provider available after route for the service a.Sku from registry 10.20.9.5 on the consumer 10.20.1.31 using the dubbo version 3.3.5. Router snapshot is below: \n" + tree},
	} {
		var got string
		err := Text(NewInput("order/app.log", strings.NewReader(c.text)), func(r *evidence.Record) error {
			if r.Route != nil {
				got += r.Route.Service + " " + r.Route.Culprit + ": " + r.Route.Message
			}
			return nil
		})
		if want := "a.Sku TagStateRouter: Disable Tag Router. Reason: tagRouterRule is invalid or disabled"; err != nil || got != want {
			t.Errorf("%s: %s, error %v; want %s", c.name, got, err, want)
		}
	}
}

func TestDubboLogsWhatQosAnswered(t *testing.T) {
	text := "2026-11-30 11:45:21.700 INFO  [qos-worker-3-3] o.a.d.q.c.DefaultCommandExecutor -  [DUBBO] [Dubbo QoS] Command Process success. Command: getRouterSnapshot, Args: [com.acme.shop.SkuService], Result: com.acme.shop.SkuService@587a5932\n[ All Invokers:2 ] [ Valid Invokers: 2 ]\n\nMockInvokersSelector  Total: 2\n"
	var got string
	err := Text(NewInput("order/app.log", strings.NewReader(text)), func(r *evidence.Record) error {
		if r.Route != nil {
			got += r.Route.Service
		}
		return nil
	})
	if err != nil || got != "com.acme.shop.SkuService" {
		t.Errorf("%q, error %v", got, err)
	}
}
