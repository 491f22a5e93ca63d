// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/metrics"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
)

// scrape returns what Prometheus reads.
func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return answer.Body.String()
}

func TestWhatIsCountedIsShown(t *testing.T) {
	m := metrics.New("1.2.3")
	m.PlanHandedOut()
	m.PlanHandedOut()
	m.StepFailed("write", 5)
	m.Kexec("missed")
	m.Request("GET /boot/{file}", "GET", 200, 30*time.Millisecond)
	text := scrape(t, m)
	for _, line := range []string{"sledd_plans_handed_out_total 2", `sledd_failed_steps_total{code="5",verb="write"} 1`,
		`sledd_kexecs_total{outcome="missed"} 1`,
		`sledd_http_request_seconds_count{code="200",method="GET",route="GET /boot/{file}"} 1`} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s is missing", line)
		}
	}
}

func TestOnlyFailuresOfTheStoreCountAsErrors(t *testing.T) {
	m := metrics.New("1.2.3")
	memory := &storetest.Memory{}
	measured := m.Measure(memory)
	if _, err := measured.Read(t.Context(), store.Key("/a")); err != nil {
		t.Fatal(err)
	}
	taken := store.Transaction{If: []store.Condition{{Key: "/a", Revision: 7}}}
	if _, err := measured.Commit(t.Context(), taken); !errors.Is(err, store.ErrChanged) {
		t.Fatal(err)
	}
	memory.Before(func(string) error { return &store.UnavailableError{Operation: "read", Err: errors.New("down")} })
	_, _ = measured.Read(t.Context(), store.Key("/a"))
	text := scrape(t, m)
	for line, want := range map[string]bool{`sledd_store_call_seconds_count{call="read"} 2`: true,
		`sledd_store_call_seconds_count{call="commit"} 1`: true, `sledd_store_errors_total{call="read"} 1`: true,
		`sledd_store_errors_total{call="commit"} 0`: true} {
		if strings.Contains(text, line) != want {
			t.Errorf("%s: want it shown: %t", line, want)
		}
	}
}

func TestAlarmsAreShown(t *testing.T) {
	m := metrics.New("1.2.3")
	memory := &storetest.Memory{}
	var change store.Transaction
	change.Put(key.Admissions+"a", []byte(`{"alarms":[{"kind":"rival"},{"kind":"rival"},{"kind":"boots"}]}`))
	change.Put(key.Admissions+"b", []byte(`{"alarms":[{"kind":"rival"}]}`))
	if _, err := memory.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	hub := events.New(memory, slog.New(slog.DiscardHandler))
	m.Watch(hub)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		hub.Run(ctx)
		close(done)
	}()
	defer func() {
		cancel()
		<-done
	}()
	shows := func(when string, lines ...string) {
		listener, _, err := hub.Listen(t.Context(), "", 0)
		if err != nil {
			t.Fatal(err)
		}
		hub.Leave(listener)
		text := scrape(t, m)
		for _, line := range lines {
			if !strings.Contains(text, line+"\n") {
				t.Errorf("%s: %s is missing", when, line)
			}
		}
	}
	shows("at the start", `sledd_alarms{kind="rival"} 3`, `sledd_alarms{kind="boots"} 1`, `sledd_alarms{kind="link"} 0`,
		`sledd_alarms{kind="window"} 0`)
	listener, _, err := hub.Listen(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Leave(listener)
	var later store.Transaction
	later.Delete(key.Admissions + "a")
	later.Put(key.Admissions+"b", []byte(`{"alarms":[{"kind":"link"}]}`))
	later.Put(key.Event("b", 1), []byte(`{"mac":"b","kind":"link"}`))
	if _, err := memory.Commit(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	<-listener.C
	shows("later", `sledd_alarms{kind="rival"} 0`, `sledd_alarms{kind="boots"} 0`, `sledd_alarms{kind="link"} 1`)
}

func TestWaitingPollsAreShown(t *testing.T) {
	m := metrics.New("1.2.3")
	hub := events.New(&storetest.Memory{}, slog.New(slog.DiscardHandler))
	m.Watch(hub)
	_, forget := hub.Wait("a")
	if text := scrape(t, m); !strings.Contains(text, "sledd_waiting_polls 1\n") {
		t.Error("a waiting poll is not shown")
	}
	forget()
	if text := scrape(t, m); !strings.Contains(text, "sledd_waiting_polls 0\n") {
		t.Error("a poll that ended is shown")
	}
}

// session is one of an image.
func session(image string) api.MulticastSession {
	return api.MulticastSession{Image: nodetexttest.Identifier(image), Interface: nodetexttest.Identifier("eth0"),
		Receivers: 8, Rate: 700000, Bytes: 100, Repairs: 30, Copies: 1.5, Requests: 9}
}

func TestMulticastIsShown(t *testing.T) {
	m := metrics.New("1.2.3")
	m.Multicast(func() (api.Multicast, error) {
		return api.Multicast{Refused: map[string]int64{"tag": 3}, Sessions: []api.MulticastSession{session("i")}}, nil
	})
	text := scrape(t, m)
	for _, line := range []string{"sledd_multicast_sessions 1", `sledd_multicast_refused_total{why="tag"} 3`,
		`sledd_multicast_receivers{image="i",interface="eth0"} 8`,
		`sledd_multicast_rate_bps{image="i",interface="eth0"} 7e+08`,
		`sledd_multicast_bytes_total{image="i",interface="eth0",kind="new"} 70`,
		`sledd_multicast_bytes_total{image="i",interface="eth0",kind="repair"} 30`,
		`sledd_metrics_source_up{source="multicast"} 1`} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s is missing", line)
		}
	}
}

// A source that cannot be read, or that tells the same twice, hides no other one.
func TestSourceThatFailsHidesNoOther(t *testing.T) {
	for name, c := range map[string]struct {
		read func() (api.Multicast, error)
		want string
	}{
		"not a state": {func() (api.Multicast, error) { return api.Multicast{}, errors.New("not a state") },
			`sledd_metrics_source_up{source="multicast"} 0`},
		"twice": {func() (api.Multicast, error) {
			return api.Multicast{Sessions: []api.MulticastSession{session("i"), session("i")}}, nil
		}, `promhttp_metric_handler_errors_total{cause="gathering"} 1`},
	} {
		m := metrics.New("1.2.3")
		m.PlanHandedOut()
		m.Multicast(c.read)
		scrape(t, m)
		if text := scrape(t, m); !strings.Contains(text, c.want+"\n") ||
			!strings.Contains(text, "sledd_plans_handed_out_total 1\n") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// Anybody may send any method: it makes no time series.
func TestUnknownMethodsAreOneSeries(t *testing.T) {
	m := metrics.New("1.2.3")
	for i := range 100 {
		m.Request("none", fmt.Sprint("X", i), 405, time.Millisecond)
	}
	if text := scrape(t, m); !strings.Contains(text,
		`sledd_http_request_seconds_count{code="405",method="other",route="none"} 100`) {
		t.Error(text)
	}
}
