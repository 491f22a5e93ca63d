// SPDX-License-Identifier: Apache-2.0

package double

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/operand"
)

// node is a machine that is on.
type node struct {
	*Machine
	*client
	boot    string            // kernel boot id
	ticket  string            // for the next hello; empty: it starts through its firmware
	release string            // of its kernel; empty: that of the boot server
	memory  map[string]string // what a fetched root has of its files; nil: what is installed is on the disk
	due     time.Time         // of the next report of progress
}

// stockRelease is that of the kernel of the boot server.
const stockRelease = "6.1"

// timeForm is that of recorded consoles, so that the console of a double is one (sledd --console-directory).
const timeForm = "2006-01-02T15:04:05.000Z"

// Run is the machine from power-on until it is switched off. What it does goes to its console.
func (m *Machine) Run(ctx context.Context, console io.Writer) error {
	say := func(format string, a ...any) {
		_, _ = fmt.Fprintf(console, "%s %s\n", time.Now().UTC().Format(timeForm), fmt.Sprintf(format, a...))
	}
	client, err := m.client(say)
	if err != nil {
		return err
	}
	n := &node{Machine: m, client: client}
	for {
		n.boot = rand.Text()
		err := n.start(ctx)
		if errors.Is(err, errPoweroff) {
			return nil
		}
		if errors.Is(err, errJump) {
			continue
		}
		n.ticket, n.release = "", ""
		if err == nil || errors.Is(err, errToken) || errors.Is(err, errCut) {
			n.say("restarts: %v", err)
			continue
		}
		return err
	}
}

// start goes through firmware once, unless another system has started this one; it returns to restart the machine.
func (n *node) start(ctx context.Context) error {
	if n.ticket != "" {
		return n.sled(ctx)
	}
	n.memory = nil
	n.say("firmware")
	if err := pause(ctx, seconds(n.Settings.BootSeconds)); err != nil {
		return err
	}
	if n.takeBootdev() == "disk" {
		return n.system(ctx, "hang_at_reboot", n.Settings.HangAtReboot)
	}
	script, err := n.script(ctx)
	if err != nil {
		return err
	}
	if !strings.Contains(script, "/vmlinuz ") {
		return n.system(ctx, "hang_at_reboot", n.Settings.HangAtReboot)
	}
	return n.sled(ctx)
}

// sled is the Sled system.
func (n *node) sled(ctx context.Context) error {
	n.say("the Sled system, kernel %s", cmp.Or(n.release, stockRelease))
	if err := n.claim(ctx); err != nil {
		return err
	}
	return n.follow(ctx)
}

// claim states that the machine is the node, sends its facts, and waits until that is admitted.
func (n *node) claim(ctx context.Context) error {
	hello := fmt.Sprintf("hello 1\nboot id=%s nic=%s\n", n.boot, n.MAC)
	status, text, err := n.ask(ctx, http.MethodPost, "/node/v1/"+n.client.mac+"/hello", n.ticket, hello)
	n.ticket = ""
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("hello: %d: %s", status, text)
	}
	answer, err := admission.ParseAnswer(text)
	if err != nil {
		return fmt.Errorf("hello: %w", err)
	}
	n.say("sled: claim %s", answer.Code)
	claim := n.token
	if err := n.facts(ctx); err != nil || n.token != claim { // they have admitted the claim
		return err
	}
	path := fmt.Sprintf("/node/v1/%s/plan?wait=%d", n.client.mac, pollSeconds)
	for n.token == claim { // the response to the poll brings the boot token
		if _, _, err := n.ask(ctx, http.MethodGet, path, n.token, ""); err != nil {
			return err
		}
	}
	return n.facts(ctx)
}

// takeTicket requests the return ticket of a machine that starts the Sled system itself.
func (n *node) takeTicket(ctx context.Context, operands map[string]string) error {
	if operands["as"] != "system" {
		return nil
	}
	status, text, err := n.ask(ctx, http.MethodPost, "/node/v1/"+n.client.mac+"/ticket", n.token, "")
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("ticket: %d: %s", status, text)
	}
	n.ticket = strings.TrimSpace(text)
	return err
}

// errJump: the Sled system starts on another kernel, without firmware.
var errJump = errors.New("started another kernel")

