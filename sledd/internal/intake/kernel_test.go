// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
)

// bindOn binds the machine to a root on kernel k, or with no name to a root alone.
func (m *machine) bindOn(generation int64, kernel string) {
	m.Helper()
	bound := nodetx.Binding{Binding: api.Binding{MAC: mac, Generation: generation, Digest: "sha256:" +
		strings.Repeat("7", 64), BindingSpec: api.BindingSpec{Node: "n1", Image: "root", Kernel: kernel}}}
	bound.Source = &api.ImageSpec{Name: "root", Kind: api.RootImage, Digest: bound.Digest,
		URLs: []string{"http://s/images/root"}}
	if kernel != "" {
		bound.KernelArguments = "quiet"
		bound.On = &api.ImageSpec{Name: kernel, Kind: api.KernelImage, Digest: "sha256:" + strings.Repeat("8", 64),
			URLs: []string{"http://s/images/k"}, Kernel: &api.Kernel{Release: newer, Drivers: []string{"virtio_net"}}}
	}
	m.change(func(tx *nodetx.Tx) { tx.Bind(bound, true) })
}

// toKernel starts the machine, and does its plan up to the jump into the kernel.
func (m *machine) toKernel() {
	m.Helper()
	m.runs(stock)
	if text := m.plan(); !strings.Contains(text, "as=kernel\nstart as=system append=quiet\n") {
		m.Fatalf("the plan is\n%s", text)
	}
	m.does(api.Fetching, start(1, "fetch"), end(1, "fetch", 0))
}

// runsRoot does the plan of the root, from its steps to its confirmation.
func (m *machine) runsRoot() {
	m.Helper()
	if got := m.poll(); got != "fetch configure start" {
		m.Fatalf("the plan of the root is %q", got)
	}
	m.after(6 * time.Minute) // at expected, its seed waits for that long
	installed := m.installs(start(1, "fetch"), end(1, "fetch", 0), start(2, "configure"), end(2, "configure", 0))
	m.does(api.Starting, start(3, "start"), end(3, "start", 0))
	if err := m.confirms(installed, "192.0.2.9"); err != nil {
		m.Fatal(err)
	}
}

// Each boot starts the kernel, then the root on it; the return needs no window, also where nobody opens one.
func TestARootOnAKernel(t *testing.T) {
	m := newMachine(t, nil).at(admission.Expected)
	m.bindOn(1, "k")
	for range 2 {
		m.after(time.Hour)
		if !m.boot() {
			t.Fatal("it boots its disk")
		}
		m.toKernel()
		m.returns(api.Booting, 2, newer)
		m.runsRoot()
		if status := m.status(); status.Kernel != (api.OnKernel{Image: "k", State: api.KernelUp}) || !status.Memory ||
			!m.load().Satisfied() {
			t.Errorf("%+v", status)
		}
	}
	if by := m.load().Admission().Left; m.count("lost") != 0 || by == "" {
		t.Errorf("%d lost, left %q", m.count("lost"), by)
	}
}

// A kernel that does not come up is told, and tried again with the next boot; without it, the root runs at once.
func TestAKernelThatDoesNotComeUp(t *testing.T) {
	for name, c := range map[string]struct {
		comes func(m *machine)
		want  string
		code  int
	}{
		"firmware": {func(m *machine) {
			m.does(api.Booting, start(2, "start"), end(2, "start", 0))
			m.boot()
			m.runs(stock)
		}, "kernel k did not start: the node came through its firmware", 0},
		"another": {func(m *machine) { m.returns(api.Booting, 2, "6.1.0-1-amd64") },
			"the node runs kernel 6.1.0-1-amd64, and not " + newer + " of image k", api.CodeNotSupported},
		"refused": {func(m *machine) { m.does(api.Failed, start(2, "start"), end(2, "start", api.CodeIntegrity)) },
			"start failed", api.CodeIntegrity},
	} {
		m := newMachine(t, nil)
		m.bindOn(1, "k")
		m.boot()
		m.toKernel()
		c.comes(m)
		for range 2 {
			if got := m.poll(); got != "" {
				t.Fatalf("%s: then %q", name, got)
			}
		}
		if status := m.status(); status.Phase != api.Failed || status.Reason.String() != c.want || status.Code != c.code {
			t.Errorf("%s: %+v", name, status)
		}
		if m.bindOn(2, ""); m.poll() != "fetch configure start" {
			t.Errorf("%s: without a kernel it does not run at once", name)
		}
		m.bindOn(3, "k")
		m.boot()
		m.toKernel()
		m.returns(api.Booting, 2, newer)
		m.runsRoot()
	}
}

// An operator who resets a node on its way loses nothing.
func TestAResetOnTheWayToAKernel(t *testing.T) {
	m := newMachine(t, nil)
	m.bindOn(1, "k")
	m.boot()
	m.toKernel()
	m.does(api.Booting, start(2, "start"), end(2, "start", 0))
	m.decide(admission.Expect{For: 15 * time.Minute, By: "power", Reset: true})
	m.after(time.Minute).boot()
	m.toKernel()
}

func TestAKernelThatIsSilent(t *testing.T) {
	r := newRecorded(t, admission.Open)
	r.bindOn(2, "k")
	r.boot()
	r.toKernel()
	r.does(api.Booting, start(2, "start"), end(2, "start", 0))
	r.prints("Kernel panic\n")
	r.after(19 * time.Minute)
	if got := r.awaits(1); got != api.Booting {
		t.Fatal(got)
	}
	r.after(2 * time.Minute)
	want := "kernel " + newer + " of image k did not come up within 20m0s; its console ends: Kernel panic"
	if got := r.awaits(1); got != api.Failed || r.status().Reason.String() != want || r.count("lost") != 1 {
		t.Fatalf("%s: %s", got, r.status().Reason)
	}
	r.boot()
	r.toKernel()
}

// What the node needs of a kernel is known for certain once it has booted.
func TestAKernelWithoutADriver(t *testing.T) {
	m := newMachine(t, nil)
	m.bindOn(1, "k")
	bound := *m.load().Binding()
	bound.On.Kernel.Drivers = []string{"e1000e"}
	m.change(func(tx *nodetx.Tx) { tx.Bind(bound, true) })
	m.boot()
	m.runs(stock)
	if got := m.poll(); got != "" || m.count("lost") != 1 || m.status().Reason.String() !=
		"kernel image k has no driver virtio_net, which the network of node n1 needs" {
		t.Errorf("%q, %+v", got, m.status())
	}
}

// Another binding is not carried out on that kernel.
func TestABindingBesideAKernel(t *testing.T) {
	m := newMachine(t, nil)
	m.bindOn(1, "k")
	m.boot()
	m.toKernel()
	m.returns(api.Booting, 2, newer)
	m.poll()
	m.does(api.Failed, start(1, "fetch"), end(1, "fetch", 6))
	m.bind(2, api.BindingSpec{Image: "d12"})
	if text := m.plan(); !strings.Contains(text, "start as=system vmlinuz=https://s/sled/generic/vmlinuz ") {
		t.Fatalf("then\n%s", text)
	}
	m.returns(api.Failed, 1, stock)
	m.has(map[string]string{"name": "vda", "serial": "1", "bytes": "1000", "transport": "virtio"})
	if got := m.poll(); got != "wipe write configure kexec" {
		t.Errorf("then %q", got)
	}
}
