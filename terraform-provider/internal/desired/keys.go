// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
)

// Keys validates SSH public keys in the plan, so that a private key is neither sent nor stored in a state.
type Keys struct{}

// Description implements validator.List.
func (Keys) Description(context.Context) string { return "SSH public keys" }

// MarkdownDescription implements validator.List.
func (k Keys) MarkdownDescription(ctx context.Context) string { return k.Description(ctx) }

// ValidateList implements validator.List.
func (Keys) ValidateList(_ context.Context, request validator.ListRequest, response *validator.ListResponse) {
	for i, element := range request.ConfigValue.Elements() {
		key, text := element.(types.String)
		if !text || key.IsUnknown() {
			continue
		}
		if err := api.CheckKey(key.ValueString()); err != nil {
			response.Diagnostics.AddAttributeError(request.Path, "Not an SSH public key",
				fmt.Sprintf("Key %d %v.", i+1, err))
		}
	}
}
