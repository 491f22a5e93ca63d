// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

// feed is the newest events of all nodes; the stream continues it.
func (o operations) feed() {
	type filter struct {
		Limit int       `query:"limit" minimum:"1" maximum:"10000" default:"100" doc:"Most events in the answer, the newest"`
		Kinds []string  `query:"kind,explode" maxItems:"32" doc:"Only these kinds"`
		By    string    `query:"by" maxLength:"64" doc:"Only what this operator requested"`
		Since time.Time `query:"since" doc:"Only events since then"`
	}
	op := operation("list-events", http.MethodGet, "/events/newest", "What happened in the fleet, oldest first")
	op.Description = "Of the newest 50,000 events that this sledd has seen, or found in the history of its store."
	register(o, api.Read, op, func(ctx context.Context, in *filter) (*answer[api.EventList], error) {
		list, err := o.Hub.Newest(ctx, api.EventFilter{Kinds: in.Kinds, By: in.By, Since: in.Since, Limit: in.Limit})
		return &answer[api.EventList]{api.EventList{Items: list}}, err
	})
}
