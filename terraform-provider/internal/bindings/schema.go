// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/terraform-provider/internal/admitwithin"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
	macs "github.com/sled-fleet/sled/terraform-provider/internal/mac"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

const description = "The bindings of many machines: which machine gets which image, with all other attributes in " +
	"common. " +
	"Made for thousands of machines, where one `sled_binding` each makes plans slow. Machines that differ in more " +
	"than the image belong in another `sled_bindings` or in `sled_binding`.\n\n" +
	"After an import, host names, keys and user data stay as they are stored for as long as the configuration does not " +
	"name them; `\"\"` and `[]` remove them.\n\n" +
	"It only declares. Wait for the machines with `sled_ready`, or image them with `playbooks/reimage.yml`."

func (b *bindings) Schema(_ context.Context, _ resource.SchemaRequest, response *resource.SchemaResponse) {
	response.Schema = schema.Schema{MarkdownDescription: description, Attributes: attributes()}
}

func attributes() map[string]schema.Attribute {
	all := map[string]schema.Attribute{
		"name": schema.StringAttribute{Required: true,
			PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
			Validators: []validator.String{stringvalidator.RegexMatches(site.OwnerPattern, "must have only a-z 0-9 . _ - /"),
				stringvalidator.LengthAtMost(63)},
			MarkdownDescription: "Name of these bindings, at most 63 characters. They are declared under the " +
				"provider's owner and " +
				"this name (`terraform:rack-a`), so two resources cannot fight over a machine. Another name " +
				"removes all " +
				"bindings and declares them again, which images all machines again."},
		"images": schema.MapAttribute{Required: true, ElementType: types.StringType,
			Validators: []validator.Map{imagesValidator{}},
			MarkdownDescription: "MAC (lower case, with colons) to name of image. `on_destroy` applies to a " +
				"machine that is removed."},
		"reimage_triggers": schema.MapAttribute{Optional: true, ElementType: types.StringType,
			Validators: []validator.Map{macs.Keys{}},
			MarkdownDescription: "MAC to any text. Another text, or a first one, images the machine again, " +
				"although its image is " +
				"the same. Removing it does not, and neither does the first apply after an import."},
		"on_drift": choice("warn", "What to do about a machine whose binding somebody else changed or removed: `warn` warns "+
			"and changes nothing, "+
			"`reimage` plans to image it again, `ignore` does neither, `fail` is an error. Default: `warn`.",
			"warn", "reimage", "ignore", "fail"),
		"on_destroy": choice("keep", "What happens to a machine that is removed from `images`, and to all when "+
			"the resource is destroyed: "+
			"`keep` removes the binding and leaves machine and disk alone, `wipe` wipes the disk at the machine's "+
			"next boot. Default: `keep`.", "keep", "wipe"),
		"admit_within": admitwithin.Attribute("each machine", "An apply opens the windows of the machines whose "+
			"generation it raises, and of all when it changes this attribute."),
		"max_reimages": schema.Int64Attribute{Optional: true, Validators: []validator.Int64{int64validator.AtLeast(0)},
			MarkdownDescription: "Maximum number of machines of this resource that one plan may image again or " +
				"wipe; more is an " +
				"error that names them. A machine's first image does not count. Default: the provider's limit only."},
		"generations": schema.MapAttribute{Computed: true, ElementType: types.Int64Type,
			MarkdownDescription: "MAC to generation of its binding. A machine whose generation is raised by a " +
				"plan will be imaged. " +
				"For `nodes` of `sled_ready`."},
		"drifted": schema.MapAttribute{Computed: true, ElementType: types.StringType,
			MarkdownDescription: "The exceptions: MAC of a machine whose binding differs from what is declared " +
				"here, to the image " +
				"that it is bound to (empty: it is only wiped; `(not bound)`: somebody removed the binding)."},
		"wipes": schema.MapAttribute{Computed: true, ElementType: types.StringType,
			MarkdownDescription: "MAC to the disk that the plan wipes: node, disk, generations and images, such as `n1: " +
				"serial:S123, generation 1 -> 2, image A -> B`. Unknown for a machine that the plan may wipe, depending on " +
				"what the apply finds. Null after a refresh: only plans wipe."},
	}
	maps.Copy(all, desired.SharedSchema())
	return all
}

// choice is one of some values, with a default.
func choice(standard, description string, values ...string) schema.Attribute {
	return schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString(standard),
		Validators: []validator.String{stringvalidator.OneOf(values...)}, MarkdownDescription: description}
}
