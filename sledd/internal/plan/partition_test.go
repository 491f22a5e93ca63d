// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"cmp"
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

// Each step that names the disk names the partition, whatever the node declares: none wipes, grows, orders or stamps
// the rest of it.
func TestAPartitionIsAllThatAPlanWrites(t *testing.T) {
	declared := api.NodeSpec{Name: "n1", Disk: "serial:A", BootOrder: "disk", KeepDisks: []string{"serial:K"},
		DataDisks: []api.DataDisk{{Name: "logs", Disk: "serial:D", Mount: "/srv/logs"}}}
	target := " disk=serial:A keep=serial:K;serial:D partition=part-label:a%20root"
	for _, c := range []struct{ mode, configure, boot, end string }{
		{"", api.Unconfigured, "reboot", "reboot"},
		{"delta", api.Unconfigured, "kexec", "kexec" + target + " fallback=none"},
		{"auto", "", "reboot", "configure" + target + " hostname=n1\nreboot"},
		{"full", "system", "", "configure" + target + " hostname=n1\nkexec" + target + " fallback=reboot"},
	} {
		spec, one := partition()
		spec.Mode, spec.Verify, spec.Configure, spec.Boot = c.mode, "full", c.configure, c.boot
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
		want := "\nwrite" + target + " image=http://a/i,http://b/i digest=" + digest + " mode=" + cmp.Or(c.mode, "full") +
			" gaps=zero verify=full known=" + stampOf(t) + "\n" + c.end + "\n"
		if err != nil || !strings.HasSuffix(text, want) || !strings.HasPrefix(p.Verbs(), "layout write ") {
			t.Errorf("%+v: %v\ngot  %s\nwant %s", c, err, text, want)
		}
	}
}

// A capture reads the partition alone, whatever image is there.
func TestACaptureOfAPartition(t *testing.T) {
	spec := api.BindingSpec{Capture: "golden", Partition: "2", Wipe: "clear", Grow: "last"}
	p, err := on(request(api.NodeSpec{Name: "n1", Disk: "serial:A"}, spec, nil), drive("vda", "A", ""))
	if err != nil {
		t.Fatal(err)
	}
	text, err := plan.Encode(p)
	if want := "\ncapture disk=serial:A partition=2 upload="; err != nil || !strings.Contains(text, want) ||
		p.Verbs() != "capture reboot" {
		t.Errorf("%v\ngot  %s\nwant %s", err, text, want)
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
		"grow: with partition":                 func(r *plan.Request) { r.Binding.Grow = "last" },
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
