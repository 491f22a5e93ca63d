// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/boot"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/metrics"
	"github.com/sled-fleet/sled/sledd/internal/server"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const adminToken = "0123456789abcdef0123456789abcdef"

// etcd is shared by the tests of this package, which run one after the other; each finds it empty.
var etcd *store.Etcd

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "sledd")
	if err == nil {
		etcd, err = store.Embed(store.Embedded{Dir: dir, NoSync: true})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = etcd.Close()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// sledd is a running one, in process.
type sledd struct {
	*testing.T
	url   string
	hub   *events.Hub
	fleet *fleet.Fleet
	stop  context.CancelFunc

	mu    sync.Mutex
	ahead time.Duration // of the real clock
}

func (s *sledd) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.ahead)
}

func (s *sledd) later(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead += d
}

// fresh empties the store and runs a sledd on it.
func fresh(t *testing.T) *sledd {
	t.Helper()
	empty := store.Transaction{Do: []store.Operation{{Key: "/", Delete: true, To: store.PrefixEnd("/")}}}
	if _, err := etcd.Commit(t.Context(), empty); err != nil {
		t.Fatal(err)
	}
	s := run(t, etcd)
	if err := s.fleet.SetAdmin(t.Context(), adminToken); err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs a sledd on a store until the test ends.
func run(t *testing.T, s store.Store) *sledd {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	measure := metrics.New()
	hub := events.New(s, log)
	measure.Watch(hub)
	d := &sledd{T: t, hub: hub}
	d.fleet = fleet.New(fleet.Options{Store: measure.Measure(s), Hub: hub, TokenLife: time.Hour, Now: d.now, Observe: measure,
		ImageURLs: []string{"http://10.77.0.1/images", "http://10.77.0.2/images"}, UploadURL: "https://10.77.0.1/upload",
		System: boot.System{URL: "http://10.77.0.1", Flavour: "generic", Servers: []string{"https://10.77.0.1"}}})
	stopping, stop := context.WithCancel(context.Background())
	d.stop = stop
	watching, end := context.WithCancel(context.Background())
	web := httptest.NewServer((&server.Server{Fleet: d.fleet, Hub: hub, Metrics: measure, Log: log, Stopping: stopping}).Handler())
	d.url = web.URL
	var running sync.WaitGroup
	running.Go(func() { hub.Run(watching) })
	t.Cleanup(func() {
		stop()
		web.Close()
		end()
		running.Wait()
	})
	return d
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends a request with a token and headers in pairs.
func (s *sledd) ask(method, path, token, body string, headers ...string) answer {
	s.Helper()
	a, err := s.try(method, path, token, body, headers...)
	if err != nil {
		s.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

func (s *sledd) try(method, path, token, body string, headers ...string) (answer, error) {
	request, err := http.NewRequestWithContext(context.Background(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
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
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(text)}, err
}

// admin asks as admin and wants a status.
func (s *sledd) admin(want int, method, path string, body any, headers ...string) answer {
	s.Helper()
	text := ""
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			s.Fatal(err)
		}
		text = string(data)
	}
	a := s.ask(method, path, adminToken, text, headers...)
	if a.status != want {
		s.Fatalf("%s %s: got %d, want %d: %s", method, path, a.status, want, a.body)
	}
	return a
}

// as decodes an answer.
func as[T any](t *testing.T, a answer) T {
	t.Helper()
	var value T
	if err := json.Unmarshal([]byte(a.body), &value); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return value
}

const digest = "sha256:8f3c0d7e5b1a2c4f6e8d9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d"

func (s *sledd) declare(i int) api.NodeSpec {
	s.Helper()
	spec := api.NodeSpec{MAC: address(i), Name: fmt.Sprintf("n%d", i), Disk: fmt.Sprintf("serial:LAB-%04d", i)}
	s.admin(http.StatusOK, "PUT", "/v1/nodes/"+spec.Name, spec)
	return spec
}

// declareMany declares nodes 0 to n-1, many at a time.
func (s *sledd) declareMany(n int) {
	s.Helper()
	var running sync.WaitGroup
	slots := make(chan struct{}, 32)
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			spec := api.NodeSpec{MAC: address(i), Name: fmt.Sprintf("n%d", i), Disk: "only"}
			if _, err := s.fleet.PutNode(context.Background(), spec.Name, spec, fleet.Wanted{}); err != nil {
				s.Error(err)
			}
		})
	}
	running.Wait()
}

