// SPDX-License-Identifier: Apache-2.0

package network_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/contract/vectors"
	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/network"
)

func TestGoodDocumentsHaveOneCanonicalForm(t *testing.T) {
	for _, c := range vectors.Cases(t, "network/ok", 60) {
		canonical, err := network.Canonical(api.Network(c.Text))
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if again, err := network.Canonical(canonical); err != nil || again != canonical {
			t.Errorf("%s: %s, then %s (%v)", c.Name, canonical, again, err)
		}
	}
}

func TestBadDocumentsHaveTheirMessages(t *testing.T) {
	seen := map[string]string{}
	for _, c := range vectors.Cases(t, "network/bad", 40) {
		document, want, _ := strings.Cut(c.Text, "\n")
		_, err := network.Canonical(api.Network(document))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", c.Name, err, want)
		}
		if other, twice := seen[want]; twice {
			t.Errorf("%s has the message of %s", c.Name, other)
		}
		seen[want] = c.Name
	}
}

func TestMeaningsAreCompared(t *testing.T) {
	lan := func(rest string) api.Network {
		return api.Network(`{"ethernets": {"lan": {"match": {"macaddress": "52:54:00:77:00:01"}` + rest + `}}}`)
	}
	for _, same := range [][2]string{
		{`, "addresses": ["10.0.0.5/24"], "gateway4": "10.0.0.1"`,
			`, "routes": [{"via": "10.0.0.1", "to": "default"}], "addresses": ["10.0.0.5/24"]`},
		{`, "addresses": ["FD00:0::5/64"], "gateway6": "fe80::0:1"`,
			`, "addresses": ["fd00::5/64"], "routes": [{"to": "::/0", "via": "fe80::1", "on-link": false}]`},
		{`, "dhcp6": true, "accept-ra": true, "optional": false`, `, "dhcp6": true, "routes": []`},
		{`, "accept-ra": false`, ``},
	} {
		one, err := network.Canonical(lan(same[0]))
		other, fault := network.Canonical(lan(same[1]))
		if err != nil || fault != nil || one != other {
			t.Errorf("%s (%v)\n%s (%v)", one, err, other, fault)
		}
	}
}

func TestNamesOfADocument(t *testing.T) {
	names, err := network.NamesIn(`{"ethernets": {"b": {"match": {"macaddress": "52:54:00:77:00:02"},
		"addresses": ["fe80::1/64", "10.0.0.5/24"]}, "a": {"match": {"macaddress": "52-54-00-77-00-01"}}}}`)
	if err != nil || strings.Join(names.MACs, " ") != "52:54:00:77:00:01 52:54:00:77:00:02" ||
		len(names.Addresses) != 1 || names.Addresses[0].String() != "10.0.0.5" {
		t.Errorf("%v (%v)", names, err)
	}
}

func TestFilesOfNetplan(t *testing.T) {
	document := "ethernets: {a: {match: {macaddress: '52:54:00:77:00:01'}}}"
	found, err := network.FromFile([]byte("network: {" + document + "}"))
	if err == nil {
		_, err = network.Canonical(found)
	}
	if err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		document: `want a file of netplan, with one key, network, and got "ethernets"`, "network: dhcp": "want a mapping",
		"network: {}\na: b": "with one key", "a: [": "neither YAML nor JSON", "- a": "and got none"} {
		if _, err := network.FromFile([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, table := range []string{"network/ok", "network/bad"} {
		for _, c := range vectors.Cases(f, table, 40) {
			document, _, _ := strings.Cut(c.Text, "\n")
			f.Add(document)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		canonical, err := network.Canonical(api.Network(text))
		if err != nil {
			return
		}
		if again, err := network.Canonical(canonical); err != nil || again != canonical {
			t.Errorf("%q: %q, then %q (%v)", text, canonical, again, err)
		}
		if _, err := network.NamesIn(canonical); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}
