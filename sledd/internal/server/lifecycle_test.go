// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

// firstPlan is that of an image, on a node that no plan has configured yet.
func firstPlan(s *sledd) string {
	known := s.Stamp(1, 0, 0)
	return `plan 1
generation 1 run 2
wipe disks=serial:LAB-0001 level=empty known=` + known + `
write disk=serial:LAB-0001 image=http://10.77.0.1/images/d12 digest=` + sleddtest.DigestOf("d12") +
		` mode=full gaps=keep known=` + known + `
configure disk=serial:LAB-0001 hostname=web grow=last stamp=` + s.Stamp(1, 1, 2) + `
kexec disk=serial:LAB-0001 append=quiet%20x%3D1 fallback=reboot
`
}

func TestLifeOfANode(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Register("d12")
	s.phase(1, "")
	s.admin(http.StatusNoContent, "POST", "/v1/nodes/n1/events", api.NodeEvent{Kind: "power", Detail: "on"})
	m := s.Machine(1)
	s.phase(1, api.Booting)
	m.Say("facts", "facts 1\nboot "+m.Boot+"\nkernel release=6.1 uptime=0.001\ndisk name=vda serial=LAB-0001 bytes=1000\n")
	if plan := m.Poll(0); plan != "plan 1\ngeneration 0 run 1\nidle\n" {
		t.Fatalf("unbound: %q", plan)
	}
	m.Report("begin step=1 of=1 verb=idle")
	s.phase(1, api.Idle)
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12", Hostname: "web", KernelArguments: "quiet x=1",
		UserData: "#cloud-config\n", AuthorizedKeys: []string{sshkeys.Alice + " a"}})
	if plan, want := m.Poll(10), firstPlan(s); plan != want {
		t.Fatalf("plan:\n%swant:\n%s", plan, want)
	}
	if m.Poll(0) != "" {
		t.Fatal("the same plan was given twice")
	}
	for i, step := range []struct {
		verb  string
		phase api.Phase
	}{{"wipe", api.Wiping}, {"write", api.Writing}, {"configure", api.Configuring}, {"kexec", api.Configuring}} {
		m.Report(fmt.Sprintf("begin step=%d of=4 verb=%s", i+1, step.verb))
		s.phase(1, step.phase)
		m.Report(fmt.Sprintf("progress step=%d verb=%s bytes=10 total=20 rate=5", i+1, step.verb))
		if p := s.Node(1).Status.Progress; p == nil || *p != (api.Progress{Bytes: 10, Total: 20, Rate: 5}) {
			t.Fatalf("progress of %s: %+v", step.verb, p)
		}
		if step.verb == "configure" {
			configured(t, s, m)
		}
		m.Report(fmt.Sprintf("end step=%d verb=%s code=0 seconds=2", i+1, step.verb))
	}
	s.phase(1, api.Starting)
	if script := s.Ask("GET", "/boot/52-54-00-77-00-01.ipxe", "", ""); !strings.Contains(script.Body, "sanboot") ||
		!strings.Contains(script.Header.Get("Cache-Control"), "stale-if-error") {
		t.Fatalf("a starting node does not boot its disk: %s", script.Body)
	}
	confirm := "operational 1\ngeneration 1\nos id=debian version=12 kernel=6.1 machine_id=abc boot_id=os-1 uptime=8\n"
	m.Say("operational", confirm)
	m.Say("operational", confirm) // again: the answer may have been lost
	recorded(t, s)
}

// configured checks what a node is given to configure its system: as it is declared by then, in the same generation.
func configured(t *testing.T, s *sledd, m *sleddtest.Machine) {
	t.Helper()
	spec := s.Node(1).NodeSpec
	spec.Network = "dhcp"
	s.admin(200, "PUT", "/v1/nodes/n1", spec)
	seed := m.Seed()
	if seed["authorized_keys"] != sshkeys.Alice+" a\n" || seed["user-data"] != "#cloud-config\n" ||
		!strings.Contains(seed["meta-data"], "local-hostname: web\n") ||
		seed["network"] != "dhcp\n" {
		t.Fatalf("seed: %v", seed)
	}
	if words := strings.Fields(seed["operational"]); len(words) != 5 || words[0] != "operational" ||
		words[1] != "server=https://10.77.0.1" || words[3] != "generation=1" {
		t.Fatalf("operational file: %q", words)
	}
}

// recorded checks what is left of the life of a node.
func recorded(t *testing.T, s *sledd) {
	t.Helper()
	node := s.Node(1)
	if node.Status.Phase != api.Operational || !node.Binding.Satisfied || node.Status.Image != "d12" ||
		node.Status.OS.MachineID.String() != "abc" || node.Facts.Disks[0]["serial"].String() != "LAB-0001" {
		t.Fatalf("%+v", node)
	}
	kinds := ""
	for _, event := range as[api.EventList](t, s.admin(200, "GET", "/v1/nodes/n1/events", nil)).Items {
		kinds += event.Kind + " "
	}
	if want := "declare power claim admit facts plan begin bind plan begin end begin end begin declare " +
		"seed end begin end leave operational "; kinds != want {
		t.Errorf("events: %s\nwant:   %s", kinds, want)
	}
	names := ""
	line := as[api.Timeline](t, s.admin(200, "GET", "/v1/nodes/n1/timeline", nil))
	for _, stage := range line.Stages {
		names += stage.Name + " "
	}
	if names != "wipe write configure start " || line.Generation != 1 || line.Total <= 0 {
		t.Errorf("timeline: %+v", line)
	}
}

