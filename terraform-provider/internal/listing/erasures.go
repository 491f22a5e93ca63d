// SPDX-License-Identifier: Apache-2.0

package listing

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

var _ datasource.DataSourceWithConfigure = (*erasures)(nil)

// erasures is data sled_erasures.
type erasures struct{ site *site.Site }

// NewErasuresDataSource makes data sled_erasures.
func NewErasuresDataSource() datasource.DataSource { return &erasures{} }

// chain is its state.
type chain struct {
	Node    types.String `tfsdk:"node"`
	Serial  types.String `tfsdk:"serial"`
	Records []erasure    `tfsdk:"records"`
	Length  types.Int64  `tfsdk:"length"`
}

type erasure struct {
	Number     int64  `tfsdk:"number"`
	Time       string `tfsdk:"time"`
	Node       string `tfsdk:"node"`
	MAC        string `tfsdk:"mac"`
	Generation int64  `tfsdk:"generation"`
	Result     string `tfsdk:"result"`
	Serial     string `tfsdk:"serial"`
	WWN        string `tfsdk:"wwn"`
	Model      string `tfsdk:"model"`
	Bytes      int64  `tfsdk:"bytes"`
	Level      string `tfsdk:"level"`
	Method     string `tfsdk:"method"`
	Verify     string `tfsdk:"verify"`
	Samples    int64  `tfsdk:"samples"`
	BadBytes   int64  `tfsdk:"bad_bytes"`
	Reason     string `tfsdk:"reason"`
	Signature  string `tfsdk:"signature"`
}

func (e *erasures) Metadata(_ context.Context, request datasource.MetadataRequest,
	response *datasource.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_erasures"
}

func (e *erasures) Configure(_ context.Context, request datasource.ConfigureRequest,
	response *datasource.ConfigureResponse) {
	e.site = site.Of(request.ProviderData, &response.Diagnostics)
}

func (e *erasures) Schema(_ context.Context, _ datasource.SchemaRequest, response *datasource.SchemaResponse) {
	attributes := map[string]schema.Attribute{}
	for name, text := range map[string]string{"time": "When sledd received the report, in RFC 3339.",
		"node": "Name of the node then.", "mac": "MAC of the node.", "serial": "Serial number of the disk.",
		"result": "`good`, `failed` or `left`: the disk was left out, and not touched.",
		"wwn":    "World-wide name of the disk.",
		"model":  "Model of the disk.", "level": "What was requested, such as `purge`; empty: left out.",
		"method": "What was done.", "verify": "`sample`, or `full`: all that was emptied was read back.",
		"reason":    "Why it failed or was left out.",
		"signature": "Ed25519 signature in base64; empty: sledd has no key for it."} {
		attributes[name] = schema.StringAttribute{Computed: true, MarkdownDescription: text}
	}
	for name, text := range map[string]string{"number": "Position in the chain, from 1.",
		"generation": "Generation of the binding that wiped the disk.", "bytes": "Size of the disk.",
		"samples": "Samples of 4,096 bytes that were read.", "bad_bytes": "Bytes that could not be written or read."} {
		attributes[name] = schema.Int64Attribute{Computed: true, MarkdownDescription: text}
	}
	filter := []validator.String{stringvalidator.LengthAtLeast(1)}
	response.Schema = schema.Schema{
		MarkdownDescription: "The records of wiped disks, the oldest first. sledd keeps them as a chain that nobody can " +
			"change unseen; `sledctl erasure` verifies it and prints certificates.",
		Attributes: map[string]schema.Attribute{
			"node": schema.StringAttribute{Optional: true, Validators: filter,
				MarkdownDescription: "Only records of the node with this name or MAC. Default: all."},
			"serial": schema.StringAttribute{Optional: true, Validators: filter,
				MarkdownDescription: "Only records of the disk with this serial number. Default: all."},
			"length": schema.Int64Attribute{Computed: true, MarkdownDescription: "Number of records in the whole chain."},
			"records": schema.ListNestedAttribute{Computed: true, MarkdownDescription: "The records that match.",
				NestedObject: schema.NestedAttributeObject{Attributes: attributes}},
		},
	}
}

func (e *erasures) Read(ctx context.Context, request datasource.ReadRequest, response *datasource.ReadResponse) {
	var c chain
	if response.Diagnostics.Append(request.Config.Get(ctx, &c)...); response.Diagnostics.HasError() {
		return
	}
	c.Records = []erasure{}
	response.Diagnostics.Append(e.site.CallBulk(ctx, "list erased disks",
		func(ctx context.Context, client *api.Client) error {
			all, err := client.Erasures(ctx)
			c.Length = types.Int64Value(int64(len(all.Items)))
			for _, one := range all.Items {
				c.add(one)
			}
			return err //nolint:wrapcheck // CallBulk explains it
		})...)
	if !response.Diagnostics.HasError() {
		response.Diagnostics.Append(response.State.Set(ctx, &c)...)
	}
}

// add takes a record that matches.
func (c *chain) add(one api.Erasure) {
	node := c.Node.ValueString()
	if mac, err := api.ParseMAC(node); err == nil {
		node = mac
	}
	serial := c.Serial.ValueString()
	if node != "" && node != one.Node && node != one.MAC || serial != "" && serial != one.Serial.String() {
		return
	}
	c.Records = append(c.Records, erasure{Number: one.Number, Time: one.Time.UTC().Format(time.RFC3339), Node: one.Node,
		MAC: one.MAC, Generation: one.Generation, Result: one.Result, Serial: one.Serial.String(), WWN: one.WWN.String(),
		Model: one.Model.String(), Bytes: one.Bytes, Level: one.Level, Method: one.Method, Verify: one.Verify,
		Samples: one.Samples, BadBytes: one.BadBytes, Reason: one.Reason.String(), Signature: one.Signature})
}
