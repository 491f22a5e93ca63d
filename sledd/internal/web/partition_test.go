// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// A node that is bound to a partition gets the images of one, into that partition.
func TestAnotherImageOfAPartition(t *testing.T) {
	b, machine := bench(t)
	b.Declare(waiting)
	for _, name := range []string{"root-v1", "root-v2"} {
		spec := api.ImageSpec{Name: name, Kind: api.PartitionImage, Digest: sleddtest.DigestOf(name),
			URLs: []string{"http://10.77.0.1/" + name}, Bytes: 4096, FileBytes: 4096}
		if _, err := b.Client().PutImage(b.Context(), spec); err != nil {
			b.Fatal(err)
		}
	}
	b.Bind(api.BindingSpec{Node: "n7", Image: "root-v1", Partition: "part-label:root a", Configure: api.Unconfigured,
		Boot: "reboot"})
	machine.Poll(0)
	machine.Say("facts", "facts 1\nboot "+machine.Boot+
		"\ndisk name=vda serial=LAB-0007 bytes=4294967296 transport=virtio\n"+
		"partition disk=vda number=2 label=root%20a bytes=2147483648 type=ext4\npartition disk=vda number=5\n")
	node := b.ask("GET", "/ui/nodes/"+sleddtest.MAC(waiting), nil).Body
	row := `<th scope="row">vda 2</th><td>root a</td><td class="mono"></td><td class="nowrap">2.15GB</td><td>ext4`
	if !strings.Contains(node, row) || !strings.Contains(node, `<th scope="row">vda 5</th>`) {
		t.Errorf("the page of the node does not list its partition: %s", node)
	}
	shown := b.ask("GET", form("install"), nil).Body
	if strings.Contains(shown, "debian-12-v1") || !strings.Contains(shown, "<option>root-v2") ||
		!strings.Contains(shown, "partition part-label:root a") {
		t.Errorf("the form offers %s", shown)
	}
	outlook := b.ask("GET", form("install")+"?image=root-v2", nil).Body
	if !strings.Contains(outlook, "Everything in partition part-label:root a of this disk is lost") ||
		!strings.Contains(outlook, "whose other bytes stay") {
		t.Errorf("the outlook is %s", outlook)
	}
	b.goes(form("install"), with(fieldsOf(outlook), "act", "install", "typed", "n7"))
	if bound := b.Node(waiting).Binding; bound.Image != "root-v2" || bound.Partition != "part-label:root a" {
		t.Errorf("%+v", bound)
	}
	b.refused(form("install"), url.Values{"act": {"show"}, "image": {"debian-12-v1"}}, http.StatusUnprocessableEntity,
		"only one of kind partition")
}
