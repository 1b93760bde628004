package incident

import (
	"bytes"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/internal/golden"
)

func TestRedactText(t *testing.T) {
	for in, want := range map[string]string{
		// Addresses; ports stay.
		"DubboServerHandler-10.20.1.21:20880-thread-7":              "DubboServerHandler-ip-1:20880-thread-7",
		"10.20.1.21 to 10.20.1.22 and 10.20.1.21":                   "ip-1 to ip-2 and ip-1",
		"dubbo://10.20.1.21:20880/x, /10.20.1.9:41":                 "dubbo://ip-1:20880/x, /ip-2:41",
		"[2001:db8::17]:20880 and fe80::1":                          "[ip-1]:20880 and ip-2",
		"::ffff:10.20.1.21":                                         "ip-1",
		"2001:0db8:0000:0000:0000:ff00:0042:8329":                   "ip-1",
		"ip-10-20-1-21.eu-west-1.compute.internal down":             "host-1 down",
		"logs/10.20.1.21/app.log":                                   "logs/ip-1/app.log",
		"127.0.0.1:8080 ::1 0.0.0.0":                                "127.0.0.1:8080 ::1 0.0.0.0",
		"地址10.20.1.21的连接":                                           "地址ip-1的连接",
		"peer:2001:db8::17 node:2001:db8::17 2001:db8::17: refused": "peer:ip-1 node:ip-1 ip-1: refused",
		"/2001:db8:0:0:0:0:0:17:50112 <- [fe80::1%eth0]:443":        "/ip-1:50112 <- [ip-2%eth0]:443",
		// Versions, times, numbers and names are not addresses.
		"dubbo version: 2.7.18.1":                                   "dubbo version: 2.7.18.1",
		"dubbo version: 2.7.8, current host: 10.20.1.21":            "dubbo version: 2.7.8, current host: ip-1",
		"ojdbc-19.3.0.0.jar v10.1.2.3 JDK 17.0.9.1":                 "ojdbc-19.3.0.0.jar v10.1.2.3 JDK 17.0.9.1",
		"VM (17.0.9.1+9-LTS) 1.2.3.4.5 300.1.1.1 10.02.01.1":        "VM (17.0.9.1+9-LTS) 1.2.3.4.5 300.1.1.1 10.02.01.1",
		"10:02:31 at 2026-03-14T10:02:31+08:00 +0800":               "10:02:31 at 2026-03-14T10:02:31+08:00 +0800",
		"aa:bb:cc:dd:ee:ff std::bad a::b Foo.java:64 app:1:2":       "aa:bb:cc:dd:ee:ff std::bad a::b Foo.java:64 app:1:2",
		"reads 2,481,932 rows, 1773482561000 ms, 13800000000000 ns": "reads 2,481,932 rows, 1773482561000 ms, 13800000000000 ns",
		"com.acme.Sku$Inner.run(Sku.java:64) 0x00000007c0a1b2c8":    "com.acme.Sku$Inner.run(Sku.java:64) 0x00000007c0a1b2c8",
		"trace 4bf92f3577b34da6a3ce929d0e0e4736":                    "trace 4bf92f3577b34da6a3ce929d0e0e4736",
		"golang.org/x/text@v0.44.0/width Foo@1a2b3c":                "golang.org/x/text@v0.44.0/width Foo@1a2b3c",
		"tokens=200 threads=200 retries=0":                          "tokens=200 threads=200 retries=0",
		// Secrets.
		"Authorization: Bearer abcdef1234567890":       "Authorization: Bearer token-1",
		"eyJhbGciOi.eyJzdWIiOiIx.c2ln-x tail":          "token-1 tail",
		"password=hunter2&user=x":                      "password=secret-1&user=x",
		`{"dbPassword":"p w","api_key": "k1"}`:         `{"dbPassword":"secret-1 w","api_key": "secret-2"}`,
		"jdbc:mysql://root:s3cret@10.20.1.5:3306/shop": "jdbc:mysql://secret-1@ip-1:3306/shop",
		"AKIAABCDEFGHIJKLMNOP LTAI5tAbCdEfGhIjKl":      "secret-1 secret-2",
		"ak=abcd sk=efgh risk=3":                       "ak=secret-1 sk=secret-2 risk=3",
		"Cookie: a=b; SID=31d4":                        "Cookie: cookie-1",
		// People.
		"mail li.lei+x@shop.example.com now":                        "mail email-1 now",
		"GET /find?mail=li.lei%40shop.example.com&x=1":              "GET /find?mail=email-1&x=1",
		"li.lei%2540shop.example.com li.lei\\u0040shop.example.com": "email-1 email-2",
		"nginx -> shop GET /u/lilei/orders/{id}: 3 failed":          "nginx -> shop GET /u/user-1/orders/{id}: 3 failed",
		"GET /api/v1/users/li.lei and GET /users/{id}/cart":         "GET /api/v1/users/user-1 and GET /users/{id}/cart",
		"https://shop.example/~lilei/x and POST /users/login":       "https://shop.example/~user-1/x and POST /users/login",
		"/home/lilei/logs/app.log":                                  "/home/user-1/logs/app.log",
		"acme.com/shop/user/service.go:12 /src/user/order.go:9":     "acme.com/shop/user/service.go:12 /src/user/order.go:9",
		"tel 13812345678 or +86 138-1234-5678, +1 (555) 010-9999":   "tel phone-1 or phone-2, phone-3",
		"手机13812345678已":                                            "手机phone-1已",
		"id 11010519491231002X":                                     "id id-1",
		// SQL.
		"select a from t where n = 'Li Lei' and k=42 and d in (1,2)": "select a from t where n = ? and k=? and d in (?)",
		"select a from t reads 2,481,932 rows in 3.3 s":              "select a from t reads 2,481,932 rows in 3.3 s",
		"mysql -e 'EXPLAIN select a from t where n = \"x\" limit 5'": "mysql -e 'EXPLAIN select a from t where n = ? limit ?'",
		"insert into t values (1, 2)":                                "insert into t values (?)",
	} {
		d := redactor{names: map[string]string{}, last: map[string]int{}}
		got := d.redact(in)
		if got != want {
			t.Errorf("redact(%q)\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestRedactReport(t *testing.T) {
	r := slowSQLReport()
	r.Findings[0].Citations[0] = evidence.Citation{Source: "logs/10.20.1.77/li@shop.example.com/slow.log", Line: 12}
	r.Sources[0].Path = "logs/10.20.1.77/li@shop.example.com/slow.log"
	r.Tool.Version = "1.2.3.4"
	before := jsonOf(t, r)
	red := Redact(r)
	if !bytes.Equal(before, jsonOf(t, r)) {
		t.Error("redaction changed the report that it was given")
	}
	data := jsonOf(t, red)
	golden.Check(t, "testdata/slow-sql.redacted.md", []byte(markdownOf(t, red, MarkdownOptions{})))
	if bytes.Contains(data, []byte("10.20.")) || bytes.Contains(data, []byte("@")) {
		t.Error("something is left")
	}
	if !bytes.Contains(data, []byte("1.2.3.4")) {
		t.Error("the tool's own version is gone")
	}
	path := red.Sources[0].Path
	if path != red.Findings[0].Citations[0].Source || !strings.HasPrefix(path, "logs/ip-2/email-1/") || red.Findings[0].Citations[0].Line != 12 {
		t.Errorf("paths are not redacted alike: %q, %v", path, red.Findings[0].Citations)
	}
	if !strings.Contains(red.Pools[0].Name, "ip-1:20880") {
		t.Errorf("pool is called %q", red.Pools[0].Name)
	}
	if again := jsonOf(t, Redact(red)); !bytes.Equal(again, data) {
		t.Error("redacting twice changes the report")
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("10.20.1.21:20880 password=x select a from t where b='c' +86 13812345678 ::1 li@a.example")
	f.Add(hostile)
	f.Fuzz(func(t *testing.T, s string) {
		d := redactor{names: map[string]string{}, last: map[string]int{}}
		d.redact(Visible(s))
		if v := Visible(s); Visible(v) != v {
			t.Errorf("Visible(%q) is not stable", s)
		}
		Quote(s)
	})
}
