// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
)

// desk is a user with a file of contexts.
type desk struct {
	*testing.T
	environment map[string]string
}

func newDesk(t *testing.T) desk {
	t.Helper()
	return desk{t, map[string]string{"HOME": t.TempDir()}}
}

func (d desk) run(environment map[string]string, args ...string) ran {
	d.Helper()
	all := maps.Clone(d.environment)
	maps.Copy(all, environment)
	var out, err ctltest.Buffer
	code := Run(d.Context(), args, System{
		Printer: show.Printer{Out: &out, Err: &err, Now: ctltest.Now},
		In:      strings.NewReader(""), Getenv: func(name string) string { return all[name] }})
	return ran{code, out.String(), err.String()}
}

func (d desk) file() string {
	return filepath.Join(d.environment["HOME"], ".config", "sled", "config.yaml")
}

func (d desk) tokenFile(name, content string) string {
	d.Helper()
	path := filepath.Join(d.environment["HOME"], name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		d.Fatal(err)
	}
	return path
}

// fleet is a server that answers with the token that it was sent.
func (d desk) fleet() string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bearer := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"items":[{"name":"` + bearer + `","role":"read"}]}`))
	}))
	d.Cleanup(server.Close)
	return server.URL
}

// sent returns the token that a server got.
func (d desk) sent(environment map[string]string, args ...string) string {
	d.Helper()
	got := d.run(environment, append(args, "operator", "list", "-o", "name")...)
	if got.code != exitDone {
		d.Errorf("%v %v: %+v", environment, args, got)
	}
	return strings.TrimSpace(got.out)
}

// The token of one fleet is never sent to the server of another.
func TestContextsKeepTokensApart(t *testing.T) {
	d := newDesk(t)
	a, b, c := d.fleet(), d.fleet(), d.fleet()
	for name, server := range map[string]string{"a": a, "b": b} {
		if got := d.run(nil, "context", "set", name, "--server", server, "--token-file",
			d.tokenFile(name, "token-"+name)); got.code != exitDone {
			t.Fatalf("%+v", got)
		}
	}
	if got := d.run(nil, "context", "use", "a"); got.code != exitDone {
		t.Fatalf("%+v", got)
	}
	env := map[string]string{"SLED_TOKEN": "of-env"}
	withServer := map[string]string{"SLED_SERVER": c, "SLED_TOKEN": "of-env"}
	for name, one := range map[string]struct {
		environment map[string]string
		args        []string
		want        string
	}{
		"current context":                 {nil, nil, "token-a"},
		"other context":                   {nil, []string{"--context", "b"}, "token-b"},
		"context of the environment":      {map[string]string{"SLED_CONTEXT": "b"}, nil, "token-b"},
		"token of the environment alone":  {env, nil, "token-a"},
		"server of the environment":       {withServer, nil, "of-env"},
		"context before the environment":  {withServer, []string{"--context", "b"}, "token-b"},
		"server as a flag":                {nil, []string{"--server", c}, ""},
		"token as a flag":                 {nil, []string{"--token", "of-flag"}, "of-flag"},
		"server and token of environment": {env, []string{"--server", c}, "of-env"},
	} {
		if got := d.sent(one.environment, one.args...); got != one.want {
			t.Errorf("%s: the server got the token %q, want %q", name, got, one.want)
		}
	}
}

func TestContexts(t *testing.T) {
	d := newDesk(t)
	server := d.fleet()
	if got := d.run(nil, "context", "list"); got.code != exitDone || strings.Contains(got.out, "http") {
		t.Errorf("without a file: %+v", got)
	}
	token := d.tokenFile("t", "x")
	for line, want := range map[string]int{
		"set x!y --server https://10.8.0.1":                 exitUsage,
		"set x --server https://10.8.0.1 --token abc":       exitUsage,
		"set x --server http://10.8.0.1":                    exitUsage,
		"set x":                                             exitUsage,
		"set x --server https://10.8.0.1 --ca /none/ca.crt": exitUsage,
		"use x":    exitFailed,
		"delete x": exitFailed,
	} {
		if got := d.run(nil, append([]string{"context"}, strings.Fields(line)...)...); got.code != want {
			t.Errorf("context %s: exit %d, want %d: %s", line, got.code, want, got.err)
		}
	}
	if _, err := os.Stat(d.file()); err == nil {
		t.Error("a refused command wrote the file")
	}
	for _, line := range []string{"set x --server " + server + " --token-file " + token,
		"set y --server https://10.8.0.2"} {
		if got := d.run(nil, append([]string{"context"}, strings.Fields(line)...)...); got.code != exitDone {
			t.Fatalf("%s: %+v", line, got)
		}
	}
	got := d.run(nil, "context", "list")
	if lines := strings.Split(got.out, "\n"); len(lines) < 3 || !strings.HasPrefix(lines[1], "x     yes") ||
		!strings.HasPrefix(lines[2], "y     no") {
		t.Errorf("%s", got.out)
	}
	if got := d.run(nil, "context", "delete", "x"); got.code != exitDone {
		t.Errorf("%+v", got)
	}
	if got := d.run(nil, "status"); got.code != exitUsage || !strings.Contains(got.err, "SLED_SERVER") {
		t.Errorf("without a current context: %+v", got)
	}
	if info, err := os.Stat(d.file()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestContextFilesThatAreWrong(t *testing.T) {
	d := newDesk(t)
	if err := os.MkdirAll(filepath.Dir(d.file()), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"contexts: [": "config.yaml: ",
		"contexts: {a: {server: x, token: secret}}":       `unknown field "token"`,
		"current: gone\ncontexts: {a: {server: x}}":       `context "gone" does not exist: there are a`,
		"current: a\ncontexts: {a: {ca: x}}":              "context a has no server",
		"current: a":                                      `context "a" does not exist: there are none`,
		"current: a\ncontexts: {a: {server: 'http://x'}}": "clear text",
	} {
		if err := os.WriteFile(d.file(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := d.run(nil, "status"); got.code != exitUsage || !strings.Contains(got.err, want) {
			t.Errorf("%s: exit %d, %s", text, got.code, got.err)
		}
	}
	if got := d.run(nil, "--context", "a", "--server", "https://x", "status"); got.code != exitUsage ||
		!strings.Contains(got.err, "exclude each other") {
		t.Errorf("%+v", got)
	}
}

// A question names the context, so that nobody wipes the nodes of another fleet.
func TestQuestionsNameTheContext(t *testing.T) {
	a := &app{System: System{Getenv: func(string) string { return "" }}, context: "hall-b"}
	if got := a.inContext(); got != " (context hall-b)" {
		t.Errorf("%q", got)
	}
	a.context, a.config = "", api.Config{Server: "https://10.8.0.1"}
	if _, err := a.target(); err != nil || a.inContext() != "" {
		t.Errorf("%q, %v", a.inContext(), err)
	}
}
