// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

func TestReasons(t *testing.T) {
	for want, status := range map[string]api.Status{
		"": {Phase: api.Operational, Verb: "write", Reason: api.Clean("old")},
		"wipe: code 4 disk: 2 disks match": {Phase: api.Failed, Verb: "wipe", Code: 4,
			Reason: api.Clean("2 disks match")},
		"write: code 137 killed by signal 9": {Phase: api.Failed, Verb: "write", Code: 137},
		"capture: image gold was registered": {Phase: api.Failed, Verb: "capture",
			Reason: api.Clean("image gold was registered")},
	} {
		if got := Reason(status); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestDetailBelongsToThePhase(t *testing.T) {
	for phase, want := range map[api.Phase]string{
		api.Operational: "delta: 5 %", api.Starting: "delta: 5 %", api.Booting: "", api.Idle: "", api.Discovered: "",
	} {
		n := api.Node{Declared: true, Status: api.Status{Phase: phase, Detail: api.Clean("delta: 5 %")}}
		if got := Note(n); got != want {
			t.Errorf("%s: status shows %q, want %q", phase, got, want)
		}
	}
}

func TestAWaitIsTheNote(t *testing.T) {
	until := time.Date(2026, 7, 1, 23, 18, 40, 0, time.Local)
	n := api.Node{Declared: true, Overdue: 9, Status: api.Status{Phase: api.Configuring}, Wait: &api.Wait{
		Kind: api.WaitsForRival, For: "a rival (rival_time)", Until: until, EndsBy: "sledctl admit n1 CODE"}}
	want := "waits until 23:18 for a rival (rival_time)"
	if got := Note(n); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := n.Wait.Hint(); got != want+"; `sledctl admit n1 CODE` ends it" {
		t.Errorf("%q", got)
	}
}

func TestCodeNames(t *testing.T) {
	for code, want := range map[int]string{4: "code 4 disk", 137: "code 137 killed by signal 9", 77: "code 77"} {
		if got := Code(code); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
