// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"cmp"
	"errors"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/disk"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/operand"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

func drive(name, serial, wwn string) map[string]string {
	return map[string]string{"name": name, "serial": serial, "wwn": wwn, "bytes": "1000", "transport": "nvme"}
}

// on renders the plan of a request for a machine with these disks. Those that are missing, it had before.
func on(asked plan.Request, disks ...map[string]string) (plan.Plan, error) {
	asked.Facts = &api.Facts{}
	for _, one := range disks {
		if one["missing"] != "" {
			asked.Facts.Missing = append(asked.Facts.Missing, nodetexttest.Facts(one))
			continue
		}
		asked.Facts.Disks = append(asked.Facts.Disks, nodetexttest.Facts(one))
	}
	return plan.Render(asked)
}

func TestEachStepNamesTheDiskByItsIdentity(t *testing.T) {
	for _, c := range []struct {
		name       string
		node       api.NodeSpec
		spec       api.BindingSpec
		image      *api.ImageSpec
		want       string
		wantDisk   string
		wantRefuse disk.Kind
	}{
		{name: "an image", node: api.NodeSpec{Name: "n1", Disk: "serial:A", KeepDisks: []string{"serial:B%3B2"}},
			spec: api.BindingSpec{Image: "d12", Boot: "kexec"}, image: image(), wantDisk: "wwn:eui.01",
			want: "wipe disks=wwn:eui.01 keep=serial:B%253B2 level=empty\n" +
				"write disk=wwn:eui.01 keep=serial:B%253B2 image=http://a/i,http://b/i digest=" + digest +
				" mode=full gaps=keep\nconfigure disk=wwn:eui.01 keep=serial:B%253B2 hostname=n1 grow=last\n" +
				"kexec disk=wwn:eui.01 keep=serial:B%253B2 fallback=none\n"},
		{name: "a disk without a wwn", node: api.NodeSpec{Name: "n1", Disk: "model:*,serial:B%3B2"},
			spec: api.BindingSpec{Image: "d12", Mode: "delta", Boot: "reboot"}, image: image(), wantDisk: "serial:B%3B2",
			want: "write disk=serial:B%253B2 image=http://a/i,http://b/i digest=" + digest + " mode=delta gaps=zero\n" +
				"configure disk=serial:B%253B2 hostname=n1 grow=last\nreboot\n"},
		{name: "a tear-down", node: api.NodeSpec{Name: "n1", KeepDisks: []string{"serial:A"}}, wantDisk: "all",
			want: "wipe disks=all keep=serial:A level=empty\nidle\n"},
		{name: "two disks", node: api.NodeSpec{Name: "n1", Disk: "only"}, spec: api.BindingSpec{Image: "d12"},
			image: image(), wantRefuse: disk.Several},
		{name: "a kept disk", node: api.NodeSpec{Name: "n1", Disk: "serial:A", KeepDisks: []string{"serial:A"}},
			spec: api.BindingSpec{Image: "d12"}, image: image(), wantRefuse: disk.Kept},
		{name: "a tear-down that keeps nothing", node: api.NodeSpec{Name: "n1", KeepDisks: []string{"serial:a"}},
			wantRefuse: disk.Keep},
	} {
		pinned, err := on(request(c.node, c.spec, c.image), drive("nvme0n1", "A", "eui.01"), drive("nvme1n1", "B;2", ""))
		if c.wantRefuse != "" {
			refused, is := errors.AsType[*plan.DiskError](err)
			if !is || disk.KindOf(err) != c.wantRefuse || len(pinned.Steps) > 0 ||
				refused.Selector != cmp.Or(c.node.Disk, "all") {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		text, encoded := plan.Encode(pinned)
		if err != nil || encoded != nil || text != "plan 1\ngeneration 7 run 2\n"+c.want || pinned.Disk() != c.wantDisk {
			t.Errorf("%s: %v, %v\ngot  %s\nwant %s", c.name, err, encoded, text, c.want)
		}
	}
}

func TestOnlyAPlanThatNamesADiskNeedsFacts(t *testing.T) {
	for _, asked := range []plan.Request{{Generation: 1}, {Steps: []operand.Line{{Word: "reboot"}}}} {
		if p, err := plan.Render(asked); err != nil || p.NamesDisks() {
			t.Errorf("%s: %v", p.Verbs(), err)
		}
	}
	for _, spec := range []api.BindingSpec{{}, {Image: "d12"}, {Capture: "c"}} {
		if _, err := plan.Render(request(node, spec, image())); !errors.Is(err, plan.ErrNoFacts) {
			t.Errorf("%+v: %v", spec, err)
		}
	}
}

// A capture loses nothing of the other members.
func TestAMemberOfASetIsNeverWrittenAlone(t *testing.T) {
	one, other := drive("sda", "M1", ""), drive("sdb", "M2", "")
	one["set"], other["set"] = "md:1", "lvm:2,md:1"
	for _, c := range []struct {
		node    api.NodeSpec
		spec    api.BindingSpec
		refused bool
	}{
		{api.NodeSpec{Disk: "serial:M1"}, api.BindingSpec{Image: "d12"}, true},
		{api.NodeSpec{Disk: "serial:M2"}, api.BindingSpec{Image: "d12", Mode: "delta"}, true},
		{api.NodeSpec{KeepDisks: []string{"serial:M2"}}, api.BindingSpec{}, true},
		{api.NodeSpec{}, api.BindingSpec{}, false},
		{api.NodeSpec{Disk: "serial:M1"}, api.BindingSpec{Capture: "c"}, false},
	} {
		_, err := on(request(c.node, c.spec, image()), one, other)
		if (disk.KindOf(err) == disk.Half) != c.refused || (err != nil) != c.refused {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
