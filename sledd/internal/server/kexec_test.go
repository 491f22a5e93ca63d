// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// tells reports the model, once a boot.
func tells(m *sleddtest.Machine) {
	m.Say("facts", "facts 1\nboot "+m.Boot+"\ndmi vendor=ACME product=X1 version=v1 bios=2.0\n"+
		"disk name=vda serial=LAB-0001 bytes=1000\n")
}

// jump carries out a plan up to its last step, and returns the line of that step.
func jump(m *sleddtest.Machine) string {
	lines := strings.Split(strings.TrimSpace(m.Poll(0)), "\n")
	last := lines[len(lines)-1]
	wrote(m)
	m.Seed()
	verb, _, _ := strings.Cut(last, " ")
	m.Report("begin step=4 of=4 verb="+verb, "end step=4 verb="+verb+" code=0 seconds=1")
	return last
}

func boundMachine(s *sledd) *sleddtest.Machine {
	s.Helper()
	s.Declare(1)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	tells(m)
	return m
}

func TestKexecsOfAModel(t *testing.T) {
	s := fresh(t)
	m := boundMachine(s)
	want := func(last string, confirmed int64) {
		t.Helper()
		list, err := s.Client().Kexecs(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatalf("%v, %+v", err, list)
		}
		if got := list[0]; got.Vendor.String() != "ACME" || got.Product.String() != "X1" || got.Attempts != 1 ||
			got.Confirmed != confirmed || got.Missed != 0 || got.Last != last || (got.Rate == nil) != (confirmed == 0) {
			t.Errorf("%+v, want %s", got, last)
		}
	}
	if last := jump(m); !strings.HasPrefix(last, "kexec ") {
		t.Fatalf("the plan ends in %q", last)
	}
	want("open", 0)
	m.Say("operational", "operational 1\ngeneration 1\nos boot_id=os-1 uptime=8 start=kexec\n")
	want("confirmed", 1)
}

// Jumps into payloads tell nothing about how an installed system starts.
func TestJumpsIntoPayloadsAreCountedApart(t *testing.T) {
	s := fresh(t)
	m := boundMachine(s)
	s.payload("http", "")
	for _, one := range []struct {
		confirms bool
		want     api.Jumps
	}{{true, api.Jumps{Attempts: 1, Confirmed: 1}}, {false, api.Jumps{Attempts: 2, Confirmed: 1}},
		{true, api.Jumps{Attempts: 3, Confirmed: 2, Missed: 1}}} {
		m.Reboot()
		tells(m)
		if path := leap(t, m); one.confirms {
			s.Ask("GET", path, "", "")
		}
		list, err := s.Client().Kexecs(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatalf("%v, %+v", err, list)
		}
		if got := list[0]; got.Payloads != one.want || got.Attempts != 0 || got.Rate != nil || got.Last != "" {
			t.Errorf("%+v, want %+v", got, one.want)
		}
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
	m := boundMachine(s)
	if last := jump(m); last != "reboot" {
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
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12", Boot: "kexec"}, api.Reimage())
	m.Reboot()
	tells(m)
	if last := jump(m); !strings.HasPrefix(last, "kexec ") {
		t.Errorf("boot=kexec: the plan ends in %q", last)
	}
	list, err := s.Client().Quirks(t.Context())
	if err != nil || len(list) < 2 || list[0].Origin != "local" || list[0].Reason != "its NIC hangs" ||
		list[1].Origin != "shipped" {
		t.Errorf("%v, %+v", err, list)
	}
}

func withQuirks(t *testing.T, file string) *sledd {
	t.Helper()
	s := fresh(t)
	s.Stop()
	s.Sledd = sleddtest.StartWith(t, sleddtest.Options{Store: shared, Now: s.now, Quirks: file})
	return s
}
