// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// connect makes a client of a test server.
func connect(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := New(Config{Server: server.URL, Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(value); err != nil {
		panic(err)
	}
}

func TestCallCarriesTokenBodyAndCondition(t *testing.T) {
	var seen *http.Request
	var body NodeSpec
	client := connect(t, func(w http.ResponseWriter, r *http.Request) {
		seen = r
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		answer(w, Node{NodeSpec: body, Revision: 8})
	})
	node, err := client.PutNode(t.Context(), NodeSpec{MAC: "52:54:00:77:00:01", Name: "n1"}, IfRevision(7))
	if err != nil {
		t.Fatal(err)
	}
	if node.Revision != 8 || body.Name != "n1" {
		t.Errorf("sent %+v, got %+v", body, node)
	}
	for header, want := range map[string]string{"Authorization": "Bearer secret", "If-Match": `"7"`,
		"Content-Type": "application/json"} {
		if got := seen.Header.Get(header); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
	if _, err := client.PutNode(t.Context(), body, IfAbsent()); err != nil || seen.Header.Get("If-None-Match") != "*" {
		t.Errorf("If-None-Match %q, error %v", seen.Header.Get("If-None-Match"), err)
	}
}

func TestNamesCannotLeaveTheirPlace(t *testing.T) {
	var path string
	client := connect(t, func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.EscapedPath()
		answer(w, Node{})
	})
	if _, err := client.Node(t.Context(), "../images/x?y"); err != nil || path != "/v1/nodes/..%2Fimages%2Fx%3Fy" {
		t.Errorf("path %q, error %v", path, err)
	}
	for _, name := range []string{"", ".", ".."} {
		if _, err := client.Node(t.Context(), name); StatusOf(err) != 400 {
			t.Errorf("node %q: %v", name, err)
		}
	}
}

func TestListReadsAllPages(t *testing.T) {
	client := connect(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if got := q["label"]; len(got) != 2 || strings.Join(q["phase"], " ") != "idle wiped" || q.Get("q") != "n" ||
			q.Get("limit") == "" {
			t.Errorf("query %v", q)
		}
		if q.Get("after") == "" {
			answer(w, NodeList{Items: []Node{{NodeSpec: NodeSpec{Name: "n1"}}, {NodeSpec: NodeSpec{Name: "n2"}}},
				Next: "n2"})
			return
		}
		answer(w, NodeList{Items: []Node{{NodeSpec: NodeSpec{Name: "n3"}}}})
	})
	filter := Filter{Labels: []string{"rack=a", "row=1"}, Phases: []Phase{Idle, Wiped}, Text: "n"}
	nodes, err := Collect(client.Nodes(t.Context(), filter))
	if err != nil || len(nodes) != 3 || nodes[2].Name != "n3" {
		t.Errorf("%v, %v", nodes, err)
	}
	for node := range client.Nodes(t.Context(), filter) {
		if node.Name != "n1" {
			t.Error("went on after a break")
		}
		break
	}
}

func TestListEndsWithTheErrorOfAPage(t *testing.T) {
	client := connect(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("after") != "" {
			http.Error(w, "no", http.StatusServiceUnavailable)
			return
		}
		answer(w, NodeList{Items: []Node{{}}, Next: "x"})
	})
	if nodes, err := Collect(client.Nodes(t.Context(), Filter{})); !IsUnreachable(err) || nodes != nil {
		t.Errorf("half a list was given: %v, %v", nodes, err)
	}
}

func TestAnAnswerThatIsNoListIsNoEmptyList(t *testing.T) {
	client := connect(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, map[string]any{}) })
	if nodes, err := Collect(client.Nodes(t.Context(), Filter{})); err == nil || nodes != nil {
		t.Errorf("%v, %v", nodes, err)
	}
	if images, err := client.Images(t.Context()); err == nil || images != nil {
		t.Errorf("%v, %v", images, err)
	}
}

