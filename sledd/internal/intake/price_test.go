// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

// calls counts the calls of the store that a request makes.
func (m *machine) calls(request func() error) (reads, commits int) {
	m.Helper()
	m.memory.Before(func(call string) error {
		if call == "read" {
			reads++
		} else {
			commits++
		}
		return nil
	})
	defer func() { m.memory.Before(nil) }()
	if err := request(); err != nil {
		m.Fatal(err)
	}
	return reads, commits
}

var forgedClaim = "sledc_" + strings.ReplaceAll(mac, ":", "") + "_0_" + strings.Repeat("0", 64)

func failure[T any](_ T, err error) error { return err }

// TestRequestsOfABootCallTheStoreRarely is the price of a machine that is admitted at once, as when thousands boot:
// nearly all of it is calls of the store.
func TestRequestsOfABootCallTheStoreRarely(t *testing.T) {
	const further = "52:54:00:77:00:0a"
	disk := map[string]string{"name": "vda", "serial": "1", "bytes": "1000", "transport": "virtio"}
	hardware := report.Hardware{Facts: api.Facts{BootID: nodetext.CleanIdentifier("b1"),
		Disks: []map[string]nodetext.Identifier{nodetexttest.Facts(disk)}}}
	for nic, again := range map[string]int{mac: 0, further: 1} { // a further read finds the node of an interface
		m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Open)
		m.change(func(tx *nodetx.Tx) { tx.Take(further, 0) })
		_ = m.Authenticate(t.Context(), mac, forgedClaim) // reads the key of claims, as is done once in a minute
		poll := func() error {
			answer, err := m.Poll(t.Context(), mac, m.token, intake.None, 0)
			if answer.Token != "" {
				m.token = answer.Token
			}
			return err
		}
		for _, c := range []struct {
			what           string
			request        func() error
			reads, commits int
		}{
			{"boot script", func() error { return failure(m.Script(t.Context(), nic)) }, 1 + again, 0},
			{"hello", func() (err error) {
				_, m.token, err = m.Hello(t.Context(), nic, "", admission.Hello{Boot: "b1", NIC: nic}, intake.Source{})
				return err
			}, 1 + again, 1},
			{"token of the facts", func() error { return m.Authenticate(t.Context(), mac, m.token) }, 0, 0},
			{"facts, which admit it", func() (err error) {
				m.token, err = m.Facts(t.Context(), mac, m.token, hardware)
				return err
			}, 1, 1},
			{"poll of the plan", poll, 2, 1}, // and the image
		} {
			if reads, commits := m.calls(c.request); reads != c.reads || commits != c.commits {
				t.Errorf("%s by %s: %d reads and %d commits, want %d and %d", c.what, nic, reads, commits, c.reads, c.commits)
			}
		}
		if m.status().Phase != api.Booting || m.counts.plans != 1 {
			t.Errorf("by %s: phase %s, %d plans", nic, m.status().Phase, m.counts.plans)
		}
	}
}

// TestTheCommitsOfAnInstallation counts them from the plan to the installed system's own report, with four reports of
// progress: the plan, the first start, an end with each further start, the seed, the last end, and operational.
func TestTheCommitsOfAnInstallation(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.boot()
	m.tells()
	_, commits := m.calls(func() error {
		m.plan()
		for _, lines := range [][]report.Line{{start(1, "wipe")}, {end(1, "wipe", 0), start(2, "write")},
			{moved(1)}, {moved(2)}, {moved(3)}, {moved(4)}} {
			if err := m.says(lines...); err != nil {
				return err
			}
		}
		installed := m.installs(end(2, "write", 0), start(3, "configure"))
		if err := m.says(end(3, "configure", 0), start(4, "kexec")); err != nil {
			return err
		}
		if err := m.says(end(4, "kexec", 0)); err != nil {
			return err
		}
		return m.confirms(installed, "10.0.0.9")
	})
	if commits != 8 || m.status().Phase != api.Operational {
		t.Errorf("%d commits, phase %s", commits, m.status().Phase)
	}
}
