// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fleetUUID is the identity of the fleet in tests.
const fleetUUID = "7b0c4f1e-2a55-4d3c-9d0e-0f6f2f9a1b11"

// noon is when the tests happen.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// buffer can be written by a command while a test reads it.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// ran is what a command line did.
type ran struct {
	code     int
	out, err string
}

// sledctl runs a command line against a server.
func sledctl(t *testing.T, server, input string, args ...string) ran {
	t.Helper()
	return run(t.Context(), server, input, Screen{Size: func() (int, int) { return 80, 24 }}, args...)
}

func run(ctx context.Context, server, input string, screen Screen, args ...string) ran {
	var out, err buffer
	environment := map[string]string{"SLED_SERVER": server, "SLED_TOKEN": token}
	code := Run(ctx, args, System{In: strings.NewReader(input), Out: &out, Err: &err, Screen: screen,
		Getenv: func(name string) string { return environment[name] }, Now: func() time.Time { return noon }})
	return ran{code, out.String(), err.String()}
}

const token = sleddtest.AdminToken

// golden compares with testdata/NAME.txt.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got\n%s\nwant\n%s", file, got, want)
	}
}

// transcript is the output of several command lines, for one golden file.
type transcript struct{ strings.Builder }

func (w *transcript) add(line, output string) {
	_, _ = fmt.Fprintf(w, "$ sledctl %s\n%s\n", line, output)
}

// at compares with testdata/NAME.txt, if the terminal has the width of golden files.
func (w *transcript) at(t *testing.T, width int, name string) {
	t.Helper()
	if width == goldenWidth {
		golden(t, name, w.String())
	}
}

// double answers GET of a path with a value, and every other request with a problem.
func double(t *testing.T, answers map[string]any) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nodes, _ := answers["/v1/nodes"].(api.NodeList)
		switch value := answers[r.URL.Path].(type) {
		case nil:
			if r.URL.Path == "/v1/summary" && nodes.Items != nil {
				_ = json.NewEncoder(w).Encode(summed(nodes.Items))
				return
			}
			refuse(w, http.StatusNotFound, r.URL.Path+" is not known")
		case int:
			refuse(w, value, "so says the test")
		case string:
			_, _ = w.Write([]byte(value))
		case http.HandlerFunc:
			value(w, r)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(value)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// summed is the summary of nodes by phase.
func summed(nodes []api.Node) api.Summary {
	sum := api.Summary{By: api.ByPhase}
	for _, n := range nodes {
		sum.Total.Add(n.Status.Phase, n.Binding != nil && !n.Binding.Satisfied, n.Overdue > 0)
	}
	return sum
}

func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(api.Error{Status: status, Title: http.StatusText(status), Detail: detail})
}
