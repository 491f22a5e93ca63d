// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// fake is a sledd of nodes n0... that are all bound with generation 1. It counts what it is asked.
type fake struct {
	*testing.T
	client *api.Client

	mu      sync.Mutex
	nodes   map[string]*api.Node // by name
	streams map[chan api.Event]bool
	lists   int
	gets    int
	down    bool
	onList  func() // before a list is answered
}

func newFake(t *testing.T, nodes int) *fake {
	t.Helper()
	f := &fake{T: t, nodes: map[string]*api.Node{}, streams: map[chan api.Event]bool{}}
	for i := range nodes {
		node := bound(1, false, api.Status{Phase: api.Writing, Generation: 1})
		node.Name, node.MAC = fmt.Sprintf("n%d", i), fmt.Sprintf("52:54:00:77:%02x:%02x", i>>8, i&0xff)
		f.nodes[node.Name] = node
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/nodes", f.list)
	mux.HandleFunc("GET /v1/nodes/{node}", f.get)
	mux.HandleFunc("GET /v1/events", f.events)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	client, err := api.New(api.Config{Server: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	f.client = client
	return f
}

// goal is all nodes, by name.
func (f *fake) goal() goal {
	w := goal{nodes: map[string]int64{}, need: len(f.nodes), failFast: true}
	for name := range f.nodes {
		w.nodes[name] = 1
	}
	return w
}

// finish lets a node be ready, and says so.
func (f *fake) finish(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	node := f.nodes[name]
	node.Status.Phase, node.Binding.Satisfied = api.Operational, true
	for stream := range f.streams {
		stream <- api.Event{ID: 1, MAC: node.MAC, Kind: "operational", Phase: api.Operational}
	}
}

func (f *fake) list(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	before := f.onList
	f.onList = nil
	f.mu.Unlock()
	if before != nil {
		before()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lists++
	if f.down {
		http.Error(w, "no store", http.StatusServiceUnavailable)
		return
	}
	answer := api.NodeList{Items: []api.Node{}}
	for _, node := range f.nodes {
		answer.Items = append(answer.Items, *node)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (f *fake) get(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gets++
	for _, node := range f.nodes {
		if slices.Contains([]string{node.Name, node.MAC}, r.PathValue("node")) {
			_ = json.NewEncoder(w).Encode(node)
			return
		}
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write([]byte("{}"))
}

func (f *fake) events(w http.ResponseWriter, r *http.Request) {
	stream := make(chan api.Event, 4096)
	f.mu.Lock()
	if f.down {
		f.mu.Unlock()
		http.Error(w, "no store", http.StatusServiceUnavailable)
		return
	}
	f.streams[stream] = true
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.streams, stream)
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	_ = http.NewResponseController(w).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case event, open := <-stream:
			if !open {
				return
			}
			text, _ := json.Marshal(event)
			_, _ = fmt.Fprintf(w, "id: %d\ndata: %s\n\n", event.ID, text)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// cut ends all streams, and from then on sledd is down or not.
func (f *fake) cut(down bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = down
	for stream := range f.streams {
		close(stream)
		delete(f.streams, stream)
	}
}

// begin waits in the background.
func (f *fake) begin(ctx context.Context, w goal) <-chan ended {
	result := make(chan ended, 1)
	go func() {
		t, err := wait(ctx, f.client, w)
		result <- ended{t, err}
	}()
	return result
}

type ended struct {
	tally
	err error
}

func (f *fake) await(result <-chan ended) ended {
	f.Helper()
	select {
	case e := <-result:
		return e
	case <-time.After(patience.Limit):
		f.Fatal("the wait did not end")
		return ended{}
	}
}

// until waits for something that is guarded by the lock.
func (f *fake) until(what string, holds func() bool) {
	f.Helper()
	patience.Until(f, what, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return holds()
	})
}

func TestThousandAtOnceAreFewReadings(t *testing.T) {
	f := newFake(t, 1000)
	result := f.begin(t.Context(), f.goal())
	f.until("all are read", func() bool { return f.lists >= 1 })
	for i := range 1000 {
		f.finish(fmt.Sprintf("n%d", i))
	}
	if e := f.await(result); e.err != nil || len(e.ready) != 1000 {
		t.Fatalf("%v: %s", e.err, e.counts())
	}
	if f.lists > 4 || f.gets > 0 {
		t.Errorf("%d lists and %d single readings", f.lists, f.gets)
	}
}

func TestFewAreReadOneByOne(t *testing.T) {
	f := newFake(t, 1000)
	w := goal{nodes: map[string]int64{"n7": 1, "52-54-00-77-00-0A": 1}, need: 2}
	result := f.begin(t.Context(), w)
	f.until("both are read", func() bool { return f.gets >= 2 })
	f.finish("n500") // somebody else's
	f.finish("n7")
	f.until("one is read again", func() bool { return f.gets >= 3 })
	f.finish("n10")
	if e := f.await(result); e.err != nil || e.ready["n7"] != 1 || e.ready["52-54-00-77-00-0A"] != 1 {
		t.Fatalf("%v: %v", e.err, e.tally)
	}
	if f.lists != 0 || f.gets != 4 {
		t.Errorf("%d lists and %d single readings", f.lists, f.gets)
	}
}

// What happens between the beginning of the stream and the answer of the first list must not be missed.
func TestNoGapBetweenStreamAndReading(t *testing.T) {
	f := newFake(t, 20)
	f.onList = func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.streams) != 1 {
			t.Errorf("the first list is read with %d streams open, want 1", len(f.streams))
		}
	}
	result := f.begin(t.Context(), f.goal())
	f.until("all are read", func() bool { return f.lists == 1 })
	for name := range f.goal().nodes {
		f.finish(name)
	}
	if e := f.await(result); e.err != nil {
		t.Error(e.err)
	}
}

// A stream that broke before its first event resumes nowhere: what was missed is read.
func TestOutage(t *testing.T) {
	f := newFake(t, 20)
	result := f.begin(t.Context(), f.goal())
	f.until("all are read", func() bool { return f.lists == 1 })
	f.cut(true)
	f.until("it was tried again", func() bool { return f.lists >= 2 })
	for name := range f.goal().nodes {
		f.finish(name) // nobody listens
	}
	f.cut(false)
	if e := f.await(result); e.err != nil || len(e.ready) != 20 {
		t.Errorf("%v: %s", e.err, e.counts())
	}
}

func TestTimeOutTellsWhatWasReadLast(t *testing.T) {
	last := ""
	for limit := time.Second; last != "1 ready, 19 writing"; limit *= 2 { // longer on a machine that is slow
		f := newFake(t, 20)
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		result := f.begin(ctx, f.goal())
		f.until("all are read", func() bool { return f.lists == 1 || ctx.Err() != nil })
		f.finish("n3")
		e := f.await(result)
		if last = e.counts(); !errors.Is(e.err, context.DeadlineExceeded) || limit > patience.Limit {
			t.Fatalf("%v: %s", e.err, last)
		}
	}
	down := newFake(t, 1)
	down.down = true
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if e := down.await(down.begin(ctx, down.goal())); !errors.Is(e.err, context.DeadlineExceeded) ||
		e.counts() != "1 writing" && e.counts() != "1 not read yet" {
		t.Errorf("%v: %s", e.err, e.counts())
	}
}

func TestInterruptEndsAtOnce(t *testing.T) {
	f := newFake(t, 20)
	ctx, cancel := context.WithCancel(t.Context())
	result := f.begin(ctx, f.goal())
	f.until("all are read", func() bool { return f.lists == 1 })
	cancel()
	if e := f.await(result); !errors.Is(e.err, context.Canceled) {
		t.Error(e.err)
	}
	f.until("the stream is closed", func() bool { return len(f.streams) == 0 })
}

func TestRefusalEndsIt(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	client, err := api.New(api.Config{Server: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	w := goal{nodes: map[string]int64{"n1": 1}, need: 1}
	found, err := wait(t.Context(), client, w)
	if !api.IsDenied(err) {
		t.Fatal(err)
	}
	if said := (ending{w, found, time.Minute}).explain(err); !strings.Contains(said[0].Detail(),
		"Role read is needed") {
		t.Error(said)
	}
}

// A node that is declared later under its name is found.
func TestNodeThatIsDeclaredLater(t *testing.T) {
	f := newFake(t, 1)
	w := goal{nodes: map[string]int64{"n0": 1, "late": 1}, need: 2}
	result := f.begin(t.Context(), w)
	f.until("both are read", func() bool { return f.gets >= 2 })
	f.mu.Lock()
	late := bound(1, true, api.Status{Phase: api.Operational, Generation: 1})
	late.Name = "late"
	f.nodes["late"] = late
	for stream := range f.streams {
		stream <- api.Event{ID: 1, MAC: late.MAC, Kind: "declare"}
	}
	f.mu.Unlock()
	f.until("both are read again", func() bool { return f.gets >= 4 })
	f.finish("n0")
	if e := f.await(result); e.err != nil || len(e.ready) != 2 {
		t.Errorf("%v: %v", e.err, e.tally)
	}
}
