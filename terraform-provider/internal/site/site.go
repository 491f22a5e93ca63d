// SPDX-License-Identifier: Apache-2.0

// Package site is what a configured provider passes to its resources: calls to sledd with deadlines, explained errors,
// the owner of bindings, and the guard that counts how many machines a plan images again.
package site

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/sled-fleet/sled/sledd/api"
)

const (
	// callTime bounds an ordinary call, so that a plan ends in seconds when sledd is away.
	callTime = 8 * time.Second
	// bulkTime bounds a call for thousands of nodes.
	bulkTime = 2 * time.Minute

	defaultOwner = "terraform"
)

// OwnerPattern is what an owner's name looks like; sled_bindings adds its own name to it.
var OwnerPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._/-]{0,63}$`)

// Options of the provider block.
type Options struct {
	Access      api.Config
	Owner       string // default terraform
	MaxReimages *int64 // nil: no limit
	MaxWipes    *int64 // nil: no limit
	Fleet       string // UUID that the server must have; empty: any
	Applying    bool   // what is planned now is applied at once

	RequestTimeout time.Duration // of one call; less than the default counts as that
}

// Site is one boot server in one run of the provider. It is safe for concurrent use.
type Site struct {
	*Guard
	Owner    string
	Applying bool   // what is planned now is applied at once
	Key      string // of hashes of user data; empty: the role of the token is too low

	client  *api.Client
	noToken bool          // is set anywhere
	fleet   string        // UUID; empty: sledd is too old to have one
	pinned  bool          // the provider block names it
	least   time.Duration // of a call's deadline
	images  images
	causes  causes

	exchanges exchanges
	refreshed refreshed
	planned   planned
	world     world
	mu        sync.Mutex
	gone      error // the first call that got no answer: the others need not wait for their deadline
}

// Connect checks that sledd answers, knows the token, reaches its store and is that of the fleet.
func Connect(ctx context.Context, options Options) (*Site, diag.Diagnostics) {
	var diagnostics diag.Diagnostics
	options.Access.Timeout = max(bulkTime, options.RequestTimeout)
	client, err := api.New(options.Access)
	if err != nil {
		diagnostics.AddError("The provider cannot be configured", err.Error())
		return nil, diagnostics
	}
	s := &Site{client: client, Owner: options.Owner, Applying: options.Applying, least: options.RequestTimeout,
		noToken: options.Access.Token == "" && options.Access.TokenFile == "",
		Guard:   &Guard{limit: options.MaxReimages, wipes: options.MaxWipes}}
	if s.Owner == "" {
		s.Owner = defaultOwner
	}
	var store api.Store
	read := func(ctx context.Context, client *api.Client) (err error) {
		store, err = client.Store(ctx)
		return err //nolint:wrapcheck // Call explains it
	}
	diagnostics.Append(s.Call(ctx, "read the UUID of the fleet", read)...)
	if !diagnostics.HasError() && store.Fleet == "" {
		diagnostics.AddError("The server did not name its fleet", "Check that the provider's server is a sledd.")
	}
	if !diagnostics.HasError() {
		s.Key = store.HashKey
		diagnostics.Append(s.identify(store.Fleet, options.Fleet)...)
	}
	return s, diagnostics
}

// Call does one thing at sledd within seconds; what names it in an error, such as "read node n1".
func (s *Site) Call(ctx context.Context, what string, call func(context.Context, *api.Client) error) diag.Diagnostics {
	return s.within(ctx, callTime, what, call)
}

// CallBulk is Call for thousands of nodes at once.
func (s *Site) CallBulk(ctx context.Context, what string, call func(context.Context,
	*api.Client) error) diag.Diagnostics {
	return s.within(ctx, bulkTime, what, call)
}

// Client is for what takes longer than a call and has its own deadline.
func (s *Site) Client() *api.Client { return s.client }

func (s *Site) within(ctx context.Context, most time.Duration, what string,
	call func(context.Context, *api.Client) error) diag.Diagnostics {
	if s == nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("The provider is not configured yet: could not "+what,
			"One of its arguments depends on a resource that does not exist yet. Apply that resource first with -target, or "+
				"let this one depend on it (depends_on).")}
	}
	if gone := s.lost(nil); gone != nil {
		return s.explain(what, gone)
	}
	if err := ctx.Err(); err != nil { // interrupted: nothing new is started
		return s.explain(what, err)
	}
	// What is under way ends: sledd may have stored what it is about, and the state would lack that.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(most, s.least))
	defer cancel()
	err := call(ctx, s.client)
	if api.IsUnreachable(err) {
		_ = s.lost(err)
	}
	return s.explain(what, err)
}

// lost remembers the first error of an unreachable sledd and returns it.
func (s *Site) lost(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone == nil {
		s.gone = err
	}
	return s.gone
}

// explain adds to an error what to do about it; nil is none. What every resource would meet is reported once in a run.
func (s *Site) explain(what string, err error) diag.Diagnostics {
	if err == nil {
		return nil
	}
	summary, hint, cause := "sledd refused to "+what, "Nothing was changed.", ""
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &untrusted):
		summary, cause = "The certificate of the server is not trusted: could not "+what, "certificate"
		hint = "Nothing was changed. Check the provider's server, and set ca_file, ca_certificate or SLED_CA to the " +
			"certificate authority of the site."
	case api.IsUnreachable(err):
		summary, hint, cause = "sledd is unreachable: could not "+what,
			"The state is unchanged. Check that the boot server and its store run, then try again.", "unreachable"
	case api.StatusOf(err) == 412:
		summary, hint = "Changed since the plan was made: could not "+what,
			"Nothing was written. Plan again, check the new plan, and apply it."
	case api.StatusOf(err) == http.StatusUnauthorized && s.noToken:
		summary, cause = "No token is set: could not "+what, "401"
		hint = "Nothing was changed. Set token, token_file, SLED_TOKEN or SLED_TOKEN_FILE; sledctl operator create makes a " +
			"token."
	case api.StatusOf(err) == http.StatusUnauthorized:
		summary = "sledd does not know the token: could not " + what
		hint = "Nothing was changed. The token was revoked, is mistyped, or is one of another boot server. Check token, " +
			"token_file, SLED_TOKEN and SLED_TOKEN_FILE; sledctl operator create makes a token."
		cause = "401"
	case api.StatusOf(err) == http.StatusForbidden:
		summary = "The role of the token is too low: could not " + what
		hint = "Nothing was changed. Plans need role read, applies role operate: sledctl operator list shows the roles."
		cause = "403 " + err.Error()
	case api.StatusOf(err) == 0:
		summary, hint = "Could not "+what, ""
	}
	detail := fmt.Sprintf("%s\n\n%s", err, hint)
	if cause == "" {
		return diag.Diagnostics{diag.NewErrorDiagnostic(summary, detail)}
	}
	return diag.Diagnostics{s.causes.report(cause, summary, detail, line(err))}
}

// line is an error without what follows its first line, such as the page of a proxy.
func line(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// Of returns the site from the data that Configure of a resource receives; nil before the provider is configured.
func Of(data any, diagnostics *diag.Diagnostics) *Site {
	if data == nil {
		return nil
	}
	s, ok := data.(*Site)
	if !ok {
		diagnostics.AddError("Internal error of the provider",
			fmt.Sprintf("its data is a %T; please report this", data))
	}
	return s
}
