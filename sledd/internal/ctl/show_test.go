// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
)

func world(t *testing.T) string {
	t.Helper()
	nodes := ctltest.Rack()
	images := []api.Image{{ImageSpec: api.ImageSpec{Name: "debian-12-v1", Digest: "sha256:" + strings.Repeat("8f3c", 16),
		Bytes: 1 << 31,
		URLs:  []string{"http://10.77.0.1/images/8f3c.raw.zst"}, FileBytes: 312345678, UsedBytes: 1560000000,
		Signature: strings.Repeat("A", 86) + "=="}, Revision: 4, Created: ctltest.Noon}}
	return double(t, map[string]any{
		"/v1/nodes":             api.NodeList{Items: nodes},
		"/v1/nodes/n1":          ctltest.Detailed(),
		"/v1/nodes/n3":          nodes[2],
		"/v1/nodes/n1/timeline": ctltest.Timeline(),
		"/v1/nodes/n9/timeline": api.Timeline{MAC: "52:54:00:77:00:09"},
		"/v1/nodes/n1/events":   api.EventList{Items: ctltest.Happened()},
		"/v1/nodes/n3/log":      "vda matches\n\x1b[2Jvdb matches\n--- dmesg\n",
		"/v1/images":            api.ImageList{Items: images},
		"/v1/images/i":          images[0],
		"/v1/bindings":          api.BindingList{Items: []api.Binding{*nodes[0].Binding, *nodes[4].Binding}},
		"/v1/kexec":             ctltest.Models(),
		"/v1/quirks":            ctltest.Quirks(),
		"/v1/operators": api.OperatorList{Items: []api.Operator{{Name: "admin", Role: api.Admin},
			{Name: "ci", Role: api.Operate, Owner: "alice@example.org", Expires: ctltest.Noon.AddDate(0, 0, 89),
				LastUsed: ctltest.Noon},
			{Name: "old", Role: api.Read, Expires: ctltest.Noon.AddDate(0, 0, -1)}}},
		"/v1/audit": api.AuditList{Items: []api.AuditRecord{{Time: ctltest.Noon, Operator: "ci", Role: api.Operate,
			From: "10.0.0.9", Method: "PUT", Path: "/v1/bindings/n1?reimage=true", Node: "n1", Status: 200}}},
		"/v1/store": api.Store{Fleet: fleetUUID, Bytes: 3 << 30, InUse: 2700 << 20, Quota: 4 << 30, Alarms: []string{"DISK"},
			Backup: ctltest.Noon.Add(-26 * time.Hour), Refused: []string{"machines that are not declared"}},
		"/v1/store/heal": api.Store{Fleet: fleetUUID, Bytes: 20 << 20, InUse: 19 << 20, Quota: 4 << 30,
			Alarms: []string{"NOSPACE", "CORRUPT"}},
		"/v1/multicast": api.Multicast{Running: true, Rate: 700000, Refused: map[string]int64{"tag": 3, "field": 0},
			Sessions: []api.MulticastSession{{Image: nodetexttest.Identifier("debian-12-v2.raw.zst"),
				Interface: nodetexttest.Identifier("eth1"), Group: nodetexttest.Identifier("239.195.7.1"), Sending: true,
				Receivers: 8, Rate: 700000, Copies: 1.02, Repairs: 3 << 20, Rejected: 1},
				{Image: nodetexttest.Identifier("old.raw.zst"), Interface: nodetexttest.Identifier("eth1"),
					Group: nodetexttest.Identifier("239.192.3.4"), Done: 4, Copies: 1}}},
		"/v1/nodes/denied": http.StatusForbidden,
		"/v1/nodes/broken": http.StatusServiceUnavailable,
	})
}

// A pipe gets whole tables: one line for each record.
func TestGoldenOutputs(t *testing.T) {
	server := world(t)
	all := ctltest.Transcript{}
	for _, line := range []string{
		"status", "status n3", "node list", "node get n1", "node get n3", "node get n3 -o yaml", "image list",
		"image show i", "binding list", "operator list", "timeline n1 n9", "timeline n1 -o json", "log n3", "kexec stats",
		"kexec stats -o yaml", "kexec quirks", "store", "store heal", "audit", "multicast",
	} {
		got := sledctl(t, server, "", strings.Fields(line)...)
		if got.code != exitDone {
			t.Errorf("%s: exit %d", line, got.code)
		}
		all.Add(line, got.out+got.err)
	}
	ctltest.Golden(t, "piped", all.String())
}

func TestOutputsHoldTheAPIObjects(t *testing.T) {
	server := world(t)
	var nodes []api.Node
	got := sledctl(t, server, "", "status", "-o", "json")
	if err := json.Unmarshal([]byte(got.out), &nodes); err != nil || len(nodes) != len(ctltest.Rack()) {
		t.Errorf("%v: %s", err, got.out)
	}
	var image api.Image
	got = sledctl(t, server, "", "image", "get", "i", "-o", "yaml")
	if err := yaml.UnmarshalStrict([]byte(got.out), &image); err != nil || image.Name != "debian-12-v1" {
		t.Errorf("%v: %s", err, got.out)
	}
}

