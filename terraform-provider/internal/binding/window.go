// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
)

// The shortest and the longest time that a boot can be expected within.
const (
	leastWithin = 10 * time.Second
	mostWithin  = 24 * time.Hour
)

// expect opens the window of a node, if there is to be one. The binding is stored already, so a failure is a warning:
// the machine waits, and an operator can admit it.
func (b *binding) expect(ctx context.Context, node api.Node, within types.String) diag.Diagnostics {
	if within.IsNull() || within.IsUnknown() {
		return nil
	}
	length, err := time.ParseDuration(within.ValueString())
	if err == nil {
		_ = b.site.Call(ctx, "expect a boot of node "+node.Name, func(ctx context.Context, client *api.Client) error {
			_, err = client.Expect(ctx, node.MAC, api.ExpectSpec{By: "terraform", Seconds: int64(length / time.Second)})
			return err //nolint:wrapcheck // is explained below
		})
	}
	if err == nil {
		return nil
	}
	return diag.Diagnostics{diag.NewAttributeWarningDiagnostic(path.Root("admit_within"),
		fmt.Sprintf("No boot of node %s is expected", node.Name),
		fmt.Sprintf("%s\n\nThe binding is stored. Before the machine boots: sledctl admit %s --within %s", err, node.Name,
			within.ValueString()))}
}

// within accepts the length of a window.
type within struct{}

func (within) Description(context.Context) string { return "a duration from 10s to 24h" }

func (w within) MarkdownDescription(ctx context.Context) string { return w.Description(ctx) }

func (w within) ValidateString(ctx context.Context, request validator.StringRequest,
	response *validator.StringResponse) {
	if request.ConfigValue.IsNull() || request.ConfigValue.IsUnknown() {
		return
	}
	length, err := time.ParseDuration(request.ConfigValue.ValueString())
	if err != nil || length < leastWithin || length > mostWithin || length%time.Second != 0 {
		response.Diagnostics.AddAttributeError(request.Path, "Invalid value of admit_within",
			fmt.Sprintf("%q: want %s, in whole seconds, such as 15m.", request.ConfigValue.ValueString(), w.Description(ctx)))
	}
}
