// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

const (
	digest = "sha256:8f3c0d7e5b1a2c4f6e8d9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d"
	upload = "https://10.77.0.1/upload"
)

var node = api.NodeSpec{MAC: "52:54:00:77:00:01", Name: "n1", Disk: "only"}

// request is what the plan of generation 7 of a node is made for.
func request(node api.NodeSpec, spec api.BindingSpec, image *api.ImageSpec) plan.Request {
	return plan.Request{Generation: 7, Run: 2, Binding: &api.Binding{BindingSpec: spec, Generation: 7}, Image: image,
		Node: node, Site: plan.Site{Upload: upload}}
}

// oneDisk is the facts of a machine with one disk.
var oneDisk = &api.Facts{Disks: []map[string]nodetext.Identifier{
	nodetexttest.Facts(map[string]string{"name": "vda", "serial": "1", "bytes": "1000", "transport": "virtio"})}}

func image() *api.ImageSpec {
	return &api.ImageSpec{Name: "d12", Digest: digest, URLs: []string{"http://a/i", "http://b/i"}}
}

// TestDraft looks at the steps up to configure, without the operands that are the same everywhere.
func TestDraft(t *testing.T) {
	signed := image()
	signed.Signature = strings.Repeat("A", 86) + "=="
	signed.Statement = "image 2 name=d12 line=d signed=2026-11-23T15:50:00Z digest=" + digest
	const wipe, write = "wipe disks=only level=", "write disk=only image=http://a/i,http://b/i digest=" + digest
	for _, c := range []struct {
		name  string
		spec  api.BindingSpec
		image *api.ImageSpec
		want  string
	}{
		{"full", api.BindingSpec{Image: "d12"}, image(), wipe + "empty\n" + write + " mode=full gaps=keep\n"},
		{"full over signatures", api.BindingSpec{Image: "d12", Wipe: "signatures", Mode: "full"}, image(),
			wipe + "signatures\n" + write + " mode=full gaps=discard\n"},
		{"delta clears the gaps", api.BindingSpec{Image: "d12", Mode: "delta"}, image(), write + " mode=delta gaps=zero\n"},
		{"auto clears the gaps", api.BindingSpec{Image: "d12", Mode: "auto", Wipe: "clear"}, image(),
			write + " mode=auto gaps=zero\n"},
		{"auto leaves what is not needed", api.BindingSpec{Image: "d12", Mode: "auto", Wipe: "signatures"}, image(),
			write + " mode=auto gaps=discard\n"},
		{"signed", api.BindingSpec{Image: "d12", Verify: "full"}, signed,
			wipe + "empty\n" + write + " name=d12 statement=image%202%20name%3Dd12%20line%3Dd" +
				"%20signed%3D2026-11-23T15:50:00Z%20digest%3D" + digest + " signature=" + strings.Repeat("A", 86) +
				"%3D%3D mode=full gaps=keep verify=full\n"},
		{"unsigned", api.BindingSpec{Image: "d12", AllowUnsigned: true}, image(),
			wipe + "empty\n" + write + " unsigned=allow mode=full gaps=keep\n"},
		{"wipe only", api.BindingSpec{Mode: "delta"}, nil, "wipe disks=all level=empty\nidle\n"},
		{"overwritten first", api.BindingSpec{Image: "d12", Wipe: "clear"}, image(),
			wipe + "clear\n" + write + " mode=full gaps=discard\n"},
		{"capture", api.BindingSpec{Capture: "c", Wipe: "clear"}, nil,
			"capture disk=only upload=" + upload + "/52-54-00-77-00-01-7.raw.zst\nreboot\n"},
	} {
		p, err := plan.Draft(request(node, c.spec, c.image))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		text, err := plan.Encode(p)
		want := "plan 1\ngeneration 7 run 2\n" + c.want
		if c.image != nil {
			want += "configure disk=only hostname=n1 grow=last\nkexec disk=only fallback=reboot\n"
		}
		if err != nil || text != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", c.name, err, text, want)
		}
	}
}

