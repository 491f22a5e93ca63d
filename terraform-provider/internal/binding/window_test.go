// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

func (l *lab) admission(i int) api.Admission {
	l.Helper()
	shown, err := l.sledd.Client().Admission(l.Context(), l.sledd.Node(i).MAC)
	if err != nil {
		l.Fatal(err)
	}
	return shown
}

func TestAccWindow(t *testing.T) {
	l := start(t)
	expected := `admission = "expected"`
	l.declare(n("n1", image("v1"), expected))
	l.Apply()
	if shown := l.admission(1); shown.Window != nil || shown.Required != "expected" {
		t.Fatalf("a binding opens a window: %+v", shown)
	}
	code, claim := l.sledd.Claim(1, "boot-1")
	if token := l.sledd.Polls(1, claim); token != "" {
		t.Fatal("admitted without a window")
	}
	if node := l.sledd.Node(1); len(node.WaitingClaims) != 1 || node.WaitingClaims[0] != code {
		t.Fatalf("%+v", node.NodeAdmission)
	}
	l.declare(n("n1", image("v1"), expected, `admit_within = "10m"`))
	l.Apply()
	l.wants(1, "v1", 1)
	first := l.admission(1).Window
	if first == nil || first.By != "terraform" || first.Ends.Sub(first.Opened).Minutes() != 10 {
		t.Fatalf("%+v", first)
	}
	if token := l.sledd.Polls(1, claim); token == "" {
		t.Error("not admitted in the window")
	}
	l.Empty()
	l.declare(n("n1", image("v1"), expected, `admit_within = "10m"`, `verify = "full"`))
	l.Apply()
	if window := l.admission(1).Window; window == nil || !window.Opened.Equal(first.Opened) {
		t.Errorf("a change that images nothing opens a window: %+v", window)
	}
	l.declare(n("n1", image("v2"), expected, `admit_within = "10m"`))
	l.Apply()
	l.wants(1, "v2", 2)
	if window := l.admission(1).Window; window == nil || !window.Opened.After(first.Opened) {
		t.Errorf("a new generation opens no window: %+v", window)
	}
	for _, value := range []string{"soon", "9s", "25h", "10.5s", "-1m"} {
		l.declare(n("n1", image("v2"), `admit_within = "`+value+`"`))
		l.Fails(`"`+value+`": want a duration from 10s to 24h`, "plan")
	}
}

// A window that cannot be opened does not undo the binding.
func TestAccWindowFaults(t *testing.T) {
	l, proxy := broken(t)
	l.declare(n("n1", image("v1"), `admit_within = "10m"`))
	proxy.Break("POST", "/v1/nodes/52:54:00:77:00:01/expect", acctest.Status(503, "store: read: no leader"))
	l.has(acctest.Flat(l.Apply()), "No boot of node n1 is expected", "store: read: no leader",
		"sledctl admit n1 --within 10m")
	proxy.Mend()
	l.wants(1, "v1", 1)
	l.Empty()
}
