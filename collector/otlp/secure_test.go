package otlp

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.opentelemetry.io/collector/config/configtls"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// authority makes certificates.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{t: t, dir: t.TempDir(), key: key}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.write("ca.pem", a.cert, a.cert, key, key)
	return a
}

// write signs a certificate and writes it, and its key beside it.
func (a *authority) write(name string, cert, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) string {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	k, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	path := filepath.Join(a.dir, name)
	for path, block := range map[string]*pem.Block{path: {Type: "CERTIFICATE", Bytes: der}, path + ".key": {Type: "EC PRIVATE KEY", Bytes: k}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	return path
}

func (a *authority) issue(name string) string {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.write(name+".pem", &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, key, a.key)
}

// client is the TLS of a sender, with a certificate if one is named.
func (a *authority) client(cert string) *tls.Config {
	a.t.Helper()
	ca, err := os.ReadFile(filepath.Join(a.dir, "ca.pem"))
	if err != nil {
		a.t.Fatal(err)
	}
	c := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	c.RootCAs.AppendCertsFromPEM(ca)
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, cert+".key")
		if err != nil {
			a.t.Fatal(err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c
}

// TestTLSAndCertificatesOfClients sends over both transports with the right
// certificate, with a stranger's and with none.
func TestTLSAndCertificatesOfClients(t *testing.T) {
	ours, strangers := newAuthority(t, "ours"), newAuthority(t, "strangers")
	server := ours.issue("server")
	c := configtls.NewDefaultServerConfig()
	c.CertFile, c.KeyFile, c.ClientCAFile = server, server+".key", filepath.Join(ours.dir, "ca.pem")
	s, _, at := started(t, Config{TLS: &c})
	body, err := spans(1).MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		cert string
		ok   bool
	}{"ours": {ours.issue("sender"), true}, "a stranger's": {strangers.issue("sender"), false}, "none": {"", false}} {
		t.Run(name, func(t *testing.T) {
			conn, err := grpc.NewClient(at.GRPC, grpc.WithTransportCredentials(credentials.NewTLS(ours.client(x.cert))))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if _, err = ptraceotlp.NewGRPCClient(conn).Export(ctx, spans(1)); (err == nil) != x.ok {
				t.Errorf("gRPC: %v", err)
			}
			for _, protocols := range []bool{false, true} { // HTTP/1.1 and HTTP/2
				tr := &http.Transport{TLSClientConfig: ours.client(x.cert), ForceAttemptHTTP2: protocols}
				resp, err := (&http.Client{Transport: tr}).Post("https://"+at.HTTP+"/v1/traces", asProto, bytes.NewReader(body))
				if (err == nil) != x.ok {
					t.Errorf("HTTP: %v", err)
				}
				if err == nil {
					resp.Body.Close()
					if resp.StatusCode != http.StatusOK || (resp.ProtoMajor == 2) != protocols {
						t.Errorf("HTTP: %s %s", resp.Status, resp.Proto)
					}
				}
				tr.CloseIdleConnections()
			}
		})
	}
	if len(s.records) != 3 {
		t.Errorf("%d records", len(s.records))
	}
	if _, err := http.Post("http://"+at.HTTP+"/v1/traces", asProto, bytes.NewReader(body)); err == nil && len(s.records) != 3 {
		t.Error("it is taken without TLS, too")
	}
}

func TestWrongCertificateFiles(t *testing.T) {
	c := configtls.NewDefaultServerConfig()
	c.CertFile, c.KeyFile = "missing.pem", "missing.pem"
	if _, err := Start(t.Context(), Config{GRPC: free(t), TLS: &c}, &store{}); err == nil {
		t.Error("it starts without its certificate")
	}
}

// TestTokenIsReadAgainWhenItChanges changes the file while senders send.
func TestTokenIsReadAgainWhenItChanges(t *testing.T) {
	name := filepath.Join(t.TempDir(), "token")
	at := time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		at = at.Add(lookAgain)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	write("first\n")
	token, err := ReadToken(name)
	if err != nil {
		t.Fatal(err)
	}
	token.now = func() time.Time { return at }
	_, r, c := started(t, Config{Token: token})
	body, err := spans(1).MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	client := ptraceotlp.NewGRPCClient(dial(t, c.GRPC))
	send := func(authorization string, ok bool) {
		t.Helper()
		ctx := t.Context()
		if authorization != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", authorization)
		}
		_, err := client.Export(ctx, spans(1))
		if want := map[bool]codes.Code{true: codes.OK, false: codes.Unauthenticated}[ok]; status.Code(err) != want {
			t.Errorf("gRPC with %q: %v", authorization, err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+c.HTTP+"/v1/traces", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", asProto)
		if authorization != "" {
			req.Header.Set("Authorization", authorization)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if want := map[bool]int{true: http.StatusOK, false: http.StatusUnauthorized}[ok]; resp.StatusCode != want {
			t.Errorf("HTTP with %q: %s", authorization, resp.Status)
		}
	}
	send("Bearer first", true)
	send("bearer first", true)
	for _, wrong := range []string{"", "first", "Bearer", "Bearer ", "Bearer firs", "Bearer first2", "Basic first"} {
		send(wrong, false)
	}
	write("second")
	send("Bearer first", false)
	send("Bearer second", true)
	write("  ") // half-written: the one in use stays
	send("Bearer second", true)
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	at = at.Add(time.Minute)
	send("Bearer second", true)
	if s := r.Stats(); s.Refused[GRPC][Unauthorised] != 8 || s.Refused[HTTP][Unauthorised] != 8 {
		t.Errorf("%+v", s)
	}
	if _, err := ReadToken(name); err == nil {
		t.Error("there is no file, and no error")
	}
}
