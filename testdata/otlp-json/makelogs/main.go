// Makelogs writes the samples logs-*.jsonl here and logs-*.binpb in
// ../otlp-proto, by the encoders of the Collector's file exporter:
//
//	go run ./testdata/otlp-json/makelogs
package main

import (
	"encoding/binary"
	"os"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

const start = 1773479553_000_000_000 // 2026-03-14 09:12:33 UTC

func main() {
	write("logs-filelog-spring-boot-3", filelog("testdata/app-log/dubbo-3.2.16-spring-boot-3.log"))
	write("logs-java-agent-appenders", appenders())
	write("logs-journald-and-k8s", others())
}

func write(name string, requests []plog.Logs) {
	var lines, frames []byte
	for _, r := range requests {
		line, err := (&plog.JSONMarshaler{}).MarshalLogs(r)
		check(err)
		lines = append(append(lines, line...), '\n')
		frame, err := (&plog.ProtoMarshaler{}).MarshalLogs(r)
		check(err)
		frames = append(binary.BigEndian.AppendUint32(frames, uint32(len(frame))), frame...)
	}
	check(os.WriteFile("testdata/otlp-json/"+name+".jsonl", lines, 0o644))
	check(os.WriteFile("testdata/otlp-proto/"+name+".binpb", frames, 0o644))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// request begins a request of one process.
func request(attributes ...string) (plog.Logs, plog.ResourceLogs) {
	logs := plog.NewLogs()
	r := logs.ResourceLogs().AppendEmpty()
	for i := 0; i < len(attributes); i += 2 {
		r.Resource().Attributes().PutStr(attributes[i], attributes[i+1])
	}
	return logs, r
}

// filelog is a log as the filelog receiver reads it without operators: a record
// a line, stack traces too, a hundred to a request.
func filelog(path string) (all []plog.Logs) {
	text, err := os.ReadFile(path)
	check(err)
	var records plog.LogRecordSlice
	for n, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if n%100 == 0 {
			logs, r := request("service.name", "checkout", "k8s.pod.name", "checkout-7f9c8d6b5-x2x4z")
			all = append(all, logs)
			records = r.ScopeLogs().AppendEmpty().LogRecords()
		}
		r := records.AppendEmpty()
		r.SetObservedTimestamp(pcommon.Timestamp(start + n*200_000))
		r.Body().SetStr(strings.TrimSuffix(line, "\r"))
		r.Attributes().PutStr("log.file.name", "checkout.log")
	}
	return all
}

// appenders is what the Java agent's logback appender sends.
func appenders() []plog.Logs {
	logs, order := request("service.name", "order", "service.instance.id", "order-1", "telemetry.distro.name", "opentelemetry-java-instrumentation")
	n := 0
	add := func(to plog.ResourceLogs, logger string, severity plog.SeverityNumber, body string, attributes ...string) {
		n++
		s := to.ScopeLogs().AppendEmpty()
		s.Scope().SetName(logger)
		r := s.LogRecords().AppendEmpty()
		r.SetTimestamp(pcommon.Timestamp(start + n*250_000_000))
		r.SetObservedTimestamp(pcommon.Timestamp(start + n*250_000_000 + 90_000))
		r.SetSeverityNumber(severity)
		r.SetSeverityText(map[plog.SeverityNumber]string{9: "INFO", 13: "WARN", 17: "ERROR"}[severity])
		r.Body().SetStr(body)
		r.SetTraceID(pcommon.TraceID{0x5b, 0x8e, 0xff, 0xf7, 0x98, 0x03, 0x81, 0x03, 0xd2, 0x69, 0xb6, 0x33, 0x81, 0x3f, 0xc6, byte(n)})
		r.SetSpanID(pcommon.SpanID{0xee, 0xe1, 0x9b, 0x7e, 0xc3, 0xc1, 0xb1, byte(n)})
		for i := 0; i < len(attributes); i += 2 {
			r.Attributes().PutStr(attributes[i], attributes[i+1])
		}
	}
	const exhausted = "Failed to invoke the method getSkuStock in the service com.acme.shop.SkuService. Tried 3 times of the providers [10.20.4.10:20880, 10.20.4.11:20880] (2/2) from the registry 10.20.9.5:2181 on the consumer 10.20.3.10 using the dubbo version 3.2.16. Last error is: Invoke remote method timeout. method: getSkuStock, provider: DefaultServiceInstance{serviceName='product', host='10.20.4.10', port=20880}, cause: org.apache.dubbo.remoting.TimeoutException: Waiting server-side response timeout by scan timer. start time: 2026-03-14 09:12:32.750, end time: 2026-03-14 09:12:33.760, client elapsed: 1 ms, server elapsed: 1009 ms, timeout: 1000 ms, request: Request [id=4711, version=2.0.2, twoWay=true, event=false, broken=false, mPayload=0], channel: /10.20.3.10:51022 -> /10.20.4.10:20880"
	add(order, "com.acme.order.StockFacade", 17, "stock of SKU-77 is not known",
		"exception.type", "org.apache.dubbo.rpc.RpcException", "exception.message", exhausted,
		"exception.stacktrace", "org.apache.dubbo.rpc.RpcException: "+exhausted+"\n\tat org.apache.dubbo.rpc.cluster.support.FailoverClusterInvoker.doInvoke(FailoverClusterInvoker.java:115)\n\tat com.acme.order.StockFacade.stockOf(StockFacade.java:41)\nCaused by: java.util.concurrent.TimeoutException: Waiting server-side response timeout\n\t... 12 more\n",
		"thread.name", "DubboServerHandler-10.20.3.10:20881-thread-7")
	add(order, "com.acme.order.StockFacade", 9, "asked for SKU-78", "thread.name", "DubboServerHandler-10.20.3.10:20881-thread-8")
	product := logs.ResourceLogs().AppendEmpty()
	product.Resource().Attributes().PutStr("service.name", "product")
	product.Resource().Attributes().PutStr("host.name", "product-2")
	add(product, "org.apache.dubbo.common.threadpool.support.AbortPolicyWithReport", 13, " [DUBBO] Thread pool is EXHAUSTED! Thread Name: DubboServerHandler-10.20.4.11:20880, Pool Size: 200 (active: 200, core: 200, max: 200, largest: 200), Task: 845213 (completed: 845013), Executor status:(isShutdown:false, isTerminated:false, isTerminating:false), in dubbo://10.20.4.11:20880!, dubbo version: 3.2.16, current host: 10.20.4.11, error code: 0-1. This may be caused by too much client requesting provider, go to https://dubbo.apache.org/faq/0/1 to find instructions. ",
		"thread.name", "NettyServerWorker-5-3")
	add(product, "com.acme.shop.SkuServiceImpl", 17, "cannot read the stock",
		"exception.type", "org.springframework.jdbc.CannotGetJdbcConnectionException",
		"exception.message", "Failed to obtain JDBC Connection",
		"exception.stacktrace", "org.springframework.jdbc.CannotGetJdbcConnectionException: Failed to obtain JDBC Connection\n\tat com.acme.shop.StockMapper.find(StockMapper.java:19)\nCaused by: java.sql.SQLTransientConnectionException: StockPool - Connection is not available, request timed out after 30001ms (total=10, active=10, idle=0, waiting=57)\n\tat com.zaxxer.hikari.pool.HikariPool.createTimeoutException(HikariPool.java:686)\n\t... 40 more\n")
	return []plog.Logs{logs}
}

// others is what the journald receiver and the container operator make of a line.
func others() []plog.Logs {
	unit, r := request("host.name", "gw-1")
	record := r.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	record.SetTimestamp(start + 5_000_000_000)
	body := record.Body().SetEmptyMap()
	body.PutStr("MESSAGE", "HikariPool-1 - Connection is not available, request timed out after 30000ms.")
	body.PutStr("PRIORITY", "4")
	body.PutStr("_SYSTEMD_UNIT", "gateway.service")
	pod, r := request("k8s.deployment.name", "stock", "k8s.pod.name", "stock-6d9f7c5b8d-qq2tz", "k8s.container.name", "app")
	records := r.ScopeLogs().AppendEmpty().LogRecords()
	for k, line := range []string{
		"2026-03-14 09:12:39.100 ERROR 1 --- [nio-8080-exec-3] c.a.s.StockController : no stock",
		"java.sql.SQLTransientConnectionException: StockPool - Connection is not available, request timed out after 3000ms (total=4, active=4, idle=0, waiting=9)",
		"\tat com.zaxxer.hikari.pool.HikariPool.createTimeoutException(HikariPool.java:696)",
	} {
		record := records.AppendEmpty()
		record.SetTimestamp(pcommon.Timestamp(start + 6_100_000_000 + k*1000))
		record.Body().SetStr(line)
		record.Attributes().PutStr("log.iostream", "stdout")
		record.Attributes().PutStr("logtag", "F")
		record.Attributes().PutStr("log.file.path", "/var/log/pods/shop_stock-6d9f7c5b8d-qq2tz_1/app/0.log")
	}
	return []plog.Logs{unit, pod}
}
