// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"

	"github.com/sled-fleet/sled/sledd/api"
)

// reimage is apart from put-binding because the caller need not know the binding, and cannot know all of it.
func (o operations) reimage() {
	type again struct {
		NodePath
		Conditions
		DryRun
		Generation int64 `query:"generation" minimum:"1" doc:"Only if the binding has this generation then"`
	}
	register(o, api.Operate, dry(operation("reimage-binding", http.MethodPost, "/bindings/{node}/reimage",
		"Raise the generation of a binding and change nothing else, so that the node is imaged again")),
		func(ctx context.Context, in *again) (*tagged[api.Binding], error) {
			binding, err := o.fleet(in.Dry).Reimage(ctx, in.Node, in.Generation, in.wanted())
			return tag(binding, binding.Revision, err)
		})
}
