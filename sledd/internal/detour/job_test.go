// SPDX-License-Identifier: Apache-2.0

package detour_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/operand"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

const export = "10.77.0.1:/srv/sled/images"

func TestARootOnNFS(t *testing.T) {
	for _, c := range []struct{ root, nfs, want string }{
		{"", "", ""}, {"memory", export, ""}, {api.NetRoot, export, export}, {api.NetRoot, "", "refused"},
	} {
		job := api.Job{JobSpec: api.JobSpec{Root: c.root, Command: []string{"true"}}}
		image := api.ImageSpec{Kind: api.RootImage, NFS: c.nfs}
		got := ""
		if err := detour.CheckImage(job, image, api.NodeSpec{}); err != nil {
			if got = "refused"; !strings.Contains(err.Error(), "image_nfs") {
				t.Errorf("without a remedy: %v", err)
			}
		} else {
			plan, _ := (&detour.Detour{Job: &detour.Job{Job: job, Source: &image}}).Next(detour.Node{}, 0)
			at := slices.IndexFunc(plan.Steps[0].Operands, func(pair operand.Pair) bool { return pair.Key == "nfs" })
			if at >= 0 {
				got = plan.Steps[0].Operands[at].Value
			}
		}
		if got != c.want {
			t.Errorf("root %q of an image on %q: %q, want %q", c.root, c.nfs, got, c.want)
		}
	}
}

func TestWhatEndsAJobThatFailed(t *testing.T) {
	for code, want := range map[int]string{api.CodeFailed: "sled", api.CodeIntegrity: "integrity"} {
		job := (&detour.Job{}).End(report.Line{Code: code}, "", time.Time{})
		if job.State != api.JobFailed || job.EndedBy != want {
			t.Errorf("code %d: %+v", code, job)
		}
	}
	corrupted := report.Line{Ran: &report.Ran{Exit: 5, By: "integrity"}}
	if job := (&detour.Job{}).End(corrupted, "", time.Time{}); job.State != api.JobFailed || *job.Exit != 5 {
		t.Errorf("%+v", job)
	}
}

// A payload takes the node over: it is no kernel that a job runs on, and has nothing of a container.
func TestWhatAPayloadIsNot(t *testing.T) {
	image := api.ImageSpec{Name: "memtest", Kind: api.KernelImage, Payload: &api.Payload{Format: api.FormatLinux}}
	err := detour.CheckKernel(api.JobSpec{}, image, api.NodeSpec{}, nil)
	if err == nil || !strings.Contains(err.Error(), "image memtest (kernel, linux) is a payload") {
		t.Error(err)
	}
	fits := api.Job{JobSpec: api.JobSpec{Arguments: "quiet", Timeout: 60, After: api.AfterPoweroff}}
	if err := detour.CheckImage(fits, image, api.NodeSpec{}); err != nil {
		t.Error(err)
	}
	for name, spec := range map[string]api.JobSpec{
		"entrypoint": {Entrypoint: []string{"a"}}, "command": {Command: []string{"a"}},
		"environment": {Environment: []string{"A=b"}}, "folder": {Folder: "/a"}, "user": {User: "1:1"},
		"kernel": {Kernel: "k"}, "tune": {Tune: []string{"/sys/a=b"}}, "root net": {Root: api.NetRoot},
		"privileged": {Privileged: true}, "artefacts": {Artefacts: []string{"/a"}}, "after hold": {After: api.AfterHold},
		"secrets": {},
	} {
		job := api.Job{JobSpec: spec}
		if name == "secrets" {
			job.SecretNames = []string{"key"} // as they may be sealed
		}
		err := detour.CheckImage(job, image, api.NodeSpec{})
		if want := "and is no container: leave " + name + " out"; err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
