// SPDX-License-Identifier: Apache-2.0

package bindings_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

func (s *site) window(i int) *api.Window {
	s.Helper()
	shown, err := s.Client().Admission(s.Context(), sleddtest.MAC(i))
	if err != nil {
		s.Fatal(err)
	}
	return shown.Window
}

func TestAccWindows(t *testing.T) {
	s := start(t)
	within := `admit_within = "10m"`
	s.apply(block("x", images("d12", "d12")))
	if s.window(1) != nil {
		t.Fatal("bindings open windows")
	}
	s.apply(block("x", images("d12", "d12"), within))
	s.bound("d12@1", "d12@1", "", "")
	first := s.window(1)
	if first == nil || s.window(2) == nil || s.window(3) != nil || first.By != "terraform" ||
		first.Ends.Sub(first.Opened).Minutes() != 10 {
		t.Fatalf("%+v", first)
	}
	s.apply(block("x", images("d12", "d12"), within, `verify = "full"`))
	if again := s.window(1); !again.Opened.Equal(first.Opened) {
		t.Errorf("a change that images nothing opens a window: %+v", again)
	}
	second := s.window(2)
	s.apply(block("x", images("d13", "d12", "d12"), within, `verify = "full"`))
	s.bound("d13@2", "d12@1", "d12@1", "")
	if again := s.window(1); !again.Opened.After(first.Opened) {
		t.Errorf("a new generation opens no window: %+v", again)
	}
	if again := s.window(2); !again.Opened.Equal(second.Opened) || s.window(3) == nil {
		t.Errorf("a machine that is not imaged: %+v; a new one: %+v", again, s.window(3))
	}
	s.declare(block("x", images("d12"), `admit_within = "soon"`))
	s.Fails(`"soon": want a duration from 10s to 24h`, "plan")
}

// Windows that cannot be opened do not undo the bindings.
func TestAccWindowsFaults(t *testing.T) {
	s := start(t)
	proxy := acctest.NewProxy(t, s.URL)
	s.header = acctest.Header(proxy.URL)
	proxy.Break("POST", "/v1/nodes/"+sleddtest.MAC(1)+"/expect", acctest.Status(503, "store: read: no leader"))
	out := s.apply(block("x", images("d12", "d12"), `admit_within = "10m"`))
	has(t, out, "No boot of node "+sleddtest.MAC(1)+" is expected", "store: read: no leader",
		"sledctl admit "+sleddtest.MAC(1)+" --within 10m")
	s.bound("d12@1", "d12@1", "", "")
	if s.window(2) == nil {
		t.Error("the other window is not open")
	}
}
