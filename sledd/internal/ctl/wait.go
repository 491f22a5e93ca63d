// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/live"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// forSatisfied is what wait waits for by default.
const forSatisfied = "satisfied"

func (a *app) waitCommand() *cobra.Command {
	w, state := &watch{app: a, wait: true, every: pollEvery, view: quietView{}}, ""
	command := &cobra.Command{
		Use: "wait [NODE...]", Short: "Wait until nodes are as requested, or in a phase",
		Long: `Waits until the bindings of all nodes are satisfied, or with --for until all
nodes are in a phase, and prints nothing meanwhile. If a node fails, or the time
of --timeout is over, it prints the reason and exits with code 1.

For progress bars, see sledctl watch --wait.`,
		Example: `  sledctl wait n1 n2 --timeout 20m
  sledctl wait n3 --for idle
  sledctl wait -l rack=a`,
		ValidArgsFunction: a.completeNodes, Annotations: printsNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if len(args) == 0 && len(w.filter.Labels) == 0 {
				return usagef("expected names of nodes, or --label")
			}
			if w.judge, err = judgeFor(state); err != nil {
				return err
			}
			if w.client, err = a.client(); err != nil {
				return err
			}
			w.names = args
			if err := w.run(cmd.Context()); err != nil {
				return err
			}
			return a.show(w.nodes, func() {
				for _, node := range w.nodes {
					a.Say(a.Out, "%s is %s", wording.NodeName(node), a.Screen.Phase(node.Status.Phase))
				}
			})
		},
	}
	command.Flags().StringVar(&state, "for", forSatisfied, "state to wait for: satisfied or a phase, such as idle")
	command.Flags().StringArrayVarP(&w.filter.Labels, "label", "l", nil,
		"wait for all nodes with this label (repeatable; all must match)")
	command.Flags().DurationVar(&w.timeout, "timeout", 0, "give up after this time, such as 20m; default: no limit")
	_ = command.RegisterFlagCompletionFunc("for",
		cobra.FixedCompletions(append([]string{forSatisfied}, phaseNames()...), cobra.ShellCompDirectiveNoFileComp))
	return command
}

// phaseNames are the names of all phases.
func phaseNames() []string {
	var names []string
	for _, phase := range api.Phases() {
		names = append(names, string(phase))
	}
	return names
}

// judgeFor judges nodes by a state that was requested on the command line.
func judgeFor(state string) (func(api.Node) live.Verdict, error) {
	if state == forSatisfied {
		return live.Judge, nil
	}
	if !slices.Contains(phaseNames(), state) {
		return nil, usagef("--for %q: expected %s or a phase: %s", state, forSatisfied, strings.Join(phaseNames(), ", "))
	}
	return func(n api.Node) live.Verdict {
		switch {
		case n.Status.Phase == api.Phase(state):
			return live.Done
		case n.Status.Phase == api.Failed:
			return live.Failed
		}
		return live.Pending
	}, nil
}

// quietView shows nothing.
type quietView struct{}

func (quietView) Draw([]api.Node, error) {}

func (quietView) End() {}
