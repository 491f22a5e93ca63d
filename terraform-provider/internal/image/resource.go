// SPDX-License-Identifier: Apache-2.0

// Package image is sled_image: a published image that bindings can name. Its digest and sizes are read
// where it is published.
package image

import (
	"context"
	"fmt"
	"net/http"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

var (
	_ resource.ResourceWithConfigure   = (*image)(nil)
	_ resource.ResourceWithModifyPlan  = (*image)(nil)
	_ resource.ResourceWithImportState = (*image)(nil)
)

// The forms that sledd takes.
var (
	namePattern      = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,127}$`)
	digestPattern    = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	urlPattern       = regexp.MustCompile(`^https?://[^/, ]+(/[^, ]*)?$`)
	signaturePattern = regexp.MustCompile(`^[A-Za-z0-9+/]{86}==$`)
)

type image struct{ site *site.Site }

// NewResource makes sled_image.
func NewResource() resource.Resource { return &image{} }

func (i *image) Metadata(_ context.Context, _ resource.MetadataRequest, response *resource.MetadataResponse) {
	response.TypeName = "sled_image"
}

func (i *image) Configure(_ context.Context, request resource.ConfigureRequest, response *resource.ConfigureResponse) {
	i.site = site.Of(request.ProviderData, &response.Diagnostics)
}

const description = "A published image, registered under a name that bindings use. Its content is immutable: " +
	"other content gets another name. URLs, labels and signature can change in place. If `digest`, `bytes` or " +
	"`file_bytes` is not set, it is read when the image is registered: from the image's own index at the first of " +
	"`urls` that answers, " +
	"in one or two requests, and verified. Terraform neither creates, fetches nor removes the file.\n\n" +
	"Set `lifecycle { create_before_destroy = true }` where a name changes with a version: the old image can be " +
	"deleted only after its bindings have moved."

func (i *image) Schema(_ context.Context, _ resource.SchemaRequest, response *resource.SchemaResponse) {
	response.Schema = schema.Schema{
		MarkdownDescription: description,
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{Required: true, MarkdownDescription: "Name, such as `debian-12-v1`. A " +
				"change replaces the image.",
				PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
				Validators: []validator.String{stringvalidator.RegexMatches(namePattern,
					"want a-z 0-9 . _ -, at most 128")}},
			"urls": schema.ListAttribute{Required: true, ElementType: types.StringType,
				MarkdownDescription: "Where machines fetch it, tried in turn: 1 to 16 of `http://` or `https://`. " +
					"They can change while machines are bound to it, and must have the same content.",
				Validators: []validator.List{listvalidator.SizeBetween(1, 16),
					listvalidator.ValueStringsAre(stringvalidator.RegexMatches(urlPattern,
						"want http://HOST/PATH or https://HOST/PATH, a comma in it written as %2C"))}},
			"digest": schema.StringAttribute{Optional: true, Computed: true,
				MarkdownDescription: "`sha256:` and the SHA-256 of its index. With `bytes` and `file_bytes` given " +
					"too, nothing is read from `urls`. " +
					"Default: read from `urls`. A change replaces the image.",
				PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown(),
					stringplanmodifier.RequiresReplaceIfConfigured()},
				Validators: []validator.String{stringvalidator.RegexMatches(digestPattern,
					"want sha256: and 64 of 0-9 a-f")}},
			"bytes":      size("Size of the disk, in bytes. Default: read from `urls`.", 512),
			"file_bytes": size("Size of the file, in bytes. Default: read from `urls`.", 1),
			"used_bytes": size("How many bytes of the disk hold something. Default: read from `urls`; null when "+
				"nothing is read.", 0),
			"statement": statementSchema(),
			"signature": schema.StringAttribute{Optional: true, Computed: true,
				MarkdownDescription: "Ed25519 signature of `statement`, 64 bytes in base64, as `sledc " +
					"sign` prints it. It can be added or replaced " +
					"later, in place. Default: the one that is registered, such as by `playbooks/images.yml`, or none.",
				PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
				Validators: []validator.String{stringvalidator.AlsoRequires(path.MatchRoot("statement")),
					stringvalidator.RegexMatches(signaturePattern, "want 64 bytes in base64")}},
			"architecture": schema.StringAttribute{Optional: true, Computed: true,
				Default:             stringdefault.StaticString(defaultArchitecture),
				MarkdownDescription: "`x86_64` or `arm64`. Default `x86_64`. A change replaces the image.",
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
				Validators:          []validator.String{stringvalidator.OneOf("x86_64", "arm64")}},
			"labels": schema.MapAttribute{Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Free labels, at most 64, to select by. Default: none.",
				Validators:          []validator.Map{mapvalidator.SizeAtMost(64)}},
			"partitions": partitionsSchema(),
		},
	}
}

