// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
)

// kind of step for one machine.
type kind int

const (
	keep    kind = iota // nothing is sent
	put                 // the desired state is sent
	again               // the same desired state is sent with a raised generation
	unbind              // the binding is removed
	clean               // the binding becomes a wipe without an owner
	drifted             // somebody else changed the binding, and that is left alone
	blocked             // the same, but something else is to be done about it
	failed              // the same, and that is an error
	foreign             // it belongs to another owner, and something is to be done about it
)

// step for one machine, and the generation that its binding has afterwards.
type step struct {
	kind
	generation int64
	from       int64 // the generation before, when the disk is written
	raises     bool  // the disk is written
	adopts     bool  // the binding is taken over as it is, from another resource of this provider
	other      desired.State
}

// declared is the contents of a configuration or a state.
type declared struct {
	images    map[string]string
	triggers  map[string]string
	uniform   desired.State
	onDrift   desired.OnDrift
	onDestroy string
}

func declare(m model) declared {
	return declared{images: stringMap(m.Images), triggers: stringMap(m.ReimageTriggers), uniform: m.State(),
		onDrift: desired.OnDrift(m.OnDrift.ValueString()), onDestroy: m.OnDestroy.ValueString()}
}

// stateOf is the desired state of one machine.
func (d declared) stateOf(mac string) desired.State { return d.uniform.With(d.images[mac]) }

// defaults holds the values that the configuration leaves out.
type defaults struct {
	digests map[string]string   // of images
	nodes   map[string]api.Node // whose disks are the default
}

// with adds them to the desired state of a machine.
func (d defaults) with(mac string, state desired.State) desired.State {
	state.Digest = d.digests[state.Image]
	if node, found := d.nodes[mac]; found {
		state.On = &node.NodeSpec
	}
	return state
}

// comparison is of what was declared, what is stored, and what is planned.
type comparison struct {
	owner       string
	family      string // owner of the provider, of which owner is made
	prior       declared
	generations map[string]int64 // of the state
	planned     declared
	stored      map[string]stored
	imported    bool                // triggers that are new image nothing
	kept        desired.Kept        // what an import found and the configuration does not name
	bound       map[string]api.Node // machines beside those of the state that this provider has bound
	replaced    bool                // what is stored is removed first
	defaults
}

// step decides about a machine that is in the state.
func (c *comparison) step(mac string) step {
	e := c.stored[mac]
	declared, planned := c.with(mac, c.prior.stateOf(mac).Named(e.Hostname)),
		c.with(mac, c.planned.stateOf(mac).Named(e.Hostname))
	s := desired.Situation{Declared: declared, Stored: declared, Planned: planned, OnDrift: c.planned.onDrift,
		Triggered: c.triggered(mac), Absent: e.Absent}
	if e.Desired != nil {
		s.Stored = c.with(mac, *e.Desired)
	}
	if c.adoptsSeed() {
		s.Planned = s.Planned.As(s.Stored.UserDataSHA256)
	}
	if e.foreign(c.owner) {
		return c.stepForeign(mac, s)
	}
	switch desired.Decide(s) {
	case desired.Again:
		k := put
		if !s.Planned.Reimages(s.Stored) {
			k = again
		}
		next := api.NextGeneration(e.Generation, e.Observed)
		if e.Absent {
			next = api.NextGeneration(0, e.Observed)
		}
		return step{kind: k, generation: next, from: e.Generation, raises: true}
	case desired.Failed:
		return step{kind: failed, generation: c.generations[mac], other: s.Stored}
	case desired.Tolerated:
		return step{kind: drifted, generation: c.generations[mac], other: s.Stored}
	case desired.Blocked:
		return step{kind: blocked, generation: c.generations[mac], other: s.Stored}
	case desired.Settled:
		if planned.Equal(s.Stored) {
			return step{kind: keep, generation: e.Generation}
		}
	}
	return step{kind: put, generation: e.Generation}
}

