// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
)

func (o operations) kexecs() {
	register(o, api.Read, operation("list-kexecs", http.MethodGet, "/kexec",
		"Tell how well each model starts an installed system by kexec"),
		func(ctx context.Context, _ *struct{}) (*answer[api.KexecList], error) {
			list, err := o.Fleet.Kexecs(ctx)
			return &answer[api.KexecList]{list}, err
		})
	register(o, api.Read, operation("list-quirks", http.MethodGet, "/quirks",
		"List the machines that boot=auto does not start by kexec"),
		func(context.Context, *struct{}) (*answer[api.QuirkList], error) {
			return &answer[api.QuirkList]{o.Fleet.QuirkList()}, nil
		})
}

func (s *Server) lastWords(ctx context.Context, a nodeRequest) (nodeResponse, error) {
	token, err := s.Intake.LastWords(ctx, a.mac, a.bearer, nodetext.RawOf([]byte(a.body)))
	return nodeResponse{token: token}, err
}
