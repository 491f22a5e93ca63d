// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"

	"github.com/sled-fleet/sled/sledd/api"
)

func (o operations) rescues() {
	type put struct {
		NodePath
		DryRun
		IfNoneMatch string `header:"If-None-Match" enum:"*" doc:"With *: only if the node is not under rescue"`
		Body        api.RescueSpec
	}
	register(o, api.Operate, dry(operation("put-rescue", http.MethodPut, "/nodes/{node}/rescue",
		"Put a node under rescue: it boots the Sled system with an SSH server, and no disk is touched")),
		func(ctx context.Context, in *put) (*tagged[api.Node], error) {
			node, err := o.fleet(in.Dry).PutRescue(ctx, in.Node, in.Body, in.IfNoneMatch != "")
			return tag(node, node.Revision, err)
		})
	type remove struct {
		NodePath
		DryRun
	}
	register(o, api.Operate, dry(operation("delete-rescue", http.MethodDelete, "/nodes/{node}/rescue",
		"End a rescue; the node continues where it was interrupted")),
		func(ctx context.Context, in *remove) (*struct{}, error) {
			return nil, o.fleet(in.Dry).DeleteRescue(ctx, in.Node)
		})
}
