// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

func TestHelpFitsTheScreen(t *testing.T) {
	var help bytes.Buffer
	root := command()
	root.SetOut(&help)
	root.SetArgs([]string{"--help"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(help.String(), "--watchdog") {
		t.Errorf("flags are missing:\n%s", help.String())
	}
	for line := range strings.Lines(help.String()) {
		if len(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
}

func TestFlagsThatCannotWork(t *testing.T) {
	short := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(short, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for says, arguments := range map[string][]string{
		"--boot-url \"\"":          {},
		"--boot-url \"ftp://a\"":   {"--boot-url", "ftp://a"},
		"--boot-url \"http://a/b":  {"--boot-url", "http://a/b"},
		"--listen \"9470\"":        {"--boot-url", "http://a", "--listen", "9470"},
		"--listen \"unix:sock\"":   {"--boot-url", "http://a", "--listen", "unix:sock"},
		"at most 107 bytes":        {"--boot-url", "http://a", "--listen", "unix:/" + strings.Repeat("a", 107)},
		"the web server in front":  {"--boot-url", "http://a", "--listen", "unix:/s", "--tls-cert", "c", "--tls-key", "k"},
		"--node-urls \"a\"":        {"--boot-url", "http://a", "--node-urls", "https://b,a"},
		"--etcd-endpoints \"b:1\"": {"--boot-url", "http://a", "--etcd-endpoints", "b:1"},
		"use https://b:2379, with --etcd-ca": {"--boot-url", "http://a", "--etcd-endpoints",
			"http://127.0.0.1:2379,http://b:2379"},
		"--etcd-endpoints \"http://10.0.0.1:2379\"": {"--boot-url", "http://a", "--etcd-endpoints", "http://10.0.0.1:2379"},
		"--flavour \"tiny\"":                        {"--boot-url", "http://a", "--flavour", "tiny"},
		"--token-ttl 1s":                            {"--boot-url", "http://a", "--token-ttl", "1s"},
		"--image-urls \"http://a/\"": {"--boot-url", "http://a", "--image-urls", "http://a/", "--upload-url",
			"https://a/upload"},
		"--upload-quota 5": {"--boot-url", "http://a", "--upload-quota", "5"},
		"--upload-url \"ftp://a/upload\"": {"--boot-url", "http://a", "--image-urls", "http://a/images", "--upload-url",
			"ftp://a/upload"},
		"--relays: \"10.0.0.1\"":               {"--boot-url", "http://a", "--relays", "10.0.0.1"},
		"--log-format \"xml\"":                 {"--boot-url", "http://a", "--log-format", "xml"},
		"--log-level \"loud\"":                 {"--boot-url", "http://a", "--log-level", "loud"},
		"--tls-cert \"c\"":                     {"--boot-url", "http://a", "--tls-cert", "c"},
		"--etcd-cert \"c\"":                    {"--boot-url", "http://a", "--etcd-cert", "c"},
		"--kernel-arguments":                   {"--boot-url", "http://a", "--kernel-arguments", "a || shell"},
		"--store-quota 1: want 32 to":          {"--boot-url", "http://a", "--store-quota", "1"},
		"--watchdog 5s: want whole seconds":    {"--boot-url", "http://a", "--watchdog", "5s"},
		"--quirks: " + short + ": want a list": {"--boot-url", "http://a", "--quirks", short},
		"--user-data-key-file: open /none":     {"--boot-url", "http://a", "--user-data-key-file", "/none"},
		"--quirks: open /none":                 {"--boot-url", "http://a", "--quirks", "/none"},
		"5 bytes":                              {"--boot-url", "http://a", "--admin-token-file", short},
		"no such file":                         {"--boot-url", "http://a", "--admin-token-file", "/none"},
		"unknown flag":                         {"--colour", "red"},
		"unknown command":                      {"dance"},
	} {
		root := command()
		root.SetArgs(append(arguments, "--data-dir="+t.TempDir()))
		if says == "unknown command" {
			root.SetArgs(arguments)
		}
		if err := root.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: got %v, want an error with %q", arguments, err, says)
		}
	}
}

func TestPlainEtcdOnLoopbackIsAccepted(t *testing.T) {
	for _, endpoint := range []string{"http://127.0.0.1:2379", "http://[::1]:2379", "http://localhost:2379",
		"https://10.0.0.1:2379"} {
		if err := checkEtcd(endpoint); err != nil {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

func TestEnvironmentSetsFlags(t *testing.T) {
	t.Setenv("SLED_BOOT_URL", "http://a")
	t.Setenv("SLED_TOKEN_TTL", "soon")
	root := command()
	root.SetArgs(nil)
	if err := root.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "SLED_TOKEN_TTL=soon") {
		t.Errorf("got %v", err)
	}
}

func TestOpenAPIIsPrinted(t *testing.T) {
	var out bytes.Buffer
	root := command()
	root.SetOut(&out)
	root.SetArgs([]string{"openapi"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	var document struct{ OpenAPI string }
	if err := json.Unmarshal(out.Bytes(), &document); err != nil || !strings.HasPrefix(document.OpenAPI, "3.1") {
		t.Errorf("%v: %s", err, document.OpenAPI)
	}
}

// TestServe runs the whole of sledd: it reports READY to systemd, answers requests, keeps its data
// over a restart, and ends without error.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("0123456789abcdef0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	notified, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer notified.Close()
	t.Setenv("NOTIFY_SOCKET", filepath.Join(dir, "notify"))
	t.Setenv("SLED_BOOT_URL", "http://10.77.0.1")
	address := "http://" + freeAddress(t)
	for run, request := range []struct{ method, body string }{{"PUT", `{"mac":"52:54:00:77:00:01","name":"n1"}`},
		{"GET", ""}} {
		ctx, stop := context.WithCancel(t.Context())
		root := command()
		root.SetArgs([]string{"--listen", strings.TrimPrefix(address, "http://"), "--data-dir", filepath.Join(dir, "etcd"),
			"--admin-token-file", token, "--log-level", "error"})
		ended := make(chan error, 1)
		go func() { ended <- root.ExecuteContext(ctx) }()
		message := make([]byte, 64)
		if err := notified.SetReadDeadline(time.Now().Add(patience.Limit)); err != nil {
			t.Fatal(err)
		}
		n, err := notified.Read(message)
		if err != nil || string(message[:n]) != "READY=1" {
			t.Fatalf("run %d: systemd was told %q, %v", run, message[:n], err)
		}
		if status, text := send(t, request.method, address+"/v1/nodes/n1", request.body); status != http.StatusOK {
			t.Errorf("run %d: %d: %s", run, status, text)
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("run %d ended with %v", run, err)
		}
		if n, err = notified.Read(message); err != nil || string(message[:n]) != "STOPPING=1" {
			t.Errorf("run %d: systemd was told %q, %v", run, message[:n], err)
		}
	}
}

// send makes a request of the administrator's, and returns the status and the body of the response.
func send(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer 0123456789abcdef0123456789abcdef")
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(bufio.NewReader(response.Body))
	return response.StatusCode, string(text)
}

// freeAddress returns a loopback address that was free just now.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// TestEverySettingIsRead finds a setting that contract/words/settings.yml has and no code of this program reads.
func TestEverySettingIsRead(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "settings.gen.go" {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if one, is := n.(*ast.SelectorExpr); is {
				read[one.Sel.Name] = true
			}
			return true
		})
	}
	for field := range reflect.TypeFor[settings]().Fields() {
		if !read[field.Name] {
			t.Errorf("settings.%s is a flag, but nothing reads it", field.Name)
		}
	}
}
