// SPDX-License-Identifier: Apache-2.0

package api

// NextGeneration is the generation of a binding with a new desired state: above that of the binding before (0: none)
// and above that of the plan that the node last received.
func NextGeneration(binding, status int64) int64 { return max(binding, status) + 1 }
