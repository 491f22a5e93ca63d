// SPDX-License-Identifier: Apache-2.0

// Package intake is the nodes' side of sledd: boot scripts, plans, and what nodes report. All state is in the store.
package intake

import (
	"context"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/boot"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/quirk"
)

const (
	// pollSlots is the number of polls that read the store concurrently: thousands queue here and not
	// in the store, where deadlines run.
	pollSlots = 64
	// maxDiscovered bounds what anybody on the boot network can make us store.
	maxDiscovered = 10000
	// operationalLife of the token that an installed system confirms with.
	operationalLife = 24 * time.Hour
)

// Options of an Intake.
type Options struct {
	DB        *nodetx.DB
	Hub       *events.Hub
	System    boot.System
	ImageURLs []string      // bases that nodes fetch images from; with UploadURL, disks can be captured
	UploadURL string        // base that nodes put captured images to
	Quirks    *quirk.List   // machines that are not started by kexec; nil: none
	Watchdog  int           // seconds that one is armed with before a kexec; 0: none
	TokenLife time.Duration // of a boot token
	Observe   Observer      // nil: nobody
}

// Observer counts for metrics.
type Observer interface {
	PlanHandedOut()
	StepFailed(verb string, code int)
}

// Intake answers nodes.
type Intake struct {
	Options
	slots chan struct{} // for polls
}

// New makes an Intake.
func New(options Options) *Intake {
	if options.Observe == nil {
		options.Observe = nobody{}
	}
	return &Intake{Options: options, slots: make(chan struct{}, pollSlots)}
}

type nobody struct{}

func (nobody) PlanHandedOut()         {}
func (nobody) StepFailed(string, int) {}

// nodeTx is a unit of work of a node.
type nodeTx struct {
	*nodetx.Tx
	in      *Intake
	noKexec string // why the system is not started by kexec; empty: it may be
}

// update is nodetx.DB.Update with a unit of work of this package.
func (in *Intake) update(ctx context.Context, mac string, wants []nodetx.Want, decide func(tx *nodeTx) error) error {
	return in.DB.Update(ctx, mac, wants, func(tx *nodetx.Tx) error { return decide(&nodeTx{Tx: tx, in: in}) })
}

func (in *Intake) load(ctx context.Context, mac string) (*nodeTx, error) {
	tx, err := in.DB.Load(ctx, mac)
	if err != nil {
		return nil, err
	}
	return &nodeTx{Tx: tx, in: in}, nil
}
