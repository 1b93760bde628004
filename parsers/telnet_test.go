package parsers

import "testing"

func TestQosLookAlikes(t *testing.T) {
	for line, want := range map[string]qosLine{
		"elapsed: 12 ms.":                                qosElapsed,
		"elapsed: 12 ms.\r":                              qosElapsed,
		"elapsed: 12 ms":                                 qosNone,
		"elapsed: twelve ms.":                            qosNone,
		"dubbo>elapsed: 12 ms.":                          qosPrompt,
		"query done, elapsed: 5 ms.":                     qosNone,
		"2026-03-14 10:20:31 INFO elapsed: 12 ms.":       qosNone,
		"2026-03-14 10:20:31 INFO Pool status:OK, max:1": qosNone,
		"Pool status:OK, max:200, core:200, largest:3, active:0, task:9, service port: 20880": qosPools,
		"| method | path | status | x | y | z |":                                              qosNone,
	} {
		if got := qosKind([]byte(line)); got != want {
			t.Errorf("%q: kind %d, want %d", line, got, want)
		}
	}
}

func FuzzQos(f *testing.F) {
	fuzzFormat(f, "dubbo-qos", "dubbo>invoke a.b(1)\nresult: {\n}\nelapsed: 1 ms.\n")
}

func BenchmarkQos(b *testing.B) { benchFixture(b, "../testdata/dubbo-qos/dubbo-2.6-telnet-invoke.txt") }
