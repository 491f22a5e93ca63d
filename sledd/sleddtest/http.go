// SPDX-License-Identifier: Apache-2.0

package sleddtest

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
)

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Ask sends a request with a token and headers in pairs, as it is.
func (s *Sledd) Ask(method, path, token, body string, headers ...string) Answer {
	s.t.Helper()
	if s.Lost != nil && strings.HasPrefix(path, "/node/") {
		if _, err := s.Try(method, path, token, body, headers...); err != nil {
			s.t.Fatalf("%s %s: %v", method, path, err)
		}
		s.Lost(method, path)
	}
	answer, err := s.Try(method, path, token, body, headers...)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer
}

// AskOnce sends a request as a browser does: with headers in pairs and without a token. It follows no redirect.
func (s *Sledd) AskOnce(method, path, body string, headers ...string) Answer {
	s.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := s.try(client, method, path, "", body, headers...)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer
}

// Try is Ask for other goroutines than the test's.
func (s *Sledd) Try(method, path, token, body string, headers ...string) (Answer, error) {
	return s.try(http.DefaultClient, method, path, token, body, headers...)
}

// AskBehind is Ask over the unix socket of the options, as the web server in front does.
func (s *Sledd) AskBehind(method, path, token, body string, headers ...string) Answer {
	s.t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", s.options.Socket)
	}}
	defer transport.CloseIdleConnections()
	answer, err := s.try(&http.Client{Transport: transport}, method, path, token, body, headers...)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer
}

func (s *Sledd) try(client *http.Client, method, path, token, body string, headers ...string) (Answer, error) {
	request, err := http.NewRequestWithContext(context.Background(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if strings.HasPrefix(body, "{") {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := client.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return Answer{response.StatusCode, response.Header, string(text)}, err
}
