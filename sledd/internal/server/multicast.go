// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

func (o operations) multicast() {
	register(o, api.Read, operation("get-multicast", http.MethodGet, "/multicast",
		"Show the images that are multicast, and to how many nodes"),
		func(context.Context, *struct{}) (*answer[api.Multicast], error) {
			told, err := o.Multicast.Read(time.Now())
			return &answer[api.Multicast]{told}, err
		})
}
