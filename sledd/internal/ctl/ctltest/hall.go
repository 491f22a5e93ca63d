// SPDX-License-Identifier: Apache-2.0

package ctltest

import (
	"fmt"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
)

// What names and reasons of a large site look like.
const (
	HallImage  = "debian-12-bookworm-hardened-2026-11-20"
	HallReason = "chunk 1042 of 4096 does not match its checksum in the index: the image at " +
		"http://images.hall-b.example.net:8080/images/debian-12-bookworm-hardened-2026-11-20.raw.zst is damaged"
	hallFingerprint = "SHA256:Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmE"
)

// Hall has nodes with names, labels and reasons as long as those of a large site.
func Hall() []api.Node {
	nodes := Rack()
	for i := range nodes {
		n := &nodes[i]
		if n.Name == "" {
			continue
		}
		n.Name = fmt.Sprintf("storage-rack-b12-unit-%02d", i+1)
		n.Disk = "model:SAMSUNG MZQL2*,rotational:0"
		n.Labels = map[string]string{"rack": "b12", "row": "07", "role": "storage", "environment": "production"}
		n.BMC = &api.BMC{Driver: "redfish", Address: n.Name + ".bmc.hall-b.example.net", Port: 8443}
		n.Status.Architecture = "x86_64"
		if n.Binding != nil {
			n.Binding.Node = n.Name
			n.Binding.Owner = "terraform:hall-b/storage"
		}
		if n.Binding != nil && n.Binding.Image != "" {
			n.Binding.Image = HallImage
		}
	}
	nodes[1].Overdue = 960
	nodes[1].Status.Since, nodes[1].Status.Moved = Noon.Add(-40*time.Minute), Noon.Add(-21*time.Minute)
	nodes[0].Status.Image, nodes[3].Status.Image = HallImage, "debian-12-bookworm-hardened-2026-10-30"
	nodes[0].Status.Detail = api.Clean("delta: 5.0 % of the used bytes differ; 1,605 MB/s, " +
		"faster than a full write by a factor of 6")
	failed := &nodes[2].Status
	failed.Step, failed.Verb, failed.Code, failed.Reason = 2, "write", 5, api.Clean(HallReason)
	nodes[4].Rescue = &api.Rescue{Started: Noon, Entered: Noon, Address: nodetexttest.Address("10.77.12.105"),
		Fingerprint: nodetexttest.Cleaned(hallFingerprint),
		RescueSpec:  api.RescueSpec{AuthorizedKeys: []string{"ssh-ed25519 AAAA alice"}}}
	return nodes
}

// HallNode is the first of them with its hardware.
func HallNode() api.Node {
	n := Hall()[0]
	full := Detailed()
	n.Facts, n.Status.OS = full.Facts, full.Status.OS
	n.Status.Start, n.Status.StartNote = "reboot",
		api.Clean("quirk: its NIC stops after a jump, https://example.net/kexec/quirks/1")
	n.KeepDisks = []string{"serial:S64GNE0R900001", "serial:S64GNE0R900002", "serial:S64GNE0R900003"}
	n.Binding.KernelArguments = "console=ttyS0,115200 net.ifnames=0 mitigations=auto crashkernel=256M"
	n.Facts.CPU = nodetexttest.Facts(map[string]string{"model": "AMD EPYC 9354 32-Core Processor", "threads": "64",
		"arch": "x86_64"})
	n.Facts.DMI = nodetexttest.Facts(map[string]string{"vendor": "Supermicro", "product": "AS -1115CS-TNR",
		"bios":   "2.1a",
		"serial": "S512345X3A12345"})
	for i := range 2 {
		n.Facts.Disks[i]["model"] = nodetexttest.Cleaned("SAMSUNG MZQL23T8HCLS-00A07")
		n.Facts.Disks[i]["wwn"] = nodetexttest.Cleaned(fmt.Sprintf("eui.36344730529000%02d0025384500000001", i))
		n.Facts.Disks[i]["path"] = nodetexttest.Cleaned(fmt.Sprintf("pci-0000:c%d:00.0-nvme-1", i))
	}
	return n
}

