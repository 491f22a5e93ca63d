// SPDX-License-Identifier: Apache-2.0

package listing

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

var _ datasource.DataSourceWithConfigure = (*rollouts)(nil)

// rollouts is data sled_rollouts.
type rollouts struct{ site *site.Site }

// NewRolloutsDataSource makes data sled_rollouts.
func NewRolloutsDataSource() datasource.DataSource { return &rollouts{} }

// history is its state.
type history struct {
	Running  []string  `tfsdk:"running"`
	Rollouts []rollout `tfsdk:"rollouts"`
}

type rollout struct {
	Name    string `tfsdk:"name"`
	Kind    string `tfsdk:"kind"`
	State   string `tfsdk:"state"`
	Reason  string `tfsdk:"reason"`
	Owner   string `tfsdk:"owner"`
	Silent  int64  `tfsdk:"silent"`
	Waiting int64  `tfsdk:"waiting"`
	Active  int64  `tfsdk:"active"`
	Done    int64  `tfsdk:"done"`
	Failed  int64  `tfsdk:"failed"`
}

func (r *rollouts) Metadata(_ context.Context, request datasource.MetadataRequest,
	response *datasource.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_rollouts"
}

func (r *rollouts) Configure(_ context.Context, request datasource.ConfigureRequest,
	response *datasource.ConfigureResponse) {
	r.site = site.Of(request.ProviderData, &response.Diagnostics)
}

func (r *rollouts) Schema(_ context.Context, _ datasource.SchemaRequest, response *datasource.SchemaResponse) {
	attributes := map[string]schema.Attribute{}
	for name, text := range map[string]string{"name": "Its name.", "kind": "Kind of work, such as `reimage`.",
		"state": "`running`, `stopped`, `done` or `aborted`.", "reason": "Why it was stopped or aborted; else empty.",
		"owner": "Operator who started it."} {
		attributes[name] = schema.StringAttribute{Computed: true, MarkdownDescription: text}
	}
	for name, text := range map[string]string{"silent": "Seconds since its playbook was heard, if it is running and " +
		"they are 60 or more; else 0.", "waiting": "Machines that wait.", "active": "Machines that are imaged now.",
		"done": "Machines that are done.", "failed": "Machines that failed."} {
		attributes[name] = schema.Int64Attribute{Computed: true, MarkdownDescription: text}
	}
	response.Schema = schema.Schema{
		MarkdownDescription: "The rollouts that sledd has a record of. As a precondition, `running` keeps a plan from " +
			"changing what a rollout is working on.",
		Attributes: map[string]schema.Attribute{
			"running": schema.ListAttribute{Computed: true, ElementType: types.StringType,
				MarkdownDescription: "Names of the rollouts that are running."},
			"rollouts": schema.ListNestedAttribute{Computed: true, MarkdownDescription: "All of them.",
				NestedObject: schema.NestedAttributeObject{Attributes: attributes}},
		},
	}
}

func (r *rollouts) Read(ctx context.Context, _ datasource.ReadRequest, response *datasource.ReadResponse) {
	h := history{Running: []string{}, Rollouts: []rollout{}}
	response.Diagnostics.Append(r.site.Call(ctx, "list rollouts", func(ctx context.Context, client *api.Client) error {
		all, err := client.Rollouts(ctx)
		for _, one := range all {
			h.add(one)
		}
		return err //nolint:wrapcheck // Call explains it
	})...)
	if !response.Diagnostics.HasError() {
		response.Diagnostics.Append(response.State.Set(ctx, &h)...)
	}
}

func (h *history) add(one api.Rollout) {
	if one.State == api.RolloutRunning {
		h.Running = append(h.Running, one.Name)
	}
	h.Rollouts = append(h.Rollouts, rollout{Name: one.Name, Kind: one.Kind, State: string(one.State),
		Reason: one.Reason.String(), Owner: one.Owner, Silent: int64(one.Silent), Waiting: int64(one.Counts.Waiting),
		Active: int64(one.Counts.Running), Done: int64(one.Counts.Done), Failed: int64(one.Counts.Failed)})
}
