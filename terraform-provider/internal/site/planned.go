// SPDX-License-Identifier: Apache-2.0

package site

import (
	"fmt"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// planned holds what resources of this run have planned of bindings so far, for the checks of later ones.
type planned struct {
	mu    sync.Mutex
	bound map[string]string // what binds a machine that was not bound, by MAC

	released map[string]bool // MACs of machines whose binding a resource removes
	adopted  map[string]bool // MACs of machines whose binding another resource takes over as it is
	cleared  map[string]bool // MACs of machines that are wiped if the resource that binds them is replaced
	replaced map[string]bool // MACs of machines whose binding was replaced before the old one was removed
}

// put records a value once; it returns the other one that is there.
func put(all *map[string]string, key, value string) string {
	if other, found := (*all)[key]; found {
		return other
	}
	if *all == nil {
		*all = map[string]string{}
	}
	(*all)[key] = value
	return ""
}

// PlanBinding records that a machine is bound which was not. Two bindings of one machine are an error.
func (s *Site) PlanBinding(mac, by string) diag.Diagnostics {
	s.planned.mu.Lock()
	defer s.planned.mu.Unlock()
	if other := put(&s.planned.bound, mac, by); mac != "" && other != "" {
		return diag.Diagnostics{diag.NewErrorDiagnostic(fmt.Sprintf("Two resources bind the machine with MAC %s", mac),
			fmt.Sprintf("One is %s, the other %s. A machine has one binding: remove one of them.", other, by))}
	}
	return nil
}

// Release records that a resource removes the binding of a machine, Adopt that another one takes it over as it is. Both
// in one apply are an error: if the removal comes first, the other resource images the machine.
func (s *Site) Release(mac string) diag.Diagnostics {
	return s.moves(&s.planned.released, s.planned.adoptedHas, mac)
}

// Adopt is described at Release.
func (s *Site) Adopt(mac string) diag.Diagnostics {
	return s.moves(&s.planned.adopted, s.planned.releasedHas, mac)
}

func (w *planned) adoptedHas(mac string) bool  { return w.adopted[mac] }
func (w *planned) releasedHas(mac string) bool { return w.released[mac] }

func (s *Site) moves(set *map[string]bool, other func(string) bool, mac string) diag.Diagnostics {
	s.planned.mu.Lock()
	defer s.planned.mu.Unlock()
	note(set, mac)
	if !other(mac) {
		return nil
	}
	return diag.Diagnostics{diag.NewErrorDiagnostic(fmt.Sprintf("The binding of %s moves in one apply", mac),
		"One resource of this plan removes it, another one takes it over. To keep the machine as it is, add it to the "+
			"new resource and apply, then remove it from the old one and apply. A sled_binding is removed by a removed "+
			"block with destroy = false, which may be in the first apply.")}
}

// Released reports whether Release was called.
func (s *Site) Released(mac string) bool {
	s.planned.mu.Lock()
	defer s.planned.mu.Unlock()
	return s.planned.released[mac]
}

// Clears records that a resource leaves a wipe for a machine when it is removed. If it is replaced, the wipe comes
// first.
func (s *Site) Clears(mac string) {
	s.planned.mu.Lock()
	defer s.planned.mu.Unlock()
	note(&s.planned.cleared, mac)
}

// Cleared reports whether Clears was called.
func (s *Site) Cleared(mac string) bool {
	s.planned.mu.Lock()
	defer s.planned.mu.Unlock()
	return s.planned.cleared[mac]
}

// Supersede records that a new binding took the place of the one that it replaces, whose removal is still to come.
func (s *Site) Supersede(mac string) {
	s.planned.mu.Lock()
	defer s.planned.mu.Unlock()
	note(&s.planned.replaced, mac)
}

// Superseded reports whether Supersede was called: nothing is left to remove.
func (s *Site) Superseded(mac string) bool {
	s.planned.mu.Lock()
	defer s.planned.mu.Unlock()
	return s.planned.replaced[mac]
}
