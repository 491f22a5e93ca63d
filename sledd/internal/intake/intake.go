// SPDX-License-Identifier: Apache-2.0

// Package intake is the nodes' side of sledd: boot scripts, plans, and what nodes report. All state is in the store.
package intake

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/sled-fleet/sled/sledd/imagefile"
	"github.com/sled-fleet/sled/sledd/internal/boot"
	"github.com/sled-fleet/sled/sledd/internal/capacity"
	"github.com/sled-fleet/sled/sledd/internal/console"
	"github.com/sled-fleet/sled/sledd/internal/erasure"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/gate"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/limit"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/quirk"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

const (
	// operationalLife of the token that an installed system confirms with.
	operationalLife = 24 * time.Hour
)

// The rates of each node. A machine sends facts once per boot, and logs of steps that failed. Claims are counted for
// each address of a node.
var (
	helloRate = limit.Rate{Burst: 4, Every: helloPause}
	factsRate = limit.Rate{Burst: 4, Every: 10 * time.Second}
	logRate   = limit.Rate{Burst: 1 << 20, Every: time.Hour >> 20} // bytes
)

// Options of an Intake.
type Options struct {
	DB        *nodetx.DB
	Hub       *events.Hub
	System    boot.System
	ImageURLs []string          // bases that nodes fetch images from; with UploadURL, disks can be captured
	UploadURL string            // base that nodes put captured images to
	Uploads   *Uploads          // room for captured images; nil: not known
	ImageKeys imagefile.Keys    // of those who sign images; captured ones are published only by such a signature
	Sender    *plan.Sender      // of images by multicast; nil: none
	Relays    plan.Relays       // of images, by labels of nodes
	Quirks    *quirk.List       // machines that are not started by kexec; nil: none
	Consoles  console.Directory // the records of consoles; empty: there are none
	Watchdog  int               // seconds that one is armed with before a kexec; 0: none
	TokenLife time.Duration     // of a boot token
	Observe   Observer          // nil: nobody
	Capacity  Capacity          // nil: there is always room
	Gate      *gate.Gate        // nil: a new one
	Erasures  *erasure.Chain    // nil: records of erased disks are stored without a signature
}

// Capacity refuses writes for which the store has no room.
type Capacity interface {
	Allow(class capacity.Class) error
	Full() bool
}

// Observer counts for metrics.
type Observer interface {
	PlanHandedOut()
	StepFailed(verb string, code int)
}

// Intake answers nodes.
type Intake struct {
	Options
	live                   live
	heard                  heard
	claimKey               atomic.Pointer[claimKey]
	floods                 floods
	claimPolls             openPolls
	newcomers, newcomersOf *limit.Keyed
	newcomersOfNetwork     *limit.Keyed
	hellos, facts, logs    *limit.Keyed
	maxBare, maxDiscovered int
}

// New makes an Intake.
func New(options Options) *Intake {
	if options.Observe == nil {
		options.Observe = nobody{}
	}
	if options.Capacity == nil {
		options.Capacity = boundless{}
	}
	if options.Gate == nil {
		options.Gate = gate.New()
	}
	if options.Erasures == nil {
		options.Erasures = erasure.New(options.DB.Store, nil)
	}
	if options.Uploads == nil {
		options.Uploads = &Uploads{}
	}
	return &Intake{Options: options,
		newcomers: limit.New(newcomers), newcomersOf: limit.New(newcomersOfAddress),
		newcomersOfNetwork: limit.New(newcomersOfNetwork), hellos: limit.New(helloRate),
		facts: limit.New(factsRate), logs: limit.New(logRate),
		maxBare: defaultBare, maxDiscovered: defaultDiscovered}
}

type nobody struct{}

func (nobody) PlanHandedOut()         {}
func (nobody) StepFailed(string, int) {}

type boundless struct{}

func (boundless) Allow(capacity.Class) error { return nil }
func (boundless) Full() bool                 { return false }

// nodeTx is a unit of work of a node.
type nodeTx struct {
	*nodetx.Tx
	in      *Intake
	woken   bool   // the request has waited
	noKexec string // why the system is not started by kexec; empty: it may be
	missing string // what of the files of a job has not arrived
}

// update is nodetx.DB.Update with a unit of work of this package. Requests of machines that no operator has
// declared are stored only while there is room.
func (in *Intake) update(ctx context.Context, mac string, wants []nodetx.Want, decide func(tx *nodeTx) error) error {
	var withheld error // it is stored that the node waits
	err := in.DB.Update(ctx, mac, wants, in.unit(func(tx *nodeTx) error {
		err := decide(tx)
		withheld = nil
		if refusal.Is(err, refusal.Withheld) {
			withheld, err = err, nil
		}
		return err
	}))
	return cmp.Or(err, withheld)
}

// unit makes a unit of work of this package.
func (in *Intake) unit(decide func(tx *nodeTx) error) func(tx *nodetx.Tx) error {
	return func(tx *nodetx.Tx) error {
		if err := decide(&nodeTx{Tx: tx, in: in}); err != nil {
			return err
		}
		if tx.Node() == nil && tx.Binding() == nil {
			tx.Writes.Unchanged(key.MACs+tx.MAC, 0) // nor is it another interface of a node
			return in.Capacity.Allow(capacity.Undeclared)
		}
		return nil
	}
}

func (in *Intake) load(ctx context.Context, mac string) (*nodeTx, error) {
	tx, err := in.DB.Load(ctx, mac)
	if err != nil {
		return nil, err
	}
	return &nodeTx{Tx: tx, in: in}, nil
}
