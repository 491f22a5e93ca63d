// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
)

const (
	stock = "6.1.0-56-cloud-amd64"
	newer = "6.12.107+deb13-amd64"
)

// onKernel is a machine that has a job with a kernel, and was not started.
func onKernel(t *testing.T, binding *api.BindingSpec, phase api.Phase, job api.JobSpec) *machine {
	t.Helper()
	job.Kernel, job.Arguments = "k", "quiet"
	m := withJob(t, binding, phase, job, api.RootImage)
	m.change(func(tx *nodetx.Tx) {
		tx.Writes.Put(key.Images+"k", nodetx.Encode(nodetx.StoredImage{ImageSpec: api.ImageSpec{Name: "k",
			Kind: api.KernelImage, Digest: "sha256:" + strings.Repeat("8", 64), URLs: []string{"http://s/images/k"},
			Kernel: &api.Kernel{Release: newer, Drivers: []string{"virtio_net"}}}}))
	})
	return m
}

// runs tells the facts of this boot, with its kernel.
func (m *machine) runs(release string) {
	m.Helper()
	facts := api.Facts{BootID: nodetext.CleanIdentifier(m.booted),
		Kernel: nodetexttest.Facts(map[string]string{"release": release}),
		NICs:   nodetexttest.Devices(map[string]string{"mac": mac, "driver": "virtio-net"})}
	m.change(func(tx *nodetx.Tx) { tx.Writes.Put(key.Facts+mac, nodetx.Encode(facts)) })
}

// restarts does the steps of a plan that ends with `start`, and says hello with the return ticket.
func (m *machine) restarts(phase api.Phase, step int) (code, claim string) {
	m.Helper()
	ticket := m.ticket()
	m.does(phase, start(step, "start"), end(step, "start", 0))
	m.after(20 * time.Second)
	answer, claim, err := m.helloFrom("192.0.2.9", ticket)
	if err != nil {
		m.Fatal(err)
	}
	return answer.Code, claim
}

// returns does such a plan, and is admitted again by the return ticket.
func (m *machine) returns(phase api.Phase, step int, release string) {
	m.Helper()
	_, claim := m.restarts(phase, step)
	if m.token, m.run = m.pollBy(claim), 0; m.token == "" {
		m.Fatal("the return is not admitted")
	}
	m.runs(release)
}

func TestAJobOnAKernel(t *testing.T) {
	wiped, image := &api.BindingSpec{}, &api.BindingSpec{Image: "d12"}
	for _, c := range []struct {
		name    string
		binding *api.BindingSpec
		phase   api.Phase
		after   string
		want    string // the plan that follows
	}{
		{"idle", nil, api.Idle, "return", "start"},
		{"wiped", wiped, api.Wiped, "return", "start"},
		{"failed", image, api.Failed, "return", "start"},
		{"operational", image, api.Operational, "return", "reboot"},
		{"operational, hold", image, api.Operational, "hold", "reboot"},
		{"idle, hold", nil, api.Idle, "hold", "start"},
		{"idle, poweroff", nil, api.Idle, "poweroff", "poweroff"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := onKernel(t, c.binding, c.phase, api.JobSpec{After: c.after})
			m.boot()
			m.runs(stock)
			if text := m.plan(); !strings.Contains(text, "as=kernel\nstart as=system append=quiet\n") {
				t.Fatalf("the plan is\n%s", text)
			}
			m.does(api.Fetching, start(1, "fetch"), end(1, "fetch", 0))
			m.returns(api.Fetching, 2, newer)
			if got := m.poll(); got != "fetch run" {
				t.Fatalf("on the kernel: %q", got)
			}
			m.does(api.Running, start(1, "fetch"), end(1, "fetch", 0), start(2, "run"))
			m.does(c.phase, ran(0, "payload", ""))
			if job := m.ended(); job.State != api.JobDone || job.Release != newer || job.Before != stock ||
				!job.KernelUp.After(job.Prepared) {
				t.Errorf("%+v", job)
			}
			text := m.plan()
			if verb, _, _ := strings.Cut(strings.Split(text, "\n")[2], " "); verb != c.want {
				t.Fatalf("then\n%s", text)
			}
			if c.want != "start" {
				return
			}
			if !strings.Contains(text, "start as=system vmlinuz=https://s/sled/generic/vmlinuz "+
				"initrd=https://s/sled/generic/initrd.img\n") {
				t.Errorf("it starts\n%s", text)
			}
			m.returns(c.phase, 1, stock)
			if got := m.poll(); got != "idle" || m.status().Phase != c.phase {
				t.Errorf("on its own kernel again: %q, phase %s", got, m.status().Phase)
			}
		})
	}
}

