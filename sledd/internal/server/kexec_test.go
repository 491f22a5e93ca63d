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
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// model makes a machine tell what it is, once a boot.
func model(m *sleddtest.Machine, product string) {
	m.Say("facts",
		fmt.Sprintf("facts 1\nboot %s\ndmi vendor=ACME product=%s version=v1 bios=2.0\ndisk name=vda serial=LAB-0001 "+
			"bytes=1000\n",
			m.Boot, product))
}

// jump does a plan up to its last step, and gives that step's line.
func jump(t *testing.T, m *sleddtest.Machine, end string) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(m.Poll(0)), "\n")
	last := lines[len(lines)-1]
	wrote(m)
	m.Seed()
	verb, _, _ := strings.Cut(last, " ")
	m.Report("begin step=4 of=4 verb=" + verb)
	m.Report("end step=4 verb=" + verb + " code=0 seconds=1" + end)
	return last
}

func confirmAs(m *sleddtest.Machine, start string) {
	m.Say("operational",
		fmt.Sprintf("operational 1\ngeneration %d\nos id=debian version=12 kernel=6.1 machine_id=abc "+
			"boot_id=os-%d uptime=8%s\n", m.Generation, m.Generation, start))
}

// stats are those of the one model there is.
func (s *sledd) stats(t *testing.T) api.KexecModel {
	t.Helper()
	list, err := s.Client().Kexecs(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %+v", err, list)
	}
	return list[0]
}

func boundMachine(t *testing.T, s *sledd) *sleddtest.Machine {
	t.Helper()
	s.Declare(1)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	model(m, "X1")
	return m
}

func again(t *testing.T, s *sledd, m *sleddtest.Machine, boot string) {
	t.Helper()
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12", Boot: boot}, api.Reimage())
	m.Reboot()
	model(m, "X1")
}

func TestKexecThatIsConfirmed(t *testing.T) {
	s := fresh(t)
	m := boundMachine(t, s)
	if last := jump(t, m, " way=kexec"); !strings.HasPrefix(last, "kexec ") {
		t.Fatalf("the plan ends in %q", last)
	}
	if got := s.stats(t); got.Attempts != 1 || got.Confirmed+got.Missed != 0 || got.Last != "open" || got.Rate != nil ||
		got.Vendor.String() != "ACME" || got.Product.String() != "X1" {
		t.Errorf("on the way: %+v", got)
	}
	confirmAs(m, " start=kexec")
	if got := s.stats(t); got.Attempts != 1 || got.Confirmed != 1 || got.Missed != 0 || got.Last != "confirmed" ||
		*got.Rate != 1 || got.Nodes != 1 {
		t.Errorf("confirmed: %+v", got)
	}
	if status := s.Node(1).Status; status.Start != "kexec" || !status.StartNote.IsZero() {
		t.Errorf("%+v", status)
	}
	confirmAs(m, " start=firmware") // it could not forget its token, and was rebooted
	if got := s.stats(t); got.Confirmed != 1 || got.Missed != 0 {
		t.Errorf("a later start counts: %+v", got)
	}
}

// TestKexecThatIsMissed looks at each way in which a cold start shows.
func TestKexecThatIsMissed(t *testing.T) {
	for name, c := range map[string]struct {
		between func(s *sledd, m *sleddtest.Machine)
		word    string // of the system that came up
		start   string
		missed  int64
	}{
		"its own word": {func(*sledd, *sleddtest.Machine) {}, " start=firmware", "fallback", 1},
		"anybody's request of the boot script": {func(s *sledd, m *sleddtest.Machine) {
			s.Ask("GET", "/boot/"+m.MAC+".ipxe", "", "")
		}, "", "kexec", 0},
		"a fallback":                 {note("fallback"), "", "fallback", 1},
		"somebody at the switch":     {note("power"), "", "fallback", 1},
		"a switch that does nothing": {note("power"), " start=kexec", "kexec", 0},
		"lost, and late":             {note("lost"), " start=kexec", "kexec", 0},
		"lost, and found":            {note("lost"), " start=firmware", "fallback", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := fresh(t)
			m := boundMachine(t, s)
			jump(t, m, "")
			c.between(s, m)
			confirmAs(m, c.word)
			if got := s.stats(t); got.Attempts != 1 || got.Missed != c.missed || got.Confirmed != 1-c.missed {
				t.Errorf("%+v", got)
			}
			if status := s.Node(1).Status; status.Start != c.start || status.Phase != api.Operational {
				t.Errorf("%+v", status)
			}
		})
	}
}

func note(kind string) func(*sledd, *sleddtest.Machine) {
	return func(s *sledd, _ *sleddtest.Machine) {
		s.admin(http.StatusNoContent, "POST", "/v1/nodes/n1/events", api.NodeEvent{Kind: kind, Detail: "cycle"})
	}
}

