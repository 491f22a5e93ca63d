// SPDX-License-Identifier: Apache-2.0

package bindings

import "github.com/sled-fleet/sled/terraform-provider/internal/site"

// catchUp renames the machines that get another MAC in this run: their bindings move with them, and sledd may have done
// so or not yet.
func (c *comparison) catchUp(s *site.Site) {
	for mac := range c.prior.images {
		one, found := s.Exchanged(mac)
		if !found {
			continue
		}
		move(c.prior.images, mac, one.To)
		move(c.prior.triggers, mac, one.To)
		move(c.generations, mac, one.To)
		move(c.stored, mac, one.To)
		if e := c.stored[one.To]; one.Generation > 0 && !e.Absent {
			e.Observed += one.Generation - e.Generation
			e.Generation = one.Generation
			c.stored[one.To], c.generations[one.To] = e, one.Generation
		}
	}
}

// move puts a value under another key, if it has one.
func move[T any](all map[string]T, from, to string) {
	if value, found := all[from]; found {
		delete(all, from)
		all[to] = value
	}
}
