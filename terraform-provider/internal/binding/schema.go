// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/sled-fleet/sled/terraform-provider/internal/admitwithin"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
)

const description = "The desired state of one node: which image its disk gets, and how. Terraform stores it and " +
	"does not " +
	"wait for the machine (`sled_ready` does). Another `image`, `disk` or `reimage_trigger` raises the " +
	"`generation`, which wipes the disk at the machine's next boot. The plan shows it as `generation = 1 -> 2` and " +
	"warns with node, disk and image. Another `hostname`, `authorized_keys` or `user_data` is for the next image, " +
	"unless `seed_changes` is `reimage`. All other changes leave the disk alone, and so do the same content under " +
	"another name, a default that is spelled out, and the order and comments of keys.\n\n" +
	"After an import, host name, keys and user data stay as they are stored for as long as the configuration does not " +
	"name them; `\"\"` and `[]` remove them. A plan warns of what the first change after an import replaces."

func schemaOf() schema.Schema {
	attributes := map[string]schema.Attribute{
		"node": schema.StringAttribute{Required: true,
			Validators: []validator.String{stringvalidator.LengthBetween(1, 64)},
			MarkdownDescription: "MAC or name of the node. Another spelling of the same node changes nothing; " +
				"another node replaces the binding."},
		"reimage_trigger": schema.StringAttribute{Optional: true,
			MarkdownDescription: "Any text. Another text raises the generation, so the node is imaged again with " +
				"the same desired " +
				"state. Removing the attribute does not, and neither does the first apply after an import."},
		"on_drift": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("warn"),
			Validators: oneOf("warn", "reimage", "ignore", "fail"),
			MarkdownDescription: "What a plan does when somebody else changed or removed the binding: `warn` warns and " +
				"plans nothing, `reimage` plans the declared state again, `ignore` does neither, `fail` is an error. " +
				"Default: `warn`."},
		"on_destroy": schema.StringAttribute{Optional: true, Computed: true,
			Default:    stringdefault.StaticString("keep"),
			Validators: oneOf("keep", "wipe"),
			MarkdownDescription: "`keep` only removes the binding: the machine keeps running from its disk. " +
				"`wipe` leaves a binding " +
				"without an owner that wipes the disk at the machine's next boot. Default: `keep`."},
		"admit_within": admitwithin.Attribute("the machine",
			"An apply that raises the generation or changes this attribute opens the window."),
	}
	maps.Copy(attributes, desired.SharedSchema())
	maps.Copy(attributes, desired.OwnSchema())
	if image, text := attributes["image"].(schema.StringAttribute); text {
		image.Validators = append(image.Validators, anImage{})
		attributes["image"] = image
	}
	maps.Copy(attributes, observedAttributes())
	return schema.Schema{MarkdownDescription: description, Attributes: attributes}
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
		"generation": number("Number of this desired state; raising it images the node again. Known in the plan, " +
			"unless the node is declared by the same apply."),
		"drift": text("What somebody else bound instead; empty for nothing."),
		"disk_selected": text("Selector of the disk that is written: `disk`, or the node's. `none`: the image " +
			"runs from memory, and no disk gets it."),
		"observed_image":      text("Image on the disk, as last observed. Null: none."),
		"observed_generation": number("Generation of the plan that the node last received. 0: none yet."),
		"phase": text("Phase of the node at the last refresh, such as `writing` or `operational`. " +
			"Null: not seen yet."),
		"reason": text("Why its last step failed. Null: it did not fail."),
		"seed_differs": schema.BoolAttribute{Computed: true, MarkdownDescription: "True if the installed system has an " +
			"earlier host name, other user data or keys than declared. It gets these with its next image."},
		"wipes": text("The disk that the plan wipes: node, disk, generations and images, such as `n1: serial:S123 " +
			"(PM9A3, 1.9 TB), generation 1 -> 2, image A -> B`. Unknown in a plan that may wipe a disk, depending on " +
			"what the apply finds. Null after a refresh: only plans wipe."),
	}
}

// anImage refuses an empty name. Null wipes the disk, and a variable that happens to be empty must not.
type anImage struct{}

func (anImage) Description(context.Context) string { return "the name of an image" }

func (v anImage) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (anImage) ValidateString(_ context.Context, request validator.StringRequest, response *validator.StringResponse) {
	if value := request.ConfigValue; !value.IsNull() && !value.IsUnknown() && value.ValueString() == "" {
		response.Diagnostics.AddAttributeError(request.Path, "The name of the image is empty",
			"Without an image the machine is wiped. If that is meant, remove the attribute or set it to null.")
	}
}

func oneOf(words ...string) []validator.String {
	return []validator.String{stringvalidator.OneOf(words...)}
}
