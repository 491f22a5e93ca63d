// SPDX-License-Identifier: Apache-2.0

// Package admitwithin is the attribute admit_within: the windows of admission that an apply opens.
package admitwithin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
	"github.com/sled-fleet/sled/terraform-provider/internal/textlist"
)

// The shortest and the longest time that a boot can be expected within.
const (
	leastWithin = 10 * time.Second
	mostWithin  = 24 * time.Hour
)

// Attribute is admit_within. machine is what boots, and when names the applies that open a window.
func Attribute(machine, when string) schema.Attribute {
	return schema.StringAttribute{Optional: true, Validators: []validator.String{within{}},
		MarkdownDescription: "Expect a boot of " + machine + " within this time of an apply, such as `15m`: 10 seconds " +
			"to 24 hours. " + when + " A machine that boots in it is admitted at level `expected`, so whoever is on the " +
			"boot network can claim to be a machine that is off. Default: none; a binding itself opens no window."}
}

// Open opens the windows of nodes, if there are to be any: their MACs, and what a warning calls them. The bindings are
// stored already, so a failure is a warning: the machines wait, and an operator can admit them.
func Open(ctx context.Context, s *site.Site, nodes map[string]string, within types.String) diag.Diagnostics {
	if within.IsNull() || within.IsUnknown() || len(nodes) == 0 {
		return nil
	}
	length, err := time.ParseDuration(within.ValueString())
	if err != nil {
		return warning(slices.Sorted(maps.Values(nodes)), err.Error(), within)
	}
	spec := api.ExpectSpec{By: "terraform", Seconds: int64(length / time.Second)}
	var mu sync.Mutex
	var failed []string
	reason := ""
	site.Each(slices.Collect(maps.Keys(nodes)), func(mac string) {
		name := nodes[mac]
		diagnostics := s.Call(ctx, "expect a boot of node "+name, func(ctx context.Context, client *api.Client) error {
			_, err := client.Expect(ctx, mac, spec)
			return err //nolint:wrapcheck // Call explains it
		})
		if diagnostics.HasError() {
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, name)
			reason, _, _ = strings.Cut(diagnostics[0].Detail(), "\n\n")
		}
	})
	if len(failed) == 0 {
		return nil
	}
	slices.Sort(failed)
	return warning(failed, reason, within)
}

func warning(nodes []string, reason string, within types.String) diag.Diagnostics {
	what, stored := "node "+nodes[0], "The binding is stored. Before the machine boots:"
	if len(nodes) > 1 {
		what, stored = fmt.Sprintf("%d nodes", len(nodes)), "The bindings are stored. Before the machines boot:"
	}
	commands := make([]string, len(nodes))
	for i, node := range nodes {
		commands[i] = fmt.Sprintf("sledctl admit %s --within %s", node, within.ValueString())
	}
	return diag.Diagnostics{diag.NewAttributeWarningDiagnostic(path.Root("admit_within"),
		fmt.Sprintf("No boot of %s is expected", what),
		reason+"\n\n"+stored+"\n"+textlist.Lines(commands))}
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
