// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// Version returns which sledd answers.
func (c *Client) Version(ctx context.Context) (Version, error) {
	var found Version
	err := c.call(ctx, request{method: http.MethodGet, path: "/v1/version"}, &found)
	return found, err
}

// Store returns the identity of the fleet, and how full the store is.
func (c *Client) Store(ctx context.Context) (Store, error) {
	var usage Store
	err := c.call(ctx, request{method: http.MethodGet, path: "/v1/store"}, &usage)
	if err == nil && usage.Alarms == nil {
		err = errors.New("GET /v1/store: the answer has no list of alarms: is this sledd?")
	}
	return usage, err
}

// HealStore compacts and defragments the store, and ends the alarm NOSPACE. It takes up to minutes, and continues if
// the client does not wait.
func (c *Client) HealStore(ctx context.Context) (Store, error) {
	var usage Store
	err := c.call(ctx, request{method: http.MethodPost, path: "/v1/store/heal"}, &usage)
	return usage, err
}

// Backup returns a snapshot of the store, for role admin.
func (c *Client) Backup(ctx context.Context) (io.ReadCloser, error) {
	response, err := c.send(ctx, request{method: http.MethodGet, path: "/v1/store/backup"})
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}
