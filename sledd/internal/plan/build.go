// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/operand"
)

// Waiting is the plan of a node that has nothing to do: unbound (generation 0), or done with its wipe.
func Waiting(generation int64) Plan {
	return Plan{Generation: generation, Steps: []operand.Line{{Word: "idle"}}}
}

// Build renders a wish. Without an image the plan is to wipe and wait.
func Build(node api.NodeSpec, binding api.Binding, image *api.ImageSpec) (Plan, error) {
	target := []operand.Pair{{Key: "disk", Value: first(binding.Disk, node.Disk)}}
	if len(node.KeepDisks) > 0 {
		target = append(target, operand.Pair{Key: "keep", Value: strings.Join(node.KeepDisks, ";")})
	}
	if target[0].Value == "" {
		return Plan{}, fmt.Errorf("no disk: neither the binding nor node %s names one", node.Name)
	}
	p := Plan{Generation: binding.Generation}
	p.add("wipe", target, "level", first(binding.Wipe, "clear"))
	if binding.Image == "" {
		p.add("idle", nil)
		return p, check(p)
	}
	if image == nil {
		return Plan{}, fmt.Errorf("image %s does not exist", binding.Image)
	}
	p.add("write", target, "image", strings.Join(image.URLs, ","), "format", image.Format,
		"bytes", strconv.FormatInt(image.Bytes, 10), "digest", image.Digest)
	p.add("configure", target, "hostname", first(binding.Hostname, node.Name), "grow", "last")
	p.start(target, binding)
	return p, check(p)
}

func (p *Plan) start(target []operand.Pair, binding api.Binding) {
	fallback := "reboot"
	switch binding.Boot {
	case "reboot":
		p.add("reboot", nil)
		return
	case "kexec":
		fallback = "none"
	}
	if binding.KernelArguments == "" {
		p.add("kexec", target, "fallback", fallback)
	} else {
		p.add("kexec", target, "append", binding.KernelArguments, "fallback", fallback)
	}
}

// add appends a step: the operands that say which disk, then more keys and values in turn.
func (p *Plan) add(verb string, target []operand.Pair, more ...string) {
	step := operand.Line{Word: verb, Operands: append([]operand.Pair{}, target...)}
	for i := 0; i+1 < len(more); i += 2 {
		step.Operands = append(step.Operands, operand.Pair{Key: more[i], Value: more[i+1]})
	}
	p.Steps = append(p.Steps, step)
}

func first(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}
