// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

// lossFunc checks with a dry run that an object can be deleted, and returns a line about what is lost with it.
type lossFunc func(ctx context.Context, client *api.Client, name string, options ...api.Option) (string, error)

// deletion is one run of a delete command.
type deletion[T any] struct {
	*resource[T]
	app     *app
	client  *api.Client
	options []api.Option
	consent consent
}

// deleteCommand deletes each name and prints it; one that fails does not stop the others.
func (r *resource[T]) deleteCommand(a *app, use, short, long string) *cobra.Command {
	terms := func() []api.Option { return nil }
	d := &deletion[T]{resource: r, app: a}
	command := &cobra.Command{
		Use: use + " " + r.placeholder + "...", Short: short, Long: long, Example: "  " + r.examples.remove,
		Args: cobra.MinimumNArgs(1), ValidArgsFunction: r.complete,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if d.client, err = a.client(); err != nil {
				return err
			}
			d.options = terms()
			return d.run(cmd.Context(), args)
		},
	}
	if r.terms != nil {
		terms = r.terms(command)
	}
	if r.loss != nil {
		d.consent.define(command)
	}
	return command
}

// run shows what is lost, and deletes what can be deleted if that is agreed to.
func (d *deletion[T]) run(ctx context.Context, names []string) error {
	var failed []error
	if d.loss != nil {
		var shown preview
		names, shown, failed = d.preview(ctx, names)
		if d.consent.dryRun {
			d.app.printPreview(d.app.Out, shown, 0)
			return errors.Join(failed...)
		}
		if err := d.consent.obtain(ctx, d.app, shown); err != nil {
			return errors.Join(append(failed, err)...)
		}
	}
	for _, name := range names {
		if err := d.remove(ctx, d.client, name, d.options...); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
			continue
		}
		_, _ = fmt.Fprintf(d.app.Err, "%s %s deleted\n", d.noun, name)
	}
	return errors.Join(failed...)
}

// preview returns the names of objects that can be deleted, what is lost with them, and why the others cannot.
func (d *deletion[T]) preview(ctx context.Context, names []string) (deletable []string, p preview, failed []error) {
	for _, name := range names {
		line, err := d.loss(ctx, d.client, name, d.options...)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
			continue
		}
		deletable, p.lines = append(deletable, name), append(p.lines, line)
	}
	if n := len(deletable); n > 0 {
		p.sum = fmt.Sprintf("%d of %d %s to delete, no disk is wiped:", n, len(names), d.plural)
		p.question = fmt.Sprintf("Delete %d %s?", n, d.plural)
		if n == 1 {
			p.question = fmt.Sprintf("Delete %s %s?", d.noun, deletable[0])
		}
	}
	return deletable, p, failed
}
