// SPDX-License-Identifier: Apache-2.0

package sleddtest

import (
	"context"
	"fmt"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const (
	hallOld    = "debian-12-bookworm-hardened-2026-10-30"
	hallNew    = "debian-12-bookworm-hardened-2026-11-20"
	hallReason = "chunk 1042 of 4096 does not match its checksum in the index: the image at " +
		"http://images.hall-b.example.net:8080/images/debian-12-bookworm-hardened-2026-11-20.raw.zst is damaged"
	hallBytes = 183_840_755_712 // 12 digits
	hallRack  = 40              // nodes
)

// Hall stores a fleet of n nodes as days of reports would have left it, past the network: long names and reasons, each
// phase, drift, overdue steps, failures, rescues, captures, wipes, alarms and machines that nobody declared. It is the
// same fleet at the same time now.
func (s *Sledd) Hall(n int, now time.Time) {
	s.t.Helper()
	s.Register(hallOld)
	s.Register(hallNew)
	var t store.Transaction
	for i := range n {
		hallNode(&t, i, now)
		if len(t.Do) > store.MaxOperations-16 || i == n-1 {
			if _, err := s.Fleet.Store.Commit(context.Background(), t); err != nil {
				s.t.Fatal(err)
			}
			t = store.Transaction{}
		}
	}
}

// hallNode adds the records of a node. Of each 40, one is in each odd situation and the others are operational.
func hallNode(t *store.Transaction, i int, now time.Time) {
	put := func(kind nodetx.Kind, value any) { t.Put(nodetx.KeyOf(kind, MAC(i)), nodetx.Encode(value)) }
	name := fmt.Sprintf("storage-hall-b-row-%02d-rack-%03d-unit-%02d", i/400, i/hallRack, i%hallRack)
	odd := i % hallRack
	put(nodetx.Facts, hallFacts(i, now))
	if odd == 39 { // discovered
		put(nodetx.Status, api.Status{Phase: api.Discovered, Since: now.Add(-time.Hour), Seen: now})
		return
	}
	put(nodetx.Node, api.NodeSpec{MAC: MAC(i), Name: name, Disk: "model:SAMSUNG MZQL2*,rotational:0",
		KeepDisks: []string{fmt.Sprintf("serial:S64GNE0R9%05d2", i)},
		Labels: map[string]string{"rack": fmt.Sprintf("hall-b-row-%02d-rack-%03d", i/400, i/hallRack), "role": "storage",
			"environment": "production"},
		BMC: &api.BMC{Driver: "redfish", Address: name + ".bmc.hall-b.example.net", Port: 8443}})
	t.Put(key.Names+name, []byte(MAC(i)))
	status, binding := hallStatus(odd, now), hallBinding(i, name, now)
	switch odd {
	case 0: // a capture
		binding.Image, binding.Digest, binding.Source, binding.Capture = "", "", nil, "golden-storage-node-2026-11-22"
	case 1, 2: // a requested wipe, and one that waits
		binding.Image, binding.Digest, binding.Source, binding.Generation = "", "", nil, int64(2+odd)
	case 3: // drift
		binding.Generation = 4
	case 4:
		put(nodetx.DetourOf, detour.Detour{Run: 1, Rescue: &api.Rescue{Started: now.Add(-time.Hour),
			Entered: now.Add(-time.Minute), Address: nodetexttest.Address("10.77.12.105"),
			Fingerprint: nodetexttest.Identifier("SHA256:Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmE"),
			RescueSpec:  api.RescueSpec{AuthorizedKeys: []string{"ssh-ed25519 AAAA alice"}}}})
	case 5: // an alarm
		put(nodetx.AdmissionOf, admission.State{Alarms: []admission.Alarm{{Kind: admission.RivalAlarm,
			Address: "10.77.255.254",
			Detail:  api.Clean("another machine claims to be this node, from another address of the same link"),
			Since:   now.Add(-time.Hour), Last: now, Count: 123456}}})
	}
	if odd != 6 { // not bound
		put(nodetx.BindingOf, binding)
	}
	if odd != 7 { // unseen
		put(nodetx.Status, status)
	}
	for k, event := range hallEvents(status) {
		event.MAC, event.Name, event.Time = MAC(i), name, now.Add(-time.Hour+time.Duration(k)*time.Minute)
		if i < hallRack {
			t.Put(key.Event(MAC(i), event.Time.UnixNano()), nodetx.Encode(event))
		}
	}
}

func hallStatus(odd int, now time.Time) api.Status {
	status := api.Status{Phase: api.Operational, Generation: 3, Image: hallNew, Digest: DigestOf(hallNew),
		Step: 4, Steps: 4, Verb: "kexec", Start: "kexec", Architecture: "x86_64",
		Address: nodetexttest.Address("10.77.12.105"), Since: now.Add(-26 * time.Hour), Seen: now,
		Detail: api.Clean("delta: 5.0 % of the used bytes differ; 1,605 MB/s, faster than a full write by a factor of 6")}
	working := map[int]api.Phase{0: api.Capturing, 8: api.Booting, 9: api.Wiping, 10: api.Writing, 11: api.Configuring,
		12: api.Starting, 13: api.Writing}
	switch phase, works := working[odd]; {
	case works:
		status.Phase, status.Step, status.Verb, status.Since = phase, 2, "write", now.Add(-5*time.Second)
		status.Progress = &api.Progress{Bytes: hallBytes, Total: 2 * hallBytes, Rate: 1_605_123_456}
		if odd == 13 { // overdue
			status.Since, status.Moved = now.Add(-40*time.Minute), now.Add(-31*time.Minute)
		}
	case odd == 2:
		status.Phase = api.Idle
	case odd == 4:
		status.Phase, status.Before = api.UnderRescue, api.Operational
		status.Run = api.Run{Number: 1, Generation: status.Generation, Detour: "rescue"}
	case odd == 14, odd == 15:
		status.Phase, status.Step, status.Verb, status.Code = api.Failed, 2, "write", 5
		status.Reason = api.Clean(hallReason)
	case odd == 16:
		status.Phase = api.Wiped
	case odd == 17:
		status.Phase = api.Captured
	}
	return status
}

func hallBinding(i int, name string, now time.Time) nodetx.Binding {
	return nodetx.Binding{
		Binding: api.Binding{BindingSpec: api.BindingSpec{Node: name, Image: hallNew, Owner: "terraform:hall-b/storage"},
			MAC: MAC(i), Generation: 3, Digest: DigestOf(hallNew), Updated: now.Add(-27 * time.Hour), SeedNumber: 1},
		Source: &api.ImageSpec{Name: hallNew, Digest: DigestOf(hallNew), Bytes: 1 << 35, FileBytes: 3123456789,
			URLs: []string{"http://images.hall-b.example.net:8080/images/" + hallNew + ".raw.zst"}}}
}

func hallFacts(i int, now time.Time) api.Facts {
	disk := func(k int) map[string]api.Identifier {
		return nodetexttest.Facts(map[string]string{"name": fmt.Sprintf("nvme%dn1", k), "transport": "nvme",
			"serial": fmt.Sprintf("S64GNE0R9%05d%d", i, k), "bytes": "3840755982336", "model": "SAMSUNG MZQL23T8HCLS-00A07",
			"wwn":  fmt.Sprintf("eui.36344730529%05d%d0025384500000001", i, k),
			"path": fmt.Sprintf("pci-0000:c%d:00.0-nvme-1", k), "rotational": "0"})
	}
	products := []string{"AS -1115CS-TNR", "ProLiant DL325 Gen10 Plus v2 8SFF Configure-to-order", "PowerEdge R7525"}
	return api.Facts{Time: now.Add(-26 * time.Hour), Disks: []map[string]api.Identifier{disk(0), disk(1), disk(2)},
		DMI: nodetexttest.Facts(map[string]string{"vendor": "Hewlett Packard Enterprise", "product": products[i%3],
			"bios": "A43 2.10", "serial": fmt.Sprintf("CZJ%07d", i)}),
		CPU: nodetexttest.Facts(map[string]string{"model": "AMD EPYC 9354 32-Core Processor", "threads": "64",
			"arch": "x86_64"}),
		Memory: nodetexttest.Facts(map[string]string{"bytes": "824633720832"})}
}

// hallEvents are those of the last run.
func hallEvents(status api.Status) []api.Event {
	last := api.Event{Kind: "end", Generation: 3, Step: 2, Steps: 4, Verb: "write", Seconds: 211.4, Bytes: hallBytes,
		Phase: status.Phase, Code: status.Code, Detail: status.Detail}
	if status.Code != 0 {
		last.Detail = status.Reason
	}
	return []api.Event{{Kind: "bind", Generation: 3, Actor: "continuous-integration-of-hall-b", Via: "terraform",
		From: "10.77.200.200", Detail: api.Clean("image " + hallNew)},
		{Kind: "plan", Generation: 3, Steps: 4, Phase: api.Booting,
			Detail: api.Clean("wipe disk=model:SAMSUNG%20MZQL2*,rotational:0, write, configure, kexec; watchdog 120 s")},
		{Kind: "begin", Generation: 3, Step: 2, Steps: 4, Verb: "write", Phase: api.Writing}, last}
}
