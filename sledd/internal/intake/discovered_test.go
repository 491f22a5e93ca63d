// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

func stranger(i int) string { return fmt.Sprintf("52:54:00:99:%02x:%02x", i/256, i%256) }

// appear boots a machine that nobody declared, and returns the token of its claim.
func (m *machine) appear(i int) (string, error) {
	_, token, err := m.Hello(m.Context(), stranger(i), "", admission.Hello{Boot: "b", NIC: stranger(i)}, intake.Source{})
	return token, err
}

// tell sends the facts of one boot.
func (m *machine) tell(i int, token, boot string) error {
	facts := api.Facts{BootID: nodetext.CleanIdentifier(boot)}
	_, err := m.Facts(m.Context(), stranger(i), token, report.Hardware{Facts: facts})
	return err
}

// list is the discovered machines.
func (m *machine) list() []string {
	var list []string
	for _, machine := range m.Hub.Discovered() {
		list = append(list, machine.MAC)
	}
	slices.Sort(list)
	return list
}

// await waits until the hub has seen something.
func (m *machine) await(what string, holds func() bool) {
	m.Helper()
	patience.Until(m.T, what, holds)
}

// found waits until that many machines are discovered, and returns them.
func (m *machine) found(want int) []string {
	m.Helper()
	m.await(fmt.Sprint(want, " machines are discovered"), func() bool { return len(m.list()) == want })
	return m.list()
}

func hall(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t, nil)
	m.SetRoom(3, 2)
	go m.Hub.Run(t.Context())
	return m
}

