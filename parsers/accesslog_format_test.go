package parsers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

func TestAccessFormat(t *testing.T) {
	for _, test := range []struct{ format, line, want string }{
		{
			`$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time $upstream_response_time $upstream_addr`,
			`10.20.0.9 - - [14/Mar/2026:09:12:33 +0000] "GET /pay HTTP/1.1" 200 12 "-" "ua 1" 0.405 0.003, 0.400 10.20.0.11:80, 10.20.0.12:80`,
			"/pay 200 405ms 2",
		},
		{
			`$time_local $http_user_agent <$request> $status ${request_time}s`,
			`14/Mar/2026:09:12:33 +0000 Mozilla/5.0 (X11; Linux) <GET /pay?x=1 HTTP/1.1> 200 0.405s`,
			"/pay?x=1 200 405ms 0",
		},
		{
			`$msec^$request_method^$request_uri^$status^$upstream_addr^$upstream_status^$request_time`,
			`1773479553.123^GET^/pay^502^bad^502^0.001`,
			"/pay 502 1ms 0",
		},
		{`%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %D`, `10.20.0.9 - - [14/Mar/2026:09:12:33 +0000] "GET /pay HTTP/1.1" 200 12 "-" "a \"b\"" 405123`, "/pay 200 405.123ms 0"},
		{`%t %m %U%q %>s %{ms}T`, `[14/Mar/2026:09:12:33 +0000] GET /pay?x=1 200 405`, "/pay?x=1 200 405ms 0"},
		// Formats that stop before their log does: the rest is recognised.
		{
			`$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent`,
			`10.20.0.9 - - [14/Mar/2026:09:12:33 +0000] "GET /pay HTTP/1.1" 200 12 "-" "ua 1" rt=0.405 urt="0.003, 0.400" ua="10.20.0.11:8080, 10.20.0.12:8080" us="503, 200"`,
			"/pay 200 405ms 2",
		},
		{
			`%h %l %u %t "%r" %>s %b`,
			`10.20.0.9 - - [14/Mar/2026:09:12:33 +0000] "GET /pay HTTP/1.1" 504 12 "-" "ua 1" rt=0.405 urt="0.003, 0.400" ua="10.20.0.11:8080, 10.20.0.12:8080" us="503, 504"`,
			"/pay 504 405ms 2",
		},
		// One that calls the numbers otherwise is right.
		{
			`$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent $connection $upstream_addr`,
			`10.20.0.9 - - [14/Mar/2026:09:12:33 +0000] "GET /pay HTTP/1.1" 200 12 0.405 10.20.0.11:8080`,
			"/pay 200 -1ns 1",
		},
	} {
		in := NewInput("x.log", strings.NewReader(strings.Repeat(test.line+"\n", 3)))
		in.Hint.AccessFormat = test.format
		got := ""
		if err := Read(in, func(r *evidence.Record) error {
			a := r.Access
			got = fmt.Sprintf("%s %d %v %d", a.Path, a.Status, a.Duration, len(a.Upstreams))
			return nil
		}); err != nil {
			t.Error(err)
		}
		if got != test.want {
			t.Errorf("%s\n got: %s\nwant: %s", test.format, got, test.want)
		}
	}
	for _, bad := range []string{"", "combined", "$remote_addr", "%h %l"} {
		if CheckAccessFormat(bad) == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func FuzzAccessFormat(f *testing.F) {
	f.Add(`$remote_addr [$time_local] "$request" $status ${request_time}`, `1 [14/Mar/2026:09:12:33 +0000] "GET / HTTP/1.1" 200 1`)
	f.Add(`%h %t \"%r\" %>s %{ms}T`, `1 [14/Mar/2026:09:12:33 +0000] "GET / HTTP/1.1" 200 1`)
	f.Fuzz(func(t *testing.T, format, line string) {
		in := NewInput("x.log", strings.NewReader(line+"\n"+line))
		in.Hint.AccessFormat = format
		if err := Read(in, func(*evidence.Record) error { return nil }); err != nil {
			t.Error(err)
		}
	})
}