func statementSchema() schema.Attribute {
	return schema.StringAttribute{Optional: true, Computed: true,
		MarkdownDescription: "What `signature` is over, as `sledc sign` prints it: `image 2 name=... line=... " +
			"signed=... digest=...`. Set both or neither. Default: the one that is registered, or none.",
		PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		Validators:    []validator.String{stringvalidator.AlsoRequires(path.MatchRoot("signature"))}}
}

func partitionsSchema() schema.Attribute {
	return schema.ListNestedAttribute{Computed: true,
		MarkdownDescription: "Partitions of its disk by start, as read from `urls`. Null when nothing was " +
			"read: all values were set, or " +
			"the image was imported.",
		PlanModifiers: []planmodifier.List{listplanmodifier.UseStateForUnknown()},
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"start": schema.Int64Attribute{Computed: true,
				MarkdownDescription: "Where it starts on the disk, in bytes."},
			"bytes": schema.Int64Attribute{Computed: true, MarkdownDescription: "Its size, in bytes."},
			"used_bytes": schema.Int64Attribute{Computed: true,
				MarkdownDescription: "How many bytes of it hold something."},
			"content": schema.StringAttribute{Computed: true,
				MarkdownDescription: "What is in it: `ext4`, `xfs`, `swap`, `lvm`, `data` ..."},
		}}}
}

func size(description string, least int64) schema.Int64Attribute {
	return schema.Int64Attribute{Optional: true, Computed: true, MarkdownDescription: description +
		" A change replaces the image.",
		PlanModifiers: []planmodifier.Int64{int64planmodifier.UseStateForUnknown(),
			int64planmodifier.RequiresReplaceIfConfigured()},
		Validators: []validator.Int64{int64validator.AtLeast(least)}}
}

func (i *image) Create(ctx context.Context, request resource.CreateRequest, response *resource.CreateResponse) {
	var m model
	response.Diagnostics.Append(request.Plan.Get(ctx, &m)...)
	if response.Diagnostics.HasError() {
		return
	}
	spec, diagnostics := m.spec(ctx)
	if response.Diagnostics.Append(diagnostics...); response.Diagnostics.HasError() {
		return
	}
	m.Partitions = types.ListNull(partitionType)
	if m.incomplete() {
		response.Diagnostics.Append(i.measure(ctx, &m, &spec)...)
	}
	if response.Diagnostics.HasError() {
		return
	}
	stored, diagnostics := i.register(ctx, spec)
	if response.Diagnostics.Append(diagnostics...); !response.Diagnostics.HasError() {
		response.Diagnostics.Append(i.keep(ctx, &m, stored, &response.State, response.Private)...)
	}
}

