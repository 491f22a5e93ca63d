// SPDX-License-Identifier: Apache-2.0

package sleddtest

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// Machine is a node, as its Sled system and the system that it installs behave.
type Machine struct {
	MAC        string // with hyphens
	Token      string // of the Sled system, admitted; empty: it boots its own disk
	Installed  string // token of the installed system, from the seed
	Boot       string // kernel boot id
	Generation int64  // of the plan that it has
	Run        int64  // of that plan; 0: given none yet in this boot
	Serial     string // of its disk

	sledd  *Sledd
	number int
	told   bool // its hardware, in this boot
}

// Machine network-boots node n<i>, or a machine of its MAC that nobody declared.
func (s *Sledd) Machine(i int) *Machine {
	s.t.Helper()
	m := &Machine{MAC: mac.Hyphens(MAC(i)), Serial: s.serial(i), sledd: s, number: i}
	m.Reboot()
	return m
}

// serial is what the declared selector of node n<i> names, else what Declare declares.
func (s *Sledd) serial(i int) string {
	node, err := s.Fleet.Node(s.t.Context(), MAC(i))
	selector := node.Disk
	if err == nil && node.Binding != nil && node.Binding.Disk != "" {
		selector = node.Binding.Disk
	}
	if serial, named := strings.CutPrefix(selector, "serial:"); named {
		return serial
	}
	return fmt.Sprintf("LAB-%04d", i)
}

// Reboot fetches the boot script. If it is for the Sled system, the machine is admitted as the node.
func (m *Machine) Reboot() {
	t := m.sledd.t
	t.Helper()
	m.Token = ""
	script := m.sledd.Ask("GET", "/boot/"+m.MAC+".ipxe", "", "")
	if script.Status != http.StatusOK {
		t.Fatalf("boot script: %d: %s", script.Status, script.Body)
	}
	if strings.Contains(script.Body, "/vmlinuz ") {
		m.Enter("")
	}
}

// Enter starts the Sled system, with a ticket unless it is empty, and is admitted as the node.
func (m *Machine) Enter(ticket string) {
	t := m.sledd.t
	t.Helper()
	m.Run, m.told, m.Boot = 0, false, fmt.Sprintf("boot-%d-%d", m.number, time.Now().UnixNano())
	node := "/node/v1/" + m.MAC
	claim := m.sledd.Ask("POST", node+"/hello", ticket, fmt.Sprintf("hello 1\nboot id=%s nic=%s\n", m.Boot, MAC(m.number)))
	if claim.Status != http.StatusOK {
		t.Fatalf("hello: %d: %s", claim.Status, claim.Body)
	}
	admitted := m.sledd.Ask("GET", node+"/plan", claim.Header.Get("Sled-Token"), "")
	if m.Token = admitted.Header.Get("Sled-Token"); m.Token == "" {
		t.Fatalf("not admitted: %d: %s; the claim: %s", admitted.Status, admitted.Body, claim.Body)
	}
}

// Say posts what a node may say, again while sledd has it wait; a token that comes back is kept.
func (m *Machine) Say(what, body string) {
	t := m.sledd.t
	t.Helper()
	m.told = m.told || what == "facts"
	token := m.Token
	if what == "operational" {
		token = m.Installed
	}
	answer := m.sledd.Ask("POST", "/node/v1/"+m.MAC+"/"+what, token, body)
	for end := time.Now().Add(patience.Limit); answer.Status == http.StatusTooManyRequests && time.Now().Before(end); {
		<-time.After(500 * time.Millisecond)
		answer = m.sledd.Ask("POST", "/node/v1/"+m.MAC+"/"+what, token, body)
	}
	if answer.Status != http.StatusNoContent {
		t.Fatalf("%s: got %d: %s", what, answer.Status, answer.Body)
	}
	m.renew(answer)
}

func (m *Machine) renew(answer Answer) {
	if token := answer.Header.Get("Sled-Token"); token != "" {
		m.Token = token
	}
}

// Facts tells a small machine's hardware.
func (m *Machine) Facts() {
	m.sledd.t.Helper()
	m.Say("facts",
		fmt.Sprintf("facts 1\nboot %s\nkernel release=6.1 uptime=9.5\ncpu model=EPYC threads=2 arch=x86_64\nmemory "+
			"bytes=2147483648\n"+
			"disk name=vda serial=%s bytes=4294967296 transport=virtio\nnic name=eth0 mac=%s\n", m.Boot, m.Serial,
			MAC(m.number)))
}

// Text is a report of some lines.
func (m *Machine) Text(lines ...string) string {
	return fmt.Sprintf("report 1\ngeneration %d run %d\nboot %s\n%s\n", m.Generation, m.Run, m.Boot,
		strings.Join(lines, "\n"))
}

// Report sends lines of a report, and has sledd store what it would keep in memory for a while.
func (m *Machine) Report(lines ...string) {
	m.sledd.t.Helper()
	m.Say("report", m.Text(lines...))
	m.sledd.nodes.StoreProgress(m.sledd.t.Context())
}

// Poll asks for a plan and waits that many seconds for it; empty when there is none. Before the first one it tells its
// hardware, as every machine does.
func (m *Machine) Poll(wait int) string {
	t := m.sledd.t
	t.Helper()
	if !m.told {
		m.Facts()
	}
	path := fmt.Sprintf("/node/v1/%s/plan?wait=%d", m.MAC, wait)
	if m.Run > 0 {
		path += fmt.Sprintf("&run=%d", m.Run)
	}
	answer := m.sledd.Ask("GET", path, m.Token, "")
	m.renew(answer)
	switch answer.Status {
	case http.StatusNoContent:
		return ""
	case http.StatusOK:
		if _, err := fmt.Sscanf(answer.Body, "plan 1\ngeneration %d run %d\n", &m.Generation, &m.Run); err != nil {
			t.Fatalf("plan: %v: %s", err, answer.Body)
		}
		return answer.Body
	default:
		t.Fatalf("plan: %d: %s", answer.Status, answer.Body)
		return ""
	}
}

// Seed fetches and unpacks the seed, and keeps the token for the installed system.
func (m *Machine) Seed() map[string]string {
	t := m.sledd.t
	t.Helper()
	answer := m.sledd.Ask("GET", "/node/v1/"+m.MAC+"/seed", m.Token, "")
	if answer.Status != http.StatusOK {
		t.Fatalf("seed: %d: %s", answer.Status, answer.Body)
	}
	files, err := unpack(answer.Body)
	if err != nil {
		t.Fatalf("seed: %v", err)
	}
	_, m.Installed, _ = strings.Cut(strings.TrimSpace(files["operational"]), " token=")
	return files
}

func unpack(text string) (map[string]string, error) {
	files := map[string]string{}
	archive := tar.NewReader(strings.NewReader(text))
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			return nil, err
		}
		files[header.Name] = string(content)
	}
}
