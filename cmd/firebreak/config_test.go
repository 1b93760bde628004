package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/firebreak-io/firebreak/internal/golden"
)

// configured reads a configuration from a text, variables and flags.
func configured(t *testing.T, text string, env map[string]string, args ...string) (*config, error) {
	t.Helper()
	name := ""
	if text != "" {
		name = filepath.Join(t.TempDir(), "firebreak.yaml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	defaultConfig().register(flags)
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	environ := func() []string {
		var list []string
		for name, value := range env {
			list = append(list, name+"="+value)
		}
		return list
	}
	return readConfig(configOrigins{file: name, env: func(key string) string { return env[key] }, environ: environ, flags: flags})
}

// TestExampleConfiguration holds the example to the defaults, all keys in it,
// and its commented lists to the schema.
func TestExampleConfiguration(t *testing.T) {
	b, err := os.ReadFile("../../deploy/firebreak.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	c, err := configured(t, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := defaultConfig(); !reflect.DeepEqual(c, want) {
		t.Errorf("the example is\n%+v\nthe defaults are\n%+v", c, want)
	}
	lists := strings.NewReplacer("\n#  - ", "\n  - ", "\n#    ", "\n    ").Replace(strings.ReplaceAll(text, ": []\n", ":\n"))
	lists = strings.ReplaceAll(lists, "/etc/firebreak/", secrets(t)+"/")
	c, err = configured(t, lists, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Logs) != 1 || len(c.Dumps) != 1 || len(c.Scrape) != 1 || c.Scrape[0].Every != 30*time.Second || len(c.Dumps[0].Patterns) != 2 {
		t.Errorf("the lists of the example are %+v %+v %+v", c.Logs, c.Dumps, c.Scrape)
	}
	check := func(key string) {
		if name := key[strings.LastIndexByte(key, '.')+1:]; !strings.Contains(lists, name+":") {
			t.Errorf("the example has no key %s", key)
		}
	}
	for _, s := range defaultConfig().settings() {
		check(s.key)
		if s.item != nil {
			for _, k := range s.item() {
				check(k.key)
			}
		}
	}
}

// TestConfigurationDocument compares the table of docs/serve.md with the keys;
// with -update it rewrites it.
func TestConfigurationDocument(t *testing.T) {
	golden.CheckSection(t, "../../docs/serve.md", "keys", configTable())
}

func TestFlagsOverVariablesOverFileOverDefaults(t *testing.T) {
	const text = `
otlp: {grpc: "localhost:1", http: "localhost:1"}
web: {listen: ["localhost:1", "localhost:2"]}
limits: {max_spans: 11, memory: 1.5GiB, lateness: 1d, max_age: 48h}
log: {level: }
`
	env := map[string]string{
		"FIREBREAK_OTLP_HTTP": "localhost:2", "FIREBREAK_LIMITS_MAX_SPANS": "22", "FIREBREAK_LIMITS_MAX_EDGES": "22",
		"FIREBREAK_WEB_LISTEN": "localhost:3,[::1]:4", "FIREBREAK_PORT": "tcp://10.20.0.1:9464", "FIREBREAK_RUNBOOKS": "",
	}
	c, err := configured(t, text, env, "--max-spans=33", "--web.listen-address=localhost:5", "--web.listen-address=localhost:6,localhost:7", "--otlp-max-bytes-in-flight=100000000")
	if err != nil {
		t.Fatal(err)
	}
	want := defaultConfig()
	want.OTLP.GRPC, want.OTLP.HTTP, want.OTLP.MaxBytesInFlight = "localhost:1", "localhost:2", 100_000_000
	want.OTLP.MaxConnections = 1536 // which follows from the memory
	want.Web.Listen = []string{"localhost:5", "localhost:6", "localhost:7"}
	want.Limits = limitsConfig{Memory: 3 << 29, Lateness: 24 * time.Hour, MaxAge: 48 * time.Hour, MaxSpans: 33, MaxEdges: 22}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got\n%+v, want\n%+v", c, want)
	}
	c, err = configured(t, text, env)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c.Web.Listen, []string{"localhost:3", "[::1]:4"}) || c.Limits.MaxSpans != 22 {
		t.Errorf("variables over the file: %+v", c)
	}
}

