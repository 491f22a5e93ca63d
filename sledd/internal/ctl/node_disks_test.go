// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

func TestNodeDisks(t *testing.T) {
	s := sleddtest.Start(t)
	s.Declare(1)
	s.Declare(2)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	m.Say("facts", "facts 1\nboot "+m.Boot+
		"\ndisk name=nvme0n1 serial=LAB-0001 wwn=eui.01 bytes=1000 transport=nvme"+
		"\ndisk name=nvme1n1 serial=DATA wwn=eui.02 bytes=2000 transport=nvme"+
		"\ndisk name=sda serial=STICK bytes=500 removable=1 transport=usb"+
		"\ndisk name=loop0 bytes=10\n")
	for _, c := range []struct {
		args []string
		code int
		want string // in the output
	}{
		{nil, exitDone, "in a plan  wwn:eui.01"},
		{[]string{"--match", "smallest"}, exitDone, "in a plan  wwn:eui.01"},
		{[]string{"--match", "serial:DATA"}, exitDone, "in a plan  wwn:eui.02"},
		{[]string{"--match", "serial:DATA", "--keep", "serial:LAB-0001"}, exitDone, "on the keep list"},
		{[]string{"--match", "all", "--keep", "serial:DATA"}, exitDone, "removable"},
		{[]string{"--match", "only"}, exitConflict, "disk only: 2 disks match"},
		{[]string{"--keep", "serial:data"}, exitConflict, "keep serial:data: no disk matches"},
		{[]string{"--match", "/dev/sda"}, exitUsage, "is not one of serial:S"},
		{[]string{"--match", "serial:DATA", "-o", "json"}, exitDone, `"planned": "wwn:eui.02"`},
	} {
		r := sledctl(t, s.URL, "", append([]string{"node", "disks", "n1"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.out+r.err, c.want) || strings.Contains(r.out, "loop0") {
			t.Errorf("%v: %d %s%s", c.args, r.code, r.out, r.err)
		}
	}
	if r := sledctl(t, s.URL, "", "node", "disks", "n2"); r.code != exitNotFound ||
		!strings.Contains(r.err, "has reported no disks") {
		t.Errorf("a node without facts: %d %s", r.code, r.err)
	}
	if got := m.Poll(0); !strings.Contains(got, "write disk=wwn:eui.01 ") {
		t.Errorf("the plan is %s", got)
	}
}

func TestNodeDisksNamesWhatADriveHides(t *testing.T) {
	s := sleddtest.Start(t)
	s.Declare(1)
	m := s.Machine(1)
	disk := "\ndisk name=sda serial=S1 bytes=2000 transport=sata"
	say := func(hidden string) string {
		m.Say("facts", "facts 1\nboot "+m.Boot+disk+hidden+"\ndisk name=sdb serial=S2 bytes=1000 transport=sata\n")
		return sledctl(t, s.URL, "", "node", "disks", "n1", "--match", "serial:S1").out
	}
	for _, c := range []struct{ hidden, want string }{
		{"", "SIZE    BY "},
		{" hidden=other", "HIDDEN  BY "},
		{" hidden=hpa:1048576", " 1.05MB by HPA  sata "},
		{" hidden=hpa:1048576,dco:2097152", " 1.05MB by HPA, 2.10MB by DCO  sata "},
	} {
		if out := say(c.hidden); !strings.Contains(out, c.want) {
			t.Errorf("%q: %s", c.hidden, out)
		}
	}
	r := sledctl(t, s.URL, "", "node", "disks", "n1", "--match", "serial:S1", "-o", "json")
	if !strings.Contains(r.out, `"hidden": "hpa:1048576,dco:2097152"`) {
		t.Errorf("JSON: %s", r.out)
	}
}
