// SPDX-License-Identifier: Apache-2.0

package events_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
)

// run runs a hub on a store until the test ends.
func run(t *testing.T, s store.Store) *events.Hub {
	t.Helper()
	hub := events.New(s, slog.New(slog.DiscardHandler))
	runHub(t, hub)
	return hub
}

func runHub(t *testing.T, hub *events.Hub) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		hub.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}

// happen stores events of a node, all at one revision, and returns that.
func happen(t *testing.T, s store.Store, mac string, kinds ...string) int64 {
	t.Helper()
	var change store.Transaction
	for i, kind := range kinds {
		data, _ := json.Marshal(api.Event{MAC: mac, Kind: kind})
		change.Put(key.Event(mac, time.Now().UnixNano()+int64(i)), data)
	}
	revision, err := s.Commit(t.Context(), change)
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

func listen(t *testing.T, hub *events.Hub, node string, after int64) (*events.Listener, []events.Record) {
	t.Helper()
	listener, missed, err := hub.Listen(t.Context(), node, after)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hub.Leave(listener) })
	return listener, missed
}

// kinds reads events until there are as many as wanted.
func kinds(t *testing.T, listener *events.Listener, missed []events.Record, want int) string {
	t.Helper()
	for len(missed) < want {
		batch, open := <-listener.C
		if !open {
			t.Fatalf("cut off after %d events", len(missed))
		}
		missed = append(missed, batch...)
	}
	text := ""
	for _, record := range missed {
		var event api.Event
		if err := json.Unmarshal(record.Data, &event); err != nil || event.ID != record.ID || event.MAC != record.MAC {
			t.Fatalf("%v: %s", err, record.Data)
		}
		text += event.Kind + " "
	}
	return text
}

func TestListenersResumeAcrossARestart(t *testing.T) {
	memory := &storetest.Memory{}
	first := happen(t, memory, "a", "one")
	happen(t, memory, "a", "two", "three")
	happen(t, memory, "b", "other")
	last := happen(t, memory, "a", "four")
	hub := run(t, memory) // a sledd that starts fills its tail from the store's history
	all, missed := listen(t, hub, "", first)
	one, missedOne := listen(t, hub, "a", first)
	fresh, none := listen(t, hub, "", 0)
	up, nothing := listen(t, hub, "", last)
	if len(none)+len(nothing) != 0 {
		t.Errorf("missed events for those who missed none: %v, %v", none, nothing)
	}
	happen(t, memory, "a", "five")
	happen(t, memory, "b", "six")
	for _, c := range []struct {
		who      string
		listener *events.Listener
		missed   []events.Record
		count    int
		want     string
	}{
		{"all", all, missed, 6, "two three other four five six "}, {"node a", one, missedOne, 4, "two three four five "},
		{"from now on", fresh, none, 2, "five six "}, {"up to date", up, nothing, 2, "five six "},
	} {
		if got := kinds(t, c.listener, c.missed, c.count); got != c.want {
			t.Errorf("%s: %s, want %s", c.who, got, c.want)
		}
	}
}

func TestEventsThatAreNotHeldAreGone(t *testing.T) {
	memory := &storetest.Memory{}
	for i := range 5 {
		happen(t, memory, "a", fmt.Sprint(i))
	}
	memory.Compact()
	kept := happen(t, memory, "a", "kept")
	hub := run(t, memory)
	for _, after := range []int64{2, kept + 1000} {
		if _, _, err := hub.Listen(t.Context(), "", after); !errors.Is(err, events.ErrGone) {
			t.Errorf("after %d: %v, want ErrGone", after, err)
		}
	}
	listener, missed := listen(t, hub, "", kept)
	happen(t, memory, "a", "new")
	if got := kinds(t, listener, missed, 1); got != "new " {
		t.Error(got)
	}
}

func TestWhatTheStoreHoldsIsReplayedAfterACompaction(t *testing.T) {
	memory := &storetest.Memory{}
	happen(t, memory, "a", "lost")
	memory.Compact()
	first := happen(t, memory, "a", "first")
	happen(t, memory, "a", "second")
	listener, missed := listen(t, run(t, memory), "", first)
	if got := kinds(t, listener, missed, 1); got != "second " {
		t.Errorf("got %q", got)
	}
}