const erased = "erasure result=%s disk=%s serial=%s wwn= path= model= bytes=4294967296 sector=512 level=empty " +
	"method=discard verify=full read=4294967296 seconds=1"

// TestErasuresAreRecordedOnceAndOutliveTheNode: a report may be sent again, and a deleted node keeps its records.
func TestErasuresAreRecordedOnceAndOutliveTheNode(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Bind(api.BindingSpec{Node: "n1"})
	m := s.Machine(1)
	m.Poll(0)
	before := erasures(s).Head.Number
	end := []string{fmt.Sprintf(erased, "good", "sda", "A"), fmt.Sprintf(erased, "failed", "sdb", "B") + " reason=bad",
		"erasure result=left disk=sdc serial=C wwn= path= model= bytes=1 sector=512 reason=on%20the%20keep%20list",
		"end step=1 verb=wipe code=1 seconds=1 reason=bad"}
	m.Report("begin step=1 of=2 verb=wipe")
	m.Report(end...)
	m.Report(end...)
	s.phase(1, api.Failed)
	s.admin(204, "DELETE", "/v1/bindings/n1", nil)
	s.admin(204, "DELETE", "/v1/nodes/n1", nil)
	list := erasures(s)
	if list.Head.Number != before+3 {
		t.Fatalf("%d records, want 3 more than %d", list.Head.Number, before)
	}
	for i, want := range []string{"good A", "failed B", "left C"} {
		r := list.Items[before+int64(i)]
		if got := r.Result + " " + r.Serial.String(); got != want || r.Node != "n1" || r.Signature == "" ||
			r.Number != before+int64(i)+1 || r.Admission == "" || r.BootID.IsZero() {
			t.Errorf("record %d: %+v, want %s", i, r, want)
		}
	}
}

func erasures(s *sledd) api.ErasureList {
	s.Helper()
	var list api.ErasureList
	if err := json.Unmarshal([]byte(s.admin(200, "GET", "/v1/erasures", nil).Body), &list); err != nil {
		s.Fatal(err)
	}
	return list
}

func TestWriteSaysHowItWent(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	spec := api.ImageSpec{Name: "d12", Digest: digest, URLs: []string{"http://10.77.0.1/images/d12"}, Bytes: 1 << 30,
		FileBytes: 1 << 28, UsedBytes: 9_000_000}
	s.admin(http.StatusOK, "PUT", "/v1/images/d12", spec)
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12", Mode: "delta"})
	m := s.Machine(1)
	m.Poll(0)
	m.Report("begin step=1 of=3 verb=write")
	m.Report("progress step=1 verb=write bytes=1000000 total=3000000 rate=500000")
	line := as[api.Timeline](t, s.admin(http.StatusOK, "GET", "/v1/nodes/n1/timeline", nil))
	if last := line.Stages[len(line.Stages)-1]; last.Name != "write" || last.Bytes != 1000000 || last.Rate != 500000 {
		t.Errorf("while it writes: %+v", line.Stages)
	}
	m.Report("end step=1 verb=write code=0 seconds=2 detail=delta:%20half%20differs")
	list := as[api.EventList](t, s.admin(http.StatusOK, "GET", "/v1/nodes/n1/events", nil)).Items
	if last := list[len(list)-1]; last.Detail.String() != "delta: half differs" || last.Bytes != 3000000 {
		t.Errorf("event: %+v", last)
	}
	line = as[api.Timeline](t, s.admin(http.StatusOK, "GET", "/v1/nodes/n1/timeline", nil))
	if last := line.Stages[len(line.Stages)-1]; last.Rate != 1500000 {
		t.Errorf("written: %+v", line.Stages)
	}
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"}, api.Reimage())
	m.Poll(0)
	if detail := s.Node(1).Status.Detail; !detail.IsZero() {
		t.Errorf("a new plan, and the detail of the old one: %s", detail)
	}
	m.Report("begin step=1 of=4 verb=wipe", "end step=1 verb=wipe code=0 seconds=1", "begin step=2 of=4 verb=write",
		"end step=2 verb=write code=0 seconds=1")
	line = as[api.Timeline](t, s.admin(http.StatusOK, "GET", "/v1/nodes/n1/timeline", nil))
	if last := line.Stages[len(line.Stages)-1]; last.Rate != 9_000_000 {
		t.Errorf("a write too short to say anything: %+v", line.Stages)
	}
}