func (i *image) Read(ctx context.Context, request resource.ReadRequest, response *resource.ReadResponse) {
	defer site.DropRepeated(&response.Diagnostics)
	var m model
	response.Diagnostics.Append(request.State.Get(ctx, &m)...)
	if i.site == nil { // the provider is not configured yet
		return
	}
	response.Diagnostics.Append(i.site.SameFleet(ctx, request.Private)...)
	if response.Diagnostics.HasError() {
		return
	}
	name := m.Name.ValueString()
	stored, found, diagnostics := read(ctx, i.site, name)
	if response.Diagnostics.Append(diagnostics...); response.Diagnostics.HasError() {
		return
	}
	if !found {
		response.State.RemoveResource(ctx)
		return
	}
	if old := m.Digest.ValueString(); old != "" && old != stored.Digest {
		response.Diagnostics.AddWarning("Image "+name+" was registered again with other content",
			fmt.Sprintf("Its digest was %s and is %s now. New bindings use the new one.", old, stored.Digest))
		m.Partitions = types.ListNull(partitionType)
	}
	response.Diagnostics.Append(i.keep(ctx, &m, stored, &response.State, response.Private)...)
}

// Update sets other URLs, labels and another signature; any other change replaces the image.
func (i *image) Update(ctx context.Context, request resource.UpdateRequest, response *resource.UpdateResponse) {
	var m, state, given model
	response.Diagnostics.Append(request.Plan.Get(ctx, &m)...)
	response.Diagnostics.Append(request.State.Get(ctx, &state)...)
	response.Diagnostics.Append(request.Config.Get(ctx, &given)...)
	options := i.asRead(ctx, request.Private, &response.Diagnostics)
	wanted, diagnostics := m.spec(ctx)
	response.Diagnostics.Append(diagnostics...)
	if !response.Diagnostics.HasError() && !m.URLs.Equal(state.URLs) && given.incomplete() {
		read, spec := m, wanted
		response.Diagnostics.Append(i.measure(ctx, &read, &spec)...)
	}
	if response.Diagnostics.HasError() {
		return
	}
	var stored api.Image
	response.Diagnostics.Append(i.site.Call(ctx, "change image "+wanted.Name,
		func(ctx context.Context, client *api.Client) (err error) {
			if stored, err = client.Image(ctx, wanted.Name); err == nil {
				stored.URLs, stored.Labels = wanted.URLs, wanted.Labels
				stored.Statement, stored.Signature = wanted.Statement, wanted.Signature
				stored, err = client.PutImage(ctx, stored.ImageSpec, options...)
			}
			return err //nolint:wrapcheck // Call explains it
		})...)
	if response.Diagnostics.HasError() {
		return
	}
	if m.Partitions.IsUnknown() {
		m.Partitions = state.Partitions
	}
	response.Diagnostics.Append(i.keep(ctx, &m, stored, &response.State, response.Private)...)
}

func (i *image) Delete(ctx context.Context, request resource.DeleteRequest, response *resource.DeleteResponse) {
	var name string
	response.Diagnostics.Append(request.State.GetAttribute(ctx, path.Root("name"), &name)...)
	options := i.asRead(ctx, request.Private, &response.Diagnostics)
	if response.Diagnostics.HasError() {
		return
	}
	var bound error
	response.Diagnostics.Append(i.site.Call(ctx, "delete image "+name,
		func(ctx context.Context, client *api.Client) error {
			err := client.DeleteImage(ctx, name, options...)
			switch status := api.StatusOf(err); {
			case api.IsNotFound(err):
				return nil
			case status == http.StatusConflict:
				bound = err
				return nil
			case status == http.StatusPreconditionFailed: // also where there is none any more
				if _, missing := client.Image(ctx, name); api.IsNotFound(missing) {
					return nil
				}
			}
			return err //nolint:wrapcheck // Call explains it
		})...)
	if bound != nil {
		response.Diagnostics.AddError("Image "+name+" is in use",
			bound.Error()+"\n\nNothing was changed. Bind the machine to another image, or remove its binding, "+
				"first. For a new version, use another name and lifecycle { create_before_destroy = true } in this "+
				"resource: then "+
				"the bindings move before the old image is deleted.")
	}
}

func (i *image) ImportState(ctx context.Context, request resource.ImportStateRequest,
	response *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("name"), request, response)
}
