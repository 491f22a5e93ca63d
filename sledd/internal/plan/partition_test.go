// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

// partition is a binding to one, and its image.
func partition() (api.BindingSpec, *api.ImageSpec) {
	one := image()
	one.Kind = api.PartitionImage
	return api.BindingSpec{Image: "d12", Partition: "part-label:a root", Configure: api.Unconfigured, Boot: "reboot"}, one
}

// One step names the disk, whatever the node declares: none wipes, adapts or stamps the rest of it.
func TestAPartitionIsAllThatAPlanWrites(t *testing.T) {
	declared := api.NodeSpec{Name: "n1", Disk: "serial:A", BootOrder: "disk", KeepDisks: []string{"serial:K"},
		DataDisks: []api.DataDisk{{Name: "logs", Disk: "serial:D", Mount: "/srv/logs"}}}
	for mode, want := range map[string]string{"": "full", "full": "full", "delta": "delta", "auto": "auto"} {
		spec, one := partition()
		spec.Mode, spec.Verify = mode, "full"
		asked := request(declared, spec, one)
		asked.Known, asked.Stamp = stampOf(t), stampOf(t)
		// the disk shares a set with another one, of which the node knows whether the partition is in it
		shared := drive("vda", "A", "")
		shared["sets"] = "lvm:x"
		other := drive("vdb", "B", "")
		other["sets"] = "lvm:x"
		p, err := on(asked, shared, other, drive("vdc", "D", ""), drive("vdd", "K", ""))
		if err != nil {
			t.Fatal(err)
		}
		text, err := plan.Encode(p)
		wantWrite := "\nwrite disk=serial:A keep=serial:K;serial:D partition=part-label:a%20root " +
			"image=http://a/i,http://b/i digest=" +
			digest + " mode=" + want + " gaps=zero verify=full known=" + stampOf(t) + "\nreboot\n"
		if err != nil || !strings.HasSuffix(text, wantWrite) || p.Verbs() != "layout write reboot" {
			t.Errorf("%q: %v\ngot  %s\nwant %s", mode, err, text, wantWrite)
		}
	}
}

func stampOf(t *testing.T) string {
	t.Helper()
	const id = "0b5f6c1e-7a54-8c1f-9a55-1f3a0b8f6f5e"
	return id + "/" + id + "/52-54-00-77-00-01/3/4"
}

// A stored binding that the operators' side would refuse has no plan either.
func TestNoPlanReachesOutsideOfAPartition(t *testing.T) {
	for want, change := range map[string]func(r *plan.Request){
		"partition: image d12 is of one":       func(r *plan.Request) { r.Binding.Partition = "" },
		"partition: image d12 has kind disk":   func(r *plan.Request) { r.Image.Kind = "" },
		"partition: only an image of kind":     func(r *plan.Request) { r.Image, r.Binding.Image = nil, "" },
		"configure: with partition":            func(r *plan.Request) { r.Binding.Configure = "" },
		"boot: with partition":                 func(r *plan.Request) { r.Binding.Boot = "kexec" },
		"wipe: with partition":                 func(r *plan.Request) { r.Binding.Wipe = "empty" },
		"machine that changes hands are wiped": func(r *plan.Request) { r.HandsOver = true },
		`"0" is not the number of a partition`: func(r *plan.Request) { r.Binding.Partition = "0" },
	} {
		asked := request(node, api.BindingSpec{}, nil)
		asked.Binding.BindingSpec, asked.Image = partition()
		change(&asked)
		if p, err := plan.Draft(asked); err == nil || !strings.Contains(err.Error(), want) || len(p.Steps) > 0 {
			t.Errorf("%s: %v\n%+v", want, err, p)
		}
	}
}