func TestTheOldestWithoutFactsGoes(t *testing.T) {
	m := hall(t)
	for i := range 3 {
		if _, err := m.appear(i); err != nil {
			t.Fatal(err)
		}
	}
	m.found(3)
	if _, err := m.appear(0); err != nil { // it is seen again
		t.Fatal(err)
	}
	m.await("machine 0 is seen again", func() bool {
		list := m.Hub.Discovered()
		first := slices.MinFunc(list, func(a, b events.Discovered) int { return a.Seen.Compare(b.Seen) })
		return first.MAC == stranger(1)
	})
	if _, err := m.appear(3); err != nil {
		t.Fatal(err)
	}
	m.await("machine 1 went", func() bool {
		return slices.Equal(m.list(), []string{stranger(0), stranger(2), stranger(3)})
	})
	snapshot, err := m.memory.Read(t.Context(), store.Prefix("/"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range snapshot.Results[0] {
		if strings.Contains(kv.Key, stranger(1)) {
			t.Errorf("%s is left of the machine that went", kv.Key)
		}
	}
}

func TestMachinesThatWaitAreNotReplaced(t *testing.T) {
	m := hall(t)
	tokens := make([]string, 3)
	for i := range 3 {
		tokens[i], _ = m.appear(i)
	}
	m.found(3)
	for i := range 2 {
		if err := m.tell(i, tokens[i], "b"); err != nil {
			t.Fatal(err)
		}
	}
	m.await("two have sent facts", func() bool {
		return !slices.ContainsFunc(m.Hub.Discovered(), func(d events.Discovered) bool {
			return d.MAC != stranger(2) && !d.Facts
		})
	})
	if err := m.tell(2, tokens[2], "b"); !refusal.Is(err, refusal.Busy) {
		t.Errorf("two wait, and a third is taken: %v", err)
	}
	m.after(6 * time.Minute) // the two are silent
	if err := m.tell(2, tokens[2], "b"); err != nil {
		t.Error(err)
	}
	m.found(2)
}

func TestMachinesAreForgottenAfterADay(t *testing.T) {
	m := hall(t)
	_, _ = m.appear(0)
	m.after(23 * time.Hour)
	_, _ = m.appear(1)
	m.found(2)
	if n := m.Expire(t.Context()); n != 0 {
		t.Errorf("%d were forgotten after 23 hours", n)
	}
	m.after(2 * time.Hour)
	if n := m.Expire(t.Context()); n != 1 {
		t.Errorf("%d were forgotten after 25 hours", n)
	}
	if list := m.found(1); list[0] != stranger(1) {
		t.Errorf("%v", list)
	}
}

// One machine cannot keep the places of all that are new: the others could not be enrolled.
func TestAnAddressHasFewNewMachines(t *testing.T) {
	m := newMachine(t, nil)
	claim := func(address string, i int) error {
		from := intake.Source{Address: address}
		_, _, err := m.Hello(m.Context(), stranger(i), "", admission.Hello{Boot: "b", NIC: stranger(i)}, from)
		return err
	}
	taken := 0
	for i := range 400 {
		if err := claim("192.0.2.1", i); err == nil {
			taken++
		} else {
			m.refused("another machine", err, refusal.TooMany)
		}
	}
	if taken != 256 {
		t.Errorf("%d machines of one address were taken at once, want 256", taken)
	}
	if err := claim("192.0.2.2", 500); err != nil {
		t.Error("another address:", err)
	}
	m.after(time.Hour)
	for i := range 400 {
		if claim("192.0.2.1", 1000+i) == nil {
			taken++
		}
	}
	if taken > 2*256 {
		t.Errorf("%d machines of one address were taken in an hour", taken)
	}
}

// TestANetworkHasFewNewMachines: those behind its router do not shut out those on a link of the boot server, and whose
// address belongs to another MAC is not discovered at all.
func TestANetworkHasFewNewMachines(t *testing.T) {
	m := newMachine(t, nil)
	m.SetRoom(2000, 4)
	go m.Hub.Run(t.Context())
	claim := func(address string, i int, link admission.Link) (string, error) {
		from := intake.Source{Address: address, Link: func([]string) (admission.Link, string) { return link, "" }}
		_, bearer, err := m.Hello(m.Context(), stranger(i), "", admission.Hello{Boot: "b", NIC: stranger(i)}, from)
		return bearer, err
	}
	_, err := claim("192.0.2.1", 0, admission.LinkOther)
	m.refused("a wrong link", err, refusal.Forbidden)
	taken := 0
	for i := range 600 {
		_, err := claim(fmt.Sprintf("192.0.2.%d", i%200), i, admission.LinkUnknown)
		m.after(40 * time.Millisecond)
		if err == nil {
			taken++
		} else {
			m.refused("another machine", err, refusal.TooMany)
		}
	}
	if taken < 512 || taken > 520 {
		t.Errorf("%d machines of one network were taken, want 512", taken)
	}
	for i, c := range []struct {
		address string
		link    admission.Link
		room    bool
	}{{"192.0.3.1", admission.LinkUnknown, true}, {"2001:db8::1", admission.LinkUnknown, true},
		{"2001:db8:0:1::1", admission.LinkUnknown, true}, {"198.51.100.1", admission.LinkUnknown, false},
		{"192.0.2.1", admission.LinkSame, true}} {
		bearer, err := claim(c.address, 1000+i, c.link)
		if err != nil {
			t.Fatalf("%s: %v", c.address, err)
		}
		if err := m.tell(1000+i, bearer, "b"); (err == nil) != c.room {
			t.Errorf("facts from %s: %v", c.address, err)
		}
		m.await("its facts", func() bool {
			return !c.room || slices.ContainsFunc(m.Hub.Discovered(), func(d events.Discovered) bool {
				return d.MAC == stranger(1000+i) && d.Facts
			})
		})
	}
}

func TestNewMachinesAreTakenAtARate(t *testing.T) {
	m := newMachine(t, nil)
	taken := 0
	for i := range 700 {
		_, err := m.appear(i)
		if err == nil {
			taken++
		} else if !refusal.Is(err, refusal.Busy) {
			t.Fatal(err)
		}
	}
	if taken < 500 || taken > 600 {
		t.Errorf("%d of 700 were taken at once", taken)
	}
}

func TestANodeSendsFactsAndLogsAtARate(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.boot()
	var err error
	boots := 0
	for ; err == nil && boots < 10; boots++ {
		facts := api.Facts{BootID: nodetext.CleanIdentifier(fmt.Sprint("b", boots))}
		_, err = m.Facts(t.Context(), mac, m.token, report.Hardware{Facts: facts})
	}
	if !refusal.Is(err, refusal.TooMany) || boots != 5 {
		t.Errorf("facts number %d: %v", boots, err)
	}
	bytes := 0
	for err = nil; err == nil && bytes < 2<<20; bytes += 64 << 10 {
		_, err = m.LastWords(t.Context(), mac, m.token, nodetext.RawOf(make([]byte, 64<<10)))
	}
	if !refusal.Is(err, refusal.TooMany) || bytes != 17*64<<10 {
		t.Errorf("after %d bytes: %v", bytes, err)
	}
	m.after(time.Hour / 2)
	if m.boot(); m.token == "" {
		t.Fatal("no token")
	}
	if _, err = m.LastWords(t.Context(), mac, m.token, nodetext.RawOf(make([]byte, 64<<10))); err != nil {
		t.Errorf("half an hour later: %v", err)
	}
}
