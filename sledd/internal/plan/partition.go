// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/operand"
)

const mostPartitions = 1024 // entries of a GPT

// CheckPartition checks how a partition of a disk is named: by its number, part-label:NAME or part-uuid:UUID.
func CheckPartition(value string) error {
	for _, kind := range []string{"part-label:", "part-uuid:"} {
		if name, found := strings.CutPrefix(value, kind); found && name != "" {
			return nil
		}
	}
	if n, err := Number(value); err != nil || n < 1 || n > mostPartitions {
		return fmt.Errorf("%.100q is not the number of a partition, part-label:NAME or part-uuid:UUID", value)
	}
	return nil
}

// CheckOnePartition refuses a binding whose plan would reach outside of the partition that it names, or write the image
// of one partition to a whole disk. The error is about the attribute. The image is that of the binding; nil: none.
func CheckOnePartition(spec api.BindingSpec, image *api.ImageSpec) (attribute string, err error) {
	isOne := image != nil && image.Holds() == api.PartitionImage
	switch {
	case spec.Partition == "" && isOne:
		return "partition", fmt.Errorf("image %s is of one partition: name the partition of the disk that it replaces",
			image.Name)
	case spec.Partition == "":
		return "", nil
	case image == nil:
		return "partition", fmt.Errorf("only an image of kind partition is written to a partition, and none is named")
	case !isOne:
		return "partition", fmt.Errorf("image %s has kind %s: only one of kind partition is written to a partition",
			image.Name, image.Holds())
	}
	for _, one := range []struct {
		name, text string
		wrong      bool
	}{
		{"configure", "configure has to be none: a system in a partition is not configured",
			spec.Configure != api.Unconfigured},
		{"boot", "boot has to be reboot: a system in a partition is not started by kexec", spec.Boot != "reboot"},
		{"grow", "nothing grows: leave grow out", spec.Grow == "last"},
		{"wipe", "no disk is wiped: leave wipe out", spec.Wipe != ""},
		{"wipe_method", "no disk is wiped: leave wipe_method out", spec.WipeMethod != ""},
		{"handover", "the rest of the disk stays, and no machine changes hands with that: leave handover out", spec.Handover},
		{"partition", "there are characters that cannot be printed", strings.ContainsFunc(spec.Partition, unprintable)},
	} {
		if one.wrong {
			return one.name, fmt.Errorf("with partition %q, %s", spec.Partition, one.text)
		}
	}
	return "partition", CheckPartition(spec.Partition)
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// partition adds the steps that replace one partition: nothing is wiped, its free blocks are zeroed with the write, and
// no step adapts the disk, for the boot order neither.
func (p *Plan) partition(r Request, target []operand.Pair, upload string) error {
	binding := *r.Binding
	if r.HandsOver {
		return fmt.Errorf("all disks of a machine that changes hands are wiped, and the binding replaces one partition")
	}
	if attribute, err := CheckOnePartition(binding.BindingSpec, r.Image); err != nil {
		return fmt.Errorf("%s: %w", attribute, err)
	}
	p.layouts(r.Node)
	p.write(append(slices.Clip(target), operand.Pair{Key: "partition", Value: binding.Partition}), "", binding, r.Image,
		upload)
	p.add("reboot", nil)
	return nil
}

func writesPartition(step operand.Line) bool {
	_, found := step.Get("partition")
	return found
}

// checkAlone refuses a step that could reach outside of the partition that another one writes.
func (p Plan) checkAlone() error {
	partition, found := slices.ContainsFunc(p.Steps, writesPartition), 0
	for i, step := range p.Steps {
		if step.Word != layout && namesDisk(step) {
			found++
		}
		if partition && found > 1 {
			return fmt.Errorf("step %d: %s: a plan that writes a partition has one step that takes a disk, beside layout",
				i+1, step.Word)
		}
	}
	return nil
}
