package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// secrets makes a folder of files as a configuration names them.
func secrets(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, prefix := range []string{"", "other-"} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		x := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"firebreak.example"}}
		cert, err := x509.CreateCertificate(rand.Reader, x, x, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		private, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		write(prefix+"cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
		write(prefix+"key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
		write(prefix+"ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
	}
	write("token", []byte("tok-1\n"))
	write("password", []byte("pass-1\n"))
	write("empty", nil)
	write("web.yaml", []byte("tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n"))
	write("web-broken.yaml", []byte("tls_server_config: {cert_file: cert.pem, key_file: none.pem}\n"))
	return dir
}

// TestFilesOfConfigurations holds that files are looked into, not only named.
func TestFilesOfConfigurations(t *testing.T) {
	dir := secrets(t)
	for name, x := range map[string]struct{ text, want string }{
		"sound":               {"otlp: {token_file: DIR/token, tls: {cert_file: DIR/cert.pem, key_file: DIR/key.pem, client_ca_file: DIR/ca.pem}}\nweb: {config_file: DIR/web.yaml}\n", ""},
		"sound scrape":        {"scrape: [{url: \"https://10.20.1.5\", kind: goroutines, token_file: DIR/token, ca_file: DIR/ca.pem, cert_file: DIR/cert.pem, key_file: DIR/key.pem}]\n", ""},
		"no token":            {"otlp:\n  token_file: DIR/none\n", ":2:15: DIR/none cannot be read (no such file or directory); put the token of the senders into that file"},
		"empty token":         {"otlp: {token_file: DIR/empty}\n", ":1:20: DIR/empty holds no token; put"},
		"no certificate":      {"otlp:\n  tls:\n    cert_file: DIR/none.pem\n    key_file: DIR/key.pem\n", ":3:16: DIR/none.pem cannot be read (no such file or directory); name a PEM file"},
		"key as certificate":  {"otlp: {tls: {cert_file: DIR/key.pem, key_file: DIR/key.pem}}\n", "DIR/key.pem holds no certificate: a PEM file that has -----BEGIN CERTIFICATE----- is needed (it holds: private key)"},
		"certificate as key":  {"otlp:\n  tls:\n    cert_file: DIR/cert.pem\n    key_file: DIR/cert.pem\n", ":4:15: DIR/cert.pem holds no private key: a PEM file that has -----BEGIN PRIVATE KEY----- is needed (it holds: certificate)"},
		"key of another":      {"otlp: {tls: {cert_file: DIR/cert.pem, key_file: DIR/other-key.pem}}\n", "do not go together: private key does not match public key"},
		"no authority":        {"otlp: {tls: {cert_file: DIR/cert.pem, key_file: DIR/key.pem, client_ca_file: DIR/token}}\n", "DIR/token holds no certificate"},
		"no web config":       {"web:\n  config_file: DIR/none.yaml\n", ":2:16: DIR/none.yaml cannot be read (no such file or directory)"},
		"broken web config":   {"web: {config_file: DIR/web-broken.yaml}\n", "none.pem"},
		"authority of scrape": {"scrape:\n  - url: https://10.20.1.5\n    kind: goroutines\n    ca_file: DIR/key.pem\n", ":4:14: DIR/key.pem holds no certificate"},
		"token of scrape":     {"scrape: [{url: \"https://10.20.1.5\", kind: goroutines, token_file: DIR/empty}]\n", "DIR/empty is empty; put what the endpoint asks for into that file"},
		"folder":              {"scrape: [{url: \"https://10.20.1.5\", kind: goroutines, username: x, password_file: DIR}]\n", "DIR cannot be read (is a directory)"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := configured(t, strings.ReplaceAll(x.text, "DIR", dir), nil)
			switch {
			case x.want == "" && err != nil:
				t.Error(err)
			case x.want != "" && (err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(x.want, "DIR", dir))):
				t.Errorf("got  %v\nwant %s", err, x.want)
			}
		})
	}
	_, err := configured(t, "", map[string]string{"FIREBREAK_OTLP_TOKEN_FILE": dir + "/none"})
	if err == nil || !strings.Contains(err.Error(), "FIREBREAK_OTLP_TOKEN_FILE: "+dir+"/none cannot be read") {
		t.Error(err)
	}
}

// TestOneProblemIsToldOnce holds that what follows from a misspelt key or a wrong
// value is not told, too.
func TestOneProblemIsToldOnce(t *testing.T) {
	for _, text := range []string{
		"logs:\n  - path: x\n", "dumps: [{dirr: x}]\n", "scrape: [{url: \"http://10.20.1.5\", knd: prometheus}]\n",
		"scrape: [{url: \"http://10.20.1.5\", kind: prom}]\n", "scrape: [{urls: \"http://10.20.1.5\", kind: prometheus}]\n",
	} {
		_, err := configured(t, text, nil)
		if err == nil || strings.Count(err.Error(), "firebreak.yaml:") != 1 {
			t.Errorf("%s: %v", text, err)
		}
	}
	// Two keys are missing, and nothing is like one of them.
	if _, err := configured(t, "scrape: [{service: order, colour: red}]\n", nil); err == nil || strings.Count(err.Error(), "firebreak.yaml:") != 3 {
		t.Error(err)
	}
}

func TestUnknownVariables(t *testing.T) {
	for _, name := range []string{
		"FIREBREAK_PORT", "FIREBREAK_TMUX", "FIREBREAK_SLOW_TESTS", "FIREBREAK_CONFIG", "FIREBREAK_WEB_SERVICE_HOST", "FIREBREAK_WEB_SERVICE_PORT_HTTP", "FIREBREAK_WEB_PORT", "FIREBREAK_WEB_PORT_9464_TCP_ADDR", "REPORT_EVRY",
	} {
		if _, err := configured(t, "", map[string]string{name: "x"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{
		"FIREBREAK_REPORT_EVRY":     `FIREBREAK_REPORT_EVRY: there is no such variable (did you mean "FIREBREAK_REPORT_EVERY"?)`,
		"FIREBREAK_OTLP_COMPRESSOR": "FIREBREAK_OTLP_COMPRESSOR: there is no such variable: firebreak serve --help",
	} {
		if _, err := configured(t, "", map[string]string{name: "5s"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFormatsThatWereMeant holds the hints at formats.
func TestFormatsThatWereMeant(t *testing.T) {
	for word, want := range map[string]string{
		"postgres-log": `(did you mean "postgresql-log"?)`, "dubbo": `"dubbo-`, "jstacks": `(did you mean "jstack"?)`, "dubo": `(did you mean "dubbo-access-log", "dubbo-qos"?)`, "zzz": `there is no format "zzz": firebreak formats`,
	} {
		var to string
		if err := (formatValue{&to}).Set(word); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", word, err)
		}
	}
	for _, word := range []string{"", "text", "jstack"} {
		to := "x"
		if err := (formatValue{&to}).Set(word); err != nil || to != word {
			t.Errorf("%q: %v", word, err)
		}
	}
}
