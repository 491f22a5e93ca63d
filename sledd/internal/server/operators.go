// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"

	"github.com/sled-fleet/sled/sledd/api"
)

func (o operations) operators() {
	type Path struct {
		Name string `path:"name" pattern:"^[a-z0-9][a-z0-9._-]{0,63}$" maxLength:"64" example:"alice"`
	}
	type put struct {
		Path
		Body api.Operator
	}
	register(o, api.Admin, operation("list-operators", http.MethodGet, "/operators", "List operators"),
		func(ctx context.Context, _ *struct{}) (*answer[api.OperatorList], error) {
			list, err := o.Fleet.Operators(ctx)
			return &answer[api.OperatorList]{list}, err
		})
	register(o, api.Admin, operation("get-operator", http.MethodGet, "/operators/{name}", "Show an operator"),
		func(ctx context.Context, in *Path) (*answer[api.Operator], error) {
			operator, err := o.Fleet.Operator(ctx, in.Name)
			return &answer[api.Operator]{operator}, err
		})
	register(o, api.Admin, operation("put-operator", http.MethodPut, "/operators/{name}",
		"Make an operator, or give one a new token and role"),
		func(ctx context.Context, in *put) (*answer[api.Operator], error) {
			operator, err := o.Fleet.PutOperator(ctx, in.Name, in.Body)
			return &answer[api.Operator]{operator}, err
		})
	register(o, api.Admin, operation("delete-operator", http.MethodDelete, "/operators/{name}",
		"Take an operator's token away"),
		func(ctx context.Context, in *Path) (*struct{}, error) {
			return nil, o.Fleet.DeleteOperator(ctx, in.Name)
		})
}
