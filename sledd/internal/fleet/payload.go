// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// checkKind refuses attributes that images of this kind do not have.
func checkKind(spec api.ImageSpec) error {
	if spec.Kernel != nil && spec.Holds() != api.KernelImage {
		return refusal.Value("body.kernel", nil, fmt.Errorf(
			"image %s has kind %s, and only kind kernel has a release", spec.Name, spec.Holds()))
	}
	if spec.Container != nil && spec.Holds() != api.RootImage {
		return refusal.Value("body.container", nil, fmt.Errorf(
			"image %s has kind %s, and only kind root is started as a container", spec.Name, spec.Holds()))
	}
	if spec.Payload != nil && spec.Holds() != api.KernelImage {
		return refusal.Value("body.payload", nil, fmt.Errorf(
			"image %s has kind %s, and only a kernel of kind kernel is a payload", spec.Name, spec.Holds()))
	}
	if spec.Payload != nil && spec.Kernel != nil {
		return refusal.Value("body.payload", nil, fmt.Errorf(
			"image %s has a kernel for the Sled system, or a payload, not both", spec.Name))
	}
	return nil
}

// checkPayload refuses what a payload cannot be started or confirmed with.
func checkPayload(spec api.ImageSpec) error {
	payload := spec.Payload
	switch {
	case payload == nil:
		return nil
	case payload.RealMode && payload.Format != api.FormatLinux:
		return refusal.Value("body.payload.real_mode", true, fmt.Errorf(
			"format %s is not entered in real mode: only linux is", payload.Format))
	case payload.RealMode && architecture(spec.Architecture) != "x86_64",
		payload.Format == api.FormatMultiboot && architecture(spec.Architecture) != "x86_64":
		return refusal.Value("body.architecture", spec.Architecture, fmt.Errorf(
			"multiboot and real mode are of x86_64"))
	case (payload.Console != "") != (payload.Confirm == api.ConfirmConsole):
		return refusal.Value("body.payload.console", payload.Console, fmt.Errorf(
			"confirm console has the text that the console shows, and nothing else has one"))
	}
	return nil
}

// checkMemory refuses a binding to a kernel of the Sled system, and what an image that runs from memory never uses.
func (tx *nodeTx) checkMemory(spec api.BindingSpec, image *api.Image) error {
	if spec.Image == "" || image.Holds() == api.DiskImage || image.Holds() == api.PartitionImage {
		return nil
	}
	if !image.InMemory() {
		return refusal.Value("body.image", spec.Image, fmt.Errorf(
			"image %s is a kernel for the Sled system: nodes are bound to images of a disk, a partition, a root or a "+
				"payload", image.Name))
	}
	const touches = "runs from memory, and no disk is touched"
	const takes = "is started as it is, and takes no seed"
	for _, one := range []struct {
		name, why string
		set       bool
	}{
		{"disk", touches, spec.Disk != ""}, {"partition", touches, spec.Partition != ""}, {"wipe", touches, spec.Wipe != ""},
		{"wipe_method", touches, spec.WipeMethod != ""}, {"mode", touches, spec.Mode != ""},
		{"verify", touches, spec.Verify != ""}, {"grow", touches, spec.Grow != ""},
		{"boot", touches, spec.Boot != ""}, {"configure", touches, spec.Configure != ""},
		{"hostname", takes, image.Payload != nil && spec.Hostname != ""},
		{"authorized_keys", takes, image.Payload != nil && len(spec.AuthorizedKeys) > 0},
		{"user_data", takes, image.Payload != nil && spec.UserData != ""},
		{"seed_changes", takes, image.Payload != nil && spec.SeedChanges != ""},
		{"kernel", "is a kernel itself", image.Payload != nil && spec.Kernel != ""},
		{"kernel_arguments", "is started by the kernel that runs, unless kernel names another", image.Payload == nil &&
			spec.Kernel == "" && spec.KernelArguments != ""},
	} {
		if one.set {
			return refusal.Value("body."+one.name, nil, fmt.Errorf("image %s (%s) %s: leave %s out", image.Name,
				image.KindText(), one.why, one.name))
		}
	}
	return cmp.Or(tx.checkMachine(image), tx.checkConsole(image))
}

// checkMachine refuses an image that runs from memory of which the machine has reported that it cannot start it. It
// would refuse at its boot only (contract/plan.md, Payloads).
func (tx *nodeTx) checkMachine(image *api.Image) error {
	facts, has := tx.Facts(), tx.Status().Architecture
	if facts == nil {
		return nil
	}
	payload := cmp.Or(image.Payload, &api.Payload{})
	locked := facts.Firmware["lockdown"].String()
	why := ""
	switch unchecked := payload.RealMode || payload.Format == api.FormatMultiboot; {
	case has != "" && has != architecture(image.Architecture):
		why = fmt.Sprintf("it is for %s, and the machine is %s", architecture(image.Architecture), has)
	case unchecked && locked != "" && locked != "none":
		why = "the kernel is locked down (lockdown " + locked + ") and starts a signed Linux only"
	case payload.RealMode && facts.Firmware["type"].String() == "uefi":
		why = "the machine was started by UEFI, and real mode needs its BIOS"
	}
	if why == "" {
		return nil
	}
	return refusal.Value("body.image", image.Name, fmt.Errorf("node %s cannot start image %s (%s): %s", tx.Node().Name,
		image.Name, image.KindText(), why))
}

// checkConsole refuses a payload that confirms by a console that nobody records.
func (tx *nodeTx) checkConsole(image *api.Image) error {
	if image == nil || image.Payload == nil || image.Payload.Confirm != api.ConfirmConsole {
		return nil
	}
	if recorded := tx.fleet.Recorded; recorded == nil || !recorded(tx.MAC) {
		return refusal.Value("body.image", image.Name, fmt.Errorf(
			"image %s confirms by the console, and that of node %s is not recorded (docs/troubleshooting.md, Consoles)",
			image.Name, tx.Node().Name))
	}
	return nil
}
