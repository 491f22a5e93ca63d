// SPDX-License-Identifier: Apache-2.0

package mac

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/sled-fleet/sled/sledd/api"
)

// Canonical accepts MACs as Sled stores them, for collections: their elements are compared as texts.
func Canonical() validator.String { return canonical{} }

type canonical struct{}

func (canonical) Description(context.Context) string { return "a MAC in lower case with colons" }

func (c canonical) MarkdownDescription(ctx context.Context) string { return c.Description(ctx) }

func (c canonical) ValidateString(ctx context.Context, request validator.StringRequest,
	response *validator.StringResponse) {
	if request.ConfigValue.IsNull() || request.ConfigValue.IsUnknown() {
		return
	}
	text := request.ConfigValue.ValueString()
	if address, err := api.ParseMAC(text); err != nil || address != text {
		response.Diagnostics.AddAttributeError(request.Path, "Not a MAC as Sled stores it",
			fmt.Sprintf("%q: want %s, such as 52:54:00:77:00:01; provider::sled::mac makes that of other notations.", text,
				c.Description(ctx)))
	}
}
