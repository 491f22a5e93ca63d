// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxAnswer limits one response; the longest, a page of nodes, stays far below.
const maxAnswer = 64 << 20

// Client is a client of sledd's operator API. It is safe for concurrent use. Every call ends by the deadline of its
// context or the configured timeout, whichever is earlier. It fails with *Error if sledd refuses the request, or with
// *UnreachableError if sledd does not answer.
type Client struct {
	base    string
	token   string
	agent   string
	timeout time.Duration
	http    *http.Client
}

// New returns a client. It reads the token and CA files of config, and sends nothing.
func New(config Config) (*Client, error) {
	base, err := config.server()
	if err != nil {
		return nil, err
	}
	token, err := config.token()
	if err != nil {
		return nil, err
	}
	transport, err := config.transport()
	if err != nil {
		return nil, err
	}
	return &Client{
		base:    base,
		token:   token,
		agent:   config.userAgent(),
		timeout: config.timeout(),
		http:    &http.Client{Transport: transport, CheckRedirect: refuseRedirect},
	}, nil
}

// A redirect would send the operator's token to an address that the operator did not configure.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Server returns the base URL of the server.
func (c *Client) Server() string { return c.base }

// request is one API call before it is sent.
type request struct {
	method string
	path   string // below the base URL, segments escaped
	query  url.Values
	body   any // JSON, unless nil
	header http.Header
}

// call sends r and decodes the JSON response into out. If out is nil, the response must have no content.
func (c *Client) call(ctx context.Context, r request, out any) error {
	body, err := c.read(ctx, r)
	if err != nil {
		return err
	}
	if out == nil {
		if len(body) > 0 {
			return fmt.Errorf("%s %s: answer is not that of this API version: it has content", r.method, r.path)
		}
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("%s %s: answer is not the JSON of this API version: %w", r.method, r.path, err)
	}
	return nil
}

// read sends r and returns the body of a 2xx response.
func (c *Client) read(ctx context.Context, r request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	response, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	return body, nil
}

// send returns a 2xx response with its body still open.
func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	request, err := c.build(ctx, r)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	if response.StatusCode/100 != 2 {
		defer response.Body.Close()
		return nil, problem(r, response)
	}
	return response, nil
}

func (c *Client) build(ctx context.Context, r request) (*http.Request, error) {
	address := c.base + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	var body io.Reader
	if r.body != nil {
		encoded, err := json.Marshal(r.body)
		if err != nil {
			return nil, fmt.Errorf("%s %s: encode: %w", r.method, r.path, err)
		}
		body = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, err
	}
	for key, values := range r.header {
		request.Header[key] = values
	}
	if r.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if request.Header.Get("Accept") == "" {
		request.Header.Set("Accept", "application/json, application/problem+json")
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	request.Header.Set("User-Agent", c.agent)
	return request, nil
}

func (c *Client) unreachable(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return context.Canceled
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // UnreachableError has the URL
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("no answer before the deadline")
	}
	return &UnreachableError{Server: c.base, Err: err}
}

// path joins fixed segments and names, which are escaped. A name that would change the path is refused.
func path(collection string, names ...string) (string, error) {
	var b strings.Builder
	b.WriteString("/v1/" + collection)
	for _, name := range names {
		if name == "" || name == "." || name == ".." {
			return "", &Error{Status: http.StatusBadRequest, Title: "Bad name", Method: "use", Path: collection,
				Detail: fmt.Sprintf("%q is not a name in %s", name, collection)}
		}
		b.WriteString("/" + url.PathEscape(name))
	}
	return b.String(), nil
}