// A machine that changes hands keeps nothing: all disks are overwritten before one is written, or a data disk gets its
// layout, whatever the binding has for the disk alone.
func TestAMachineThatChangesHands(t *testing.T) {
	kept := node
	kept.KeepDisks = []string{"serial:K"}
	kept.DataDisks = []api.DataDisk{{Name: "logs", Disk: "serial:D", Mount: "/srv/logs"}}
	const all, blank = "wipe disks=all keep=serial:K level=", "wipe disks=serial:D keep=serial:K level=empty"
	for _, c := range []struct {
		spec api.BindingSpec
		want []string
	}{
		{api.BindingSpec{Image: "d12"}, []string{all + "clear", blank, "layout", "write", "configure",
			"kexec"}},
		{api.BindingSpec{Image: "d12", Mode: "delta", Wipe: "signatures"},
			[]string{all + "clear", blank, "layout", "write", "configure", "kexec"}},
		{api.BindingSpec{Image: "d12", Wipe: "purge"}, []string{all + "purge", blank, "layout", "write",
			"configure", "kexec"}},
		{api.BindingSpec{Wipe: "empty"}, []string{all + "clear", "idle"}},
	} {
		r := request(kept, c.spec, image())
		r.HandsOver = true
		p, err := plan.Draft(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := plan.Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSpace(text), "\n")[2:]
		if len(got) != len(c.want) {
			t.Errorf("%+v: %q", c.spec, got)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(got[i], want) || want == "write" && !strings.HasSuffix(got[i], " mode=full gaps=discard") {
				t.Errorf("%+v: step %q, want %q", c.spec, got[i], want)
			}
		}
	}
}

// Once the disks are known, the steps that empty a data disk do not keep it, and all later ones do.
func TestDataDisksOfAMachineThatChangesHands(t *testing.T) {
	kept := node
	kept.KeepDisks = []string{"serial:K"}
	kept.DataDisks = []api.DataDisk{{Name: "logs", Disk: "serial:D", Mount: "/srv/logs"}}
	r := request(kept, api.BindingSpec{Image: "d12", Disk: "serial:A"}, image())
	r.HandsOver, r.Facts = true, &api.Facts{}
	for _, serial := range []string{"A", "D", "K"} {
		r.Facts.Disks = append(r.Facts.Disks, nodetexttest.Facts(map[string]string{"name": "vd" + serial, "serial": serial,
			"bytes": "1000", "transport": "virtio"}))
	}
	p, err := plan.Render(r)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := plan.Encode(p)
	for _, want := range []string{"\nwipe disks=all keep=serial:K level=clear\n",
		"\nwipe disks=serial:D keep=serial:K level=empty\n",
		"\nlayout disk=serial:D keep=serial:K ", "\nwrite disk=serial:A keep=serial:K;serial:D "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// What grows is the binding's decision.
func TestWhatGrows(t *testing.T) {
	for grow, want := range map[string]string{"": "last", "last": "last", "none": "none"} {
		p, err := plan.Draft(request(node, api.BindingSpec{Image: "d12", Grow: grow}, image()))
		if err != nil {
			t.Fatal(err)
		}
		text, err := plan.Encode(p)
		if err != nil || !strings.Contains(text, "\nconfigure disk=only hostname=n1 grow="+want+"\n") {
			t.Errorf("grow %q: %v\n%s", grow, err, text)
		}
	}
}

// An image that is not configured is started as it was written.
func TestAnImageThatIsNotConfigured(t *testing.T) {
	spec := api.BindingSpec{Image: "d12", Configure: api.Unconfigured, Boot: "reboot"}
	p, err := plan.Draft(request(node, spec, image()))
	if err != nil {
		t.Fatal(err)
	}
	want := "plan 1\ngeneration 7 run 2\nwipe disks=only level=empty\nwrite disk=only image=http://a/i,http://b/i " +
		"digest=" + digest + " mode=full gaps=keep\n"
	if text, err := plan.Encode(p); err != nil || text != want+"reboot\n" {
		t.Errorf("%v\ngot  %s\nwant %s", err, text, want)
	}
	ordered := node
	ordered.BootOrder = "disk"
	want += "configure disk=only system=keep bootorder=disk\nreboot\n"
	p, err = plan.Draft(request(ordered, spec, image()))
	if text, _ := plan.Encode(p); err != nil || text != want {
		t.Errorf("a boot order is the firmware's, not the image's: %v\ngot  %s\nwant %s", err, text, want)
	}
}

// TestATearDownTakesAllDisksButKeptOnes even of a node that names no disk.
func TestATearDownTakesAllDisksButKeptOnes(t *testing.T) {
	kept := api.NodeSpec{Name: "n1", KeepDisks: []string{"serial:A", "wwn:0x5"}}
	p, err := plan.Draft(request(kept, api.BindingSpec{}, nil))
	if err != nil {
		t.Fatal(err)
	}
	want := "plan 1\ngeneration 7 run 2\nwipe disks=all keep=serial:A;wwn:0x5 level=empty\nidle\n"
	if text, err := plan.Encode(p); err != nil || text != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, text, want)
	}
}

