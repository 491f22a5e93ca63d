// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/internal/wording"
)

const (
	// unasked is how many nodes are imaged again, or wiped if they were not named, where nobody can be asked and no limit
	// is set.
	unasked = 1
	// previewLines of a change are shown before it is made; --dry-run shows all.
	previewLines = 20
)

// consent decides whether a change is made, after its effect was shown.
type consent struct {
	yes, dryRun bool
	limit       int  // of nodes that are imaged again
	wipes       int  // limit of nodes whose disks are wiped, first images included
	unnamed     bool // the nodes were selected, such as by a label
	flags       interface{ Changed(string) bool }
}

// preview is the effect of a change that was not made yet.
type preview struct {
	lines    []string // for each node that loses something or gets an image, and warnings
	more     []string // what else changes, and what stays; for --dry-run
	sum      string   // over all lines
	question string   // asked on a terminal; empty: nothing is lost
	again    []string // names of nodes that are imaged again
	wiped    int      // nodes whose disks are wiped
}

func (c *consent) define(command *cobra.Command) {
	c.flags = command.Flags()
	command.Flags().BoolVarP(&c.yes, "yes", "y", false, "do not ask")
	command.Flags().BoolVar(&c.dryRun, "dry-run", false, "show what would be changed, and change nothing")
}

// defineLimits adds the limits of nodes that are wiped, and of those that are imaged again.
func (c *consent) defineLimits(command *cobra.Command) {
	command.Flags().IntVar(&c.wipes, "max-wipes", 0,
		"maximum number of nodes whose disks are wiped, first images included; default: no limit, "+
			"with --label as --max-reimages")
	command.Flags().IntVar(&c.limit, "max-reimages", unasked,
		"maximum number of nodes that are imaged again; does not apply to --yes or a terminal, unless it is set")
}

func (c *consent) check() error {
	if c.limit < 0 {
		return usagef("--max-reimages %d: expected 0 or more", c.limit)
	}
	if c.wipes < 0 {
		return usagef("--max-wipes %d: expected 0 or more", c.wipes)
	}
	return nil
}

// checkLimits refuses a change that affects more nodes than is allowed.
func (c *consent) checkLimits(a *app, p preview) error {
	reimages, wipes := c.flags.Changed("max-reimages"), c.flags.Changed("max-wipes")
	alone := !c.yes && !a.Interactive && !reimages && !wipes
	if (reimages || alone) && len(p.again) > c.limit {
		return heldBackError{fmt.Errorf("%s would be imaged again, --max-reimages is %d: nothing was changed\n"+
			"list them with --dry-run, then repeat with --max-reimages %d or --yes",
			wording.Nodes(len(p.again)), c.limit, len(p.again))}
	}
	most := c.wipes
	if alone {
		most = unasked
	}
	if (wipes || alone && c.unnamed) && p.wiped > most {
		return heldBackError{fmt.Errorf("%s would be wiped, --max-wipes is %d: nothing was changed\n"+
			"list them with --dry-run, then repeat with --max-wipes %d", wording.Nodes(p.wiped), most, p.wiped)}
	}
	return nil
}

// heldBackError is a change that was not made.
type heldBackError struct{ error }

// obtain shows the effect of a change. It returns an error unless the change may be made.
func (c *consent) obtain(ctx context.Context, a *app, p preview) error {
	a.printPreview(a.Err, p, previewLines)
	if err := c.checkLimits(a, p); err != nil {
		return err
	}
	if c.yes || !a.Interactive || p.question == "" {
		return nil
	}
	_, _ = fmt.Fprintf(a.Err, "%s%s [y/N] ", p.question, a.inContext())
	answer, err := readAnswer(ctx, a.In)
	if err != nil {
		_, _ = fmt.Fprintln(a.Err)
		return err
	}
	if !slices.Contains([]string{"y", "yes"}, strings.ToLower(answer)) {
		return fmt.Errorf("not confirmed: nothing was changed")
	}
	return nil
}

// readAnswer reads one line. The end of the input is an empty answer.
func readAnswer(ctx context.Context, in io.Reader) (string, error) {
	answered := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n')
		answered <- strings.TrimSpace(line)
	}()
	select {
	case answer := <-answered:
		return answer, nil
	case <-ctx.Done():
		return "", fmt.Errorf("interrupted: nothing was changed")
	}
}

// printPreview writes a preview with at most this many lines; 0: with all, and with what changes beside.
func (a *app) printPreview(w io.Writer, p preview, most int) {
	if p.sum != "" {
		_, _ = fmt.Fprintln(w, a.Screen.Hang(p.sum, 2))
	}
	lines := p.lines
	if most > 0 && len(lines) > most {
		lines = append(slices.Clone(lines[:most]), fmt.Sprintf("and %d more: --dry-run lists all", len(lines)-most))
	} else if most == 0 {
		lines = slices.Concat(lines, p.more)
	}
	for _, line := range lines {
		_, _ = fmt.Fprintln(w, a.Screen.Hang("  "+line, 4))
	}
}
