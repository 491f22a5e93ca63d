// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const defaultTimeout = 30 * time.Second

// Config is the address of sledd and the credentials. Empty fields have defaults; see FromEnvironment.
type Config struct {
	Server    string        // https://ADDRESS[:PORT], or unix:/PATH; plain http only to loopback
	Token     string        // of an operator
	TokenFile string        // holds the token; used when Token is empty
	CAFile    string        // PEM file with the CA of the server; default: those of the system
	CA        []byte        // the CA as PEM text
	Timeout   time.Duration // of one call; default 30 s
	UserAgent string        // default sled-client

	Transport http.RoundTripper // default: HTTP, with the CA
}

// FromEnvironment fills empty fields from SLED_SERVER, SLED_TOKEN, SLED_TOKEN_FILE and SLED_CA.
// A configured token or token file takes precedence over both variables for tokens.
func (c Config) FromEnvironment(getenv func(string) string) Config {
	if c.Server == "" {
		c.Server = getenv("SLED_SERVER")
	}
	if c.Token == "" && c.TokenFile == "" {
		c.Token, c.TokenFile = getenv("SLED_TOKEN"), getenv("SLED_TOKEN_FILE")
	}
	if c.CAFile == "" && len(c.CA) == 0 {
		c.CAFile = getenv("SLED_CA")
	}
	return c
}

func (c Config) server() (string, error) {
	if c.Server == "" {
		return "", errors.New("no server: set SLED_SERVER to https://ADDRESS of the boot server")
	}
	if c.socket() != "" {
		return "http://sledd", nil
	}
	u, err := url.Parse(c.Server)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return "", fmt.Errorf("server %q: expected https://ADDRESS", c.Server)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("server %q: expected https://ADDRESS and nothing else", u.Redacted())
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return "", fmt.Errorf("server %q: the token would be sent in clear text: use https://%s", c.Server, u.Host)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// socket is the path of a unix socket of sledd; empty: the server is an address.
func (c Config) socket() string {
	if path, is := strings.CutPrefix(c.Server, "unix:"); is && filepath.IsAbs(path) {
		return path
	}
	return ""
}

func loopback(name string) bool {
	return name == "localhost" || net.ParseIP(name).IsLoopback()
}

func (c Config) token() (string, error) {
	token := c.Token
	if token == "" && c.TokenFile != "" {
		content, err := os.ReadFile(c.TokenFile)
		if err != nil {
			return "", fmt.Errorf("token file: %w", err)
		}
		if token = strings.TrimSpace(string(content)); token == "" {
			return "", fmt.Errorf("token file %s is empty", c.TokenFile)
		}
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", errors.New("the token holds a space or a control character: want one word")
	}
	return token, nil
}

func (c Config) transport() (http.RoundTripper, error) {
	if c.Transport != nil {
		return c.Transport, nil
	}
	pem, from := c.CA, "CA"
	if len(pem) == 0 && c.CAFile != "" {
		content, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("CA file: %w", err)
		}
		pem, from = content, c.CAFile
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // documented
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if len(pem) > 0 {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate in PEM format", from)
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	if path := c.socket(); path != "" {
		transport.Proxy = nil
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, "unix", path) //nolint:wrapcheck // names the socket
		}
	}
	return transport, nil
}

func (c Config) timeout() time.Duration {
	if c.Timeout <= 0 {
		return defaultTimeout
	}
	return c.Timeout
}

func (c Config) userAgent() string {
	if c.UserAgent == "" {
		return "sled-client"
	}
	return c.UserAgent
}
