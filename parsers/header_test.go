package parsers

import (
	"strings"
	"testing"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

func TestHeaders(t *testing.T) {
	const z = "2026-03-14T09:12:33.123Z"
	tests := []struct {
		name, line                               string
		time, level, logger, thread, trace, text string
		app                                      string
		zoned                                    bool
	}{
		{name: "Spring Boot 2", line: "2026-03-14 09:12:33.123  WARN 4711 --- [io-8080-exec-12] c.a.shop.payments.PaymentGatewayClient   : slow [x] - y", time: z, level: "WARN", logger: "c.a.shop.payments.PaymentGatewayClient", thread: "io-8080-exec-12", text: "slow [x] - y"},
		{name: "Spring Boot 3.0", line: "2026-03-14T10:12:33.123+01:00  WARN 4711 --- [main] c.a.Client : msg", time: z, zoned: true, level: "WARN", logger: "c.a.Client", thread: "main", text: "msg"},
		{name: "Spring Boot 3.2", line: "2026-03-14T09:12:33.123Z  INFO 1 --- [shop-api] [nio-8080-exec-1] [4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7] c.a.Client : msg", time: z, zoned: true, level: "INFO", logger: "c.a.Client", thread: "nio-8080-exec-1", app: "shop-api", trace: "4bf92f3577b34da6a3ce929d0e0e4736", text: "msg"},
		{name: "Spring Boot 3.2 without ids", line: "2026-03-14T09:12:33.123Z  INFO 1 --- [shop-api] [nio-8080-exec-1] [                                                 ] c.a.Client : msg", time: z, zoned: true, level: "INFO", logger: "c.a.Client", thread: "nio-8080-exec-1", app: "shop-api", text: "msg"},
		{name: "Spring Boot 3.2 without app", line: "2026-03-14T09:12:33.123Z  INFO 1 --- [nio-8080-exec-1] [                                                 ] c.a.Client : msg", time: z, zoned: true, level: "INFO", logger: "c.a.Client", thread: "nio-8080-exec-1", text: "msg"},
		{name: "Sleuth", line: "2026-03-14 09:12:33.123  WARN [order,4bf92f3577b34da6a3ce929d0e0e4736,00f067aa0ba902b7,true] 4711 --- [exec-1] c.a.Client : msg", time: z, level: "WARN", logger: "c.a.Client", thread: "exec-1", app: "order", trace: "4bf92f3577b34da6a3ce929d0e0e4736", text: "msg"},
		{name: "logback default", line: "09:12:33.123 [http-nio-8080-exec-12] WARN c.a.Client - msg", time: "2026-03-14T09:12:33.123Z", level: "WARN", logger: "c.a.Client", thread: "http-nio-8080-exec-12", text: "msg"},
		{name: "logback pattern", line: "2026-03-14 09:12:33,123 [New I/O server worker #1-3] WARN  com.alibaba.dubbo.common.threadpool.support.AbortPolicyWithReport -  [DUBBO] Thread pool", time: z, level: "WARN", logger: "com.alibaba.dubbo.common.threadpool.support.AbortPolicyWithReport", thread: "New I/O server worker #1-3", text: "[DUBBO] Thread pool"},
		{name: "log4j 1", line: "2026-03-14 09:12:33,123 INFO  [thread] com.acme.Logger (File.java:12) - msg", time: z, level: "INFO", logger: "com.acme.Logger", thread: "thread", text: "msg"},
		{name: "brackets", line: "[2026-03-14 09:12:33.123][ERROR][main][com.acme.Main] msg", time: z, level: "ERROR", thread: "main", logger: "com.acme.Main", text: "msg"},
		{name: "brackets with trace", line: "[2026-03-14 09:12:33.123] [ERROR] [main] [TID: a1b2c3] com.acme.Main - msg", time: z, level: "ERROR", thread: "main", logger: "com.acme.Main", trace: "a1b2c3", text: "msg"},
		{name: "pipes", line: "2026-03-14 09:12:33.123|INFO|main|com.acme.Main|msg", time: z, level: "INFO", logger: "main", text: "com.acme.Main|msg"},
		{name: "level first", line: "ERROR 2026-03-14 09:12:33,123 [main] com.acme.Main - msg", time: z, level: "ERROR", logger: "com.acme.Main", thread: "main", text: "msg"},
		{name: "bracketed level first", line: "[WARN] 2026-03-14 09:12:33.123 [main] com.acme.Main: msg", time: z, level: "WARN", logger: "com.acme.Main", thread: "main", text: "msg"},
		{name: "level alone", line: "[ERROR] com.acme.Main - msg", level: "ERROR", logger: "com.acme.Main", text: "msg"},
		{name: "Tomcat", line: "14-Mar-2026 09:12:33.123 WARNING [main] org.apache.catalina.core.X.start msg here", time: z, level: "WARN", logger: "org.apache.catalina.core.X.start", thread: "main", text: "msg here"},
		{name: "WildFly", line: "2026-03-14 09:12:33,123 WARN  [com.acme.Main] (default task-3) msg", time: z, level: "WARN", logger: "com.acme.Main", thread: "default task-3", text: "msg"},
		{name: "java.util.logging", line: "Mar 14, 2026 9:12:33 AM com.acme.shop.Client send", time: "2026-03-14T09:12:33Z", text: "com.acme.shop.Client send"},
		{name: "java.util.logging, JDK 20", line: "Mar 14, 2026, 9:12:33\u202fPM com.acme.shop.Client send", time: "2026-03-14T21:12:33Z", text: "com.acme.shop.Client send"},
		{name: "java.util.logging, Chinese", line: "三月 14, 2026 9:12:33 下午 com.acme.shop.Client send", time: "2026-03-14T21:12:33Z", text: "com.acme.shop.Client send"},
		{name: "Python", line: "2026-03-14 09:12:33,123 WARNING shop.client retrying", time: z, level: "WARN", logger: "shop.client", text: "retrying"},
		{name: "Python dashes", line: "2026-03-14 09:12:33,123 - shop.client - WARNING - retrying", time: z, level: "WARN", logger: "shop.client", text: "retrying"},
		{name: "Python basic", line: "WARNING:shop.client:retrying", level: "WARN", text: "shop.client:retrying"},
		{name: "klog", line: "W0314 09:12:33.123456       1 file.go:12] msg", time: "2026-03-14T09:12:33.123456Z", level: "WARN", logger: "file.go:12", text: "msg"},
		{name: "syslog", line: "Mar 14 09:12:33 web1 shop[12]: msg", time: "2026-03-14T09:12:33Z", text: "web1 shop[12]: msg"},
		{name: "syslog 5424", line: "<14>1 2026-03-14T10:12:33.123+01:00 web1 shop 12 - - msg", time: z, zoned: true},
		{name: "dubbo-go", line: "2026-03-14 09:12:33\tERROR\tfailover/cluster_invoker.go:106\tmsg x", time: "2026-03-14T09:12:33Z", level: "ERROR", logger: "failover/cluster_invoker.go", text: "msg x"},
		{name: "zap development", line: "2026-03-14T09:12:33.123Z\tWARN\tshop/client.go:10\tmsg\t{\"k\": 1}", time: z, zoned: true, level: "WARN", logger: "shop/client.go", text: "msg\t{\"k\": 1}"},
		{name: "zap development with offset", line: "2026-03-14T17:12:33.123+0800\tWARN\tshop/client.go:10\tmsg", time: z, zoned: true, level: "WARN", logger: "shop/client.go", text: "msg"},
		{name: "slog text", line: `time=2026-03-14T09:12:33.123Z level=WARN msg=retrying attempt=2 err="x y"`, time: z, zoned: true, level: "WARN"},
		{name: "logrus", line: `time="2026-03-14T09:12:33Z" level=warning msg="x" trace_id=4bf92f3577b34da6a3ce929d0e0e4736`, time: "2026-03-14T09:12:33Z", zoned: true, level: "WARN", trace: "4bf92f3577b34da6a3ce929d0e0e4736"},
		{name: "Go log", line: "2026/03/14 09:12:33 INFO msg k=v", time: "2026-03-14T09:12:33Z", level: "INFO", text: "msg k=v"},
		{name: "Go log with file", line: "2026/03/14 09:12:33.123456 main.go:12: msg", time: "2026-03-14T09:12:33.123456Z", logger: "main.go", text: "msg"},
		{name: "epoch", line: "1773479553123 ERROR [main] com.acme.Main - msg", time: "2026-03-14T09:12:33.123Z", zoned: true, level: "ERROR", logger: "com.acme.Main", thread: "main", text: "msg"},
		{name: "German", line: "14.03.2026 09:12:33,123 ERROR com.acme.Main - msg", time: z, level: "ERROR", logger: "com.acme.Main", text: "msg"},
		{name: "weekday", line: "Sat Mar 14 09:12:33 2026 ERROR com.acme.Main - msg", time: "2026-03-14T09:12:33Z", level: "ERROR", logger: "com.acme.Main", text: "msg"},
		{name: "two-letter offset", line: "2026-03-14T10:12:33.123+01 ERROR com.acme.Main - msg", time: z, zoned: true, level: "ERROR", logger: "com.acme.Main", text: "msg"},
		{name: "MDC", line: "2026-03-14 09:12:33.123 [main] [traceId=4bf92f3577b34da6a3ce929d0e0e4736, spanId=00f067aa0ba902b7] ERROR com.acme.Main - msg", time: z, level: "ERROR", logger: "com.acme.Main", thread: "main", trace: "4bf92f3577b34da6a3ce929d0e0e4736", text: "msg"},
		{name: "no year", line: "03-14 09:12:33.123 ERROR com.acme.Main - msg", time: z, level: "ERROR", logger: "com.acme.Main", text: "msg"},
		{name: "logstash", line: `{"@timestamp":"2026-03-14T10:12:33.123+01:00","@version":"1","message":"a\nb","logger_name":"com.acme.Main","thread_name":"main","level":"ERROR","level_value":40000,"stack_trace":"x.Y: z\n\tat a.b(C.java:1)\n","traceId":"4bf92f3577b34da6a3ce929d0e0e4736"}`, time: z, zoned: true, level: "ERROR", logger: "com.acme.Main", thread: "main", trace: "4bf92f3577b34da6a3ce929d0e0e4736", text: "a\nb\nx.Y: z\n\tat a.b(C.java:1)"},
		{name: "ECS flat", line: `{"@timestamp":"2026-03-14T09:12:33.123Z","log.level":"WARN","message":"m","service.name":"shop","process.thread.name":"main","log.logger":"com.acme.Main","error.type":"x.Y","error.message":"z","error.stack_trace":"x.Y: z\n\tat a"}`, time: z, zoned: true, level: "WARN", logger: "com.acme.Main", thread: "main", app: "shop"},
		{name: "ECS nested", line: `{"@timestamp":"2026-03-14T09:12:33.123Z","log":{"level":"WARN","logger":"com.acme.Main"},"process":{"pid":1,"thread":{"name":"main"}},"service":{"name":"shop"},"message":"m","trace":{"id":"4bf92f3577b34da6a3ce929d0e0e4736"}}`, time: z, zoned: true, level: "WARN", logger: "com.acme.Main", thread: "main", app: "shop", trace: "4bf92f3577b34da6a3ce929d0e0e4736", text: "m"},
		{name: "log4j2", line: `{"instant":{"epochSecond":1773479553,"nanoOfSecond":123000000},"thread":"main","level":"ERROR","loggerName":"com.acme.Main","message":"m","thrown":{"commonElementCount":0,"message":"z","name":"x.Y","extendedStackTrace":"x.Y: z\n\tat a"},"endOfBatch":false}`, time: z, zoned: true, level: "ERROR", logger: "com.acme.Main", thread: "main"},
		{name: "GELF", line: `{"version":"1.1","host":"web1","short_message":"m","full_message":"m\nx.Y: z","timestamp":1773479553.123,"level":4,"_logger":"com.acme.Main","_thread_name":"main"}`, time: z, zoned: true, level: "WARN", logger: "com.acme.Main", thread: "main", text: "m\nx.Y: z"},
		{name: "slog JSON", line: `{"time":"2026-03-14T09:12:33.123Z","level":"WARN","msg":"m","attempt":2}`, time: z, zoned: true, level: "WARN", text: "m\nattempt=2"},
		{name: "zap JSON", line: `{"level":"error","ts":1773479553.123,"caller":"a/b.go:1","msg":"m","error":"e","errorVerbose":"e\nmain.main"}`, time: z, zoned: true, level: "ERROR", logger: "a/b.go:1", text: "m\ne\ne\nmain.main"},
		{name: "zerolog", line: `{"level":"warn","time":1773479553,"message":"m"}`, time: "2026-03-14T09:12:33Z", zoned: true, level: "WARN", text: "m"},
		{name: "pino", line: `{"level":50,"time":1773479553123,"pid":1,"hostname":"web1","msg":"m","err":{"type":"E","message":"z","stack":"E: z\n at a"}}`, time: z, zoned: true, level: "ERROR"},
		{name: "GCP", line: `{"severity":"WARNING","timestamp":"2026-03-14T09:12:33.123Z","jsonPayload":{"message":"m"},"logging.googleapis.com/trace":"projects/p/traces/4bf92f3577b34da6a3ce929d0e0e4736"}`, time: z, zoned: true, level: "WARN", trace: "4bf92f3577b34da6a3ce929d0e0e4736", text: "m"},
		{name: "Kibana", line: `{"_index":"x","_source":{"@timestamp":"2026-03-14T09:12:33.123Z","level":"WARN","message":"m"}}`, time: z, zoned: true, level: "WARN"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := NewInput("app.log", strings.NewReader(""))
			in.Hint.Modified = fixtureModified
			l := newLogReader(in, nil)
			var h header
			if !h.parse([]byte(tt.line)) {
				t.Fatal("no header found")
			}
			var s logStream
			l.begin(&s, []byte(tt.line), 1, &h, time.Time{})
			r := &s.rec
			check := func(what, got, want string) {
				if got != want {
					t.Errorf("%s: got %q, want %q", what, got, want)
				}
			}
			when := ""
			if !r.Time.IsZero() {
				when = r.Time.Format(time.RFC3339Nano)
			}
			check("time", when, tt.time)
			check("level", r.Level, tt.level)
			check("logger", r.Logger, tt.logger)
			check("thread", r.Thread, tt.thread)
			check("trace", r.Trace, tt.trace)
			check("app", r.App, tt.app)
			if tt.text != "" {
				check("text", string(r.Text), tt.text)
			}
			if tt.time != "" && (r.Zoned == evidence.Yes) != tt.zoned {
				t.Errorf("zoned: got %v", r.Zoned)
			}
		})
	}
}

func TestNoHeaders(t *testing.T) {
	for _, line := range []string{
		"\tat com.acme.shop.Client.send(Client.java:12)",
		"Caused by: java.io.IOException: x",
		"java.lang.IllegalStateException: pool OrdersPool",
		"second line of a message",
		"",
		"   ",
		"{\"sku\": \"S-7\"}",
		"\t... 12 more",
		"+-[ Offset: 0.000000ms; Usage: 3012.004511ms, 100% ] Receive request.",
		"[ Parent (Input: 6) (Current Node Output: 6) (Chain Node Output: 2) ] Input: 10.20.0.11:20880",
		"path=com.example.order.api.OrderService;",
		"Start time: 218070703971458",
		"ErrorCode 2003",
	} {
		var h header
		if h.parse([]byte(line)) {
			t.Errorf("%q is taken for a header: %+v", line, h)
		}
	}
}