// The level after a jump is that before it.
func TestTheLevelOfAJobOnAKernel(t *testing.T) {
	for level, admit := range map[admission.Level]func(m *machine){
		admission.Open: func(*machine) {},
		admission.Expected: func(m *machine) {
			m.decide(admission.Expect{For: 15 * time.Minute, By: "power"})
		},
		admission.Proven: func(m *machine) {
			code, claim := m.hello("192.0.2.1")
			m.decide(admission.Prove{Code: code, Evidence: admission.Ticket})
			m.token, m.run = m.pollBy(claim), 0
		},
	} {
		m := onKernel(t, nil, api.Idle, api.JobSpec{}).at(level)
		if admit(m); level != admission.Proven {
			m.enter("192.0.2.1")
		}
		m.runs(stock)
		m.poll()
		m.does(api.Fetching, start(1, "fetch"), end(1, "fetch", 0))
		m.returns(api.Fetching, 2, newer)
		m.poll()
		if now := m.load(); now.Admission().Incumbent.Level != level || now.Job().Level != level.String() {
			t.Errorf("%s: after the jump %+v", level, now.Admission().Incumbent)
		}
	}
}

// A recorded console shows the code of the return before or after its first word: it is the return all the same.
func TestAReturnThatTheConsoleProves(t *testing.T) {
	for _, late := range []bool{false, true} {
		m := onKernel(t, &api.BindingSpec{}, api.Wiped, api.JobSpec{}).at(admission.Expected)
		m.decide(admission.Expect{For: 15 * time.Minute, By: "power"})
		m.enter("192.0.2.1")
		m.runs(stock)
		m.poll()
		m.does(api.Fetching, start(1, "fetch"), end(1, "fetch", 0))
		code, claim := m.restarts(api.Fetching, 2)
		show := admission.Show{Code: code, At: m.DB.Now()}
		if !late {
			m.decide(show)
		}
		m.token, m.run = m.pollBy(claim), 0
		if late {
			m.decide(show)
		}
		m.runs(newer)
		if got := m.poll(); got != "fetch run" || m.load().Job().Level != "proven" {
			t.Errorf("late %t: %q, then %+v", late, got, m.load().Detour())
		}
	}
}

func TestAKernelThatDoesNotStart(t *testing.T) {
	for name, c := range map[string]struct {
		comes func(m *machine)
		want  string
	}{
		"firmware": {func(m *machine) {
			m.does(api.Fetching, start(2, "start"), end(2, "start", 0))
			m.boot()
			m.runs(stock)
		}, "kernel k did not start"},
		"another": {func(m *machine) { m.returns(api.Fetching, 2, "6.1.0-1-amd64") },
			"runs kernel 6.1.0-1-amd64, and not " + newer},
		"left": {func(m *machine) {
			m.returns(api.Fetching, 2, newer)
			m.poll()
			m.boot()
			m.runs(stock)
		}, "left kernel k before"},
	} {
		m := onKernel(t, nil, api.Idle, api.JobSpec{})
		m.boot()
		m.runs(stock)
		m.poll()
		m.does(api.Fetching, start(1, "fetch"), end(1, "fetch", 0))
		c.comes(m)
		verb := m.poll()
		if job := m.ended(); job.State != api.JobLost || !strings.Contains(job.Reason.String(), c.want) {
			t.Errorf("%s: %+v", name, job)
		}
		if want := map[bool]string{true: "start", false: "idle"}[name == "another"]; verb != want {
			t.Errorf("%s: then %q, want %q", name, verb, want)
		}
	}
}

// A kernel is used by settings and privileges, too; a restart by the firmware ends that.
func TestUsedKernels(t *testing.T) {
	for _, spec := range []api.JobSpec{{Privileged: true}, {Tune: []string{"/proc/sys/vm/swappiness=1"}}} {
		for _, restarts := range []bool{false, true} {
			m := jobs(t, nil, api.Idle, spec, api.RootImage)
			m.poll()
			m.does(api.Running, start(1, "fetch"), end(1, "fetch", 0), start(2, "run"))
			m.bind(1, api.BindingSpec{Image: "d12"})
			m.does(api.Idle, ran(0, "payload", ""))
			want := "start"
			if restarts {
				m.boot()
				want = "wipe write configure kexec"
			}
			if got := m.poll(); got != want {
				t.Errorf("%+v, restart %t: then %q", spec, restarts, got)
			}
		}
	}
}

func TestAJobWhoseKernelFails(t *testing.T) {
	m := onKernel(t, nil, api.Idle, api.JobSpec{})
	m.boot()
	m.runs(stock)
	m.poll()
	m.does(api.Idle, start(1, "fetch"), end(1, "fetch", 0), start(2, "start"), end(2, "start", 5))
	if job := m.ended(); job.State != api.JobFailed || job.Code != 5 {
		t.Errorf("%+v", job)
	}
	if got := m.poll(); got != "idle" {
		t.Errorf("then %q: its kernel is not used", got)
	}
	m = onKernel(t, nil, api.Idle, api.JobSpec{})
	m.boot()
	m.runs(stock)
	m.change(func(tx *nodetx.Tx) {
		tx.Writes.Put(key.Images+"k", nodetx.Encode(nodetx.StoredImage{ImageSpec: api.ImageSpec{Name: "k",
			Kind: api.KernelImage, Kernel: &api.Kernel{Release: newer, Drivers: []string{"e1000e"}}}}))
	})
	if got := m.poll(); got != "idle" || m.ended().Reason.String() !=
		"kernel image k has no driver virtio_net, which the network of node n1 needs" {
		t.Errorf("%q, %+v", got, m.ended())
	}
}