// HallDisks has a disk for each verdict.
func HallDisks() api.NodeDisks {
	disk := func(i int, transport, why string) api.NodeDisk {
		return api.NodeDisk{Chosen: why == "", Why: why, Disk: api.Disk{Name: fmt.Sprintf("nvme%dn1", i),
			Serial: fmt.Sprintf("S64GNE0R90000%d", i), WWN: fmt.Sprintf("eui.36344730529000%02d0025384500000001", i),
			Path: fmt.Sprintf("pci-0000:c%d:00.0-nvme-1", i), Model: "SAMSUNG MZQL23T8HCLS-00A07", Transport: transport,
			Bytes: 3840755982336}}
	}
	return api.NodeDisks{Node: "storage-rack-b12-unit-01", Match: "model:SAMSUNG MZQL2*,rotational:0,smallest", Time: Noon,
		Planned: "wwn:eui.36344730529000000025384500000001", Disks: []api.NodeDisk{disk(0, "nvme", ""),
			disk(1, "nvme", "on the keep list"), disk(2, "usb", "to be named: attached by USB"),
			disk(3, "", "to be named: attached in an unknown way"), disk(4, "nvme", "does not match")}}
}

// HallImages are images with long names.
func HallImages() []api.Image {
	image := func(name, architecture string, used int64) api.Image {
		return api.Image{Created: Noon, ImageSpec: api.ImageSpec{Name: name,
			Digest:    "sha256:" + strings.Repeat("8f3c", 16),
			Bytes:     1 << 35,
			FileBytes: 3123456789, UsedBytes: used, Signature: strings.Repeat("A", 86) + "==",
			Architecture: architecture,
			URLs: []string{"http://images.hall-b.example.net:8080/images/" + name + ".raw.zst",
				"https://mirror.example.net/sled/images/" + name + ".raw.zst"},
			Labels: map[string]string{"os": "debian", "built-by": "ci", "stage": "production"}}}
	}
	return []api.Image{image(HallImage, "x86_64", 4560000000), image("ubuntu-24.04-gpu-cuda-12.6-2026-11-01", "", 0)}
}

// HallRollout is a stopped rollout over the hall.
func HallRollout() api.Rollout {
	r := Ended()
	r.Name, r.Desired, r.Owner = "reimage-1042", "image "+HallImage, "friday-maintenance@ci.example.net"
	for i, n := range Hall()[:4] {
		r.Nodes[i], r.Runs[i].Node = n.Name, n.Name
	}
	r.Runs[2].Reason = api.Clean("write: code 5 integrity: " + HallReason)
	r.Counts = rollout.Count(r.Runs)
	return r
}

// HallEvents are events with long details.
func HallEvents() []api.Event {
	detail := "wipe disk=model:SAMSUNG%20MZQL2*,rotational:0, write, configure, kexec; watchdog 120 s"
	return append(Happened(),
		api.Event{ID: 4, Time: Noon.Add(time.Minute), Kind: "plan", Generation: 3, Steps: 4, Phase: api.Booting,
			Detail: api.Clean(detail)},
		api.Event{ID: 5, Time: Noon.Add(2 * time.Minute), Kind: "end", Generation: 3, Step: 2, Steps: 4, Verb: "write",
			Code:    5,
			Seconds: 21.4, Bytes: 1 << 30, Phase: api.Failed, Detail: api.Clean(HallReason)})
}

// HallKexec are models and quirks with long names.
func HallKexec() (api.KexecList, api.QuirkList) {
	models, quirks := Models(), Quirks()
	models.Items[1].Vendor, models.Items[1].Product = nodetexttest.Cleaned("Hewlett Packard Enterprise"),
		nodetexttest.Cleaned("ProLiant DL325 Gen10 Plus v2 8SFF Configure-to-order")
	quirks.Items[0] = api.Quirk{
		Match: api.QuirkMatch{Vendor: "Hewlett Packard Enterprise", Product: "ProLiant DL325 Gen10 Plus v2*",
			Version: "*",
			BIOS:    "A43 2.*"},
		Reason: "the firmware of the network card stops after a jump, until the power is cut; fixed in firmware 3.0",
		Source: "https://support.example.com/advisories/2026/a00123456en_us", Origin: "shipped",
	}
	return models, quirks
}
