// SPDX-License-Identifier: Apache-2.0

package ctltest

import (
	"fmt"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
)

// Node makes node number i in a phase that it is in for some time.
func Node(i int, phase api.Phase, since time.Duration) api.Node {
	return api.Node{
		NodeSpec: api.NodeSpec{MAC: fmt.Sprintf("52:54:00:77:00:%02x", i), Name: fmt.Sprintf("n%d", i), Disk: "only",
			Labels: map[string]string{"rack": "a", "row": "1"},
			BMC:    &api.BMC{Driver: "ipmi", Address: "10.77.0.201", Port: 623}},
		Declared: true, Revision: int64(10 + i), NodeAdmission: api.NodeAdmission{AdmissionState: "none"},
		Status: api.Status{Phase: phase, Since: Noon.Add(-since), Seen: Noon, Generation: 2},
	}
}

// Bound creates the binding of a node.
func Bound(n api.Node, image string, generation int64) api.Node {
	n.Binding = &api.Binding{BindingSpec: api.BindingSpec{Node: n.Name, Image: image}, MAC: n.MAC,
		Generation: generation,
		Updated:    Noon}
	n.Binding.Satisfied = n.Status.Generation == generation && n.Status.Phase == api.Operational
	return n
}

// Rack has a node in every situation that is shown differently.
func Rack() []api.Node {
	done := Bound(Node(1, api.Operational, 3*time.Hour), "debian-12-v1", 2)
	done.Status.Image = "debian-12-v1"
	writing := Bound(Node(2, api.Writing, 5*time.Second), "debian-12-v2", 2)
	writing.Status.Step, writing.Status.Steps, writing.Status.Verb = 2, 4, "write"
	writing.Status.Progress = &api.Progress{Bytes: 1 << 30, Total: 1 << 31, Rate: 100_000_000}
	wrongDisk := Bound(Node(3, api.Failed, 90*time.Second), "debian-12-v1", 2)
	wrongDisk.Status.Step, wrongDisk.Status.Steps, wrongDisk.Status.Verb = 1, 4, "wipe"
	wrongDisk.Status.Code, wrongDisk.Status.Reason = 4, api.Clean("2 disks match only\x1b[2J")
	writing.AdmissionState, writing.AdmissionLevel = "admitted", "expected"
	wrongDisk.AdmissionState, wrongDisk.AdmissionLevel = "contested", "expected"
	wrongDisk.Alarms = []api.Alarm{
		{Kind: "rival", Address: "10.77.0.9", Since: Noon.Add(-time.Hour), Last: Noon.Add(-time.Minute), Count: 3,
			Detail: api.Clean("K7QF-2M9D from 10.77.0.9: the incumbent at 10.77.0.103 lives; " +
				"link of the rival: unknown\x1b[2J")},
		{Kind: "link", Address: "10.77.0.8", Since: Noon, Last: Noon, Count: 1,
			Detail: api.Clean("AAAA-0002 from 10.77.0.8: its address belongs to MAC 52:54:00:77:00:99")}}
	again := Bound(Node(4, api.Operational, 50*time.Hour), "debian-12-v2", 3)
	again.Status.Image = "debian-12-v1"
	unseen := Bound(Node(5, "", 0), "", 1)
	unseen.Status = api.Status{}
	unseen.AdmissionState, unseen.WaitingClaims = "waiting", []string{"K7QF-2M9D"}
	unseen.Wait = &api.Wait{Kind: api.WaitsForAdmit, For: "an operator who reads the code on its console",
		EndsBy: "sledctl admit n5 CODE"}
	again.Wait = &api.Wait{Kind: api.WaitsForBoot, For: "its next boot"}
	discovered := api.Node{NodeSpec: api.NodeSpec{MAC: "52:54:00:77:00:09"},
		Status: api.Status{Phase: api.Discovered, Since: Noon.Add(-time.Minute)}}
	return []api.Node{done, writing, wrongDisk, again, unseen, discovered}
}

