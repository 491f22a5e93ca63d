// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"

	"github.com/sled-fleet/sled/sledd/api"
)

// named is a request about a node, with a body.
type named[T any] struct {
	NodePath
	Body T
}

func (o operations) admissions() {
	register(o, api.Read, operation("list-claims", http.MethodGet, "/claims",
		"List the nodes that a machine claims to be and is not admitted as"),
		func(ctx context.Context, _ *struct{}) (*answer[api.AdmissionList], error) {
			list, err := o.Fleet.Claims(ctx)
			return &answer[api.AdmissionList]{list}, err
		})
	register(o, api.Read, operation("get-admission", http.MethodGet, "/nodes/{node}/admission",
		"Show who claims to be a node, and who is admitted"),
		func(ctx context.Context, in *NodePath) (*answer[api.Admission], error) {
			shown, err := o.Fleet.Admission(ctx, in.Node)
			return &answer[api.Admission]{shown}, err
		})
	o.claims()
	register(o, api.Operate, operation("expect-node", http.MethodPost, "/nodes/{node}/expect",
		"Open a window in which a boot of the node is expected"),
		func(ctx context.Context, in *named[api.ExpectSpec]) (*answer[api.Admission], error) {
			shown, err := o.Fleet.Expect(ctx, in.Node, in.Body)
			return &answer[api.Admission]{shown}, err
		})
	register(o, api.Operate, operation("ack-alarms", http.MethodPost, "/nodes/{node}/alarms/ack",
		"Acknowledge the alarms of a node up to a time"),
		func(ctx context.Context, in *named[api.AckSpec]) (*answer[api.Admission], error) {
			shown, err := o.Fleet.Ack(ctx, in.Node, in.Body)
			return &answer[api.Admission]{shown}, err
		})
	register(o, api.Operate, operation("create-ticket", http.MethodPost, "/nodes/{node}/tickets",
		"Make a token that proves one claim of the node; an earlier one ends"),
		func(ctx context.Context, in *NodePath) (*answer[api.TicketToken], error) {
			ticket, err := o.Fleet.Ticket(ctx, in.Node)
			return &answer[api.TicketToken]{ticket}, err
		})
}

// claims are the decisions about machines that claim to be a node.
func (o operations) claims() {
	register(o, api.Operate, operation("admit-claim", http.MethodPost, "/nodes/{node}/admit",
		"Admit a claim: its next request makes it the node"),
		func(ctx context.Context, in *named[api.AdmitSpec]) (*answer[api.Admission], error) {
			shown, err := o.Fleet.Admit(ctx, in.Node, in.Body)
			return &answer[api.Admission]{shown}, err
		})
	register(o, api.Operate, operation("refuse-claim", http.MethodPost, "/nodes/{node}/refuse",
		"End a claim that waits"),
		func(ctx context.Context, in *named[api.CodeSpec]) (*answer[api.Admission], error) {
			shown, err := o.Fleet.Refuse(ctx, in.Node, in.Body)
			return &answer[api.Admission]{shown}, err
		})
	register(o, api.Operate, operation("revoke-admission", http.MethodPost, "/nodes/{node}/revoke",
		"End the admission of a node: its tokens end"),
		func(ctx context.Context, in *NodePath) (*answer[api.Admission], error) {
			shown, err := o.Fleet.Revoke(ctx, in.Node)
			return &answer[api.Admission]{shown}, err
		})
}
