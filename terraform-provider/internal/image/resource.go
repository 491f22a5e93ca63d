// SPDX-License-Identifier: Apache-2.0

// Package image is sled_image: a published image that bindings can name. Its digest and sizes are read
// where it is published.
package image

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/attribute"
	"github.com/sled-fleet/sled/terraform-provider/internal/declared"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

var (
	_ resource.ResourceWithConfigure   = (*image)(nil)
	_ resource.ResourceWithModifyPlan  = (*image)(nil)
	_ resource.ResourceWithImportState = (*image)(nil)
)

var urlPattern = regexp.MustCompile(`^https?://[^/, ]+(/[^, ]*)?$`)

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
	attributes := declared.Schema(attribute.Image)
	urls, _ := attributes["urls"].(schema.ListAttribute)
	urls.MarkdownDescription += " Each starts with `http://` or `https://`."
	urls.Validators = append(urls.Validators, listvalidator.SizeAtLeast(1),
		listvalidator.ValueStringsAre(stringvalidator.RegexMatches(urlPattern,
			"want http://HOST/PATH or https://HOST/PATH, a comma in it written as %2C")))
	attributes["urls"] = urls
	for name, other := range map[string]string{"statement": "signature", "signature": "statement"} {
		one, _ := attributes[name].(schema.StringAttribute)
		one.Computed, one.Validators = true, append(one.Validators, stringvalidator.AlsoRequires(path.MatchRoot(other)))
		one.MarkdownDescription = strings.TrimSuffix(one.MarkdownDescription, "Default: none.") +
			"Default: the one that is registered, as by `playbooks/images.yml`, or none."
		attributes[name] = one
	}
	attributes["partitions"] = partitionsSchema()
	response.Schema = schema.Schema{MarkdownDescription: description, Attributes: attributes}
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

func (i *image) Create(ctx context.Context, request resource.CreateRequest, response *resource.CreateResponse) {
	var m model
	response.Diagnostics.Append(request.Plan.Get(ctx, &m)...)
	if response.Diagnostics.HasError() {
		return
	}
	spec := m.spec()
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

// Update changes what is not fixed: any other change replaces the image.
func (i *image) Update(ctx context.Context, request resource.UpdateRequest, response *resource.UpdateResponse) {
	var m, state, given model
	response.Diagnostics.Append(request.Plan.Get(ctx, &m)...)
	response.Diagnostics.Append(request.State.Get(ctx, &state)...)
	response.Diagnostics.Append(request.Config.Get(ctx, &given)...)
	options := i.asRead(ctx, request.Private, &response.Diagnostics)
	wanted := m.spec()
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
				for _, one := range attribute.Image {
					if one.Fixed {
						one.Field(&wanted).Set(one.Field(&stored.ImageSpec))
					}
				}
				stored, err = client.PutImage(ctx, wanted, options...)
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