func address(i int) string { return fmt.Sprintf("52:54:00:77:%02x:%02x", i>>8, i&0xff) }

func (s *sledd) register(name string) api.ImageSpec {
	s.Helper()
	spec := api.ImageSpec{Name: name, Digest: digest, URLs: []string{"http://10.77.0.1/images/" + name}, Bytes: 1 << 30, FileBytes: 1 << 28}
	s.admin(http.StatusOK, "PUT", "/v1/images/"+name, spec)
	return spec
}

func (s *sledd) bind(spec api.BindingSpec, query ...string) api.Binding {
	s.Helper()
	return as[api.Binding](s.T, s.admin(http.StatusOK, "PUT", "/v1/bindings/"+spec.Node+strings.Join(query, ""), spec))
}

func (s *sledd) node(i int) api.Node {
	s.Helper()
	return as[api.Node](s.T, s.admin(http.StatusOK, "GET", "/v1/nodes/"+address(i), nil))
}

func (s *sledd) phase(i int, want api.Phase) {
	s.Helper()
	if node := s.node(i); node.Status.Phase != want {
		s.Fatalf("phase of n%d is %q, want %q", i, node.Status.Phase, want)
	}
}

// machine is a node, as its Sled system behaves.
type machine struct {
	*sledd
	mac, token, boot string
	installed        string // token of the installed system, from the seed
	generation       int64  // -1: given none yet
}

// start fetches the boot script and keeps its token, if it is for the Sled system.
func (s *sledd) start(i int) *machine {
	s.Helper()
	m := &machine{sledd: s, mac: mac.Hyphens(address(i)), boot: fmt.Sprintf("boot-%d-%d", i, time.Now().UnixNano()), generation: -1}
	script := s.ask("GET", "/boot/"+m.mac+".ipxe", "", "")
	if script.status != http.StatusOK {
		s.Fatalf("boot script: %d: %s", script.status, script.body)
	}
	if _, after, found := strings.Cut(script.body, "sled.token="); found {
		m.token, _, _ = strings.Cut(after, " ")
	}
	return m
}

// say posts and wants 204; a token that comes is kept.
func (m *machine) say(what, body string) {
	m.Helper()
	token := m.token
	if what == "operational" {
		token = m.installed
	}
	a := m.ask("POST", "/node/v1/"+m.mac+"/"+what, token, body)
	if a.status != http.StatusNoContent {
		m.Fatalf("%s: got %d: %s", what, a.status, a.body)
	}
	if token := a.header.Get("Sled-Token"); token != "" {
		m.token = token
	}
}

// report sends lines of a report.
func (m *machine) report(lines ...string) {
	m.Helper()
	m.say("report", m.text(lines...))
}

func (m *machine) text(lines ...string) string {
	return fmt.Sprintf("report 1\ngeneration %d\nboot %s\n%s\n", m.generation, m.boot, strings.Join(lines, "\n"))
}

// poll asks for a plan; empty when there is none.
func (m *machine) poll(wait int) string {
	m.Helper()
	path := fmt.Sprintf("/node/v1/%s/plan?wait=%d", m.mac, wait)
	if m.generation >= 0 {
		path += fmt.Sprintf("&generation=%d", m.generation)
	}
	a := m.ask("GET", path, m.token, "")
	if token := a.header.Get("Sled-Token"); token != "" {
		m.token = token
	}
	switch a.status {
	case http.StatusNoContent:
		return ""
	case http.StatusOK:
		if _, err := fmt.Sscanf(a.body, "plan 1\ngeneration %d\n", &m.generation); err != nil {
			m.Fatalf("plan: %v: %s", err, a.body)
		}
		return a.body
	default:
		m.Fatalf("plan: %d: %s", a.status, a.body)
		return ""
	}
}

// install runs the steps of an image plan up to the jump.
func (m *machine) install() {
	m.Helper()
	for i, verb := range []string{"wipe", "write", "configure", "kexec"} {
		m.report(fmt.Sprintf("begin step=%d of=4 verb=%s", i+1, verb), fmt.Sprintf("end step=%d verb=%s code=0 seconds=1.5", i+1, verb))
	}
}
