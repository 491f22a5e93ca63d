// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/operand"
)

// Request is what a plan is made for.
type Request struct {
	Generation int64          // of the binding; 0: none
	Run        int64          // number of the plan
	Steps      []operand.Line // to do instead of following the binding; none: the binding is followed
	Binding    *api.Binding   // nil: there is nothing to do, and the node waits
	HandsOver  bool           // the machine changes hands: all disks are overwritten first
	Node       api.NodeSpec   // as declared
	Image      *api.ImageSpec // of the binding
	Kernel     *api.ImageSpec // that the Sled system is started on before the binding is followed; nil: none
	Facts      *api.Facts     // that the boot has sent; nil: none yet
	Erased     *api.Erased    // disks that a tear-down in the same boot has erased; nil: none
	Known      string         // stamp of the newest write that the store knows of; empty: no disk is refused
	Stamp      string         // of this plan; empty: none
	Confirm    string         // URL by which a payload confirms that it runs; empty: none yet
	Receivers  int            // nodes that receive the image now, this one included
	Site       Site
}

// Site is what the plans of all nodes have in common.
type Site struct {
	Upload   string   // URL that nodes put captured images to
	Images   []string // URLs that the boot servers serve images below
	Sender   *Sender  // of images by multicast; nil: none
	Relays   Relays
	Watchdog int // seconds that one is armed with before a kexec; 0: none
}

// ErrNoFacts is the reason why a plan that names a disk, or sets up declared interfaces, cannot be made yet.
var ErrNoFacts = errors.New("no facts of this boot: a node reports its hardware before it gets a plan that names any")

// DiskError is the reason why a selector or a keep list of a plan does not resolve with the disks of the node.
type DiskError struct {
	Selector string // of the disk that the plan is about, or all
	Err      error
}

func (e *DiskError) Error() string { return e.Err.Error() }

func (e *DiskError) Unwrap() error { return e.Err }

// Render makes the plan of a node. Each disk has its identity in it.
func Render(r Request) (Plan, error) {
	p, err := Draft(r)
	if err != nil {
		return p, err
	}
	transport, interfaces := "", r.Node.Network.Declared() && p.configures()
	if r.Facts == nil && (interfaces || p.NamesDisks()) {
		return Plan{}, ErrNoFacts
	}
	if p.NamesDisks() {
		table := r.Facts.Table()
		pinned, err := p.pin(table)
		if err != nil {
			return Plan{}, &DiskError{p.Disk(), err}
		}
		p = pinned.withoutErased(r.Erased, table)
		p.watch(r.Site.Watchdog)
		p.stamp(r.Known, r.Stamp)
	}
	if interfaces {
		if err := checkNetwork(r.Node, r.Facts); err != nil {
			return Plan{}, err
		}
	}
	if r.Binding != nil {
		transport = r.Binding.Transport
	}
	relay := r.Site.Relays.Of(r.Node.Labels)
	if err := p.receive(r.Site.Sender.At(relay), transport, r.Receivers); err != nil {
		return Plan{}, err
	}
	p.fetch(relay, r.Site.Images)
	return p, check(p)
}

// Draft makes a plan as far as it does not depend on the disks and the network of the node: with selectors as declared.
func Draft(r Request) (Plan, error) {
	p := Plan{Generation: r.Generation, Run: r.Run, Steps: r.Steps}
	var err error
	switch {
	case len(r.Steps) > 0:
	case r.Binding == nil:
		p.add("idle", nil)
	default:
		err = p.build(r)
	}
	if err != nil {
		return Plan{}, err
	}
	return p, check(p)
}
