// SPDX-License-Identifier: Apache-2.0

package site

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// fleetKey is where the private state of a resource has the UUID of the fleet that it was read from.
const fleetKey = "fleet"

// Kept is a private state that is read.
type Kept interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

// Keeper is a private state that is written.
type Keeper interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// SameFleet refuses to compare what one fleet had with what the server of another one answers: everything would seem to
// be gone. Provider argument fleet allows that. A new state has no fleet.
func (s *Site) SameFleet(ctx context.Context, private Kept) diag.Diagnostics {
	text, diagnostics := private.GetKey(ctx, fleetKey)
	var was string
	if len(text) == 0 || s.pinned || diagnostics.HasError() {
		return diagnostics
	}
	if err := json.Unmarshal(text, &was); err != nil {
		diagnostics.AddError("The private state is damaged", "Its UUID of the fleet: "+err.Error())
	} else if was != s.fleet {
		diagnostics.Append(s.causes.report("fleet "+was,
			fmt.Sprintf("This state belongs to fleet %s, the server is fleet %s", was, s.fleet),
			fmt.Sprintf("%s has another store than the one that this state was read from: it is another server, or its "+
				"store was lost. Nothing was changed. Check the provider's server.\n\nIf this server has the machines now, "+
				"set fleet = %q in the provider block. What it does not know then counts as drift: nothing is imaged "+
				"unless on_drift is \"reimage\".", s.client.Server(), s.fleet), "It is another server, or its store was lost."))
	}
	return diagnostics
}

// KeepFleet records the fleet that a state was read from.
func (s *Site) KeepFleet(ctx context.Context, private Keeper) diag.Diagnostics {
	return private.SetKey(ctx, fleetKey, []byte(fmt.Sprintf("%q", s.fleet)))
}

// identify records the fleet of the server, which must be the one of the provider block if that names one.
func (s *Site) identify(fleet, wanted string) diag.Diagnostics {
	s.fleet, s.pinned = fleet, wanted != ""
	if wanted == "" || wanted == fleet {
		return nil
	}
	return diag.Diagnostics{diag.NewErrorDiagnostic("The server is that of another fleet",
		fmt.Sprintf("The provider is for fleet %s; the fleet of %s is %s. Check server and fleet in the provider block; "+
			"sledctl store prints the UUID of a fleet.", wanted, s.client.Server(), fleet))}
}