// TestATearDownReadsBackWhatIsRequested: of a wipe in front of an image, the image is what is read back.
func TestATearDownReadsBackWhatIsRequested(t *testing.T) {
	for verify, want := range map[string]string{"": "", "none": "", "sample": "", "full": " verify=full"} {
		p, err := plan.Draft(request(node, api.BindingSpec{Verify: verify}, nil))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := plan.Encode(p); err != nil || !strings.Contains(text, "wipe disks=all level=empty"+want+"\n") {
			t.Errorf("%q: %v\n%s", verify, err, text)
		}
		p, err = plan.Draft(request(node, api.BindingSpec{Image: "d12", Verify: verify}, image()))
		if text, _ := plan.Encode(p); err != nil || !strings.Contains(text, "wipe disks=only level=empty\n") {
			t.Errorf("%q, an image: %v\n%s", verify, err, text)
		}
	}
}

func TestCapturedImageIsReadOverTLSUntilItIsSigned(t *testing.T) {
	captured := image()
	const file = "/captured/52-54-00-77-00-02-3-0c2f5c1e7a544c1f9a551f3a0b8f6f5e.raw.zst"
	captured.URLs = []string{"http://a/images" + file, "http://b/images" + file}
	for signature, want := range map[string]string{
		"":                             "https://10.77.0.1/images" + file,
		strings.Repeat("A", 86) + "==": strings.Join(captured.URLs, ","),
	} {
		captured.Signature = signature
		captured.Statement = "image 2 name=d12 line=d signed=2026-11-23T15:50:00Z digest=" + digest
		p, err := plan.Draft(request(node, api.BindingSpec{Image: "d12"}, captured))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := plan.Encode(p); err != nil || !strings.Contains(text, " image="+want+" ") {
			t.Errorf("signature %q: %v\n%s", signature, err, text)
		}
	}
}

func TestDraftRefusesWhatCannotBeDone(t *testing.T) {
	nowhere := node
	nowhere.Disk = ""
	broken := image()
	broken.Signature = "AAAA"
	broken.Statement = "image 2 name=d12 line=d signed=2026-11-23T15:50:00Z digest=" + digest
	for name, c := range map[string]struct {
		node   api.NodeSpec
		spec   api.BindingSpec
		image  *api.ImageSpec
		upload string
		want   string
	}{
		"no disk":             {nowhere, api.BindingSpec{Capture: "c"}, nil, upload, "no disk"},
		"no image":            {node, api.BindingSpec{Image: "x"}, nil, upload, "image x does not exist"},
		"signature too short": {node, api.BindingSpec{Image: "d12"}, broken, upload, "64 bytes in base64"},
		"nowhere to upload":   {node, api.BindingSpec{Capture: "c"}, nil, "", "upload"},
	} {
		asked := request(c.node, c.spec, c.image)
		asked.Site.Upload = c.upload
		_, err := plan.Draft(asked)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestMethodOfAPurge: a plan has the method only if one is named.
func TestMethodOfAPurge(t *testing.T) {
	for method, want := range map[string]string{
		"ata-sanitize-block": "wipe disks=all level=purge method=ata-sanitize-block\nidle\n",
		"auto":               "wipe disks=all level=purge\nidle\n",
		"":                   "wipe disks=all level=purge\nidle\n",
	} {
		p, err := plan.Draft(request(node, api.BindingSpec{Wipe: "purge", WipeMethod: method}, nil))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := plan.Encode(p); err != nil || text != "plan 1\ngeneration 7 run 2\n"+want {
			t.Errorf("%q: %v\n%s", method, err, text)
		}
	}
}
