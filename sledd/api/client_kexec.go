// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"
)

// Kexecs lists the record of kexec for each model.
func (c *Client) Kexecs(ctx context.Context) ([]KexecModel, error) {
	var answer KexecList
	err := c.call(ctx, request{method: http.MethodGet, path: "/v1/kexec"}, &answer)
	return answer.Items, err
}

// Quirks lists the machines that boot=auto does not start by kexec.
func (c *Client) Quirks(ctx context.Context) ([]Quirk, error) {
	var answer QuirkList
	err := c.call(ctx, request{method: http.MethodGet, path: "/v1/quirks"}, &answer)
	return answer.Items, err
}
