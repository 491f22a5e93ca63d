// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

const description = "The wish for one node: which image its disk gets, and in which way. Terraform writes the wish and does not wait for the " +
	"machine (`sled_ready` does). Changing `image`, `disk`, `hostname`, `authorized_keys`, `kernel_arguments`, `user_data` or `reimage_trigger` raises " +
	"the `generation`, which wipes the disk when the machine boots next; the plan shows it as `generation = 1 -> 2` and warns with node, disk and " +
	"image. Everything else is changed without touching the disk."

func schemaOf() schema.Schema {
	attributes := map[string]schema.Attribute{
		"node": schema.StringAttribute{Required: true, Validators: length(64),
			MarkdownDescription: "MAC or name of the node. Another spelling of the same node changes nothing; another node replaces the binding."},
		"reimage_trigger": schema.StringAttribute{Optional: true,
			MarkdownDescription: "Any text. Another text raises the generation, so that the node is imaged again with the same wish. Taking the attribute " +
				"away does not, and neither does the first apply after an import."},
		"on_drift": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("warn"),
			Validators: oneOf("warn", "reimage", "ignore"),
			MarkdownDescription: "What a plan does when somebody else wished otherwise: `warn` tells it and plans nothing, `reimage` plans the declared wish " +
				"again, `ignore` does neither. Default `warn`."},
		"on_destroy": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("keep"),
			Validators: oneOf("keep", "wipe"),
			MarkdownDescription: "`keep` takes only the wish back: the machine goes on with what is on its disk. `wipe` leaves a wish without an owner that " +
				"wipes the disk when the machine boots next. Default `keep`."},
	}
	maps.Copy(attributes, wishAttributes())
	maps.Copy(attributes, wayAttributes())
	maps.Copy(attributes, observedAttributes())
	return schema.Schema{MarkdownDescription: description, Attributes: attributes}
}

// wishAttributes raise the generation.
func wishAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"image": schema.StringAttribute{Optional: true, Validators: length(128),
			MarkdownDescription: "Name of a registered image. Default: none, the disk is wiped and the node waits."},
		"disk": schema.StringAttribute{Optional: true, Validators: length(512),
			MarkdownDescription: "Selector of the disk, such as `serial:LAB-0001`; exactly one disk must match. Default: the node's."},
		"hostname": schema.StringAttribute{Optional: true, Validators: length(253), MarkdownDescription: "Host name of the installed system. Default: the node's name."},
		"authorized_keys": schema.ListAttribute{Optional: true, ElementType: types.StringType,
			Validators:          []validator.List{listvalidator.SizeBetween(1, 256), listvalidator.ValueStringsAre(stringvalidator.LengthBetween(1, 16384))},
			MarkdownDescription: "SSH public keys of the installed system, at most 256. Default: none."},
		"kernel_arguments": schema.StringAttribute{Optional: true, Validators: length(1024),
			MarkdownDescription: "Added to the installed kernel's own arguments when it is started by kexec. Default: none."},
		"user_data": schema.StringAttribute{Optional: true, WriteOnly: true, Sensitive: true, Validators: length(65536),
			MarkdownDescription: "cloud-init user data, at most 64 KiB. Write-only: it is in no plan and no state, which compare `user_data_sha256`. " +
				"Default: none."},
		"user_data_sha256": schema.StringAttribute{Computed: true, MarkdownDescription: "SHA-256 of `user_data` in hexadecimal; null for none."},
	}
}

// wayAttributes are changed without a new generation.
func wayAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"wipe": schema.StringAttribute{Optional: true, Validators: oneOf("clear", "signatures"),
			MarkdownDescription: "How the disk is wiped before it is written: `clear` or `signatures`. Default `clear`."},
		"mode": schema.StringAttribute{Optional: true, Validators: oneOf("full", "delta", "auto"),
			MarkdownDescription: "`full` writes all of the image, `delta` only what differs from what is on the disk, `auto` what will be faster. Default `full`."},
		"verify": schema.StringAttribute{Optional: true, Validators: oneOf("none", "sample", "full"),
			MarkdownDescription: "How much of what was written is read back: `none`, `sample` or `full`. Default `sample`."},
		"allow_unsigned": schema.BoolAttribute{Optional: true,
			MarkdownDescription: "Take the image without a signature too; only where the site's Sled system allows it. Default `false`."},
		"boot": schema.StringAttribute{Optional: true, Validators: oneOf("auto", "kexec", "reboot"),
			MarkdownDescription: "How the installed system is started. Default `auto`: `kexec` where there is a kernel to load, else `reboot`."},
	}
}

func observedAttributes() map[string]schema.Attribute {
	text := func(description string) schema.Attribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	number := func(description string) schema.Attribute {
		return schema.Int64Attribute{Computed: true, MarkdownDescription: description}
	}
	return map[string]schema.Attribute{
		"mac": text("MAC of the node, lower case with colons."),
		"generation": number("Counts the wishes for this node; raising it images the node again. Known in the plan, unless the node is declared by the " +
			"same apply."),
		"drift":               text("What somebody else wished for instead; empty for nothing."),
		"disk_selected":       text("Selector of the disk that is written: `disk`, or the node's."),
		"observed_image":      text("Image on the disk, as far as was observed. Null: none."),
		"observed_generation": number("Generation of the plan that the node was last given. 0: none yet."),
		"phase":               text("Phase of the node when Terraform last looked, such as `writing` or `operational`. Null: not seen yet."),
		"reason":              text("Why its last step failed. Null: it did not."),
	}
}

func length(most int) []validator.String {
	return []validator.String{stringvalidator.LengthBetween(1, most)}
}

func oneOf(words ...string) []validator.String {
	return []validator.String{stringvalidator.OneOf(words...)}
}
