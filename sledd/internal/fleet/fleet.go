// SPDX-License-Identifier: Apache-2.0

// Package fleet is what sledd knows and decides of nodes, images and bindings. All state is in the store; every change is a
// compare-and-swap, so that several sledds can run on one store.
package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/boot"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/quirk"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const (
	// maxAttempts of a change when others are first each time.
	maxAttempts = 16
	// budget of all store calls of one operation: an answer comes within 5 s whatever the store does.
	budget = 4500 * time.Millisecond
	// handouts at the same time, so that a bulk bind of thousands queues here and not in the store, where deadlines run.
	handouts = 64
	// runWriters at the same time, likewise: hundreds of nodes of a wave begin at once.
	runWriters = 16
	// maxDiscovered bounds what anybody on the boot network can make us store.
	maxDiscovered = 10000
	// operationalLife of the token that an installed system confirms with.
	operationalLife = 24 * time.Hour
)

// Options of a Fleet.
type Options struct {
	Store     store.Store
	Hub       *events.Hub
	System    boot.System
	ImageURLs []string         // bases that nodes fetch images from; with UploadURL, disks can be captured
	UploadURL string           // base that nodes put captured images to
	Quirks    *quirk.List      // machines that are not started by kexec; nil: none
	Watchdog  int              // seconds that one is armed with before a kexec; 0: none
	TokenLife time.Duration    // of a boot token
	Now       func() time.Time // nil: the real clock
	Observe   Observer         // nil: nobody
}

// Observer is told of what metrics count.
type Observer interface {
	PlanHandedOut()
	StepFailed(verb string, code int)
	Kexec(outcome string)
}

// Fleet is the rules on top of a store.
type Fleet struct {
	Options
	slots  chan struct{} // for those who hand out plans
	runs   chan struct{} // for those who say something of a node of a rollout
	judges judges
}

// New makes a Fleet.
func New(options Options) *Fleet {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Observe == nil {
		options.Observe = nobody{}
	}
	return &Fleet{Options: options, slots: make(chan struct{}, handouts), runs: make(chan struct{}, runWriters)}
}

type nobody struct{}

func (nobody) PlanHandedOut()         {}
func (nobody) StepFailed(string, int) {}
func (nobody) Kexec(string)           {}

func (f *Fleet) now() time.Time { return f.Now().UTC().Round(0) }

// Revision gives that of the store now; an error says that the store does not answer.
func (f *Fleet) Revision(ctx context.Context) (int64, error) {
	snapshot, err := f.Store.Read(ctx, store.Key(key.Operators+"admin"))
	return snapshot.Revision, err
}

// retry runs an attempt again while somebody else is first with the same change.
func retry(ctx context.Context, attempt func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	for range maxAttempts {
		err := attempt(ctx)
		if !errors.Is(err, store.ErrChanged) {
			return err
		}
	}
	return refuse(Busy, "the same thing was changed by others %d times meanwhile; try again", maxAttempts)
}

// decode reads a value of the store. One that cannot be read is a failure of the store, not an absence.
func decode(kv store.KV, into any) error {
	if err := json.Unmarshal(kv.Value, into); err != nil {
		return &store.UnavailableError{Operation: "decode " + kv.Key, Err: err}
	}
	return nil
}

func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", value, err)) // our own types: cannot happen
	}
	return text
}
