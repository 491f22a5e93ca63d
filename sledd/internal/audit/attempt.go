// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Attempt is a request of an operator for a change, while it is worked on.
type Attempt struct {
	Record api.AuditRecord
	Stored bool // in the trail

	wrote atomic.Bool
}

type slot struct{}

// With returns the context of an attempt.
func With(ctx context.Context, attempt *Attempt) context.Context {
	return context.WithValue(ctx, slot{}, attempt)
}

// Of returns the attempt of a context; nil: none.
func Of(ctx context.Context) *Attempt {
	attempt, _ := ctx.Value(slot{}).(*Attempt)
	return attempt
}

// Wrote reports whether the attempt has, or may have, changed the store: one that is refused in the end may have.
func (a *Attempt) Wrote() bool { return a.wrote.Load() }

// Watched is a store that notes which attempts write.
type Watched struct{ store.Store }

// Commit implements store.Store.
func (w Watched) Commit(ctx context.Context, t store.Transaction) (int64, error) {
	revision, err := w.Store.Commit(ctx, t)
	if attempt := Of(ctx); attempt != nil && !errors.Is(err, store.ErrChanged) {
		attempt.wrote.Store(true)
	}
	return revision, err //nolint:wrapcheck // is the store's
}