func TestWrongConfigurations(t *testing.T) {
	for name, x := range map[string]struct{ text, want string }{
		"unknown section":  {"otlp: {}\nmetrics: {}\n", `:2:1: the configuration has no key "metrics": it has otlp, web`},
		"unknown key":      {"otlp:\n  token_fil: localhost:1\n", ":2:3: otlp has no key \"token_fil\" (did you mean \"token_file\"?): it has grpc, http, tls, token_file, max_bytes_in_flight, max_connections, idle_timeout\n      token_fil: localhost:1\n      ^"},
		"key of a list":    {"logs:\n  - path: x\n", `:2:5: logs[0] has no key "path" (did you mean "paths"?)`},
		"twice":            {"public: false\npublic: true\n", `:2:1: key "public" comes twice`},
		"second document":  {"public: false\n---\npublic: true\n", ":2:1: a second document"},
		"no mapping":       {"- otlp\n", ":1:1: the configuration must be a mapping"},
		"section is text":  {"otlp: localhost:4317\n", ":1:7: otlp must be a mapping: grpc, http"},
		"list for text":    {"otlp:\n  grpc: [a, b]\n", ":2:9: otlp.grpc must be one value"},
		"text for list":    {"logs: /var/log\n", ":1:7: logs must be a list"},
		"list of lists":    {"web: {listen: [[a]]}\n", "web.listen must be a list of texts"},
		"duration":         {"limits: {lateness: 10}\n", `:1:20: limits.lateness: "10" has no unit: write 10s or 10ms`},
		"no duration":      {"limits: {lateness: soon}\n", `"soon" is no time`},
		"negative":         {"limits: {lateness: -1s}\n", `"-1s" is not above zero`},
		"size":             {"otlp: {max_bytes_in_flight: 64 megs}\n", `:1:29: otlp.max_bytes_in_flight: "64 megs" is no size`},
		"no bytes":         {"otlp: {max_bytes_in_flight: 0}\n", "not above zero"},
		"one request":      {"otlp: {max_bytes_in_flight: 1MiB}\n", ":1:29: must be 48MiB at least"},
		"little memory":    {"limits: {memory: 100MiB}\n", ":1:18: must be 256MiB at least"},
		"more than memory": {"limits: {memory: 512MiB, max_spans: 10000000}\n", ":1:18: is too little: the limits that are given need about 1"},
		"too much":         {"incidents: {max_bytes: 99999999TiB}\n", "is no size"},
		"count":            {"limits: {max_spans: 1e6}\n", `"1e6" is no whole number`},
		"bool":             {"public: maybe\n", `:1:9: public: "maybe" is neither true nor false`},
		"word":             {"log: {level: loud}\n", `:1:14: log.level: "loud" is none of debug, info, warn, error`},
		"no YAML":          {"otlp: {grpc: [\n", ":2:"},
		"tab":              {"otlp:\n\tgrpc: x\n", ":2:1: a tab: YAML is indented by spaces"},
		"tab, deeper":      {"otlp:\n  grpc: x\n \thttp: y\n", ":3:2: a tab: YAML is indented by spaces"},
		"order":            {"limits:\n  max_age: 1s\n", ":2:12: must not be below limits.lateness (10s)"},
		"address":          {"otlp:\n  grpc: 4317\n", `:2:9: "4317" is no address`},
		"port":             {"otlp: {grpc: \"localhost:otlp\"}\n", "is no address"},
		"public":           {"web:\n  listen: [\"localhost:1\", \"0.0.0.0:9464\"]\n", ":2:11: others can reach 0.0.0.0:9464: say so with --public"},
		"nothing":          {"otlp: {grpc: \"\", http: \"\"}\n", "nothing would come in"},
		"key without cert": {"otlp: {tls: {key_file: k.pem}}\n", ":1:13: is missing: the key is of a certificate"},
		"CA without cert":  {"otlp: {tls: {client_ca_file: ca.pem}}\n", ":1:30: asks clients for certificates"},
		"glob":             {"logs:\n  - {paths: [\"/var/[log\"]}\n", `:2:13: "/var/[log" is no pattern of names`},
		"no paths":         {"logs:\n  - {service: order}\n", ":2:5: is missing: the files to follow"},
		"format":           {"logs:\n  - paths: [x]\n    format: dubo\n", `:3:13: logs[0].format: there is no format "dubo"`},
		"list for section": {"log:\n  - paths: [x]\n", `:2:3: log must be a mapping (did you mean "logs"?): level, format`},
		"no dir":           {"dumps: [{}]\n", ":1:9: is missing: the folder to watch"},
		"URL":              {"scrape: [{url: \"10.20.1.5:6060\", kind: prometheus}]\n", `:1:16: "10.20.1.5:6060" is no URL`},
		"kind":             {"scrape: [{url: \"http://10.20.1.5\"}]\n", ":1:10: is missing: goroutines or prometheus"},
		"telemetry":        {"telemetry: {traces: true}\n", ":1:12: is needed to send telemetry"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := configured(t, x.text, nil)
			if err == nil || !strings.Contains(err.Error(), x.want) || !strings.Contains(err.Error(), "firebreak.yaml:") {
				t.Errorf("got  %v\nwant %s", err, x.want)
			}
		})
	}
	for want, env := range map[string]string{
		`FIREBREAK_LIMITS_MAX_SPANS: "many" is no whole number`:           "many",
		"FIREBREAK_LIMITS_MAX_SPANS: \"0\" is no whole number above zero": "0",
	} {
		if _, err := configured(t, "", map[string]string{"FIREBREAK_LIMITS_MAX_SPANS": env}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestEmptyConfigurations(t *testing.T) {
	for _, text := range []string{"# nothing\n", "{}\n", "---\n", "otlp:\nweb:\nlogs:\n"} {
		if c, err := configured(t, text, nil); err != nil || !reflect.DeepEqual(c, defaultConfig()) {
			t.Errorf("%q: %v %+v", text, err, c)
		}
	}
}

// TestCheckSaysTheConfiguration runs the command and its exit codes.
func TestCheckSaysTheConfiguration(t *testing.T) {
	good, bad := filepath.Join(t.TempDir(), "good.yaml"), filepath.Join(t.TempDir(), "bad.yaml")
	for name, text := range map[string]string{good: "limits: {memory: 512MiB}\n", bad: "limits: {memory: lots}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"app.log", "debug.log", "web.log", "1.jstack", "2.jstack.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sources := filepath.Join(t.TempDir(), "sources.yaml")
	if err := os.WriteFile(sources, []byte(strings.ReplaceAll(`
logs:
  - {paths: ["DIR/*.log", DIR/app.log], exclude: ["debug.*"], service: order}
  - {paths: DIR/later.log}
dumps: [{dir: DIR, patterns: ["*.jstack"]}, {dir: DIR/none}]
scrape: [{url: "http://probe:secret@10.20.1.5:9090/metrics", kind: prometheus, service: order, every: 15s}]
`, "DIR", dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		file string
		code int
		want string
	}{
		{good, exitAnalysed, "limits.memory: 512MiB\n"},
		{bad, exitUsage, "Try: ${EDITOR:-vi} +1 " + bad},
		{"missing.yaml", exitFailed, "missing.yaml: no such file or directory\nTry: ls -l .\n"},
		{sources, exitAnalysed, strings.ReplaceAll(`
logs[0]: DIR/*.log of order: 2 files match now
logs[0]: DIR/app.log of order: 1 file matches now
logs[1]: DIR/later.log: no file matches now
dumps[0]: DIR *.jstack: 1 file matches now
dumps[1]: DIR/none: DIR/none cannot be read (no such file or directory)
scrape[0]: http://probe:xxxxx@10.20.1.5:9090/metrics of order: prometheus, every 15s
`, "DIR", dir)},
	} {
		var out bytes.Buffer
		a := newApp(analyse)
		a.stdout, a.stderr = &out, &out
		if code := a.run([]string{"serve", "--check", "--config", x.file}); code != x.code || !strings.Contains(out.String(), x.want) {
			t.Errorf("%s: exit %d\n%s", x.file, code, out.String())
		}
	}
}

// FuzzConfiguration holds that no text makes the reader panic, and that what it
// accepts it says in a form that it reads.
func FuzzConfiguration(f *testing.F) {
	b, err := os.ReadFile("../../deploy/firebreak.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(b))
	f.Add("a: &a [*a]\n")
	f.Add("otlp: &x {grpc: localhost:1}\nweb: *x\n<<: *x\n")
	f.Add("? [a]\n: b\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := configured(t, text, nil)
		if err != nil {
			return
		}
		again := defaultConfig()
		said := c.settings()
		for i, s := range again.settings() {
			if s.value == nil {
				continue
			}
			if err := s.value.Set(said[i].value.String()); err != nil {
				t.Fatalf("%s: %v", s.key, err)
			}
			if s.value.String() != said[i].value.String() {
				t.Fatalf("%s is %q, then %q", s.key, said[i].value, s.value)
			}
		}
	})
}
