// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

// onKernel completes a plan of a node whose binding names a kernel: unless the Sled system runs on it, that is started
// first. False: the node gets no plan now.
func (tx *nodeTx) onKernel(wanted *plan.Request) bool {
	if wanted.Binding == nil || wanted.Binding.Kernel == "" {
		return true
	}
	if wanted.Facts == nil { // they are sent again with each poll
		return false
	}
	bound, at := tx.Binding(), &tx.Status().Kernel
	if at.Image != bound.Kernel || at.State == api.KernelDue {
		*at = api.OnKernel{}
	}
	switch again := tx.Status().Generation != bound.Generation; {
	case at.State == api.KernelUp:
		return true
	case at.State == api.KernelLeft: // and has returned
		if runs, want := wanted.Facts.Kernel["release"].String(), bound.On.Kernel.Release; runs != want {
			tx.missKernel(api.CodeNotSupported, "the node runs kernel %s, and not %s of image %s", runs, want, bound.Kernel)
			return false
		}
		at.State = api.KernelUp
		return true
	case at.State == api.KernelMissed && !again:
		return false
	}
	if err := detour.CheckSystem(*bound.On, *tx.Node(), wanted.Facts); err != nil {
		tx.missKernel(api.CodeNotSupported, "%s", err)
		return false
	}
	*at = api.OnKernel{Image: bound.Kernel, State: api.KernelDue}
	wanted.Kernel = bound.On
	return true
}

// besideKernel reports whether the Sled system runs on the kernel of an earlier binding, on which nothing else is
// carried out.
func (tx *nodeTx) besideKernel(wanted plan.Request) bool {
	at := tx.Status().Kernel
	return (at.State == api.KernelUp || at.State == api.KernelLeft) && wanted.Binding != nil && wanted.Binding.Kernel == ""
}

// leftForKernel notes that the node leaves to start the Sled system on the kernel of the binding; false: it does not.
func (tx *nodeTx) leftForKernel() bool {
	at := &tx.Status().Kernel
	if at.State != api.KernelDue {
		return false
	}
	at.State = api.KernelLeft
	tx.Enter(api.Booting)
	return true
}

// bootedKernel notes what a boot means for the kernel that the node has left to start. It reports whether that did not
// come up: the node came through its firmware, and nobody has reset it.
func (tx *nodeTx) bootedKernel() (missed bool) {
	at := &tx.Status().Kernel
	if at.State == api.KernelLeft && tx.returned() {
		return false
	}
	missed = tx.AwaitsKernel() && tx.Admission().Incumbent.Start == 0
	if !missed {
		*at = api.OnKernel{}
	}
	return missed
}

// missKernel notes that the node cannot start the kernel of its binding, with the code of a step; 0: it did not come
// up. A power cycle, and another generation, start it again.
func (tx *nodeTx) missKernel(code int, format string, values ...any) {
	reason := nodetext.Clean(fmt.Sprintf(format, values...))
	tx.Lose(reason)
	tx.Status().Code, tx.Status().Generation = code, tx.Generation()
	tx.Status().Kernel = api.OnKernel{Image: tx.Binding().Kernel, State: api.KernelMissed}
	tx.AddEvent(api.Event{Kind: "lost", Generation: tx.Generation(), Code: code, Detail: reason})
}

// silentOnKernel notes that the node was not heard since it left to start the kernel of its binding.
func (tx *nodeTx) silentOnKernel() {
	bound := tx.Binding()
	tx.missKernel(0, "%s", tx.withConsole(fmt.Sprintf("kernel %s of image %s did not come up within %s",
		bound.On.Kernel.Release, bound.Kernel, api.Starting.Limit())))
}
