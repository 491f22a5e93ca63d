// SPDX-License-Identifier: Apache-2.0

package double

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// kept returns a file of the system that is installed: on the disk, or in the fetched root.
func (n *node) kept(name string) string {
	if n.memory == nil {
		return n.read(name)
	}
	return n.memory[name]
}

// keep stores one.
func (n *node) keep(name, content string) error {
	if n.memory == nil {
		return n.write(name, content)
	}
	n.memory[name] = content
	return nil
}

// own is a payload: it confirms as the plan states, then runs until it is switched off. Nil: it restarts the machine.
func (n *node) own(ctx context.Context, confirm string) error {
	hangs, err := n.count("hang_at_kexec", n.Settings.HangAtKexec)
	if err != nil {
		return err
	}
	n.say("payload starts")
	if err := n.write("ran", n.read("ran")+"kernel\n"); err != nil {
		return err
	}
	if err := pause(ctx, seconds(n.Settings.Payload.Seconds)); err != nil {
		return err
	}
	if hangs {
		n.say("hangs: hang_at_kexec")
	} else if n.Settings.Payload.Back {
		return nil
	} else if err := n.up(ctx, confirm); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err() //nolint:wrapcheck // switched off
}

// up confirms that the payload runs.
func (n *node) up(ctx context.Context, confirm string) error {
	if text := n.Settings.Payload.Prints; text != "" {
		n.say("%s", text)
	}
	if confirm != "" {
		_, token, _ := strings.Cut(confirm, "/up/")
		if exit := n.Settings.Payload.Exit; exit != 0 {
			token += fmt.Sprintf("?exit=%d", exit)
		}
		status, text, err := n.ask(ctx, http.MethodGet, "/up/"+token, "", "")
		if err != nil {
			return err
		}
		if status != http.StatusOK {
			return fmt.Errorf("up: %d: %s", status, text)
		}
	}
	n.say("payload confirms")
	if n.Confirmed != nil {
		n.Confirmed()
	}
	return nil
}
