// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNodeNetwork(t *testing.T) {
	s := begin(t)
	s.Declare(1)
	file := func(name, content string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	lan := "network:\n  ethernets:\n    lan:\n      match: {macaddress: 52:54:00:77:00:01}\n"
	good := file("good.yaml", lan+"      addresses: [10.0.0.5/24]\n")
	bad := file("bad.yaml", lan+"      adresses: [10.0.0.5/24]\n")

	s.does(exitDone, "node network n1", "image\n")
	s.does(exitNotFound, "node network n1 --render networkd", "node n1 declares no network that is rendered")
	s.does(exitUsage, "node network n1 --check "+bad, "network.ethernets.lan.adresses: unknown key, want one of")
	s.does(exitDone, "node network n1 --check "+good, "n1: "+good+" can be declared\n")
	s.does(exitDone, "node network n1", "image\n") // a check changes nothing
	s.does(exitUsage, "node apply n1 --network "+bad, "unknown key")
	s.does(exitDone, "node apply n1 --network "+good, "")
	s.does(exitDone, "node get n1", " lan: sledctl node network n1\n")
	printed := file("printed.yaml", s.does(exitDone, "node network n1", "10.0.0.5/24").out)
	s.does(exitDone, "node network n1 --check "+printed, "")
	for backend, want := range map[string]string{
		"networkd": "# /etc/systemd/network/10-sled-lan.network\n", "networkmanager": "sled-lan.nmconnection\n",
		"netplan-networkd": "# /etc/netplan/90-sled.yaml\n", "netplan-networkmanager": "NetworkManager",
	} {
		got := s.does(exitDone, "node network n1 --render "+backend, want)
		if !strings.Contains(got.out, "10.0.0.5/24") {
			t.Errorf("%s: %s", backend, got.out)
		}
	}
	s.does(exitUsage, "node network n1 --render ifupdown", "want one of networkd, networkmanager")
	s.does(exitDone, "node apply n1 --network dhcp", "")
	s.does(exitDone, "node network n1", "dhcp\n")
}