func TestExitCodes(t *testing.T) {
	server := world(t)
	for line, want := range map[string]struct {
		code int
		text string
	}{
		"":                                      {exitDone, ""},
		"completion bash":                       {exitDone, ""},
		"nodes":                                 {exitUsage, "see sledctl --help"},
		"node":                                  {exitDone, ""},
		"node lst":                              {exitUsage, "see sledctl node --help"},
		"node get":                              {exitUsage, "accepts 1 arg(s)"},
		"status --nope":                         {exitUsage, "unknown flag"},
		"status -o xml":                         {exitUsage, `--output "xml": expected one of table, wide, name, json, yaml`},
		"node get n7":                           {exitNotFound, "(404 Not Found)"},
		"node get denied":                       {exitDenied, "so says the test"},
		"node get broken":                       {exitUnreachable, "so says the test"},
		"watch -o json":                         {exitUsage, "sledctl status"},
		"events n1 -f -o yaml":                  {exitUsage, "-f prints lines"},
		"bind":                                  {exitUsage, "expected one of NODE..."},
		"bind n1 -l rack=a":                     {exitUsage, "expected one of NODE..."},
		"bind n1":                               {exitUsage, "--wipe-only"},
		"bind n7 --image x":                     {exitNotFound, ""},
		"bind n1 --image x --wipe-only":         {exitUsage, "--image x and --wipe-only exclude each other"},
		"bind -f x --wipe-only":                 {exitUsage, "--file replaces whole bindings"},
		"bind -f none.yaml":                     {exitUsage, "no such file"},
		"node apply":                            {exitUsage, "expected either NODE or -f FILE"},
		"node apply n7":                         {exitUsage, "set its MAC with --mac"},
		"node apply n7 --mac 52:54":             {exitUsage, "is not a MAC"},
		"node apply 52:54:00:77:00:0a":          {exitUsage, "--name"},
		"node apply n1 --mac 52:54:00:77:00:0a": {exitUsage, "which cannot change"},
		"node apply n1 --bmc ipmi":              {exitUsage, "expected DRIVER://ADDRESS[:PORT]"},
		"image sign i":                          {exitUsage, "--key FILE is missing"},
		"image sign i --key none.pem":           {exitUsage, "no such file"},
		"image sign i --key show_test.go":       {exitUsage, "expected a PEM file with a PRIVATE KEY"},
		"image capture n1":                      {exitUsage, "accepts 2 arg(s)"},
		"image capture n1 x --wait -o json":     {exitUsage, "--wait prints progress"},
		"image apply":                           {exitUsage, "expected either IMAGE or -f FILE"},
		"operator create admin":                 {exitConflict, "delete it first"},
	} {
		got := sledctl(t, server, "", strings.Fields(line)...)
		if got.code != want.code || !strings.Contains(got.err, want.text) {
			t.Errorf("sledctl %s: exit %d, want %d; said %q, want %q", line, got.code, want.code, got.err, want.text)
		}
	}
}

func TestExitCodesWithoutServer(t *testing.T) {
	if got := run(t.Context(), "", "", show.Screen{}, "status"); got.code != exitUsage ||
		!strings.Contains(got.err, "SLED_SERVER") {
		t.Errorf("without a server: %+v", got)
	}
	if got := sledctl(t, "http://127.0.0.1:1", "", "status"); got.code != exitUnreachable {
		t.Errorf("without a listener: %+v", got)
	}
}

func TestInvalidFiles(t *testing.T) {
	server := world(t)
	for input, want := range map[string]string{
		"":                               "expected an object",
		"42":                             "expected an object",
		"- name: x\n  colour: red":       `item 1: json: unknown field "colour"`,
		"items:\n- {mac: a}\n- {mac: 7}": "item 2",
		"a: 1\na: 2":                     "already set",
	} {
		got := sledctl(t, server, input, "node", "apply", "-f", "-")
		if got.code != exitUsage || !strings.Contains(got.err, want) {
			t.Errorf("%q: exit %d, %q, want %q", input, got.code, got.err, want)
		}
	}
}

func TestCompletionAsksForNames(t *testing.T) {
	server := world(t)
	for line, want := range map[string]string{
		"node get ":           "n3\tfailed",
		"bind n1 --image ":    "debian-12-v1",
		"status --phase ":     "capturing",
		"bind n1 --mode ":     "delta",
		"bind n1 --verify ":   "sample",
		"image sign ":         "debian-12-v1",
		"image capture ":      "n3\tfailed",
		"image capture n1 ":   ":4",
		"operator delete ":    ":4",
		"node list --output ": "yaml",
	} {
		args := append([]string{"__complete"}, strings.Split(line, " ")...)
		if got := sledctl(t, server, "", args...); !strings.Contains(got.out, want) {
			t.Errorf("%q: %q, want %q", line, got.out, want)
		}
	}
	if got := sledctl(t, "http://127.0.0.1:1", "", "__complete", "node", "get", ""); got.code != exitDone {
		t.Errorf("a server that is away breaks the tab key: %+v", got)
	}
}

func TestANodeThatRunsFromMemory(t *testing.T) {
	node := ctltest.Bound(ctltest.Node(7, api.Operational, 0), "arce-hello", 2)
	node.Status.Image, node.Status.Memory, node.Binding.Memory = "debian-12-v1", true, true
	node.Status.Confirmed = api.Clean("by http 0.4 s after the jump")
	node.Status.Kernel = api.OnKernel{Image: "debian-13", State: api.KernelUp}
	url := double(t, map[string]any{"/v1/nodes/n7": node, "/v1/nodes": api.NodeList{Items: []api.Node{node}}})
	text := strings.Join(strings.Fields(sledctl(t, url, "", "node", "get", "n7").out), " ")
	for _, want := range []string{"image arce-hello from memory, on kernel debian-13",
		"confirmed by http 0.4 s after the jump",
		"disk debian-12-v1, left as it is"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if list := sledctl(t, url, "", "status", "n7").out; !strings.Contains(list, "arce-hello") ||
		strings.Contains(list, "debian-12-v1") {
		t.Error(list)
	}
}
