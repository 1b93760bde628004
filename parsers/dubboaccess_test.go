package parsers

import (
	"testing"
)

func FuzzDubboAccess(f *testing.F) { fuzzFormat(f, "dubbo-access-log") }

func BenchmarkDubboAccess(b *testing.B) {
	benchFixture(b, "../testdata/dubbo-access-log/dubbo-3.2-file.log")
}

// What stands in a call's arguments must not be taken for the line's own parts.
func TestDubboCall(t *testing.T) {
	for _, test := range []struct{ line, service, method, args string }{
		{"[2026-03-14 09:12:30] 10.20.1.31:51022 -> 10.20.0.11:20880 - g/com.acme.S:1 m() ", "com.acme.S", "m", ""},
		{"[2026-03-14 09:12:30] a:1 -> b:2 - com.acme.S m(int) [1] -> [2] - x(y) z", "com.acme.S", "m", "[1] -> [2] - x(y) z"},
		{`[2026-03-14 09:12:30] a:1 -> b:2 - com.acme.S $invokeAsync(java.lang.String) ["find",[],[]]`, "com.acme.S", "find", `["find",[],[]]`},
		{"[2026-03-14 09:12:30] a:1 -> b:2 - com.acme.S m", "", "", ""},
		{"[INFO] a:1 -> b:2 - com.acme.S m()", "", "", ""},
		{"[2026-03-14 09:12:30] moved a -> b - and so on (really) today", "", "", ""},
	} {
		var c dubboCall
		ok := c.parse([]byte(test.line))
		if !ok {
			c = dubboCall{}
		}
		if ok != (test.service != "") || string(c.service) != test.service || string(c.method) != test.method || string(c.args) != test.args {
			t.Errorf("%s: %v %q %q %q", test.line, ok, c.service, c.method, c.args)
		}
	}
}
