// SPDX-License-Identifier: Apache-2.0

package site

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/textlist"
)

// CheckBinding is CheckBindings of one.
func (s *Site) CheckBinding(ctx context.Context, what string, spec api.BindingSpec) diag.Diagnostics {
	items := []api.BulkBinding{{BindingSpec: spec}}
	if assume, known := s.assumed(items); assume != nil || !known {
		return s.CheckBindings(ctx, what, items)
	}
	return s.Call(ctx, what, func(ctx context.Context, client *api.Client) error {
		_, err := client.PutBinding(ctx, spec, api.DryRun(), api.TakeOver())
		return itself(err)
	})
}

// itself is an error about the request itself, and nil for one about another object.
func itself(err error) error {
	if api.StatusOf(err) == http.StatusUnprocessableEntity || api.IsDenied(err) || api.IsUnreachable(err) {
		return err
	}
	return nil
}

// CheckBindings sends a dry run, so that a plan refuses what the apply would. What the run declares before it binds
// counts as declared. It reports only what is wrong with the bindings themselves: what is in conflict with another
// object may be solved by the same apply.
func (s *Site) CheckBindings(ctx context.Context, what string, items []api.BulkBinding) diag.Diagnostics {
	assume, known := s.assumed(items)
	if !known || len(items) == 0 {
		return nil
	}
	return s.Call(ctx, what, func(ctx context.Context, client *api.Client) error {
		_, err := client.Bind(ctx, api.BulkBindings{Items: items, Assume: assume}, api.DryRun(), api.TakeOver())
		return itself(NameItems(err, items))
	})
}

// CheckNode is CheckBindings for the declaration of a node. A name or MAC that another node has is refused, unless the
// run changes that node too. With exists, a node that is declared already is passed to it.
func (s *Site) CheckNode(ctx context.Context, what string, spec api.NodeSpec, exists func() diag.Diagnostics,
) diag.Diagnostics {
	declared, options := false, []api.Option{api.DryRun()}
	if exists != nil {
		options = append(options, api.IfAbsent())
	}
	diagnostics := s.Call(ctx, what, func(ctx context.Context, client *api.Client) error {
		_, err := client.PutNode(ctx, spec, options...)
		switch {
		case api.StatusOf(err) == http.StatusPreconditionFailed:
			declared = true
			return nil
		case api.IsConflict(err) && !s.solves(ctx, client, spec):
			return err //nolint:wrapcheck // Call explains it
		}
		return itself(err)
	})
	if declared {
		return exists()
	}
	return diagnostics
}

// solves reports whether the run changes, moves or removes each node that has the name or a MAC of this one.
func (s *Site) solves(ctx context.Context, client *api.Client, spec api.NodeSpec) bool {
	for _, reference := range append([]string{spec.Name, spec.MAC}, spec.MACs...) {
		other, err := client.Node(ctx, reference)
		if err != nil || other.MAC == spec.MAC {
			continue // an error of sledd comes again with the next call
		}
		if !s.world.await(ctx, func() bool { return s.world.freed[other.MAC] }) {
			return false
		}
	}
	return true
}

var itemPattern = regexp.MustCompile(`^body\.items\[(\d+)\]`)

// NameItems makes the details of a refusal name machines instead of numbers of items; of many only the first.
func NameItems(err error, items []api.BulkBinding) error {
	var refusal *api.Error
	if !errors.As(err, &refusal) {
		return err
	}
	told := *refusal
	told.Errors = slices.Clone(refusal.Errors)
	for i, detail := range told.Errors {
		found := itemPattern.FindStringSubmatch(detail.Location)
		if found == nil {
			continue
		}
		if n, err := strconv.Atoi(found[1]); err == nil && n < len(items) {
			told.Errors[i].Location = items[n].Node
		}
	}
	if more := textlist.More(len(told.Errors)); more != "" {
		told.Errors = append(told.Errors[:textlist.Most], api.ErrorDetail{Message: more})
	}
	return &told
}
