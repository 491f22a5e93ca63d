// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

// wiped is a node with two disks whose tear-down erased them; the other one gets another result.
func wiped(t *testing.T, level, other string) *machine {
	t.Helper()
	m := newMachine(t, &api.BindingSpec{})
	m.boot()
	m.sends(drive("nvme0n1", "1"), drive("nvme1n1", "2"))
	if got := m.plan(); !strings.Contains(got, "wipe disks=all ") {
		t.Fatalf("a tear-down: %s", got)
	}
	done := end(1, "wipe", 0)
	for name, result := range map[string]string{"1": report.Erased, "2": other} {
		id := nodetext.CleanIdentifier
		done.Erasures = append(done.Erasures, report.Erasure{Result: result, Level: level, Method: "discard",
			Disk: id(map[string]string{"1": "nvme0n1", "2": "nvme1n1"}[name]), Serial: id(name), WWN: id("eui." + name)})
	}
	m.does(api.Wiping, start(1, "wipe"))
	m.does(api.Wiped, done, start(2, "idle"))
	return m
}

// A wipe before a write says nothing once the write has begun.
func TestADiskIsErasedAgainAfterAWriteThatFailed(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.boot()
	m.sends(drive("nvme0n1", "1"))
	m.plan()
	done, id := end(1, "wipe", 0), nodetext.CleanIdentifier
	done.Erasures = []report.Erasure{{Result: report.Erased, Level: "empty", Method: "discard", Disk: id("nvme0n1"),
		Serial: id("1"), WWN: id("eui.1")}}
	m.does(api.Wiping, start(1, "wipe"))
	m.does(api.Writing, done, start(2, "write"))
	m.does(api.Failed, end(2, "write", 1))
	if got := m.bound(api.BindingSpec{Image: "d13"}); got != wipes {
		t.Errorf("got %s", got)
	}
}

// The records of the step name the disk; nothing but another binding or boot brings a plan, and that one wipes again.
func TestNothingFollowsAVerificationThatFailed(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.boot()
	m.sends(drive("nvme0n1", "1"))
	m.plan()
	done, id := end(1, "wipe", api.CodeIntegrity), nodetext.CleanIdentifier
	done.Erasures = []report.Erasure{{Result: report.NotErased, Level: "empty", Method: "discard", Disk: id("nvme0n1"),
		Serial: id("1"), WWN: id("eui.1")}}
	m.does(api.Wiping, start(1, "wipe"))
	m.does(api.Failed, done)
	if status := m.status(); status.Code != api.CodeIntegrity || status.Erased != nil {
		t.Errorf("code %d, erased %+v", status.Code, status.Erased)
	}
	if got := m.plan(); got != "" {
		t.Errorf("the node polls on: %s", got)
	}
	if got := m.bound(api.BindingSpec{Image: "d13"}); got != wipes {
		t.Errorf("another binding: %s", got)
	}
	if !m.boot() {
		t.Fatal("the next boot starts the disk")
	}
	m.run = intake.None
	m.sends(drive("nvme0n1", "1"))
	if got := m.plan(); !strings.Contains(got, "\nwipe ") {
		t.Errorf("another boot: %s", got)
	}
}

// bound returns the steps of the plan that follows a binding.
func (m *machine) bound(spec api.BindingSpec) string {
	m.Helper()
	m.bind(m.load().Generation()+1, spec)
	var verbs []string
	for line := range strings.Lines(m.plan()) {
		verbs = append(verbs, strings.Fields(line)[0])
	}
	return strings.Join(verbs[2:], " ")
}

const (
	writes = "write configure kexec"
	wipes  = "wipe write configure kexec"
)

func TestWhatWasErasedIsNotErasedAgain(t *testing.T) {
	m := wiped(t, "empty", report.Erased)
	if got := m.bound(api.BindingSpec{Image: "d12"}); got != writes {
		t.Errorf("after a wipe in the same boot: %s", got)
	}
	m = wiped(t, "empty", report.NotErased)
	if got := m.bound(api.BindingSpec{Image: "d12", Disk: "serial:2"}); got != wipes {
		t.Errorf("a disk that was not erased: %s", got)
	}
	m = wiped(t, "empty", report.LeftOut)
	if got := m.bound(api.BindingSpec{Image: "d12", Disk: "serial:2"}); got != wipes {
		t.Errorf("a disk that was left out: %s", got)
	}
}

// rescued gets the plan of a rescue, whose start it never reports.
func rescued(m *machine) {
	keys := api.RescueSpec{AuthorizedKeys: []string{sshkeys.Alice}}
	m.change(func(tx *nodetx.Tx) {
		tx.SetDetour(detour.Detour{Rescue: &api.Rescue{RescueSpec: keys}})
	})
	if got := m.plan(); !strings.Contains(got, "rescue keys=") {
		m.Errorf("got %s", got)
	}
	m.change(func(tx *nodetx.Tx) { tx.SetDetour(detour.Detour{}) })
}

func TestWhatMayHoldSomethingIsErasedAgain(t *testing.T) {
	image := api.BindingSpec{Image: "d12"}
	for name, c := range map[string]struct {
		level   string
		spec    api.BindingSpec
		between func(m *machine)
	}{
		"a higher level": {"empty", api.BindingSpec{Image: "d12", Wipe: "clear"}, nil},
		"a lower level, which leaves other bytes": {"clear", image, nil},
		"a method that is named": {"purge", api.BindingSpec{Image: "d12", Wipe: "purge",
			WipeMethod: "nvme-format-user"}, nil},
		"another boot": {"empty", image, func(m *machine) {
			m.enter("192.0.2.9")
			m.sends(drive("nvme0n1", "1"), drive("nvme1n1", "2"))
		}},
		"another disk under its name": {"empty", image, func(m *machine) {
			other := drive("nvme0n1", "1")
			other["wwn"] = "eui.other"
			m.sends(other, drive("nvme1n1", "2"))
		}},
		"a write that failed": {"empty", image, func(m *machine) {
			if got := m.bound(image); got != writes {
				m.Errorf("the first time: %s", got)
			}
			m.does(api.Writing, start(1, "write"))
			m.does(api.Failed, end(1, "write", 1))
		}},
		"a rescue": {"empty", image, rescued},
		"a plan that got lost": {"empty", image, func(m *machine) {
			if got := m.bound(image); got != writes {
				m.Errorf("the first time: %s", got)
			}
		}},
		"a wipe that failed": {"empty", image, func(m *machine) {
			m.bind(2, api.BindingSpec{})
			m.plan()
			m.does(api.Wiping, start(1, "wipe"))
			m.does(api.Failed, end(1, "wipe", 1))
		}},
	} {
		m := wiped(t, c.level, report.Erased)
		if c.between != nil {
			c.between(m)
		}
		if got := m.bound(c.spec); got != wipes {
			t.Errorf("%s: %s", name, got)
		}
	}
}
