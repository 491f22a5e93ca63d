// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"errors"
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// checkKernel refuses a kernel that the image of the binding does not run on, or that the node cannot start.
func (tx *nodeTx) checkKernel(spec api.BindingSpec, image, kernel *api.Image) error {
	refuse := func(format string, values ...any) error {
		return refusal.Value("body.kernel", spec.Kernel, fmt.Errorf(format, values...))
	}
	switch {
	case spec.Kernel == "":
		return nil
	case spec.Image == "":
		return refuse("only an image of kind root runs on a kernel of choice, and the binding names no image: leave kernel " +
			"out")
	case image.Holds() != api.RootImage:
		return refuse("only an image of kind root runs on a kernel of choice, and image %s has kind %s: leave kernel out",
			image.Name, image.KindText())
	case kernel == nil:
		return refuse("image %s does not exist", spec.Kernel)
	}
	if err := detour.CheckSystem(kernel.ImageSpec, *tx.Node(), tx.Facts()); err != nil {
		return refusal.Value("body.kernel", spec.Kernel, err)
	}
	return checkArguments(spec.Kernel, spec.KernelArguments)
}

// mayRestart refuses a kernel for a node that gets no ticket for its own next boot, by which it starts that kernel.
func (tx *nodeTx) mayRestart() error {
	kernel := tx.Binding().Kernel
	switch {
	case kernel == "":
		return nil
	case tx.HandsOver():
		return refusal.Value("body.kernel", kernel, errors.New("a machine that changes hands starts no kernel by itself: "+
			"bind it without kernel first, and name the kernel once that is completed"))
	case tx.fleet.Policy.Required(tx.Tx) >= admission.Attested:
		return refusal.Value("body.kernel", kernel, errors.New("level attested needs a reset by the firmware, and no kernel "+
			"is started by one: leave kernel out, or require a lower level"))
	}
	return nil
}
