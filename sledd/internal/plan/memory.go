// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/operand"
)

// start adds the steps that start an image from memory. No disk is touched.
func (p *Plan) start(r Request, upload string) {
	binding, payload := *r.Binding, r.Image.Payload
	if payload == nil {
		p.add("fetch", nil, append(imaged(binding, r.Image, upload), "as", "root")...)
		p.add("configure", nil, "hostname", first(binding.Hostname, r.Node.Name))
		p.add("start", nil, "as", "root")
		return
	}
	p.add("fetch", nil, append(imaged(binding, r.Image, upload), "as", "kernel")...)
	p.Steps = append(p.Steps, Payload(*payload, binding.KernelArguments, r.Confirm))
}

// kernel adds the steps that start the Sled system on a kernel.
func (p *Plan) kernel(r Request, upload string) {
	p.add("fetch", nil, append(imaged(*r.Binding, r.Kernel, upload), "as", "kernel")...)
	operands := []string{"as", "system"}
	if r.Binding.KernelArguments != "" {
		operands = append(operands, "append", r.Binding.KernelArguments)
	}
	p.add("start", nil, operands...)
}

// Payload is the step that starts a payload, with more arguments than its own. confirm is the URL by which it confirms,
// if it does so; empty: it is not known yet.
func Payload(payload api.Payload, more, confirm string) operand.Line {
	operands := []operand.Pair{{Key: "as", Value: "kernel"}, {Key: "format", Value: payload.Format}}
	if payload.RealMode {
		operands = append(operands, operand.Pair{Key: "real_mode", Value: "yes"})
	}
	if arguments := strings.TrimSpace(payload.Arguments + " " + more); arguments != "" {
		operands = append(operands, operand.Pair{Key: "append", Value: arguments})
	}
	if payload.Confirm == api.ConfirmHTTP && confirm != "" {
		operands = append(operands, operand.Pair{Key: "confirm", Value: confirm})
	}
	return operand.Line{Word: "start", Operands: operands}
}

// Confirms reports whether the plan is that of a payload that requests a URL once it runs.
func (r Request) Confirms() bool {
	return r.Binding != nil && r.Image != nil && r.Image.Payload != nil && r.Image.Payload.Confirm == api.ConfirmHTTP
}
