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
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/mac"
)

const (
	pollSeconds = 60 // as the initrd does
	retryTime   = 500 * time.Millisecond
)

// errToken: the token is not taken any more, so the machine restarts.
var errToken = errors.New("the token is not accepted")

// client sends the requests of a node. It retries forever while the server does not answer: an
// operator will switch the machine off.
type client struct {
	base, boot string // URLs
	mac        string // with hyphens
	token      string // of the Sled system
	http       *http.Client
	say        func(format string, a ...any)
}

func (m *Machine) client(say func(format string, a ...any)) (*client, error) {
	transport := &http.Transport{}
	if m.Settings.CA != "" {
		pem, err := os.ReadFile(m.Settings.CA)
		if err != nil {
			return nil, fmt.Errorf("ca: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca: %s holds no certificate", m.Settings.CA)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	base := strings.TrimSuffix(m.Settings.Server, "/")
	boot := strings.TrimSuffix(cmp.Or(m.Settings.Boot, base), "/")
	return &client{base: base, boot: boot, mac: mac.Hyphens(m.MAC), say: say,
		http: &http.Client{Transport: cmp.Or[http.RoundTripper](m.Transport, transport),
			Timeout: (pollSeconds + 30) * time.Second}}, nil
}

// ask sends until it is answered by something else than "not now".
func (c *client) ask(ctx context.Context, method, path, token, body string) (int, string, error) {
	for {
		status, text, wait, err := c.once(ctx, method, path, token, body)
		switch {
		case err == nil && status == http.StatusUnauthorized, err == nil && status == http.StatusForbidden:
			return status, text, fmt.Errorf("%s %s: %d: %w", method, path, status, errToken)
		case err == nil && status < http.StatusInternalServerError && status != http.StatusConflict &&
			status != http.StatusTooManyRequests:
			return status, text, nil
		case err != nil:
			c.say("%s %s: %v", method, path, err)
		default:
			c.say("%s %s: %d: %s", method, path, status, strings.TrimSpace(text))
		}
		if err := pause(ctx, wait); err != nil {
			return 0, "", err
		}
	}
}

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

// url of a path: a machine's firmware may ask another server than its system does.
func (c *client) url(path string) string {
	if strings.HasPrefix(path, "/boot/") {
		return c.boot + path
	}
	return c.base + path
}

// post sends a report. Any status but 204 is an error.
func (c *client) post(ctx context.Context, what, token, body string) error {
	status, text, err := c.ask(ctx, http.MethodPost, "/node/v1/"+c.mac+"/"+what, token, body)
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
	status, text, err := c.ask(ctx, http.MethodGet, "/node/v1/"+c.mac+"/seed", c.token, "")
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
