// SPDX-License-Identifier: Apache-2.0

package site

import (
	"context"
	"testing"
)

// An object finds the one that took its place, whichever is read first, and waits for none that is not there.
func TestHasNewer(t *testing.T) {
	s := &Site{}
	s.Refreshing("a", 1)
	found := make(chan bool)
	go func() { found <- s.HasNewer(t.Context(), "a", 1) }()
	s.Refreshing("b", 2)
	s.Refreshing("a", 2)
	if !<-found {
		t.Error("the newer object was not found")
	}
	if !s.HasNewer(t.Context(), "a", 1) {
		t.Error("the newer object, read before, was not found")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if s.HasNewer(gone, "a", 2) || s.HasNewer(gone, "c", 1) {
		t.Error("an object is superseded by itself, or by one that does not exist")
	}
}
