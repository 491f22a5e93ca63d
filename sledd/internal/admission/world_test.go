// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"slices"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
)

// key writes what of a world decides about its future: worlds with the same key are one. A time counts as its age, up
// to the age from which on no rule of the model distinguishes. Ages that end claims and incumbents are longer than any
// trace.
func (w *world) key() string {
	k := keyOf{world: w, out: make([]byte, 0, 64)}
	claims := make([]string, 0, 4)
	for i := range w.adm.Claims {
		k.claim(&w.adm.Claims[i])
		claims, k.out = append(claims, string(k.out)), k.out[:0]
	}
	slices.Sort(claims) // their order decides nothing
	for _, claim := range claims {
		k.out = append(k.out, claim...)
	}
	k.out = append(k.out, '|')
	if i := w.adm.Incumbent; i != nil {
		k.claim(&i.Claim)
		k.out = append(k.out, byte(i.Level), k.held(i.HoldFrom), min(k.age(i.Asked), 2),
			min(k.age(i.LastAsked), 1))
		k.flags(i.Contested)
	}
	if v := w.adm.Window; v != nil {
		k.out = append(k.out, k.held(v.Opened), byte(v.Ends.Sub(w.time())/tick))
	}
	k.out = append(k.out, '|', byte(w.adm.Floor), byte(w.adm.Boots), k.held(w.adm.LastWord), byte(w.power), byte(w.node),
		byte(w.adm.Generation), byte(w.cuts), byte(max(w.window-w.now, 0)), byte(min(w.now-max(w.opened, w.word), held)),
		byte(w.boots), byte(w.level))
	k.flags(w.seeded, w.done, w.said, w.contested, w.claim == "", w.local, !w.adm.Rival.IsZero())
	return string(k.out)
}

const (
	oldest = 9 // age that matters, in ticks: that of IncumbentLag
	held   = 6 // age at which a hold has ended
)

type keyOf struct {
	*world
	out []byte
}

func (k *keyOf) age(t time.Time) byte {
	if t.IsZero() {
		return oldest + 1
	}
	return byte(min(k.time().Sub(t)/tick, oldest))
}

func (k *keyOf) held(t time.Time) byte {
	return byte(min(k.time().Sub(t)/tick, held)) // none is long ago
}

func (k *keyOf) flags(values ...bool) {
	var bits byte
	for i, value := range values {
		if value {
			bits |= 1 << i
		}
	}
	k.out = append(k.out, bits)
}

func (k *keyOf) claim(claim *admission.Claim) {
	owner := claim.ID[0]
	if claim.ID == k.world.claim {
		owner = 'M'
	}
	i := k.adm.Incumbent
	k.out = append(k.out, owner, k.age(claim.Seen))
	k.flags(claim.Link == admission.LinkOther, claim.Spoke, claim.Rival, len(claim.Evidence) > 0,
		i != nil && claim.Seen.After(i.At), !claim.Admitted.IsZero())
}