// Events that are copied because a node got another MAC are no news.
func TestCopiesAreNotStreamed(t *testing.T) {
	memory := &storetest.Memory{}
	first := happen(t, memory, "a", "one")
	hub := run(t, memory)
	listener, _ := listen(t, hub, "", 0)
	var change store.Transaction
	change.Put(key.Event("b", 1), events.Copy(api.Event{MAC: "a", Kind: "one", Detail: api.Clean("x")}))
	change.Put(key.Event("a", 1), events.Copy(api.Event{MAC: "a", Kind: "one"})) // back again
	if _, err := memory.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	happen(t, memory, "b", "two")
	if got := kinds(t, listener, nil, 1); got != "two " {
		t.Errorf("streamed %q", got)
	}
	if _, missed := listen(t, hub, "", first); kinds(t, listener, missed, 1) != "two " {
		t.Errorf("%d events since", len(missed))
	}
}

func TestASlowListenerIsCutOffAndResumes(t *testing.T) {
	memory := &storetest.Memory{}
	hub := run(t, memory)
	slow, _ := listen(t, hub, "", 0)
	quick, _ := listen(t, hub, "", 0)
	const count = 600
	last := int64(0)
	for i := range count {
		last = happen(t, memory, "a", fmt.Sprint(i))
		for seen := int64(0); seen < last; {
			batch, open := <-quick.C
			if !open {
				t.Fatal("a listener that keeps up was cut off")
			}
			seen = batch[len(batch)-1].ID
		}
	}
	got, resumeAt := 0, int64(0)
	for batch := range slow.C { // ends where it was cut
		got, resumeAt = got+len(batch), batch[len(batch)-1].ID
	}
	if got >= count {
		t.Fatal("nobody was cut off")
	}
	_, missed := listen(t, hub, "", resumeAt)
	if got+len(missed) != count || missed[len(missed)-1].ID != last {
		t.Errorf("%d before, %d after, want %d together", got, len(missed), count)
	}
}

func TestABindingWakesItsPollAndNoOther(t *testing.T) {
	memory := &storetest.Memory{}
	hub := run(t, memory)
	listener, _ := listen(t, hub, "", 0) // the watch was started
	mine, forget := hub.Wait("a")
	other, forgetOther := hub.Wait("b")
	defer forgetOther()
	var change store.Transaction
	change.Put(key.Bindings+"a", []byte("{}"))
	change.Put(key.Event("a", 1), []byte(`{"mac":"a","kind":"bind"}`))
	if _, err := memory.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	<-mine
	kinds(t, listener, nil, 1)
	select {
	case <-other:
		t.Error("another node was woken")
	default:
	}
	forget()
	if waiting := hub.Waiting(); waiting != 1 {
		t.Errorf("%d wait", waiting)
	}
}

func TestPhasesAreCounted(t *testing.T) {
	memory := &storetest.Memory{}
	var change store.Transaction
	change.Put(key.Status+"a", []byte(`{"phase":"writing"}`))
	change.Put(key.Status+"b", []byte(`{"phase":"writing","since":"2026-11-24T12:00:00Z"}`))
	change.Put(key.Status+"c", []byte(`{"generation":3}`))
	if _, err := memory.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	hub := run(t, memory)
	listener, _ := listen(t, hub, "", 0)
	if got := hub.Phases(); len(got) != 1 || got[api.Writing] != 2 {
		t.Errorf("%v", got)
	}
	due := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC).Add(api.Writing.Limit())
	if hub.Overdue(due) != 0 || hub.Overdue(due.Add(time.Second)) != 1 {
		t.Errorf("overdue: %d, a second later %d", hub.Overdue(due), hub.Overdue(due.Add(time.Second)))
	}
	var later store.Transaction
	later.Delete(key.Status + "a")
	later.Put(key.Status+"b", []byte(`{"phase":"writing","since":"2026-11-24T12:00:00Z","moved":"2026-11-24T12:00:01Z"}`))
	later.Put(key.Status+"c", []byte(`{"phase":"failed"}`))
	later.Put(key.Event("c", 1), []byte(`{"mac":"c","kind":"end"}`))
	if _, err := memory.Commit(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	kinds(t, listener, nil, 1)
	if got := hub.Phases(); len(got) != 2 || got[api.Writing] != 1 || got[api.Failed] != 1 {
		t.Errorf("%v", got)
	}
	if hub.Overdue(due.Add(time.Second)) != 0 {
		t.Error("a node whose step moved is overdue")
	}
}
