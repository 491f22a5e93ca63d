// SPDX-License-Identifier: Apache-2.0

// Package origin carries with a context who sent the request that is worked on.
package origin

import (
	"context"
	"net/netip"
)

// Origin is the sender of a request.
type Origin struct {
	Address netip.Addr // invalid: not known
	Actor   string     // the operator; empty: a node, or sledd itself
	Via     string     // the program of the operator
}

type slot struct{}

// With returns a context of a request of a sender.
func With(ctx context.Context, sender Origin) context.Context {
	return context.WithValue(ctx, slot{}, sender)
}

// Of returns the sender of the request of a context; the zero Origin if there is none.
func Of(ctx context.Context) Origin {
	sender, _ := ctx.Value(slot{}).(Origin)
	return sender
}

// By names the operator and the program, for people.
func (o Origin) By() string {
	if o.Via == "" {
		return o.Actor
	}
	return o.Actor + " via " + o.Via
}

// From returns the address as text; empty: not known.
func (o Origin) From() string {
	if !o.Address.IsValid() {
		return ""
	}
	return o.Address.String()
}
