// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"
)

// PutRescue puts a node under rescue, or replaces the SSH keys. It takes IfAbsent.
func (c *Client) PutRescue(ctx context.Context, node string, spec RescueSpec, options ...Option) (Node, error) {
	var answer Node
	address, err := path("nodes", node)
	if err != nil {
		return answer, err
	}
	r := request{method: http.MethodPut, path: address + "/rescue", body: spec}.apply(options)
	err = c.call(ctx, r, &answer)
	return answer, err
}

// DeleteRescue ends a rescue.
func (c *Client) DeleteRescue(ctx context.Context, node string) error {
	address, err := path("nodes", node)
	if err != nil {
		return err
	}
	return c.call(ctx, request{method: http.MethodDelete, path: address + "/rescue"}, nil)
}
