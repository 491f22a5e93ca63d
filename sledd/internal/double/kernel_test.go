// SPDX-License-Identifier: Apache-2.0

package double_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/double"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// The first machine runs a job on another kernel and returns to its own; on the second, that kernel never comes up.
func TestKernelsOfJobs(t *testing.T) {
	const release = "6.12"
	r := boot(t, 2, double.Payload{Exit: 7}, func(i int, settings *double.Settings) {
		settings.Kernel = double.Kernel{Release: release, Hangs: i}
	})
	_, err := r.Client().PutImage(t.Context(), api.ImageSpec{Name: "k", Kind: api.KernelImage,
		Digest: sleddtest.DigestOf("k"), URLs: []string{"http://10.77.0.1/images/k"}, Bytes: 512, FileBytes: 1,
		Kernel: &api.Kernel{Release: release}})
	if err != nil {
		t.Fatal(err)
	}
	request := func(i int) api.Job {
		job, err := r.Client().CreateJob(t.Context(), api.JobSpec{Node: sleddtest.MAC(i), Image: "hpl", Kernel: "k"})
		if err != nil {
			t.Fatal(err)
		}
		return job
	}
	request(0)
	if job := r.jobs(1)[0]; job.State != api.JobDone || job.Before != "6.1" || job.Release != release {
		t.Errorf("%+v", job)
	}
	patience.Until(t, "its own kernel runs again", func() bool {
		node, err := r.Client().Node(t.Context(), sleddtest.MAC(0))
		return err == nil && node.Facts != nil && node.Facts.Kernel["release"].String() == "6.1" &&
			node.Status.Phase == api.Idle
	})
	job := request(1)
	patience.Until(t, "its kernel hangs", func() bool {
		_, err := os.Stat(filepath.Join(r.machines, mac.Hyphens(job.MAC)+".hang_at_start"))
		return err == nil
	})
	if job, err := r.Client().Job(t.Context(), job.ID); err != nil || job.State != api.JobPreparing {
		t.Errorf("%v, %+v", err, job)
	}
}
