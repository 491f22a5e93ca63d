// SPDX-License-Identifier: Apache-2.0

package mac

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/textlist"
)

// Keys checks all keys of a map at once: one validator for each of 10,000 keys takes seconds.
type Keys struct{}

var _ validator.Map = Keys{}

// Description is what the keys have to be.
func (Keys) Description(context.Context) string { return "keys are MACs in lower case with colons" }

// MarkdownDescription is the same.
func (v Keys) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateMap refuses other spellings: a map can have each machine once.
func (Keys) ValidateMap(_ context.Context, request validator.MapRequest, response *validator.MapResponse) {
	var bad []string
	for key := range request.ConfigValue.Elements() {
		if address, err := api.ParseMAC(key); err != nil || address != key {
			bad = append(bad, fmt.Sprintf("%q", key))
		}
	}
	if len(bad) == 0 {
		return
	}
	response.Diagnostics.AddAttributeError(request.Path, "Keys that are not MACs",
		fmt.Sprintf("Want lower case with colons, such as 52:54:00:77:00:01 (provider::sled::mac makes that of other "+
			"notations), not %s.", textlist.Sentence(bad)))
}
