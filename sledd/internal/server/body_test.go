// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// shortRead is the time for a request to arrive at a sledd that is impatient.
const shortRead = time.Second

// impatient runs another sledd on the store of the test, which gives a request less time to arrive.
func impatient(t *testing.T) *sledd {
	t.Helper()
	s := &sledd{T: t}
	s.Sledd = sleddtest.StartWith(t, sleddtest.Options{Store: shared, Now: s.now, ReadTimeout: shortRead})
	return s
}

// half sends a request with half of its body, and returns the connection.
func (s *sledd) half(method, path, token string) net.Conn {
	s.Helper()
	connection, err := (&net.Dialer{}).DialContext(s.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = connection.Close() })
	_, err = fmt.Fprintf(connection, "%s %s HTTP/1.1\r\nHost: sledd\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: 66\r\n\r\nreport 1\ngeneration 1 run 1\n", method, path, token)
	if err != nil {
		s.Fatal(err)
	}
	return connection
}

// closed waits until the other side has closed a connection, and returns the answer that came before.
func closed(connection net.Conn) (string, error) {
	if err := connection.SetReadDeadline(time.Now().Add(patience.Limit)); err != nil {
		return "", err
	}
	text, err := io.ReadAll(connection)
	return string(text), err
}

func TestHalfSentBodiesAreClosed(t *testing.T) {
	s, short := fresh(t), impatient(t)
	s.Declare(1)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	m.Poll(0)
	node := "/node/v1/" + m.MAC
	var open sync.WaitGroup
	for _, c := range []struct{ method, path, token, want string }{
		{"POST", node + "/report", "", "401"},
		{"POST", node + "/facts", "sledb_525400770001_1_" + strings.Repeat("0", 64), "401"},
		{"POST", node + "/report", m.Token, "400"},
		{"GET", node + "/plan?wait=60&run=1", m.Token, "400"},
		{"PUT", "/v1/nodes/n2", "", "401"},
		{"PUT", "/v1/nodes/n2", adminToken, "408"},
		{"POST", "/v1/bindings", "", "401"},
		{"POST", "/nothing", "", "404"},
		{"POST", "/metrics", "", "405"},
	} {
		connection := short.half(c.method, c.path, c.token)
		open.Go(func() {
			answer, err := closed(connection)
			if err != nil || !strings.HasPrefix(answer, "HTTP/1.1 "+c.want) ||
				!strings.Contains(answer, "\r\nConnection: close\r\n") {
				t.Errorf("%s %s: want %s and a closed connection, got %v: %s", c.method, c.path, c.want, err, answer)
			}
		})
	}
	open.Wait()
}

func TestManyHalfSentBodiesAreClosed(t *testing.T) {
	s, short := fresh(t), impatient(t)
	s.Declare(1)
	m := s.Machine(1)
	m.Poll(0)
	var open sync.WaitGroup
	var still atomic.Int64
	for i := range 300 {
		connection := short.half("POST", "/node/v1/"+m.MAC+"/report", []string{"", m.Token}[i%2])
		open.Go(func() {
			if _, err := closed(connection); err != nil {
				still.Add(1)
			}
		})
	}
	open.Wait()
	if n := still.Load(); n > 0 {
		t.Errorf("%d of 300 connections are still open", n)
	}
}

func TestLongPollsOutliveTheReadTimeout(t *testing.T) {
	s, short := fresh(t), impatient(t)
	s.Declare(1)
	m := s.Machine(1)
	m.Poll(0)
	begin := time.Now()
	a := short.Ask("GET", "/node/v1/"+m.MAC+"/plan?run=1&wait=2", m.Token, "")
	if a.Status != http.StatusNoContent || time.Since(begin) < 2*shortRead {
		t.Errorf("the poll ended after %s with %d: %s", time.Since(begin), a.Status, a.Body)
	}
}

func TestStreamsOutliveTheReadTimeout(t *testing.T) {
	s, short := fresh(t), impatient(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, short.URL+"/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+adminToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Scan() // it is open
	<-time.After(3 * shortRead)
	s.Declare(1)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"kind":"declare"`) {
			return
		}
	}
	t.Errorf("the stream ended: %v", lines.Err())
}

func TestTokenIsCheckedBeforeTheBody(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	m := s.Machine(1)
	for what, most := range map[string]int{"report": 1 << 20, "facts": 64 << 10, "log": 64 << 10, "lastwords": 64 << 10,
		"operational": 16 << 10} {
		path, large := "/node/v1/"+m.MAC+"/"+what, strings.Repeat("x", most+1)
		if a := s.Ask("POST", path, "", large); a.Status != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d: %s", what, a.Status, a.Body)
		}
		if a := s.Ask("POST", path, m.Token, large); a.Status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s of %d bytes: %d: %s", what, len(large), a.Status, a.Body)
		}
	}
}
