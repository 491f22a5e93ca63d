// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"
)

// ReimageBinding raises the generation of a binding and leaves all else of it as it is, also the user data, which nobody can read to wish
// for it again, and the owner. IfRevision and IfGeneration are heeded.
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
