// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// mayCompare refuses a dry run with user data for role read: its answer shows whether the node has the same, so that a
// short secret could be guessed.
func mayCompare(ctx context.Context, spec api.BindingSpec) error {
	if spec.UserData != "" && roleOf(ctx) == api.Read {
		return refusal.New(refusal.Forbidden, "a dry run with user_data needs role operate: "+
			"its answer shows whether the node has this user data; leave it out, or use keep_user_data")
	}
	return nil
}

func (o operations) bulk() {
	type put struct {
		Reimage
		TakeOver
		DryRun
		Body api.BulkBindings
	}
	op := dry(operation("bind-many", http.MethodPost, "/bindings",
		"Bind many nodes, or remove bindings; if one item is refused or a limit exceeded, nothing changes"))
	op.MaxBodyBytes, op.BodyReadTimeout = bulkBody, bulkTime
	register(o, api.Operate, op, func(ctx context.Context, in *put) (*answer[api.BindingList], error) {
		for _, item := range in.Body.Items {
			if err := mayCompare(ctx, item.BindingSpec); err != nil {
				return nil, err
			}
		}
		list, err := o.fleet(in.Dry).PutBindings(ctx, in.Body, in.Again, in.Take)
		return &answer[api.BindingList]{list}, err
	})
}
