// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/boot"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/metrics"
	"github.com/sled-fleet/sled/sledd/internal/server"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// sledd runs the real server in process, with a store of its own.
func sledd(t *testing.T) string {
	t.Helper()
	etcd, err := store.Embed(store.Embedded{Dir: t.TempDir(), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	log, measure := slog.New(slog.DiscardHandler), metrics.New()
	hub := events.New(etcd, log)
	measure.Watch(hub)
	rules := fleet.New(fleet.Options{Store: measure.Measure(etcd), Hub: hub, TokenLife: time.Hour, Observe: measure,
		ImageURLs: []string{"http://10.77.0.1/images"}, UploadURL: "https://10.77.0.1/upload",
		System: boot.System{URL: "http://10.77.0.1", Flavour: "generic", Servers: []string{"https://10.77.0.1"}}})
	if err := rules.SetAdmin(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	web := httptest.NewServer((&server.Server{Fleet: rules, Hub: hub, Metrics: measure, Log: log, Stopping: ctx}).Handler())
	var running sync.WaitGroup
	running.Go(func() { hub.Run(ctx) })
	t.Cleanup(func() {
		stop()
		web.Close()
		running.Wait()
		_ = etcd.Close()
	})
	return web.URL
}

// machine says what a node says.
type machine struct {
	*testing.T
	url, token string
}

func (m *machine) ask(method, path, body string) string {
	m.Helper()
	request, err := http.NewRequestWithContext(m.Context(), method, m.url+path, strings.NewReader(body))
	if err != nil {
		m.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+m.token)
	request.Header.Set("Content-Type", "text/plain")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		m.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode/100 != 2 {
		m.Fatalf("%s %s: %d %s %v", method, path, answer.StatusCode, content, err)
	}
	if renewed := answer.Header.Get("Sled-Token"); renewed != "" {
		m.token = renewed
	}
	return string(content)
}

// fail boots a node, runs its first step and fails.
func (m *machine) fail(hyphens string) {
	m.Helper()
	script := m.ask(http.MethodGet, "/boot/"+hyphens+".ipxe", "")
	m.token = regexp.MustCompile(`sledb_\w+`).FindString(script)
	node := "/node/v1/" + hyphens
	m.ask(http.MethodPost, node+"/facts", "facts 1\nboot b1\ncpu model=EPYC threads=2 arch=x86_64\n"+
		"disk name=vda serial=LAB-0001 bytes=4294967296\ndisk name=vdb serial=LAB-1001 bytes=8589934592\n")
	plan := m.ask(http.MethodGet, node+"/plan", "")
	generation := regexp.MustCompile(`(?m)^generation \d+$`).FindString(plan)
	m.ask(http.MethodPost, node+"/report", fmt.Sprintf("report 1\n%s\nboot b1\nbegin step=1 of=4 verb=wipe\n", generation))
	m.ask(http.MethodPost, node+"/report", fmt.Sprintf("report 1\n%s\nboot b1\nend step=1 verb=wipe code=4 seconds=0.1 reason=2%%20disks%%20match\n", generation))
	m.ask(http.MethodPost, node+"/log?step=1", "vda LAB-0001 matches\nvdb LAB-1001 matches\n--- dmesg\n")
}

// session runs command lines one after the other; each must end as said.
type session struct {
	*testing.T
	url string
}

func (s session) does(code int, line, want string) ran {
	s.Helper()
	got := sledctl(s.T, s.url, "", strings.Fields(line)...)
	if got.code != code || !strings.Contains(got.out+got.err, want) {
		s.Errorf("sledctl %s: exit %d, want %d and %q; said\n%s%s", line, got.code, code, want, got.out, got.err)
	}
	return got
}

func TestAgainstSledd(t *testing.T) {
	s := session{t, sledd(t)}
	s.does(exitDone, "node apply 52-54-00-77-00-01 --name n1 --disk only --label rack=a --bmc ipmi://10.77.0.201:623", "rack=a")
	s.does(exitDone, "node apply n2 --mac 52:54:00:77:00:02 --disk only", "n2")
	s.does(exitDone, "node apply n1 --label row=1 --unlabel rack", "row=1")
	s.does(exitConflict, "node apply 52:54:00:77:00:03 --name n1", "belongs to node")
	image := "image apply debian-12-v1 --url http://10.77.0.1/i --digest sha256:" + strings.Repeat("0", 64) + " --file-bytes 9 --bytes "
	s.does(exitDone, image+"1024", "debian-12-v1")
	s.does(exitConflict, image+"2048", "another content gets another name")
	s.does(exitUsage, "bind n1 --image nothing", "image nothing does not exist")
	s.does(exitDone, "bind n1 n2 --image debian-12-v1", "debian-12-v1")
	s.does(exitConflict, "image delete debian-12-v1", "is bound")
	s.does(exitConflict, "node delete n1", "delete the binding first")
	s.does(exitDone, "timeline n1", "no run yet")
	s.does(exitNotFound, "log n1", "no log")
	(&machine{T: t, url: s.url}).fail("52-54-00-77-00-01")
	s.does(exitDone, "node list --phase failed", "n1")
	s.does(exitDone, "node get n1", "LAB-1001")
	s.does(exitDone, "log n1", "vdb LAB-1001 matches")
	s.does(exitDone, "events n1", "end wipe")
	s.does(exitFailed, "watch --wait n1", "n1: wipe: code 4 disk: 2 disks match")
	s.does(exitDone, "bind n1 --reimage", "2 ")
	s.does(exitDone, "status n1", "1 -> 2")
	s.does(exitDone, "bind -l row=1 --wipe-only", "(wipe)")
	s.does(exitDone, "unbind n1 n2", "binding n2 deleted")
	s.does(exitNotFound, "unbind n1", "not bound")
	s.does(exitDone, "node delete n1", "deleted")
	s.does(exitDone, "image delete debian-12-v1", "deleted")
}

func TestDeclarationsGoRound(t *testing.T) {
	s := session{t, sledd(t)}
	s.does(exitDone, "node apply n1 --mac 52:54:00:77:00:01 --disk only", "n1")
	s.does(exitDone, "bind n1 --wipe-only", "(wipe)")
	for _, noun := range []string{"node", "binding"} {
		file := filepath.Join(t.TempDir(), "list.yaml")
		before := s.does(exitDone, noun+" list -o yaml", "52:54:00:77:00:01").out
		if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		s.does(exitDone, noun+" apply -f "+file, "n1")
		if after := s.does(exitDone, noun+" list -o yaml", "").out; after != before {
			t.Errorf("applying what was listed changed it from\n%s\nto\n%s", before, after)
		}
	}
}

func TestKeysAndUserData(t *testing.T) {
	s := session{t, sledd(t)}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("# mine\nssh-ed25519 AAAA me\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.does(exitDone, "node apply n1 --mac 52:54:00:77:00:01 --disk only", "n1")
	s.does(exitDone, "bind n1 --wipe-only --keys "+file+" --user-data "+file, "n1")
	s.does(exitDone, "binding get n1 -o json", `"ssh-ed25519 AAAA me"`)
	s.does(exitUsage, "bind n1 --wipe-only --boot reboot", "user data")
	s.does(exitDone, "bind n1 --wipe-only --boot reboot --user-data "+file, "reboot")
	s.does(exitDone, "bind n1 --wipe-only --user-data=", "n1")
	if got := s.does(exitDone, "binding get n1 -o json", `"generation": 2`); !strings.Contains(got.out, "ssh-ed25519") {
		t.Errorf("the keys went with the user data: %s", got.out)
	}
}

func TestOperators(t *testing.T) {
	s := session{t, sledd(t)}
	made := s.does(exitDone, "operator create ci --role read", "")
	s.does(exitConflict, "operator create ci --role admin", "delete it first")
	s.does(exitDone, "operator list", "ci")
	ci := strings.TrimSpace(made.out)
	s.does(exitDone, "node list --token "+ci, "NAME")
	s.does(exitDenied, "node apply 52:54:00:77:00:01 --name n1 --token "+ci, "")
	s.does(exitDone, "operator delete ci", "deleted")
	s.does(exitDenied, "node list --token "+ci, "")
}

func TestEventsAreFollowed(t *testing.T) {
	s := session{t, sledd(t)}
	s.does(exitDone, "node apply n1 --mac 52:54:00:77:00:01 --disk only", "n1")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	lines, writer := io.Pipe()
	ended := make(chan int)
	go func() {
		environment := map[string]string{"SLED_SERVER": s.url, "SLED_TOKEN": token}
		code := Run(ctx, []string{"events", "-f", "n1", "-o", "json"}, System{Out: writer, Err: io.Discard, Now: time.Now,
			Getenv: func(name string) string { return environment[name] }})
		_ = writer.CloseWithError(io.EOF)
		ended <- code
	}()
	seen := make([]byte, 4096)
	read := func(want string) {
		n, err := lines.Read(seen)
		if err != nil || !strings.Contains(string(seen[:n]), want) {
			t.Errorf("followed %q, %v; want %q", seen[:n], err, want)
		}
	}
	read(`"kind":"declare"`)
	s.does(exitDone, "bind n1 --wipe-only", "n1")
	read(`"kind":"bind"`)
	stop()
	go func() { _, _ = io.Copy(io.Discard, lines) }() // nobody may be left writing
	if code := <-ended; code != exitDone {
		t.Errorf("exit %d", code)
	}
}
