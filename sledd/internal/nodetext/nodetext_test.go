// SPDX-License-Identifier: Apache-2.0

package nodetext_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sled-fleet/sled/contract/vectors"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
)

const (
	key   = nodetexttest.HostKey
	token = "sledb_525400770001_3_0123456789abcdef0123456789abcdef"
)

func TestIdentifiersAreShortPrintableASCII(t *testing.T) {
	for text, want := range map[string]bool{"": true, "LAB-0001": true, "{{ x }}": true, strings.Repeat("a", 256): true,
		strings.Repeat("a", 257): false, "a\x1b[2J": false, "é": false, "a\n": false, "a\x7f": false, "\xff": false} {
		got, err := nodetext.ParseIdentifier(text)
		if (err == nil) != want || want && got.String() != text {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestProseIsPrintable(t *testing.T) {
	for text, want := range map[string]bool{"": true, "50 % über 磁盘": true, strings.Repeat("ü", 512): true,
		strings.Repeat("a", 513): false, "a\x1b": false, "a\u009b": false, "\u202ea": false, "\u200b": false,
		"\ue000": false, "\u2028": false, "\u2029": false, "\xff": false, "\xed\xa0\x80": false, "a\nb": false} {
		got, err := nodetext.ParseProse(text)
		if (err == nil) != want || want && got.String() != text {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestAddressesAreThoseOfOtherMachines(t *testing.T) {
	for text, want := range map[string]string{"10.77.0.50": "10.77.0.50", "2001:DB8:0::1": "2001:db8::1",
		"192.0.2.1": "192.0.2.1", "": "", "127.0.0.2": "", "::1": "", "0.0.0.0": "", "0.1.2.3": "", "240.0.0.1": "",
		"255.255.255.255": "", "224.0.0.1": "", "ff02::1": "", "fe80::1": "", "fe80::1%eth0": "", "169.254.0.1": "",
		"2001:db8::1%eth0": "", "::ffff:10.0.0.1": "", "10.0.0.1/24": "", "10.0.0.1:22": "", "localhost": "",
		"-oProxyCommand=x": "", "010.0.0.1": "", "2130706433": ""} {
		got, err := nodetext.ParseAddress(text)
		if got.String() != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// Keys of other algorithms; that of 1,024 bits is too short.
const (
	ecdsaKey = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBFsW6GZhwdZ8wBAkjvViTi/qIdbZ" +
		"dnt7V9cJse6yO8XGelKektUWKrWqGblLz0ImcbF5ViW8bWKTOaM04rJEP6k="
	rsaKey = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQDAq/4fQu3xVKeokRSNmvcs+x9tLx6xJCTvE7p/BiF5PI+2jag3THRCIX942Wr9" +
		"n7OoqZvHeUMDFFffG1GILDuqF2ePrkfR+B4qoCGiJP0oCy6JXx3nbTvLXlfP6+DHFmVC51du7fDUOAZFPkmyuCsHyBm5oPBbYmTq" +
		"iatky+bdJ3XBbfwwtNhiULi733AfB9QeUYA3SROocSEBdm7a97Qjlu0yP+nko2MtG6ZKTFRTbT5CIX+bfYZC6qxvw+LNZLSWXf2w" +
		"dntH0FQAXAMvLXgwJzHjMY1KzAtnYZPjdLHbYZJpaDAvrGhNZMr2CerhFtiF8EJSqaL3lqMgrHaQpoltcrEbMik9il9Ty3RuQHl2" +
		"pAadRzbJ00F0qtOzXYkA5x+tCmkkIEYoGQMJKUE7MZxGih+hRmNfVMnLJ9k7ltxReOGvv9XvHo3CZaoH69hPsF/TKnsGev8labk9" +
		"leUWULMOLH8a33vZOv5jbw6UlzbaxY6qKOOOJ2dQaA1+4uoYPmE="
	dsaKey = "ssh-dss AAAAB3NzaC1kc3MAAACBAIr6u3sryxt5Wvu+6fYeEO2bPP9fSTSAzfgJbuCZgNqySPlWgUytQ/O25vYQFmXFMalYV8Jj" +
		"qDuFrD42INtrrqN6S49Ryu2syQX3hRWfMoApu3dQz4CxCqLpRFzOnE9eiiCDuN1onZnLb5A1zGpJFI+NFzKKJNlhQKETBEOF3CUf" +
		"AAAAFQDlFKt9Fvf5whd2QeKF1scL1K19qwAAAIEAgUhUIGXGkC1oNcx3ThHKnZFl65DVmiq5A4xUYVM9H5IfipMCJPTekPtNT8da" +
		"99wwJj8UnxvLP+/4UX9BR4GbfVUwQMC69fuSY547S5NLrdRZ/5J1u8iJ0XErJdno7ftgN1XWMLWkmxoOVUJpTyusk6qa6FOoY88Z" +
		"NXuhlT2pRlIAAACAZgwOymW0+Hdk9Y/12VHyBtOleaulh4a7GhjMl12wkH1ZpxEruQ7fuFOAhAit5Hs1kpeebyVBzgYVtoKH3d74" +
		"BVPxytPOyq1vocdoeqtDLGcJpcU+86yKrBhSaol7wilTfoYWx2UJZyCaYWGGGoQugrGFDObHSfwctxmMwsE+E1s="
	shortKey = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQCj4ovudcOJDbjeroyKwfrH+dJlZ32LORxaPKX+1TLVeXr2kRrgKzgpOO55pV54" +
		"Fes2jFOir4JIeZpOqn64h9j5MqqNGJ2ee3Vz7fI5xd9OVgO3Zy/66sLcWVOT4ze32K7uF9f4RvA7ImI5qj8PMUIHfmh1CbCIJYvh" +
		"IAOm8PZt7w=="
)

func TestHostKeysHaveOneForm(t *testing.T) {
	for _, text := range []string{ecdsaKey, rsaKey} {
		if got, err := nodetext.ParseHostKey(text); err != nil || got.String() != text {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	got, err := nodetext.ParseHostKey(key)
	if err != nil || got.String() != key ||
		got.Fingerprint().String() != "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU" {
		t.Errorf("%q, %s, %v", got, got.Fingerprint(), err)
	}
	for _, text := range []string{"", "ssh-ed25519", "ssh-ed25519 AAAA", key + " root@evil", key + "\n",
		key + "\n* " + key,
		strings.Replace(key, "AAAAC3", "AAAA\nC3", 1), strings.Replace(key, "ssh-", "ssh-rsa ssh-", 1), key + "=",
		" " + key, key[:len(key)-4], key + "AAAA", ecdsaKey + "=", rsaKey[:len(rsaKey)-4],
		strings.Replace(ecdsaKey, "ecdsa-sha2-nistp256", "ssh-ed25519", 1), dsaKey, shortKey} {
		if got, err := nodetext.ParseHostKey(text); err == nil || !got.IsZero() {
			t.Errorf("%q was read as %q", text, got)
		}
	}
}

func TestDigests(t *testing.T) {
	good := "sha256:" + strings.Repeat("8f", 32)
	if got, err := nodetext.ParseDigest(good); err != nil || got.String() != good {
		t.Errorf("%q, %v", got, err)
	}
	for _, text := range []string{"", good + "0", good + "\n", strings.ToUpper(good), "md5:" + good[7:]} {
		if got, err := nodetext.ParseDigest(text); err == nil {
			t.Errorf("%q was read as %q", text, got)
		}
	}
}

// record has what an earlier version may have stored.
type record struct {
	Identifier nodetext.Identifier            `json:"identifier,omitzero"`
	Prose      nodetext.Prose                 `json:"prose,omitzero"`
	Address    nodetext.Address               `json:"address,omitzero"`
	HostKey    nodetext.HostKey               `json:"host_key,omitzero"`
	Digest     nodetext.Digest                `json:"digest,omitzero"`
	Raw        nodetext.Raw                   `json:"raw,omitzero"`
	Facts      map[string]nodetext.Identifier `json:"facts,omitempty"`
}

func TestStoredRecordsAreReadableAndCleaned(t *testing.T) {
	stored := `{"identifier":"a\u001bé","prose":"a\u202e\nb ` + token + `","address":"10.0.0.1;x",` +
		`"host_key":"ssh-rsa A",` +
		`"digest":"x","raw":"a\u001b[2Jb\r\n` + token + `","facts":{"serial":"\u0007x","wwn":""}}`
	want := `{"identifier":"a??","prose":"a? b [token]","raw":"ab\n[token]","facts":{"serial":"?x","wwn":""}}`
	var read record
	if err := json.Unmarshal([]byte(stored), &read); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(read)
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	if empty, err := json.Marshal(record{}); err != nil || string(empty) != "{}" {
		t.Errorf("%s, %v", empty, err)
	}
}

func TestATextThatWasCutHasNoHalfOfALine(t *testing.T) {
	if got := nodetext.Tail([]byte("0123456789abcdef quiet\nnext\n")); string(got) != "next\n" {
		t.Errorf("%q", got)
	}
}

func TestHostileTextIsCleaned(t *testing.T) {
	for _, c := range vectors.Cases(t, "report/hostile/text", 7) {
		text := []byte(c.Text)
		if found := nodetexttest.Unsafe(nodetext.RawOf(text).String(), "\n\t"); found != "" {
			t.Errorf("%s has %s: %q", c.Name, found, nodetext.RawOf(text))
		}
	}
	const written = "one\x1b[2Jtwo\r\n\x1b]0;title\x07three \u009b\x00"
	if got := nodetext.RawOf([]byte(written)).String(); got != "onetwo\nthree ??" {
		t.Errorf("%q", got)
	}
}

func FuzzText(f *testing.F) {
	for _, text := range []string{"", "a", key, token, "10.0.0.1", "\x1b[2J", "\x1b\x1b[0m[0m", "\u202e", "\xff",
		"sledb_\x1b[0m0123456789abcdef0123", "sledb_\r0123456789abcdef0123", "sledsledb_0123456789abcdef0123b_0123"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		identifier, errIdentifier := nodetext.ParseIdentifier(text)
		prose, errProse := nodetext.ParseProse(text)
		address, errAddress := nodetext.ParseAddress(text)
		hostKey, errKey := nodetext.ParseHostKey(text)
		digest, errDigest := nodetext.ParseDigest(text)
		for _, one := range []struct {
			parsed string
			err    error
			most   int
		}{{identifier.String(), errIdentifier, 256}, {prose.String(), errProse, 512}, {address.String(), errAddress,
			64},
			{hostKey.String(), errKey, 560}, {digest.String(), errDigest, 71},
			{nodetext.CleanIdentifier(text).String(), nil, 256}, {nodetext.Clean(text).String(), nil, 2048}} {
			if found := nodetexttest.Unsafe(one.parsed, ""); found != "" ||
				utf8.RuneCountInString(one.parsed) > one.most {
				t.Fatalf("%q became %q: %s", text, one.parsed, found)
			}
			if one.err != nil && (one.parsed != "" || nodetexttest.Unsafe(one.err.Error(), "") != "") {
				t.Fatalf("%q: %q, %v", text, one.parsed, one.err)
			}
		}
		raw := nodetext.RawOf([]byte(text)).String()
		if found := nodetexttest.Unsafe(raw, "\n\t"); found != "" || nodetext.RawOf([]byte(raw)).String() != raw {
			t.Fatalf("%q became %q: %s", text, raw, found)
		}
	})
}
