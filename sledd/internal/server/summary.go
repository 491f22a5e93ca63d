// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"

	"github.com/sled-fleet/sled/sledd/api"
)

func (o operations) summaries() {
	type request struct {
		Selection
		By string `query:"by" required:"true" maxLength:"128" pattern:"^(label:.+|model|image|phase)$" doc:"label:KEY, model (vendor and product), image (on the disk) or phase" example:"label:rack"`
	}
	register(o, api.Read, operation("get-summary", http.MethodGet, "/summary", "Count nodes in groups, by phase"),
		func(ctx context.Context, in *request) (*answer[api.Summary], error) {
			filter, err := in.filter()
			if err != nil {
				return nil, err
			}
			sum, err := o.Fleet.Summary(ctx, in.By, filter)
			return &answer[api.Summary]{sum}, err
		})
}
