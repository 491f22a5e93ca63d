// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"cmp"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

// change is an existing binding in a plan: as declared now, as declared before, and as stored in sledd.
type change struct {
	plan, state *model
	stored      *record
	owner       string            // of the provider
	digests     map[string]string // of images, as far as they are known
	memory      bool              // the planned image runs from memory
}

// work fills in the computed attributes and returns the machine if it is imaged again.
func (c change) work() ([]site.Reimage, diag.Diagnostics) {
	c.plan.computedOf(c.state)
	c.plan.DiskSelected = c.selected()
	if !c.plan.known() && !c.onlySeedUnknown() {
		return c.maybe()
	}
	situation := c.situation()
	switch verdict := desired.Decide(situation); verdict {
	case desired.Tolerated:
		c.plan.computedOf(c.state)
		if situation.OnDrift == desired.Ignore {
			return nil, nil
		}
		return nil, diag.Diagnostics{c.drifted("The plan changes nothing (on_drift = \"warn\"). To get what is " +
			"declared, set " +
			"on_drift = \"reimage\" or another reimage_trigger; to keep what is bound, declare it.")}
	case desired.Failed:
		return nil, diag.Diagnostics{c.failed()}
	case desired.Blocked:
		return nil, diag.Diagnostics{c.blocked()}
	case desired.Again:
		return c.again(situation)
	default:
		c.plan.Generation, c.plan.Drift = types.Int64Value(c.stored.Generation), types.StringValue("")
		if !c.plan.known() || !situation.Planned.Same(situation.Stored) {
			c.plan.SeedDiffers = types.BoolUnknown()
		}
		return nil, c.foreign()
	}
}

func (c change) situation() desired.Situation {
	planned := c.of(c.plan)
	if c.adoptsSeed() {
		planned = planned.As(c.stored.Desired.UserDataSHA256)
	}
	return desired.Situation{Declared: c.of(c.state), Stored: c.stored.on(c.stored.Desired), Planned: planned,
		Absent:    c.stored.Absent,
		Touched:   !c.plan.SameMethod(&c.state.Shared),
		Triggered: c.triggered(), OnDrift: desired.OnDrift(c.plan.OnDrift.ValueString())}
}

// adoptsSeed: an import cannot know which version is stored, and takes it for the declared one.
func (c change) adoptsSeed() bool {
	return c.stored.Imported && c.state.Version() == "" && c.plan.Version() != "" && c.stored.Desired.UserDataSHA256 != ""
}

// keepsSeed reports whether sledd has the user data of the planned version.
func (c change) keepsSeed() bool {
	same := c.plan.Version() != "" && c.plan.Version() == c.stored.Desired.UserDataSHA256
	return !c.stored.Absent && (same || c.adoptsSeed())
}

// of is the desired state that a model declares, with what decides about its effect.
func (c change) of(m *model) desired.State {
	state := c.stored.on(m.State())
	state.Digest = c.digests[state.Image]
	return state
}

// triggered: an import does not know the earlier trigger, and removing a trigger requests nothing.
func (c change) triggered() bool {
	now, before := c.plan.ReimageTrigger, c.state.ReimageTrigger
	return !now.Equal(before) && !now.IsNull() && (!before.IsNull() || !c.stored.Imported)
}

func (c change) again(situation desired.Situation) ([]site.Reimage, diag.Diagnostics) {
	to := c.stored.next()
	c.plan.Generation, c.plan.Drift = types.Int64Value(to), types.StringValue("")
	c.plan.unobserved()
	c.plan.Wipes = c.wipes(to)
	if to == 0 { // the same apply declares the node again
		c.plan.Generation, c.plan.Wipes = types.Int64Unknown(), types.StringUnknown()
	}
	diagnostics := c.foreign()
	if situation.Drifted() {
		diagnostics.Append(c.drifted("The plan binds what is declared again."))
	}
	return []site.Reimage{c.reimage(to)}, diagnostics
}

// onlySeedUnknown reports whether what is unknown images nothing in any case: it is for the next image.
func (c change) onlySeedUnknown() bool {
	return c.plan.DiskKnown() && desired.Known(c.plan.Image, c.plan.ReimageTrigger, c.plan.OnDrift) &&
		(!c.plan.State().WipeOnly() || c.plan.MethodKnown())
}

