// SPDX-License-Identifier: Apache-2.0

// Package rolloutstore keeps the rollouts of sledd: bindings of many nodes that are carried out in waves.
package rolloutstore

import (
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
)

// runWriters at the same time: thousands of nodes of a wave start at once, and queue here rather than in the store,
// where deadlines run.
const runWriters = 16

// Rollouts answers operators and those who carry rollouts out.
type Rollouts struct {
	*nodetx.DB
	runs        chan struct{} // bounds concurrent transactions of reports
	evaluations evaluations
	followed    followed
	decoded     decoded
}

// New makes a Rollouts.
func New(db *nodetx.DB) *Rollouts {
	return &Rollouts{DB: db, runs: make(chan struct{}, runWriters)}
}
