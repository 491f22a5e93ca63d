// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// Erasures returns all records of erased disks, oldest first, and the end of the chain as of the last of them.
func (c *Client) Erasures(ctx context.Context) (ErasureList, error) {
	all := ErasureList{Items: []Erasure{}}
	for {
		page, err := c.ErasuresAfter(ctx, int64(len(all.Items)))
		if err != nil {
			return all, err
		}
		all.Items, all.Head = append(all.Items, page.Items...), page.Head
		if len(page.Items) == 0 || int64(len(all.Items)) >= page.Head.Number {
			return all, nil
		}
	}
}

// ErasuresAfter returns the records that follow a number, at least one if there is one, and the end of the whole chain.
func (c *Client) ErasuresAfter(ctx context.Context, number int64) (ErasureList, error) {
	query := url.Values{"after": {strconv.FormatInt(number, 10)}}
	var page ErasureList
	err := c.call(ctx, request{method: http.MethodGet, path: "/v1/erasures", query: query}, &page)
	return page, err
}

// ErasureKey returns the public key of the records.
func (c *Client) ErasureKey(ctx context.Context) (ErasureKey, error) {
	var key ErasureKey
	err := c.call(ctx, request{method: http.MethodGet, path: "/v1/erasures/key"}, &key)
	return key, err
}
