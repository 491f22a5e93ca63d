// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

// Keys of the private state.
const (
	storedKey   = "stored"   // map of MAC to stored
	importedKey = "imported" // "true" until the first change: triggers that are new then image nothing
	keptKey     = "kept"     // desired.Kept of an import
)

// stored is what sledd had for a machine at the last refresh, as far as plans need it. It is kept in the private state
// and not read again, so a plan means the same when it is applied.
type stored struct {
	Generation int64          `json:"g"`
	Observed   int64          `json:"o,omitempty"` // generation of the status
	Revision   int64          `json:"r"`
	Desired    *desired.State `json:"w,omitempty"` // only of an exception: when it is not the one of the state
	Absent     bool           `json:"n,omitempty"` // somebody took the binding away
	Hostname   string         `json:"h,omitempty"` // that an import found: it stays, as none can be declared
	// Asked is what was requested when the answer was lost.
	Asked *asked `json:"a,omitempty"`
}

// asked is a generation that a changed trigger requested.
type asked struct {
	Generation int64  `json:"g"`
	Trigger    string `json:"t"`
}

// foreign reports whether it belongs to another owner.
func (s stored) foreign(owner string) bool {
	return s.Desired != nil && s.Desired.Owner != "" && s.Desired.Owner != owner
}

// getStored reads the record, of the fleet that answers, and tells the guard which machines are in it.
func (b *bindings) getStored(ctx context.Context, private site.Kept, diagnostics *diag.Diagnostics) map[string]stored {
	diagnostics.Append(b.site.SameFleet(ctx, private)...)
	all := map[string]stored{}
	text, found := private.GetKey(ctx, storedKey)
	diagnostics.Append(found...)
	if len(text) > 0 {
		if err := json.Unmarshal(text, &all); err != nil {
			diagnostics.AddError("The state cannot be read", "Its record of the bindings is damaged: "+err.Error())
		}
	}
	for mac := range all {
		diagnostics.Append(b.site.Know(mac, "")...)
	}
	return all
}

func (b *bindings) setStored(ctx context.Context, private site.Keeper, all map[string]stored,
	diagnostics *diag.Diagnostics) {
	text, err := json.Marshal(all)
	if err != nil {
		diagnostics.AddError("The state cannot be written", err.Error())
		return
	}
	diagnostics.Append(private.SetKey(ctx, storedKey, text)...)
	diagnostics.Append(b.site.KeepFleet(ctx, private)...)
}

func getKept(ctx context.Context, private site.Kept, diagnostics *diag.Diagnostics) (kept desired.Kept) {
	text, found := private.GetKey(ctx, keptKey)
	diagnostics.Append(found...)
	if len(text) > 0 {
		if err := json.Unmarshal(text, &kept); err != nil {
			diagnostics.AddError("The state cannot be read", "Its record of the import is damaged: "+err.Error())
		}
	}
	return kept
}

func setKept(ctx context.Context, private site.Keeper, kept desired.Kept, diagnostics *diag.Diagnostics) {
	text, err := json.Marshal(kept)
	if err != nil {
		diagnostics.AddError("The state cannot be written", err.Error())
		return
	}
	diagnostics.Append(private.SetKey(ctx, keptKey, text)...)
}

func getImported(ctx context.Context, private site.Kept, diagnostics *diag.Diagnostics) bool {
	text, found := private.GetKey(ctx, importedKey)
	diagnostics.Append(found...)
	return string(text) == "true"
}