// jump leaves the kernel.
func (n *node) jump(ctx context.Context, operands map[string]string) error {
	switch operands["as"] {
	case "root":
		return n.system(ctx, "hang_at_kexec", n.Settings.HangAtKexec)
	case "kernel":
		return n.own(ctx, operands["confirm"])
	}
	if n.release = ""; operands["vmlinuz"] == "" {
		n.release = n.Settings.Kernel.Release
		hangs, err := n.count("hang_at_start", n.Settings.Kernel.Hangs)
		if err != nil {
			return err
		}
		if hangs {
			n.say("hangs: kernel %s", n.release)
			<-ctx.Done()
			return ctx.Err() //nolint:wrapcheck // switched off
		}
	}
	return errJump
}

// system is the installed one: it confirms until it was heard, then runs until it is switched off.
func (n *node) system(ctx context.Context, fault string, times int) error {
	if n.memory == nil {
		n.say("starts its disk")
	}
	if n.kept("disk") == "" {
		n.say("no bootable disk")
		<-ctx.Done()
		return ctx.Err() //nolint:wrapcheck // switched off
	}
	if err := pause(ctx, seconds(n.Settings.BootSeconds)); err != nil {
		return err
	}
	hangs, err := n.count(fault, times)
	if err != nil {
		return err
	}
	if hangs {
		n.say("hangs: %s", fault)
	} else {
		stop, err := n.serveSSH(ctx)
		if err != nil {
			return err
		}
		defer stop()
		if err := n.confirm(ctx); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return ctx.Err() //nolint:wrapcheck // switched off
}

func (n *node) confirm(ctx context.Context) error {
	line, err := operand.Parse(n.kept("disk"))
	if err != nil {
		return fmt.Errorf("disk: %w", err)
	}
	installed := line.Map()
	if n.kept("confirmed") == installed["token"] {
		n.say("runs its disk")
		return nil
	}
	err = n.post(ctx, "operational", installed["token"],
		fmt.Sprintf("operational 1\ngeneration %s\nos id=debian version=12 kernel=6.1 machine_id=%s boot_id=%s uptime=8\n",
			installed["generation"], rand.Text(), n.boot))
	if errors.Is(err, errToken) {
		n.say("not heard: %v", err) // an older generation's; such a machine runs on
		return nil
	}
	if err != nil {
		return err
	}
	n.say("operational, generation %s", installed["generation"])
	if n.Confirmed != nil {
		n.Confirmed()
	}
	return n.keep("confirmed", installed["token"])
}

func (n *node) facts(ctx context.Context) error {
	dmi := operand.Line{Word: "dmi"}
	for key, value := range n.Settings.DMI {
		dmi.Operands = append(dmi.Operands, operand.Pair{Key: key, Value: value})
	}
	slices.SortFunc(dmi.Operands, func(a, b operand.Pair) int { return strings.Compare(a.Key, b.Key) })
	serial := n.Settings.Disk
	if serial == "" {
		serial = strings.ReplaceAll(n.MAC, ":", "")
	}
	lines := []operand.Line{
		{Word: "kernel", Operands: []operand.Pair{{Key: "release", Value: cmp.Or(n.release, stockRelease)},
			{Key: "uptime", Value: fmt.Sprint(n.Settings.BootSeconds)}}},
		{Word: "cpu", Operands: []operand.Pair{{Key: "model", Value: "double"}, {Key: "threads", Value: "2"},
			{Key: "arch", Value: "x86_64"}}},
		{Word: "memory", Operands: []operand.Pair{{Key: "bytes", Value: "2147483648"}}},
		dmi,
		{Word: "disk", Operands: []operand.Pair{{Key: "name", Value: "vda"}, {Key: "serial", Value: serial},
			{Key: "bytes", Value: "4294967296"}, {Key: "transport", Value: "virtio"}}},
		{Word: "nic", Operands: []operand.Pair{{Key: "name", Value: "eth0"}, {Key: "mac", Value: n.MAC}}},
	}
	body := "facts 1\nboot " + n.boot + "\n"
	for _, line := range lines {
		if len(line.Operands) == 0 {
			continue
		}
		text, err := operand.Encode(line)
		if err != nil {
			return fmt.Errorf("facts: %w", err)
		}
		body += text + "\n"
	}
	return n.post(ctx, "facts", n.token, body)
}
