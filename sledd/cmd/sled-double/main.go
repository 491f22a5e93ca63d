// SPDX-License-Identifier: Apache-2.0

// Command sled-double is a machine without hardware, for tests of fleets: see package double.
package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/internal/double"
)

func main() {
	// Signals end a rack with its programs. Without them, a machine that only waits for its button would be a deadlock.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sled-double:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:           "sled-double",
		Short:         "A machine without hardware, for tests of fleets",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(&cobra.Command{
		Use:   "power DIR MAC on|off|cycle|reset|status|bootdev [pxe|disk]",
		Short: "Switch the power of a double; its settings are DIR/defaults.yaml and DIR/<mac>.yaml",
		Args:  cobra.RangeArgs(3, 4),
		RunE: func(cmd *cobra.Command, words []string) error {
			machine, err := double.Open(words[0], words[1])
			if err != nil {
				return err //nolint:wrapcheck // clear enough
			}
			return power(cmd, machine, words[2], words[3:])
		},
	}, &cobra.Command{
		Use:    "run DIR MAC",
		Short:  "Run the machine until it is switched off; started by `power on`",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, words []string) error {
			machine, err := double.Open(words[0], words[1])
			if err != nil {
				return err //nolint:wrapcheck // clear enough
			}
			return machine.Run(cmd.Context(), cmd.OutOrStdout()) //nolint:wrapcheck // clear enough
		},
	})
	root.AddCommand(rack())
	return root
}

// rack is for tests of fleets that no machine could hold as processes.
func rack() *cobra.Command {
	one := double.Rack{}
	var certificate, key string
	command := &cobra.Command{
		Use:   "rack DIR",
		Short: "Run all doubles of DIR in one process, each behind a BMC that speaks Redfish at its bmc.address",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			pair, err := tls.LoadX509KeyPair(certificate, key)
			if err != nil {
				return fmt.Errorf("rack: %w", err)
			}
			one.Dir, one.Certificate = words[0], pair
			return one.Run(cmd.Context(), func(bmcs int) { //nolint:wrapcheck // clear enough
				_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%d BMCs listen\n", bmcs)
			})
		},
	}
	command.Flags().IntVar(&one.Port, "port", 443, "TCP port of each BMC")
	command.Flags().IntVar(&one.Buttons, "buttons", 0, "TCP port on 127.0.0.1 of the power buttons: POST /MAC/on|off")
	command.Flags().StringVar(&certificate, "tls-cert", "", "certificate of all BMCs")
	command.Flags().StringVar(&key, "tls-key", "", "its key")
	return command
}

//nolint:wrapcheck // errors of double say enough
func power(cmd *cobra.Command, machine *double.Machine, verb string, rest []string) error {
	if (verb == "bootdev") != (len(rest) == 1) {
		return fmt.Errorf("%s %q: only bootdev takes one more word, pxe or disk", verb, rest)
	}
	on, err := machine.IsOn()
	if err != nil {
		return err
	}
	switch verb {
	case "on":
		return switchOn(machine)
	case "off":
		return machine.Off()
	case "cycle", "reset":
		if verb == "reset" && !on {
			return fmt.Errorf("reset: %s is off: use on or cycle", machine.MAC)
		}
		if err := machine.Off(); err != nil {
			return err
		}
		return switchOn(machine)
	case "status":
		_, err := fmt.Fprintln(cmd.OutOrStdout(), map[bool]string{true: "on", false: "off"}[on])
		return err
	case "bootdev":
		return machine.Bootdev(rest[0])
	default:
		return fmt.Errorf("%q: want on, off, cycle, reset, status or bootdev", verb)
	}
}

func switchOn(machine *double.Machine) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("switch on: %w", err)
	}
	return machine.On(self, "run", machine.Dir, machine.MAC) //nolint:wrapcheck // clear enough
}