// Detailed is a node with its hardware and system.
func Detailed() api.Node {
	n := Rack()[0]
	n.Status.Detail = api.Clean("delta: 5.0 % of the used bytes differ")
	n.Status.Start, n.Status.StartNote = "reboot",
		api.Clean("quirk: its NIC hangs\x1b[2J, https://example.net/1")
	system := nodetexttest.Facts(map[string]string{"id": "debian", "version": "12", "kernel": "6.1.0-56-amd64",
		"machine_id": "0123"})
	n.Status.OS = &api.OS{ID: system["id"], Version: system["version"], Kernel: system["kernel"],
		MachineID: system["machine_id"], HostKey: nodetexttest.Key(nodetexttest.HostKey), Confirmed: Noon}
	n.Facts = &api.Facts{
		Time: Noon, CPU: nodetexttest.Facts(map[string]string{"model": "AMD EPYC", "threads": "2"}),
		Memory:   nodetexttest.Facts(map[string]string{"bytes": "402653184"}),
		Firmware: nodetexttest.Facts(map[string]string{"type": "bios"}),
		DMI:      nodetexttest.Facts(map[string]string{"vendor": "QEMU", "serial": "n1"}),
		Disks: nodetexttest.Devices(
			map[string]string{"name": "vda", "serial": "LAB-0001", "bytes": "4294967296", "rotational": "1"},
			map[string]string{"name": "vdb", "serial": "LAB-1001", "bytes": "8589934592", "rotational": "0",
				"temperature": "31"},
		),
		Partitions: nodetexttest.Devices(
			map[string]string{"disk": "vda", "number": "2", "label": "root", "bytes": "2147483648", "type": "ext4"}),
		NICs: nodetexttest.Devices(
			map[string]string{"name": "eth0", "mac": n.MAC, "driver": "virtio_net", "link": "1"}),
	}
	return n
}

// Models are models with kexecs.
func Models() api.KexecList {
	rate := 0.875
	return api.KexecList{Items: []api.KexecModel{
		{Nodes: 1, Attempts: 1, Last: "open", Time: Noon},
		{Vendor: nodetexttest.Cleaned("ACME"), Product: nodetexttest.Cleaned("X1\x1b[2J"), Nodes: 3,
			Attempts: 9, Confirmed: 7, Missed: 1, Rate: &rate, Last: "missed", Time: Noon.Add(-time.Hour)},
	}}
}

// Quirks has one of the site and one of sledd.
func Quirks() api.QuirkList {
	return api.QuirkList{Items: []api.Quirk{
		{Match: api.QuirkMatch{Vendor: "ACME", BIOS: "2.*"}, Reason: "its NIC hangs", Source: "https://example.net/1",
			Origin: "local"},
		{Match: api.QuirkMatch{Vendor: "Raspberry Pi*", Product: "*Pi 4*"}, Reason: "fails", Origin: "shipped"},
	}}
}

// Timeline is a run with all stages.
func Timeline() api.Timeline {
	t := api.Timeline{MAC: "52:54:00:77:00:01", Name: "n1", Generation: 2, Phase: api.Operational,
		Begin: Noon.Add(-time.Minute)}
	at := t.Begin
	for _, stage := range strings.Fields("firmware:15.5 kernel:2.7 wipe:0.02 write:21 hold:9 configure:1.25 start:9.5") {
		var seconds float64
		name, number, _ := strings.Cut(stage, ":")
		_, _ = fmt.Sscan(number, &seconds)
		t.Stages = append(t.Stages, api.Stage{Name: name, Begin: at, Seconds: seconds})
		if name == "write" {
			t.Stages[len(t.Stages)-1].Bytes, t.Stages[len(t.Stages)-1].Rate = 1_560_000_000, 487_500_000
			t.Stages[len(t.Stages)-1].Received = &api.Received{Image: "debian-12-v2", FileBytes: 112_600_000,
				HTTP: 2_480_000, Multicast: 110_120_000, Packets: 79_180, Lost: 812, Rejected: 1}
		}
		at = at.Add(time.Duration(seconds * float64(time.Second)))
		t.Total += seconds
	}
	return t
}

// Happened are the events of a node.
func Happened() []api.Event {
	return []api.Event{
		{ID: 1, Time: Noon, Kind: "power", Detail: api.Clean("on\x1b[2J")},
		{ID: 2, Time: Noon.Add(time.Second), Kind: "bind", Generation: 2, Detail: api.Clean("debian-12-v2"), Name: "n1",
			Actor: "alice", Via: "sledctl", From: "10.77.0.5"},
		{ID: 2, Time: Noon.Add(1500 * time.Millisecond), Kind: "plan", Generation: 2, Steps: 4, Phase: api.Booting},
		{ID: 3, Time: Noon.Add(2 * time.Second), Kind: "end", Generation: 2, Step: 1, Steps: 4, Verb: "wipe", Code: 4,
			Seconds: 0.25, Phase: api.Failed,
			Detail: api.Clean("2 disks match only")},
	}
}