// maybe is for a desired state that is not known before the apply. It counts as one that wipes.
func (c change) maybe() ([]site.Reimage, diag.Diagnostics) {
	c.plan.Generation, c.plan.Drift = types.Int64Unknown(), types.StringUnknown()
	c.plan.unobserved()
	c.plan.Wipes = types.StringUnknown()
	return []site.Reimage{c.reimage(0)}, c.foreign()
}

func (c change) reimage(to int64) site.Reimage {
	disk := cmp.Or(text(c.plan.Disk), c.stored.Disk, ofTheNode)
	if disk = api.MeantBy(disk, c.stored.Keep, c.stored.Disks); c.plan.Handover.ValueBool() {
		disk = api.AllDisks
	}
	return site.Reimage{Node: c.stored.Name, Disk: disk, Partition: text(c.plan.Partition), Image: text(c.plan.Image),
		From: max(c.stored.Generation, c.stored.Status), To: to}
}

// wipes is the line of the plan for the disk that is wiped.
func (c change) wipes(to int64) types.String {
	o := c.stored.outlook(c.plan)
	o.Generation, o.Image = to, c.plan.Image.ValueString()
	return types.StringValue(o.WipeText())
}

func (c change) selected() types.String {
	if c.plan.Disk.IsUnknown() || !c.plan.ownDisk() && c.plan.Image.IsUnknown() {
		return types.StringUnknown()
	}
	return selected(c.memory, c.plan.Disk.ValueString(), c.stored.Disk)
}

// sends reports whether an apply changes anything in sledd; on_drift and the like are Terraform's own.
func (c change) sends() bool {
	return !c.plan.State().Equal(c.state.State()) || !c.plan.SameMethod(&c.state.Shared) ||
		!c.plan.Generation.Equal(c.state.Generation) || c.returns()
}

// returns reports whether the plan binds again what somebody took away, or changed: after a restored store that may
// have the generation of the state.
func (c change) returns() bool {
	if c.stored == nil || c.plan.Drift.ValueString() != "" {
		return false
	}
	return c.stored.Absent || !c.plan.Generation.IsUnknown() && c.plan.Generation.ValueInt64() != c.stored.Generation
}

// foreign refuses to change what now has another owner, and warns when an apply takes over what was imported.
func (c change) foreign() diag.Diagnostics {
	owner := c.stored.Desired.Owner
	switch {
	case !c.sends() || owner == "" || owner == c.owner:
		return nil
	case c.stored.ours(c.owner):
		return diag.Diagnostics{diag.NewWarningDiagnostic(fmt.Sprintf("The binding of %s is taken over from %s",
			c.stored.Name, owner),
			fmt.Sprintf("It was imported, or declared when the provider's owner was %s. After the apply it "+
				"belongs to %s.", owner, c.owner))}
	default:
		return c.stored.foreign(c.owner)
	}
}

func (c change) drifted(then string) diag.Diagnostic {
	return diag.NewWarningDiagnostic(c.driftText(), "Somebody else changed the binding. "+then)
}

func (c change) driftText() string {
	by := ""
	if owner := c.stored.Desired.Owner; owner != "" && owner != c.owner {
		by = " by " + owner
	}
	if c.stored.Absent {
		return fmt.Sprintf("%s is %s", c.stored.Name, c.stored.absence())
	}
	return fmt.Sprintf("%s is %s%s", c.stored.Name, desired.Drift(c.of(c.state), c.stored.on(c.stored.Desired),
		c.stored.Generation), by)
}

func (c change) failed() diag.Diagnostic {
	return diag.NewErrorDiagnostic(c.driftText(), "Somebody else changed the binding, and on_drift is \"fail\". Nothing "+
		"is planned. To keep what is bound, declare it, or remove the resource from configuration and state. To get what "+
		"is declared, set on_drift = \"reimage\" or another reimage_trigger.")
}

func (c change) blocked() diag.Diagnostic {
	return diag.NewErrorDiagnostic(c.driftText(), "Somebody else changed the binding, and this change would wipe "+
		"that. Nothing is planned. Choose one:\n\n"+
		"  - to keep what is bound, declare it\n"+
		"  - to get what is declared, set on_drift = \"reimage\" or another reimage_trigger\n"+
		"  - to leave it for now, undo the other change of this binding")
}
