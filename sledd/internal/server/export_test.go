// SPDX-License-Identifier: Apache-2.0

package server

import (
	"maps"
	"slices"
)

// NodeRoutes are the patterns of all requests of nodes.
func NodeRoutes() []string { return slices.Sorted(maps.Keys((&Server{}).nodeRoutes())) }
