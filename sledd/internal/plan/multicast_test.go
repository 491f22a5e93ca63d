// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

func sender(t *testing.T, secret string) *plan.Sender {
	t.Helper()
	file := ""
	if secret != "" {
		file = filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made, err := plan.ParseSender("192.0.2.1:7001", file)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestReceive(t *testing.T) {
	captured := image()
	captured.URLs = []string{"http://10.77.0.1/images" + plan.Captured + "c.raw.zst"}
	published := *captured
	published.URLs = []string{"http://10.77.0.1/images/c.raw.zst"}
	const place = " multicast=192.0.2.1:7001"
	for _, c := range []struct {
		name   string
		sender *plan.Sender
		spec   api.BindingSpec
		image  *api.ImageSpec
		want   string
	}{
		{"no sender", nil, api.BindingSpec{Image: "d12"}, image(), ""},
		{"by default", sender(t, ""), api.BindingSpec{Image: "d12"}, image(), place},
		{"auto", sender(t, ""), api.BindingSpec{Image: "d12", Transport: "auto"}, image(), place},
		{"unicast", sender(t, ""), api.BindingSpec{Image: "d12", Transport: "unicast"}, image(), ""},
		{"delta", sender(t, ""), api.BindingSpec{Image: "d12", Mode: "delta", Transport: "multicast"}, image(), place},
		{"key", sender(t, "secret of the site"), api.BindingSpec{Image: "d12"}, image(),
			place + "/ea33d3783fe811839cdd2fc7e1f4c943"},
		{"captured", sender(t, ""), api.BindingSpec{Image: "d12"}, captured, ""},
		{"published", sender(t, ""), api.BindingSpec{Image: "d12"}, &published, place},
		{"wipe", sender(t, ""), api.BindingSpec{}, nil, ""},
		{"capture", sender(t, ""), api.BindingSpec{Capture: "c"}, nil, ""},
	} {
		asked := request(node, c.spec, c.image)
		asked.Facts, asked.Site.Sender = oneDisk, c.sender
		p, err := plan.Render(asked)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		text, err := plan.Encode(p)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := plan.Parse(text); err != nil {
			t.Errorf("%s: a node would refuse\n%s%v", c.name, text, err)
		}
		at := strings.Index(text, " multicast=")
		got := ""
		if at >= 0 {
			got, _, _ = strings.Cut(text[at:], "\n")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q, in\n%s", c.name, got, c.want, text)
		}
	}
}

func TestExpect(t *testing.T) {
	for _, c := range []struct {
		nodes  int
		sender *plan.Sender
		want   string
	}{
		{8, sender(t, ""), " multicast=192.0.2.1:7001 expected=8\n"},
		{2, sender(t, ""), " multicast=192.0.2.1:7001 expected=2\n"},
		{1, sender(t, ""), " multicast=192.0.2.1:7001\n"},
		{100_000, sender(t, ""), " multicast=192.0.2.1:7001 expected=65535\n"},
		{8, nil, ""},
	} {
		asked := request(node, api.BindingSpec{Image: "d12"}, image())
		asked.Facts, asked.Site.Sender, asked.Receivers = oneDisk, c.sender, c.nodes
		p, err := plan.Render(asked)
		text, wrong := plan.Encode(p)
		if err != nil || wrong != nil || !strings.Contains(text, c.want) ||
			strings.Contains(text, "multicast=") != strings.Contains(c.want, "multicast=") ||
			strings.Contains(text, "expected=") != strings.Contains(c.want, "expected=") {
			t.Errorf("%d nodes: %v %v\n%s", c.nodes, err, wrong, text)
		}
		if _, err := plan.Parse(text); err != nil {
			t.Errorf("%d nodes: a node would refuse\n%s%v", c.nodes, text, err)
		}
	}
}

func TestParseSender(t *testing.T) {
	for _, place := range []string{"", "192.0.2.1", "192.0.2.1:0", "boot:7001", "[2001:db8::1]:7001",
		"192.0.2.1:7001/000102030405060708090a0b0c0d0e0f"} {
		if _, err := plan.ParseSender(place, ""); err == nil || !strings.Contains(err.Error(), "ADDRESS:PORT") {
			t.Errorf("%q: %v", place, err)
		}
	}
	file := filepath.Join(t.TempDir(), "secret")
	for _, secret := range []string{"", "too short", strings.Repeat("long", 1025), strings.Repeat("\x00", 32)} {
		if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := plan.ParseSender("192.0.2.1:7001", file); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("secret of %d bytes: %v", len(secret), err)
		}
	}
	if _, err := plan.ParseSender("192.0.2.1:7001", file+".missing"); err == nil {
		t.Error("a secret that does not exist is taken")
	}
}
