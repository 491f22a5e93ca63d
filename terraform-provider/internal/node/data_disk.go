// SPDX-License-Identifier: Apache-2.0

package node

import (
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	data "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
)

var dataDiskName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,30}$`)

const (
	textDataDisks = "Disks whose data survives images, at most 16. No image writes them. A blank one gets a partition, " +
		"a filesystem and a mount point with the next image; one with other content is refused. A tear-down empties them. " +
		"A change takes effect with the next image."
	textDataName       = "Name, unique within the node. The partition is called `sled-NAME`."
	textDataDisk       = "Selector of the disk, such as `serial:DATA-0001`. Exactly one local disk must match."
	textDataFilesystem = "`ext4`, `xfs` or `btrfs`, made by the installed system. Default: `ext4`."
	textDataMount      = "Where the installed system mounts it, such as `/srv/data`."
)

type dataDiskModel struct {
	Name       types.String `tfsdk:"name"`
	Disk       types.String `tfsdk:"disk"`
	Filesystem types.String `tfsdk:"filesystem"`
	Mount      types.String `tfsdk:"mount"`
}

func keepDisksSchema() schema.ListAttribute {
	return schema.ListAttribute{Optional: true, ElementType: types.StringType,
		Validators:          []validator.List{listvalidator.SizeAtMost(16), listvalidator.NoNullValues()},
		MarkdownDescription: "Selectors of disks that are never written. At most 16."}
}

func dataDisksSchema() schema.ListNestedAttribute {
	return schema.ListNestedAttribute{Optional: true, MarkdownDescription: textDataDisks,
		Validators: []validator.List{listvalidator.SizeAtMost(16), listvalidator.NoNullValues()},
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{Required: true, MarkdownDescription: textDataName,
				Validators: []validator.String{stringvalidator.RegexMatches(dataDiskName,
					"want a-z 0-9 -, first a letter or digit, at most 31")}},
			"disk": schema.StringAttribute{Required: true, MarkdownDescription: textDataDisk,
				Validators: []validator.String{stringvalidator.LengthBetween(1, 512)}},
			"filesystem": schema.StringAttribute{Optional: true, MarkdownDescription: textDataFilesystem,
				Validators: []validator.String{stringvalidator.OneOf("ext4", "xfs", "btrfs")}},
			"mount": schema.StringAttribute{Required: true, MarkdownDescription: textDataMount,
				Validators: []validator.String{stringvalidator.LengthBetween(2, 255)}},
		}}}
}

// knownDataDisksSchema is that of the data source.
func knownDataDisksSchema() data.ListNestedAttribute {
	attributes := map[string]data.Attribute{}
	for name, text := range map[string]string{"name": textDataName, "disk": textDataDisk,
		"filesystem": "`ext4`, `xfs` or `btrfs`; null: `ext4`.", "mount": textDataMount} {
		attributes[name] = data.StringAttribute{Computed: true, MarkdownDescription: text}
	}
	return data.ListNestedAttribute{Computed: true, NestedObject: data.NestedAttributeObject{Attributes: attributes},
		MarkdownDescription: "Disks whose data survives images; null for none."}
}

func dataDisksOf(models []dataDiskModel) []api.DataDisk {
	var list []api.DataDisk
	for _, m := range models {
		list = append(list, api.DataDisk{Name: m.Name.ValueString(), Disk: m.Disk.ValueString(),
			Filesystem: m.Filesystem.ValueString(), Mount: m.Mount.ValueString()})
	}
	return list
}

func dataDiskModels(list []api.DataDisk) []dataDiskModel {
	var models []dataDiskModel
	for _, d := range list {
		models = append(models, dataDiskModel{Name: text(d.Name), Disk: text(d.Disk), Filesystem: text(d.Filesystem),
			Mount: text(d.Mount)})
	}
	return models
}

// dataDisksIn reads the values of a list that is known.
func dataDisksIn(list types.List) []api.DataDisk {
	var disks []api.DataDisk
	for _, element := range list.Elements() {
		object, ok := element.(types.Object)
		if !ok {
			continue
		}
		word := func(name string) string {
			if text, ok := object.Attributes()[name].(types.String); ok {
				return text.ValueString()
			}
			return ""
		}
		disks = append(disks, api.DataDisk{Name: word("name"), Disk: word("disk"), Filesystem: word("filesystem"),
			Mount: word("mount")})
	}
	return disks
}
