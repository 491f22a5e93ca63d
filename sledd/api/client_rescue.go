// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"
)

// PutRescue puts a node under rescue, or replaces the SSH keys.
func (c *Client) PutRescue(ctx context.Context, node string, spec RescueSpec) (Node, error) {
	var answer Node
	address, err := path("nodes", node)
	if err != nil {
		return answer, err
	}
	err = c.call(ctx, request{method: http.MethodPut, path: address + "/rescue", body: spec}, &answer)
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
