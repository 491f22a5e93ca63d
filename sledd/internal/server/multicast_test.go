// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// received is the sender that the plan of a binding names; "": none.
func received(t *testing.T, s *sledd, transport string) string {
	t.Helper()
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12", Transport: transport})
	_, after, found := strings.Cut(s.Machine(1).Poll(0), " multicast=")
	if !found {
		return ""
	}
	place, _, _ := strings.Cut(after, "\n")
	return place
}

func TestPlansNameTheSenderOfMulticast(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret of the site"), 0o600); err != nil {
		t.Fatal(err)
	}
	sender, err := plan.ParseSender("192.0.2.1:7001", secret)
	if err != nil {
		t.Fatal(err)
	}
	s := runWith(t, sleddtest.Options{Sender: sender})
	s.Declare(1)
	s.Register("d12")
	for transport, want := range map[string]bool{"": true, "auto": true, "multicast": true, "unicast": false} {
		place := received(t, s, transport)
		if got := strings.HasPrefix(place, "192.0.2.1:7001/"); got != want || place != "" && !want {
			t.Errorf("transport %q: %q", transport, place)
		}
		key := place[strings.Index(place, "/")+1:]
		for _, path := range []string{"/v1/nodes/n1", "/v1/bindings/n1", "/v1/nodes/n1/events"} {
			if shown := s.admin(http.StatusOK, http.MethodGet, path, nil).Body; key != "" && strings.Contains(shown, key) {
				t.Errorf("%s shows the key", path)
			}
		}
	}
}

// expected is how many nodes the plan of a node tells the sender to expect; "": it does not tell.
func expected(s *sledd, number int) string {
	_, after, _ := strings.Cut(s.Machine(number).Poll(0), " expected=")
	nodes, _, _ := strings.Cut(after, "\n")
	return nodes
}

func TestPlansStateHowManyNodesReceive(t *testing.T) {
	sender, err := plan.ParseSender("192.0.2.1:7001", "")
	if err != nil {
		t.Fatal(err)
	}
	s := runWith(t, sleddtest.Options{Sender: sender})
	for number := 1; number <= 6; number++ {
		s.Declare(number)
	}
	s.Register("d12")
	s.Register("other")
	bind := func(number int, image, transport string) {
		s.Bind(api.BindingSpec{Node: fmt.Sprintf("n%d", number), Image: image, Transport: transport})
	}
	bind(1, "d12", "")
	if got := expected(s, 1); got != "" {
		t.Errorf("one alone: %q", got)
	}
	bind(2, "d12", "auto")
	bind(3, "d12", "multicast")
	bind(4, "d12", "unicast")
	bind(5, "other", "")
	if got := expected(s, 2); got != "3" {
		t.Errorf("one has its plan, one is bound: %q, want 3", got)
	}
	if got := expected(s, 4); got != "" {
		t.Errorf("unicast: %q", got)
	}
	if got := expected(s, 5); got != "" {
		t.Errorf("another image: %q", got)
	}
	bind(6, "d12", "")
	written := s.Machine(1)
	written.Poll(0)
	written.Report("begin step=2 of=4 verb=write", "end step=2 verb=write code=0 seconds=2",
		"begin step=3 of=4 verb=configure")
	if got := expected(s, 6); got != "3" {
		t.Errorf("one has written it: %q, want 3", got)
	}
}

func TestMulticastNeedsASender(t *testing.T) {
	s := runWith(t, sleddtest.Options{})
	s.Declare(1)
	s.Register("d12")
	if place := received(t, s, "auto"); place != "" {
		t.Errorf("auto: %q", place)
	}
	s.admin(http.StatusUnprocessableEntity, http.MethodPut, "/v1/bindings/n1",
		api.BindingSpec{Node: "n1", Image: "d12", Transport: "multicast"})
}

func TestTimelineShowsWhatAWriteReceived(t *testing.T) {
	s := runWith(t, sleddtest.Options{})
	s.Declare(1)
	image := s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	m.Poll(0)
	m.Report("begin step=2 of=4 verb=write", "end step=2 verb=write code=0 seconds=2 "+
		"http=20 multicast=300 packets=5 lost=4 rejected=1 last=9")
	shown := as[api.Timeline](t, s.admin(http.StatusOK, http.MethodGet, "/v1/nodes/n1/timeline", nil))
	want := api.Received{Image: "d12", FileBytes: image.FileBytes, HTTP: 20, Multicast: 300, Packets: 5, Lost: 4,
		Rejected: 1, Last: 9}
	last := shown.Stages[len(shown.Stages)-1]
	if last.Name != "write" || last.Received == nil || *last.Received != want {
		t.Errorf("%+v, want %+v", last, want)
	}
}

func TestPlansNameTheRelayOfTheNode(t *testing.T) {
	sender, err := plan.ParseSender("192.0.2.1:7001", "")
	if err != nil {
		t.Fatal(err)
	}
	relays, err := plan.ParseRelays([]string{"10.20.1.5:rack=rack_a"})
	if err != nil {
		t.Fatal(err)
	}
	s := runWith(t, sleddtest.Options{Sender: sender, Relays: relays})
	s.Register("d12")
	const here = "http://10.77.0.1/images/d12 "
	for rack, want := range map[string][2]string{
		"rack_a": {" image=http://10.20.1.5/images/d12," + here, "10.20.1.5:7001"},
		"rack_b": {" image=" + here, "192.0.2.1:7001"},
	} {
		node := sleddtest.Node(1)
		node.Labels = map[string]string{"rack": rack}
		s.admin(http.StatusOK, http.MethodPut, "/v1/nodes/n1", node)
		if place := received(t, s, "auto"); place != want[1] {
			t.Errorf("%s: sender %q, want %q", rack, place, want[1])
		}
		if text := s.Machine(1).Poll(0); !strings.Contains(text, want[0]) {
			t.Errorf("%s: no %q in\n%s", rack, want[0], text)
		}
	}
}
