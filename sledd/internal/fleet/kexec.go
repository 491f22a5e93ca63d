// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"context"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Kexecs tells how well each model starts by kexec, by vendor and product.
func (f *Fleet) Kexecs(ctx context.Context) (api.KexecList, error) {
	list := api.KexecList{Items: []api.KexecModel{}}
	snapshot, err := f.Store.Read(ctx, store.Prefix(key.Kexecs))
	if err != nil {
		return list, err
	}
	models := map[[2]api.Identifier]*api.KexecModel{}
	for _, kv := range snapshot.Results[0] {
		var one nodetx.Kexecs
		if err := nodetx.Decode(kv, &one); err != nil {
			return list, err
		}
		name := [2]api.Identifier{one.Vendor, one.Product}
		if models[name] == nil {
			models[name] = &api.KexecModel{Vendor: one.Vendor, Product: one.Product}
		}
		addKexecs(models[name], one)
	}
	for _, model := range models {
		if settled := model.Confirmed + model.Missed; settled > 0 {
			rate := float64(model.Confirmed) / float64(settled)
			model.Rate = &rate
		}
		list.Items = append(list.Items, *model)
	}
	slices.SortFunc(list.Items, func(a, b api.KexecModel) int {
		return cmp.Or(cmp.Compare(a.Vendor.String(), b.Vendor.String()), cmp.Compare(a.Product.String(),
			b.Product.String()))
	})
	return list, nil
}

// addKexecs adds the outcomes of one node to those of its model.
func addKexecs(model *api.KexecModel, k nodetx.Kexecs) {
	model.Nodes++
	model.Attempts += k.Attempts
	model.Confirmed += k.Confirmed
	model.Missed += k.Missed
	model.Payloads.Attempts += k.Payloads.Attempts
	model.Payloads.Confirmed += k.Payloads.Confirmed
	model.Payloads.Missed += k.Payloads.Missed
	if k.Time.After(model.Time) {
		model.Last, model.Time = k.Outcome, k.Time
	}
}
