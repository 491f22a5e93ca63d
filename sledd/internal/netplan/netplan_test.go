// SPDX-License-Identifier: Apache-2.0

package netplan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/contract/vectors"
	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/netplan"
	"github.com/sled-fleet/sled/sledd/network"
)

func canonicalOf(t *testing.T, document string) api.Network {
	t.Helper()
	canonical, err := network.Canonical(api.Network(document))
	if err != nil {
		t.Fatal(err)
	}
	return canonical
}

func render(t *testing.T, document string) api.RenderedNetwork {
	t.Helper()
	rendered, err := netplan.Render(t.Context(), netplan.Generator, canonicalOf(t, document))
	if err != nil {
		t.Fatal(err)
	}
	return rendered
}

func TestEveryDocumentIsRendered(t *testing.T) {
	nmcli, err := exec.LookPath("nmcli")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range vectors.Cases(t, "network/ok", 60) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			rendered := render(t, c.Text)
			for _, file := range rendered.NetworkManager {
				if path.Ext(file.Path) == ".nmconnection" && (i%8 == 0 || os.Getenv("LONG") != "") {
					loads(t, nmcli, file)
				}
			}
		})
	}
}

// loads checks that NetworkManager reads a profile.
func loads(t *testing.T, nmcli string, file api.NetworkFile) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "profile")
	if err := os.WriteFile(name, []byte(file.Content), 0o600); err != nil {
		t.Fatal(err)
	}
	profile, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer profile.Close()
	command := exec.CommandContext(t.Context(), nmcli, "--offline", "connection", "modify", "connection.autoconnect",
		"yes")
	command.Stdin = profile
	if out, err := command.CombinedOutput(); err != nil || strings.Contains(string(out), "Warning") {
		t.Errorf("%s: %v\n%s\n%s", file.Path, err, out, file.Content)
	}
}

// rich are the documents that have every key together.
var rich = []string{"vlan_of_bond", "bond_lacp", "bond_primary", "bond_macaddress", "bond_mtu", "bridge_parameters",
	"bridge_mtu", "dhcp_both_overridden", "dhcp_without_routes", "set_name", "optional", "accept_ra", "two_metrics",
	"gateway4", "gateway6", "gateway_off_link", "vlans_of_one_port"}

// deletions calls back with each key of a document deleted in turn.
func deletions(at string, value any, each func(key string)) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			inner := value[key]
			delete(value, key)
			each(at + "." + key)
			value[key] = inner
			deletions(at+"."+key, inner, each)
		}
	case []any:
		for i, inner := range value {
			deletions(fmt.Sprintf("%s[%d]", at, i), inner, each)
		}
	}
}

// TestNoKeyIsDropped deletes each key: the files change for both renderers, or the rest is refused, or means the same.
func TestNoKeyIsDropped(t *testing.T) {
	for _, c := range vectors.Cases(t, "network/ok", 60) {
		if !slices.Contains(rich, c.Name) {
			continue
		}
		var document map[string]any
		if err := json.Unmarshal([]byte(c.Text), &document); err != nil {
			t.Fatal(err)
		}
		whole, canonical := render(t, c.Text), canonicalOf(t, c.Text)
		deletions(c.Name, document, func(key string) {
			rest, err := json.Marshal(document)
			if err != nil {
				t.Fatal(err)
			}
			other, err := network.Canonical(api.Network(rest))
			if err != nil || other == canonical {
				return
			}
			found := render(t, string(rest))
			if reflect.DeepEqual(found.Networkd, whole.Networkd) {
				t.Errorf("%s has no effect for systemd-networkd", key)
			}
			same := reflect.DeepEqual(found.NetworkManager, whole.NetworkManager)
			if same && path.Ext(key) != ".optional" { // it waits for no interface
				t.Errorf("%s has no effect for NetworkManager", key)
			}
		})
	}
}

func TestGeneratorsThatFail(t *testing.T) {
	document := canonicalOf(t, vectors.Cases(t, "network/ok", 60)[0].Text)
	for script, want := range map[string]string{
		"exit 3": "exit status 3", "echo left out >&2": "left out", "": "made no files"} {
		generator := filepath.Join(t.TempDir(), "generate")
		if err := os.WriteFile(generator, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := netplan.Render(t.Context(), generator, document); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", script, err)
		}
	}
	_, err := netplan.Render(t.Context(), filepath.Join(t.TempDir(), "none"), document)
	if !errors.Is(err, netplan.ErrMissing) {
		t.Error(err)
	}
}
