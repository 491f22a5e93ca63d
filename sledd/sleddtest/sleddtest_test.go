// SPDX-License-Identifier: Apache-2.0

package sleddtest_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

func phase(t *testing.T, s *sleddtest.Sledd, want api.Phase, satisfied bool) {
	t.Helper()
	if node := s.Node(1); node.Status.Phase != want || node.Binding.Satisfied != satisfied {
		t.Fatalf("want phase %s, satisfied %t: %+v, %+v", want, satisfied, node.Status, node.Binding)
	}
}

func TestMachinesDoWhatIsRequested(t *testing.T) {
	s := sleddtest.Start(t)
	s.Declare(1)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	m.Facts()
	m.Fulfil()
	phase(t, s, api.Operational, true)
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"}, api.Reimage())
	phase(t, s, api.Operational, false)
	m.Fulfil()
	phase(t, s, api.Operational, true)
	s.Bind(api.BindingSpec{Node: "n1"})
	m.Fail(4, "two disks match")
	phase(t, s, api.Failed, false)
	m.Reboot()
	m.Fulfil()
	phase(t, s, api.Wiped, true)
	s.Bind(api.BindingSpec{Node: "n1", Capture: "gold"})
	m.Fulfil()
	phase(t, s, api.Captured, true)
	if image, err := s.Client().Image(t.Context(), "gold"); err != nil || image.Digest != sleddtest.Digest {
		t.Errorf("%v: %+v", err, image)
	}
}

func TestOutage(t *testing.T) {
	s := sleddtest.Start(t)
	s.DeclareMany(3)
	client, before := s.Client(), s.URL
	s.Stop()
	if _, err := client.Node(t.Context(), "n2"); !api.IsUnreachable(err) {
		t.Errorf("stopped: %v", err)
	}
	s.Resume()
	if node, err := client.Node(t.Context(), "n2"); err != nil || node.MAC != sleddtest.MAC(2) || s.URL != before {
		t.Errorf("%v: %+v at %s", err, node, s.URL)
	}
}
