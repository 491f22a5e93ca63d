// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

func TestFailureIsNotThatOfTheNextGeneration(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.boot()
	m.poll()
	m.does(api.Failed, start(1, "wipe"), end(1, "wipe", 4))
	if got := m.poll(); got != "" {
		t.Errorf("a failed node got its plan again: %s", got)
	}
	m.bind(2, api.BindingSpec{Image: "d12"})
	if got := m.poll(); got != "wipe write configure kexec" {
		t.Errorf("the plan is %q", got)
	}
	if status := m.status(); status.Phase == api.Failed || !status.Reason.IsZero() || status.Code != 0 {
		t.Errorf("%+v", status)
	}
}

func TestWipedNodeIsWipedOnce(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Wipe: "signatures"})
	m.boot()
	if got := m.poll(); got != "wipe idle" {
		t.Fatalf("the plan is %q", got)
	}
	m.does(api.Wiped, start(1, "wipe"), end(1, "wipe", 0), start(2, "idle"))
	m.boot()
	if got := m.poll(); got != "idle" || m.status().Phase != api.Wiped {
		t.Errorf("the plan of the next boot is %q, phase %s", got, m.status().Phase)
	}
	m.change(func(tx *nodetx.Tx) { tx.Unbind() })
	if got := m.poll(); got != "idle" || m.status().Phase != api.Idle || m.status().Generation != 1 {
		t.Errorf("the plan without a binding is %q, %+v", got, m.status())
	}
}

// The declaration is disk; the firmware boots from the network, then from the disk.
func TestBootOrderOfTheSystemIsCompared(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.change(func(tx *nodetx.Tx) {
		tx.Declare(api.NodeSpec{MAC: mac, Name: "n1", Disk: "serial:1", BootOrder: "disk"})
	})
	m.boot()
	m.poll()
	installed := m.installs(start(1, "wipe"), end(1, "wipe", 0), start(2, "write"), end(2, "write", 0))
	for i, order := range []string{"network", "disk"} {
		err := m.Operational(t.Context(), mac, installed, api.OS{BootID: nodetext.CleanIdentifier(order),
			BootOrder: nodetext.CleanIdentifier(order), BootCurrent: nodetext.CleanIdentifier("0002 UEFI PXEv4")}, 1, 3)
		if err != nil {
			t.Fatal(err)
		}
		node := m.load().Public()
		if node.OtherBootOrder() != []string{"network", ""}[i] || !node.Binding.Satisfied ||
			node.Status.OS.BootCurrent.String() != "0002 UEFI PXEv4" || m.count("bootorder") != 1 {
			t.Errorf("%s: %+v %+v, %d events", order, node, node.Status.OS, m.count("bootorder"))
		}
	}
	for _, event := range m.load().Events() {
		if event.Kind == "bootorder" &&
			event.Detail.String() != "the firmware boots from network first, declared is disk" {
			t.Errorf("%+v", event)
		}
	}
}

// seeded is a node with the seed as it was answered first.
func seeded(t *testing.T) (m *machine, seed string) {
	t.Helper()
	m = newMachine(t, &api.BindingSpec{Image: "d12", AuthorizedKeys: []string{nodetexttest.HostKey}})
	m.boot()
	m.poll()
	m.does(api.Writing, start(2, "write"), end(2, "write", 0))
	first, _, err := m.Seed(t.Context(), mac, m.token)
	if err != nil {
		t.Fatal(err)
	}
	return m, string(first)
}

func TestSeedWhoseAnswerWasLostIsGivenAgain(t *testing.T) {
	m, first := seeded(t)
	m.after(time.Minute)
	other := intake.New(intake.Options{DB: m.DB, TokenLife: m.TokenLife, Hub: m.Hub, System: m.System})
	for _, one := range []*intake.Intake{m.Intake, other} {
		if again, _, err := one.Seed(t.Context(), mac, m.token); err != nil || string(again) != first {
			t.Errorf("the seed differs: %v", err)
		}
	}
	installed := operationalToken(t, []byte(first))
	m.does(api.Starting, start(4, "kexec"), end(4, "kexec", 0))
	if err := m.confirms(installed, "192.0.2.7"); err != nil {
		t.Fatal(err)
	}
	m.refused("a seed when it is operational", third(m.Seed(t.Context(), mac, m.token)), refusal.Unauthorized)
}

func TestSeedOfANewBootEndsTheTokenOfTheOneBefore(t *testing.T) {
	m, first := seeded(t)
	before := operationalToken(t, []byte(first))
	m.boot()
	m.poll()
	second, _, err := m.Seed(t.Context(), mac, m.token)
	if err != nil || string(second) == first || strings.Contains(string(second), before) {
		t.Fatalf("the seed of the second boot is that of the first, or %v", err)
	}
	m.refused("the installed system of the boot before", m.confirms(before, "192.0.2.7"), refusal.Unauthorized)
}
