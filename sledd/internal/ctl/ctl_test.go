// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// fleetUUID is the identity of the fleet in tests.
const fleetUUID = "7b0c4f1e-2a55-4d3c-9d0e-0f6f2f9a1b11"

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// ran is what a command line did.
type ran struct {
	code     int
	out, err string
}

// sledctl runs a command line against a server.
func sledctl(t *testing.T, server, input string, args ...string) ran {
	t.Helper()
	return run(t.Context(), server, input, show.Screen{Size: func() (int, int) { return 80, 24 }}, args...)
}

func run(ctx context.Context, server, input string, screen show.Screen, args ...string) ran {
	var out, err ctltest.Buffer
	environment := map[string]string{"SLED_SERVER": server, "SLED_TOKEN": token}
	code := Run(ctx, args, System{
		Printer: show.Printer{Out: &out, Err: &err, Screen: screen, Now: func() time.Time { return ctltest.Noon }},
		In:      strings.NewReader(input), Getenv: func(name string) string { return environment[name] }})
	return ran{code, out.String(), err.String()}
}

const token = sleddtest.AdminToken

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
