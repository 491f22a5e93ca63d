// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"
)

// ReimageBinding raises the generation of a binding and changes nothing else: user data, which cannot be read back, and
// owner stay. It takes IfRevision and IfGeneration.
func (c *Client) ReimageBinding(ctx context.Context, node string, options ...Option) (Binding, error) {
	var binding Binding
	address, err := path("bindings", node)
	if err != nil {
		return binding, err
	}
	r := request{method: http.MethodPost, path: address + "/reimage"}.apply(options)
	err = c.call(ctx, r, &binding)
	return binding, err
}
