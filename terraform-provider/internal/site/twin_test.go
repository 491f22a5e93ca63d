// SPDX-License-Identifier: Apache-2.0

package site

import (
	"context"
	"testing"
)

// An object finds the one that took its place, whichever is read first, and waits for none that is not there.
func TestTwin(t *testing.T) {
	s := &Site{}
	s.Refreshing("a", 1)
	found := make(chan bool)
	go func() { found <- s.Twin(t.Context(), "a", 1) }()
	s.Refreshing("b", 2)
	s.Refreshing("a", 2)
	if !<-found {
		t.Error("the newer object was not found")
	}
	if !s.Twin(t.Context(), "a", 1) {
		t.Error("the newer object, read before, was not found")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if s.Twin(gone, "a", 2) || s.Twin(gone, "c", 1) {
		t.Error("an object is its own twin, or one that is not there")
	}
}
