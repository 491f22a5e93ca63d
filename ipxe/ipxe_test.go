// SPDX-License-Identifier: Apache-2.0

package ipxe_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/ipxe"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got\n%s", path, got)
	}
}

func TestNodeScript(t *testing.T) {
	got, err := ipxe.Node(ipxe.NodeValues{MAC: "52:54:00:77:00:01", System: "/sled/cloud",
		Arguments: "sled.mac=52:54:00:77:00:01 sled.servers=https://10.77.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "node.ipxe", got)
}

func TestErrorScriptShowsNothingThatIsInterpreted(t *testing.T) {
	got, err := ipxe.Error("bad ${net0/mac} || shell && reboot\n#!ipxe\tä")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "error.ipxe", got)
}

// Commands that iPXE of 2019 has in every build; an unknown one would end the script.
var commands = map[string]bool{"set": true, "inc": true, "echo": true, "imgfree": true, "kernel": true, "initrd": true,
	"boot": true, "sleep": true, "iseq": true, "isset": true, "goto": true, "reboot": true, "sanboot": true,
	"chain": true, "dhcp": true, "ifopen": true, "exit": true}

// Commands that fail in the field and so must say where to go on.
var network = map[string]bool{"kernel": true, "initrd": true, "boot": true, "sanboot": true, "chain": true,
	"dhcp": true, "ifopen": true}

func TestScriptsKeepTheRules(t *testing.T) {
	node, err := ipxe.Node(ipxe.NodeValues{MAC: "m", System: "s", Arguments: "a"})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"boot": ipxe.Boot, "local": ipxe.Local, "fallback": ipxe.Fallback,
		"node": node} {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if lines[0] != "#!ipxe" || len(lines) > 30 {
			t.Errorf("%s: begins with %q and has %d lines", name, lines[0], len(lines))
		}
		labels := map[string]bool{}
		for _, line := range lines {
			if strings.HasPrefix(line, ":") {
				labels[line[1:]] = true
			}
		}
		for i, line := range lines[1:] {
			if strings.HasPrefix(line, "#") || strings.HasPrefix(line, ":") {
				continue
			}
			words := strings.Fields(line)
			if !commands[words[0]] {
				t.Errorf("%s: line %d: %s is not a command of every iPXE", name, i+2, words[0])
			}
			if network[words[0]] && !strings.Contains(line, "|| goto ") {
				t.Errorf("%s: line %d: no way on when it fails: %s", name, i+2, line)
			}
			for at, word := range words[:len(words)-1] {
				if word == "goto" && !labels[words[at+1]] {
					t.Errorf("%s: line %d: there is no :%s", name, i+2, words[at+1])
				}
			}
		}
		if last := strings.Fields(lines[len(lines)-1])[0]; last != "reboot" && last != "exit" {
			t.Errorf("%s ends with %s", name, last)
		}
	}
	if strings.Contains(ipxe.Local, "exit 0") || !strings.HasSuffix(ipxe.Local, "exit 1\n") {
		t.Error("local: exit 0 stops UEFI in its setup screen; it must be exit 1")
	}
}
