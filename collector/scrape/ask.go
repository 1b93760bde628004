package scrape

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/firebreak-io/firebreak/collector"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/parsers"
)

// target is an endpoint and what is known of it.
type target struct {
	Target
	name   string // as it is said: without password
	url    string // as it is asked
	host   string
	client *http.Client
	before *parsers.Input // the answer before

	mu       sync.Mutex
	asked    bool
	problem  string // why it fails; empty if it does not
	failures int64
	counts   collector.Counts
	last     time.Time
}

// accepted are the forms of metrics that are read.
const accepted = "text/plain;version=0.0.4;q=0.9,application/openmetrics-text;version=1.0.0;q=0.8,*/*;q=0.1"

func newTarget(x Target) (*target, error) {
	t := &target{Target: x, name: x.URL}
	t.counts = collector.Counts{Records: map[string]int64{}, Skipped: map[collector.FormatReason]int64{}}
	u, err := url.Parse(x.URL)
	if err != nil {
		return t, err
	}
	t.host = u.Host
	if x.Kind == collector.KindGoroutines && !u.Query().Has("debug") {
		q := u.Query()
		q.Set("debug", "2") // names what each waits for, and since when
		u.RawQuery = q.Encode()
	}
	t.url = u.String()
	u.User, u.RawQuery = nil, ""
	t.name = u.String()
	if t.Every <= 0 {
		t.Every = 30 * time.Second
	}
	if t.Timeout <= 0 {
		t.Timeout = min(t.Every, 10*time.Second)
	}
	if t.MaxSize <= 0 {
		t.MaxSize = 64 << 20
	}
	transport, err := t.transport()
	t.client = &http.Client{Transport: transport, Timeout: t.Timeout, CheckRedirect: t.redirect}
	return t, err
}

// transport keeps one connection, by TLS as the target's files have it.
func (t *target) transport() (*http.Transport, error) {
	tr := &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxConnsPerHost: 1, IdleConnTimeout: 2 * t.Every, TLSHandshakeTimeout: t.Timeout,
		MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, err
		}
		tr.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !tr.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, lang.Errorf("no certificate in %s", t.CAFile)
		}
	}
	if t.CertFile == "" {
		return tr, nil
	}
	load := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		c, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		return &c, err
	}
	tr.TLSClientConfig.GetClientCertificate = load
	_, err := load(nil)
	return tr, err
}

// redirect follows within the host only: what was given to it is for nobody else.
func (t *target) redirect(to *http.Request, via []*http.Request) error {
	switch {
	case to.URL.Host != t.host:
		return lang.Errorf("it leads to another host (%s): not followed", to.URL.Host)
	case via[0].URL.Scheme == "https" && to.URL.Scheme != "https":
		return lang.NewError("it leads from https to http: not followed")
	case len(via) > 4:
		return lang.NewError("it leads on and on")
	}
	return nil
}

// ask asks the endpoint, and returns the whole answer, unpacked.
func (t *target) ask(ctx context.Context, agent string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.url, nil)
	if err != nil {
		return nil, plain(err)
	}
	req.Header.Set("User-Agent", agent)
	if t.Kind == collector.KindPrometheus {
		req.Header.Set("Accept", accepted)
	}
	if err := t.identify(req); err != nil {
		return nil, err
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return nil, plain(err)
	}
	defer func() { _ = resp.Body.Close() }() // only read
	if resp.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 4<<10)) // so that the connection can be used again
		return nil, lang.Errorf("it answers %s", resp.Status)
	}
	body, err := t.all(resp.Body)
	if err == nil && collector.Packing(body) == "gzip" { // profiles are
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, err = t.all(r)
		}
	}
	if err == nil && len(bytes.TrimSpace(body)) == 0 {
		err = lang.NewError("its answer is empty")
	}
	return body, plain(err)
}

// all reads an answer unless it is too large.
func (t *target) all(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, t.MaxSize+1))
	if err == nil && int64(len(body)) > t.MaxSize {
		err = lang.Errorf("its answer is larger than %d bytes", t.MaxSize)
	}
	return body, err
}

// identify adds what the endpoint asks for.
func (t *target) identify(req *http.Request) error {
	secret := func(path string) (string, error) {
		text, err := os.ReadFile(path)
		return strings.TrimSpace(string(text)), err
	}
	switch {
	case t.TokenFile != "":
		token, err := secret(t.TokenFile)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+token)
	case t.Username != "":
		password := ""
		if t.PasswordFile != "" {
			var err error
			if password, err = secret(t.PasswordFile); err != nil {
				return err
			}
		}
		req.SetBasicAuth(t.Username, password)
	}
	return nil
}

// plain shortens an error of a request: its URL is said elsewhere, and may hold
// what is secret.
func plain(err error) error {
	var u *url.Error
	if !errors.As(err, &u) {
		return err
	}
	if u.Timeout() {
		return lang.NewError("it does not answer in time")
	}
	return u.Err
}
