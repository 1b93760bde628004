package parsers

import (
	"strings"
	"testing"
)

// Each case is one record; the header is put before it.
func TestDubboMessages(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"connection refused", "Failed to invoke remote method: place, provider: dubbo://10.20.0.11:20880/a.B?side=consumer, cause: client(url: dubbo://10.20.0.11:20880/a.B) failed to connect to server /10.20.0.11:20880, error message is:Connection refused: /10.20.0.11:20880", "attempt place unreachable last=false"},
		{"a timeout that is only logged", "Waiting server-side response timeout. start time: 2026-03-14 09:12:32.000, end time: 2026-03-14 09:12:33.000, client elapsed: 0 ms, server elapsed: 1000 ms, timeout: 1000 ms, request: Request [id=7, version=2.0.2, twoway=true, event=false, broken=false, data=null], channel: /10.20.1.31:51022 -> /10.20.0.11:20880", "attempt  timeout last=false"},
		{"a timeout that only its request names", "Waiting server-side response timeout. start time: 2026-03-14 09:12:32.000, end time: 2026-03-14 09:12:33.000, client elapsed: 0 ms, server elapsed: 1000 ms, timeout: 1000 ms, request: Request [id=7, version=2.0.2, twoway=true, event=false, broken=false, data=RpcInvocation [methodName=place, parameterTypes=[class java.lang.String], arguments=[a=b, interface=c.D], attachments={path=a.B, input=240, interface=a.B, version=1.0}]], channel: /10.20.1.31:51022 -> /10.20.0.11:20880", "attempt place timeout last=false"},
		{"triple's own words", "DEADLINE_EXCEEDED : Waiting server-side response timeout by scan timer. start time: 2026-03-14 09:12:32.000, end time: 2026-03-14 09:12:35.000, timeout: 3000 ms, service: a.B, method: place", "attempt place timeout last=false"},
		{"no cause", "Invoke remote method timeout. method: place, provider: dubbo://10.20.0.11:20880/a.B?x=1, cause: null", "attempt place timeout last=false"},
		{"registry text with commas", "Failed to invoke the method place in the service a.B. Tried 2 times of the providers [10.20.0.11:20880] (1/4) from the registry RegistryDirectory(registry: 10.20.9.5:2181)-Directory(invokers: 5[10.20.0.11:20880, 10.20.0.12:20880, 10.20.0.13:20880], validInvokers: 4[10.20.0.11:20880, 10.20.0.12:20880, 10.20.0.13:20880], invokersToReconnect: 1[10.20.0.15:20880]) on the consumer 10.20.1.31 using the dubbo version 3.2.9. Last error is: Invoke remote method timeout. method: place, provider: dubbo://10.20.0.11:20880/a.B?x=1, cause: null", "tries place 2 timeout|attempt place timeout last=true|policy|route a.B empty=false"},
		{"failback", " [DUBBO] Failback to invoke method place, wait for retry in background. Ignored exception: Failed to invoke remote method: place, provider: dubbo://10.20.0.11:20880/a.B?x=1, cause: message can not send, because channel is closed . url:dubbo://10.20.0.11:20880/a.B, , dubbo version: 2.7.8, current host: 10.20.1.31", "tries place 1 unreachable|attempt place unreachable last=true"},
		{"failback gives up", " [DUBBO] Failed retry times exceed threshold (3), We have to abandon, invocation->RpcInvocation [methodName=place, x], dubbo version: 2.7.8, current host: 10.20.1.31", "policy"},
		{"forking", "Failed to forking invoke provider [interface a.B -> dubbo://10.20.0.11:20880/a.B?x=1], but no luck to perform the invocation. Last error is: Invoke remote method timeout. method: place, provider: dubbo://10.20.0.11:20880/a.B?x=1, cause: null", "tries place -1 timeout|attempt place timeout last=true"},
		{"start-up check", "java.lang.IllegalStateException: Failed to check the status of the service a.B. No provider available for the service a.B from the url zookeeper://10.20.9.5:2181/x to the consumer 10.20.1.31 use dubbo version 2.7.8", "mark deploy"},
		{"blocklist", " [DUBBO] The current consumer in the service blocklist. consumer: 10.20.1.31, service: a.B:1.0, dubbo version: 3.2.16, current host: 10.20.1.31", "route a.B empty=true"},
		{"shutdown hook", " [DUBBO] Run shutdown hook now., dubbo version: 2.7.8, current host: 10.20.1.31", "mark deploy"},
		{"dump failed", " [DUBBO] dump jStack error, dubbo version: 3.2.16, current host: 10.20.0.11", "mark dump.failed"},
		{"answer that nobody took", " [DUBBO] Send result to consumer failed, channel is HeaderExchangeChannel{channel=NettyChannel [channel=[id: 0x1, L:/10.20.0.11:20880 - R:/10.20.1.31:51022]]}, msg is x, dubbo version: 2.7.8, current host: 10.20.0.11", "attempt  cancelled last=false"},
		{"a refusal, and another exception pasted under it", " [DUBBO] Thread pool is EXHAUSTED! Thread Name: DubboServerHandler-10.20.0.11:20880, Pool Size: 200 (active: 200, core: 200, max: 200, largest: 200), Task: 300 (completed: 100), Executor status:(isShutdown:false, isTerminated:false, isTerminating:false), in dubbo://10.20.0.11:20880!, dubbo version: 3.2.16, current host: 10.20.0.11\norg.apache.dubbo.rpc.RpcException: Failed to invoke the method place in the service a.B. Tried 3 times of the providers [10.20.0.11:20880] (1/1) from the registry 10.20.9.5:2181 on the consumer 10.20.1.31 using the dubbo version 3.2.16. Last error is: Invoke remote method timeout. method: place, provider: dubbo://10.20.0.11:20880/a.B?x=1, cause: null", "pool DubboServerHandler-10.20.0.11:20880 relayed=false shutdown=false|2 09:12:33.123 tries place 3 timeout|2 09:12:33.123 attempt place timeout last=true|2 09:12:33.123 policy"},
		{"nothing but the words", "see FAQ: Thread pool is EXHAUSTED! means that", ""},
		{"other software", "Tried 3 times of the providers, giving up", ""},
		{"source code", `throw new RpcException("Failed to invoke the method " + method + " in the service " + name + ". Tried " + len + " times")`, ""},
		{"a configuration", "rule: message contains 'Invoke remote method timeout. method: '", ""},
		{"a profiler's words", "this invocation almost (maybe already) timeout", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := said(t, NewInput("app.log", strings.NewReader("2026-03-14 09:12:33.123  WARN 1 --- [main] a.B : "+tt.text+"\n")))
			for i := range got {
				got[i] = strings.TrimPrefix(got[i], "1 09:12:33.123 ")
			}
			if s := strings.Join(got, "|"); s != tt.want {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
		})
	}
}