func TestNothingToJumpToIsNoKexec(t *testing.T) {
	s := fresh(t)
	m := boundMachine(t, s)
	jump(t, m, " way=reboot")
	confirmAs(m, " start=firmware")
	if list, err := s.Client().Kexecs(t.Context()); err != nil || len(list) != 0 || s.Node(1).Status.Start != "reboot" {
		t.Errorf("%v, %+v, %+v", err, list, s.Node(1).Status)
	}
}

// TestANodeThatMissedIsRebooted until somebody insists, and that goes well.
func TestANodeThatMissedIsRebooted(t *testing.T) {
	s := fresh(t)
	m := boundMachine(t, s)
	jump(t, m, "")
	again(t, s, m, "") // it never spoke
	if last := jump(t, m, ""); last != "reboot" {
		t.Errorf("after a miss the plan ends in %q", last)
	}
	node := s.Node(1)
	if node.Status.Start != "reboot" || !strings.Contains(node.Status.StartNote.String(), "was not confirmed") ||
		node.Binding.Boot != "" {
		t.Errorf("%+v, %+v", node.Status, node.Binding)
	}
	if got := s.stats(t); got.Missed != 1 || got.Last != "missed" || *got.Rate != 0 {
		t.Errorf("%+v", got)
	}
	confirmAs(m, " start=firmware")
	again(t, s, m, "kexec")
	if last := jump(t, m, ""); !strings.HasPrefix(last, "kexec ") || !strings.HasSuffix(last, " fallback=none") {
		t.Errorf("boot=kexec: the plan ends in %q", last)
	}
	confirmAs(m, " start=kexec")
	again(t, s, m, "auto")
	if last := jump(t, m, ""); !strings.HasPrefix(last, "kexec ") || !s.Node(1).Status.StartNote.IsZero() {
		t.Errorf("after a success the plan ends in %q", last)
	}
}

func TestAnotherMainboardStartsAnew(t *testing.T) {
	s := fresh(t)
	m := boundMachine(t, s)
	jump(t, m, "")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"}, api.Reimage())
	m.Reboot()
	model(m, "X2")
	if last := jump(t, m, ""); !strings.HasPrefix(last, "kexec ") {
		t.Errorf("the plan ends in %q", last)
	}
	if got := s.stats(t); got.Product.String() != "X2" || got.Attempts != 1 {
		t.Errorf("%+v", got)
	}
}

func TestQuirks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "quirks.yml")
	if err := os.WriteFile(file,
		[]byte("- match: {vendor: acme, product: X*}\n  reason: its NIC hangs\n  source: https://example.net/1\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	s := withQuirks(t, file)
	m := boundMachine(t, s)
	if last := jump(t, m, ""); last != "reboot" {
		t.Errorf("the plan ends in %q", last)
	}
	told := ""
	for _, event := range as[api.EventList](t, s.admin(200, "GET", "/v1/nodes/n1/events", nil)).Items {
		if event.Kind == "plan" {
			told = event.Detail.String()
		}
	}
	if told != "wipe write configure reboot on serial:LAB-0001 (not kexec: quirk: its NIC hangs, https://example.net/1)" {
		t.Errorf("the event says %q", told)
	}
	if got := s.Node(1).Status.StartNote; got.String() != "quirk: its NIC hangs, https://example.net/1" {
		t.Errorf("the status says %q", got)
	}
	again(t, s, m, "kexec")
	if last := jump(t, m, ""); !strings.HasPrefix(last, "kexec ") {
		t.Errorf("boot=kexec: the plan ends in %q", last)
	}
	list, err := s.Client().Quirks(t.Context())
	if err != nil || len(list) < 2 || list[0].Origin != "local" || list[0].Reason != "its NIC hangs" ||
		list[1].Origin != "shipped" {
		t.Errorf("%v, %+v", err, list)
	}
}

func TestLastWords(t *testing.T) {
	s := fresh(t)
	m := boundMachine(t, s)
	m.Say("lastwords", "--- dmesg-efi-1\n[ 1.0] BUG: kernel NULL pointer dereference\n[ 1.5] Kernel panic - not "+
		"syncing: Attempted to kill init!\n")
	text, err := s.Client().Log(t.Context(), "n1")
	if err != nil || !strings.HasPrefix(text.String(), "--- dmesg-efi-1\n") {
		t.Errorf("%v, %q", err, text)
	}
	list := as[api.EventList](t, s.admin(200, "GET", "/v1/nodes/n1/events", nil)).Items
	last := list[len(list)-1]
	if last.Kind != "lastwords" || last.Detail.String() != "Kernel panic - not syncing: Attempted to kill init!" ||
		last.Bytes == 0 {
		t.Errorf("%+v", last)
	}
	if answer := s.Ask("POST", "/node/v1/"+m.MAC+"/lastwords", "sledb_525400770001_x",
		"x"); answer.Status != http.StatusUnauthorized && answer.Status != http.StatusForbidden {
		t.Errorf("a wrong token: %d", answer.Status)
	}
}

func withQuirks(t *testing.T, file string) *sledd {
	t.Helper()
	s := fresh(t)
	s.Stop()
	s.Sledd = sleddtest.StartWith(t, sleddtest.Options{Store: etcd, Now: s.now, Quirks: file})
	return s
}