func TestRefusals(t *testing.T) {
	problem := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `{"title":"T","status":%d,"detail":"D",`+
				`"errors":[{"message":"M","location":"body.items[3].image"}]}`, status)
		}
	}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		holds   func(error) bool
		text    string
	}{
		"denied":       {problem(403), IsDenied, "D: body.items[3].image: M (403 T)"},
		"not found":    {problem(404), IsNotFound, "(404 T)"},
		"conflict":     {problem(409), IsConflict, "(409 T)"},
		"precondition": {problem(412), IsConflict, "(412 T)"},
		"store down":   {problem(503), IsUnreachable, "(503 T)"},
		"html of a proxy": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "<html>",
				http.StatusBadGateway)
		},
			IsUnreachable,
			"GET /v1/images/x (502 Bad Gateway)"},
		"not json": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte("]"))
		}, func(err error) bool { return StatusOf(err) == 404 && !IsNotFound(err) }, "no problem+json (404 Not Found)"},
		"404 of a gateway": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"message":"no route"}`))
		}, func(err error) bool { return StatusOf(err) == 404 && !IsNotFound(err) }, "(404 Not Found)"},
		"404 of a proxy": {http.NotFound, func(err error) bool { return StatusOf(err) == 404 && !IsNotFound(err) },
			"(404 Not Found)"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere/", http.StatusMovedPermanently)
		},
			func(err error) bool { return StatusOf(err) == 301 }, "give that address as the server"},
		"empty answer": {func(http.ResponseWriter, *http.Request) {}, func(err error) bool { return err != nil },
			"not the JSON"},
	} {
		_, err := connect(t, test.handler).Image(t.Context(), "x")
		if !test.holds(err) || !strings.Contains(fmt.Sprint(err), test.text) {
			t.Errorf("%s: %v, want %q", name, err, test.text)
		}
	}
}

func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	client, err := New(Config{Server: server.URL, Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Node(t.Context(), "n1")
	if !IsUnreachable(err) || IsNotFound(err) || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if _, err := client.Node(late, "n1"); !IsUnreachable(err) {
		t.Errorf("past the deadline: %v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := client.Node(stopped, "n1"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestTrustNeedsTheCA(t *testing.T) {
	handler := func(w http.ResponseWriter, _ *http.Request) { answer(w, Node{}) }
	server := httptest.NewUnstartedServer(http.HandlerFunc(handler))
	server.Config.ErrorLog = nil
	server.StartTLS()
	defer server.Close()
	stranger, err := New(Config{Server: server.URL, Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.Node(t.Context(), "n1"); !IsUnreachable(err) || !strings.Contains(err.Error(),
		"certificate") {
		t.Errorf("an unknown CA was not told: %v", err)
	}
	ca := filepath.Join(t.TempDir(), "ca.crt")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	friend, err := New(Config{Server: server.URL, Token: "secret", CAFile: ca})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := friend.Node(t.Context(), "n1"); err != nil {
		t.Error(err)
	}
}

func TestNodeCalls(t *testing.T) {
	var seen []string
	client := connect(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen = append(seen, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		switch {
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		case strings.HasSuffix(r.URL.Path, "/log"):
			_, _ = w.Write([]byte("two disks match\n"))
		default:
			answer(w, map[string]any{"items": []any{map[string]any{"id": 5, "name": "x"}}})
		}
	})
	ctx := t.Context()
	events, err := client.Events(ctx, "n1", 9)
	log, err2 := client.Log(ctx, "n1")
	_, err3 := client.Timeline(ctx, "n1")
	_, err4 := client.Images(ctx)
	_, err5 := client.Operators(ctx)
	_, err6 := client.Bind(ctx,
		BulkBindings{Items: []BulkBinding{{BindingSpec: BindingSpec{Node: "n1", Image: "i"}}}}, Reimage())
	_, err7 := client.PutBinding(ctx, BindingSpec{Node: "n1"}, IfGeneration(3))
	_, err8 := Collect(client.Bindings(ctx, Filter{Image: "i"}))
	if err := errors.Join(err, err2, err3, err4, err5, err6, err7, err8,
		client.DeleteNode(ctx, "n1"), client.DeleteImage(ctx, "i"), client.DeleteBinding(ctx, "n1"),
		client.DeleteOperator(ctx, "o")); err != nil {
		t.Fatal(err)
	}
	if len(events) != 1 || events[0].ID != 5 || log.String() != "two disks match\n" {
		t.Errorf("events %v, log %q", events, log)
	}
	want := `GET /v1/nodes/n1/events?limit=9
GET /v1/nodes/n1/log
GET /v1/nodes/n1/timeline
GET /v1/images
GET /v1/operators
POST /v1/bindings?reimage=true {"items":[{"node":"n1","image":"i"}]}
PUT /v1/bindings/n1?generation=3 {"node":"n1"}
GET /v1/bindings?image=i&limit=2000
DELETE /v1/nodes/n1
DELETE /v1/images/i
DELETE /v1/bindings/n1
DELETE /v1/operators/o`
	if got := strings.Join(seen, "\n"); got != want {
		t.Errorf("sent\n%s\nwant\n%s", got, want)
	}
}
