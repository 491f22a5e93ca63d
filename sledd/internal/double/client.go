// SPDX-License-Identifier: Apache-2.0

package double

import (
	"archive/tar"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/mac"
)

const (
	pollSeconds = 60 // as the initrd does
	retryTime   = 500 * time.Millisecond
	connectTime = 2 * time.Second
)

// errToken: the token is not taken any more, so the machine restarts.
var errToken = errors.New("the token is not accepted")

// client sends the requests of a node. It retries forever while the server does not answer: an
// operator will switch the machine off.
type client struct {
	servers []string // base URLs
	boot    []string // those of the boot scripts
	at      int      // which of them answered last
	mac     string   // with hyphens
	token   string   // of the Sled system
	http    *http.Client
	say     func(format string, a ...any)
}

func (m *Machine) client(say func(format string, a ...any)) (*client, error) {
	transport := m.Transport
	if transport == nil {
		own, err := m.Settings.transport()
		if err != nil {
			return nil, err
		}
		transport = own
	}
	servers := bases(m.Settings.Server)
	return &client{servers: servers, boot: bases(cmp.Or(m.Settings.Boot, m.Settings.Server)),
		at: first(m.MAC, len(servers)), mac: mac.Hyphens(m.MAC), say: say,
		http: &http.Client{Transport: transport, Timeout: (pollSeconds + 30) * time.Second}}, nil
}

func bases(joined string) []string {
	urls := strings.Split(joined, ",")
	for i, url := range urls {
		urls[i] = strings.TrimSuffix(url, "/")
	}
	return urls
}

// first is the server that a machine calls first, so that the machines of a site spread over its servers.
func first(mac string, servers int) int {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(mac))
	return int(sum.Sum32() % uint32(servers)) //nolint:gosec // there are few
}

// transport trusts the CA of the settings. A server that is gone without a word is noticed within seconds.
func (s *Settings) transport() (*http.Transport, error) {
	dialer := &net.Dialer{Timeout: connectTime,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: connectTime, Interval: connectTime, Count: 2}}
	transport := &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: connectTime}
	if s.CA == "" {
		return transport, nil
	}
	pem, err := os.ReadFile(s.CA)
	if err != nil {
		return nil, fmt.Errorf("ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca: %s holds no certificate", s.CA)
	}
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return transport, nil
}

// ask sends until it is answered by something else than "not now".
func (c *client) ask(ctx context.Context, method, path, token, body string) (int, string, error) {
	for {
		status, text, wait, err := c.once(ctx, method, path, token, body)
		switch {
		case err == nil && status == http.StatusUnauthorized, err == nil && status == http.StatusForbidden:
			return status, text, fmt.Errorf("%s %s: %d: %w", method, path, status, errToken)
		case err == nil && isFinal(status):
			return status, text, nil
		case ctx.Err() != nil:
			return 0, "", ctx.Err() //nolint:wrapcheck // by the caller
		case err != nil:
			c.say("%s %s: %v", method, path, err)
		default:
			c.say("%s %s: %d: %s", method, path, status, strings.TrimSpace(text))
		}
		if err != nil || status >= http.StatusInternalServerError || status == http.StatusTooManyRequests {
			c.at = (c.at + 1) % len(c.servers)
		}
		if err := pause(ctx, wait); err != nil {
			return 0, "", err
		}
	}
}

// isFinal reports whether a status is not "not now".
func isFinal(status int) bool {
	return status < http.StatusInternalServerError && status != http.StatusConflict &&
		status != http.StatusTooManyRequests
}

// nodePath is the path of a request of the node.
func (c *client) nodePath(what string) string { return "/node/v1/" + c.mac + "/" + what }

func (c *client) once(ctx context.Context, method, path, token, body string) (status int, answer string,
	wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, method, c.url(path), strings.NewReader(body))
	if err != nil {
		return 0, "", retryTime, err //nolint:wrapcheck // clear enough
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, "", retryTime, err //nolint:wrapcheck // clear enough
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if renewed := response.Header.Get("Sled-Token"); err == nil && renewed != "" {
		c.token = renewed
	}
	return response.StatusCode, string(text), retryAfter(response.Header), err //nolint:wrapcheck // clear enough
}

// url of a path, or of a URL of a plan: a machine's firmware may ask another server than its system does.
func (c *client) url(path string) string {
	switch {
	case strings.HasPrefix(path, "/boot/"), strings.HasPrefix(path, "/up/"):
		return c.boot[c.at%len(c.boot)] + path
	case strings.HasPrefix(path, "/"):
		return c.servers[c.at] + path
	}
	return path
}

// post sends a report. Any status but 204 is an error.
func (c *client) post(ctx context.Context, what, token, body string) error {
	status, text, err := c.ask(ctx, http.MethodPost, c.nodePath(what), token, body)
	if err == nil && status != http.StatusNoContent {
		err = fmt.Errorf("%s: %d: %s", what, status, text)
	}
	return err
}

// script fetches the boot script.
func (c *client) script(ctx context.Context) (string, error) {
	status, text, err := c.ask(ctx, http.MethodGet, "/boot/"+c.mac+".ipxe", "", "")
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("boot script: %d: %s", status, text)
	}
	return text, err
}

// seed fetches the seed and returns its line `operational`.
func (c *client) seed(ctx context.Context) (string, error) {
	status, text, err := c.ask(ctx, http.MethodGet, c.nodePath("seed"), c.token, "")
	if err != nil {
		return "", err
	}
	if status != http.StatusOK {
		return "", fmt.Errorf("seed: %d: %s", status, text)
	}
	archive := tar.NewReader(strings.NewReader(text))
	for {
		header, err := archive.Next()
		if err != nil {
			return "", fmt.Errorf("seed: no file operational: %w", err)
		}
		if header.Name == "operational" {
			line, err := io.ReadAll(archive)
			return strings.TrimSpace(string(line)), err //nolint:wrapcheck // clear enough
		}
	}
}

func pause(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // switched off
	case <-time.After(length):
		return nil
	}
}
