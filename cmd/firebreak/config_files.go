package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/prometheus/exporter-toolkit/web"

	"github.com/firebreak-io/firebreak/collector/otlp"
	"github.com/firebreak-io/firebreak/lang"
)

// validateFiles opens the files that the configuration names, and reads what must
// stand in them, so that a sender is not the first who notices what is missing.
func (c *config) validateFiles(v *verdicts) {
	if c.OTLP.TokenFile != "" {
		if _, err := otlp.ReadToken(c.OTLP.TokenFile); err != nil {
			v.refuse("otlp.token_file", "%s; put the token of the senders into that file, or leave the key out: then none is asked for", unread(err))
		}
	}
	validatePair(v, "otlp.tls.", c.OTLP.TLS.CertFile, c.OTLP.TLS.KeyFile)
	validateAuthority(v, "otlp.tls.client_ca_file", c.OTLP.TLS.ClientCAFile)
	if name := c.Web.ConfigFile; name != "" {
		if err := web.Validate(name); err != nil {
			v.refuse("web.config_file", "%s; docs/serve.md says what the file may hold", unread(err))
		}
	}
	for i, s := range c.Scrape {
		at := "scrape[" + strconv.Itoa(i) + "]."
		validateSecret(v, at+"token_file", s.TokenFile)
		validateSecret(v, at+"password_file", s.PasswordFile)
		validateAuthority(v, at+"ca_file", s.CAFile)
		validatePair(v, at, s.CertFile, s.KeyFile)
	}
}

// unread is why a file cannot be used, in one line.
func unread(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return lang.Sprintf("%s cannot be read (%v)", at.Path, at.Err)
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

// maxPEM bounds a file of certificates.
const maxPEM = 4 << 20

// readAll reads a file that should be small.
func readAll(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(f, maxPEM+1))
	if err == nil && len(text) > maxPEM {
		err = lang.Errorf("%s is larger than 4 MiB", name)
	}
	return text, err
}

// validateSecret refuses a file without anything in it.
func validateSecret(v *verdicts, key, name string) {
	if name == "" {
		return
	}
	text, err := readAll(name)
	if err == nil && len(bytes.TrimSpace(text)) == 0 {
		err = lang.Errorf("%s is empty", name)
	}
	if err != nil {
		v.refuse(key, "%s; put what the endpoint asks for into that file", unread(err))
	}
}

// validateAuthority refuses a file without a certificate.
func validateAuthority(v *verdicts, key, name string) {
	if name == "" {
		return
	}
	if text, ok := readPEM(v, key, name); ok && !x509.NewCertPool().AppendCertsFromPEM(text) {
		v.refuse(key, "%s holds no certificate: a PEM file that has -----BEGIN CERTIFICATE----- is needed%s", name, instead(text))
	}
}

// validatePair refuses a certificate and a key that are none, or not of each other.
func validatePair(v *verdicts, section, cert, key string) {
	if cert == "" || key == "" { // was seen to
		return
	}
	certText, certRead := readPEM(v, section+"cert_file", cert)
	keyText, keyRead := readPEM(v, section+"key_file", key)
	certIs, keyIs := holds(certText, "CERTIFICATE"), holds(keyText, "PRIVATE KEY")
	if certRead && !certIs {
		v.refuse(section+"cert_file", "%s holds no certificate: a PEM file that has -----BEGIN CERTIFICATE----- is needed%s", cert, instead(certText))
	}
	if keyRead && !keyIs {
		v.refuse(section+"key_file", "%s holds no private key: a PEM file that has -----BEGIN PRIVATE KEY----- is needed%s", key, instead(keyText))
	}
	if !certIs || !keyIs {
		return
	}
	if _, err := tls.X509KeyPair(certText, keyText); err != nil {
		v.refuse(section+"key_file", "the certificate %s and the key %s do not go together: %s", cert, key, strings.TrimPrefix(err.Error(), "tls: "))
	}
}

// readPEM reads a file; false if it was refused.
func readPEM(v *verdicts, key, name string) ([]byte, bool) {
	text, err := readAll(name)
	if err != nil {
		v.refuse(key, "%s; name a PEM file that this user may read", unread(err))
	}
	return text, err == nil
}

// holds reports whether a PEM text has a block of a kind.
func holds(text []byte, kind string) bool {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if strings.HasSuffix(block.Type, kind) {
			return true
		}
	}
	return false
}

// instead says what a PEM text holds if it is not what is needed.
func instead(text []byte) string {
	block, _ := pem.Decode(text)
	if block == nil {
		return ""
	}
	return lang.Sprintf(" (it holds: %s)", strings.ToLower(block.Type))
}
