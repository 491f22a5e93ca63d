// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
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
// of one partition to a whole disk. A capture only reads it. The error is about the attribute. The image is that of the
// binding; nil: none.
func CheckOnePartition(spec api.BindingSpec, image *api.ImageSpec) (attribute string, err error) {
	isOne := image != nil && image.Holds() == api.PartitionImage
	switch {
	case spec.Partition == "" && isOne:
		return "partition", fmt.Errorf("image %s is of one partition: name the partition of the disk that it replaces",
			image.Name)
	case spec.Partition == "":
		return "", nil
	case spec.Capture != "":
		return "partition", checkPartitionText(spec.Partition)
	case image == nil:
		return "partition", fmt.Errorf("only an image of kind partition is written to a partition, and none is named")
	case !isOne:
		return "partition", fmt.Errorf("image %s has kind %s: only one of kind partition is written to a partition; for "+
			"the whole disk, partition is empty", image.Name, image.Holds())
	}
	for _, one := range []struct {
		name, text string
		wrong      bool
	}{
		{"grow", "nothing grows: leave grow out", spec.Grow == "last"},
		{"wipe", "no disk is wiped: leave wipe out", spec.Wipe != ""},
		{"wipe_method", "no disk is wiped: leave wipe_method out", spec.WipeMethod != ""},
		{"handover", "the rest of the disk stays, and no machine changes hands with that: leave handover out", spec.Handover},
	} {
		if one.wrong {
			return one.name, fmt.Errorf("with partition %q, %s", spec.Partition, one.text)
		}
	}
	return "partition", checkPartitionText(spec.Partition)
}

func checkPartitionText(text string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("partition %q has characters that cannot be printed", text)
	}
	return CheckPartition(text)
}

// partition adds the steps that replace one partition, or capture it: nothing is wiped, its free blocks are zeroed with
// the write, and its system is adapted and started without a byte outside of it: nothing grows, and the disk gets no
// boot order and no stamp.
func (p *Plan) partition(r Request, target []operand.Pair, upload string) error {
	binding := *r.Binding
	if r.HandsOver {
		return fmt.Errorf("all disks of a machine that changes hands are wiped, and the binding replaces one partition")
	}
	if attribute, err := CheckOnePartition(binding.BindingSpec, r.Image); err != nil {
		return fmt.Errorf("%s: %w", attribute, err)
	}
	target = append(slices.Clip(target), operand.Pair{Key: "partition", Value: binding.Partition})
	if binding.Capture != "" {
		p.capture(r, target, upload)
		return nil
	}
	p.layouts(r.Node)
	p.write(target, "", binding, r.Image, upload)
	if binding.Configure != api.Unconfigured {
		p.add("configure", target, "hostname", first(binding.Hostname, r.Node.Name))
	}
	p.boot(target, binding)
	return nil
}

func namesPartition(step operand.Line) bool {
	_, found := step.Get("partition")
	return found
}

// checkAlone refuses a step that could reach outside of the partition that another one is about.
func (p Plan) checkAlone() error {
	var alone *operand.Line // the first that takes a disk; layout has its own
	for i, step := range p.Steps {
		if err := checkConfigure(step); err != nil {
			return fmt.Errorf("step %d: configure: %w", i+1, err)
		}
		switch {
		case step.Word == layout || !namesDisk(step):
		case alone == nil:
			alone = &p.Steps[i]
		case (namesPartition(step) || namesPartition(*alone)) && !sameTarget(step, *alone):
			return fmt.Errorf("step %d: %s: in a plan about a partition each step that takes a disk, but layout, has "+
				"the same disk, keep and partition", i+1, step.Word)
		}
	}
	return nil
}

func sameTarget(a, b operand.Line) bool {
	return !slices.ContainsFunc([]string{"disk", "keep", "partition"}, func(key string) bool {
		one, _ := a.Get(key)
		other, _ := b.Get(key)
		return one != other
	})
}

// checkConfigure refuses what the step would do outside of its partition.
func checkConfigure(step operand.Line) error {
	if step.Word != "configure" || !namesPartition(step) {
		return nil
	}
	if _, found := step.Get("disk"); !found {
		return errors.New("partition needs disk")
	}
	for _, key := range []string{"system", "grow", "bootorder", "stamp"} {
		if _, found := step.Get(key); found {
			return fmt.Errorf("beside partition there is no %s", key)
		}
	}
	return nil
}
