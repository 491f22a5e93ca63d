// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

// What of the kernel of a job no node could do is refused when the job is made, by name.
func TestKernelsOfJobsThatAreRefused(t *testing.T) {
	s := fresh(t)
	for name, image := range map[string]api.ImageSpec{
		"k":    {Kind: api.KernelImage, Kernel: &api.Kernel{Release: "6.12", Drivers: []string{"e1000e"}}},
		"fits": {Kind: api.KernelImage, Kernel: &api.Kernel{Release: "6.12", Drivers: []string{"virtio_net"}}},
		"arm":  {Kind: api.KernelImage, Kernel: &api.Kernel{Release: "6.12"}, Architecture: "arm64"},
		"hpl":  {Kind: api.RootImage, Container: &api.Container{Command: []string{"./xhpl"}}, NFS: "10.77.0.1:/i"},
		"nfs": {Kind: api.KernelImage, Kernel: &api.Kernel{Release: "6.12",
			Drivers: []string{"dm_verity", "nfsv3", "virtio_net"}}},
	} {
		image.Name, image.Digest, image.Bytes, image.FileBytes = name, "sha256:"+strings.Repeat("7", 64), 512, 1
		image.URLs = []string{"http://10.77.0.1/images/" + name}
		s.admin(http.StatusOK, "PUT", "/v1/images/"+name, image)
	}
	s.Declare(1)
	m := s.Machine(1)
	m.Say("facts", "facts 1\nboot "+m.Boot+"\nkernel release=6.1 uptime=1\nnic name=eth0 mac="+
		strings.ReplaceAll(m.MAC, "-", ":")+" driver=virtio-net link=1 speed=\n")
	for _, c := range []struct {
		spec api.JobSpec
		want string
	}{
		{api.JobSpec{Kernel: "k"}, "kernel image k has no driver virtio_net, which the network of node n1 needs"},
		{api.JobSpec{Kernel: "fits", Root: api.NetRoot}, "kernel image fits has no driver nfsv3, which root net needs"},
		{api.JobSpec{Kernel: "hpl"}, "image hpl has kind root"},
		{api.JobSpec{Kernel: "arm"}, "image arm is for arm64, node n1 is x86_64"},
		{api.JobSpec{Arguments: "quiet"}, "name the kernel that gets the arguments"},
		{api.JobSpec{Kernel: "fits", Arguments: "quiet sled.servers=http://evil"}, "arguments of the Sled system"},
		{api.JobSpec{Kernel: "fits", Arguments: "init=/bin/sh"}, "arguments of the Sled system"},
		{api.JobSpec{Kernel: "fits", Arguments: `"sled.mac=1 2"`}, "arguments of the Sled system"},
		{api.JobSpec{Kernel: "fits", Arguments: "quiet\nnosmt"}, "want printable ASCII"},
		{api.JobSpec{Tune: []string{"/etc/passwd=x"}}, "want PATH=VALUE"},
		{api.JobSpec{Tune: []string{"/sys/../etc/passwd=x"}}, "want PATH=VALUE"},
		{api.JobSpec{Tune: []string{"/proc/1/oom_score_adj=1"}}, "want PATH=VALUE"},
		{api.JobSpec{Tune: []string{"/proc/sys/vm/swappiness"}}, "want PATH=VALUE"},
	} {
		c.spec.Node, c.spec.Image = "n1", "hpl"
		if a := s.admin(http.StatusUnprocessableEntity, "POST", "/v1/jobs", c.spec); !strings.Contains(a.Body, c.want) {
			t.Errorf("%+v: %s", c.spec, a.Body)
		}
	}
	s.admin(http.StatusCreated, "POST", "/v1/jobs", api.JobSpec{Node: "n1", Image: "hpl", Kernel: "nfs",
		Root: api.NetRoot, Arguments: "mitigations=off", Tune: []string{"/proc/sys/vm/swappiness=1"}})
}
