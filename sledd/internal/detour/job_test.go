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
		job, image := api.JobSpec{Root: c.root, Command: []string{"true"}}, api.ImageSpec{Kind: api.RootImage, NFS: c.nfs}
		got := ""
		if err := detour.CheckImage(job, image, api.NodeSpec{}); err != nil {
			if got = "refused"; !strings.Contains(err.Error(), "image_nfs") {
				t.Errorf("without a remedy: %v", err)
			}
		} else {
			plan, _ := (&detour.Detour{Job: &detour.Job{Job: api.Job{JobSpec: job}, Source: &image}}).Next(detour.Node{}, 0)
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

func TestNoJobOfAPayload(t *testing.T) {
	image := api.ImageSpec{Name: "memtest", Kind: api.KernelImage, Payload: &api.Payload{Format: api.FormatLinux}}
	for _, err := range []error{detour.CheckImage(api.JobSpec{}, image, api.NodeSpec{}),
		detour.CheckKernel(api.JobSpec{}, image, api.NodeSpec{}, nil)} {
		if err == nil || !strings.Contains(err.Error(), "image memtest (kernel, linux) is a payload") {
			t.Error(err)
		}
	}
}
