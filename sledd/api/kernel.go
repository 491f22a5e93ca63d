// SPDX-License-Identifier: Apache-2.0

package api

// OnKernel is how far a node is with the start of the Sled system on the kernel of its binding.
type OnKernel struct {
	Image string      `json:"image" doc:"Name of the image"`
	State KernelState `json:"state" enum:"due,left,up,missed" doc:"due: the node has the plan that starts it. left: it has left to start it. up: the Sled system runs on it. missed: it did not come up"`
}

// KernelState is how far the start of a kernel is.
type KernelState string

// The states of the start of a kernel.
const (
	KernelDue    KernelState = "due"    // the node has the plan that starts it
	KernelLeft   KernelState = "left"   // it has left to start it
	KernelUp     KernelState = "up"     // the Sled system runs on it
	KernelMissed KernelState = "missed" // it did not come up
)