// adoptsSeed: an import cannot know which version is stored, and takes it for the declared one.
func (c *comparison) adoptsSeed() bool {
	return c.imported && c.prior.uniform.Version() == "" && c.planned.uniform.Version() != "" &&
		c.prior.uniform.UserDataSHA256 != ""
}

// keepsSeed reports whether sledd has the user data of the planned version for a machine.
func (c *comparison) keepsSeed(mac string) bool {
	version, e := c.planned.uniform.Version(), c.stored[mac]
	if _, there := c.prior.images[mac]; there && c.kept.UserData && !e.Absent {
		return true
	}
	if _, there := c.prior.images[mac]; !there || version == "" || e.Absent {
		_, bound := c.bound[mac]
		return bound && version != ""
	}
	stored := c.prior.uniform
	if e.Desired != nil {
		stored = *e.Desired
	}
	return stored.Version() == version || c.adoptsSeed()
}

// unbound is what drifted has of a machine that somebody took the binding away from.
const unbound = "(not bound)"

// exception is what a machine is bound to instead of what is declared.
func (c *comparison) exception(mac string, s step) string {
	if c.stored[mac].Absent {
		return unbound
	}
	return s.other.Image
}

// stepForeign decides about a machine that another owner took over: it is never changed.
func (c *comparison) stepForeign(mac string, s desired.Situation) step {
	found := step{kind: foreign, generation: c.generations[mac], other: s.Stored}
	if !s.Triggered && s.Planned.Same(s.Declared) && s.OnDrift != desired.Reimage {
		found.kind = drifted
	}
	return found
}

// triggered reports whether a machine's trigger changed. Removing a trigger images nothing.
func (c *comparison) triggered(mac string) bool {
	was, before := c.prior.triggers[mac]
	is, now := c.planned.triggers[mac]
	if !now || before && was == is || c.imported {
		return false
	}
	asked := c.stored[mac].Asked
	return asked == nil || asked.Trigger != is || c.stored[mac].Generation < asked.Generation
}

// stepNew decides about a declared machine that is not in the state yet.
func (c *comparison) stepNew(mac string, node api.Node) step {
	status := node.Status.Generation
	if _, back := c.stored[mac]; node.Binding == nil || c.replaced && back {
		return step{kind: put, generation: api.NextGeneration(0, status), from: status, raises: true}
	}
	there := desired.Of(*node.Binding)
	planned := c.planned.stateOf(mac)
	planned.On = &node.NodeSpec
	if planned.Version() != "" && c.sibling(there.Owner) { // by an apply that ended early, or another resource
		planned = planned.As(there.UserDataSHA256)
	}
	switch {
	case there.Owner == "" || there.Owner == c.owner:
	case c.sibling(there.Owner) && planned.Same(there):
		return step{kind: put, generation: node.Binding.Generation, from: node.Binding.Generation, adopts: true, other: there}
	default:
		return step{kind: foreign, other: there}
	}
	generation := desired.Generation(planned, node.Binding, status, false)
	return step{kind: put, generation: generation, from: node.Binding.Generation,
		raises: generation != node.Binding.Generation}
}

// sibling reports whether an owner is of this provider: this resource, another sled_bindings or a sled_binding.
func (c *comparison) sibling(owner string) bool {
	return c.family != "" && (owner == c.family || strings.HasPrefix(owner, c.family+":"))
}

// stepGone decides about a machine that is in the state and no longer in the plan.
func (c *comparison) stepGone(mac string) step {
	e := c.stored[mac]
	switch {
	case e.Generation == 0 || e.Absent || e.foreign(c.owner):
		return step{kind: keep}
	case c.planned.onDestroy != "wipe":
		return step{kind: unbind, generation: e.Generation}
	default:
		return step{kind: clean, generation: api.NextGeneration(e.Generation, e.Observed), from: e.Generation,
			raises: e.Desired == nil || !e.Desired.WipeOnly()}
	}
}
