// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net"
	"net/http"
	"net/netip"

	"github.com/sled-fleet/sled/sledd/internal/origin"
)

// behindWeb reports whether a request came over the unix socket. Only the web server in front may open it, so only
// there do the headers count in which it names the client.
func behindWeb(ctx context.Context) bool {
	local, _ := ctx.Value(http.LocalAddrContextKey).(net.Addr)
	return local != nil && local.Network() == "unix"
}

// withOrigin returns the request with its sender in the context.
func withOrigin(r *http.Request) *http.Request {
	return r.WithContext(origin.With(r.Context(), origin.Origin{Address: clientAddress(r)}))
}

// clientAddress is the address that a request came from; invalid: not known.
func clientAddress(r *http.Request) netip.Addr {
	if behindWeb(r.Context()) {
		return forwardedAddress(r.Header.Values("X-Forwarded-For"))
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap()
}

// forwardedAddress is the address in X-Forwarded-For. The web server in front replaces that header by one address: more
// than one, or another text, was not written by it.
func forwardedAddress(headers []string) netip.Addr {
	if len(headers) != 1 {
		return netip.Addr{}
	}
	address, err := netip.ParseAddr(headers[0])
	if err != nil || address.Zone() != "" {
		return netip.Addr{}
	}
	return address.Unmap()
}
