// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"
)

// ReleaseSpec selects the nodes that a request releases.
type ReleaseSpec struct {
	Nodes []string `json:"nodes,omitempty" maxItems:"10000" doc:"Each a MAC or a name"`
	All   bool     `json:"all,omitempty" doc:"All nodes, and with them the hold of a restored store: a node that is declared later gets plans at once"`
}

// OutlookList is what nodes do next.
type OutlookList struct {
	Items []Outlook `json:"items" nullable:"false"`
}

// Release lets nodes follow their bindings, also on disks that are ahead of the store, and ends their hold. It returns
// what they do next.
func (c *Client) Release(ctx context.Context, spec ReleaseSpec, options ...Option) ([]Outlook, error) {
	var list OutlookList
	r := request{method: http.MethodPost, path: "/v1/store/release", body: spec}.apply(options)
	err := c.call(ctx, r, &list)
	return list.Items, err
}
