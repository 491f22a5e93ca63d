// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Outcomes of a kexec.
const (
	attempted = "attempted"
	open      = "open" // jumped, and nothing was heard yet
	confirmed = "confirmed"
	missed    = "missed"
)

// kexecs is how a node fared with kexec, as stored. Another model under its MAC starts a record of its own.
type kexecs struct {
	Vendor     string    `json:"vendor"`
	Product    string    `json:"product"`
	Attempts   int64     `json:"attempts"`
	Confirmed  int64     `json:"confirmed"`
	Missed     int64     `json:"missed"`
	Outcome    string    `json:"outcome"` // of the newest
	Generation int64     `json:"generation"`
	Time       time.Time `json:"time"`
}

// readDMI keeps what the firmware says of the machine. A node that has not told its hardware has none.
func (v *view) readDMI(stored []store.KV) error {
	if len(stored) == 0 {
		return nil
	}
	var facts api.Facts
	if err := decode(stored[0], &facts); err != nil {
		return err
	}
	v.dmi = facts.DMI
	return nil
}

// chooseStart turns boot=auto into reboot where kexec is not to be trusted, and keeps why. The stored wish stays as it is.
func (f *Fleet) chooseStart(v *view) error {
	if v.binding == nil || v.binding.Image == "" || v.binding.Boot != "" && v.binding.Boot != "auto" {
		return nil
	}
	if err := v.readDMI(v.extra[0]); err != nil {
		return err
	}
	if found, is := f.Quirks.Find(v.dmi); is {
		v.why = "quirk: " + found.Reason
		if found.Source != "" {
			v.why += ", " + found.Source
		}
	} else if v.kexecs.Attempts > 0 && v.kexecs.Outcome != confirmed && v.sameModel() {
		v.why = "its last kexec, of " + v.kexecs.Time.Format(time.DateOnly) + ", was not confirmed"
	}
	if v.why != "" {
		v.binding.Boot = "reboot"
	}
	return nil
}

// whyNot is what the event of a plan adds to its steps.
func (v *view) whyNot() string {
	if v.why == "" {
		return ""
	}
	return fmt.Sprintf(" (not kexec: %s)", v.why)
}

func (v *view) sameModel() bool {
	return v.kexecs.Vendor == v.dmi["vendor"] && v.kexecs.Product == v.dmi["product"]
}

// starts notes that the node leaves the Sled system, by a jump or through its firmware.
func (v *view) starts(way string, generation int64) {
	if way != "kexec" {
		v.status.Start = "reboot"
		return
	}
	v.status.Start = "kexec"
	if !v.sameModel() {
		v.kexecs = kexecs{Vendor: v.dmi["vendor"], Product: v.dmi["product"]}
	}
	v.kexecs.Attempts++
	v.kexecs.Outcome, v.kexecs.Generation, v.kexecs.Time = open, generation, v.now
	v.outcomes = append(v.outcomes, attempted)
}

// fallsBack notes a cold start of a node that was to start by a jump.
func (v *view) fallsBack() {
	if v.status.Phase == api.Starting && v.status.Start == "kexec" {
		v.status.Start = "fallback"
	}
}

// started takes the installed system's word for how it was started (kexec, firmware, or empty from one that does not say), against
// which what was seen from outside does not count. One that speaks late was right all the same.
func (v *view) started(how string, generation int64) {
	cold := how == "firmware" || how == "" && v.status.Start == "fallback"
	switch {
	case v.status.Start == "kexec" && cold:
		v.status.Start = "fallback"
	case v.status.Start == "fallback" && how == "kexec":
		v.status.Start = "kexec"
	}
	if v.kexecs.Generation != generation {
		return
	}
	if cold {
		v.settle(missed)
		return
	}
	if v.kexecs.Outcome == missed && how == "kexec" {
		v.kexecs.Missed--
		v.kexecs.Outcome = open
	}
	v.settle(confirmed)
}

// settle gives the newest jump its outcome, if it has none.
func (v *view) settle(outcome string) {
	if v.kexecs.Outcome != open {
		return
	}
	if outcome == confirmed {
		v.kexecs.Confirmed++
	} else {
		v.kexecs.Missed++
	}
	v.kexecs.Outcome = outcome
	v.outcomes = append(v.outcomes, outcome)
}

// Kexecs tells how well each model starts by kexec, by vendor and product.
func (f *Fleet) Kexecs(ctx context.Context) (api.KexecList, error) {
	list := api.KexecList{Items: []api.KexecModel{}}
	snapshot, err := f.Store.Read(ctx, store.Prefix(key.Kexecs))
	if err != nil {
		return list, err
	}
	models := map[[2]string]*api.KexecModel{}
	for _, kv := range snapshot.Results[0] {
		var one kexecs
		if err := decode(kv, &one); err != nil {
			return list, err
		}
		name := [2]string{one.Vendor, one.Product}
		if models[name] == nil {
			models[name] = &api.KexecModel{Vendor: one.Vendor, Product: one.Product}
		}
		one.addTo(models[name])
	}
	for _, model := range models {
		if settled := model.Confirmed + model.Missed; settled > 0 {
			rate := float64(model.Confirmed) / float64(settled)
			model.Rate = &rate
		}
		list.Items = append(list.Items, *model)
	}
	slices.SortFunc(list.Items, func(a, b api.KexecModel) int {
		return cmp.Or(cmp.Compare(a.Vendor, b.Vendor), cmp.Compare(a.Product, b.Product))
	})
	return list, nil
}

func (k kexecs) addTo(model *api.KexecModel) {
	model.Nodes++
	model.Attempts += k.Attempts
	model.Confirmed += k.Confirmed
	model.Missed += k.Missed
	if k.Time.After(model.Time) {
		model.Last, model.Time = k.Outcome, k.Time
	}
}

// QuirkList gives the quirks that are in force.
func (f *Fleet) QuirkList() api.QuirkList {
	return api.QuirkList{Items: append([]api.Quirk{}, f.Quirks.Items()...)}
}
