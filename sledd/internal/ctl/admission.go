// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

func (a *app) claimsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "claims [NODE]", Short: "List machines that claim to be a node and are not admitted",
		Long: `Prints the level of admission that the site requires of every node, and the
claims that wait: machines that state over TLS that they are a node. A MAC can
be sent by any machine on the network, so a claim is not believed. The code of a
claim is printed on the consoles of the machine that made it.

With NODE: the level that this node requires, which machine is admitted, and the
claims and alarms of this node.`,
		Example: "  sledctl claims\n  sledctl claims n1", Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return a.claimsOf(cmd.Context(), client, args[0])
			}
			list, err := client.Claims(cmd.Context())
			if err != nil {
				return err
			}
			return a.show(list.Items, func() {
				a.Site(list)
				a.Claims(list.Items)
			})
		},
	}
}

// claimsOf prints the admission of one node.
func (a *app) claimsOf(ctx context.Context, client *api.Client, node string) error {
	shown, err := client.Admission(ctx, node)
	if err != nil {
		return err
	}
	return a.show(shown, func() { a.Admission(shown) })
}

func (a *app) admitCommand() *cobra.Command {
	var within time.Duration
	var unseen, reset bool
	command := &cobra.Command{
		Use: "admit NODE [CODE]", Short: "Admit the machine that shows a code, or expect a boot",
		Long: `Admits the claim with CODE: its next request makes the machine the node, and
ends the admission of another one. Read the code on the machine itself, on its
screen or serial console: then the machine is proven to be the node.

--unseen admits the only claim of the node, without a code. Whoever was first on
the network is admitted then, so this is refused where level proven is required.

--within expects a boot: a claim within this time is admitted at level expected.

--reset states that the machine is off, or was reset by its BMC: nothing that
ran on it counts any more. A machine that changes hands needs it.`,
		Example: `  sledctl admit n1 K7QF-2M9D
  sledctl admit n1 --within 10m
  sledctl admit n1 --within 10m --reset`,
		Args: cobra.RangeArgs(1, 2), ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			switch {
			case reset && within == 0:
				return usagef("--reset needs --within: how long the boot after the reset is expected")
			case len(args) == 2 && !unseen && within == 0:
				return a.admit(cmd.Context(), client, args[0], api.AdmitSpec{CodeSpec: api.CodeSpec{Code: args[1]}})
			case len(args) == 1 && unseen:
				return a.admitUnseen(cmd.Context(), client, args[0])
			case len(args) == 1 && within > 0:
				return a.expect(cmd.Context(), client, args[0], within, reset)
			}
			return usagef("expected one of CODE, --unseen and --within; sledctl claims lists the codes")
		},
	}
	flags := command.Flags()
	flags.BoolVar(&unseen, "unseen", false, "admit the only claim; its code was not read from the machine")
	flags.DurationVar(&within, "within", 0, "expect a boot within this time, such as 10m")
	flags.BoolVar(&reset, "reset", false,
		"with --within: the machine is off or was reset, so what ran on it counts no more")
	command.MarkFlagsMutuallyExclusive("unseen", "within")
	return command
}

func (a *app) admit(ctx context.Context, client *api.Client, node string, spec api.AdmitSpec) error {
	shown, err := client.Admit(ctx, node, spec)
	if err != nil {
		return err
	}
	if code, err := admission.ParseCode(spec.Code); err == nil && slices.Contains(shown.Codes, code) {
		return a.done(shown, "more machines claim to be it than are listed; that with code "+code+
			" becomes the node by its next request")
	}
	return a.done(shown, "its next request makes the machine the node")
}

func (a *app) admitUnseen(ctx context.Context, client *api.Client, node string) error {
	shown, err := client.Admission(ctx, node)
	if err != nil {
		return err
	}
	if len(shown.Claims) != 1 {
		return usagef("%s has %d claims that wait; name the code of one: sledctl claims", wording.ClaimedName(shown),
			len(shown.Claims))
	}
	return a.admit(ctx, client, node, api.AdmitSpec{CodeSpec: api.CodeSpec{Code: shown.Claims[0].Code}, Unseen: true})
}

func (a *app) expect(ctx context.Context, client *api.Client, node string, within time.Duration, reset bool) error {
	shown, err := client.Expect(ctx, node, api.ExpectSpec{By: "operator", Seconds: int64(within / time.Second),
		Revoke: reset})
	if err != nil {
		return err
	}
	return a.done(shown, "a boot is expected within "+within.String())
}

// done prints the result of an act.
func (a *app) done(shown api.Admission, text string) error {
	return a.show(shown, func() { a.Say(a.Out, "%s: %s", wording.ClaimedName(shown), text) })
}

func (a *app) refuseCommand() *cobra.Command {
	return &cobra.Command{
		Use: "refuse NODE CODE", Short: "End a claim that waits",
		Long: `Ends a claim: its token is no longer accepted. If it was the only rival of an
admitted machine, that machine gets its secrets.`,
		Example: "  sledctl refuse n1 K7QF-2M9D", Args: cobra.ExactArgs(2), ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			shown, err := client.Refuse(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			return a.done(shown, "the claim is refused")
		},
	}
}

func (a *app) revokeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "revoke NODE", Short: "End the admission of a machine as a node",
		Long: `Ends the admission of the machine that is admitted as a node: its tokens are no
longer accepted. It may claim to be the node again.`,
		Example: "  sledctl revoke n1", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			shown, err := client.Revoke(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.done(shown, "nobody is admitted")
		},
	}
}
