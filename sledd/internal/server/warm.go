// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sled-fleet/sled/sledd/api"
)

// Base is the URL at which the operator reached the server that ends TLS, which serves the Sled system too.
type Base struct {
	url string
}

// Resolve implements huma.Resolver.
func (b *Base) Resolve(ctx huma.Context) []error {
	if host := ctx.Header("X-Forwarded-Host"); behindWeb(ctx.Context()) && host != "" { // with its port
		if ctx.Header("X-Forwarded-Proto") == "https" {
			b.url = "https://" + host
		}
		return nil
	}
	if ctx.TLS() != nil {
		b.url = "https://" + ctx.Host()
	}
	return nil
}

// of returns the URL that the operator used, or that of the nodes if the request came over loopback.
func (b *Base) of(servers []string, otherwise string) string {
	if b.url != "" {
		return b.url
	}
	for _, server := range servers {
		if strings.HasPrefix(server, "https://") {
			return server
		}
	}
	return otherwise
}

func (o operations) warm() {
	type ask struct {
		NodePath
		Base
	}
	register(o, api.Operate, operation("boot-node", http.MethodPost, "/nodes/{node}/boot",
		"Say what a running node is to be started with to come into the Sled system, in place of a boot script"),
		func(ctx context.Context, in *ask) (*answer[api.Boot], error) {
			system := o.Intake.System
			boot, err := o.Intake.Warm(ctx, in.Node, in.of(system.Servers, system.URL))
			return &answer[api.Boot]{boot}, err
		})
}
