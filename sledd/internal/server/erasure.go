// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"

	"github.com/sled-fleet/sled/sledd/api"
)

// erasurePage is the number of records in one response, or somewhat more: those of one report stay together.
const erasurePage = 1000

func (o operations) erasures() {
	type filter struct {
		After int64 `query:"after" minimum:"0" default:"0" doc:"Number of the last record that the caller has"`
	}
	register(o, api.Read, operation("list-erasures", http.MethodGet, "/erasures",
		"List the records of erased disks, oldest first"),
		func(ctx context.Context, in *filter) (*answer[api.ErasureList], error) {
			list, err := o.Erasures.List(ctx, in.After, erasurePage)
			return &answer[api.ErasureList]{list}, err
		})
	register(o, api.Read, operation("get-erasure-key", http.MethodGet, "/erasures/key",
		"Show the public key that records of erased disks are signed with"),
		func(context.Context, *struct{}) (*answer[api.ErasureKey], error) {
			return &answer[api.ErasureKey]{api.ErasureKey{PEM: o.Erasures.PublicPEM()}}, nil
		})
}
