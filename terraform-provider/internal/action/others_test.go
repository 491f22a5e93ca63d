// SPDX-License-Identifier: Apache-2.0

package action_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

// startWith is start for another action.
func startWith(t *testing.T, action string, maxReimages any) *provider {
	t.Helper()
	p := start(t, maxReimages)
	p.action = action
	return p
}

// A wipe is planned as one, counts for the limits, takes over whose binding it is, and is done by the machine.
func TestWipe(t *testing.T) {
	p := startWith(t, "sled_wipe", nil)
	p.Machine(1).Fulfil()
	p.wants("plan", p.plan(map[string]any{"nodes": []string{"n1", "n4", "n9"}, "level": "clear"}),
		"WARNING: n1: all disks are wiped (generation 1 -> 2)", "WARNING: n4: all disks are wiped (generation 0 -> 1)")
	if now := p.Node(1).Binding; now.Image != "d12" || p.Node(4).Binding != nil {
		t.Errorf("the plan changed it: %+v", now)
	}
	progress, diagnostics := p.invoke(map[string]any{"nodes": []string{"n1", "52:54:00:77:00:01", "n4", "n9"},
		"level": "clear"})
	p.wants("progress", progress, "n1: all disks are wiped (generation 1 -> 2) at its next boot",
		"n4: all disks are wiped (generation 0 -> 1) at its next boot")
	p.wants("invoke", diagnostics, "ERROR: Node n9 cannot be wiped: It is not declared")
	for i, want := range map[int]int64{1: 2, 4: 1} {
		if now := p.Node(i).Binding; now.Generation != want || now.Owner != "" || now.Image != "" || now.Wipe != "clear" {
			t.Errorf("n%d: %+v", i, now)
		}
		p.Machine(i).Fulfil()
		if phase := p.Node(i).Status.Phase; phase != api.Wiped {
			t.Errorf("n%d is %s", i, phase)
		}
	}
	p.wants("a level", p.plan(map[string]any{"node": "n1", "level": "a lot"}), "ERROR: Invalid")
}

func TestWipeCountsForTheLimit(t *testing.T) {
	p := startWith(t, "sled_wipe", 0)
	p.wants("bound", p.plan(map[string]any{"node": "n1"}), "WARNING: n1", "ERROR: Too many machines")
	if now := p.Node(1).Binding; now.Image != "d12" {
		t.Errorf("%+v", now)
	}
}

// A rescue touches no binding, and ends.
func TestRescue(t *testing.T) {
	p := startWith(t, "sled_rescue", 0)
	before := *p.Node(1).Binding
	const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEw4O8lZx8U8mKq0yqk0n8b2z1q9yq3m2q8s4vLr9w0T ops"
	given := map[string]any{"nodes": []string{"n1", "n9"}, "authorized_keys": []string{key}}
	p.wants("plan", p.plan(given))
	if p.Node(1).Rescue != nil {
		t.Error("the plan started it")
	}
	progress, diagnostics := p.invoke(given)
	p.wants("progress", progress, "n1: rescue at its next boot")
	p.wants("invoke", diagnostics, "ERROR: Node n9 cannot be put under rescue")
	if rescue := p.Node(1).Rescue; rescue == nil || len(rescue.AuthorizedKeys) != 1 || rescue.AuthorizedKeys[0] != key {
		t.Errorf("%+v", rescue)
	}
	progress, diagnostics = p.invoke(map[string]any{"node": "n1", "end": true})
	p.wants("the end", progress, "n1: the rescue ends")
	p.wants("the end", diagnostics)
	if now := p.Node(1); now.Rescue != nil || now.Binding.Revision != before.Revision {
		t.Errorf("%+v", now)
	}
	p.wants("neither", p.plan(map[string]any{"node": "n1"}), "ERROR: Missing")
	slip := []string{key, "-----BEGIN RSA PRIVATE KEY-----"}
	p.wants("a private key", p.plan(map[string]any{"node": "n1", "authorized_keys": slip}),
		"ERROR: Not an SSH public key: Key 2 is a private key")
	p.wants("both", p.plan(map[string]any{"node": "n1", "end": true, "authorized_keys": []string{key}}),
		"ERROR: Invalid")
}

// A job touches no binding, and needs consent for a machine whose system runs.
func TestRun(t *testing.T) {
	p := startWith(t, "sled_run", 0)
	before := *p.Node(1).Binding
	given := map[string]any{"nodes": []string{"n4", "n9"}, "image": "hpl", "command": []string{"./xhpl", "1"},
		"wait": false}
	p.wants("plan", p.plan(given))
	progress, diagnostics := p.invoke(given)
	p.wants("progress", progress, "n4: the job is requested")
	p.wants("invoke", diagnostics, "ERROR: Node n9 cannot be given a job")
	jobs, err := p.Client().Jobs(t.Context(), api.JobFilter{})
	if err != nil || len(jobs) != 1 || jobs[0].Node != "n4" || jobs[0].Image != "hpl" || len(jobs[0].Command) != 2 {
		t.Fatalf("%v, %+v", err, jobs)
	}
	if _, err := p.Client().CancelJob(t.Context(), jobs[0].ID); err != nil {
		t.Fatal(err)
	}
	if now := p.Node(1).Binding; now.Revision != before.Revision {
		t.Errorf("%+v", now)
	}
	p.wants("no image", p.plan(map[string]any{"node": "n1"}), "ERROR: Missing")
}
