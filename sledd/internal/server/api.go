// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/audit"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/origin"
)

const (
	bearerScheme    = "operator"
	problemResponse = "Problem"
	bulkBody        = 32 << 20 // bytes
	bulkTime        = 2 * time.Minute
)

// NewAPI describes the operator API on a mux; without a server behind it, it is only a description.
func NewAPI(mux *http.ServeMux) huma.API {
	config := huma.DefaultConfig("Sled", apiVersion)
	config.Info.Description = "Operator API of sledd: nodes, images, bindings, and what was observed of them."
	config.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	config.DocsPath, config.SchemasPath, config.OpenAPIPath = "", "", "/openapi"
	config.CreateHooks = nil
	config.Components.Responses = map[string]*huma.Response{problemResponse: {
		Description: "The request was refused or failed; the problem has the status and the reason",
		Content: map[string]*huma.MediaType{"application/problem+json": {
			Schema: &huma.Schema{Ref: "#/components/schemas/ErrorModel"}}}}}
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		bearerScheme: {Type: "http", Scheme: "bearer", Description: "Token of an operator with role read, operate or admin"},
	}
	config.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[api.Network](), reflect.TypeFor[networkForm]())
	return humago.New(mux, config)
}

// networkForm describes api.Network in the document. It checks nothing: package network does, by the names of keys.
type networkForm struct{}

// Schema implements huma.SchemaProvider.
func (networkForm) Schema(huma.Registry) *huma.Schema {
	words := map[string]any{"type": "string", "enum": api.NetworkWords()}
	return &huma.Schema{Extensions: map[string]any{"oneOf": []any{words, map[string]any{"type": "object"}}}}
}

// operatorAPI registers all operations.
func (s *Server) operatorAPI(mux *http.ServeMux) {
	description := NewAPI(mux)
	s.Describe(description)
}

// Describe registers the operations of the operator API.
func (s *Server) Describe(description huma.API) {
	o := operations{s, description}
	o.nodes()
	o.histories()
	o.feed()
	o.summaries()
	o.kexecs()
	o.warm()
	o.images()
	o.bindings()
	o.rollouts()
	o.jobs()
	o.operators()
	o.audits()
	o.erasures()
	o.store()
	o.multicast()
}

// operations registers handlers that need a role.
type operations struct {
	*Server
	huma.API
}

// operation describes an operation. The path follows /v1.
func operation(id, method, path, summary string) huma.Operation {
	return huma.Operation{OperationID: id, Method: method, Path: "/v1" + path, Summary: summary}
}

// register adds an operation that needs a role; errors of its handler become problems.
func register[I, O any](o operations, role api.Role, op huma.Operation, handler func(context.Context, *I) (*O, error)) {
	op.Security = []map[string][]string{{bearerScheme: {}}}
	op.Description = strings.TrimSpace(op.Description + " Needs role " + string(role) + ".")
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	op.Responses["default"] = &huma.Response{Ref: "#/components/responses/" + problemResponse}
	op.Middlewares = append(op.Middlewares, o.authorize(role, op))
	if _, empty := any((*O)(nil)).(*struct{}); op.DefaultStatus == 0 && empty {
		op.DefaultStatus = http.StatusNoContent
	}
	huma.Register(o.API, op, func(ctx context.Context, input *I) (*O, error) {
		out, err := handler(ctx, input)
		err = o.made(ctx, cmp.Or(chosenStatus(out), op.DefaultStatus, http.StatusOK), err)
		if err != nil {
			return nil, o.problem(err)
		}
		return out, nil
	})
}

// chosenStatus is the status that an answer chooses itself; 0: that of its operation.
func chosenStatus(out any) int {
	if one, is := out.(*started); is && one != nil {
		return one.Status
	}
	return 0
}

// authorize lets operators with the role through, and bounds the time of the answer unless the operation is long. A dry
// run changes nothing, so it needs no role but read and is not recorded.
func (o operations) authorize(needed api.Role, op huma.Operation) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		inner := ctx.Context()
		if op.BodyReadTimeout == 0 {
			var cancel context.CancelFunc
			inner, cancel = context.WithTimeout(inner, answerTime)
			defer cancel()
		}
		role, reads := needed, ctx.Method() == http.MethodGet
		if op.Metadata[takesDryRun] != nil && ctx.Query("dry_run") == "true" {
			role, reads = api.Read, true
		}
		operator, err := o.operator(inner, ctx.Header("Authorization"), role)
		if operator.Name != "" && !reads {
			change := attempt(ctx, operator)
			inner = audit.With(inner, change)
			defer o.settle(ctx, change)
		}
		if err != nil {
			model := problem(err)
			if model.Status == http.StatusUnauthorized {
				ctx.SetHeader("WWW-Authenticate", "Bearer")
			}
			_ = huma.WriteErr(o.API, ctx, model.Status, model.Detail) // the client may be gone
			return
		}
		if follows := ctx.Header(rolloutHeader); follows != "" {
			o.follow(inner, operator, follows)
		}
		sender := origin.Of(inner)
		sender.Actor, sender.Via = operator.Name, origin.Via(ctx.Header("User-Agent"))
		next(huma.WithContext(ctx, context.WithValue(origin.With(inner, sender), roleSlot{}, operator.Role)))
	}
}

type roleSlot struct{}

// roleOf is the role of the operator who sent a request.
func roleOf(ctx context.Context) api.Role {
	role, _ := ctx.Value(roleSlot{}).(api.Role)
	return role
}

func (o operations) problem(err error) error {
	model := problem(err)
	if model.Status >= http.StatusInternalServerError {
		o.Log.Error("operation failed", "error", err)
	}
	var headers http.Header
	if model.Status == http.StatusServiceUnavailable {
		headers = http.Header{"Retry-After": {"1"}}
	}
	return huma.ErrorWithHeaders(model, headers) //nolint:wrapcheck // is the answer
}

// Conditions are the headers of a change that demands a state.
type Conditions struct {
	IfMatch     string `header:"If-Match" maxLength:"1024" doc:"Change only if the revision is this (in quotes) or, with *, if it exists"`
	IfNoneMatch string `header:"If-None-Match" maxLength:"1024" doc:"With *: change only if it does not exist"`
}

func (c Conditions) wanted() nodetx.Wanted {
	return nodetx.Wanted{Match: c.IfMatch, NoneMatch: c.IfNoneMatch}
}

// Paging selects a page of a list.
type Paging struct {
	Limit int    `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"Most items in the answer"`
	After string `query:"after" maxLength:"17" pattern:"^(([0-9a-f]{2}:){5}[0-9a-f]{2})?$" doc:"next of the page before"`
}

// answer is a resource.
type answer[T any] struct {
	Body T
}

// tagged is a resource with its revision.
type tagged[T any] struct {
	ETag string `header:"ETag" doc:"Revision in quotes"`
	Body T
}

func tag[T any](body T, revision int64, err error) (*tagged[T], error) {
	return &tagged[T]{ETag: nodetx.ETag(revision), Body: body}, err
}

var errLabel = errors.New("want KEY=VALUE")
